"""90 % intervals: IndividualErrorRegressor against MAPIE and crepes.

Six tables, five models, half of the rows to learn from and half to test on, at most 1500 in each, two seeds. Intervals
are judged by their coverage, by their Winkler score divided by that of constant-width cross-conformal intervals of the
same model (below 1 is better), and by the rank correlation of their width with the true absolute error. With
`--train-rows 120 350` there are as many training rows, three models, and this library against constant width only.
What was measured is kept in `--out`, and not measured again. Needs the tables in $SUREFOOT_DATA, pandas, matplotlib,
MAPIE and (but for few training rows) crepes:

    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python benchmarks/intervals.py --out results
    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python benchmarks/intervals.py --out results --train-rows 120 350
"""

import argparse
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from mapie.conformity_scores import ResidualNormalisedScore
from mapie.regression import (
    CrossConformalizedQuantileRegressor,
    CrossConformalRegressor,
    SplitConformalRegressor,
)
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import KFold, cross_val_predict, train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from error_detection import encoded, geometric_mean, halves, told_spread
from reproduction.data import list_tables
from surefoot.error_estimation import IndividualErrorRegressor
from surefoot.metrics import interval_coverage_score, interval_width, winkler_loss
from timing import report

CONFIDENCE = 0.9
YARDSTICK = "constant width"
MOST_SHOWN = 4.0

# Models with few training rows, and the highest relative Winkler scores asked for: by training rows (0 for half of a
# table), plain and corrected.
SMALL_MODELS = ["ridge", "forest", "boosting"]
ASKED = {0: (0.80, 0.64), 120: (0.86, 0.79), 350: (0.80, 0.69)}


def models(seed):
    """The five models, with scikit-learn's defaults; the target of the SVR is scaled."""
    return {
        "ridge": Ridge(),
        "knn": KNeighborsRegressor(),
        "svr": TransformedTargetRegressor(SVR(), transformer=StandardScaler()),
        "forest": RandomForestRegressor(random_state=seed),
        "boosting": HistGradientBoostingRegressor(random_state=seed),
    }


def surefoot_intervals(model, X, y, X_test, seed, *, corrected):
    """Predictions and intervals of this library."""
    error_estimator = IndividualErrorRegressor(model, corrected=corrected, random_state=seed).fit(
        X, y
    )
    return error_estimator.predict(X_test), error_estimator.predict_interval(X_test, CONFIDENCE)


def cross_conformal(model, X, y, X_test, seed):
    """MAPIE's CV+ on absolute residuals: the yardstick."""
    folds = KFold(5, shuffle=True, random_state=seed)
    peer = CrossConformalRegressor(model, confidence_level=CONFIDENCE, cv=folds)
    middle, ends = peer.fit_conformalize(X, y).predict_interval(X_test)
    return middle, ends[:, :, 0]


def residual_normalised(model, X, y, X_test, seed, *, learner):
    """MAPIE's residuals over their estimated size; it has this for a split only, here two to one."""
    X_fit, X_rest, y_fit, y_rest = train_test_split(X, y, test_size=1 / 3, random_state=seed)
    score = ResidualNormalisedScore(encoded(learner, X), random_state=seed)
    peer = SplitConformalRegressor(
        model, confidence_level=CONFIDENCE, conformity_score=score, prefit=False
    )
    middle, ends = peer.fit(X_fit, y_fit).conformalize(X_rest, y_rest).predict_interval(X_test)
    return middle, ends[:, :, 0]


def quantile_regression(X, y, X_test, seed):
    """MAPIE's conformalised quantiles by boosting, in CV+: another model, whatever the model is."""
    folds = KFold(5, shuffle=True, random_state=seed)
    model = HistGradientBoostingRegressor(loss="quantile", quantile=0.5, random_state=seed)
    peer = CrossConformalizedQuantileRegressor(
        encoded(model, X), confidence_level=CONFIDENCE, cv=folds
    )
    middle, ends = peer.fit_conformalize(X, y).predict_interval(X_test)
    return middle, ends[:, :, 0]


def neighbor_difficulty(model, X, y, X_test, seed):
    """Intervals of crepes, as wide as the out-of-fold residuals of 25 neighbours are large; a split of two to one."""
    from crepes import ConformalRegressor
    from crepes.extras import DifficultyEstimator

    X_fit, X_rest, y_fit, y_rest = train_test_split(X, y, test_size=1 / 3, random_state=seed)
    residuals = y_fit - cross_val_predict(model, X_fit, y_fit, cv=5)
    fitted = clone(model).fit(X_fit, y_fit)
    rows = fitted[:-1].transform
    difficulty = DifficultyEstimator()
    difficulty.fit(rows(X_fit), residuals=residuals, scaler=True)
    peer = ConformalRegressor()
    peer.fit(y_rest - fitted.predict(X_rest), sigmas=difficulty.apply(rows(X_rest)))
    middle, scales = fitted.predict(X_test), difficulty.apply(rows(X_test))
    return middle, peer.predict_int(middle, sigmas=scales, confidence=CONFIDENCE)


def methods(model, arguments, quantiles):
    """Predictions and intervals of every method."""
    forest = RandomForestRegressor(min_samples_leaf=10, random_state=0)
    return {
        YARDSTICK: cross_conformal(model, *arguments),
        "surefoot": surefoot_intervals(model, *arguments, corrected=False),
        "surefoot, corrected": surefoot_intervals(model, *arguments, corrected=True),
        "MAPIE normalised, line": residual_normalised(
            model, *arguments, learner=LinearRegression()
        ),
        "MAPIE normalised, forest": residual_normalised(model, *arguments, learner=forest),
        "MAPIE quantiles": quantiles,
        "crepes neighbours": neighbor_difficulty(model, *arguments),
    }


def own_methods(model, arguments):
    """Predictions and intervals of the yardstick and of this library."""
    return {
        YARDSTICK: cross_conformal(model, *arguments),
        "surefoot": surefoot_intervals(model, *arguments, corrected=False),
        "surefoot, corrected": surefoot_intervals(model, *arguments, corrected=True),
    }


def measure(table, seed, kind, train_rows, folder):
    """All methods around one model on one split of a table; from disk where they were measured before."""
    file = folder / f"{table}-{seed}-{kind}-{train_rows}.csv"
    if file.exists():
        return pd.read_csv(file).to_dict("records")
    X, X_test, y, y_test = halves(table, seed)
    if train_rows:
        X, y = X[:train_rows], y[:train_rows]
    arguments = X, y, X_test, seed
    model = encoded(models(seed)[kind], X)
    answers = (
        own_methods(model, arguments)
        if train_rows
        else methods(model, arguments, quantile_regression(*arguments))
    )
    case = {"table": table, "seed": seed, "model": kind, "train_rows": train_rows}
    cases = [
        case | {"method": method} | judge(y_test, middle, ends)
        for method, (middle, ends) in answers.items()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(cases).to_csv(file, index=False)
    return cases


def judge(truth, middle, ends):
    """Coverage, Winkler score, width, rank correlation of width and error, and error of the middle."""
    width = ends[:, 1] - ends[:, 0]
    return {
        "coverage": interval_coverage_score(truth, ends),
        "winkler": winkler_loss(truth, ends, CONFIDENCE),
        "width": interval_width(ends),
        "rank": spearmanr(width, np.abs(truth - middle)).statistic,
        "rmse": root_mean_squared_error(truth, middle),
    }


def with_ratios(cases):
    """Add Winkler score, width and error relative to the yardstick's."""
    case = ["table", "seed", "model", "train_rows"]
    base = cases[cases.method == YARDSTICK].set_index(case)[["winkler", "width", "rmse"]]
    base = base.add_prefix("base_").reset_index()
    cases = cases.merge(base, on=case)
    for name in ("winkler", "width", "rmse"):
        cases[f"relative_{name}"] = cases[name] / cases[f"base_{name}"]
    return cases.drop(columns=["base_winkler", "base_width", "base_rmse"])


def show(title, rows):
    """Print a table."""
    print(f"\n{title}")
    table = pd.DataFrame.from_dict(rows, orient="index")
    told = {"cases": "{:.0f}".format, "better %": "{:.0f}".format}
    print(table.to_string(float_format="{:.3f}".format, formatters=told))


def told_method(group):
    """What one method did over all cases."""
    by_table = group.groupby("table").coverage.mean()
    return {
        "coverage": group.coverage.mean(),
        "lowest table": by_table.min(),
        "lowest case": group.coverage.min(),
        "Winkler": geometric_mean(group.relative_winkler),
        "width": geometric_mean(group.relative_width),
        "rank": group["rank"].mean(),
        "RMSE": geometric_mean(group.relative_rmse),
    }


def summarize(cases, train_rows):
    """Print what was measured with so many training rows."""
    print(f"\n{train_rows or 'half of the'} training rows")
    groups = dict(list(cases.groupby("method", sort=False)))
    show(
        "Coverage, and Winkler score, width and RMSE relative to constant width (geometric means)",
        {method: told_method(group) for method, group in groups.items()},
    )
    show(
        "Spread of the relative Winkler score over the cases",
        {method: told_spread(group.relative_winkler) for method, group in groups.items()},
    )
    for by, value in product(("table", "model"), ("coverage", "relative_winkler")):
        mean = geometric_mean if value == "relative_winkler" else np.mean
        table = cases.pivot_table(value, by, "method", aggfunc=mean, sort=False)
        print(f"\n{value.replace('_', ' ')} by {by}")
        print(table.T.to_string(float_format="{:.3f}".format))
    print()
    for method, asked in zip(("surefoot", "surefoot, corrected"), ASKED[train_rows], strict=True):
        told = told_method(groups[method])
        report(f"{method}: mean coverage, %", 100 * told["coverage"], "at least", 89)
        report(f"{method}: mean coverage, %", 100 * told["coverage"], "at most", 92)
        report(
            f"{method}: lowest coverage of a table, %", 100 * told["lowest table"], "at least", 87
        )
        report(
            f"{method}: Winkler score relative to constant width", told["Winkler"], "at most", asked
        )


def plot(cases, file):
    """Draw the relative Winkler score of every case, and the coverage of every table."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True, layout="constrained")
    random = np.random.default_rng(0)
    names = [name for name in cases.method.unique() if name != YARDSTICK]
    for place, name in enumerate([*names, YARDSTICK]):
        group = cases[cases.method == name]
        color = "C0" if name.startswith("surefoot") else "0.45"
        if name != YARDSTICK:
            shift = place + random.uniform(-0.2, 0.2, len(group))
            shown = group.relative_winkler.clip(upper=MOST_SHOWN)
            left.scatter(shown, shift, s=18, color=color, alpha=0.6, lw=0)
            left.vlines(shown.median(), place - 0.35, place + 0.35, color="k", lw=2)
        by_table = group.groupby("table").coverage.mean()
        right.scatter(by_table, np.full(len(by_table), place), s=26, color=color, alpha=0.8, lw=0)
        right.vlines(group.coverage.mean(), place - 0.35, place + 0.35, color="k", lw=2)
    left.set(xscale="log", xlabel="Winkler score / that of constant width; bars are medians")
    left.set_yticks(range(len(names) + 1), [*names, YARDSTICK])
    ticks = {
        0.2: "0.2",
        0.3: "0.3",
        0.5: "0.5",
        0.7: "0.7",
        1: "1",
        2: "2",
        MOST_SHOWN: "4 or more",
    }
    left.set_xticks(list(ticks), list(ticks.values()))
    left.minorticks_off()
    left.axvline(1, color="0.5", lw=1, zorder=0)
    left.invert_yaxis()
    right.set(xlabel="coverage of 90 % intervals, a dot a table; bars are means")
    right.axvline(CONFIDENCE, color="0.5", lw=1, zorder=0)
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=150)


def run(options, train_rows):
    """Measure every case, in the order of the tables."""
    tables, kinds, seeds = (
        list_tables("regression", "tabular"),
        list(models(0)),
        range(options.seeds),
    )
    if train_rows:
        kinds = SMALL_MODELS
    if options.quick:
        tables, kinds, seeds = ["energy_heating", "abalone"], ["ridge"], [0]
    folder = options.out / "interval_cases"
    jobs = [
        delayed(measure)(table, seed, kind, train_rows, folder)
        for seed, table, kind in product(seeds, tables, kinds)
    ]
    cases = []
    for found in Parallel(n_jobs=options.jobs, return_as="generator")(jobs):
        cases += found
        for case in found:
            told = f"{case['table']:18}{case['seed']} {case['model']:10}{case['method']:26}"
            print(f"{told}{case['coverage']:.3f} {case['winkler']:12.5g}", flush=True)
    return with_ratios(pd.DataFrame(cases))


def main():
    """Measure, print, and write tables and a plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="two tables, one model, one seed")
    parser.add_argument("--train-rows", type=int, nargs="+", choices=[120, 350], default=[])
    options = parser.parse_args()
    for train_rows in options.train_rows or [0]:
        cases = run(options, train_rows)
        summarize(cases, train_rows)
        name = f"intervals_{train_rows}" if train_rows else "intervals"
        cases.to_csv(options.out / f"{name}.csv", index=False, float_format="%.5g")
        if not train_rows:
            plot(cases, options.out / "intervals.png")


if __name__ == "__main__":
    main()
