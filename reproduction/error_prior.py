"""Prior of the classifiers' error estimator: what goes with the mistakes of many models on many tables.

Collects the cases of classification that the folder lacks, learns from them, and writes `error_prior.json`, which
ships with surefoot, and `error_prior.csv`, the results of each case with a prior that was learned without its family.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from reproduction.prior_cases import collect_all, planned, read_case
from reproduction.results import Floats, Ints, progress, write_table
from surefoot.error_estimation import ErrorPrior
from surefoot.metrics import augrc_loss

FOLDS = 5
LEAST_TEST_ERRORS = 5
FEW_ERRORS = (0, 20, 100, 10**9)

VERSION = 3
ROUNDS = 8
# Variance of the weights before anything is learned, and what is added to theirs so that no direction is certain.
FIRST_VARIANCE = 0.3
LEAST_VARIANCE = 1e-4
# Share of the covariances between weights that is given up, since a case has few errors to estimate them from.
SHRINKAGE = 0.02
# Errors that a case must have to be learned from.
LEAST_ERRORS = 3

Stored = dict[str, Any]


def run(out: Path, *, quick: bool = False) -> str:
    """Collect, learn, write the prior and the results of each case, and return a summary."""
    wanted = planned("classification", quick=quick)
    collected = collect_all(wanted, out)
    cases = [read_case(case.path(out)) for case in wanted]
    learn_prior(cases).save(out / "error_prior.json")
    n_folds = min(FOLDS, len({case["family"] for case in cases}))
    folds = progress(cross_fitted(cases, n_folds), total=n_folds, label="folds of families")
    lines = [figures(case, prior) for prior, held_back in folds for case in held_back]
    write_table(out / "error_prior.csv", lines)
    return f"{collected}\n{summary(lines)}"


def cross_fitted(
    cases: Sequence[Stored], n_folds: int = FOLDS
) -> Iterator[tuple[ErrorPrior, list[Stored]]]:
    """Yield priors, each with the cases of the families of tables that it was learned without."""
    families = sorted({case["family"] for case in cases})
    order = np.random.default_rng(0).permutation(len(families))
    for fold in range(n_folds):
        held_back = {families[place] for place in order[fold::n_folds]}
        prior = learn_prior([case for case in cases if case["family"] not in held_back])
        yield prior, [case for case in cases if case["family"] in held_back]


def learn_prior(cases: Sequence[Stored]) -> ErrorPrior:
    """Prior from stored cases: mean and covariance of the weights of many logistic regressions.

    Each case is a logistic regression of its errors on its columns, as scores among its held-out rows, with
    weights that are normal around a mean that all cases share. Mean and covariance are estimated in turns with the
    weights (expectation and maximisation, with the normal approximation of each case's posterior), so that a case
    counts as far as its errors determine its weights. Cases with fewer than three errors are left out.
    """
    used = [c for c in cases if c["wrong"].sum() + c["test_wrong"].sum() >= LEAST_ERRORS]
    if len(used) < 2:
        raise ValueError(
            f"A prior needs two cases with {LEAST_ERRORS} errors: there are {len(used)}."
        )
    columns = tuple(str(name) for name in used[0]["column_names"])
    n_weights = len(columns)
    prior = ErrorPrior(
        version=VERSION,
        columns=columns,
        mean=np.zeros(n_weights),
        covariance=FIRST_VARIANCE * np.eye(n_weights),
        tables=tuple(sorted({case["table"] for case in used})),
        n_cases=len(used),
    )
    data = []
    for case in used:
        rows = np.vstack([case["columns"], case["test_columns"]])
        scores = prior.normal_scores(case["columns"], rows)
        data.append((scores, np.concatenate([case["wrong"], case["test_wrong"]])))
    for _ in range(ROUNDS):
        prior = next_round(data, prior)
    return prior


def next_round(data: list[tuple[Floats, Ints]], prior: ErrorPrior) -> ErrorPrior:
    """Prior with mean and covariance of the cases' weights, given their posteriors under the prior before it."""
    posteriors = [prior.posterior(*case) for case in data]
    # Intercepts are the cases' own.
    means = np.array([mean[1:] for mean, _ in posteriors])
    after = np.mean([covariance[1:, 1:] for _, covariance in posteriors], axis=0)
    after += np.cov(means.T, bias=True)
    after += SHRINKAGE * (np.diag(np.diag(after)) - after)
    after += LEAST_VARIANCE * np.eye(len(after))
    return replace(prior, mean=means.mean(axis=0), covariance=after)


def figures(case: Stored, prior: ErrorPrior) -> Stored:
    """Line of the table: errors, their estimated number, and AUGRC by own confidence and with the prior."""
    wrong = case["test_wrong"]
    estimated = prior.estimate(case["columns"], case["wrong"], case["test_columns"])
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
    parts = ["AUGRC over own confidence, the prior learned without the family"]
    counted = [line for line in lines if line["test_errors"] >= LEAST_TEST_ERRORS]
    for least, most in pairwise(FEW_ERRORS):
        own = [line for line in counted if least <= line["held_out_errors"] < most]
        ratios = [float(line["augrc"]) / float(line["augrc_of_confidence"]) for line in own]
        if ratios:
            mean = np.exp(np.mean(np.log(ratios)))
            parts.append(
                f"from {least} errors in the training rows: {len(ratios)} cases, {mean:.3f}, at most {max(ratios):.2f}"
            )
    return "\n".join(parts)
