"""Models of LightGBM, XGBoost, CatBoost and ONNX Runtime: as estimators, and as files of their own libraries.

None of these formats holds code. Their parsers are not made for files that mean harm, though: a child process reads
each file first, so that a crash of the parser ends the child alone.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import type_of_target

from surefoot._models import _trial
from surefoot._models._given import class_text
from surefoot._parallel import free_memory
from surefoot._tables import column_names, is_frame, kind_of, split_columns
from surefoot._typing import Floats, Ints
from surefoot._words import listed, percent, plural

# Estimators of these libraries that a model file may hold.
ESTIMATORS = {
    "lightgbm": ("LGBMClassifier", "LGBMRegressor"),
    "xgboost": ("XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor"),
    "catboost": ("CatBoost", "CatBoostClassifier", "CatBoostRegressor"),
}
# Endings of files, those that MLflow gives them among them, and the library that reads them.
ENDINGS = {
    **dict.fromkeys((".txt", ".lgb"), "lightgbm"),
    **dict.fromkeys((".json", ".ubj", ".xgb"), "xgboost"),
    **dict.fromkeys((".cbm", ".cb"), "catboost"),
    ".onnx": "onnxruntime",
}
TITLES = {
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "catboost": "CatBoost",
    "onnxruntime": "ONNX Runtime",
}

# How an ONNX file names a file with its numbers: a pair of the key "location" and its value.
EXTERNAL = re.compile(rb"\x0a(\x08|\x88\x80*\x00)location\x12")

TASKS = ("regression", "classification")

# Where the state of CatBoost's estimators has the contents of their file.
TREES = "__model"

# Attribute of a booster of XGBoost that came from a file: its rounds up to the best one, which alone predict, as in
# XGBClassifier and XGBRegressor. A booster that is passed in Python predicts with all, as its own `predict` does.
ROUNDS = "surefoot_rounds"

# How much the probabilities of a row may differ from a sum of 1 by rounding, and a probability from another one.
SUM_ERROR, ROUNDING = 1e-3, 1e-6

# Most numbers of an ONNX graph for each row whose meaning the target decides, as of the whole numbers of a target.
FEW_OUTPUTS = 10

# How the user names the classes of a model, in Python and in commands.
OPTION = "classes= (--classes)"

# Sum of differences between two orders of the classes, in roots of their sum of squares, above which one fits clearly
# better: if both fit alike and differences are symmetric, it is exceeded with a probability below 0.001.
CLEARLY = np.sqrt(2 * np.log(1000))

# Starts of the names of objectives whose outputs surefoot cannot use, and why.
UNUSABLE = {
    **dict.fromkeys(
        ("lambdarank", "rank", "Group", "Lambda", "Pair", "Query", "Stochastic", "YetiRank"),
        "is a model that ranks rows",
    ),
    **dict.fromkeys(
        ("MultiCross", "MultiLogloss", "MultiQuantile", "MultiRMSE", "RMSEWithUncertainty"),
        "predicts several numbers or labels of each row",
    ),
    **dict.fromkeys(
        ("survival:cox", "Cox", "SurvivalAft", "cross_entropy_lambda"),
        "has outputs that are not on the scale of the target",
    ),
    **dict.fromkeys(
        ("MultiClassOneVsAll", "multiclassova"),
        "gives each class a probability of its own, which do not sum to 1",
    ),
}

# Seconds, and bytes of memory at least, that the child has to read all files.
MOST_SECONDS, LEAST_MEMORY = 120, 4 << 30


class Refusal(Exception):  # noqa: N818 - a reason, and no fault of ours
    """Reason why a file is not loaded: a sentence without its subject, which is the file, and its full stop."""


def library_of(model: Any) -> str:
    """Name of the package that has the type of a model."""
    return type(model).__module__.partition(".")[0]


def estimator_name(model: Any) -> tuple[str, str] | None:
    """Library and name of an estimator of these libraries; None for anything else."""
    library, name = library_of(model), type(model).__name__
    return (library, name) if name in ESTIMATORS.get(library, ()) else None


def estimator_type(library: str, name: str) -> Any:
    """Type of an estimator of these libraries, by the names that `estimator_name` gives."""
    if name not in ESTIMATORS.get(library, ()):
        raise ValueError(f"There is no estimator {name} of {library}.")
    return getattr(imported(library), name)


def imported(library: str) -> Any:
    """The library; one sentence if it is not installed."""
    try:
        return import_module(library)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        raise Refusal(
            f"is read by {TITLES[library]}, which is not installed: pip install {library}"
        ) from error


def is_native(model: Any) -> bool:
    """Whether this is a graph, or a `Booster` of LightGBM or XGBoost."""
    is_booster = type(model).__name__ == "Booster" and library_of(model) in ESTIMATORS
    return is_booster or isinstance(model, OnnxGraph)


def native_file(model: Any) -> tuple[str, bytes] | None:
    """Library and contents of the file of a booster or graph; None for anything else."""
    library = library_of(model)
    if isinstance(model, CatBoostFile):
        return "catboost", bytes(model)
    if not is_native(model):
        return None
    if library == "lightgbm":
        return library, model.model_to_string().encode()
    if library == "xgboost":
        return library, bytes(model.save_raw("ubj"))
    return "onnxruntime", model.content


class CatBoostFile(bytes):
    """Contents of a file of CatBoost, which has its trees in the state of its estimators."""


def estimator_state(model: Any) -> dict[str, Any]:
    """Attributes of an estimator of these libraries, with plain dicts; of CatBoost the parameters and its file."""
    records = ("_test_evals", "_prediction_values_change", "_loss_value_change")  # of training
    state = {name: part for name, part in model.__getstate__().items() if name not in records}
    return {
        name: CatBoostFile(part) if name == TREES else _plain(part) for name, part in state.items()
    }


def _plain(value: Any) -> Any:
    """Dicts of other types, as the records of training are, as plain dicts."""
    return {key: _plain(part) for key, part in value.items()} if isinstance(value, dict) else value


def try_files(files: Sequence[tuple[str, bytes]]) -> None:
    """Have a child process read the files, each of a library; raises one sentence if it fails, or never ends."""
    for library in sorted({library for library, _ in files}):
        imported(library)
    with TemporaryDirectory() as folder:
        places = []
        for number, (library, content) in enumerate(files):
            path = Path(folder) / f"{number}"
            path.write_bytes(content)
            places += [library, str(path)]
        most = str(max(LEAST_MEMORY, free_memory()))
        command = [sys.executable, "-P", _trial.__file__, most, *places]
        try:
            tried = subprocess.run(  # noqa: S603 - this very Python, and a program of this package
                command, cwd=folder, capture_output=True, timeout=MOST_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise Refusal(
                f"is not loaded: it was not read and did not predict a few rows within {MOST_SECONDS} seconds"
            ) from error
    if tried.returncode == _trial.NO_LIBRARY:
        why = tried.stderr.decode(errors="replace").splitlines()[-1]
        raise Refusal(
            f"is not loaded: a process of its own, which reads it first, cannot import {why.rstrip('.')}"
        )
    if tried.returncode:
        titles = " or ".join(sorted({TITLES[library] for library, _ in files}))
        raise Refusal(f"is not loaded: {titles} cannot read it, so it is damaged, or no such file")


def model_of_file(library: str, content: bytes) -> Any:
    """Model in the contents of a file of one of the libraries, which a child process reads first."""
    if library == "onnxruntime" and EXTERNAL.search(content):
        raise Refusal(
            "is not loaded: its numbers are in another file, which surefoot does not open"
        )
    try_files([(library, content)])
    if library == "catboost":
        return _catboost_estimator(imported(library).CatBoost().load_model(blob=content))
    model = read_native(library, content)
    if library == "xgboost" and model.attr("best_iteration"):
        model.set_attr(**{ROUNDS: str(model.best_iteration + 1)})
    return NativeModel(model)


def read_native(library: str, content: bytes) -> Any:
    """Booster or graph from its file, which `try_files` has tried; of CatBoost the contents themselves."""
    if library == "lightgbm":
        return imported(library).Booster(model_str=content.decode())
    if library == "xgboost":
        return imported(library).Booster(model_file=bytearray(content))
    if library == "onnxruntime":
        return OnnxGraph(content)
    return content


class OnnxGraph:
    """Graph of an ONNX file, which is run by ONNX Runtime.

    Parameters
    ----------
    content : bytes
        Contents of the file.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content

    @cached_property
    def session(self) -> Any:
        """Session that runs the graph, made when it is needed for the first time."""
        return imported("onnxruntime").InferenceSession(
            self.content, providers=["CPUExecutionProvider"]
        )

    def __reduce__(self) -> Any:
        return OnnxGraph, (self.content,)

    def __call__(self, X: Any) -> list[Any]:
        """Outputs of the graph, in its order, for columns in the order of its inputs."""
        inputs = self.session.get_inputs()
        columns = [np.asarray(column)[:, None] for column in split_columns(X)]
        tables = columns if len(inputs) > 1 else [np.hstack(columns)]
        feed = {
            part.name: np.ascontiguousarray(np.asarray(values).astype(ONNX_TYPES[part.type]))
            for part, values in zip(inputs, tables, strict=True)
        }
        return list(self.session.run(None, feed))


# Types of ONNX's inputs, and of arrays that they are made of.
ONNX_TYPES: dict[str, Any] = {
    "tensor(double)": np.float64,
    "tensor(float)": np.float32,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
    "tensor(bool)": np.bool_,
    "tensor(string)": object,
}


class Facts(NamedTuple):
    """Columns and outputs of a model, as far as its file tells them.

    Attributes
    ----------
    names : list of str or None
        Names of the columns; None if it was trained on an array.
    flags : list of bool
        Whether each column is categorical.
    coded : list of list
        Categories of the categorical columns, in their order; empty if there are none, or they are unknown.
    n_classes : int or None
        Number of classes; 0 for a regressor, None if only the outputs of rows can tell.
    task : str
        "classification" or "regression"; "auto" if the targets have to decide.
    are_scores : bool
        Whether the outputs to ask for are log-odds.
    """

    names: list[str] | None
    flags: list[bool]
    coded: list[Any]
    n_classes: int | None
    task: str
    are_scores: bool = False


def facts_of(booster: Any) -> Facts:
    """Facts about a booster, a graph or a function; a `Refusal` if surefoot cannot use its outputs."""
    if not is_native(booster):
        return Facts(None, [], [], None, "auto")
    kinds = {"lightgbm": _facts_of_lightgbm, "xgboost": _facts_of_xgboost}
    return kinds.get(library_of(booster), _facts_of_onnx)(booster)


def _facts_of_lightgbm(booster: Any) -> Facts:
    header = booster.model_to_string(num_iteration=1).partition("\nTree=")[0]
    known = dict(line.partition("=")[::2] for line in header.splitlines())
    objective = known.get("objective", "").partition(" ")[0]
    n_classes = 2 if objective == "binary" else 0
    if objective.startswith("multiclass"):
        n_classes = int(known["num_class"])
    _check_objective(objective)
    names = booster.feature_name()
    is_named = names != [f"Column_{i}" for i in range(len(names))]
    infos = known["feature_infos"].split(" ")
    flags = [":" in info and not info.startswith("[") for info in infos]
    coded = booster.pandas_categorical or []
    return Facts(names if is_named else None, flags, coded, n_classes, TASKS[n_classes > 0])


def _facts_of_xgboost(booster: Any) -> Facts:
    settings = json.loads(booster.save_config())["learner"]
    objective = settings["objective"]["name"]
    n_classes = 2 if objective.startswith("binary:") else 0
    if objective.startswith("multi:"):
        n_classes = int(settings["learner_model_param"]["num_class"])
    _check_objective(objective, int(settings["learner_model_param"]["num_target"]))
    if settings["gradient_booster"]["name"] == "gblinear":
        raise Refusal("is a linear model of XGBoost, which cannot predict rows in place")
    kinds = booster.feature_types or ["float"] * booster.num_features()
    coded = []
    if "c" in kinds:
        exported = booster.get_categories(export_to_arrow=True).to_arrow()
        coded = [values.to_pylist() for _, values in exported if values is not None]
    are_scores = objective in ("binary:logitraw", "multi:softmax")
    flags = [kind == "c" for kind in kinds]
    return Facts(booster.feature_names, flags, coded, n_classes, TASKS[n_classes > 0], are_scores)


def _check_objective(objective: str, n_targets: int = 1) -> None:
    """Refuse a model by its objective: its outputs must be a number, or the probabilities of one class, of each row."""
    if objective in ("", "custom", "none") or objective.startswith("PythonUserDefined"):
        raise Refusal(
            "has an objective of its own, so that nothing is known of its outputs: in Python, pass assess a function "
            "that returns probabilities or predictions"
        )
    starts = [start for start in UNUSABLE if objective.startswith(start)]
    if starts or n_targets > 1:
        why = UNUSABLE[starts[0] if starts else "MultiRMSE"]
        raise Refusal(
            f"{why} (objective {objective}): surefoot takes classifiers and regressors of one target"
        )


def _facts_of_onnx(graph: OnnxGraph) -> Facts:
    inputs, outputs = graph.session.get_inputs(), graph.session.get_outputs()
    if strange := [part.type for part in inputs if part.type not in ONNX_TYPES]:
        raise Refusal(f"takes a {strange[0]}: surefoot gives numbers and texts")
    are_texts = [part.type == "tensor(string)" for part in inputs]
    names = [part.name for part in inputs]
    if len(inputs) == 1:
        width = inputs[0].shape[-1] if inputs[0].shape else None
        names, are_texts = [], are_texts * (width if isinstance(width, int) else 0)
    last = outputs[-1]
    width = last.shape[-1] if last.type.startswith("tensor") and len(last.shape) > 1 else None
    # Up to so many numbers for each row may also be those of a regressor with several targets, which is then refused.
    has_many = isinstance(width, int) and width > FEW_OUTPUTS
    has_labels = len(outputs) > 1 and not outputs[0].type.startswith(
        ("tensor(float", "tensor(double")
    )
    has_classes = has_many or has_labels or last.type.startswith("seq")
    return Facts(names or None, are_texts, [], None, TASKS[1] if has_classes else "auto")


def has_names(model: Any) -> bool:
    """Whether a fitted model knows its columns by name; without names CatBoost numbers them."""
    if is_native(model):
        return facts_of(model).names is not None
    names = getattr(model, "feature_names_in_", getattr(model, "feature_names_", None))
    return names is not None and list(names) != [str(place) for place in range(len(names))]


def by_position(names: Sequence[Any]) -> str:
    """Sentence on the columns of a table for a model that has no names of its own."""
    first = listed(names[:3])
    return f"The model has no names of its columns: they are taken by position, beginning with {first}."


class NativeModel(BaseEstimator):
    """Fitted model around a booster, a graph or a function, which is used as it is.

    Parameters
    ----------
    booster : Booster of LightGBM or XGBoost, OnnxGraph or callable
        The model.
    """

    def __init__(self, booster: Any) -> None:
        self.booster = booster
        facts = facts_of(booster)
        if facts.names:
            self.feature_names_in_ = np.array(facts.names, dtype=object)
        if facts.flags:
            self.n_features_in_ = len(facts.flags)
        self.is_categorical_ = np.array(facts.flags, dtype=bool)
        self.categories_: dict[int, list[Any]] = {}
        self.are_scores_ = facts.are_scores
        self.task_ = facts.task

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = is_native(self.booster)
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing, as the model is trained already."""
        return self

    @property
    def input_form_(self) -> dict[str, Any] | None:
        """Form in which a table is read from a file: columns whose categories are texts hold texts."""
        facts = facts_of(self.booster)
        places = np.flatnonzero(facts.flags)
        known = zip(places, facts.coded, strict=True) if len(places) == len(facts.coded) else ()
        texts = [place for place, values in known if all(isinstance(v, str) for v in values)]
        kinds = {facts.names[place]: "O" for place in texts} if facts.names else {}
        return {"library": "pandas", "kinds": kinds, "categories": {}} if kinds else None

    def spell_like(self, names: Sequence[Any]) -> None:
        """Take the names of a table's columns for those in the file, in which LightGBM has no spaces."""
        if hasattr(self, "feature_names_in_"):
            by_spelling = {spelled(name): name for name in names}
            own = [by_spelling.get(spelled(name), name) for name in self.feature_names_in_]
            self.feature_names_in_ = np.array(own, dtype=object)

    def take_columns(self, X: Any) -> Self:
        """Take the names of the columns of a frame, and find those whose categories the model knows."""
        if not is_frame(type(X)):
            return self
        facts, names, columns = facts_of(self.booster), column_names(X), split_columns(X)
        spelling = [spelled(name) for name in names]
        if facts.names is not None and spelling != [spelled(name) for name in facts.names]:
            raise ValueError(
                f"The model was trained on the columns {listed(facts.names)}, and X has {listed(names)}."
            )
        self.feature_names_in_ = np.array(names, dtype=object)
        flags = facts.flags or [False] * len(names)
        # A categorical column of LightGBM that no tree uses looks like any other in its file.
        places = [
            i for i, column in enumerate(columns) if flags[i] or kind_of(column) not in "biuf"
        ]
        if len(places) == len(facts.coded):
            self.categories_ = dict(zip(places, facts.coded, strict=True))
        self.is_categorical_ = np.isin(np.arange(len(names)), places)
        return self

    def outputs(self, X: Any) -> Any:
        """Outputs of the model as its library gives them: an array with one entry or one line for each row."""
        if callable(self.booster):
            return _numbers(_outputs_of(self.booster, X))
        if is_frame(type(X)):
            X = self._with_categories(X)
        if library_of(self.booster) == "lightgbm":
            return self.booster.predict(X)
        return self.booster.inplace_predict(
            X,
            iteration_range=(0, int(self.booster.attr(ROUNDS) or 0)),
            predict_type="margin" if self.are_scores_ else "value",
        )

    def _with_categories(self, X: Any) -> Any:
        """Pandas frame with the model's categories where a column holds other values, such as texts."""
        if not hasattr(X, "iloc"):
            X = nw.from_native(X, eager_only=True).to_pandas()
        pandas, frame = import_module("pandas"), X.copy(deep=False)
        for place, values in self.categories_.items():
            if not hasattr(frame.iloc[:, place], "cat"):
                frame.isetitem(place, pandas.Categorical(frame.iloc[:, place], categories=values))
        return frame


class NativeRegressor(RegressorMixin, NativeModel):
    """Regressor around a booster, a graph or a function."""

    def predict(self, X: Any) -> Floats:
        """Predictions."""
        return np.asarray(self.outputs(X), dtype=np.float64).ravel()


class NativeClassifier(ClassifierMixin, NativeModel):
    """Classifier around a booster, a graph or a function.

    Parameters
    ----------
    booster : Booster of LightGBM or XGBoost, OnnxGraph or callable
        The model.
    classes : array-like of shape (n_classes,)
        Classes, in the order of the outputs.
    """

    def __init__(self, booster: Any, classes: Any) -> None:
        super().__init__(booster)
        self.classes = classes
        self.classes_, self.order_ = np.unique(classes, return_index=True)

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, in the order of the sorted classes."""
        return _probabilities(self.outputs(X), are_scores=self.are_scores_)[:, self.order_]

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class GraphClassifier(NativeClassifier):
    """Classifier around a graph that gives a class for each row, which need not be the most probable one.

    Parameters
    ----------
    booster : OnnxGraph
        The model.
    classes : array-like of shape (n_classes,)
        Classes, in the order of the probabilities.
    names : list of str
        The graph's own names of these classes.
    """

    def __init__(self, booster: Any, classes: Any, names: list[str]) -> None:
        super().__init__(booster, classes)
        self.names = names

    def predict(self, X: Any) -> NDArray[Any]:
        """Class that the graph gives for each row."""
        places = {name: place for place, name in enumerate(self.names)}
        texts = _texts(self.booster(X)[0])
        return np.asarray(self.classes)[[places[text] for text in texts]]


def _outputs_of(model: Any, X: Any) -> list[Any]:
    """Outputs of a graph, or the one of a function."""
    return list(model(X)) if isinstance(model, OnnxGraph) else [model(X)]


def _numbers(outputs: list[Any]) -> Floats:
    """Numbers in the last output, which may be a map from classes to numbers for each row."""
    last = outputs[-1]
    if isinstance(last, list):
        last = [[*row.values()] if isinstance(row, dict) else row for row in last]
    return np.asarray(last, dtype=np.float64)


def _texts(labels: Any) -> list[str]:
    return [class_text(label) for label in np.ravel(labels).tolist()]


def _probabilities(output: Any, *, are_scores: bool) -> Floats:
    """Probabilities, a column for each class, of outputs that may be log-odds or those of the second class alone."""
    values = np.asarray(output, dtype=np.float64)
    if values.ndim == 2 and values.shape[1] > 1:
        return np.asarray(softmax(values, axis=1)) if are_scores else values
    second = expit(values.ravel()) if are_scores else values.ravel()
    return np.column_stack([1 - second, second])


def spelled(name: Any) -> str:
    """Name of a column as LightGBM keeps it."""
    return str(name).replace(" ", "_")


def native_estimator(model: Any, X: Any, y: Any, task: str = "auto", classes: Any = None) -> Any:
    """Estimator around a booster, graph, function or plain `CatBoost`, for rows with targets; None for estimators.

    Classes that the model does not name are those of `_classes_in_order`. A function or a graph with one output may
    be of either task.
    """
    if estimator_name(model) == ("catboost", "CatBoost"):
        return _catboost_estimator(model)
    if isinstance(model, NativeModel):
        model = model.booster
    is_function = callable(model) and not (hasattr(model, "predict") or isinstance(model, type))
    if is_function or isinstance(model, OnnxGraph):
        return _called_estimator(model, X, y, task, classes)
    if not is_native(model):
        return None
    if not (n_classes := facts_of(model).n_classes):
        return NativeRegressor(model).take_columns(X)
    probabilities = NativeClassifier(model, np.arange(n_classes)).take_columns(X).predict_proba(X)
    return NativeClassifier(model, _classes_in_order(probabilities, y, classes)).take_columns(X)


def _called_estimator(model: Any, X: Any, y: Any, task: str, classes: Any) -> Any:
    """Estimator around a graph or a function, whose outputs for the rows show what they are."""
    NativeModel(model).take_columns(X)  # raises if these are others
    outputs = _outputs_of(model, X)
    if not isinstance(model, OnnxGraph) and np.asarray(outputs[0]).dtype.kind not in "fiub":
        raise TypeError("model returns labels: a callable may return probabilities or numbers.")
    if np.ndim(outputs[0]) > 1 and np.shape(outputs[0])[1] > 1 and len(outputs) > 1:
        raise Refusal("gives several labels for each row: surefoot takes classifiers of one")
    values, target = _numbers(outputs), type_of_target(y)
    width = values.shape[1] if values.ndim == 2 else 1
    has_labels = len(outputs) > 1 and np.asarray(outputs[0]).dtype.kind != "f"
    # One column cannot describe three classes.
    may_be_numbers = target != "binary" if width == 1 else target.startswith("continuous")
    is_named = has_labels or classes is not None or isinstance(outputs[-1], list)
    if not is_named and (task == "regression" or may_be_numbers):
        if len(outputs) > 1 or width > 1:
            raise Refusal("gives several numbers for each row: surefoot takes one prediction")
        return NativeRegressor(model).take_columns(X)
    are_scores = bool(((values < -ROUNDING) | (values > 1 + ROUNDING)).any())
    probabilities = _probabilities(values, are_scores=are_scores)
    if (np.abs(probabilities.sum(axis=1) - 1) > SUM_ERROR).any():
        raise Refusal(
            "gives numbers that do not sum to 1 in each row: they are no probabilities of one class"
        )
    labels = _texts(outputs[0]) if has_labels else []
    names = None
    if labels or isinstance(outputs[-1], list):
        names = _names(outputs, probabilities, y if classes is None else classes)
    ordered = _classes_in_order(probabilities, y, classes, names)
    classifier = NativeClassifier(model, ordered)
    if labels and names:
        classifier = GraphClassifier(model, ordered, names)
    classifier.are_scores_ = are_scores
    return classifier.take_columns(X)


def _names(outputs: list[Any], probabilities: Floats, classes: Any) -> list[str] | None:
    """Names of the classes in the order of the probabilities; None if the labels of the rows do not show them.

    They are the keys of the last output, if it is a map for each row. Otherwise the most frequent label of the rows in
    which a class is most probable is its name. Classes without such rows get the other names of `classes`, sorted, as
    converters do.
    """
    if isinstance(outputs[-1], list):
        return _texts([*outputs[-1][0]])
    top, labels = probabilities.argmax(axis=1), np.array(_texts(outputs[0]))
    names = {
        int(place): Counter(labels[top == place].tolist()).most_common(1)[0][0]
        for place in np.unique(top)
    }
    places = range(probabilities.shape[1])
    if all(name == str(place) for place, name in names.items()):
        return [*map(str, places)]
    are_numbers = np.asarray(outputs[0]).dtype.kind in "iu"
    others = sorted(
        {*labels.tolist(), *_texts(np.unique(np.asarray(classes)))} - {*names.values()},
        key=lambda name: (are_numbers and len(name), name),
    )
    names |= dict(zip([place for place in places if place not in names], others, strict=False))
    is_known = len(places) == len({*names.values()}) and {*labels.tolist()} <= {*names.values()}
    return [names[place] for place in places] if is_known else None


def _classes_in_order(
    probabilities: Floats, y: Any, classes: Any = None, names: Sequence[str] | None = None
) -> NDArray[Any]:
    """Classes of the columns of a model's probabilities, in the type of the targets.

    They are `classes`, as the user says; or the names that the model has; or whole numbers from 0, if the targets are
    such numbers. Otherwise they are the sorted targets, and a `Refusal` if another order fits these clearly better.
    """
    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    known = {class_text(label): label for label in labels.tolist()}
    n_classes = probabilities.shape[1]
    numbers = [str(number) for number in range(n_classes)]
    texts = _texts(classes if classes is not None else names or numbers)
    if len({*texts}) == len(texts) == n_classes and {*known} <= {*texts}:
        kind = labels.dtype if labels.dtype.kind in "iufO" else None
        return np.array([known.get(text, text) for text in texts], dtype=kind)
    if classes is not None or not {*texts} <= {*numbers}:
        raise Refusal(
            f"has {plural(n_classes, 'class')}, and the names {listed(texts)} do not fit: each class needs one, and y "
            f"has {listed(labels.tolist())}"
        )
    if len(labels) != n_classes:
        raise Refusal(
            f"has {n_classes} classes and no names for them, and y has {len(labels)}: name them in the order of its "
            f"outputs by {OPTION}"
        )
    if (best := _better_order(codes, probabilities)) is not None:
        top = probabilities.argmax(axis=1)
        raise Refusal(
            f"has no names for its classes: it is right on {percent((codes == top).mean())} of the rows if they are "
            f"{listed(labels.tolist())} in this order, and on {percent((best[codes] == top).mean())} if they are "
            f"{listed(labels[np.argsort(best)].tolist())}: name them in the order of its outputs by {OPTION}"
        )
    return labels


def _better_order(codes: Ints, probabilities: Floats) -> Ints | None:
    """Column of each class if another order of the classes fits clearly better than 0, 1, 2, ...; None otherwise.

    An order fits by the correlation of the columns with the classes, to which neither rare classes nor columns that are
    the same in every row contribute. Of calibrated probabilities no other order has a higher one. Half of the rows of
    each class chooses the order that is tested on the other half, so that the number of orders is of no matter.
    """
    spread = probabilities.std(axis=0)
    scaled = (probabilities - probabilities.mean(axis=0)) / np.where(
        spread > ROUNDING, spread, np.inf
    )
    halves, differences = np.empty_like(codes), np.zeros(len(codes))
    halves[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % 2
    for half in (0, 1):
        best = _best_order(codes[halves != half], scaled[halves != half])
        rows = np.flatnonzero(halves == half)
        differences[rows] = scaled[rows, best[codes[rows]]] - scaled[rows, codes[rows]]
    best, top = _best_order(codes, scaled), probabilities.argmax(axis=1)
    is_better = differences.sum() > CLEARLY * np.sqrt((differences**2).sum())
    return best if is_better and (best[codes] == top).sum() > (codes == top).sum() else None


def _best_order(codes: Ints, values: Floats) -> Ints:
    """Column of each class for which the sum over the rows is highest; its own, if others are not better."""
    sums = ROUNDING * np.eye(values.shape[1])
    np.add.at(sums, codes, values)
    return np.asarray(linear_sum_assignment(sums, maximize=True)[1])


def _catboost_estimator(model: Any) -> Any:
    """Classifier or regressor of CatBoost with the trees and the loss, which has a link, of a plain model."""
    catboost = imported("catboost")
    loss = str(model.get_all_params().get("loss_function", ""))
    _check_objective(loss)
    kind = catboost.CatBoostClassifier if len(model.classes_) else catboost.CatBoostRegressor
    estimator = kind(loss_function=loss).load_model(blob=estimator_state(model)[TREES])
    if has_names(model):
        estimator.feature_names_in_ = np.array(model.feature_names_, dtype=object)
    return estimator
