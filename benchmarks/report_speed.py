"""Processor time of a report, with one thread, relative to a 5-fold cross-validation of the same boosting model.

A mixed table of 8,000 rows and 14 columns: at most 5 times. A regression of 8,000 rows and 8 columns: what the page
adds to the fit of `IndividualErrorRegressor` is at most 3 times. Both take turns, and the best of some rounds counts.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_predict
from skrub import tabular_pipeline
from threadpoolctl import threadpool_limits

from surefoot.report import ReliabilityReport
from timing import report as say

N_ROWS = 8000


def mixed_table(rng):
    """Nine numbers, four categories and a date, two columns with gaps, and a noisy class."""
    X = pd.DataFrame({f"number{i}": rng.normal(size=N_ROWS) for i in range(9)})
    odds = X["number0"] * X["number1"] + np.sin(3 * X["number2"]) + X["number3"]
    for i in range(4):
        codes = rng.integers(0, 3 + 4 * i, N_ROWS)
        X[f"category{i}"] = [f"kind {code}" for code in codes]
        odds += 0.5 * np.cos(codes + i)
    X["date"] = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 1000, N_ROWS), "D")
    for name in ("number4", "category1"):
        X.loc[rng.uniform(size=N_ROWS) < 0.1, name] = None
    return X, np.where(rng.logistic(size=N_ROWS) < odds, "yes", "no"), "classification"


def number_table(rng):
    """Eight numbers, and noise whose size depends on one of them."""
    X = pd.DataFrame(rng.normal(size=(N_ROWS, 8))).add_prefix("number")
    signal = X["number0"] * X["number1"] + np.sin(2 * X["number2"]) + X["number3"]
    return X, signal + np.exp(0.5 * X["number4"]) * rng.normal(size=N_ROWS), "regression"


def spent(function):
    """Processor seconds of a call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def measure(X, y, task, folder):
    """Processor seconds of a cross-validation, of the error estimator's fit, and of all that the page adds."""
    is_class = task == "classification"
    kind = HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor
    model = tabular_pipeline(kind(random_state=0))
    method = "predict_proba" if is_class else "predict"
    validated = spent(lambda: cross_val_predict(model, X, y, cv=5, method=method))
    computed = ReliabilityReport(model, X, y)
    fitted = spent(lambda: computed._fitted)  # noqa: SLF001 - the two parts of one report
    return validated, fitted, spent(lambda: computed.write_html(folder / "report.html"))


if __name__ == "__main__":
    n_rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name, threadpool_limits(1):
        for table in (mixed_table(rng), number_table(rng)):
            rounds = [measure(*table, Path(name)) for _ in range(n_rounds)]
            validated, fitted, page = np.min(rounds, axis=0)
            print(
                f"{table[2]}: cross-validation {validated:.2f} s, fit {fitted:.2f} s, page {page:.2f} s"
            )
            if table[2] == "classification":
                say("report / cross-validation, mixed", (fitted + page) / validated, "at most", 5)
            say(f"page alone / cross-validation, {table[2]}", page / validated, "at most", 3)
