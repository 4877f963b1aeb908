"""Time that the judgement of one row takes beyond the model's own call, as a service asks for it.

Run as `python benchmarks/one_row.py`. Medians of processor time, on one thread. Each model is asked for the
probabilities (or the prediction) of one row, then the error estimator judges the row, 100 times in turn; of a frame
also as a dict, as JSON has it.
LightGBM is tried where it is installed (`make boosters` has it).
"""

import time
from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor

N_ROWS, N_ASKED, ASKED_MS = 4_000, 100, 8.0


def tables():
    """A numeric frame, one with categories and missing values, and classes."""
    rng = np.random.default_rng(0)
    numeric = pd.DataFrame(rng.normal(size=(N_ROWS, 10)), columns=[f"x{i}" for i in range(10)])
    mixed = numeric.iloc[:, :6].assign(
        plan=pd.Categorical(rng.choice(["free", "paid", "trial"], N_ROWS)),
        place=pd.Categorical(rng.choice(list("abcdefgh"), N_ROWS)),
    )
    mixed.loc[::7, "x1"] = np.nan
    y = (numeric["x0"] + numeric["x2"] + rng.normal(size=N_ROWS) > 0).astype(int).to_numpy()
    return numeric, mixed, y


def models():
    """Name, model and table of each case."""
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    boosting = {"max_iter": 50, "categorical_features": "from_dtype"}
    yield "logistic regression", logistic, ["array", "numeric"]
    yield "gradient boosting", HistGradientBoostingClassifier(**boosting), ["numeric", "mixed"]
    yield "boosted regression", HistGradientBoostingRegressor(**boosting), ["numeric", "mixed"]
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        yield "LightGBM", LGBMClassifier(n_jobs=1, verbose=-1), ["numeric", "mixed"]


def main():
    """Print the times of all models and tables."""
    numeric, mixed, y = tables()
    given = {"array": numeric.to_numpy(), "numeric": numeric, "mixed": mixed}
    print(
        f"{'model':<22}{'table':<10}{'model ms':>10}{'judge ms':>10}{'beyond ms':>11}{'dict ms':>9}"
    )
    worst = 0.0
    for name, model, kinds in models():
        is_number = name == "boosted regression"
        kind = IndividualErrorRegressor if is_number else IndividualErrorClassifier
        for table in kinds:
            X = given[table]
            targets = y + numeric["x3"].to_numpy() if is_number else y
            error_estimator = kind(model, random_state=0).fit(X, targets)
            ask = getattr(error_estimator.estimator_, "predict" if is_number else "predict_proba")
            rows = [X[i : i + 1] for i in range(N_ASKED + 5)]
            plain = [row if table == "array" else row.to_dict("records")[0] for row in rows]
            times = np.zeros((len(rows), 4))
            for i, (row, record) in enumerate(zip(rows, plain, strict=True)):
                times[i, 0] = time.process_time()
                ask(row)
                times[i, 1] = time.process_time()
                error_estimator.judge(row)
                times[i, 2] = time.process_time()
                error_estimator.judge(record)
                times[i, 3] = time.process_time()
            own, whole, of_dict = np.median(1e3 * np.diff(times[5:], axis=1), axis=0)
            worst = max(worst, whole - own, of_dict - own)
            print(
                f"{name:<22}{table:<10}{own:>10.2f}{whole:>10.2f}{whole - own:>11.2f}{of_dict - own:>9.2f}"
            )
    print(f"Most beyond the model: {worst:.1f} ms, at most {ASKED_MS:g} ms asked for.")


if __name__ == "__main__":
    main()
