"""Model of a command: built from its name, or a file that the user or `surefoot fit` saved; its costs and limits."""

import csv
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from importlib import import_module
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.frozen import FrozenEstimator
from threadpoolctl import threadpool_limits

from surefoot._error_estimators import ErrorEstimator
from surefoot._models import (
    ENDINGS,
    NativeClassifier,
    NativeModel,
    Refusal,
    by_position,
    given_predictions,
    has_names,
    is_fitted,
    native_estimator,
    seeded_everywhere,
    vector_encoder,
)
from surefoot._tables import RowError, kinds_of, model_columns
from surefoot._validation import known_classes
from surefoot._words import listed, plural
from surefoot.abstention import Promise, promise_of
from surefoot.cli._console import MODELS, Mistake, one_sentence_of, remark, working
from surefoot.cli._rows import LARGEST, SMALLEST, Rows, remark_on_leaks
from surefoot.integrations.mlflow import load_estimator
from surefoot.model_files import IS_PICKLE, load

# What an address of MLflow follows.
MLFLOW = "mlflow:"
PICKLED = (".pkl", ".pickle", ".joblib")

# With fewer rows, the threads of gradient boosting spend more time waiting than working.
FEW_ROWS = 20_000


class GivenModel(NamedTuple):
    """Model of a skops file, None for the name of one; its task, and the form of its table, if known."""

    model: Any
    task: str
    form: dict[str, Any] | None
    is_fitted: bool
    outputs: tuple[str, ...] = ()
    classes: Sequence[str] | None = None

    def output_columns(self, columns: Iterable[str]) -> dict[str, str | None]:
        """Columns of the predictions that are judged, and of probabilities with the class that each is of, if named."""
        prediction, *probabilities = self.outputs or ("",)
        names: dict[str, str | None] = {prediction: None} if prediction else {}
        for text in probabilities:
            label, equals, column = text.partition("=")
            is_bare = text in columns or not equals
            name = text if is_bare else column
            if name in names:
                raise Mistake(f"Column {name!r} is named twice by --prediction and --probability.")
            names[name] = None if is_bare else label
        return names


def names_in(classes: str) -> list[str]:
    """Names of classes, from a text such as "A,B,C"."""
    try:
        return [name.strip() for name in next(csv.reader([classes]))]
    except csv.Error as error:
        raise Mistake(f"--classes {classes!r} is no list of names, such as A,B,C.") from error


def given_model(
    estimator: str,
    task: str,
    prediction: str | None = None,
    probability: Sequence[str] | None = None,
    classes: str | None = None,
) -> GivenModel:
    """Model that --estimator names, without an error estimator around it; or predictions in its place."""
    named = None if classes is None else names_in(classes)
    if prediction is not None:
        if estimator != "boosting":
            raise Mistake("--prediction judges predictions that were made: leave out --estimator.")
        if probability and task == "regression":
            raise Mistake("--probability is for classes: leave it out with --task regression.")
        chosen = "classification" if probability else task
        outputs = (prediction, *(probability or ()))
        return GivenModel(None, chosen, None, is_fitted=False, outputs=outputs, classes=named)
    if probability:
        raise Mistake("--probability needs --prediction COLUMN with the predictions themselves.")
    path = model_file(estimator)
    if estimator.startswith(MLFLOW):
        model = load_estimator(estimator.removeprefix(MLFLOW))
    elif path is None:
        check_name(estimator)
        return GivenModel(None, task, None, is_fitted=False, classes=named)
    else:
        model = load(path)
    form = getattr(model, "input_form_", None)
    if isinstance(model, ErrorEstimator):
        model = model.estimator_ if is_fitted(model) else model.estimator
    model_task = getattr(model, "task_", "classification" if is_classifier(model) else "regression")
    if not isinstance(model, NativeModel) and not (is_classifier(model) or is_regressor(model)):
        raise Mistake(
            f"{estimator} holds a {type(model).__name__}, which is neither a classifier nor a regressor."
        )
    if "auto" not in (task, model_task) and task != model_task:
        raise Mistake(f"{estimator} holds a model for {model_task}, not for {task}.")
    chosen = task if model_task == "auto" else model_task
    return GivenModel(model, chosen, form, is_fitted(model), classes=named)


def model_file(estimator: str) -> Path | None:
    """File or folder that --estimator names; None for the name of a model."""
    path = Path(estimator.removeprefix(MLFLOW))
    is_file = path.suffix.lower() in (".skops", *ENDINGS)
    return path if is_file or estimator.startswith(MLFLOW) else None


def check_name(name: str) -> None:
    """Raise one sentence unless there is a model of that name."""
    ending = Path(name).suffix.lower()
    if name in MODELS:
        return
    if ending in PICKLED:
        raise Mistake(f"{name} {IS_PICKLE}")
    raise Mistake(
        f"--estimator {name} is not known: pass {', '.join(MODELS)}, a file that ends in .skops, "
        f"{', '.join(ENDINGS)}, or mlflow: and the address of a model."
    )


def load_error_estimator(path: Path) -> ErrorEstimator:
    """A model that `surefoot fit` saved; one sentence for any other."""
    model = load(path)
    if not isinstance(model, ErrorEstimator):
        raise Mistake(f"{path} holds a {type(model).__name__}, not what `surefoot fit` saves.")
    if not is_fitted(model):
        raise Mistake(f"{path} holds a {type(model).__name__} that is not fitted.")
    return model


def model_for(rows: Rows, given: GivenModel, estimator: str, random_state: int) -> tuple[Rows, Any]:
    """Rows with the classes of their model, and the model: built by name, or given.

    A fitted one is frozen, and gets the columns that it knows.
    """
    is_classification, model = rows.task == "classification", given.model
    if given.outputs:
        rows, model = predictions_of(rows, given)
    elif model is None:
        is_single = is_classification and np.unique_counts(rows.y).counts.min() == 1
        model = build_model(estimator, rows.task, random_state, early_stopping=not is_single)
    elif given.is_fitted:
        if isinstance(model, NativeModel):
            model.spell_like(rows.X.columns)
        X = known_columns(model, rows.X, rows.name)
        if not has_names(model):
            remark(by_position(list(X.columns)))
        if isinstance(model, NativeModel):
            model = native_model(model, X, rows, estimator, given.classes)
        known = np.asarray(model.classes_).tolist() if is_classification else rows.y.tolist()
        if strange := sorted(set(rows.y.tolist()) - set(known), key=str):
            raise Mistake(
                f"{estimator} knows the classes {listed(known)}, but {rows.target!r} also has {listed(strange)}."
            )
        with one_sentence_of(f"{estimator} cannot predict the rows of {rows.name}"):
            model.predict(X.head(20))
        remark(
            f"{estimator} is already fitted and is not fitted again: the rows of {rows.name} must be new to it."
        )
        unlabelled = None if rows.unlabelled is None else rows.unlabelled[X.columns]
        rows, model = rows._replace(X=X, unlabelled=unlabelled), FrozenEstimator(model)
    if given.classes is not None and not isinstance(
        getattr(model, "estimator", None), NativeClassifier
    ):
        raise Mistake(
            "--classes is for a fitted model that has classes and no names for them: leave it out."
        )
    classes = known_classes(model, rows.y).tolist() if is_classification else []
    return rows._replace(classes=classes), model


def errors_of(given: GivenModel, estimator: str, name: str) -> Any:
    """Context in which an error becomes one sentence, if the model is the user's own: it may not fit the table."""
    if given.model is None:
        return nullcontext()
    return one_sentence_of(f"{estimator} cannot be used on {name}")


def predictions_of(rows: Rows, given: GivenModel) -> tuple[Rows, Any]:
    """Rows, and the predictions among their columns in place of a model; a `Mistake` if these cannot be judged."""
    from skrub import TableVectorizer, to_datetime

    (prediction, _), *others = given.output_columns(rows.X.columns).items()
    columns, labels = [name for name, _ in others], [label for _, label in others]
    named = any(label is not None for label in labels)
    if named and None in labels:
        raise Mistake("Name the class of every --probability, as CLASS=COLUMN, or of none.")
    inputs = rows.X.drop(columns=[prediction, *columns])
    kinds = dict(zip(inputs.columns, kinds_of(inputs), strict=True))
    words = inputs[[name for name, kind in kinds.items() if kind not in "biuf"]]
    has_times = any(to_datetime(words[name]).dtype.kind == "M" for name in words.columns)
    is_plain = words.empty or (vector_encoder(inputs) is not None and not has_times)
    try:
        model, _ = given_predictions(
            rows.X,
            rows.y,
            prediction,
            dict(zip(labels, columns, strict=True)) if named else columns or None,
            task=rows.task,
            encoder=None if is_plain else TableVectorizer(),
        )
    except RowError as error:
        raise Mistake(f"Row {rows.X.index[error.row]} of {rows.name} {error.fault}") from error
    except (TypeError, ValueError) as error:
        raise Mistake(str(error).splitlines()[0]) from error
    remark_on_leaks(model.inputs(rows.X), rows.y, rows.task)
    remark(f"{model.describe()} No row of {rows.name} may be one that their model was trained on.")
    if rows.task == "classification":
        never = np.setdiff1d(rows.y, model.predict(rows.X))
        if never.size:
            remark(
                f"No row is predicted as {listed(never.tolist())}: every row that is one is wrong."
            )
    return rows._replace(unlabelled=None), FrozenEstimator(model)


def native_model(
    model: NativeModel, X: Any, rows: Rows, estimator: str, classes: Sequence[str] | None
) -> Any:
    """Estimator around a booster or a graph; a remark says which classes its outputs are."""
    try:
        with one_sentence_of(f"{estimator} cannot predict the rows of {rows.name}"):
            model = native_estimator(model, X, rows.y, rows.task, classes)
    except Refusal as refusal:
        raise Mistake(f"{estimator} {refusal}.") from refusal
    if isinstance(model, NativeClassifier):
        in_order = listed(np.asarray(model.classes).tolist())
        remark(f"The outputs of {estimator} are taken for the classes {in_order}, in this order.")
    return model


def build_model(name: str, task: str, random_state: int, *, early_stopping: bool = True) -> Any:
    """Unfitted pipeline that accepts any table: numbers, texts, categories, dates, missing values.

    Boosting that stops early, as it does by default on large tables, cannot learn a class with one row.
    """
    from skrub import tabular_pipeline  # takes a second or more to import

    package, _, kind = MODELS[name][task == "regression"].rpartition(".")
    settings: dict[str, Any] = {"max_iter": 1000} if kind == "LogisticRegression" else {}
    if kind == "HistGradientBoostingClassifier" and not early_stopping:
        settings["early_stopping"] = False
    model = tabular_pipeline(getattr(import_module(package), kind)(**settings))
    return seeded_everywhere(model, random_state)


def known_columns(model: Any, table: Any, name: str) -> Any:
    """Columns that a fitted model knows, in its order; an error that names missing ones, a remark on others."""
    names = model_columns(model, list(table.columns), name)
    if extra := [column for column in table.columns if column not in set(names)]:
        remark(f"Left out {listed(extra)}: unknown to the model.")
    return table[names]


def load_with_promise(
    path: Path, max_risk: Sequence[str] | None, confidence: float
) -> tuple[ErrorEstimator, Promise]:
    """Error estimator of a file, and its promise for `max_risk`, else the saved one; a remark if none holds."""
    with working(f"Reading {path}"):
        error_estimator = load_error_estimator(path)
        held_out = error_estimator.held_out_
        classes = np.asarray(getattr(error_estimator, "classes_", [])).tolist()
        risk = limits_for(max_risk, held_out.unit.name, classes)
    promise = promise_of(error_estimator, risk, confidence)
    if not promise.kept:
        units = "row" if held_out.groups is None else "group"
        n_units = len(held_out) if held_out.groups is None else len(np.unique(held_out.groups))
        limits = promise.describe(held_out.unit)
        remark(
            f"No row is trusted: {plural(n_units, f'held-out {units}')} cannot promise {limits['short']} with a "
            f"confidence of {confidence:g}.{f' {promise.reason}' if promise.reason else ''}"
        )
    return error_estimator, promise


def threads_for(n_rows: int) -> Any:
    """Context that limits a fit on few rows to one thread: more threads are slower, above all on a busy machine."""
    return threadpool_limits(limits=1 if n_rows < FEW_ROWS else None, user_api="openmp")


# Limits and costs that options hold

# What a limit of the risk is in each unit of the loss, and what it must be below.
RISKS = {
    "share": ("a share of wrong answers: it must be above 0 and below 1", 1.0),
    "cost": ("a mean cost: it must be above 0", inf),
    "size": ("a mean error: it must be above 0", inf),
}


def limits_for(texts: Sequence[str] | None, unit: str, classes: Sequence[Any]) -> Any:
    """Largest permitted risk, or risks by class with None for all rows, from texts such as "0.05" and "yes=0.2".

    None without texts; a `Mistake` for a risk out of its range or of an unknown class.
    """
    risks: dict[Any, float] = {}
    what, most = RISKS[unit]
    for text in texts or ():
        name, is_of_class, number = text.rpartition("=")
        risk = read_number(number, "--max-risk", text, "0.05, or yes=0.2 for a class")
        if is_of_class and not classes:
            raise Mistake(
                f"--max-risk {name.strip()}={risk:g} names a class, and a number is predicted."
            )
        if not 0 < risk < most:
            raise Mistake(f"--max-risk {risk:g} is not {what}.")
        label = class_named(name.strip(), classes, "--max-risk") if is_of_class else None
        if label in risks:
            whose = "all rows" if label is None else f"{name.strip()!r}"
            raise Mistake(f"--max-risk limits the risk of {whose} twice: {text!r} is one too many.")
        risks[label] = risk
    return risks.get(None) if set(risks) <= {None} else risks


def cost_matrix(texts: Sequence[str] | None, classes: Sequence[Any]) -> Any:
    """Cost matrix, truth by prediction, from texts such as "yes->no=10"; other mistakes cost 1. None without costs."""
    if not texts:
        return None
    if not classes:
        raise Mistake(f"--cost {texts[0]} names classes, and a number is predicted.")
    names = [str(label) for label in classes]
    matrix, given = 1.0 - np.eye(len(names)), set()
    for text in texts:
        pair, _, number = text.rpartition("=")
        cost = read_number(number, "--cost", text, "yes->no=10: true class, predicted class, cost")
        truth, prediction = mistake_named(pair, text, names)
        if (truth, prediction) in given:
            raise Mistake(f"--cost {text} is given twice for the same mistake.")
        if truth == prediction:
            raise Mistake(f"--cost {text} is about a right answer, which costs nothing.")
        if not (cost == 0 or SMALLEST <= cost <= LARGEST):
            raise Mistake(
                f"--cost {text} must be 0 or a number from {SMALLEST:g} to {LARGEST:g}: the cost of a mistake."
            )
        given.add((truth, prediction))
        matrix[names.index(truth), names.index(prediction)] = cost
    if not matrix.any():
        raise Mistake("With these --cost no mistake costs anything: there is nothing to estimate.")
    return matrix


def mistake_named(pair: str, text: str, names: list[str]) -> tuple[str, str]:
    """Names of the true and of the predicted class in "yes->no"; an arrow may also be part of a name."""
    parts = pair.split("->")
    halves = [
        ("->".join(parts[:i]).strip(), "->".join(parts[i:]).strip()) for i in range(1, len(parts))
    ]
    if not halves:
        raise Mistake(
            f"--cost {text} has no arrow: write it as yes->no=10: true class, predicted class, cost."
        )
    truth, prediction = next((half for half in halves if set(half) <= set(names)), halves[0])
    return class_named(truth, names, "--cost"), class_named(prediction, names, "--cost")


def class_named(name: str, classes: Any, option: str) -> Any:
    """Class whose label reads like the name; a `Mistake` with all classes if there is none."""
    by_name = {str(label): label for label in classes}
    if name not in by_name:
        raise Mistake(f"{option} names the class {name!r}: there are {listed(by_name)}.")
    return by_name[name]


def read_number(number: str, option: str, text: str, example: str) -> float:
    """Number that an option holds; a `Mistake` with an example for anything else."""
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise Mistake(f"{option} {text} has no number: write it as {example}.")
    return value
