"""What a user's own second model adds: CatBoost beside the default opinions, and beside those of an earlier version.

The chosen-on half of the arena's families, 300 training rows, one seed. Each case is judged with and without CatBoost
among the opinions of `SecondOpinion`, from the same prior; the ratio of both AUGRC is printed. The earlier opinions are
randomised trees, 60 rounds of boosted trees at a rate of 0.15, and a line. Resumable; needs the arena's folder with
its priors (`arena.py --out FOLDER`) and the group `boosters`:

    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python research/own_opinion.py FOLDER
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import ConvergenceWarning

from arena import LARGEST, Priors, arena_cases, n_values
from arena_rivals import arena_tables, catboost, draws_of
from benchmarks.timing import report
from cached_fits import CachedFit
from reproduction.data import TABLES
from reproduction.prior_cases import encoded, models, split
from reproduction.results import in_parallel, write_whole
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.indicators import (
    Confidence,
    LocalSensitivity,
    NeighborDisagreement,
    NeighborDistance,
    SecondOpinion,
)
from surefoot.metrics import augrc_loss

KINDS = ("logistic", "boosting", "knn")
EARLIER = {"n_rounds": 60, "rate": 0.15, "depth": 5, "max_columns": 16}
LEAST_ERRORS = 5


def earlier_opinions(rows):
    """Opinions of the version before the pool, not fitted."""
    fitted = SecondOpinion(models("classification", 0)["tree"], random_state=0)
    known = dict(fitted.fit(rows.X, rows.y).opinions_)
    boosting = clone(known["boosting"]).set_params(**EARLIER)
    trees = ExtraTreesClassifier(50, random_state=0)
    return [("trees", trees), ("boosting", boosting), ("linear", clone(known["linear"]))]


def judged(case, folder, prior):
    """AUGRC of one case by each choice of opinions; read from disk if it is there."""
    path = folder / "own_opinion" / f"{case.path(folder).stem}.json"
    if path.exists():
        return json.loads(path.read_text())
    rows = split(case)
    encoder = encoded(None, rows.X)[:-1].fit(rows.X, rows.y)
    rows = rows._replace(X=encoder.transform(rows.X), X_test=encoder.transform(rows.X_test))
    strong = ("catboost", CachedFit(catboost(case.random_state), folder / "fits"))
    earlier = earlier_opinions(rows)
    choices = {
        "default": ["default"],
        "default and CatBoost": ["default", strong],
        "earlier": earlier,
        "earlier and CatBoost": [*earlier, strong],
    }
    line = {name: getattr(case, name) for name in case._fields}
    for name, opinions in choices.items():
        error_estimator = IndividualErrorClassifier(
            models("classification", case.random_state)[case.model],
            indicators=[
                Confidence(),
                LocalSensitivity(n_neighbors=10, space="scaled"),
                NeighborDisagreement(n_neighbors=(3, 10, 30), space="scaled"),
                NeighborDistance(n_neighbors=10, space="scaled"),
                SecondOpinion(opinions=opinions, space="scaled", random_state=0),
            ],
            prior=prior,
            random_state=case.random_state,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            told = error_estimator.fit(rows.X, rows.y).judge(rows.X_test)
        wrong = told.prediction != rows.y_test
        line |= {"test_errors": int(wrong.sum()), name: augrc_loss(wrong, told.error)}
    write_whole(path, json.dumps(line).encode())
    return line


def mean_ratio(table, name, by):
    """Geometric mean of two AUGRC over the cases."""
    return float(np.exp(np.log(table[name] / table[by]).mean()))


def main():
    """Judge every case, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="*", default=KINDS)
    options = parser.parse_args()
    draws = draws_of(arena_tables("chosen"), sizes=(300,))
    cases = [case for case, _ in arena_cases(draws, options.models)]
    cases = [case for case in cases if n_values(case) <= LARGEST["catboost"]]
    priors = Priors([], None, options.folder / "priors")
    jobs = [(case, options.folder, priors(TABLES.at[case.table, "family"])) for case in cases]
    table = pd.DataFrame(list(in_parallel(judged, jobs, "cases")))
    table = table[table.test_errors >= LEAST_ERRORS]
    print(f"{len(table)} cases of {table.table.nunique()} tables")
    for before, limit in (("default", 1.0), ("earlier", 0.98)):
        ratio = mean_ratio(table, f"{before} and CatBoost", before)
        report(f"{before} opinions: AUGRC with CatBoost / without", ratio, "at most", limit)
    report("earlier / default opinions", mean_ratio(table, "earlier", "default"), "at least", 1.0)


if __name__ == "__main__":
    main()
