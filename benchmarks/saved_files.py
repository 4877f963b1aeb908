"""Size of saved error estimators, and the seconds that saving and loading them take.

Run as `python benchmarks/saved_files.py`, with the names of cases (text, predictions, numbers, mixed) for some of
them: a text model of 20,000 documents, predictions with 20,000 texts beside them, and regressions of 6,000 rows.
Documents have 60 words, drawn from 50,000 by Zipf's law; one in three is of its topic.
"""

import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from bench_regressor import draw_categories, draw_numbers
from surefoot import (
    IndividualErrorClassifier,
    IndividualErrorRegressor,
    assess_predictions,
    load,
    save,
)
from timing import report, seconds

N_TEXTS, N_WORDS, WORDS_A_TEXT, N_TOPICS, N_ROWS = 20_000, 50_000, 60, 4, 6_000
MOST_MEGABYTES = 30


def documents():
    """Texts, their topics, and labels of which a quarter is wrong."""
    random = np.random.default_rng(0)
    frequency = np.cumsum(1 / np.arange(1, N_WORDS + 1))
    topic = random.integers(0, N_TOPICS, N_TEXTS)
    drawn = random.random((N_TEXTS, WORDS_A_TEXT)) * frequency[-1]
    words = np.searchsorted(frequency, drawn)
    is_own = random.random(words.shape) < 1 / 3
    words = np.where(is_own, words - words % N_TOPICS + topic[:, None], words)
    texts = np.array([" ".join(f"w{word}" for word in text) for text in words], dtype=object)
    label = np.where(random.random(N_TEXTS) < 0.25, random.integers(0, N_TOPICS, N_TEXTS), topic)
    return texts, topic, label


def text_model():
    """Error estimator of a text model, and its rows."""
    texts, topic, _ = documents()
    noisy = np.where(np.random.default_rng(1).random(N_TEXTS) < 0.1, 0, topic)
    words = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression())
    return IndividualErrorClassifier(words, random_state=0).fit(texts, noisy), texts


def predictions():
    """Error estimator of predictions with texts, and its rows."""
    texts, topic, label = documents()
    table = pd.DataFrame({"text": texts, "prediction": label})
    return assess_predictions(table, topic, "prediction", random_state=0), table


def regression(draw):
    """Error estimator of boosted regression on a drawn table, and its rows."""
    X, y, _ = draw(N_ROWS)
    model = HistGradientBoostingRegressor(random_state=0, categorical_features="from_dtype")
    return IndividualErrorRegressor(model, random_state=0).fit(X, y), X


CASES = {
    "text": ("text model, 20,000 documents", text_model),
    "predictions": ("predictions with 20,000 texts", predictions),
    "numbers": ("regression, 6,000 rows of numbers", partial(regression, draw_numbers)),
    "mixed": ("regression, 6,000 rows with categories", partial(regression, draw_categories)),
}


def main():
    """Print the size of each file, or of those of the cases that are named."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        for case in sys.argv[1:] or CASES:
            name, make = CASES[case]
            error_estimator, rows = make()
            rows = rows[:50]
            saving = seconds(lambda: save(error_estimator, path))  # noqa: B023 - called at once
            loading = seconds(lambda: load(path))
            again, expected = load(path).judge(rows), error_estimator.judge(rows)
            np.testing.assert_array_equal(again.error, expected.error)
            print(f"{name}: saved in {saving:.1f} s, loaded in {loading:.1f} s")
            report(f"{name}, megabytes", path.stat().st_size / 1e6, "at most", MOST_MEGABYTES)


if __name__ == "__main__":
    main()
