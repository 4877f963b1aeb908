"""Whether samples must stay in the Voronoi cell to detect errors on texts (Bennett 2007, section 5)."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from reproduction.bennett_cell import share_outside
from reproduction.results import progress, spread_of, text_table, with_spread, write_table
from reproduction.texts import fetch_reuters21578, informative_tfidf
from surefoot import Confidence, KernelKNeighborsClassifier, LocalSensitivity
from surefoot.metrics import error_auroc_score
from surefoot.neighborhoods import Neighborhood

N_FEATURES, N_NEIGHBORS = 900, 29
# One column at a time makes hundreds of samples a text: every fourth test text must do.
EVERY, QUICK_EVERY, QUICK_TOPICS = 4, 100, 2

MODELS = {
    # Each sample votes by its own neighbours, wherever it lies.
    "kNN": KernelKNeighborsClassifier(N_NEIGHBORS, kernel="cosine", sample_neighbors="exact"),
    "SVM": LinearSVC(random_state=0),
    "multinomial": MultinomialNB(alpha=0.1),
}
WITHOUT = "confidence alone"

Row = dict[str, Any]


def run(out: Path, *, quick: bool = False) -> str:
    """Compare the ways of sampling, write `bennett-sampling.csv`, and return the table as text.

    A way is better if right decisions more often score higher than wrong ones (error AUROC).
    """
    data = fetch_reuters21578("largest")
    few = slice(None, None, QUICK_EVERY if quick else EVERY)
    train = slice(None, None, 10 if quick else 1)
    tfidf = informative_tfidf(N_FEATURES).fit(data.X_train[train], data.y_train[train])
    X_train, X_test = tfidf.transform(data.X_train[train]), tfidf.transform(data.X_test[few])
    topics = data.target_names[: QUICK_TOPICS if quick else None]
    jobs = [(model, t, topic) for model in MODELS for t, topic in enumerate(topics)]
    table = []
    for model, t, topic in progress(jobs, total=len(jobs), label="topics"):
        rows = X_train, data.y_train[train][:, t], X_test, data.y_test[few][:, t]
        table += [{"model": model, "topic": topic, **row} for row in aurocs(MODELS[model], *rows)]
    write_table(out / "bennett-sampling.csv", table)
    title = (
        f"Error AUROC, mean over topics, {X_test.shape[0]} test texts each (± standard error of the difference "
        "to voronoi)"
    )
    share = share_outside(X_test, X_train, N_NEIGHBORS, "cosine")
    outside = f"{share:.1%} of the midpoints towards {N_NEIGHBORS} neighbours are outside the cell"
    return "\n".join([title, text_table(means(table)), outside])


def aurocs(model: Any, X_train: Any, y_train: Any, X_test: Any, y_test: Any) -> list[Row]:
    """Number of wrong decisions, and error AUROC of the trust by each way of sampling; "" without an error."""
    indicators: dict[str, Any] = {
        s: LocalSensitivity(model, n_neighbors=N_NEIGHBORS, sampling=s, random_state=0)
        for s in Neighborhood.SAMPLINGS
    }
    rows = []
    for name, indicator in {**indicators, WITHOUT: Confidence(model)}.items():
        fitted = indicator.fit(X_train, y_train)
        wrong = fitted.index_.model.predictor.predict(X_test) != y_test
        trust = fitted.score_samples(X_test)
        auroc = round(error_auroc_score(wrong, -trust), 4) if wrong.any() else ""
        rows.append({"sampling": name, "errors": int(wrong.sum()), "error_auroc": auroc})
    return rows


def means(table: list[Row]) -> list[list[str]]:
    """Model, way of sampling, mean over the topics with errors, and the difference to voronoi."""
    rows = []
    for model in MODELS:
        own = [row for row in table if row["model"] == model and row["error_auroc"] != ""]
        scores = {
            name: np.array([row["error_auroc"] for row in own if row["sampling"] == name])
            for name in (*Neighborhood.SAMPLINGS, WITHOUT)
        }
        for name, values in scores.items():
            gap = values - scores["voronoi"]
            difference = with_spread(gap.mean(), spread_of(gap) / np.sqrt(len(gap)), "+.3f")
            rows.append([f"{model}, {name}", f"{values.mean():.3f}", difference])
    return rows
