"""Predictions without their model: AUGRC from outputs alone over that with the model at hand, on tables of the arena.

A model is fitted on one part of a table and predicts the others: 300 or 1,500 labelled rows, from which errors are
learned, and the test rows. Errors are estimated with the model at hand, from its predictions and probabilities, and
from the predicted classes alone. The families are those of the arena's first half; the priors are learned without the
family of the table. Resumable: figures of a case are kept in FOLDER.

    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python research/given_predictions.py --priors FOLDER --out FOLDER
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from arena import Priors
from arena_rivals import arena_tables
from reproduction.data import TABLES, fetch_table
from reproduction.prior_cases import encoded, models
from reproduction.results import write_whole
from surefoot import assess, assess_predictions
from surefoot.metrics import augrc_loss, smooth_calibration_error

SIZES = (300, 1500)
MODELS = ("logistic", "forest", "knn")
MOST_MODEL_ROWS = 1500
MOST_TEST_ROWS = 1500
LEAST_OF_A_CLASS = 7
# Fewest test mistakes, so that an AUGRC can be compared.
LEAST_MISTAKES = 10


def parts_of(table, size):
    """Inputs and classes of the rows that a model learns from, of the labelled rows and of the test rows."""
    X, y = fetch_table(table)
    common = np.isin(
        y, [label for label in np.unique(y) if np.sum(y == label) >= 3 * LEAST_OF_A_CLASS]
    )
    rows_of = getattr(X, "iloc", X)
    X, y = rows_of[np.flatnonzero(common)], y[common]
    n_labelled = min(size, len(y) // 3)
    rest, labelled = train_test_split(
        np.arange(len(y)), test_size=n_labelled, random_state=0, stratify=y
    )
    model, test = train_test_split(
        rest,
        train_size=min(MOST_MODEL_ROWS, size, len(rest) // 2),
        random_state=0,
        stratify=y[rest],
    )
    rows_of = getattr(X, "iloc", X)
    return [(rows_of[rows], y[rows]) for rows in (model, labelled, test[:MOST_TEST_ROWS])]


def figures(table, kind, size, prior):
    """AUGRC and calibration error of each way to estimate the errors of one model on a table."""
    (X, y), (known, truth), (new, target) = parts_of(table, size)
    line = {"table": table, "model": kind, "size": size, "n_labelled": len(truth)}
    if len(np.unique(y)) < 2:
        return line
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = encoded(models("classification", 0)[kind], X).fit(X, y)
        outputs = [(model.predict(rows), model.predict_proba(rows)) for rows in (known, new)]
        wrong = (outputs[1][0] != target).astype(int)
        settings = {"prior": prior, "random_state": 0}
        ways = {
            "model": lambda: assess(model, known, truth, **settings).predict_error(new),
            "probabilities": lambda: from_outputs(known, truth, new, outputs, 2, settings),
            "classes": lambda: from_outputs(known, truth, new, outputs, 1, settings),
            "constant": lambda: by_class(outputs[0][0], truth, outputs[1][0]),
        }
        line |= {"n_test": len(target), "n_wrong": int(wrong.sum())}
        if wrong.sum() < LEAST_MISTAKES:
            return line
        for name, estimate in ways.items():
            start = time.process_time()
            errors = estimate()
            line[f"augrc {name}"] = augrc_loss(wrong, errors)
            line[f"calibration {name}"] = smooth_calibration_error(wrong, errors)
            line[f"seconds {name}"] = time.process_time() - start
    return line


def from_outputs(known, truth, new, outputs, n_used, settings):
    """Errors that are estimated from the first outputs alone: predictions, or these and probabilities."""
    settings = {
        **settings,
        "classes": np.unique(np.concatenate([truth, outputs[0][0], outputs[1][0]])),
    }
    if n_used == 2 and outputs[0][1].shape[1] != len(settings["classes"]):
        raise ValueError("the model knows other classes than the rows have")
    error_estimator = assess_predictions(known, truth, *outputs[0][:n_used], **settings)
    return error_estimator.predict_error(new, *outputs[1][:n_used])


def by_class(predictions, truth, new):
    """Error rate of each predicted class: the best that classes alone allow."""
    wrong = predictions != truth
    rates = {label: wrong[predictions == label].mean() for label in np.unique(predictions)}
    return np.array([rates.get(label, wrong.mean()) for label in new])


def summarize(lines):
    """Geometric means of the ratios of AUGRC, their worst case, and calibration errors, as text."""
    table = pd.DataFrame(lines).dropna()
    rows = []
    for name, over in (("probabilities", "model"), ("classes", "constant"), ("classes", "model")):
        ratio = table[f"augrc {name}"] / table[f"augrc {over}"]
        row = {"from": name, "over": over, "cases": len(ratio)}
        for size in (None, *SIZES):
            part = ratio if size is None else ratio[table["size"] == size]
            row[size or "all"] = np.exp(np.log(part).mean())
        rows.append(row | {"worst": ratio.max(), "share above 1.1": (ratio > 1.1).mean()})
    means = {
        name: table[f"calibration {name}"].mean() for name in ("model", "probabilities", "classes")
    }
    lines = [f"Mean calibration error, {name}: {mean:.4f}" for name, mean in means.items()]
    return "\n".join([pd.DataFrame(rows).round(3).to_string(index=False), *lines])


def main():
    """Measure the cases that are not on disk, and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--priors", type=Path, required=True, help="folder of the arena's priors")
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    priors, lines = Priors([], None, options.priors), []
    for size in options.sizes:
        for table in options.tables or arena_tables("chosen"):
            if (
                size > min(options.sizes)
                and TABLES.at[table, "n_rows"] < 3 * min(options.sizes) * 2
            ):
                continue  # the labelled rows would be nearly those of the smaller size
            for kind in options.models:
                path = options.out / f"given-{table}-{kind}-{size}.json"
                if not path.exists():
                    prior = priors(TABLES.at[table, "family"])
                    write_whole(path, json.dumps(figures(table, kind, size, prior)).encode())
                lines.append(json.loads(path.read_text()))
    print(summarize(lines))


if __name__ == "__main__":
    main()
