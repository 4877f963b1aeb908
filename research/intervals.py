"""90 % intervals: IndividualErrorRegressor against constant width, MAPIE's quantiles, CLEAR and a quantile forest.

Six development tables and the twelve regression tables of PMLB with 1,000 rows and more, 120, 350 and 1,500 training
rows (at most half of a table), three models, up to 1,500 test rows. The prior for sizes of errors is learned again
without the family of each table, from the cases of `python -m reproduction priors --out FOLDER`. Intervals
are judged by their coverage, in all and by thirds of the estimated size (of the width, for the rivals), by their
Winkler score divided by that of constant-width cross-conformal intervals of the same model (below 1 is better), and by
the rank correlation of their width with the true absolute error. Families are in two halves: choices were made on the
first.
What was measured is kept in `--out`, and not measured again. Needs the tables in $SUREFOOT_DATA, and the packages of
the group `intervals` in an environment of its own; CLEAR, which asks for old versions of others, is installed alone:

    pip install --group intervals && pip install --no-deps clear-uq pygam progressbar2 python-utils
    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python research/intervals.py --out results --cases FOLDER
"""

import argparse
import random
import sys
import warnings
from functools import cache, partial
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
from mapie.regression import CrossConformalizedQuantileRegressor, CrossConformalRegressor
from scipy.stats import spearmanr
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import KFold, train_test_split

from benchmarks.timing import report
from error_detection import encoded, geometric_mean, halves, told_spread
from reproduction.data import TABLES, list_tables
from reproduction.error_size_prior import (
    DISTANCE,
    LENGTHS,
    MODELS,
    PREDICTION,
    SIZES,
    VERSION,
    learn,
    size_case,
    tree_arrays,
)
from reproduction.prior_cases import case_tables, plan, read_case
from surefoot.error_estimation import IndividualErrorRegressor, _error_size
from surefoot.metrics import interval_coverage_score, interval_width, winkler_loss

CONFIDENCE = 0.9
YARDSTICK = "constant width"

# Training rows, and the highest relative Winkler scores asked for, plain and corrected.
ASKED = {120: (0.84, 0.78), 350: (0.79, 0.68), 1500: (0.78, 0.60)}
# Least rows of the tables of PMLB, and the seed that divides the families into two halves.
LEAST_ROWS = 1_000
SEED_OF_HALVES = 28


def models(seed):
    """The models, with scikit-learn's defaults."""
    return {
        "ridge": Ridge(),
        "forest": RandomForestRegressor(random_state=seed),
        "boosting": HistGradientBoostingRegressor(random_state=seed),
    }


def tables():
    """Names of the development tables and of the larger tables of PMLB."""
    large = [name for name in list_tables("regression", "pmlb") if n_rows(name) >= LEAST_ROWS]
    return [*list_tables("regression", "tabular"), *large]


def n_rows(name):
    """Rows of a table."""
    return int(TABLES.at[name, "n_rows"])


def chosen_families():
    """Families of the half that choices were made on."""
    families = sorted({TABLES.at[name, "family"] for name in tables()})
    random.Random(SEED_OF_HALVES).shuffle(families)  # noqa: S311 - no secret
    return families[: (len(families) + 1) // 2]


@cache
def prior_without(family, folder):
    """Prior for sizes of errors that was learned from the tables of all other families."""
    planned = plan(case_tables("regression"), kinds=MODELS, sizes=SIZES)
    cases = [size_case(read_case(case.path(folder))) for case in planned]
    learned = learn([case for case in cases if case.family != family])
    shown = cases[0].columns[:200]
    arrays = tree_arrays(learned, shown, np.log(learned.predict(shown)))
    columns = np.array([*LENGTHS, DISTANCE, PREDICTION])
    return {"version": np.array(VERSION), "columns": columns, **arrays}


def surefoot_intervals(model, X, y, X_test, seed, *, corrected):
    """Predictions and intervals of this library, and the estimated sizes of errors."""
    error_estimator = IndividualErrorRegressor(model, corrected=corrected, random_state=seed).fit(
        X, y
    )
    judgement = error_estimator.judge(X_test, confidence=CONFIDENCE)
    return judgement.prediction, judgement.interval, judgement.error


def cross_conformal(model, X, y, X_test, seed):
    """MAPIE's CV+ on absolute residuals: the yardstick."""
    folds = KFold(5, shuffle=True, random_state=seed)
    peer = CrossConformalRegressor(model, confidence_level=CONFIDENCE, cv=folds)
    middle, ends = peer.fit_conformalize(X, y).predict_interval(X_test)
    return middle, ends[:, :, 0]


def quantile_regression(X, y, X_test, seed):
    """MAPIE's conformalised quantiles by boosting, in CV+: another model, whatever the model is.

    Ends that cross are exchanged.
    """
    folds = KFold(5, shuffle=True, random_state=seed)
    model = HistGradientBoostingRegressor(loss="quantile", quantile=0.5, random_state=seed)
    peer = CrossConformalizedQuantileRegressor(
        encoded(model, X), confidence_level=CONFIDENCE, cv=folds
    )
    middle, ends = peer.fit_conformalize(X, y).predict_interval(X_test)
    return middle, np.sort(ends[:, :, 0], axis=1)


def as_numbers(X, X_test):
    """Rows to learn from and to test on behind the encoder and scaler of the models."""
    encoder = encoded("passthrough", X)[:-1].fit(X)
    return encoder.transform(X), encoder.transform(X_test)


def quantile_forest(X, y, X_test, seed):
    """Quantiles of a forest, widened by the conformal quantile of their errors out of bag."""
    from quantile_forest import RandomForestQuantileRegressor

    X, X_test = as_numbers(X, X_test)
    ends = [(1 - CONFIDENCE) / 2, 0.5, (1 + CONFIDENCE) / 2]
    forest = RandomForestQuantileRegressor(
        bootstrap=True, oob_score=True, min_samples_leaf=5, random_state=seed
    ).fit(X, y)
    low, _, high = forest.predict(X, quantiles=ends, oob_score=True).T
    scores = np.sort(np.maximum(low - y, y - high))
    rank = min(int(np.ceil(CONFIDENCE * (len(y) + 1))), len(y))
    low, middle, high = forest.predict(X_test, quantiles=ends).T
    reach = scores[rank - 1]
    return middle, np.column_stack([low - reach, np.maximum(high + reach, low - reach)])


def clear_intervals(X, y, X_test, seed):
    """Intervals of CLEAR: 10 forests, 10 quantile forests of residuals, a fifth of the rows to calibrate."""
    if "clear.models" not in sys.modules:  # its networks need torch, and are not used here
        package, general = ModuleType("clear.models"), ModuleType("clear.models.general")
        package.general = general
        general.SimultaneousQuantileRegressor = type("Absent", (), {})
        sys.modules |= {"clear.models": package, "clear.models.general": general}
    from clear import CLEAR

    X, X_test = as_numbers(X, X_test)
    X_fit, X_rest, y_fit, y_rest = train_test_split(X, y, test_size=0.2, random_state=seed)
    peer = CLEAR(desired_coverage=CONFIDENCE, n_bootstraps=10, random_state=seed, n_jobs=1)
    small = {"n_estimators": 50, "n_jobs": 1}
    peer.fit_epistemic(X_fit, y_fit, epistemic_model="rf", model_params=small)
    middle = peer.predict_epistemic(X_fit)[0]
    peer.fit_aleatoric(X_fit, y_fit, "rf", small, fit_on_residuals=True, epistemic_preds=middle)
    center, low, high, _ = peer.predict_epistemic(X_rest)
    spread, below, above = peer.predict_aleatoric(X_rest, epistemic_preds=center)
    peer.calibrate(y_rest, center, spread, below, above, low, high, verbose=False)
    low, high = peer.predict(X_test)
    return peer.predict_epistemic(X_test)[0], np.column_stack([low, high])


RIVALS = {
    "MAPIE quantiles": quantile_regression,
    "quantile forest": quantile_forest,
    "CLEAR": clear_intervals,
}


def measure(table, seed, kind, train_rows, options):
    """One model, or one rival, on one split of a table; methods that were measured before are read from disk."""
    file = options.out / "interval_cases" / f"{table}-{seed}-{kind}-{train_rows}.csv"
    known = pd.read_csv(file).to_dict("records") if file.exists() else []
    methods = {kind: RIVALS[kind]} if kind in RIVALS else own_methods(table, seed, kind, options)
    missing = methods.keys() - {case["method"] for case in known}
    if not missing:
        return known
    X, X_test, y, y_test = halves(table, seed)
    case = {"table": table, "seed": seed, "model": kind, "train_rows": train_rows}
    for method in (method for method in methods if method in missing):
        answer = methods[method](X[:train_rows], y[:train_rows], X_test, seed)
        known.append(case | {"method": method} | judge(y_test, *answer))
    file.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(known).to_csv(file, index=False)
    return known


def own_methods(table, seed, kind, options):
    """The yardstick and this library around a model, whose prior for sizes has not seen the family of the table."""

    def around(method, X, *rest, **settings):
        prior = prior_without(TABLES.at[table, "family"], options.cases)
        _error_size.size_prior = lambda: prior
        return method(encoded(models(seed)[kind], X), X, *rest, **settings)

    return {
        YARDSTICK: partial(around, cross_conformal),
        "surefoot": partial(around, surefoot_intervals, corrected=False),
        "surefoot, corrected": partial(around, surefoot_intervals, corrected=True),
    }


def judge(truth, middle, ends, sizes=None):
    """Coverage, in all and by thirds of the size, Winkler score, width, rank of the width, and error of the middle."""
    width = ends[:, 1] - ends[:, 0]
    order = np.argsort(width if sizes is None else sizes, kind="stable")
    thirds = [interval_coverage_score(truth[rows], ends[rows]) for rows in np.array_split(order, 3)]
    return {
        "coverage": interval_coverage_score(truth, ends),
        "low third": thirds[0],
        "middle third": thirds[1],
        "high third": thirds[2],
        "winkler": winkler_loss(truth, ends, CONFIDENCE),
        "width": interval_width(ends),
        "rank": spearmanr(width, np.abs(truth - middle)).statistic,
        "rmse": root_mean_squared_error(truth, middle),
    }


def with_ratios(cases):
    """Add scores relative to the yardstick's; a rival is compared with that of each model."""
    place = ["table", "seed", "train_rows"]
    base = cases[cases.method == YARDSTICK].set_index([*place, "model"])
    base = base[["winkler", "width", "rmse"]].add_prefix("base_").reset_index()
    is_rival = cases.method.isin(RIVALS)
    rivals = cases[is_rival].drop(columns="model").merge(base, on=place)
    cases = pd.concat([cases[~is_rival].merge(base, on=[*place, "model"]), rivals])
    for name in ("winkler", "width", "rmse"):
        cases[f"relative_{name}"] = cases[name] / cases.pop(f"base_{name}")
    return cases


def show(title, rows):
    """Print a table."""
    print(f"\n{title}")
    table = pd.DataFrame.from_dict(rows, orient="index")
    told = {"cases": "{:.0f}".format, "better %": "{:.0f}".format}
    print(table.to_string(float_format="{:.3f}".format, formatters=told))


def told_method(group):
    """What one method did over all cases."""
    by_table = group.groupby("table")[
        ["coverage", "low third", "middle third", "high third"]
    ].mean()
    return {
        "cases": len(group),
        "coverage": group.coverage.mean(),
        "lowest table": by_table.coverage.min(),
        **{name: group[name].mean() for name in ("low third", "middle third", "high third")},
        "lowest third": by_table.iloc[:, 1:].min(axis=None),
        "Winkler": geometric_mean(group.relative_winkler),
        "width": geometric_mean(group.relative_width),
        "rank": group["rank"].mean(),
        "RMSE": geometric_mean(group.relative_rmse),
    }


def summarize(cases, train_rows, title):
    """Print what was measured with so many training rows."""
    print(f"\n{train_rows} training rows, {title}: {cases.table.nunique()} tables")
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
        print(table.to_string(float_format="{:.3f}".format))
    print()
    for method, asked in zip(("surefoot", "surefoot, corrected"), ASKED[train_rows], strict=True):
        told = told_method(groups[method])
        thirds = min(told[name] for name in ("low third", "middle third", "high third"))
        report(f"{method}: mean coverage, %", 100 * told["coverage"], "at least", 89)
        report(f"{method}: mean coverage, %", 100 * told["coverage"], "at most", 92)
        report(f"{method}: lowest of a table, %", 100 * told["lowest table"], "at least", 87)
        report(f"{method}: lowest of a third of the sizes, %", 100 * thirds, "at least", 85)
        report(f"{method}: Winkler score over constant width", told["Winkler"], "at most", asked)


def main():
    """Measure, print, and write the cases of each number of training rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--cases", type=Path, required=True, help="cases of priors")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument(
        "--train-rows", type=int, nargs="+", choices=list(ASKED), default=list(ASKED)
    )
    parser.add_argument("--tables", nargs="+", default=tables())
    parser.add_argument("--kinds", nargs="+", default=[*models(0), *RIVALS])
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of unknown categories in folds, and of old calls in CLEAR
    run = partial(measure, options=options)
    for train_rows in options.train_rows:
        cases = []
        for seed, table, kind in product(range(options.seeds), options.tables, options.kinds):
            found = run(table, seed, kind, train_rows)
            cases += found
            for case in found:
                line = f"{table:34}{seed} {kind:16}{case['method']:22}{case['coverage']:.3f}"
                print(f"{train_rows:5} {line} {case['winkler']:12.5g}", flush=True)
        cases = pd.DataFrame(cases)
        if YARDSTICK not in set(cases.method):
            continue
        cases = with_ratios(cases)
        family = cases.table.map(TABLES.family)
        for title, where in (
            ("all tables", family.notna()),
            ("half to choose on", family.isin(chosen_families())),
            ("half to report", ~family.isin(chosen_families())),
        ):
            if where.any():
                summarize(cases[where], train_rows, title)
        file = options.out / f"intervals_{train_rows}.csv"
        cases.to_csv(file, index=False, float_format="%.5g")


if __name__ == "__main__":
    main()
