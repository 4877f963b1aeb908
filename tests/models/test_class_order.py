"""Another order of the classes is found if the model has no names for them; honest models are not stopped."""

from unittest.mock import MagicMock

import numpy as np
import pytest
from scipy.special import softmax

from surefoot import assess

SIZES = [(24, 2), (60, 2), (300, 2), (60, 3), (300, 4), (300, 12), (3000, 4)]


@pytest.fixture(autouse=True)
def no_error_estimator(monkeypatch):
    """The order of the classes is decided before anything is learned, which would take longer."""
    kind = "surefoot.error_estimation._assess.IndividualErrorClassifier"
    monkeypatch.setattr(kind, MagicMock())


def refusal(probabilities, codes):
    """Why the sorted classes are not taken for the columns of a function's probabilities; nothing if they are."""
    names = np.array([f"class {i:02d}" for i in range(probabilities.shape[1])])
    try:
        assess(lambda rows: probabilities, np.zeros((len(codes), 1)), names[codes])
    except ValueError as error:
        return str(error)
    return ""


def rare(n_classes, share):
    """Shares of classes, of which all but the first are rare together."""
    return np.r_[1 - share, np.full(n_classes - 1, share / (n_classes - 1))]


def draw(kind, n, k, rng):
    """Probabilities of a model whose columns are in the right order, and the true classes."""
    shares, noise = rng.dirichlet(np.full(k, 0.5)), rng.normal(size=(n, k))
    if kind.startswith("rare"):
        shares = rare(k, 0.03)
    codes = rng.choice(k, n, p=None if kind in ("chance", "poor", "confused") else shares)
    codes[:k] = np.arange(k)
    truth = np.eye(k)[codes]
    scores = {
        "chance": 2 * noise,
        "chance, another prior": noise + 3 * rng.normal(size=k),
        "chance, certain": 50 * noise,
        "constant": np.tile(np.eye(k)[0], (n, 1)),
        "poor": noise + 0.1 * truth,
        "confused": 0.5 * noise + 2 * truth + 2 * np.eye(k)[np.minimum(codes ^ 1, k - 1)],
        "rare": noise + np.log(shares) + truth,
        "rare, chance": 6 * noise + np.log(shares),
        "rare, sampled more often": noise + truth,
        "reversed prior": noise + np.log(shares[::-1] + 1e-3) + 0.5 * truth,
    }[kind]
    return softmax(scores, axis=1), codes


KINDS = (
    *("chance", "chance, another prior", "chance, certain", "constant", "poor", "confused"),
    *("rare", "rare, chance", "rare, sampled more often", "reversed prior"),
)


def test_honest_models_are_stopped_in_one_of_a_thousand_tables():
    """2,100 tables: of models at chance, poor and confused ones, rare classes, and priors that have changed."""
    rng = np.random.default_rng(0)
    stopped = [
        kind
        for kind in KINDS
        for n, k in SIZES
        for _ in range(30)
        if refusal(*draw(kind, n, k, rng))
    ]
    assert len(stopped) <= 2, stopped


@pytest.mark.parametrize(("n", "k"), [(40, 2), (60, 3), (100, 12), (300, 12)])
def test_another_order_is_found_whatever_the_order_of_the_rows(n, k):
    """Models that are right on 90 % of the rows: of rows in any order, sorted by class, or in turn by class."""
    rng = np.random.default_rng(1)
    for order in ("any", "sorted", "in turn"):
        codes = np.arange(n) % k
        if order != "in turn":
            codes = np.sort(codes) if order == "sorted" else rng.permutation(codes)
        places = np.where(rng.random(n) < 0.9, codes, rng.integers(k, size=n))
        probabilities = softmax(4 * np.eye(k)[places] + rng.normal(size=(n, k)) / 2, axis=1)
        assert not refusal(probabilities, codes)
        assert "it is right on" in refusal(np.roll(probabilities, 1, axis=1), codes)


def test_a_rare_class_that_is_never_predicted_shows_the_order():
    """Fraud on 5 % of the rows, with a probability of 30 % where there is some, and of 2 % elsewhere."""
    codes = (np.arange(300) % 20 == 0).astype(int)
    fraud = np.where(codes == 1, 0.3, 0.02) + np.random.default_rng(2).normal(0, 0.005, 300)
    probabilities = np.column_stack([1 - fraud, fraud])
    assert not refusal(probabilities, codes)
    assert "it is right on" in refusal(probabilities[:, ::-1], codes)
