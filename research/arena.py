"""The arena: which method finds the mistakes of a classifier? 78 tables, seven models, 300, 1,500 and 8,000 rows.

Every method of `arena_methods.py` judges the same predictions of the same fitted models. A ranking of the test rows is
scored by its AUGRC over that of the model's own confidence: below 1 is better. What surefoot learned on other
tables is learned without the family of the table that is judged. Families are split in two halves (`arena_rivals.py`):
choices are made on the first, and the second is printed with `--report` only, which `looks.txt` counts.

Three kinds of files are kept apart in FOLDER, so that a change of surefoot leaves the costly ones as they are:
`rivals/` (`arena_rivals.py`), `fits/` of the costly models that are judged, and `cases/` with surefoot's columns.
Resumable: what is on disk is not computed again. Needs the tables in $SUREFOOT_DATA, pandas, matplotlib and the group
`boosters`. The priors are learned on the cases of `priors` in the folder `--cases`, or without it on the arena's
own cases of the five models with up to 1,500 rows:

    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python research/arena.py --cases FOLDER --out FOLDER
"""

import argparse
import json
import re
import shutil
import time
import warnings
from datetime import UTC, datetime
from functools import cache, cached_property
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

from arena_methods import CROSS_FITTED, METHODS, OF_RIVAL, WITH_COLUMNS, Contest
from arena_rivals import (
    FIVE,
    HALVES,
    LARGE,
    RIVALS,
    SIZES,
    Draw,
    arena_tables,
    catboost,
    draws_of,
    half_of_table,
    lightgbm,
    read_probabilities,
    stack,
)
from arena_summary import draw as draw_standings
from arena_summary import summarize
from cached_fits import CachedFit
from reproduction.data import TABLES
from reproduction.error_prior import cross_fitted, learn_prior
from reproduction.prior_cases import (
    Case,
    collect,
    encoded,
    measure,
    models,
    planned,
    read_case,
    split,
)
from reproduction.results import in_parallel, write_whole
from surefoot import indicators
from surefoot.error_estimation import ErrorPrior
from surefoot.metrics import augrc_loss, error_auroc_score, smooth_calibration_error

FOLDS = 5
# Models beside the five whose fits are kept, and those of the five that are slow with thousands of rows.
STRONG = {"catboost": catboost, "stack": stack, "lightgbm": lightgbm}
SLOW = ("svm", "boosting")
# LightGBM is judged for its calibration, on tables that have enough rows to measure that.
LEAST_ROWS = {"lightgbm": 2000}
# With 8,000 rows one fit of the stack takes minutes, and six are needed.
MOST_ROWS = {"stack": 1500}
# Encoded inputs times outputs of a table: with more, one fit of these takes minutes, and six are needed.
LARGEST = {"catboost": 250, "stack": 250}
CHECKED = 0.1
QUICK_TABLES = ["prnn_crabs", "glass", "pima"]


def arena_cases(draws, kinds):
    """Cases of the arena with the size that was asked for: each model on each draw that it can have."""
    return [
        (Case(draw.table, kind, draw.n_train, draw.random_state), draw.size)
        for draw in draws
        for kind in kinds
        if TABLES.at[draw.table, "n_rows"] >= LEAST_ROWS.get(kind, 0)
        and draw.n_train <= MOST_ROWS.get(kind, np.inf)
    ]


def judged_model(case, folder):
    """The model that a case is about, not fitted; the fits of a costly one are kept in the folder."""
    if case.model in STRONG:
        return CachedFit(STRONG[case.model](case.random_state), folder)
    model = models("classification", case.random_state)[case.model]
    return CachedFit(model, folder) if case.model in SLOW else model


class Priors:
    """Priors, each learned on stored cases without some families, by the family that they may judge."""

    def __init__(self, cases, cases_folder, folder):
        self.cases, self.cases_folder, self.folder = cases, cases_folder, folder

    def __call__(self, family):
        """Prior for a table of this family; a family that none of the cases has may be judged by all of them."""
        return self.by_family.get(family, self.by_family["all"])

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
        """Learn and write a prior without each fold of the families, and one with all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for case in self.cases:
            collect(case, self.cases_folder)
        stored, names = [read_case(case.path(self.cases_folder)) for case in self.cases], {}
        learn_prior(stored).save(self.folder / "all.json")
        n_folds = min(FOLDS, len({case["family"] for case in stored}))
        for number, (prior, held_back) in enumerate(cross_fitted(stored, n_folds)):
            prior.save(self.folder / f"fold_{number}.json")
            names |= {case["family"]: f"fold_{number}.json" for case in held_back}
        write_whole(index, json.dumps(names | {"all": "all.json"}, indent=1).encode())


@cache
def _load_prior(path):
    return ErrorPrior.load(path)


def collected(case, out):
    """Stored case of a judged model; computed first if it is not on disk, and None if the model would be too slow."""
    path = case.path(out / "cases")
    if not path.exists():
        model = judged_model(case, out / "fits")
        if n_values(case) > LARGEST.get(case.model, np.inf):
            return None
        saved = CachedFit.saved_seconds
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            facts = measure(case, model)
            facts["saved_seconds"] = CachedFit.saved_seconds - saved
            facts["model_seconds"] = seconds_of(model, split(case))
        content = BytesIO()
        np.savez_compressed(content, **facts)
        write_whole(path, content.getvalue())
    return read_case(path)


def n_values(case):
    """Encoded inputs of a table times outputs of a model."""
    rows = split(case)
    n_classes = len(np.unique(rows.y))
    encoder = encoded(None, rows.X)[:-1]
    return encoder.fit_transform(rows.X, rows.y).shape[1] * (1 if n_classes == 2 else n_classes)


def seconds_of(model, rows):
    """Processor seconds of one fit of the model and its predictions of the test rows."""
    start, saved = time.process_time(), CachedFit.saved_seconds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        encoded(clone(model), rows.X).fit(rows.X, rows.y).predict_proba(rows.X_test)
    return time.process_time() - start + CachedFit.saved_seconds - saved


def contest_of(stored, priors, rivals=()):
    """What the methods may see of a stored case."""
    rows = split(Case(*(stored[name] for name in Case._fields)))
    encoder = encoded(None, rows.X)[:-1].fit(rows.X, rows.y)
    names = [str(name) for name in stored["column_names"]]
    fields = ("probabilities", "wrong", "test_probabilities", "test_prediction", "columns")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        test_rows = encoder.transform(rows.X_test)
    return Contest(
        rows=encoder.transform(rows.X),
        labels=stored["truth"],
        test_rows=test_rows,
        **{name: stored[name] for name in (*fields, "test_columns", "random_state")},
        n_own=sum(name.startswith("Confidence__") for name in names),
        directions=[column_direction(*name.split("__", 1)) for name in names],
        prior=lambda: priors(stored["family"]),
        rivals=dict(rivals),
    )


def column_direction(indicator, column):
    """Whether a column of an indicator rises (1) or falls (-1) with doubt, or either (0)."""
    known, name = getattr(indicators, indicator).directions, re.sub(r"_\d+$", "", column)
    return next((sign for end, sign in known.items() if name.endswith(end)), 0)


def judged(case, size, out, priors):
    """Compute the figures of the methods that are not on disk yet, and return those of all methods."""
    path = out / "figures" / f"{case.path(out).stem}.json"
    figures = json.loads(path.read_text()) if path.exists() else {}
    draw = Draw(case.table, size, case.n_train, case.random_state)
    rivals = {name: read_probabilities(name, draw, out) for name in RIVALS}
    rivals = {name: value for name, value in rivals.items() if value is not None}
    possible = [name for name in METHODS if OF_RIVAL.get(name) in {None, *rivals}]
    missing = [name for name in possible if name not in figures]
    stored = collected(case, out) if missing else None
    if stored is None:
        return figures
    contest = contest_of(stored, priors, rivals)
    for name in missing:
        figures[name] = figures_of(name, contest, stored) | {"size": size}
    write_whole(path, json.dumps(figures, indent=1).encode())
    return figures


def figures_of(name, contest, stored):
    """Figures of one method on one case."""
    start = time.process_time()
    error, is_probability = METHODS[name](contest)
    seconds = time.process_time() - start
    # A copy of a training row is no new row.
    is_new = ~stored["test_known"]
    wrong, error = stored["test_wrong"][is_new], error[is_new]
    differ = 0 < wrong.sum() < len(wrong)
    line = {name: stored[name] for name in ("table", "family", "model", "random_state", "n_train")}
    line |= {
        "half": half_of_table(stored["table"]),
        "n_rows": int(TABLES.at[stored["table"], "n_rows"]),
        "method": name,
        "n_test": len(wrong),
        "training_errors": int(stored["wrong"].sum()),
        "test_errors": int(wrong.sum()),
        "augrc": augrc_loss(wrong, error),
        "auroc": error_auroc_score(wrong, error) if differ else None,
        "left_wrong": left_wrong(wrong, error),
        "model_seconds": stored["model_seconds"],
        "seconds": seconds + shared_seconds(name, contest, stored),
    }
    return line | (probability_figures(wrong, error, stored["wrong"]) if is_probability else {})


def left_wrong(wrong, error, checked=CHECKED):
    """Share of the rows that are still wrong after the most doubtful of them were checked; ties are shared out."""
    n_checked = round(checked * len(wrong))
    last = np.sort(error)[::-1][n_checked - 1]
    above, tied = error > last, error == last
    found = wrong[above].sum() + wrong[tied].mean() * (n_checked - above.sum())
    return float((wrong.sum() - found) / len(wrong))


def shared_seconds(name, contest, stored):
    """Processor seconds that a method needs besides its own, beyond one fit of the model and its predictions."""
    if name in OF_RIVAL:
        return contest.rivals[OF_RIVAL[name]][1]
    if name in CROSS_FITTED:
        return 5 * stored["model_seconds"]
    if name in WITH_COLUMNS:
        seconds = stored["fit_seconds"] + stored["saved_seconds"] + stored["judge_seconds"]
        return max(0.0, seconds - stored["model_seconds"])
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
    parser.add_argument("--cases", type=Path, help="folder of `priors`")
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--models", nargs="*", default=[*FIVE, *STRONG])
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", nargs="*", default=[], help="methods to compute once more")
    parser.add_argument("--columns-again", action="store_true", help="surefoot's columns anew")
    parser.add_argument("--collect", action="store_true", help="surefoot's columns only")
    parser.add_argument("--half", choices=HALVES, help="default: compute both, print the first")
    parser.add_argument("--report", action="store_true", help="print the reported half")
    parser.add_argument("--quick", action="store_true", help="three tables, two models")
    options = parser.parse_args()
    tables, kinds = options.tables or arena_tables(options.half), options.models
    if options.quick:
        tables, kinds = QUICK_TABLES, ("logistic", "forest")
    forget(options.again, options.out, columns=options.columns_again)
    draws = [draw for draw in draws_of(tables) if draw.size in options.sizes]
    cases = arena_cases(draws, kinds)
    if options.collect:
        list(in_parallel(collected, [(case, options.out) for case, _ in cases], "cases"))
        return
    priors = priors_of(options, [case for case, _ in cases])
    print(f"Priors for {len(priors.by_family) - 1} families", flush=True)  # before cases are spread
    jobs = [(case, size, options.out, priors) for case, size in cases]
    with parallel_config(n_jobs=options.jobs):
        lines = [
            line for figures in in_parallel(judged, jobs, "cases") for line in figures.values()
        ]
    show(pd.DataFrame(lines), options)


def priors_of(options, cases):
    """Priors from the cases of `priors`, or from the arena's own."""
    folder = options.out / "priors"
    if options.cases:
        learned = planned("classification", quick=options.quick)
        return Priors(learned, options.cases, folder)
    own = [case for case in cases if case.model in FIVE and case.n_train < LARGE]
    for case in own:
        collected(case, options.out)
    return Priors(own, options.out / "cases", folder)


def show(table, options):
    """Print the summary of the chosen-on half, or of the other one if asked, and write its figures."""
    looks = options.out / "looks.txt"
    if options.report:
        earlier = looks.read_text() if looks.exists() else ""
        write_whole(looks, f"{earlier}{datetime.now(UTC):%Y-%m-%d %H:%M}\n".encode())
    half = HALVES[options.report]
    own = table[table.half == half] if not options.quick else table
    own.to_csv(options.out / f"arena_{half}.csv", index=False, float_format="%.5g")
    print(summarize(table, half=None if options.quick else half))
    n_looks = len(looks.read_text().splitlines()) if looks.exists() else 0
    print(f"\nThe reported half was printed {n_looks} times.")
    draw_standings(own, options.out / "arena.png")


def forget(methods, out, *, columns):
    """Remove figures of methods from disk, the priors if surefoot is one of them, and surefoot's columns if asked."""
    if columns:
        shutil.rmtree(out / "cases", ignore_errors=True)
        methods = {*methods, *WITH_COLUMNS}
    if "surefoot" in methods:
        (out / "priors" / "families.json").unlink(missing_ok=True)
    for path in (out / "figures").glob("*.json") if methods else []:
        figures = json.loads(path.read_text())
        left = {name: line for name, line in figures.items() if name not in methods}
        write_whole(path, json.dumps(left, indent=1).encode())


if __name__ == "__main__":
    main()
