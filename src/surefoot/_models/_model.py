"""Users' models: what kind a model is, how it is fitted, what its pipeline has seen, and its outputs.

Only here are models told apart by their type. Outputs (predictions, probabilities, scores that behave like log-odds)
are all that the core sees of a model.
"""

import re
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn import get_config
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import get_tags
from sklearn.utils.extmath import softmax
from sklearn.utils.validation import check_is_fitted

from surefoot._tables import as_table, take_rows
from surefoot._typing import Floats, Ints
from surefoot._validation import check_option

# Where scikit-learn has transformers that do not look at labels, unless their tags say that they need them.
WITHOUT_LABELS = (
    "sklearn.decomposition.",
    "sklearn.feature_extraction.",
    "sklearn.impute.",
    "sklearn.kernel_approximation",
    "sklearn.preprocessing.",
    "sklearn.random_projection",
    "skrub._datetime_encoder",
    "skrub._string_encoder",
    "skrub._table_vectorizer",
    "skrub._to_categorical",
)

# Columns up to which regression trees try all of them at each split.
FEW_COLUMNS = 24

# Classifiers that predict the class of highest probability, the first of equals: of scikit-learn, of other libraries,
# and those around functions and boosters.
MOST_PROBABLE = (
    *("ExtraTreesClassifier", "RandomForestClassifier"),
    *("LGBMClassifier", "NativeClassifier"),
)

THRESHOLDED = (FixedThresholdClassifier, TunedThresholdClassifierCV)

RESPONSES = ("auto", "decision_function", "predict_proba", "predict")


def check_model(estimator: Any) -> None:
    """Raise a TypeError unless this is an instance with a method `fit`."""
    if not hasattr(estimator, "fit") or isinstance(estimator, type):
        raise TypeError(
            f"estimator={estimator!r} is no model: it may be a scikit-learn classifier or regressor, "
            "or a fitted one in FrozenEstimator."
        )


class TagsOfModel:
    """Mixin of meta-estimators, which take the rows that their model takes."""

    estimator: Any

    def __sklearn_tags__(self) -> Any:
        tags: Any = super().__sklearn_tags__()  # type: ignore[misc]
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def is_fitted(model: Any) -> bool:
    """True if a model is fitted already."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def fit_model(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Fit a clone of the model and return it; a `FrozenEstimator` is returned as it is.

    Weights go to the model itself, or to the last step of a pipeline.
    """
    check_model(estimator)
    if isinstance(estimator, FrozenEstimator):
        check_is_fitted(estimator.estimator)
        return estimator
    model = clone_model(estimator)
    if sample_weight is None:
        return model.fit(X, y)
    name = weight_parameter(model)
    return model.fit(X, y, **{name: sample_weight})


def clone_model(estimator: Any) -> Any:
    """Unfitted copy of a model; one sentence if scikit-learn cannot make it, as of CatBoost with a list."""
    try:
        return clone(estimator)
    except (
        RuntimeError
    ) as error:  # scikit-learn's, which names the model and the parameter at any depth
        changed = re.search(
            r"Cannot clone object '?(\w+).* parameter (\w+)$", str(error), re.DOTALL
        )
        if changed is None:
            raise
        model, parameter = changed.groups()
        raise ValueError(
            f"scikit-learn cannot clone {model}, which does not keep {parameter} as it was given: "
            f"pass {parameter} as a tuple if it is a list, or pass a fitted model in FrozenEstimator."
        ) from error


def predict_labels(model: Any, X: Any) -> NDArray[Any]:
    """Predictions, one a row; CatBoost gives those of three classes or more as a column."""
    return as_labels(model.predict(X))


SEVERAL_TARGETS = "estimator predicts several targets a row: it must predict one."


def as_labels(output: Any) -> NDArray[Any]:
    """Predictions, one a row, from what `predict` of a model returned."""
    predictions = np.asarray(output)
    if predictions.ndim < 2:
        return predictions
    if predictions.shape[1] > 1:  # such as CatBoost's MultiLogloss
        raise TypeError(SEVERAL_TARGETS)
    return predictions[:, 0]


def class_votes(model: Any, X: Any) -> Floats:
    """Class probabilities of a classifier; 1 for the predicted class if it has none."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    return (np.asarray(model.predict(X))[:, None] == model.classes_).astype(np.float64)


def ask_chosen(models: list[Any], choice: Ints, method: str, X: Any) -> NDArray[Any]:
    """Output of `method` for each row, by the model that is chosen for that row.

    `choice` holds positions in `models`. A model that is chosen for no row is not called.
    """
    rows_of_models = [np.flatnonzero(choice == number) for number in range(len(models))]
    outputs = [
        getattr(model, method)(take_rows(X, rows))
        for model, rows in zip(models, rows_of_models, strict=True)
        if rows.size
    ]
    return np.concatenate(outputs)[np.argsort(np.concatenate(rows_of_models), kind="stable")]


def clone_with_seed(estimator: Any, random_state: Any) -> Any:
    """Clone whose own `random_state`, where that is None, is that of the estimator around it."""
    model = clone_model(estimator)
    if model.get_params(deep=False).get("random_state", 0) is None:
        model.set_params(random_state=random_state)
    return model


def seeded_everywhere(estimator: Any, random_state: Any) -> Any:
    """Clone in which every `random_state` that is None, at any depth, is the given one; a frozen model as it is."""
    if isinstance(estimator, FrozenEstimator):
        return estimator
    model = clone_model(estimator)
    params = model.get_params()
    unset = [each for each in params if each.endswith("random_state") and params[each] is None]
    return model.set_params(**dict.fromkeys(unset, random_state))


def weight_parameter(model: Any) -> str:
    """Name of the parameter of `model.fit` that takes weights; raises if there is none.

    In a pipeline it is that of the last step, in a search that of the model. With metadata routing enabled
    both take `sample_weight` and route it themselves.
    """
    routed = get_config()["enable_metadata_routing"]
    if isinstance(model, Pipeline) and not routed:
        name, last = model.steps[-1]
        return f"{name}__{weight_parameter(last)}"
    if isinstance(model, (GridSearchCV, RandomizedSearchCV)) and not routed:
        return weight_parameter(model.estimator)
    parameters = signature(model.fit).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if "sample_weight" not in parameters and not takes_any:
        raise ValueError(f"sample_weight was given, but {model!r} takes none.")
    return "sample_weight"


def share_of_columns(n_columns: int) -> float:
    """Share of the columns that regression trees try at each split: all of a few, a third of many (Breiman 2001)."""
    return max(1 / 3, min(1.0, FEW_COLUMNS / n_columns))


def split_model(model: Any) -> tuple[list[Any], Any]:
    """Split a fitted model into the transformers of its pipelines and the predictor at the end.

    Outputs that stand in the place of a model take the inputs out of their table, like a transformer.
    """
    transformers = []
    while True:
        if isinstance(model, FrozenEstimator):
            model = model.estimator
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, Pipeline):
            if len(model) > 1:
                transformers.append(model[:-1])
            model = model[-1]
        else:
            return [*transformers, *[model] * hasattr(model, "output_columns")], model


def given_model(model: Any) -> Any:
    """Outputs in place of a model (`GivenOutputs`), if that is what an estimator holds; None for a model."""
    predictor = split_model(model)[1]
    return predictor if hasattr(predictor, "output_columns") else None


def inputs_of(model: Any, table: Any) -> Any:
    """Columns of a table that are inputs of a model: all, unless its outputs are among them."""
    given = given_model(model)
    return table if given is None else given.inputs(table)


def offered_by(model: Any, name: str) -> Any:
    """What the estimator in a model, fitted or not, returns from its method `name`; None if it has no such method.

    A model may offer its own neighbour search (`neighbor_search`) and default indicators (`error_indicators`).
    """
    inner = split_model(model)[1]
    while hasattr(inner, "estimator") and not hasattr(inner, name):
        inner = split_model(inner.estimator)[1]  # a search that is not fitted yet, a calibrator
    return getattr(inner, name)() if hasattr(inner, name) else None


def preprocesses_inside(model: Any) -> bool:
    """Whether a model, such as a voting ensemble or a calibrator, contains a pipeline and so gets raw columns."""
    parts = model.get_params().values() if hasattr(model, "get_params") else []
    return any(isinstance(part, Pipeline) for part in parts)


def saw_no_labels(model: Any, space: Any) -> bool:
    """Whether the labels of the rows cannot have shaped their coordinates, in this space of a fitted model."""
    if not _ignores_labels(space):
        return False
    if isinstance(model, Pipeline):
        return _ignores_labels(model[:-1]) and saw_no_labels(model[-1], None)
    # A frozen model was fitted on other rows; labels have chosen the transformers in a search.
    searched = hasattr(model, "best_estimator_") and not isinstance(model, FrozenEstimator)
    return not (searched and split_model(model)[0])


def _ignores_labels(transformer: Any) -> bool:
    """Whether a transformer is known not to look at labels; "auto", "scaled", "passthrough" and "drop" do not."""
    if transformer is None or isinstance(transformer, str):
        return True
    if isinstance(transformer, Pipeline):
        return all(_ignores_labels(step) for _, step in transformer.steps)
    if isinstance(transformer, FeatureUnion):
        return all(_ignores_labels(part) for _, part in transformer.transformer_list)
    if isinstance(transformer, ColumnTransformer):
        parts = [part for _, part, _ in transformer.transformers]
        return all(_ignores_labels(part) for part in [*parts, transformer.remainder])
    if (
        type(transformer).__name__ == "TableVectorizer"
    ):  # once it is fitted, what each column gets is known
        fitted = getattr(transformer, "transformers_", None)
        return fitted is not None and all(map(_ignores_labels, fitted.values()))
    known = type(transformer).__module__.startswith(WITHOUT_LABELS)
    return known and not get_tags(transformer).target_tags.required


def categorical_columns(model: Any) -> Ints:
    """Positions of the columns that a fitted model takes as categories, whatever they hold."""
    if hasattr(model, "get_cat_feature_indices"):  # CatBoost, which has none before it is fitted
        return np.asarray(model.get_cat_feature_indices(), dtype=np.int64)
    flags = getattr(model, "is_categorical_", None)
    return np.flatnonzero([] if flags is None else flags)


def takes_rows_as_they_are(model: Any) -> bool:
    """Whether a fitted model has no transformers and no categorical columns."""
    transformers, predictor = split_model(model)
    has_categories = len(categorical_columns(predictor)) > 0
    return not (transformers or has_categories or preprocesses_inside(predictor))


class FittedModel:
    """A fitted model and how it is asked: all that the core sees of it.

    Scores behave like log-odds: one column for two classes or a regressor, else one per class. For two classes a
    higher score means the positive (second) class; it is 0 where the decision changes, also for a classifier with a
    threshold of its own. With more classes the columns of `decision_function` are centred, since only their
    differences mean anything. A classifier with neither decision values nor probabilities, such as a vote of models by
    majority, has the scores of a model that is as sure as its number of training rows can show.

    Parameters
    ----------
    model : fitted classifier or regressor
        Inside pipelines, searches and `FrozenEstimator` the last step is the predictor.
    response : {"auto", "decision_function", "predict_proba", "predict"}
        Method that the scores are made of.
    n_rows : int
        Number of training rows, which limits the log-odds.

    Attributes
    ----------
    transformers, predictor : list of transformers, and estimator
        Steps that rows pass, and the estimator that gets them.
    is_given : bool
        Whether outputs that are columns of the table stand in the place of a model: there is none to ask about points
        between rows.
    method : str
        Method in use.
    classes : ndarray of shape (n_classes,) or None
        Classes; None for a regressor.
    has_probabilities : bool
        Whether the model has `predict_proba`.
    n_columns : int
        Columns of the scores: one for a regressor or two classes, else one per class.
    least_probability : float
        Smallest probability that n rows can show: half a row of either class more (rule of succession).
    """

    def __init__(self, model: Any, response: str, n_rows: int) -> None:
        check_option(response, "response", RESPONSES)
        self.transformers, self.predictor = split_model(model)
        model = self.predictor
        self.is_given = hasattr(model, "output_columns")
        self.method = _choose_method(model, response)
        self.is_regression = is_regressor(model)
        self.classes: Any = None if self.is_regression else np.asarray(model.classes_)
        self.least_probability = 1.0 / (2 * n_rows + 2)
        self.has_probabilities = hasattr(model, "predict_proba")
        n_classes = 0 if self.is_regression else len(model.classes_)
        self.n_columns = n_classes if n_classes > 2 else 1
        self.cut = self._threshold_score() if isinstance(model, THRESHOLDED) else 0.0

    def _threshold_score(self) -> float:
        """Score at which a classifier with a threshold of its own changes its decision."""
        default = 0.5 if self.method == "predict_proba" else 0.0
        given = getattr(
            self.predictor, "best_threshold_", getattr(self.predictor, "threshold", "auto")
        )
        threshold = default if given == "auto" else float(given)
        score = float(logit(threshold)) if self.method == "predict_proba" else threshold
        scores_first_class = (
            getattr(self.predictor, "pos_label", None) == self.predictor.classes_[0]
        )
        return -score if scores_first_class else score

    def transform(self, table: Any) -> Any:
        """Rows of a table as the predictor takes them, after the transformers of its pipelines."""
        for transformer in self.transformers:
            table = transformer.transform(table)
        return as_table(table)

    def inputs(self, table: Any) -> Any:
        """Columns of a table that are inputs: all, unless outputs are given beside them."""
        return self.predictor.inputs(table) if self.is_given else table

    def __call__(self, inputs: Any) -> Floats:
        """Scores of shape (n_rows, 1) for two classes or a regressor, else (n_rows, n_classes)."""
        return self.scores(getattr(self.predictor, self.method)(inputs))

    def score(self, table: Any) -> Floats:
        """Scores of the rows of a table."""
        return self(table if self.is_given else self.transform(table))

    def asked(self, method: str, inputs: Any, known: dict[str, Any]) -> Any:
        """Output of a method of the model; the model is not asked where known outputs give it to the bit."""
        kind = type(self.predictor)
        if kind is HistGradientBoostingClassifier and "decision_function" in known:
            raw = known["decision_function"]
            if method == "predict":
                return self.classes[top_class(raw.reshape(len(raw), -1))]
            return softmax(raw) if raw.ndim > 1 else np.column_stack([1 - expit(raw), expit(raw)])
        if method == "predict" and "predict_proba" in known and kind.__name__ in MOST_PROBABLE:
            return self.classes[np.asarray(known["predict_proba"]).argmax(axis=1)]
        return getattr(self.predictor, method)(inputs)

    def scores(self, output: Any) -> Floats:
        """Scores from what `method` of the model returned."""
        if self.method == "predict_proba":
            return self.log_odds(self.probabilities(output))
        if self.method == "predict" and not self.is_regression:
            return self.log_odds((np.asarray(output)[:, None] == self.classes).astype(np.float64))
        values = self._finite(output, self.method)
        if values.ndim == 1:
            return values[:, None] - self.cut
        if self.classes is None:
            raise ValueError(
                f"estimator predicts {values.shape[1]} targets a row: it must predict one."
            )
        if values.shape[1] != len(self.classes):
            raise ValueError(
                f"The decision_function of {type(self.predictor).__name__} has {values.shape[1]} columns for "
                f"{len(self.classes)} classes: response may be 'predict_proba' if the model has it."
            )
        return values - values.mean(axis=1, keepdims=True)

    def probabilities(self, output: Any) -> Floats:
        """Class probabilities from what `predict_proba` returned, one finite column a class."""
        values = self._finite(output, "predict_proba")
        n_classes = len(self.predictor.classes_)
        if values.ndim != 2 or values.shape[1] != n_classes:
            raise ValueError(
                f"predict_proba of {type(self.predictor).__name__} returns an array of shape {values.shape}: there "
                f"must be a row for each row and a column for each of {n_classes} classes."
            )
        return values

    def _finite(self, output: Any, method: str) -> Floats:
        values = np.asarray(output, dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError(
                f"{method} of {type(self.predictor).__name__} returns NaN or infinite numbers."
            )
        return values

    def probabilities_of_scores(self, scores: Floats) -> Floats:
        """Class probabilities of a model without any: its decision values taken as log-odds."""
        if scores.shape[1] > 1:
            return np.asarray(softmax(scores))
        return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])

    def log_odds(self, probabilities: Floats) -> Floats:
        """Clipped log-odds of the positive class for two classes, else of every class."""
        kept = probabilities[:, 1:] if probabilities.shape[1] == 2 else probabilities
        clipped = np.clip(kept, self.least_probability, 1 - self.least_probability)
        return logit(clipped) - self.cut


def top_class(scores: Floats) -> Ints:
    """Index of the class with the highest score; `scores` has shape (..., 1) or (..., n_classes)."""
    if scores.shape[-1] == 1:
        return (scores[..., 0] > 0).astype(np.int64)
    return scores.argmax(axis=-1)


def margin(scores: Floats, top: Ints) -> Floats:
    """Lead of class `top` over the best other class at each point; negative where it is behind.

    `scores` has shape (n, 1 or n_classes), or (n, n_samples, 1 or n_classes) with one `top` per row.
    """
    top = top.reshape(-1, *[1] * (scores.ndim - 2))
    if scores.shape[-1] == 1:
        return np.where(top == 1, scores[..., 0], -scores[..., 0])
    where = np.broadcast_to(top[..., None], (*scores.shape[:-1], 1))
    others = scores.copy()
    np.put_along_axis(others, where, -np.inf, axis=-1)
    return np.take_along_axis(scores, where, axis=-1)[..., 0] - others.max(axis=-1)


def _choose_method(model: Any, response: str) -> str:
    """Method of the model that scores are made of; raises if it has none that fits `response`, or one class only."""
    if is_regressor(model):
        if response not in ("auto", "predict"):
            raise ValueError(
                f"response={response!r} needs a classifier; for a regressor it may be 'auto' or 'predict'."
            )
        return "predict"
    if not is_classifier(model):
        raise ValueError(
            f"estimator={model!r} is no classifier or regressor of scikit-learn's kind."
        )
    if isinstance(model.classes_, list):
        raise TypeError(SEVERAL_TARGETS)
    if len(model.classes_) < 2:
        raise ValueError("estimator was fitted on one class only: there must be two or more.")
    wanted = ("decision_function", "predict_proba") if response == "auto" else (response,)
    if type(model).__name__ in MOST_PROBABLE:  # one call serves both
        wanted = wanted[::-1]
    if isinstance(model, THRESHOLDED):  # its threshold applies to one response method
        own = model.response_method
        wanted = ("predict_proba", "decision_function") if own == "auto" else (own,)
    # One column per pair of classes instead of one per class cannot be used.
    pairwise = getattr(model, "decision_function_shape", None) == "ovo" and len(model.classes_) > 2
    unusable = {"predict", "decision_function"} if pairwise else {"predict"}
    usable = [m for m in wanted if m not in unusable and hasattr(model, m)]
    if not usable and response == "auto" and not isinstance(model, THRESHOLDED):
        return "predict"
    if not usable:
        raise ValueError(
            f"{type(model).__name__} has no usable {' or '.join(wanted)}: response may be 'auto', "
            "'decision_function' or 'predict_proba', and the model must have it, one column a class."
        )
    return usable[0]
