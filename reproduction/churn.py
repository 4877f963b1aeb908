"""Customer churn: four variants of AdaBoost on stumps, round by round, beside scikit-learn's boosters."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from reproduction.data import CHURN, fetch_churn
from reproduction.results import Floats, in_parallel, text_table, write_table
from surefoot import Confidence, IndividualErrorClassifier, LocalSensitivity
from surefoot.datasets import make_friedman_problem
from surefoot.ensemble import BoostingClassifier
from surefoot.indicators import VoteDisagreement

Task = tuple[str, Floats, NDArray[Any], Floats, NDArray[Any]]
# Mean errors by data set and method, shape (training and test, rounds).
Curves = dict[str, dict[str, Floats]]

VARIANTS = ("discrete", "real", "gentle", "modest")
BESIDE = ("scikit-learn AdaBoost", "histogram boosting")
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#b5b5b5", "#1a1a1a")
N_ROUNDS, QUICK_ROUNDS = 100, 10
N_FOLDS, N_RUNS, QUICK_RUNS = 10, 10, 2
QUICK_ROWS = 600
NOISE, NOISY = 0.2, " + noise"
PROBLEMS = (1, 2, 3, 4, 5)
LOOKS = (5, 10, 20, 30, 50, 100)
INDICATORS_TITLE = "\nColumns of indicators on rows that Gentle gets wrong out of fold: means, and AUROC of the errors"
# Title, indicator, place among its columns, and sign of those columns that are compared on wrong and right rows.
COMPARED = [
    ("margin", "Confidence", 0, -1),
    ("flips in the cell", "LocalSensitivity", 3, 1),
    ("vote disagreement", "VoteDisagreement", 0, 1),
]


def run(out: Path, *, quick: bool = False) -> str:
    """Run all variants, write `churn.csv` and the curves, and return the tables as text."""
    n_rounds = QUICK_ROUNDS if quick else N_ROUNDS
    tables, missing = {}, []
    for name in CHURN:
        try:
            tables[name] = encoded(name)
        except OSError as error:
            missing.append(f"Without {name}: {error}")
    if quick:
        tables = {name: (X[:QUICK_ROWS], y[:QUICK_ROWS]) for name, (X, y) in tables.items()}
    tasks = [
        *churn_tasks(tables, QUICK_RUNS if quick else N_FOLDS),
        *generated_tasks(QUICK_RUNS if quick else N_RUNS),
    ]
    jobs = [(task, n_rounds, task[0] in tables) for task in tasks]
    errors = list(in_parallel(curves, jobs, "folds and runs"))
    means: Curves = {}
    for name in dict.fromkeys(task[0] for task in tasks):
        own = [each for task, each in zip(tasks, errors, strict=True) if task[0] == name]
        means[name] = {method: np.mean([each[method] for each in own], axis=0) for method in own[0]}
    rows = [
        {"data": name, "method": method, "round": n, "train_error": train, "test_error": test}
        for name, methods in means.items()
        for method, both in methods.items()
        for n, (train, test) in enumerate(both.T, start=1)
    ]
    write_table(out / "churn.csv", rows, ".5f")
    draw(out / "churn.png", {name: means[name] for name in tables or means})
    return "\n".join(
        [
            *missing,
            f"Error in % on stumps after {n_rounds} rounds, and how much it rose from its best round",
            error_table(means),
            f"\nTraining error in % after {n_rounds // 10} and after {n_rounds} rounds, and mean over the rounds",
            training_table(means),
            "",
            *verdicts(means),
            "\nData sets with noise on which Gentle's error is lower (equal), after some rounds and each at its best",
            early_table(means),
            *([INDICATORS_TITLE] if tables else []),
            *(compared_columns(name, *table, n_rounds) for name, table in tables.items()),
        ]
    )


def encoded(name: Any) -> tuple[Floats, NDArray[Any]]:
    """A churn table as numbers: a column for each category, medians for missing cells."""
    X, y = fetch_churn(name)
    texts = make_column_selector(dtype_include="category")
    encode = OneHotEncoder(sparse_output=False)
    columns = make_column_transformer((encode, texts), remainder=SimpleImputer(strategy="median"))
    return columns.fit_transform(X), y


def with_noise(y: NDArray[Any], random_state: int) -> NDArray[Any]:
    """Labels 0 and 1 of which a share is flipped."""
    flipped = np.random.RandomState(random_state).uniform(size=len(y)) < NOISE
    return np.where(flipped, 1 - y, y)


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
            yield f"problem {problem}", X, y, X_test, y_test
            yield f"problem {problem}{NOISY}", X, with_noise(y, run), X_test, y_test


def curves(task: Task, n_rounds: int, beside: bool) -> dict[str, Floats]:
    """Training and test errors after each round, shape (2, n_rounds), of each method."""
    _, X, y, X_test, y_test = task
    models: dict[str, Any] = {name: BoostingClassifier(name, n_rounds) for name in VARIANTS}
    if beside:
        stumps = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=n_rounds)
        trees = HistGradientBoostingClassifier(
            max_iter=n_rounds, early_stopping=False, random_state=0
        )
        models |= zip(BESIDE, (stumps, trees), strict=True)
    return {
        name: staged(model.fit(X, y), ((X, y), (X_test, y_test)), n_rounds)
        for name, model in models.items()
    }


def staged(model: Any, parts: Any, n_rounds: int) -> Floats:
    """Errors on each part after each round; a booster that stopped early stays as it is."""
    errors = [
        [(predicted != labels).mean() for predicted in model.staged_predict(rows)]
        for rows, labels in parts
    ]
    return np.array([[*line, *[line[-1]] * (n_rounds - len(line))] for line in errors])


def rise(errors: Floats) -> float:
    """Test error of the last round less that of the best."""
    return float(errors[1, -1] - errors[1].min())


def error_table(means: Curves) -> str:
    """Last error of each method on each data set, and its rise."""
    names = (*VARIANTS, *BESIDE)
    rows = [["", *names]]
    for name, methods in means.items():
        cells = {m: f"{100 * e[1, -1]:.2f} +{100 * rise(e):.2f}" for m, e in methods.items()}
        rows.append([name, *(cells.get(method, "") for method in names)])
    return text_table(rows)


def training_table(means: Curves) -> str:
    """How fast the training error of each variant falls: after a tenth of the rounds, after all, and their mean."""
    rows = [["", *VARIANTS]]
    for name, methods in means.items():
        curves = [100 * methods[variant][0] for variant in VARIANTS]
        early = max(len(curves[0]) // 10, 1) - 1
        rows.append([name, *(f"{c[early]:.2f} {c[-1]:.2f} {c.mean():.2f}" for c in curves)])
    return text_table(rows)


def verdicts(means: Curves) -> list[str]:
    """Data sets on which the slides' claims about Gentle and Modest hold, and on which they do not."""
    noisy = [name for name in means if name.endswith(NOISY)]
    others = [variant for variant in VARIANTS if variant != "modest"]

    def line(claim: str, among: Iterable[str], holds: Callable[[dict[str, Floats]], bool]) -> str:
        names = list(among)
        failed = [name for name in names if not holds(means[name])]
        held = len(names) - len(failed)
        return f"{claim} on {held} of {len(names)}; not on: {', '.join(failed) or 'none'}"

    return [
        *(
            line(
                f"Gentle beats {other.title()} under noise",
                noisy,
                lambda of, other=other: of["gentle"][1, -1] < of[other][1, -1],  # type: ignore[misc]
            )
            for other in ("discrete", "real")
        ),
        line(
            "Modest's test error rises least",
            means,
            lambda of: rise(of["modest"]) <= min(rise(of[other]) for other in others),
        ),
        line(
            "Modest's training error falls slowest (highest mean over the rounds)",
            means,
            lambda of: of["modest"][0].mean() > max(of[other][0].mean() for other in others),
        ),
        line(
            "Modest has the highest training error after the last round",
            means,
            lambda of: of["modest"][0, -1] > max(of[other][0, -1] for other in others),
        ),
    ]


def early_table(means: Curves) -> str:
    """On how many data sets with noise Gentle is ahead of Discrete and of Real after some rounds, and at the best."""
    noisy = [methods for name, methods in means.items() if name.endswith(NOISY)]
    looks = [n for n in LOOKS if n <= noisy[0]["gentle"].shape[1]]

    def seen(errors: Floats) -> Floats:
        return np.append(errors[1, np.array(looks) - 1], errors[1].min())

    rows = [["", *(f"{n} rounds" for n in looks), "best round"]]
    for other in ("discrete", "real"):
        gaps = np.round([seen(of[other]) - seen(of["gentle"]) for of in noisy], 12)
        cells = zip((gaps > 0).sum(axis=0), (gaps == 0).sum(axis=0), strict=True)
        rows.append([f"Gentle ahead of {other.title()}", *(f"{a} ({b})" for a, b in cells)])
    return text_table(rows)


def compared_columns(name: str, X: Floats, y: NDArray[Any], n_rounds: int) -> str:
    """Out-of-fold columns of indicators on wrong rows and on right ones, as text."""
    indicators = [Confidence(), LocalSensitivity(space="scaled"), VoteDisagreement()]
    model = BoostingClassifier("gentle", n_rounds)
    folds = StratifiedKFold(5)  # in the order of the rows, as in the published results
    held_out = IndividualErrorClassifier(model, indicators=indicators, cv=folds).fit(X, y).held_out_
    wrong = held_out.losses == 1
    rows = [[f"{name}: {wrong.sum()} of {len(wrong)} rows are wrong", "wrong", "right", "AUROC"]]
    for title, indicator, place, sign in COMPARED:
        values = held_out.columns[indicator][:, place]
        numbers = values[wrong].mean(), values[~wrong].mean(), roc_auc_score(wrong, sign * values)
        rows.append([f"  {title}", *(f"{number:.3f}" for number in numbers)])
    return text_table(rows)


def draw(path: Path, means: Curves) -> None:
    """Draw training and test error by round, one line of figures a table."""
    figure = Figure(figsize=(11, 4 * len(means)), layout="constrained")
    axes = np.atleast_2d(figure.subplots(len(means), 2))
    for line, (name, methods) in zip(axes, means.items(), strict=True):
        for part, (ax, what) in enumerate(zip(line, ("training error", "test error"), strict=True)):
            for color, (method, errors) in zip(COLORS, methods.items(), strict=False):
                rounds = np.arange(1, errors.shape[1] + 1)
                dashed = "--" if method in BESIDE else "-"
                ax.plot(rounds, errors[part], color=color, linestyle=dashed, label=method)
            ax.set(title=f"{name}: {what}", xlabel="round", ylabel="share of rows that are wrong")
        line[0].legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=110)
