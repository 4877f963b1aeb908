"""Whether what the labelling page claims is true, on generated tables whose classes are all known.

Each draw is a pool of 300 to 800 rows: two to four classes, easy to hard, some with a rare class, with answers that
contradict the columns, or with rows that nobody can tell. It is labelled as on the page: one row in five at random, the
others where the model is in doubt, a new model after every 10 % more labels, until the pool is empty. A draw is false
if any interval that was claimed, at the stop or later, misses the accuracy of its model on all rows that were left when
it had learned. Of 95 % claims, at most 5 % of the draws may be false.
"""

import warnings

import numpy as np
from scipy.stats import binomtest
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from surefoot.active_learning import query
from surefoot.labeling._claims import Measurement

# As on the page, except that the model learns half as often.
RANDOM_EVERY, NEW_SHARE, N_QUESTIONS = 5, 0.1, 40


def make_pool(seed):
    """Rows, their classes, which of them nobody can tell, and a model."""
    draw = np.random.default_rng(seed)
    n_classes = int(draw.integers(2, 5))
    common = [0.9, *[0.1 / (n_classes - 1)] * (n_classes - 1)]
    X, y = make_classification(
        int(draw.integers(300, 801)),
        6,
        n_informative=4,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=int(draw.integers(1, 3)),
        weights=common if draw.random() < 0.25 else None,
        class_sep=draw.uniform(0.3, 2.5),
        flip_y=draw.choice([0.0, 0.05, 0.2]),
        random_state=seed,
    )
    is_dark = draw.random(len(y)) < draw.choice([0.0, 0.05])
    model = GaussianNB() if draw.random() < 0.5 else LinearDiscriminantAnalysis()
    return X, y.astype(str), is_dark, model


def label_pool(seed):
    """Labels at the first claim (infinite if there is none), whether any claim was false, and the rows of the pool."""
    X, y, is_dark, model = make_pool(seed)
    draw = np.random.default_rng([seed, 1])
    order = draw.permutation(len(y))
    answered, n_drawn, n_asked, n_learned, ranking = set(), 0, 0, 0, []
    labels, truth, measurement = {}, {}, Measurement()
    stop, is_false = np.inf, False
    while len(answered) < len(y):
        if n_asked % RANDOM_EVERY == 0:
            slot = draw.integers(RANDOM_EVERY)
        free = [row for row in ranking if row not in answered]
        if n_asked % RANDOM_EVERY == slot or not free:
            while order[n_drawn] in answered:
                n_drawn += 1
            row = int(order[n_drawn])
            n_drawn += 1
        else:
            row = free[0]
        n_asked += 1
        answered.add(row)
        if not is_dark[row]:
            labels[row] = y[row]
        if len(set(labels.values())) < 2 or len(labels) < max(
            10, n_learned + 1, (1 + NEW_SHARE) * n_learned
        ):
            continue
        n_learned, known = len(labels), list(labels)
        model.fit(X[known], y[known])
        left = np.setdiff1d(order, list(answered))
        if len(left):
            ranking = left[query("margin", model, X[left], N_QUESTIONS, diverse=False)].tolist()
        ahead = order[n_drawn:][~np.isin(order[n_drawn:], list(answered))].tolist()
        measurement.look(
            lambda rows: model.predict(X[rows]),
            n_labels=n_learned,
            labels=labels,
            drawn=order[:n_drawn].tolist(),
            ahead=ahead,
        )
        if ahead and measurement.models and measurement.models[-1].n_labels == n_learned:
            truth[n_learned] = np.mean(model.predict(X[ahead]) == y[ahead])
        claim = measurement.claim
        if claim:
            stop = min(stop, n_learned)
            slack = 1e-9  # of adding up
            right = truth[claim["n_labels"]]
            is_false |= not claim["low"] - slack <= right <= claim["high"] + slack
    return stop, is_false, len(y)


def labelling(n_draws):
    """Print the share of false claims with its upper limit, and when the claims came."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = [label_pool(seed) for seed in range(n_draws)]
    stops, false, sizes = (np.array(column) for column in zip(*runs, strict=True))
    stopped = np.isfinite(stops)
    share = binomtest(int(false.sum()), n_draws)
    made = binomtest(int(false.sum()), max(1, int(stopped.sum())))
    print(f"labelling until the stop, {n_draws} draws")
    for name, test in (("of all draws", share), ("of draws with a claim", made)):
        high = test.proportion_ci(0.95, "exact").high
        print(f"false claims {name}: {test.statistic:.2%}, upper limit {high:.2%} (asked: 7 %)")
    print(f"never within the pool: {1 - stopped.mean():.1%}")
    print(
        f"labels at the stop: mean {stops[stopped].mean():.0f}, "
        f"{np.mean(stops[stopped] / sizes[stopped]):.0%} of the pool"
    )
