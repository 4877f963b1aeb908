"""Two hundred bad calls from Python: each raises one line that names what is wrong, before anything is fitted."""

from functools import cache, partial

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
from surefoot.indicators import (
    NeighborDisagreement,
    NeighborDistance,
    ResamplingSpread,
    TrustScore,
)
from surefoot.metrics import augrc_loss, brier_decomposition, interval_width, risk_coverage_curve
from surefoot.neighborhoods import voronoi_steps
from surefoot.resampling import HoldoutSplit, bias_variance, bootstrap, jackknife
from surefoot.time_series import KNeighborsDTWClassifier, dtw_distance

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(60, 3))
Y = (X[:, 0] + DRAW.normal(size=60) > 0).astype(int)
T = X[:, 0] + DRAW.normal(size=60)
TWO = [("a", LogisticRegression()), ("b", GaussianNB())]

AMOUNTS = np.arange(60) * 10.0
TOO_MANY = "60 different numbers in 60 rows, too many for classes"
SHARES = (np.nan, 0, 1, 1.5, -1, "a", True)
OVERLAPPING = [(np.arange(40), np.arange(40, 60)), (np.arange(30), np.arange(40, 60))]
LINE = IndividualErrorRegressor(Ridge(), indicators=NeighborDistance())


def quick(**settings):
    return IndividualErrorClassifier(LogisticRegression(), indicators=Confidence(), **settings)


CLASSIFIERS = {
    "error classifier": quick,
    "abstaining": lambda: AbstainingClassifier(LogisticRegression(), Confidence(), coverage=0.8),
    "deferring": lambda: DeferringClassifier(TWO),
    "recalibrated": lambda: RecalibratedClassifier(LogisticRegression(), random_state=0),
    "locally recalibrated": lambda: LocallyRecalibratedClassifier(
        LogisticRegression(), random_state=0
    ),
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


def ask(indicators):
    return IndividualErrorClassifier(GaussianNB(), indicators=indicators)


def report(y=Y, **settings):
    return ReliabilityReport(LogisticRegression(), X, y, **settings).summarize()


def abstain(**settings):
    return AbstainingClassifier(LogisticRegression(), **settings).fit(X, Y)


@cache
def fitted():
    return quick(random_state=0, sets=True).fit(X, Y)


def rows():
    for name, make in CLASSIFIERS.items():
        for what, (table, labels, sentence) in BAD_ROWS.items():
            if name == "sensitivity" and what in ("y with NaN", "y of two columns", "continuous y"):
                continue  # the model's own sentence
            own = name == "confidence" and what == "continuous y"  # the model's own, too
            names = "label type" if own else sentence
            yield f"{name}: {what}", lambda m=make, a=table, b=labels: m().fit(a, b), names


def parameters():
    """Values that a parameter does not take."""
    calls = {
        "max_risk": (abstain, (np.nan, 0, 1, 1.5, -1, "a", True)),
        "confidence": (partial(abstain, max_risk=0.1), SHARES),
        "confidence of judge": (lambda **s: fitted().judge(X, **s), SHARES),
        "confidence of predict_set": (lambda **s: fitted().predict_set(X, **s), SHARES),
        "confidence of a promise": (partial(Promise.from_losses, T, Y, 0.1), SHARES),
        "confidence of a report": (report, SHARES),
        "max_risk of a promise": (partial(Promise.from_losses, T, Y), (np.nan, 0, -0.5, "a")),
        "max_risk of a report": (report, (np.nan, 0, -0.5, "a")),
        "budget": (lambda **s: DeferringClassifier(TWO, **s).fit(X, Y), (np.nan, -0.1, 1.1, "a")),
        "coverage": (abstain, (np.nan, -0.1, 1.1, "a")),
        "n_neighbors": (
            lambda **s: LocalSensitivity(LogisticRegression(), **s).fit(X, Y),
            (0, -1, 1.5, "some", None),
        ),
    }
    for name, (call, values) in calls.items():
        parameter = name.split()[0]
        for value in values:
            yield f"{name}={value}", partial(call, **{parameter: value}), parameter


def models():
    """What is no model, and models whose outputs are none."""
    makers = {
        "error classifier": (IndividualErrorClassifier, Y),
        "error regressor": (IndividualErrorRegressor, T),
        "abstaining": (partial(AbstainingClassifier, coverage=0.5), Y),
        "recalibrated": (RecalibratedClassifier, Y),
        "sensitivity": (LocalSensitivity, Y),
        "learner": (partial(IndividualErrorClassifier, LogisticRegression()), Y),
    }
    for what, model in {"None": None, "a class": LogisticRegression, "3": 3, "svm": "svm"}.items():
        for name, (make, y) in makers.items():
            if (name, what) != ("learner", "None"):  # the default
                parameter = "learner=" if name == "learner" else "estimator="
                yield f"{name} of {what}", lambda f=make, m=model, t=y: f(m).fit(X, t), parameter
    for model in (NaNForest(), OneColumn(), ThreeColumns()):
        make = partial(IndividualErrorClassifier, indicators=Confidence())
        yield str(model), lambda m=model, f=make: f(m).fit(X, Y), type(model).__name__


# fmt: off
SINGLE = [
    ("whole amounts", lambda: quick().fit(X, AMOUNTS), TOO_MANY),
    ("whole amounts in a report", lambda: report(AMOUNTS), TOO_MANY),
    ("whole amounts recalibrated", lambda: RecalibratedClassifier(GaussianNB()).fit(X, AMOUNTS), TOO_MANY),
    ("no indicators", lambda: ask([]).fit(X, Y), "nothing to learn"),
    ("a regressor for classes", lambda: IndividualErrorClassifier(Ridge()).fit(X, Y), "no classifier"),
    ("a classifier for numbers", lambda: IndividualErrorRegressor(GaussianNB()).fit(X, T), "no regressor"),
    ("five rows", lambda: assess(GaussianNB().fit(X, Y), X[:5], Y[:5]), "X has 5 rows.* at least 20"),
    ("a limit of 5", lambda: Promise.from_held_out(fitted().held_out_, 5), "max_risk == 5, must be < 1"),
    ("a limit of 5 for a class", lambda: Promise.from_held_out(fitted().held_out_, {1: 5}), "must be < 1"),
    ("a promise without losses", lambda: Promise.from_held_out(fitted().judge(X)), "true losses"),
    ("an unfitted model", lambda: assess(LogisticRegression(), X, Y), "not fitted"),
    ("NaNLine", lambda: IndividualErrorRegressor(NaNLine()).fit(X, T), "NaNLine"),
    ("loss of another shape", lambda: quick(loss=[[1]]).fit(X, Y), "loss"),
    ("negative loss", lambda: quick(loss=[[0, -1], [1, 0]]).fit(X, Y), "loss"),
    ("unknown indicators", lambda: ask("all").fit(X, Y), "indicators"),
    ("no indicator", lambda: ask([3]).fit(X, Y), "indicators"),
    ("no reference row", lambda: quick(max_reference_rows=0).fit(X, Y), "max_reference_rows"),
    ("one fold", lambda: quick(cv=1).fit(X, Y), "split"),
    ("cv as a text", lambda: quick(cv="five").fit(X, Y), "cv"),
    ("groups too short", lambda: quick().fit(X, Y, groups=Y[:-1]), "inconsistent"),
    ("one group", lambda: quick().fit(X, Y, groups=np.zeros(60)), "group"),
    ("negative weights", lambda: quick().fit(X, Y, sample_weight=-np.ones(60)), "sample_weight"),
    ("NaN weights", lambda: quick().fit(X, Y, sample_weight=np.full(60, np.nan)), "sample_weight"),
    ("other columns", lambda: fitted().judge(X[:, :2]), "features"),
    ("no new rows", lambda: fitted().judge(X[:0]), "0 sample"),
    ("a single new row without its dimension", lambda: fitted().judge(X[0]), "2D"),
    ("too many neighbours", lambda: fitted().kneighbors(X, 99), "n_neighbors"),
    ("not fitted", lambda: quick().judge(X), "not fitted"),
    ("huge targets", lambda: IndividualErrorRegressor(LinearRegression()).fit(X, 1e39 * T), "targets"),
    ("text targets", lambda: IndividualErrorRegressor(Ridge()).fit(X, np.full(60, "a")), "numbers"),
    ("interval of the whole line", lambda: LINE.fit(X, T).predict_interval(X, 1), "confidence"),
    ("losses of another length", lambda: threshold_for_risk(T, Y[:-1], 0.1), "inconsistent"),
    ("NaN scores", lambda: threshold_for_risk(np.full(60, np.nan), Y, 0.1), "NaN|finite|number"),
    ("an unknown sampling", lambda: LocalSensitivity(GaussianNB(), sampling="all").fit(X, Y), "sampling"),
    ("an unknown metric", lambda: TrustScore(GaussianNB(), metric="taxi").fit(X, Y), "metric"),
    ("an unknown space", lambda: NeighborDisagreement(GaussianNB(), space="flat").fit(X, Y), "space"),
    ("an unknown response", lambda: Confidence(GaussianNB(), response="loud").fit(X, Y), "response"),
    ("no resamples", lambda: ResamplingSpread(GaussianNB(), n_resamples=0).fit(X, Y), "n_resamples"),
    ("an unknown strategy", lambda: query("luck", GaussianNB().fit(X, Y), X), "strategy|luck"),
    ("a batch of nothing", lambda: query("confidence", GaussianNB().fit(X, Y), X, 0), "batch_size"),
    ("a learner without a model", lambda: ActiveLearner(None).fit(X, Y), "estimator"),
    ("an empty share", lambda: list(HoldoutSplit(0.0).split(X)), "share|size|0"),
    ("a share of all", lambda: list(HoldoutSplit(1.0).split(X)), "share|size|1"),
    ("a jackknife of one value", lambda: jackknife([1.0], np.mean), "two|one|rows|value"),
    ("a bootstrap of nothing", lambda: bootstrap([], np.mean), "no|empty|0"),
    ("an unknown sampler", lambda: bias_variance(GaussianNB(), X, Y, X, Y, sampler="draw"), "sampler"),
    ("errors of another length", lambda: augrc_loss(Y, T[:-1]), "inconsistent"),
    ("NaN errors", lambda: risk_coverage_curve(np.full(60, np.nan), T), "NaN"),
    ("probabilities above one", lambda: brier_decomposition(Y, T * 10), "0 and 1|probab|between|above"),
    ("intervals of one end", lambda: interval_width(T), "shape|two|2"),
    ("regions of no rows", lambda: find_error_regions(X[:0], Y[:0]), "0 sample|no|rows|empty"),
    ("regions of other errors", lambda: find_error_regions(X, Y[:-1]), "inconsistent"),
    ("neighbours of other rows", lambda: voronoi_steps(X, X), "neighbors"),
    ("an empty series", lambda: dtw_distance([], [1.0]), "empty|0|no"),
    ("a series with NaN", lambda: dtw_distance([np.nan], [1.0]), "NaN"),
    ("a window below zero", lambda: dtw_distance([1.0], [1.0], window=-1), "window"),
    ("no neighbours of series", lambda: KNeighborsDTWClassifier(0).fit(X, Y), "n_neighbors"),
    ("no rounds of boosting", lambda: BoostingClassifier(n_estimators=0).fit(X, Y), "n_estimators"),
    ("an unknown boosting", lambda: BoostingClassifier("loud").fit(X, Y), "loud"),
    ("one model to defer to", lambda: DeferringClassifier(TWO[:1]).fit(X, Y), "estimators"),
    ("prices of nothing", lambda: DeferringClassifier(TWO, costs=(1, 0)).fit(X, Y), "costs"),
    ("a report of overlapping folds", lambda: report(cv=OVERLAPPING), "more than once"),
]
# fmt: on


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


# Sentences of scikit-learn's own checks, which show the rows.
SCIKIT_LEARN = (
    "Expected 2D array",
    "Complex data not supported",
    "Input X contains",
    "Unknown label",
)

CASES = [*rows(), *parameters(), *models(), *SINGLE]


def test_there_are_enough_of_them_and_each_has_a_name():
    assert len({name for name, *_ in CASES}) == len(CASES) >= 150


@pytest.mark.parametrize(("call", "names"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_one_line_that_names_it(call, names):
    with pytest.raises((TypeError, ValueError), match=names) as caught:
        call()
    message = str(caught.value)
    assert message.strip()
    assert message.count("\n") == 0 or message.startswith(SCIKIT_LEARN)
