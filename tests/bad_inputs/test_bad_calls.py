"""Two hundred bad calls from Python: each raises one line that names what is wrong, before anything is fitted."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from surefoot import (
    AbstainingClassifier,
    Confidence,
    DeferringClassifier,
    IndividualErrorClassifier,
    IndividualErrorRegressor,
    KernelKNeighborsClassifier,
    LocallyRecalibratedClassifier,
    LocalSelectionClassifier,
    LocalSensitivity,
    RecalibratedClassifier,
    ReliabilityReport,
    StriveClassifier,
    TrustWeightedClassifier,
    assess,
)
from surefoot.abstention import Promise, threshold_for_risk
from surefoot.active_learning import ActiveLearner, query
from surefoot.ensemble import BoostingClassifier, FilterBoostingClassifier
from surefoot.error_estimation import find_error_regions
from surefoot.indicators import NeighborDisagreement, ResamplingSpread, TrustScore
from surefoot.metrics import augrc_loss, brier_decomposition, interval_width, risk_coverage_curve
from surefoot.neighborhoods import voronoi_steps
from surefoot.resampling import HoldoutSplit, bias_variance, bootstrap, jackknife
from surefoot.time_series import KNeighborsDTWClassifier, dtw_distance

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(60, 3))
Y = (X[:, 0] + DRAW.normal(size=60) > 0).astype(int)
T = X[:, 0] + DRAW.normal(size=60)
TWO = [("a", LogisticRegression()), ("b", GaussianNB())]

CLASSIFIERS = {
    "error classifier": lambda: IndividualErrorClassifier(
        LogisticRegression(), indicators=Confidence()
    ),
    "abstaining": lambda: AbstainingClassifier(LogisticRegression(), Confidence(), coverage=0.8),
    "deferring": lambda: DeferringClassifier(TWO),
    "recalibrated": lambda: RecalibratedClassifier(LogisticRegression()),
    "locally recalibrated": lambda: LocallyRecalibratedClassifier(LogisticRegression()),
    "selection": lambda: LocalSelectionClassifier(TWO),
    "trust weighted": lambda: TrustWeightedClassifier(TWO),
    "strive": lambda: StriveClassifier(TWO),
    "boosting": lambda: BoostingClassifier(n_estimators=2),
    "filter boosting": FilterBoostingClassifier,
    "kernel neighbours": KernelKNeighborsClassifier,
    "sensitivity": lambda: LocalSensitivity(LogisticRegression()),
    "confidence": lambda: Confidence(LogisticRegression()),
}

BAD_ROWS = {
    "no rows": (X[:0], Y[:0], "0 sample|no rows|rows|empty"),
    "no table": (None, Y, "2D|0D|None|array|dim"),
    "one dimension": (X[:, 0], Y, "2D|1D|dimension"),
    "three dimensions": (X[:, :, None], Y, "2D|3D|dim"),
    "complex": (X + 1j, Y, "[Cc]omplex"),
    "shorter y": (X, Y[:-1], "inconsistent|samples"),
    "y with NaN": (X, np.where(Y == 1, np.nan, 0.0), "NaN|continuous|label type"),
    "y of two columns": (X, np.column_stack([T, T]), "1d|multi|shape|label type|continuous"),
    "continuous y": (X, T, "continuous numbers such as .*: fit a regressor instead, or divide y"),
    "texts in X": (np.full((60, 3), "a", dtype=object), Y, "float|number|string"),
}


def rows():
    for name, make in CLASSIFIERS.items():
        for what, (table, labels, sentence) in BAD_ROWS.items():
            if name == "sensitivity" and what in ("y with NaN", "y of two columns", "continuous y"):
                continue  # the model's own sentence
            own = name == "confidence" and what == "continuous y"  # the model's own, too
            names = "label type" if own else sentence
            yield f"{name}: {what}", lambda m=make, a=table, b=labels: m().fit(a, b), names


def whole_amounts():
    """Targets that are whole numbers, nearly all different, given to what holds rows of each class out."""
    amounts = np.arange(60) * 10.0
    calls = {
        "error": lambda: quick().fit(X, amounts),
        "report": lambda: ReliabilityReport(LogisticRegression(), X, amounts).summarize(),
        "recalibration": lambda: RecalibratedClassifier(LogisticRegression()).fit(X, amounts),
    }
    for name, call in calls.items():
        yield (
            f"{name}: whole amounts",
            call,
            "60 different numbers in 60 rows, too many for classes",
        )


def quick(**settings):
    return IndividualErrorClassifier(LogisticRegression(), indicators=Confidence(), **settings)


def ask(indicators):
    return IndividualErrorClassifier(GaussianNB(), indicators=indicators)


def parameters():
    for value in (np.nan, 0, 1, 1.5, -1, "a", True):
        yield (
            f"abstaining max_risk={value}",
            lambda v=value: AbstainingClassifier(LogisticRegression(), max_risk=v).fit(X, Y),
            "max_risk",
        )
        yield (
            f"abstaining confidence={value}",
            lambda v=value: AbstainingClassifier(
                LogisticRegression(), max_risk=0.1, confidence=v
            ).fit(X, Y),
            "confidence",
        )
        yield (
            f"judge confidence={value}",
            lambda v=value: fitted().judge(X, confidence=v),
            "confidence",
        )
        yield f"set confidence={value}", lambda v=value: fitted().predict_set(X, v), "confidence"
        yield (
            f"promise confidence={value}",
            lambda v=value: Promise.from_losses(T, Y, 0.1, v),
            "confidence",
        )
        yield (
            f"report confidence={value}",
            lambda v=value: ReliabilityReport(LogisticRegression(), X, Y, confidence=v).summarize(),
            "confidence",
        )
    for value in (np.nan, 0, -0.5, "a"):
        yield f"promise max_risk={value}", lambda v=value: Promise.from_losses(T, Y, v), "max_risk"
        yield (
            f"report max_risk={value}",
            lambda v=value: ReliabilityReport(LogisticRegression(), X, Y, max_risk=v).summarize(),
            "max_risk",
        )
    for value in (np.nan, -0.1, 1.1, "a"):
        yield (
            f"deferring budget={value}",
            lambda v=value: DeferringClassifier(TWO, budget=v).fit(X, Y),
            "budget",
        )
        yield (
            f"coverage={value}",
            lambda v=value: AbstainingClassifier(LogisticRegression(), coverage=v).fit(X, Y),
            "coverage",
        )
    for value in (0, -1, 1.5, "some", None):
        yield (
            f"n_neighbors={value}",
            lambda v=value: LocalSensitivity(LogisticRegression(), n_neighbors=v).fit(X, Y),
            "n_neighbors",
        )
    yield from models()
    yield from single_calls()


def models():
    for name, model in {
        "None": None,
        "a class": LogisticRegression,
        "a number": 3,
        "a text": "svm",
    }.items():
        yield (
            f"error classifier of {name}",
            lambda m=model: IndividualErrorClassifier(m).fit(X, Y),
            "estimator=",
        )
        yield (
            f"error regressor of {name}",
            lambda m=model: IndividualErrorRegressor(m).fit(X, T),
            "estimator=",
        )
        yield (
            f"abstaining with {name}",
            lambda m=model: AbstainingClassifier(m, coverage=0.5).fit(X, Y),
            "estimator=",
        )
        yield (
            f"recalibrated {name}",
            lambda m=model: RecalibratedClassifier(m).fit(X, Y),
            "estimator=",
        )
        yield f"sensitivity of {name}", lambda m=model: LocalSensitivity(m).fit(X, Y), "estimator="
        yield (
            f"error estimator {name}",
            lambda m=model: (
                IndividualErrorClassifier(LogisticRegression(), m).fit(X, Y)
                if m is not None
                else ask([]).fit(X, Y)
            ),
            "estimator|nothing to learn",
        )
    yield (
        "a regressor for classes",
        lambda: IndividualErrorClassifier(Ridge()).fit(X, Y),
        "no classifier",
    )
    yield (
        "a classifier for numbers",
        lambda: IndividualErrorRegressor(GaussianNB()).fit(X, T),
        "no regressor",
    )
    yield "an unfitted model", lambda: assess(LogisticRegression(), X, Y), "not fitted"
    for model in (NaNForest(), OneColumn(), ThreeColumns()):
        name = type(model).__name__
        yield (
            name,
            lambda m=model: IndividualErrorClassifier(m, indicators=Confidence()).fit(X, Y),
            name,
        )
    yield "NaNLine", lambda: IndividualErrorRegressor(NaNLine()).fit(X, T), "NaNLine"


def single_calls():
    yield "loss of another shape", lambda: quick(loss=[[1]]).fit(X, Y), "loss"
    yield "negative loss", lambda: quick(loss=[[0, -1], [1, 0]]).fit(X, Y), "loss"
    yield (
        "unknown indicators",
        lambda: IndividualErrorClassifier(GaussianNB(), indicators="all").fit(X, Y),
        "indicators",
    )
    yield (
        "no indicator",
        lambda: IndividualErrorClassifier(GaussianNB(), indicators=[3]).fit(X, Y),
        "indicators",
    )
    yield "no reference row", lambda: quick(max_reference_rows=0).fit(X, Y), "max_reference_rows"
    yield "one fold", lambda: quick(cv=1).fit(X, Y), "split"
    yield "cv as a text", lambda: quick(cv="five").fit(X, Y), "cv"
    yield "groups too short", lambda: quick().fit(X, Y, groups=Y[:-1]), "inconsistent"
    yield "one group", lambda: quick().fit(X, Y, groups=np.zeros(60)), "group"
    yield "negative weights", lambda: quick().fit(X, Y, sample_weight=-np.ones(60)), "sample_weight"
    yield (
        "NaN weights",
        lambda: quick().fit(X, Y, sample_weight=np.full(60, np.nan)),
        "sample_weight",
    )
    yield "other columns", lambda: fitted().judge(X[:, :2]), "features"
    yield "no new rows", lambda: fitted().judge(X[:0]), "0 sample"
    yield "a single new row without its dimension", lambda: fitted().judge(X[0]), "2D"
    yield "too many neighbours", lambda: fitted().kneighbors(X, 99), "n_neighbors"
    yield "not fitted", lambda: quick().judge(X), "not fitted"
    yield (
        "huge targets",
        lambda: IndividualErrorRegressor(LinearRegression()).fit(X, 1e39 * T),
        "targets",
    )
    yield (
        "text targets",
        lambda: IndividualErrorRegressor(Ridge()).fit(X, np.full(60, "a")),
        "numbers",
    )
    yield (
        "interval of the whole line",
        lambda: (
            IndividualErrorRegressor(Ridge(), indicators=Confidence())
            .fit(X, T)
            .predict_interval(X, 1)
        ),
        "confidence",
    )
    yield (
        "losses and estimates that differ",
        lambda: threshold_for_risk(T, Y[:-1], 0.1),
        "inconsistent",
    )
    yield "NaN scores", lambda: threshold_for_risk(np.full(60, np.nan), Y, 0.1), "NaN|finite|number"
    yield (
        "an unknown sampling",
        lambda: LocalSensitivity(GaussianNB(), sampling="all").fit(X, Y),
        "sampling",
    )
    yield "an unknown metric", lambda: TrustScore(GaussianNB(), metric="taxi").fit(X, Y), "metric"
    yield (
        "an unknown space",
        lambda: NeighborDisagreement(GaussianNB(), space="flat").fit(X, Y),
        "space",
    )
    yield (
        "an unknown response",
        lambda: Confidence(GaussianNB(), response="loud").fit(X, Y),
        "response",
    )
    yield (
        "no resamples",
        lambda: ResamplingSpread(GaussianNB(), n_resamples=0).fit(X, Y),
        "n_resamples",
    )
    yield "an unknown strategy", lambda: query("luck", GaussianNB().fit(X, Y), X), "strategy|luck"
    yield (
        "a batch of nothing",
        lambda: query("confidence", GaussianNB().fit(X, Y), X, 0),
        "batch_size",
    )
    yield "a learner without a model", lambda: ActiveLearner(None).fit(X, Y), "estimator"
    yield "an empty share", lambda: list(HoldoutSplit(0.0).split(X)), "share|size|0"
    yield "a share of all", lambda: list(HoldoutSplit(1.0).split(X)), "share|size|1"
    yield "a jackknife of one value", lambda: jackknife([1.0], np.mean), "two|one|rows|value"
    yield "a bootstrap of nothing", lambda: bootstrap([], np.mean), "no|empty|0"
    yield (
        "an unknown sampler",
        lambda: bias_variance(GaussianNB(), X, Y, X, Y, sampler="draw"),
        "sampler",
    )
    yield "errors of another length", lambda: augrc_loss(Y, T[:-1]), "inconsistent"
    yield "NaN errors", lambda: risk_coverage_curve(np.full(60, np.nan), T), "NaN"
    yield (
        "probabilities above one",
        lambda: brier_decomposition(Y, T * 10),
        "0 and 1|probab|between|above",
    )
    yield "intervals of one end", lambda: interval_width(T), "shape|two|2"
    yield "regions of no rows", lambda: find_error_regions(X[:0], Y[:0]), "0 sample|no|rows|empty"
    yield "regions of other errors", lambda: find_error_regions(X, Y[:-1]), "inconsistent"
    yield "neighbours of other rows", lambda: voronoi_steps(X, X), "neighbors"
    yield "an empty series", lambda: dtw_distance([], [1.0]), "empty|0|no"
    yield "a series with NaN", lambda: dtw_distance([np.nan], [1.0]), "NaN"
    yield "a window below zero", lambda: dtw_distance([1.0], [1.0], window=-1), "window"
    yield "neighbours of series, none", lambda: KNeighborsDTWClassifier(0).fit(X, Y), "n_neighbors"
    yield (
        "rounds of boosting, none",
        lambda: BoostingClassifier(n_estimators=0).fit(X, Y),
        "n_estimators",
    )
    yield "an unknown boosting", lambda: BoostingClassifier("loud").fit(X, Y), "loud"
    yield "one model to defer to", lambda: DeferringClassifier(TWO[:1]).fit(X, Y), "estimators"
    yield "prices of nothing", lambda: DeferringClassifier(TWO, costs=(1, 0)).fit(X, Y), "costs"
    yield (
        "a report of overlapping folds",
        lambda: ReliabilityReport(
            GaussianNB(),
            X,
            Y,
            cv=[(np.arange(40), np.arange(40, 60)), (np.arange(30), np.arange(40, 60))],
        ).summarize(),
        "more than once",
    )


class NaNForest(DecisionTreeClassifier):
    def predict_proba(self, X, check_input=True):
        return super().predict_proba(X) * np.nan


class OneColumn(DecisionTreeClassifier):
    def predict_proba(self, X, check_input=True):
        return super().predict_proba(X)[:, 1]


class ThreeColumns(DecisionTreeClassifier):
    def predict_proba(self, X, check_input=True):
        return np.hstack([super().predict_proba(X)] * 2)[:, :3]


class NaNLine(Ridge):
    def predict(self, X):
        return super().predict(X) * np.nan


def fitted(cache={}):  # noqa: B006 - fitted once for all
    if not cache:
        cache["model"] = quick(random_state=0).fit(X, Y)
    return cache["model"]


# Sentences of scikit-learn's own checks, which show the rows.
SCIKIT_LEARN = (
    "Expected 2D array",
    "Complex data not supported",
    "Input X contains",
    "Unknown label",
)

CASES = [*rows(), *whole_amounts(), *parameters()]


def test_there_are_enough_of_them_and_each_has_a_name():
    assert len({name for name, *_ in CASES}) == len(CASES) >= 150


@pytest.mark.parametrize(("call", "names"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_one_line_that_names_it(call, names):
    with pytest.raises((TypeError, ValueError), match=names) as caught:
        call()
    message = str(caught.value)
    assert message.strip()
    assert message.count("\n") == 0 or message.startswith(SCIKIT_LEARN)
