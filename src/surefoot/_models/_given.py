"""Outputs without their model: predictions that were made elsewhere, as columns of their table."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from scipy.special import logit
from sklearn.base import BaseEstimator, clone
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if

from surefoot._models._model import given_model
from surefoot._models._vectors import vector_columns, vector_encoder
from surefoot._tables import (
    RowError,
    as_floats,
    as_objects,
    as_table,
    column_names,
    count_rows,
    is_frame,
    take_column,
    take_columns,
    with_columns,
)
from surefoot._task import kind_of_target, known_numbers
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import check_target
from surefoot._words import listed, number, plural

# What the columns beside the predictions hold: nothing, one probability or one score for each class, one number about
# one of two classes, or one number for how sure the model was of the prediction that it made.
NONE, PROBABILITIES, SCORES, ONE_CLASS, SURENESS = (
    *("none", "probabilities", "scores"),
    *("one class", "sureness"),
)

# Probabilities are often rounded to two digits: what the sum over the classes may differ from 1 by, for each class, and
# by how much the predicted class may be behind another.
ROUNDING = 0.005
EQUAL = 1e-6

# Smallest probability whose log-odds are taken, and the smallest lead of a predicted class.
LEAST_PROBABILITY, LEAST_LEAD = 1e-6, 1e-9


class GivenOutputs(BaseEstimator):
    """Model whose outputs are columns of its table; inside `FrozenEstimator` it is used like any other.

    The table is a frame that has the columns, or an array or CSR whose last columns they are, with places in `classes`
    for predicted classes. All other columns are inputs.

    Parameters
    ----------
    classes : array-like, default=None
        Classes, sorted; None for a regressor.
    prediction : str, default="prediction"
        Column of a frame with the predictions.
    columns : sequence of str, default=()
        Columns of a frame with probabilities or scores.
    meaning : {"none", "probabilities", "scores", "one class", "sureness"}, default="none"
        What these columns hold.
    about : int, default=1
        Place of the class that "one class" is about.
    bounds : tuple of two floats, default=(0.5, 0.5)
        Between these values of a number about one of two classes, the prediction changes from one to the other.
    scale : tuple of two floats, default=None
        Center and width of a score that is no probability; None if it is one.
    encoder : transformer, default=None
        Fitted transformer of the inputs; None if neighbours can be searched in them as they are.
    """

    def __init__(
        self,
        classes: Any = None,
        prediction: str = "prediction",
        columns: Sequence[str] = (),
        *,
        meaning: str = NONE,
        about: int = 1,
        bounds: tuple[float, float] = (0.5, 0.5),
        scale: tuple[float, float] | None = None,
        encoder: Any = None,
    ) -> None:
        self.classes = classes
        self.prediction = prediction
        self.columns = columns
        self.meaning = meaning
        self.about = about
        self.bounds = bounds
        self.scale = scale
        self.encoder = encoder
        if classes is not None:
            self.classes_: NDArray[Any] = np.asarray(classes)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Raise a TypeError: there is no model to fit."""
        raise TypeError("only its predictions are given")

    @property
    def output_columns(self) -> list[str]:
        """Names of the columns that are outputs, in a frame."""
        return [self.prediction, *self.columns]

    def inputs(self, table: Any) -> Any:
        """Columns of a table that are no outputs."""
        if is_frame(type(table)):
            kept = [name for name in column_names(table) if name not in self.output_columns]
            return take_columns(table, kept)
        return table[:, : -len(self.output_columns)]

    def transform(self, table: Any) -> Any:
        """Inputs of a table, in the form in which neighbours are searched."""
        inputs = self.inputs(table)
        return inputs if self.encoder is None else self.encoder.transform(inputs)

    def outputs(self, table: Any) -> Floats:
        """Places of the predicted classes, or predictions of a regressor, and the other columns of outputs, as floats.

        A ValueError names the first row whose outputs are missing, of an unknown class, or contradict each other.
        """
        if is_frame(type(table)):
            predictions = self.numbers(take_column(table, self.prediction))
            others = [
                _floats(take_column(table, name), f"Column {name!r} holds") for name in self.columns
            ]
            outputs = np.column_stack([predictions, *others])
        else:
            outputs = table[:, -len(self.output_columns) :]
            outputs = np.asarray(outputs.toarray() if issparse(outputs) else outputs, np.float64)
        _refuse(~np.isfinite(outputs[:, 0]), "has no prediction")
        for place, name in enumerate(self.columns, start=1):
            _refuse(~np.isfinite(outputs[:, place]), f"has no number in {name!r}")
        if self.meaning != NONE:
            self._check_agreement(outputs[:, 0].astype(np.int64), outputs[:, 1:])
        return outputs

    def numbers(self, predictions: Any) -> Floats:
        """Predictions of a regressor, or places of predicted classes; NaN where one is missing."""
        if self.classes is None:
            return _floats(_column(predictions), f"Column {self.prediction!r} holds")
        codes, unknown = class_codes(predictions, self.classes_)
        _refuse(unknown, f"has a prediction that is none of the classes {_few(self.classes_)}")
        return codes

    def _check_agreement(self, codes: Ints, values: Floats) -> None:
        """Raise a ValueError for the first row whose probabilities or scores contradict its prediction."""
        is_probability = self.meaning != SCORES and self.scale is None
        if is_probability:
            outside = (values.min(axis=1) < 0) | (values.max(axis=1) > 1)
            _refuse(outside, "has a probability below 0 or above 1")
        if self.meaning == PROBABILITIES:
            wrong = np.abs(values.sum(axis=1) - 1) > max(2, values.shape[1]) * ROUNDING
            _refuse(wrong, "has probabilities that do not sum to one")
        what = "probability" if is_probability else "score"
        if self._is_about_one:
            low, high = self.bounds
            about = self._about(values)
            behind = np.where(codes == 1, about < low - EQUAL, about > high + EQUAL)
            _refuse(behind, f"has a {what} that contradicts its prediction")
        elif self.meaning in (PROBABILITIES, SCORES):
            own = values[np.arange(len(codes)), codes]
            _refuse(
                own < values.max(axis=1) - EQUAL,
                f"has a prediction that another class has a higher {what} than",
            )

    @property
    def _is_about_one(self) -> bool:
        """Whether one number about the second of two classes decides."""
        return self.meaning == ONE_CLASS or (
            self.meaning == PROBABILITIES and len(self.classes_) == 2
        )

    def _about(self, values: Floats) -> Floats:
        """Number about the second of two classes: its probability, or a score that is higher where it is likelier."""
        if self.meaning == PROBABILITIES or self.about == 1:
            return values[:, -1]
        return 1 - values[:, 0] if self.scale is None else -values[:, 0]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions as they are given."""
        predictions = self.outputs(X)[:, 0]
        return predictions if self.classes is None else self.classes_[predictions.astype(np.int64)]

    @available_if(lambda self: self.has_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes as they are given."""
        values = self.outputs(X)[:, 1:]
        if self.meaning == PROBABILITIES:
            return values
        second = self._about(values)
        return np.column_stack([1 - second, second])

    @property
    def has_probabilities(self) -> bool:
        """Whether a probability of every class is given."""
        return self.scale is None and self.meaning in (PROBABILITIES, ONE_CLASS)

    @property
    def has_threshold(self) -> bool:
        """Whether the prediction of two classes changes elsewhere than at a probability of one half."""
        return self._is_about_one and not self.bounds[0] <= 0.5 <= self.bounds[1]

    @available_if(
        lambda self: self.classes is not None and (self.has_threshold or not self.has_probabilities)
    )
    def decision_function(self, X: Any) -> Floats:
        """Scores that behave like log-odds, of which the predicted class has the highest."""
        outputs = self.outputs(X)
        codes, values = outputs[:, 0].astype(np.int64), outputs[:, 1:]
        if self.meaning == SCORES:
            return values if values.shape[1] > 2 else values[:, 1] - values[:, 0]
        if self._is_about_one:
            change = np.clip(0.5, *self.bounds)
            if self.scale is not None:  # half way, if both bounds are known
                change = np.mean([bound for bound in self.bounds if np.isfinite(bound)])
            leads = self._log_odds(self._about(values)) - self._log_odds(change)
            return np.where(codes == 1, np.maximum(leads, LEAST_LEAD), np.minimum(leads, 0.0))
        leads = np.ones(len(codes))
        if self.meaning == SURENESS:  # positive, however unsure the model was
            leads = np.logaddexp(0, self._log_odds(values[:, 0])) + LEAST_LEAD
        if len(self.classes_) == 2:
            return np.where(codes == 1, leads, -leads)
        return leads[:, None] * (codes[:, None] == np.arange(len(self.classes_)))

    def _log_odds(self, values: Any) -> Floats:
        """Log-odds of probabilities, or scores in standard deviations."""
        if self.scale is None:
            return np.asarray(logit(np.clip(values, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)))
        center, width = self.scale
        return (values - center) / width

    def describe(self) -> str:
        """Sentence on how the columns beside the predictions are read."""
        if self.classes is None:
            return "Only predictions are given."
        columns, name = listed(self.columns), repr("".join(self.columns[:1]))
        classes, are_scores = self.classes_.tolist(), self.scale is not None
        kind = "a score, as it is no probability" if are_scores else "a probability"
        about = "a score (no probability) for" if are_scores else "the probability of"
        words = {
            NONE: "Only predicted classes are given, without probabilities",
            SCORES: f"{columns} are read as scores of the classes, because some are outside 0 to 1",
            SURENESS: f"{name} is read as the model's confidence in the class that it predicted ({kind})",
            ONE_CLASS: f"{name} is read as {about} {classes[min(self.about, len(classes) - 1)]!s}",
            PROBABILITIES: f"{columns} are read as the probabilities of {listed(classes)}",
        }[self.meaning]
        if self._is_about_one and (are_scores or self.has_threshold):
            where = " to ".join(number(bound) for bound in self.bounds if np.isfinite(bound))
            words = f"{words}; the prediction changes at {where}"
        return f"{words}."

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        if self.classes is None:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags


def unseen_columns(model: Any, table: Any) -> list[Any]:
    """Columns of a frame that people who label it do not see: embeddings, and given outputs, which influence them."""
    given = given_model(model)
    outputs = [] if given is None else given.output_columns
    return [*outputs, *(name for names in vector_columns(table) for name in names)]


# Outputs as a user has them


def given_predictions(
    X: Any,
    y: Any,
    predictions: Any,
    probabilities: Any = None,
    *,
    classes: Any = None,
    task: str = "auto",
    encoder: Any = None,
) -> tuple[GivenOutputs, Any]:
    """Model of given outputs, and the table of inputs and outputs that it takes.

    Outputs are arrays, or names of columns of the frame X; see `surefoot.assess_predictions`.
    """
    table = as_table(X)
    if len(table.shape) < 2:
        raise ValueError("X is a list of texts: pass a frame with a column of texts.")
    own, about = predictions, None
    is_named = isinstance(predictions, str)
    columns, by_class = _named_columns(probabilities) if is_named else ([], {})
    if is_named:
        _check_names(table, [predictions, *columns])
        own = take_column(table, predictions)
    has_values = probabilities is not None and (bool(columns) or not is_named)
    y = check_target(y)
    labels = _classes_of(y, own, classes, task, has_values=has_values)
    if labels is None and has_values:
        raise ValueError("probabilities are given for predictions that are numbers, not classes.")
    if by_class:
        columns, about = _in_order(by_class, labels, columns)
    if not is_named:
        columns = _new_names(len(_columns_of_values(probabilities)), labels)
    model = GivenOutputs(labels, predictions if is_named else "prediction", columns)
    if not is_named:
        taken = column_names(table) if is_frame(type(table)) else []
        if found := [name for name in model.output_columns if name in taken]:
            raise ValueError(
                f"X has a column {found[0]!r}, which would be an input: leave it out, or pass its name as the output."
            )
        table = lay_out(model, table, own, probabilities)
    model.set_params(**_meaning(model, table, about))
    if model.meaning == NONE and len(np.unique(said := model.predict(table))) == 1:
        raise ValueError(
            f"Every prediction is {said[0]}: such predictions do not depend on the row, and there is nothing to tell "
            "apart."
        )
    encoder = encoder or vector_encoder(model.inputs(table))
    if encoder is not None:
        model.set_params(encoder=clone(encoder).fit(model.inputs(table)))
    model.outputs(table)  # raises what is wrong with a row
    return model, table


def lay_out(model: GivenOutputs, X: Any, predictions: Any, probabilities: Any = None) -> Any:
    """Table of inputs and their outputs, as the model of these outputs takes it."""
    table, values = as_table(X), _columns_of_values(probabilities)
    if len(values) != len(model.columns):
        raise ValueError(
            f"probabilities have {plural(len(values), 'column')}: there must be {len(model.columns)}, as in fit."
        )
    n_rows, *n_values = map(count_rows, (table, predictions, *values))
    if other := [n for n in n_values if n != n_rows]:
        raise ValueError(f"X has {plural(n_rows, 'row')}, and there are outputs of {other[0]:,}.")
    if is_frame(type(table)):
        numbers = model.classes is None
        own = model.numbers(predictions) if numbers else as_objects(_column(predictions))
        columns = [model.prediction, *model.columns]
        return with_columns(table, dict(zip(columns, [own, *values], strict=True)))
    outputs = np.column_stack([model.numbers(predictions), *values])
    if issparse(table):
        return hstack([table, csr_array(outputs)], "csr")
    return np.hstack([table, outputs])


def class_codes(values: Any, classes: NDArray[Any]) -> tuple[Floats, Mask]:
    """Places of values in the classes, NaN where one is missing, and whether a value is none of them.

    A value is also known by its text: 1.0, as a whole number is read among missing values, is the class 1 or "1".
    """
    known = {label: place for place, label in enumerate(classes.tolist())}
    texts = {class_text(label): place for label, place in known.items()}
    places = [
        np.nan if value is None else known.get(value, texts.get(class_text(value), -1))
        for value in as_objects(_column(values)).tolist()
    ]
    codes = np.array(places, dtype=np.float64)
    return codes, codes == -1


def class_text(value: Any) -> str:
    """Name of a class without blanks around it; 1.0, as a whole number is read among missing values, is 1."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if is_whole else value).strip()


def _few(classes: Any) -> str:
    return listed(np.asarray(classes).tolist())


def _column(values: Any) -> Any:
    """Column as it is, or a list: NumPy would make the string "nan" of a NaN beside strings."""
    return values if hasattr(values, "dtype") else list(values)


def _floats(values: Any, holder: str) -> Floats:
    try:
        return as_floats(values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{holder} values that are no numbers.") from error


def _refuse(rows: Mask, fault: str) -> None:
    """Raise a ValueError for the first of the rows, and count the others."""
    if rows.any():
        more = int(rows.sum()) - 1
        others = (
            f", and so {'has' if more == 1 else 'have'} {plural(more, 'other row')}" if more else ""
        )
        raise RowError(f"{fault}{others}.", int(np.argmax(rows)))


def _named_columns(probabilities: Any) -> tuple[list[str], dict[Any, str]]:
    """Names of the columns of probabilities, and their columns by class where these are given."""
    if probabilities is None:
        return [], {}
    if isinstance(probabilities, Mapping):
        return list(probabilities.values()), dict(probabilities)
    names = [probabilities] if isinstance(probabilities, str) else list(probabilities)
    if not all(isinstance(name, str) for name in names):
        raise TypeError("predictions name a column of X: probabilities must name columns, too.")
    return names, {}


def _check_names(table: Any, names: list[str]) -> None:
    """Raise a ValueError for a column that the table lacks, or that has two roles."""
    known = column_names(table) if is_frame(type(table)) else []
    if missing := [name for name in names if name not in known]:
        raise ValueError(f"X lacks the column {listed(missing)}, which was named for outputs.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"The column {twice!r} is given twice for outputs.")


def _columns_of_values(probabilities: Any) -> list[Floats]:
    """Columns of an array of probabilities or scores."""
    if probabilities is None:
        return []
    table = as_table(probabilities) if is_frame(type(probabilities)) else np.asarray(probabilities)
    values = _floats(table, "probabilities hold")
    if values.ndim not in (1, 2):
        raise ValueError(f"probabilities have {values.ndim} dimensions: there may be one or two.")
    return [values] if values.ndim == 1 else list(values.T)


def _new_names(n_columns: int, labels: NDArray[Any] | None) -> list[str]:
    """Names of columns of probabilities beside those of a frame."""
    if n_columns == 1:
        return ["probability"]
    known = labels is not None and n_columns == len(labels)
    return [f"probability_{each}" for each in (labels if known else range(n_columns))]  # type: ignore[union-attr]


def _classes_of(
    y: NDArray[Any], own: Any, classes: Any, task: str, *, has_values: bool
) -> NDArray[Any] | None:
    """Classes of truth and predictions, sorted; None if these are numbers."""
    predictions = as_objects(_column(own))
    known = [value for value in predictions.tolist() if value is not None]
    if not known:
        raise ValueError("No row has a prediction.")
    are_classes = classes is not None or has_values
    if task == "auto" and not are_classes:
        _check_no_probabilities(y, known)
    if kind_of_target(y, own, task, are_classes=are_classes) == "regression":
        return None
    truth = np.unique(y if classes is None else np.asarray(classes))
    codes, unknown = class_codes(own, truth)
    new = sorted(
        {value for value, is_new in zip(predictions.tolist(), unknown, strict=True) if is_new},
        key=str,
    )
    if classes is not None and new:
        raise ValueError(
            f"predictions have the class {new[0]!r}, which is none of classes, {_few(truth)}."
        )
    if not (codes >= 0).any():
        raise ValueError(
            f"No prediction is a class of the truth: predictions are {listed(new)}, and the truth is {_few(truth)}."
        )
    if new and truth.dtype.kind in "biuf" and any(isinstance(value, str) for value in new):
        raise ValueError(
            f"predictions have {new[0]!r}, and the classes of the truth are numbers, {_few(truth)}."
        )
    return np.unique(
        [*truth.tolist(), *map(str, new)] if truth.dtype.kind in "OUS" else [*truth.tolist(), *new]
    )


def _check_no_probabilities(y: NDArray[Any], predictions: list[Any]) -> None:
    """Raise a ValueError for fractions from 0 to 1 that are given as predictions of two values."""
    numbers = known_numbers(np.array(predictions, dtype=object))
    if numbers is None or len(np.unique(y)) != 2 or not (numbers % 1).any():
        return
    if numbers.min() >= 0 and numbers.max() <= 1:
        raise ValueError(
            "predictions are fractions between 0 and 1, and the truth has two values: pass the predicted classes, and "
            "these numbers as probabilities."
        )


def _in_order(
    by_class: dict[Any, str], labels: Any, columns: list[str]
) -> tuple[list[str], int | None]:
    """Columns in the order of the classes; for one of two classes the place of this class."""
    texts = {class_text(label): place for place, label in enumerate(labels.tolist())}
    if unknown := [label for label in by_class if class_text(label) not in texts]:
        raise ValueError(f"probabilities name the class {unknown[0]!r}: there are {_few(labels)}.")
    places = [texts[class_text(label)] for label in by_class]
    if len(places) == 1 and len(labels) == 2:
        return columns, places[0]
    if len(places) < len(labels):
        missing = [label for label, place in texts.items() if place not in places]
        raise ValueError(
            f"probabilities lack the class {missing[0]!r}: name the column of every class."
        )
    return [columns[i] for i in np.argsort(places)], None


def _meaning(model: GivenOutputs, table: Any, about: int | None) -> dict[str, Any]:
    """Parameters of the model that say what its columns of probabilities or scores hold."""
    outputs = model.outputs(table)
    codes, values = outputs[:, 0], outputs[:, 1:]
    if not model.columns:
        return {}
    n_classes, are_shares = len(model.classes_), bool(values.min() >= 0 and values.max() <= 1)
    if values.shape[1] == n_classes:
        if not are_shares:
            return {"meaning": SCORES}
        return {
            "meaning": PROBABILITIES,
            **(_bounds(codes, values[:, 1]) or {} if n_classes == 2 else {}),
        }
    if values.shape[1] != 1:
        raise ValueError(
            f"There are {values.shape[1]} columns of probabilities and {n_classes} classes, {_few(model.classes_)}: "
            "pass one column for each class, or a single one."
        )
    number = values[:, 0]
    spread = float(number.std()) or 1.0
    scale = None if are_shares else (float(number.mean()), spread)
    if n_classes == 2 and (about is not None or np.ptp(number) > 0):
        for place in (1, 0) if about is None else (about,):
            oriented = number if place == 1 else (1 - number if are_shares else -number)
            if (found := _bounds(codes, oriented, are_shares=are_shares)) is not None:
                if scale is not None and place == 0:
                    scale = (-scale[0], scale[1])
                return {"meaning": ONE_CLASS, "about": place, "scale": scale, **found}
        if about is not None or (are_shares and number.min() < 0.5):
            return {"meaning": ONE_CLASS, "about": 1 if about is None else about, "scale": scale}
    return {"meaning": SURENESS, "scale": scale}


def _bounds(codes: Floats, about: Floats, *, are_shares: bool = True) -> dict[str, Any] | None:
    """Values of a number about the second class between which the prediction changes; None if it does so twice."""
    first, second = about[codes == 0], about[codes == 1]
    least, most = (0.0, 1.0) if are_shares else (-np.inf, np.inf)
    low = float(first.max()) if len(first) else least
    high = float(second.min()) if len(second) else most
    if low > high + EQUAL:
        return None
    if are_shares and low <= 0.5 <= high + EQUAL:
        return {"bounds": (0.5, 0.5)}
    return {"bounds": (min(low, high), max(low, high))}
