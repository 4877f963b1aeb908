"""Whether samples must stay in the Voronoi cell to detect errors on texts (Bennett 2007, section 5)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from surefoot import Confidence, KernelKNeighborsClassifier, LocalSensitivity
from surefoot._typing import Floats
from surefoot.datasets import fetch_reuters21578, informative_tfidf
from surefoot.experiments._csv_tables import write_table
from surefoot.experiments._progress import Progress, silent
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


def run(out: Path, *, quick: bool = False, progress: Progress = silent) -> str:
    """Compare the ways of sampling, write `bennett-sampling.csv`, and return the table as text.

    A way is the better, the more often a right decision scores higher than a wrong one (error AUROC).
    """
    data = fetch_reuters21578(topics="largest")
    few = slice(None, None, QUICK_EVERY if quick else EVERY)
    train = slice(None, None, 10 if quick else 1)
    tfidf = informative_tfidf(N_FEATURES).fit(data.X_train[train], data.y_train[train])
    X_train, X_test = tfidf.transform(data.X_train[train]), tfidf.transform(data.X_test[few])
    topics = range(QUICK_TOPICS if quick else len(data.target_names))
    table = []
    tasks = [(model, topic) for model in MODELS for topic in topics]
    for model, topic in progress(tasks, total=len(tasks), label="topics"):
        y_train = data.y_train[train][:, [topic]].toarray().ravel()
        y_test = data.y_test[few][:, [topic]].toarray().ravel()
        for sampling, wrong, trust in trust_by_sampling(
            MODELS[model], X_train, y_train, X_test, y_test
        ):
            table.append((model, topic, sampling, wrong, trust))
    return report(table, data.target_names, X_test.shape[0], out / "bennett-sampling.csv")


def trust_by_sampling(
    model: Any, X_train: Any, y_train: Any, X_test: Any, y_test: Any
) -> Iterator[tuple[str, Any, Floats]]:
    """Name of each way of sampling, which decisions are wrong, and how far each is trusted."""
    ways = {
        s: LocalSensitivity(model, n_neighbors=N_NEIGHBORS, sampling=s, random_state=0)
        for s in Neighborhood.SAMPLINGS
    }
    for name, indicator in {**ways, WITHOUT: Confidence(model)}.items():
        fitted = indicator.fit(X_train, y_train)
        wrong = fitted.index_.predictor.predict(X_test) != y_test
        yield name, wrong, fitted.score_samples(X_test)


def report(table: list[Any], names: list[str], n_texts: int, path: Path) -> str:
    """Write each topic's figures, and return the means over topics, with their spread, as text."""
    rows = [
        {
            "model": model,
            "topic": names[topic],
            "sampling": sampling,
            "errors": int(wrong.sum()),
            "error_auroc": round(error_auroc_score(wrong, -trust), 4) if wrong.any() else "",
        }
        for model, topic, sampling, wrong, trust in table
    ]
    write_table(path, rows)
    lines = [
        f"Error AUROC, mean over topics, {n_texts} test texts each (± standard error of the difference to voronoi)"
    ]
    for model in MODELS:
        scores = {
            name: _error_aurocs(rows, model, name) for name in (*Neighborhood.SAMPLINGS, WITHOUT)
        }
        for name, values in scores.items():
            gap = values - scores["voronoi"]
            error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
            lines.append(
                f"{model:<13}{name:<18}{values.mean():.3f}   {gap.mean():+.3f} ± {error:.3f}"
            )
    return "\n".join([*lines, "", f"Written to {path}"])


def _error_aurocs(rows: list[dict[str, Any]], model: str, sampling: str) -> Floats:
    """Error AUROC of each topic with errors."""
    cells = [
        row["error_auroc"] for row in rows if (row["model"], row["sampling"]) == (model, sampling)
    ]
    return np.array([cell for cell in cells if cell != ""], dtype=np.float64)
