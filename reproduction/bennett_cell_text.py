"""How much staying within the Voronoi cell matters on text, more than elsewhere by Bennett (2007, section 5)."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from reproduction.bennett_cell import share_outside
from reproduction.bennett_figure_2 import MultinomialLogOdds, meta_scores, paper_metaclassifier
from reproduction.results import Floats, progress, text_table, write_table
from reproduction.texts import Corpus, fetch_reuters21578, informative_tfidf
from surefoot import KernelKNeighborsClassifier, LocalSensitivity
from surefoot.ensemble import StriveClassifier
from surefoot.neighborhoods import Neighborhood, log_n_neighbors

# One column at a time makes two samples for each term: few terms and documents keep that feasible.
N_TOPICS, N_TERMS, STEP = 10, 900, 3
QUICK_TOPICS, QUICK_TERMS, QUICK_STEP = 5, 100, 20
# Test documents whose midpoints are looked at.
N_MEASURED = 300


def run(out: Path, *, quick: bool = False) -> str:
    """Compare the ways of sampling on Reuters' ten largest topics, and write `bennett-cell-text.csv`.

    Fewer errors are better. Quick: few documents, terms and topics.
    """
    size = (QUICK_TOPICS, QUICK_TERMS, QUICK_STEP) if quick else (N_TOPICS, N_TERMS, STEP)
    corpus = few_terms(*size)
    indicators = [
        LocalSensitivity(per_class=True, sampling=s, random_state=0) for s in Neighborhood.SAMPLINGS
    ]
    strive = StriveClassifier(
        models(),
        indicators,
        final_estimator=paper_metaclassifier(),
        cv=corpus.folds,
        random_state=0,
    )
    strive.fit(corpus.X_train, corpus.y_train)
    columns = strive.meta_columns(corpus.X_test)
    names = ("none", *Neighborhood.SAMPLINGS)
    samplings = progress(names, total=len(names), label="samplings")
    table = [measure(strive, columns, corpus, name) for name in samplings]
    write_table(out / "bennett-cell-text.csv", table, ".4f")
    title = f"Wrong decisions on {corpus.n_topics} topics of Reuters by the way of sampling"
    rows = [["sampling", "held out", "test", "F1"]]
    rows += [[*map(str, list(row.values())[:3]), f"{row['test_f1']:.4f}"] for row in table]
    count = log_n_neighbors(corpus.X_train.shape[0])
    share = share_outside(corpus.X_test[:N_MEASURED], corpus.X_train, count, "cosine")
    outside = f"{share:.1%} of the midpoints towards {count} neighbours are outside the cell"
    return "\n".join([title, text_table(rows), outside])


def few_terms(n_topics: int, n_terms: int, step: int) -> Corpus:
    """Some of Reuters' documents in the terms that are most informative about its largest topics."""
    stories = fetch_reuters21578("largest")
    tfidf = informative_tfidf(n_terms).fit(stories.X_train, stories.y_train)
    tables = tfidf.transform(stories.X_train), tfidf.transform(stories.X_test)
    corpus = Corpus("Reuters", tables[0], stories.y_train, tables[1], stories.y_test).thinned(step)
    return corpus.only(corpus.largest(n_topics))


def models() -> list[tuple[str, Any]]:
    """Three classifiers whose input is the text itself; samples have neighbours of their own, wherever they lie."""
    return [
        ("knn", KernelKNeighborsClassifier(kernel="cosine", sample_neighbors="exact")),
        ("svm", LinearSVC(random_state=0)),
        ("multinomial", MultinomialLogOdds(alpha=0.1)),
    ]


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
        "test_f1": f1,
    }
