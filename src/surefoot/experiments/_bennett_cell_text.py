"""How much staying within the Voronoi cell matters on text, more than elsewhere by Bennett (2007, section 5)."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import LinearSVC

from surefoot import KernelKNeighborsClassifier, LocalSensitivity
from surefoot._typing import Floats
from surefoot.ensemble import StriveClassifier
from surefoot.experiments._csv_tables import write_table
from surefoot.experiments._progress import Progress, silent
from surefoot.experiments._text_corpora import Corpus, reuters_in_few_terms
from surefoot.experiments._text_decisions import meta_scores
from surefoot.experiments._text_models import MultinomialLogOdds, paper_metaclassifier
from surefoot.neighborhoods import Neighborhood, log_n_neighbors, voronoi_steps

# One column at a time makes two samples for each term: few terms and documents keep that feasible.
N_TOPICS, N_TERMS, STEP = 10, 900, 3
QUICK_TOPICS, QUICK_TERMS, QUICK_STEP = 5, 100, 20
# Test documents whose midpoints are looked at.
N_MEASURED = 300


def models() -> list[tuple[str, Any]]:
    """Three classifiers whose input is the text itself; samples have neighbours of their own, wherever they lie."""
    return [
        ("knn", KernelKNeighborsClassifier(kernel="cosine", sample_neighbors="exact")),
        ("svm", LinearSVC(random_state=0)),
        ("multinomial", MultinomialLogOdds(alpha=0.1)),
    ]


def run(out: Path, *, quick: bool = False, progress: Progress = silent) -> str:
    """Compare the ways of sampling on Reuters' ten largest topics; fewer errors are better.

    Writes `bennett-cell-text.csv` to `out`, and returns the table as text.

    Parameters
    ----------
    out : Path
        Folder for the results.
    quick : bool, default=False
        Whether to take few documents, terms and topics only.
    progress : callable, default=silent
        Called as `progress(items, total=..., label=...)`; yields the items.

    Returns
    -------
    str
    """
    size = (QUICK_TOPICS, QUICK_TERMS, QUICK_STEP) if quick else (N_TOPICS, N_TERMS, STEP)
    corpus = reuters_in_few_terms(*size)
    indicators = [
        LocalSensitivity(per_class=True, sampling=s, random_state=0) for s in Neighborhood.SAMPLINGS
    ]
    strive = StriveClassifier(
        models(), indicators, final_estimator=paper_metaclassifier(), cv=corpus.folds()
    )
    strive.fit(corpus.X_train, corpus.y_train)
    columns = strive.meta_columns(corpus.X_test)
    names = ("none", *Neighborhood.SAMPLINGS)
    table = [
        measure(strive, columns, corpus, name)
        for name in progress(names, total=len(names), label="samplings")
    ]
    path = out / "bennett-cell-text.csv"
    write_table(path, table)
    return "\n".join(
        [
            f"Wrong decisions on {corpus.n_topics} topics of Reuters by the way of sampling",
            *map(_sentence, table),
            f"{share_outside(corpus):.0%} of the midpoints are outside the cell",
            "",
            f"Written to {path}",
        ]
    )


def chosen_columns(sampling: str) -> list[str]:
    """Names of the scores, and of the columns of one way of sampling: the second has "_2" behind, and so on."""
    scores = [f"{name}__score" for name, _ in models()]
    if sampling == "none":
        return scores
    place = Neighborhood.SAMPLINGS.index(sampling)
    suffix = "" if place == 0 else f"_{place + 1}"
    columns = [f"{name}__{kind}_1{suffix}" for name, _ in models() for kind in ("shift", "spread")]
    return scores + columns


def measure(
    strive: StriveClassifier, columns: Floats, corpus: Corpus, sampling: str
) -> dict[str, Any]:
    """Wrong decisions on held-out training documents and on the test documents, with columns of one sampling."""
    names = chosen_columns(sampling)
    some = strive.with_columns(names)
    places = np.flatnonzero(np.isin(strive.feature_names_out_, names))
    held_out = (some.held_out_scores_ > some.thresholds_) != some.held_out_.targets
    assigned = meta_scores(some, columns[:, :, places]) > some.thresholds_
    wrong = assigned != corpus.y_test
    right = assigned & (corpus.y_test == 1)
    f1 = 2 * right.sum() / (2 * right.sum() + wrong.sum())
    return {
        "sampling": sampling,
        "held_out_errors": int(held_out.sum()),
        "test_errors": int(wrong.sum()),
        "test_f1": round(float(f1), 4),
    }


def share_outside(corpus: Corpus) -> float:
    """Share of the midpoints between test documents and their neighbours that another document is nearer to."""
    X = corpus.X_test[:N_MEASURED]
    count = log_n_neighbors(corpus.X_train.shape[0])
    search = NearestNeighbors(n_neighbors=count, metric="cosine").fit(corpus.X_train)
    near = search.kneighbors(X, return_distance=False)
    return float((voronoi_steps(X, corpus.X_train[near.ravel()], metric="cosine") < 0.5).mean())


def _sentence(row: dict[str, Any]) -> str:
    return (
        f"{row['sampling']:<10}held out {row['held_out_errors']:5}   test {row['test_errors']:5}"
        f"   F1 {row['test_f1']:.4f}"
    )
