"""The arena: which method finds the mistakes of a classifier? 78 tables, five models, two seeds.

Every method of `arena_methods.py` judges the same predictions of the same fitted models. A ranking of the test rows is
scored by its AUGRC over that of the model's own confidence: below 1 is better. What surefoot learned on other
tables is learned without the family of the table that is judged. Resumable: what is on disk is not computed again.
Needs the tables in $SUREFOOT_DATA, pandas and matplotlib:

    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python benchmarks/arena.py --cases FOLDER --out FOLDER
"""

import argparse
import json
import re
import time
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import parallel_config
from sklearn.base import clone
from sklearn.metrics import log_loss

from arena_methods import CROSS_FITTED, METHODS, WITH_COLUMNS, Contest
from arena_summary import draw, summarize
from reproduction.data import list_tables
from reproduction.error_prior import cross_fitted
from reproduction.prior_cases import (
    Case,
    collect,
    encoded,
    models,
    planned,
    read_case,
    split,
    training_sizes,
)
from reproduction.results import in_parallel, write_whole
from surefoot import indicators
from surefoot.error_estimation import ErrorPrior
from surefoot.metrics import augrc_loss, error_auroc_score, smooth_calibration_error

FOLDS = 5
MODELS = ("logistic", "forest", "boosting", "svm", "knn")
QUICK_TABLES = ["prnn_crabs", "glass", "pima"]


def arena_cases(tables, kinds, random_states):
    """Cases of the arena: of each table, the largest number of training rows up to 1,000."""
    return [
        Case(table, kind, max(training_sizes(table, [1000])), random_state)
        for table in tables
        for kind in kinds
        for random_state in random_states
    ]


class Priors:
    """Priors, each learned on stored cases without some families, by the family that they may judge."""

    def __init__(self, cases, cases_folder, folder):
        self.cases, self.cases_folder, self.folder = cases, cases_folder, folder

    def __call__(self, family):
        """Prior for a table of this family."""
        return self.by_family[family]

    @cached_property
    def by_family(self):
        """Prior by family, from disk if it was learned before."""
        index = self.folder / "families.json"
        if not index.exists():
            self._learn(index)
        return {
            family: _load_prior(self.folder / name)
            for family, name in json.loads(index.read_text()).items()
        }

    def _learn(self, index):
        """Learn and write a prior without each fold of the families."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for case in self.cases:
            collect(case, self.cases_folder)
        stored, names = [read_case(case.path(self.cases_folder)) for case in self.cases], {}
        n_folds = min(FOLDS, len({case["family"] for case in stored}))
        for number, (prior, held_back) in enumerate(cross_fitted(stored, n_folds)):
            prior.save(self.folder / f"fold_{number}.json")
            names |= {case["family"]: f"fold_{number}.json" for case in held_back}
        write_whole(index, json.dumps(names, indent=1).encode())


@cache
def _load_prior(path):
    return ErrorPrior.load(path)


def contest_of(stored, priors):
    """What the methods may see of a stored case, and the model that it is about, not fitted."""
    rows = split(Case(*(stored[name] for name in Case._fields)))
    model = encoded(models("classification", stored["random_state"])[stored["model"]], rows.X)
    encoder = clone(model[:-1]).fit(rows.X, rows.y)
    names = [str(name) for name in stored["column_names"]]
    fields = ("probabilities", "wrong", "test_probabilities", "test_prediction", "columns")
    contest = Contest(
        rows=encoder.transform(rows.X),
        labels=stored["truth"],
        test_rows=encoder.transform(rows.X_test),
        **{name: stored[name] for name in (*fields, "test_columns", "random_state")},
        n_own=sum(name.startswith("Confidence__") for name in names),
        directions=[column_direction(*name.split("__", 1)) for name in names],
        prior=lambda: priors(stored["family"]),
    )
    return contest, model, rows


def column_direction(indicator, column):
    """Whether a column of an indicator rises (1) or falls (-1) with doubt, or either (0)."""
    known, name = getattr(indicators, indicator).directions, re.sub(r"_\d+$", "", column)
    return next((sign for end, sign in known.items() if name.endswith(end)), 0)


def judged(case, cases_folder, out, priors):
    """Compute the figures of the methods that are not on disk yet, and return those of all methods."""
    path = out / "figures" / f"{case.path(cases_folder).stem}.json"
    figures = json.loads(path.read_text()) if path.exists() else {}
    missing = [name for name in METHODS if name not in figures]
    if not missing:
        return figures
    collect(case, cases_folder)
    stored = read_case(case.path(cases_folder))
    contest, model, rows = contest_of(stored, priors)
    fit_seconds = seconds_to_fit(model, rows) if case.random_state == 0 else None
    for name in missing:
        figures[name] = figures_of(name, contest, stored, fit_seconds)
    write_whole(path, json.dumps(figures, indent=1).encode())
    return figures


def seconds_to_fit(model, rows):
    """Processor seconds of one fit of the model."""
    start = time.process_time()
    clone(model).fit(rows.X, rows.y)
    return time.process_time() - start


def figures_of(name, contest, stored, fit_seconds):
    """Figures of one method on one case."""
    start = time.process_time()
    error, is_probability = METHODS[name](contest)
    seconds = time.process_time() - start
    wrong = stored["test_wrong"]
    differ = 0 < wrong.sum() < len(wrong)
    line = {name: stored[name] for name in ("table", "family", "model", "random_state", "n_train")}
    line |= {
        "method": name,
        "n_test": len(wrong),
        "training_errors": int(stored["wrong"].sum()),
        "test_errors": int(wrong.sum()),
        "augrc": augrc_loss(wrong, error),
        "auroc": error_auroc_score(wrong, error) if differ else None,
        "seconds": fit_seconds and seconds + shared_seconds(name, stored, fit_seconds),
    }
    return line | (probability_figures(wrong, error, stored["wrong"]) if is_probability else {})


def shared_seconds(name, stored, fit_seconds):
    """Processor seconds that a method needs besides its own, beyond one fit of the model and its predictions."""
    if name in CROSS_FITTED:
        return 5 * fit_seconds
    if name in WITH_COLUMNS:
        return max(0.0, stored["fit_seconds"] + stored["judge_seconds"] - fit_seconds)
    return 0.0


def probability_figures(wrong, probability, known_wrong):
    """Calibration of a probability of being wrong, and the log loss beside that of the training rows' rate."""
    rate = (known_wrong.sum() + 1) / (len(known_wrong) + 2)
    return {
        "calibration_error": smooth_calibration_error(wrong, probability),
        "expected_errors": float(probability.sum()),
        "log_loss": log_loss(wrong, np.clip(probability, 1e-6, 1 - 1e-6), labels=[0, 1]),
        "base_log_loss": log_loss(wrong, np.full(len(wrong), rate), labels=[0, 1]),
    }


def main():
    """Judge every case, and write the figures, their summary and a picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=Path, required=True, help="folder of `prior-cases`")
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", nargs="*", default=[], help="methods to compute once more")
    parser.add_argument("--quick", action="store_true", help="three tables, two models, one seed")
    options = parser.parse_args()
    tables = options.tables or [
        *list_tables("classification", "pmlb"),
        *list_tables("classification", "tabular"),
    ]
    kinds, seeds = MODELS, range(options.seeds)
    if options.quick:
        tables, kinds, seeds = QUICK_TABLES, ("logistic", "forest"), [0]
    forget(options.again, options.out)
    cases = arena_cases(tables, kinds, seeds)
    learned = dict.fromkeys([*planned("classification", quick=options.quick), *cases])
    priors = Priors(list(learned), options.cases, options.out / "priors")
    print(f"Priors for {len(priors.by_family)} families", flush=True)  # before the cases are spread
    jobs = [(case, options.cases, options.out, priors) for case in cases]
    with parallel_config(n_jobs=options.jobs):
        lines = [
            line for figures in in_parallel(judged, jobs, "cases") for line in figures.values()
        ]
    table = pd.DataFrame(lines)
    table.to_csv(options.out / "arena.csv", index=False, float_format="%.5g")
    print(summarize(table))
    draw(table, options.out / "arena.png")


def forget(methods, out):
    """Remove the figures of methods from disk, and the priors if surefoot is one of them."""
    if "surefoot" in methods:
        (out / "priors" / "families.json").unlink(missing_ok=True)
    for path in (out / "figures").glob("*.json") if methods else []:
        figures = json.loads(path.read_text())
        left = {name: line for name, line in figures.items() if name not in methods}
        write_whole(path, json.dumps(left, indent=1).encode())


if __name__ == "__main__":
    main()
