"""Fixed cost of a command, and of loading a model, over what the bare model costs.

Run as `python benchmarks/one_command.py`. `surefoot score` of 200 rows, beside a script that reads the CSV with pandas,
loads the model alone from a skops file, predicts and writes: processor time of both processes, in turn. And
`surefoot.load` of five models, beside `skops.io.get_untrusted_types` and `loads` of the same bytes.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skops.io import dump, get_untrusted_types, loads

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor, load, save
from timing import report, seconds

N_ROWS, N_SCORED, REPEATS = 700, 200, 5
MOST_OF_A_SCORE, MOST_OF_A_LOAD = 1.35, 1.3

BARE = """
import sys
import pandas as pd
from skops.io import get_untrusted_types, load
model, data, out = sys.argv[1:]
table = pd.read_csv(data)
model = load(model, trusted=get_untrusted_types(file=model))
table.assign(prediction=model.predict(table)).to_csv(out, index=False)
"""
SCORE = """
import sys
from surefoot.cli import main
model, data, out = sys.argv[1:]
sys.argv = ["surefoot", "score", model, data, "--out", out, "--overwrite"]
main()
"""


def cases():
    """Name, model, rows and targets of each model."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N_ROWS, 8)), columns=[f"x{i}" for i in range(8)])
    number = X["x0"] + rng.normal(size=N_ROWS)
    y = (number > 0).astype(int)
    words = rng.integers(0, 500, (N_ROWS, 20))
    texts = np.array([" ".join(f"w{word}" for word in row) for row in words], dtype=object)
    yield "logistic", make_pipeline(StandardScaler(), LogisticRegression()), X, y
    yield "boosting", HistGradientBoostingClassifier(), X, y
    yield "forest", RandomForestClassifier(random_state=0), X, y
    yield "text", make_pipeline(TfidfVectorizer(), LogisticRegression()), texts, y
    yield "regression", HistGradientBoostingRegressor(), X, number


def loading_ratio(path):
    """Processor time of `load` over that of skops alone, for the same bytes."""
    content = path.read_bytes()

    def bare():
        return loads(content, trusted=get_untrusted_types(data=content))

    times = [(seconds(lambda: load(path)), seconds(bare)) for _ in range(REPEATS)]
    ours, plain = map(min, zip(*times, strict=True))
    return ours / plain


def processor_seconds(code, *arguments):
    """Processor time of a script in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    """Print the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        names = "bare.skops", "whole.skops", "new.csv", "out.csv"
        bare, whole, data, out = (Path(folder) / name for name in names)
        for name, model, X, y in cases():
            kind = IndividualErrorRegressor if name == "regression" else IndividualErrorClassifier
            save(kind(model, random_state=0).fit(X, y), whole)
            report(f"load, {name}, over skops", loading_ratio(whole), "at most", MOST_OF_A_LOAD)
            if name not in ("logistic", "boosting"):
                continue
            dump(model.fit(X, y), bare)
            X[:N_SCORED].to_csv(data, index=False)
            scripts = (SCORE, whole), (BARE, bare)
            times = [
                [processor_seconds(code, model, data, out) for code, model in scripts]
                for _ in range(REPEATS)
            ]
            ratio = median(ours / plain for ours, plain in times)
            report(f"score, {name}, over a script", ratio, "at most", MOST_OF_A_SCORE)


if __name__ == "__main__":
    main()
