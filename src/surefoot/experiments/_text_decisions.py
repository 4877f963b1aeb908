"""Which topics are assigned: scores of metaclassifiers, and thresholds learned on held-out documents."""

import numpy as np

from surefoot._typing import Floats, Ints
from surefoot.ensemble import StriveClassifier, learn_threshold

# Below this a topic is assigned above the highest held-out score only; of 0, 0.1, 0.3 and 0.5 the best for
# all three systems on training documents.
LEAST_F1 = 0.5


def topic_threshold(scores: Floats, truth: Ints, objective: str) -> float:
    """Learned threshold of one topic; inf if no held-out document has the topic."""
    known = ~np.isnan(scores)
    if not truth[known].any() or np.ptp(scores[known]) == 0:
        return np.inf
    return learn_threshold(scores[known], truth[known], objective, least_f1=LEAST_F1)


def meta_scores(model: StriveClassifier, columns: Floats) -> Floats:
    """Scores of the metaclassifiers before any threshold; NaN for a topic without one."""
    scores = np.full(columns.shape[:2], np.nan)
    for topic, final in enumerate(model.final_estimators_):
        if final is not None:
            scores[:, topic] = final.decision_function(columns[:, topic])
    return scores
