"""Pretraining of the classifiers' error estimator: its prior, learned on the collected cases, and tested by family.

    surefoot reproduce prior-cases --out FOLDER
    surefoot reproduce error-prior --out FOLDER

The first command collects the cases, the second learns from those in the same folder. It writes `error_prior.json`,
which ships with the package, and `error_prior.csv`, the figures of each case by a prior that was learned without the
tables of its family.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.error_estimation import (
    ErrorPrior,
    PriorCase,
    learn_prior,
)
from surefoot.experiments import _prior_cases as prior_cases
from surefoot.experiments._case_store import Case, read_case
from surefoot.experiments._case_tables import case_tables
from surefoot.experiments._csv_tables import write_table
from surefoot.experiments._progress import Progress, silent
from surefoot.metrics import augrc_loss

FOLDS = 5
LEAST_TEST_ERRORS = 5
FEW_ERRORS = (0, 20, 100, 10**9)

Stored = dict[str, Any]


def run(out: Path, *, quick: bool = False, progress: Progress = silent) -> str:
    """Learn the prior from the cases in a folder, write it with its figures, and return a summary."""
    if quick:
        prior_cases.run(out, quick=True)
    cases = [read_case(case.path(out)) for case in learned_from(quick=quick)]
    learn(cases).save(out / "error_prior.json")
    n_folds = min(FOLDS, len({case["family"] for case in cases}))
    folds = progress(cross_fitted(cases, n_folds), total=n_folds, label="folds of families")
    lines = [figures(case, prior) for prior, held_back in folds for case in held_back]
    write_table(out / "error_prior.csv", lines)
    return summary(lines)


def learned_from(*, quick: bool = False) -> list[Case]:
    """Cases that the prior that ships is learned on: none of a development table, or of its kin."""
    if quick:
        kinds = prior_cases.QUICK_MODELS["classification"]
        return prior_cases.plan(
            prior_cases.QUICK_TABLES["classification"], kinds=kinds, sizes=[100]
        )
    return prior_cases.plan(case_tables("classification"))


def as_given(case: Stored) -> PriorCase:
    """Stored case, as it is learned from."""
    names = ("table", "columns", "wrong", "test_columns", "test_wrong")
    return PriorCase(*(case[name] for name in names))


def learn(cases: Sequence[Stored]) -> ErrorPrior:
    """Prior from stored cases."""
    names = [str(name) for name in cases[0]["column_names"]]
    return learn_prior([as_given(case) for case in cases], names)


def cross_fitted(
    cases: Sequence[Stored], n_folds: int = FOLDS
) -> Iterator[tuple[ErrorPrior, list[Stored]]]:
    """Priors, each with the cases of the families of tables that it was learned without."""
    families = sorted({case["family"] for case in cases})
    order = np.random.default_rng(0).permutation(len(families))
    for fold in range(n_folds):
        held_back = {families[place] for place in order[fold::n_folds]}
        prior = learn([case for case in cases if case["family"] not in held_back])
        yield prior, [case for case in cases if case["family"] in held_back]


def figures(case: Stored, prior: ErrorPrior) -> Stored:
    """Line of the table: errors, their estimated number, and AUGRC by own confidence and with the prior."""
    wrong, estimated = case["test_wrong"], as_given(case).estimate(prior)
    line = {name: case[name] for name in ("table", "family", "model", "n_train", "random_state")}
    return line | {
        "held_out_errors": int(case["wrong"].sum()),
        "test_errors": int(wrong.sum()),
        "estimated_test_errors": f"{estimated.sum():.4g}",
        "augrc_of_confidence": f"{augrc_loss(wrong, 1 - case['test_confidence']):.5g}",
        "augrc": f"{augrc_loss(wrong, estimated):.5g}",
    }


def summary(lines: Sequence[Stored]) -> str:
    """Geometric mean and largest ratio of the AUGRC to that of own confidence, by errors in the training rows."""
    told = []
    for least, most in pairwise(FEW_ERRORS):
        ratios = np.array(
            [
                float(line["augrc"]) / float(line["augrc_of_confidence"])
                for line in lines
                if least <= line["held_out_errors"] < most
                and line["test_errors"] >= LEAST_TEST_ERRORS
            ]
        )
        if len(ratios):
            mean = np.exp(np.log(ratios).mean())
            told.append(
                f"from {least} errors in the training rows: {len(ratios)} cases, {mean:.3f}, at most {ratios.max():.2f}"
            )
    return "AUGRC over own confidence, the prior learned without the family\n" + "\n".join(told)
