"""Which predictions are wrong: IndividualErrorClassifier against own confidence and three public methods.

Twelve tables, five models, half of the rows to learn from and half to test on, at most 1500 in each, two seeds. A
ranking of the test rows is judged by its AUGRC divided by that of the model's own maximum probability on the same
predictions: below 1 is better. Needs the tables in $SUREFOOT_DATA, pandas and matplotlib:

    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python research/error_detection.py --out results
"""

import argparse
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from benchmarks.timing import report
from reproduction.data import fetch_table, list_tables
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.indicators import (
    Confidence,
    LocalSensitivity,
    NeighborDisagreement,
    NeighborDistance,
    SecondOpinion,
    TrustScore,
)
from surefoot.metrics import augrc_loss, smooth_calibration_error

MOST_ROWS = 1500
FEW_ERRORS = 20
DRAWS = 50
N_TENTHS = 10
PEERS = {
    "trust score": "Trust Score",
    "trust score, published": "Trust Score, as published",
    "disagreement": "label disagreement",
    "boosted": "boosted meta-model",
}


def models(seed):
    """The five models, with scikit-learn's defaults."""
    return {
        "logistic": LogisticRegression(max_iter=2000),
        "forest": RandomForestClassifier(random_state=seed),
        "boosting": HistGradientBoostingClassifier(random_state=seed),
        "svm": CalibratedClassifierCV(SVC(), ensemble=False),
        "knn": KNeighborsClassifier(),
    }


def encoded(model, X, *, scale=True):
    """The model behind what encodes the texts of X, if it has any, and scales its numbers."""
    numbers = StandardScaler() if scale else "passthrough"
    if not hasattr(X, "columns"):
        return make_pipeline(numbers, model)
    texts = make_column_selector(dtype_include="category")
    onehot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((onehot, texts), remainder=numbers), model)


def halves(name, seed):
    """Rows to learn from and rows to test on."""
    X, y = fetch_table(name)
    size = min(MOST_ROWS, len(y) // 2)
    classes = y if name in list_tables("classification", "tabular") else None
    return train_test_split(
        X, y, train_size=size, test_size=size, random_state=seed, stratify=classes
    )


def indicator_sets(seed):
    """Parts of the default, to see what each is worth."""
    opinion = SecondOpinion(space="scaled", random_state=seed)
    around = [
        LocalSensitivity(n_neighbors=10, space="scaled"),
        NeighborDisagreement(n_neighbors=(3, 10, 30), space="scaled"),
        NeighborDistance(n_neighbors=10, space="scaled"),
    ]
    return {
        "no second opinion": [Confidence(), *around],
        "only second opinion": [Confidence(), opinion],
        "only own confidence": [Confidence()],
    }


def published_trust_score(rows, labels, new_rows, predicted):
    """Jiang et al. (2018) as their code has it: the second nearest row of each class, no filter."""
    classes = np.unique(labels)
    distances = np.column_stack(
        [
            NearestNeighbors(n_neighbors=2).fit(rows[labels == label]).kneighbors(new_rows)[0][:, 1]
            for label in classes
        ]
    )
    mine = predicted[:, None] == classes
    own = distances[mine]
    other = np.where(mine, np.inf, distances).min(axis=1)
    return other / (own + 1e-12)


def boosted_error(model, X, y, X_test, probabilities):
    """UQ360's recipe: boosted trees on the row and its probabilities learn which held-out rows were wrong."""
    held_out = cross_val_predict(model, X, y, cv=5, method="predict_proba")
    wrong = model.classes_[held_out.argmax(axis=1)] != y
    if not wrong.any():
        return np.zeros(len(probabilities))
    encode = model[:-1].transform
    learner = GradientBoostingClassifier(random_state=0)
    learner.fit(np.hstack([encode(X), held_out]), wrong)
    return learner.predict_proba(np.hstack([encode(X_test), probabilities]))[:, 1]


def peer_errors(model, X, y, X_test):
    """What public methods make of the same predictions; higher is more likely wrong."""
    frozen, predicted = FrozenEstimator(model), model.predict(X_test)
    rows, new_rows = model[:-1].transform(X), model[:-1].transform(X_test)
    probabilities = model.predict_proba(X_test)
    return {
        "trust score": -TrustScore(frozen).fit(X, y).score_samples(X_test),
        "trust score, published": -published_trust_score(rows, y, new_rows, predicted),
        "disagreement": -NeighborDisagreement(frozen).fit(X, y).score_samples(X_test),
        "boosted": boosted_error(model, X, y, X_test, probabilities),
    }


def excess_calibration_error(wrong, probability, seed):
    """Smooth calibration error above that of a forecaster that is right about its own chances."""
    random = np.random.default_rng(seed)
    ideal = [
        smooth_calibration_error(random.random(len(wrong)) < probability, probability)
        for _ in range(DRAWS)
    ]
    return smooth_calibration_error(wrong, probability) - np.mean(ideal)


class Told(NamedTuple):
    """Estimates of the test rows of a case, whether each was wrong, and the number of classes."""

    estimated: np.ndarray
    wrong: np.ndarray
    n_classes: int


def compare_tenths(told):
    """Print the mean estimate beside the share that is wrong in each tenth of all estimates, and how many agree.

    The standard error is that of the sum of independent rows whose chances are the estimates.
    """
    groups = {"two classes": told.n_classes == 2, "more classes": told.n_classes > 2}
    for name, chosen in groups.items():
        estimated, wrong = told.estimated[chosen], told.wrong[chosen]
        order = np.argsort(estimated, kind="stable")
        agree = 0
        print(f"\nTenths of the estimates, {name}: estimated, wrong, standard errors between them")
        for rows in np.array_split(order, N_TENTHS):
            expected = estimated[rows].mean()
            spread = np.sqrt((estimated[rows] * (1 - estimated[rows])).sum()) / max(len(rows), 1)
            distance = (wrong[rows].mean() - expected) / spread
            agree += abs(distance) <= 2
            print(f"{expected:8.4f}{wrong[rows].mean():8.4f}{distance:8.1f}")
        report(f"tenths within two standard errors, {name}", agree, "at least", 9)


def measure(table, kind, seed, *, raw=False, ablation=False):
    """One case: relative AUGRC of every method, and how calibrated the estimate is."""
    X, X_test, y, y_test = halves(table, seed)
    scale = not (raw and kind in ("forest", "boosting"))
    model = encoded(models(seed)[kind], X, scale=scale)
    error_estimator = IndividualErrorClassifier(model, random_state=seed).fit(X, y)
    wrong = error_estimator.predict(X_test) != y_test
    own = augrc_loss(wrong, 1 - error_estimator.predict_proba(X_test).max(axis=1))
    estimated = error_estimator.predict_error(X_test)
    case = {"table": table, "model": kind, "seed": seed, "rows": len(wrong), "errors": wrong.sum()}
    case["own"] = own
    case["calibration"] = excess_calibration_error(wrong, estimated, seed)
    told = {"surefoot": estimated}
    if ablation:
        for name, chosen in indicator_sets(seed).items():
            part = IndividualErrorClassifier(model, indicators=chosen, random_state=seed)
            told[name] = part.fit(X, y).predict_error(X_test)
    elif not raw:
        told |= peer_errors(error_estimator.estimator_, X, y, X_test)
    ratios = {name: augrc_loss(wrong, error) / own for name, error in told.items() if own > 0}
    return case | ratios, Told(estimated, wrong, len(error_estimator.classes_))


def geometric_mean(ratios):
    """Geometric mean of what is there."""
    return float(np.exp(np.log(ratios.dropna()).mean()))


def told_spread(ratios):
    """Mean, share below 1, quartiles and extremes of ratios."""
    quarters = ratios.quantile([0.25, 0.5, 0.75]).to_list()
    names = ["cases", "mean", "better %", "least", "25 %", "50 %", "75 %", "worst"]
    better = 100 * (ratios < 1).mean()
    extremes = ratios.min(), *quarters, ratios.max()
    return dict(
        zip(names, [ratios.count(), geometric_mean(ratios), better, *extremes], strict=True)
    )


def show(title, rows):
    """Print a table of spreads."""
    print(f"\n{title}")
    table = pd.DataFrame.from_dict(rows, orient="index")
    told = {"cases": "{:.0f}".format, "better %": "{:.0f}".format}
    print(table.to_string(float_format="{:.3f}".format, formatters=told))


def summarize(cases, methods):
    """Print what was measured, cases with few test errors apart."""
    enough, few = cases[cases.errors >= FEW_ERRORS], cases[cases.errors < FEW_ERRORS]
    show(
        "AUGRC relative to own confidence, by method (geometric mean)",
        {name: told_spread(enough[name]) for name in methods},
    )
    for by in ("model", "table"):
        groups = enough.groupby(by, sort=False)["surefoot"]
        show(f"surefoot, by {by}", {name: told_spread(ratios) for name, ratios in groups})
    if len(few):
        show(
            f"Cases with under {FEW_ERRORS} test errors",
            {name: told_spread(few[name]) for name in methods},
        )
        print(few[["table", "model", "seed", "errors", "surefoot"]].to_string(index=False))
    excess = cases.calibration
    print("\nSmooth calibration error above a perfect forecaster's: quartiles, and by model")
    print(excess.describe().to_string(float_format="{:.4f}".format))
    print(cases.groupby("model", sort=False).calibration.mean().to_string())


def compare_with_asked(cases):
    """Print the default's figures beside what was asked of them."""
    told = told_spread(cases.surefoot[cases.errors >= FEW_ERRORS])
    excess = 1000 * cases.calibration.mean()
    print()
    report("AUGRC relative to own confidence, geometric mean", told["mean"], "at most", 0.64)
    report("better than own confidence, % of the cases", told["better %"], "at least", 85)
    report("worst case", told["worst"], "at most", 1.05)
    report("calibration error above a perfect forecaster's, 1/1000", excess, "at most", 6)


def plot(cases, methods, file):
    """Draw every ratio of surefoot by model, and the sorted ratios of all methods."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), sharey=True, layout="constrained")
    random = np.random.default_rng(0)
    for place, (kind, group) in enumerate(cases.groupby("model", sort=False)):
        shift = place + random.uniform(-0.22, 0.22, len(group))
        few = (group.errors < FEW_ERRORS).to_numpy()
        left.scatter(shift[~few], group.surefoot[~few], s=22, color="C0", alpha=0.7, lw=0)
        left.scatter(shift[few], group.surefoot[few], s=22, facecolor="none", edgecolor="C0")
        mean = geometric_mean(group.surefoot[~few])
        left.hlines(mean, place - 0.32, place + 0.32, color="k", lw=2)
        left.text(place, 0.985, kind, transform=left.get_xaxis_transform(), ha="center", va="top")
    left.set(xticks=[], xlim=(-0.5, place + 0.5), ylabel="AUGRC / AUGRC of own confidence")
    left.set_title("surefoot, case by case (hollow: under 20 test errors)", fontsize=10)
    for name in methods:
        ratios = cases.loc[cases.errors >= FEW_ERRORS, name].dropna().sort_values()
        share = 100 * np.arange(1, len(ratios) + 1) / len(ratios)
        right.plot(share, ratios, lw=3 if name == "surefoot" else 1.5, label=PEERS.get(name, name))
    right.set(xlabel="% of the cases", xlim=(0, 100))
    right.set_title("all methods, sorted; below 1 is better", fontsize=10)
    right.legend(frameon=False, loc="upper left")
    for axis in (left, right):
        axis.axhline(1, color="0.5", lw=1, zorder=0)
        axis.set_yscale("log")
        ticks = [0.1, 0.25, 0.5, 0.7, 1, 1.5, 2, 4]
        axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.minorticks_off()
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=150)


def run(options):
    """Measure every case, in the order of the tables."""
    tables, kinds = options.tables, list(models(0))
    seeds = range(1 if options.ablation else options.seeds)
    if options.quick:
        tables, kinds, seeds = ["vehicle", "german_credit"], ["logistic", "forest"], [0]
    if options.raw:
        kinds = [kind for kind in kinds if kind in ("forest", "boosting")]
    jobs = [
        delayed(measure)(*case, raw=options.raw, ablation=options.ablation)
        for case in product(tables, kinds, seeds)
    ]
    cases, rows = [], []
    for case, told in Parallel(n_jobs=options.jobs, return_as="generator")(jobs):
        cases.append(case)
        rows.append(told._replace(n_classes=np.full(len(told.wrong), told.n_classes)))
        line = f"{case['table']:14}{case['model']:10}{case['seed']}  {case['errors']:4} errors"
        print(f"{line}  {case.get('surefoot', np.nan):.3f}", flush=True)
    return pd.DataFrame(cases), Told(*map(np.concatenate, zip(*rows, strict=True)))


def main():
    """Measure, print, and write a table and a plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--tables", nargs="*", default=list_tables("classification", "tabular"))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="two tables, two models, one seed")
    parser.add_argument("--ablation", action="store_true", help="parts of the default, one seed")
    parser.add_argument(
        "--raw", action="store_true", help="forest and boosting on unscaled columns"
    )
    options = parser.parse_args()
    cases, told = run(options)
    fixed = ["table", "model", "seed", "rows", "errors", "own", "calibration"]
    methods = [name for name in cases if name not in fixed]
    summarize(cases, methods)
    if not (options.raw or options.ablation):
        compare_with_asked(cases)
        compare_tenths(told)
    options.out.mkdir(parents=True, exist_ok=True)
    name = "error_detection" + "_ablation" * options.ablation + "_raw" * options.raw
    cases.to_csv(options.out / f"{name}.csv", index=False, float_format="%.5g")
    plot(cases, methods, options.out / f"{name}.png")


if __name__ == "__main__":
    main()
