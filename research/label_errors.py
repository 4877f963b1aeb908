"""Labels that were flipped: find_label_errors against cleanlab, on the same out-of-fold probabilities.

Twelve tables, at most 1500 rows of each, of whose labels 5 or 10 % are exchanged for another one drawn at random; four
models, one after the other. Average precision of the ranking, by cleanlab's three scores (`cleanlab.rank`) and by
`find_label_errors`. Labels that were wrong before count as right. cleanlab is in none of the environments of surefoot:

    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python research/label_errors.py --out results
"""

import argparse
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from cleanlab.rank import get_label_quality_scores
from sklearn.metrics import average_precision_score

from error_detection import encoded, models
from reproduction.data import fetch_table, list_tables
from surefoot._tables import take_rows
from surefoot.error_estimation import IndividualErrorClassifier, find_label_errors

MOST_ROWS = 1500
LEAST_IN_CLASS = 10
PEERS = ("self_confidence", "normalized_margin", "confidence_weighted_entropy")

# Half of the tables, on which the method was chosen; the others confirm it.
DEVELOPED_ON = ("car", "german_credit", "optdigits", "pima", "splice", "waveform_40")


def sampled(name, seed):
    """Rows of a table in random order, without classes of which there are too few to hold some out."""
    X, y = fetch_table(name)
    rows = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
    labels, counts = np.unique(y[rows], return_counts=True)
    rows = rows[np.isin(y[rows], labels[counts >= LEAST_IN_CLASS])]
    return take_rows(X, rows), y[rows]


def flip(y, share, seed):
    """Labels with a share of them exchanged, and the mask of these."""
    draw, labels = np.random.default_rng([seed, round(100 * share)]), np.unique(y)
    flipped = np.zeros(len(y), dtype=bool)
    flipped[draw.choice(len(y), round(share * len(y)), replace=False)] = True
    others = (np.searchsorted(labels, y) + draw.integers(1, len(labels), len(y))) % len(labels)
    return np.where(flipped, labels[others], y), flipped


def compare(name, share, model, seed):
    """Average precision of each ranking on one table."""
    X, y = sampled(name, seed)
    noisy, flipped = flip(y, share, seed)
    error_estimator = IndividualErrorClassifier(encoded(models(seed)[model], X), random_state=seed)
    held_out = error_estimator.fit(X, noisy).held_out_
    codes = np.searchsorted(error_estimator.classes_, noisy)
    scores = {
        peer: 1 - get_label_quality_scores(codes, held_out.probabilities, method=peer)
        for peer in PEERS
    }
    errors = find_label_errors(error_estimator)
    scores["surefoot"] = np.zeros(len(noisy))
    scores["surefoot"][errors.rows] = errors.scores
    precisions = {kind: average_precision_score(flipped, one) for kind, one in scores.items()}
    shown = {"table": name, "share": share, "model": model, "p_value": errors.p_value}
    return shown | precisions


def summarize(cases):
    """Means by model and by half of the tables, and the worst difference of any table."""
    kinds = [*PEERS, "surefoot"]
    cases["half"] = np.where(cases["table"].isin(DEVELOPED_ON), "developed", "confirmed")
    for by in ("model", "share", "half"):
        print(cases.groupby(by)[kinds].mean().round(3).to_string(), "\n")
    print(cases.groupby("table")[kinds].mean().round(3).to_string(), "\n")
    print("mean", cases[kinds].mean().round(3).to_dict())
    by_table = cases.groupby("table")[kinds].mean()
    by_model = cases.groupby(["table", "model"])[kinds].mean()
    for label, means in (("table", by_table), ("table and model", by_model), ("case", cases)):
        for peer, against in (
            ("self_confidence", ["self_confidence"]),
            ("best of cleanlab", list(PEERS)),
        ):
            worst = (means["surefoot"] - means[against].max(axis=1)).min()
            print(f"worst {label}, surefoot minus {peer}: {worst:.3f}")


def main():
    """Run all cases, print the means, and write the figures of each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--tables", nargs="*", default=list_tables("classification", "tabular"))
    parser.add_argument("--models", nargs="*", default=["boosting", "logistic", "forest", "svm"])
    options = parser.parse_args()
    warnings.simplefilter(
        "ignore"
    )  # a linear model that does not converge on a table is still compared
    cases = []
    for seed, model in enumerate(options.models):
        for name, share in product(options.tables, (0.05, 0.1)):
            cases.append(compare(name, share, model, seed))
            print(cases[-1], flush=True)
    frame = pd.DataFrame(cases)
    summarize(frame)
    options.out.mkdir(parents=True, exist_ok=True)
    frame.to_csv(options.out / "label_errors.csv", index=False, float_format="%.5g")


if __name__ == "__main__":
    main()
