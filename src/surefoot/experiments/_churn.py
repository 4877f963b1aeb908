"""Customer churn: four variants of AdaBoost on stumps, round by round, beside scikit-learn's boosters."""

import csv
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from surefoot._typing import Floats
from surefoot.datasets import fetch_churn, make_friedman_problem
from surefoot.ensemble import BoostingClassifier
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.experiments._progress import Progress, silent
from surefoot.indicators import Confidence, LocalSensitivity, VoteDisagreement

Task = tuple[str, Floats, NDArray[Any], Floats, NDArray[Any]]

VARIANTS = ("discrete", "real", "gentle", "modest")
BESIDE = ("scikit-learn AdaBoost", "histogram boosting")
N_ROUNDS, QUICK_ROUNDS = 100, 10
N_FOLDS, N_RUNS, QUICK_RUNS = 10, 10, 2
NOISE, NOISY = 0.2, " + noise"
PROBLEMS = (1, 2, 3, 4, 5)


def encoded(name: str) -> tuple[Floats, NDArray[Any]]:
    """A churn table as numbers: a column for each category, medians for gaps."""
    X, y = fetch_churn(name, return_X_y=True)
    texts = make_column_selector(dtype_include="category")
    encode = OneHotEncoder(sparse_output=False)
    columns = make_column_transformer((encode, texts), remainder=SimpleImputer(strategy="median"))
    return columns.fit_transform(X), np.asarray(y)


def with_noise(y: NDArray[Any], seed: int) -> NDArray[Any]:
    """Labels 0 and 1 of which a share is turned."""
    turned = np.random.RandomState(seed).uniform(size=len(y)) < NOISE
    return np.where(turned, 1 - y, y)


def churn_tasks(tables: dict[str, tuple[Floats, NDArray[Any]]], n_folds: int) -> Iterator[Task]:
    """Training and test rows of each fold, with labels as they are and with noise in training."""
    for name, (X, y) in tables.items():
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
        for f, (train, test) in list(enumerate(folds.split(X, y)))[:n_folds]:
            yield name, X[train], y[train], X[test], y[test]
            yield f"{name}{NOISY}", X[train], with_noise(y[train], f), X[test], y[test]


def generated_tasks(n_runs: int) -> Iterator[Task]:
    """Training and test rows of each draw of Friedman's problems, with and without noise in training."""
    for problem in PROBLEMS:
        for run in range(n_runs):
            random = np.random.RandomState(1000 * problem + run)
            X, y = make_friedman_problem(problem, 500, random)
            X_test, y_test = make_friedman_problem(problem, 2000, random)
            name = f"problem {problem}"
            yield name, X, y, X_test, y_test
            yield f"{name}{NOISY}", X, with_noise(y, run), X_test, y_test


def curves(task: Task, n_rounds: int, *, beside: bool) -> dict[str, Floats]:
    """Training and test errors after each round, shape (2, n_rounds), of each method."""
    _, X, y, X_test, y_test = task
    errors = {}
    for variant in VARIANTS:
        model = BoostingClassifier(variant, n_rounds).fit(X, y)
        errors[variant] = staged(model, X, y, X_test, y_test, n_rounds)
    if beside:
        stumps = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=n_rounds)
        errors[BESIDE[0]] = staged(stumps.fit(X, y), X, y, X_test, y_test, n_rounds)
        trees = HistGradientBoostingClassifier(
            max_iter=n_rounds, early_stopping=False, random_state=0
        )
        errors[BESIDE[1]] = staged(trees.fit(X, y), X, y, X_test, y_test, n_rounds)
    return errors


def staged(
    model: Any, X: Floats, y: NDArray[Any], X_test: Floats, y_test: NDArray[Any], n_rounds: int
) -> Floats:
    """Errors after each round; a booster that stopped early stays as it is."""
    pairs = ((X, y), (X_test, y_test))
    errors = [
        [(predicted != labels).mean() for predicted in model.staged_predict(rows)]
        for rows, labels in pairs
    ]
    return np.array([[*line, *[line[-1]] * (n_rounds - len(line))] for line in errors])


def run(out: Path, *, quick: bool = False, progress: Progress = silent) -> str:
    """Run it all, write `churn.csv` and the curves, and return the tables as text."""
    n_rounds = QUICK_ROUNDS if quick else N_ROUNDS
    tables = {name: encoded(name) for name in ("mlc", "telco")}
    if quick:
        tables = {name: (X[:600], y[:600]) for name, (X, y) in tables.items()}
    tasks = [
        *churn_tasks(tables, QUICK_RUNS if quick else N_FOLDS),
        *generated_tasks(QUICK_RUNS if quick else N_RUNS),
    ]
    finished = Parallel(return_as="generator")(
        delayed(curves)(task, n_rounds, beside=task[0] in tables) for task in tasks
    )
    errors = list(progress(finished, total=len(tasks), label="folds and runs"))
    means = _means([task[0] for task in tasks], errors)
    path = out / "churn.csv"
    _write(path, means)
    written = [path, *_draw(out / "churn.png", {name: means[name] for name in tables})]
    indicated = [
        line for name, table in tables.items() for line in _indicator_lines(name, *table, n_rounds)
    ]
    return "\n".join(
        [
            f"Error in % on stumps after {n_rounds} rounds, and how much it rose from its best round",
            *_table(means),
            "",
            *_verdicts(means),
            "",
            "What indicators say of rows that Gentle gets wrong out of fold: means, and AUROC of the errors",
            *indicated,
            "",
            f"Written to {', '.join(map(str, written))}",
        ]
    )


def _means(names: list[str], errors: list[dict[str, Floats]]) -> dict[str, dict[str, Floats]]:
    """Mean curves of each method on each data set; `names` are the data sets of `errors`."""
    means: dict[str, dict[str, Floats]] = {}
    for name in dict.fromkeys(names):
        parts = [part for owner, part in zip(names, errors, strict=True) if owner == name]
        means[name] = {
            method: np.mean([part[method] for part in parts], axis=0) for method in parts[0]
        }
    return means


def _rise(errors: Floats) -> float:
    """Test error of the last round less that of the best."""
    return float(errors[1, -1] - errors[1].min())


def _table(means: dict[str, dict[str, Floats]]) -> list[str]:
    lines = [f"{'':<18}" + "".join(f"{name:>16}" for name in (*VARIANTS, "AdaBoost", "histogram"))]
    for name, methods in means.items():
        cells = [
            f"{100 * errors[1, -1]:.2f} +{100 * _rise(errors):.2f}" for errors in methods.values()
        ]
        lines.append(f"{name:<18}" + "".join(f"{cell:>16}" for cell in cells))
    return lines


def _verdicts(means: dict[str, dict[str, Floats]]) -> list[str]:
    """Where Gentle beats Discrete under noise, and where Modest's error rises least."""
    noisy = [name for name in means if name.endswith(NOISY)]
    beaten = [n for n in noisy if means[n]["gentle"][1, -1] < means[n]["discrete"][1, -1]]
    modest = [
        n for n in means if _rise(means[n]["modest"]) <= min(_rise(means[n][v]) for v in VARIANTS)
    ]
    missed = [n for n in means if n not in modest]
    lost = [n for n in noisy if n not in beaten]
    return [
        f"Gentle beats Discrete under noise on {len(beaten)} of {len(noisy)}; not on: {', '.join(lost) or 'none'}",
        f"Modest's test error rises least on {len(modest)} of {len(means)}; not on: {', '.join(missed) or 'none'}",
    ]


def _indicator_lines(name: str, X: Floats, y: NDArray[Any], n_rounds: int) -> list[str]:
    """Lines that compare out-of-fold columns of indicators on wrong rows and on right ones."""
    indicators = [Confidence(), LocalSensitivity(space="scaled"), VoteDisagreement()]
    model = BoostingClassifier("gentle", n_rounds)
    folds = StratifiedKFold(5)  # in the order of the rows, as in the results that are published
    held_out = IndividualErrorClassifier(model, indicators=indicators, cv=folds).fit(X, y).held_out_
    wrong = held_out.losses == 1
    names = [
        ("margin", "Confidence", 0, -1),
        ("flips in the cell", "LocalSensitivity", 3, 1),
        ("vote disagreement", "VoteDisagreement", 0, 1),
    ]
    lines = [f"{name}: {wrong.sum()} of {len(wrong)} rows are wrong"]
    for label, indicator, column, sign in names:
        values = held_out.columns[indicator][:, column]
        auroc = roc_auc_score(wrong, sign * values)
        lines.append(
            f"  {label:<18} wrong {values[wrong].mean():7.3f}, right {values[~wrong].mean():7.3f}, AUROC {auroc:.3f}"
        )
    return lines


def _write(path: Path, means: dict[str, dict[str, Floats]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["data", "method", "round", "train_error", "test_error"])
        for name, methods in means.items():
            for method, errors in methods.items():
                for number, (train, test) in enumerate(errors.T, start=1):
                    writer.writerow([name, method, number, f"{train:.5f}", f"{test:.5f}"])


def _draw(path: Path, means: dict[str, dict[str, Floats]]) -> list[Path]:
    """Training and test error by round, one line of figures a table."""
    if find_spec("matplotlib") is None:
        return []
    from matplotlib.figure import Figure  # noqa: PLC0415 - only this figure needs it

    colors = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#b5b5b5", "#1a1a1a")
    figure = Figure(figsize=(11, 4 * len(means)), layout="constrained")
    axes = np.atleast_2d(figure.subplots(len(means), 2))
    for line, (name, methods) in zip(axes, means.items(), strict=True):
        for part, (ax, what) in enumerate(zip(line, ("training error", "test error"), strict=True)):
            for color, (method, errors) in zip(colors, methods.items(), strict=False):
                rounds = np.arange(1, errors.shape[1] + 1)
                dashed = "--" if method in BESIDE else "-"
                ax.plot(rounds, errors[part], color=color, linestyle=dashed, label=method)
            ax.set(title=f"{name}: {what}", xlabel="round", ylabel="share of rows that are wrong")
        line[0].legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=110)
    return [path]
