"""With a seed nothing is drawn from the global generators of NumPy and of Python."""

import inspect
import random
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import surefoot
from surefoot import (
    AbstainingClassifier,
    Confidence,
    IndividualErrorClassifier,
    LocalSelectionClassifier,
    LocalSensitivity,
    ReliabilityReport,
    TrustWeightedClassifier,
    assess,
)
from surefoot.active_learning import query, simulate
from surefoot.checks import check_table
from surefoot.cli import main
from surefoot.datasets import (
    make_cylinder_bell_funnel,
    make_friedman_problem,
    make_subscriptions,
    make_synthetic_control,
)
from surefoot.error_estimation import find_error_regions
from surefoot.indicators import ResamplingSpread, SecondOpinion
from surefoot.labeling import serve
from surefoot.monitoring import audit
from surefoot.resampling import HoldoutSplit, bias_variance, bootstrap, boundary_bias
from test_common import INSTANCES, VARIANTS

CLASSES = make_classification(80, 5, random_state=0)
NUMBERS = make_regression(80, 5, noise=1, random_state=0)
LINE = LogisticRegression().fit(*CLASSES)
ERROR_ESTIMATOR = IndividualErrorClassifier(LINE, indicators=Confidence(), random_state=0).fit(
    *CLASSES
)
DRAWING = [LocalSensitivity(sampling="uniform"), ResamplingSpread(n_resamples=3), SecondOpinion()]

ANSWERS = (
    "predict", "predict_proba", "transform", "score_samples", "predict_error", "judge", "kneighbors",
)  # fmt: skip


@contextmanager
def no_global_draws():
    """Assert that both global generators are left as they were."""
    before, python_before = np.random.get_state(), random.getstate()  # noqa: NPY002
    yield
    after = np.random.get_state()  # noqa: NPY002
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))
    assert random.getstate() == python_before


def seeded(estimator):
    """Clone with a seed: its own where it takes one, else one for each of its parts."""
    parameters = estimator.get_params()
    seeds = [name for name in parameters if name.split("__")[-1] == "random_state"]
    if "random_state" in seeds:
        seeds = ["random_state"]
    return clone(estimator).set_params(**dict.fromkeys(seeds, 0))


def fit_and_ask(estimator):
    X, y = NUMBERS if is_regressor(estimator) else CLASSES
    estimator.fit(X, y)
    for method in ANSWERS:
        if hasattr(estimator, method):
            getattr(estimator, method)(X)


def draw(random):
    return make_regression(30, 5, random_state=random)


def labels_at(X):
    return np.full(len(X), 0.7)


def serve_a_page():
    with TemporaryDirectory() as folder:
        pool = pd.DataFrame({"x": range(9)})
        serve(pool, "y", classes=["a", "b"], db=Path(folder) / "y.db", random_state=0).stop()


FUNCTIONS = {
    "serve": serve_a_page,
    "assess": lambda: assess(LINE, *CLASSES, random_state=0),
    "audit": lambda: audit(ERROR_ESTIMATOR, CLASSES[0], 9, random_state=0),
    "bias_variance": lambda: bias_variance(
        Ridge(), *NUMBERS, *NUMBERS, n_resamples=5, random_state=0
    ),
    "bootstrap": lambda: bootstrap(NUMBERS[1], np.mean, n_resamples=20, random_state=0),
    "boundary_bias": lambda: boundary_bias(
        GaussianNB(), *CLASSES, CLASSES[0], truth=labels_at, n_resamples=5, random_state=0
    ),
    "check_table": lambda: check_table(
        np.column_stack([np.arange(80) % 20, CLASSES[0]]), np.arange(80) % 20 % 2,
        estimator=LogisticRegression(), random_state=0,
    ),
    "find_error_regions": lambda: find_error_regions(
        CLASSES[0], np.arange(80) % 4 == 0, random_state=0
    ),
    "HoldoutSplit": lambda: list(HoldoutSplit(0.5, random_state=0).split(*CLASSES)),
    "make_cylinder_bell_funnel": lambda: make_cylinder_bell_funnel(9, random_state=0),
    "make_friedman_problem": lambda: make_friedman_problem(3, random_state=0),
    "make_subscriptions": lambda: make_subscriptions(50, random_state=0),
    "make_synthetic_control": lambda: make_synthetic_control(12, random_state=0),
    "query": lambda: [
        query(strategy, LINE, CLASSES[0], 3, X=CLASSES[0], y=CLASSES[1], random_state=0)
        for strategy in ("random", "confidence", "votes", "error", "sensitivity", *DRAWING)
    ],
    "simulate": lambda: simulate(
        LogisticRegression(), *CLASSES, ["random", "votes", "error", "sensitivity"],
        n_labels=14, batch_size=2, n_repeats=2, random_state=0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("estimator", [*INSTANCES, *VARIANTS], ids=lambda e: type(e).__name__)
def test_a_seeded_estimator_draws_from_its_seed_alone(estimator):
    with no_global_draws():
        fit_and_ask(seeded(estimator))


@pytest.mark.parametrize("indicator", DRAWING, ids=lambda i: type(i).__name__)
@pytest.mark.parametrize(
    "action",
    [
        lambda indicator: IndividualErrorClassifier(
            LogisticRegression(), indicators=indicator, cv=2, random_state=0
        ),
        lambda indicator: AbstainingClassifier(
            LogisticRegression(), indicator, coverage=0.8, random_state=0
        ),
        lambda indicator: TrustWeightedClassifier(
            [("line", LogisticRegression())], indicator, cv=2, random_state=0
        ),
    ],
    ids=["IndividualErrorClassifier", "AbstainingClassifier", "TrustWeightedClassifier"],
)
def test_an_indicator_without_a_seed_gets_that_of_its_action(action, indicator):
    with no_global_draws():
        first = action(indicator).fit(*CLASSES)
    second = action(indicator).fit(*CLASSES)
    for model in (first, second):
        assert indicator.random_state is None
        np.testing.assert_array_equal(model.predict(CLASSES[0]), first.predict(CLASSES[0]))
    if hasattr(first, "predict_error"):
        np.testing.assert_array_equal(*(m.predict_error(CLASSES[0]) for m in (first, second)))


def test_an_error_estimator_without_a_seed_gets_that_of_the_selection_around_it():
    estimator = IndividualErrorClassifier(LogisticRegression(), indicators=SecondOpinion(), cv=2)
    with no_global_draws():
        AbstainingClassifier(estimator, coverage=0.8, random_state=0).fit(*CLASSES)
        LocalSelectionClassifier([("line", estimator)], random_state=0).fit(*CLASSES)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_seeded_function_draws_from_its_seed_alone(name):
    with no_global_draws():
        FUNCTIONS[name]()


def test_every_public_function_with_a_seed_is_called():
    packages = [m.name for m in iter_modules(surefoot.__path__) if m.ispkg and m.name[0] != "_"]
    modules = [import_module(f"surefoot.{package}") for package in packages]
    public = {name: getattr(module, name) for module in modules for name in module.__all__}
    seeded = {n for n, value in public.items() if callable(value) and takes_seed(value)}
    estimators = {type(instance).__name__ for instance in INSTANCES}
    assert seeded - estimators - {"ReliabilityReport"} <= set(FUNCTIONS)


def takes_seed(function):
    return "random_state" in inspect.signature(function).parameters


def report_on(kind):
    if kind == "regression":
        X, y = NUMBERS
        return ReliabilityReport(make_pipeline(StandardScaler(), Ridge()), X, y, cv=3)
    X, y = make_classification(160, 4, random_state=1)
    rows = pd.DataFrame(X).add_prefix("x")
    return ReliabilityReport(
        LogisticRegression(), rows[:120], y[:120], cv=3, X_unlabelled=rows[120:], max_risk=0.2
    )


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_a_report_draws_from_its_seed_alone(kind):
    report = report_on(kind)
    with no_global_draws():
        report.summarize()


@pytest.mark.slow
def test_a_command_draws_from_its_seed_alone_whatever_the_columns(tmp_path):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["red", "green", "blue", "sky"], 5)) + f" {i}" for i in range(90)]
    table = pd.DataFrame({"text": texts, "x": rng.normal(size=90)})
    table.assign(y=rng.integers(2, size=90)).to_csv(tmp_path / "rows.csv", index=False)
    command = ["fit", str(tmp_path / "rows.csv"), "--target", "y", "--estimator", "logistic"]
    with no_global_draws(), pytest.raises(SystemExit) as ended:
        main([*command, "--out", str(tmp_path / "model.skops")])
    assert not ended.value.code


def test_a_draw_is_noticed():
    for draw_one in (np.random.rand, random.random):
        with pytest.raises(AssertionError), no_global_draws():
            draw_one()
