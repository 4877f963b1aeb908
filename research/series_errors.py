"""Rank the errors of 1-NN-DTW and 5-NN-DTW on the UCR sets: surefoot against the model's own confidence.

Every UCR set on disk (34 of them), train and test pooled, at most 250 series, fewer of long ones; no window, as in
Buza et al. (2010). Ten folds: on nine the default error estimator is fitted around the classifier, on the tenth it
ranks the errors; the ten parts are then put together. Own confidence is the share of the votes, and among equal
shares the mean distance of the voters; the votes of one neighbour are always unanimous. The figure is AUGRC, divided by
that of own confidence: below 1 is better.

A case is written as soon as it is done, and a case in the file is not measured again:

    python research/series_errors.py --out results
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.model_selection import KFold, train_test_split

from reproduction.data import fetch_ucr, list_ucr
from surefoot import IndividualErrorClassifier
from surefoot.metrics import augrc_loss
from surefoot.time_series import KNeighborsDTWClassifier

MOST_ROWS, FEWEST_ROWS, MOST_POINTS = 250, 100, 60_000
N_FOLDS = 10
SIZES = (1, 5)
METHODS = ("surefoot", "trust score", "neighbours' errors", "second opinion")
FIELDS = ("set", "neighbors", "rows", "length", "errors", "own", *METHODS, "estimated", "seconds")
# With fewer errors a ratio says little.
FEW_ERRORS = 5


def pooled(name):
    """Series and labels of a set, train and test together, or a random part of them."""
    both = fetch_ucr(name)
    X = np.vstack([both.X_train, both.X_test])
    y = np.concatenate([both.y_train, both.y_test])
    most = min(MOST_ROWS, max(FEWEST_ROWS, MOST_POINTS // X.shape[1]))
    if len(y) > most:
        X, _, y, _ = train_test_split(X, y, train_size=most, random_state=0)
    return X, y


def own_doubt(shares, distances, n_neighbors):
    """Doubt of the vote itself: lower shares first, and among equal shares the larger distances."""
    return (1 - shares) + 0.5 / n_neighbors * rankdata(distances) / len(distances)


def judge_fold(model, X, y, train, test):
    """What is known of each series of the tenth part."""
    error_estimator = IndividualErrorClassifier(model, random_state=0).fit(X[train], y[train])
    judgement = error_estimator.judge(X[test])
    distances = error_estimator.kneighbors(X[test], model.n_neighbors)[0].mean(axis=1)
    columns = judgement.columns
    return {
        "wrong": judgement.prediction != y[test],
        "share": judgement.probabilities.max(axis=1),
        "distance": distances,
        "surefoot": judgement.error,
        "trust score": -columns["TrustScore"][:, 0],
        "neighbours' errors": columns["NeighborError"][:, 1],
        "second opinion": -columns["SecondOpinion"].mean(axis=1),
    }


def measure(name, n_neighbors):
    """One case: AUGRC of every method over ten folds, relative to own confidence."""
    start = time.process_time()
    X, y = pooled(name)
    model = KNeighborsDTWClassifier(n_neighbors)
    folds = KFold(N_FOLDS, shuffle=True, random_state=0).split(X)
    parts = [judge_fold(model, X, y, train, test) for train, test in folds]
    rows = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    wrong = rows["wrong"].astype(float)
    own = augrc_loss(wrong, own_doubt(rows["share"], rows["distance"], n_neighbors))
    case = {"set": name, "neighbors": n_neighbors, "rows": len(y), "length": X.shape[1]}
    case |= {"errors": int(wrong.sum()), "own": own, "estimated": rows["surefoot"].sum()}
    case |= {m: augrc_loss(wrong, rows[m]) / own if own > 0 else np.nan for m in METHODS}
    return case | {"seconds": time.process_time() - start}


def run(names, file):
    """Measure the cases that the file does not have yet."""
    done = set()
    if file.exists():
        before = pd.read_csv(file)
        done = set(zip(before["set"], before["neighbors"], strict=True))
    file.parent.mkdir(parents=True, exist_ok=True)
    for name in names:
        for n_neighbors in SIZES:
            if (name, n_neighbors) in done:
                continue
            case = measure(name, n_neighbors)
            is_new = not file.exists()
            with file.open("a", newline="") as stream:
                writer = csv.DictWriter(stream, FIELDS)
                if is_new:
                    writer.writeheader()
                writer.writerow(
                    {k: f"{v:.5g}" if isinstance(v, float) else v for k, v in case.items()}
                )
            print(
                f"{name:24}{n_neighbors}  {case['errors']:4} errors  {case['surefoot']:.3f}",
                flush=True,
            )
    return pd.read_csv(file)


def summarize(cases):
    """Print every case, then means and spreads by the number of neighbours."""
    cases = cases.sort_values(["set", "neighbors"])
    shown = ["set", "neighbors", "rows", "length", "errors", "own", *METHODS]
    print(cases[shown].to_string(index=False, float_format="{:.3f}".format))
    for n_neighbors, group in cases.groupby("neighbors"):
        enough = group[group.errors >= FEW_ERRORS]
        few = len(group) - len(enough)
        print(
            f"\n{n_neighbors}-NN-DTW: {len(enough)} sets ({few} with under {FEW_ERRORS} errors left out)"
        )
        table = {method: spread(enough[method]) for method in METHODS}
        print(pd.DataFrame.from_dict(table, orient="index").to_string(float_format="{:.3f}".format))
        expected, observed = group.estimated.sum(), group.errors.sum()
        print(f"expected errors {expected:.0f}, observed {observed}, all sets")
    print(f"\n{cases.seconds.sum() / 60:.1f} minutes of processor time")


def spread(ratios):
    """Means, sets better than own confidence, quartiles and the worst."""
    low, middle, high = ratios.quantile([0.25, 0.5, 0.75])
    return {
        "geometric mean": np.exp(np.log(ratios).mean()),
        "mean": ratios.mean(),
        "better": f"{(ratios < 1).sum()} of {len(ratios)}",
        "25 %": low,
        "50 %": middle,
        "75 %": high,
        "worst": ratios.max(),
    }


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--sets", nargs="*", default=None, help="default: all on disk")
    options = parser.parse_args()
    summarize(run(options.sets or list_ucr(), options.out / "series_errors.csv"))


if __name__ == "__main__":
    main()
