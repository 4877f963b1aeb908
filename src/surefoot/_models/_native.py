"""Models of LightGBM, XGBoost, CatBoost and ONNX Runtime: as estimators, and as files of their own libraries.

None of these formats holds code. Their parsers are not made for files that mean harm, though: a child process reads
each file first, so that a crash of the parser ends the child alone.
"""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import type_of_target

from surefoot._parallel import free_memory
from surefoot._tables import column_names, is_frame, is_numeric, split_columns, take_rows
from surefoot._typing import Floats
from surefoot._words import listed

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

# Rows of a table whose outputs show what those of an ONNX graph are.
N_TRIED = 500

# Seconds, and bytes of memory at least, that the child has to read all files.
MOST_SECONDS, LEAST_MEMORY = 120, 4 << 30

# The child reads each file, has it described as a whole, and predicts some rows: many faults show only then.
TRIAL = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
import numpy as np

def rows(n):
    if n > 1_000_000:
        raise ValueError("too many columns")
    values = np.zeros((7, n))
    values[1:6] = np.array([[np.nan], [1e30], [-1e30], [1.0], [-1.0]])
    values[6] = np.arange(n)
    return values

def lightgbm(path):
    from lightgbm import Booster
    model = Booster(model_str=open(path, encoding="utf-8").read())
    n = model.num_feature()
    def features(node):
        if "split_feature" in node:
            yield node["split_feature"]
            yield from features(node["left_child"])
            yield from features(node["right_child"])
    for tree in model.dump_model()["tree_info"]:
        if not all(0 <= feature < n for feature in features(tree["tree_structure"])):
            raise ValueError("a split of an unknown column")
    model.predict(rows(n), num_threads=1)

def xgboost(path):
    from xgboost import Booster, DMatrix
    model = Booster({"nthread": 1}, model_file=bytearray(open(path, "rb").read()))
    model.get_dump()
    names, kinds = model.feature_names, model.feature_types
    values = rows(model.num_features())
    if kinds and "c" in kinds:
        values = np.where(np.array(kinds) == "c", np.array([[0.0], [np.nan]] * 4)[:7], values)
    model.predict(DMatrix(values, feature_names=names, feature_types=kinds, enable_categorical=True))

def catboost(path):
    from catboost import CatBoost
    model = CatBoost().load_model(blob=open(path, "rb").read())
    places = model.get_cat_feature_indices()
    values = rows(len(model.feature_names_)).astype(object)
    values[:, places] = "0"
    if not (model.get_text_feature_indices() or model.get_embedding_feature_indices()):
        model.predict(values, thread_count=1)

def onnxruntime(path):
    import onnxruntime
    onnxruntime.InferenceSession(open(path, "rb").read(), providers=["CPUExecutionProvider"])

for library, path in zip(sys.argv[2::2], sys.argv[3::2]):
    globals()[library](path)
"""


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
    state = {name: _plain(part) for name, part in model.__getstate__().items()}
    for name in ("_test_evals", "_prediction_values_change", "_loss_value_change"):
        state.pop(name, None)  # records of CatBoost's training
    return {name: CatBoostFile(part) if name == TREES else part for name, part in state.items()}


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
        command = [sys.executable, "-P", "-c", TRIAL, most, *places]
        try:
            tried = subprocess.run(  # noqa: S603 - this very Python, and a program that is written above
                command, cwd=folder, capture_output=True, timeout=MOST_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise Refusal(
                f"is not loaded: it was not read within {MOST_SECONDS} seconds"
            ) from error
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
    if library != "catboost":
        return NativeModel(read_native(library, content))
    return _catboost_estimator(imported(library).CatBoost().load_model(blob=content))


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
        self._session: Any = None

    @property
    def session(self) -> Any:
        """Session that runs the graph, made when it is needed for the first time."""
        if self._session is None:
            onnxruntime = imported("onnxruntime")
            self._session = onnxruntime.InferenceSession(
                self.content, providers=["CPUExecutionProvider"]
            )
        return self._session

    def __reduce__(self) -> Any:
        return OnnxGraph, (self.content,)

    def __call__(self, X: Any) -> list[Any]:
        """Outputs of the graph, in its order."""
        inputs = self.session.get_inputs()
        if len(inputs) == 1:
            tables = [X if not is_frame(X) else np.column_stack(_values_of(X))]
        else:
            by_name = dict(zip(column_names(X), split_columns(X), strict=True))
            tables = [np.asarray(by_name[part.name])[:, None] for part in inputs]
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


def _values_of(frame: Any) -> list[NDArray[Any]]:
    return [np.asarray(column) for column in split_columns(frame)]


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
    """Facts about a booster or a graph; a `Refusal` if surefoot cannot use its outputs."""
    kinds = {"lightgbm": _facts_of_lightgbm, "xgboost": _facts_of_xgboost}
    return kinds.get(library_of(booster), _facts_of_onnx)(booster)


def _facts_of_lightgbm(booster: Any) -> Facts:
    header = booster.model_to_string(num_iteration=1).partition("\nTree=")[0]
    known = dict(line.partition("=")[::2] for line in header.splitlines())
    objective = known.get("objective", "").partition(" ")[0]
    n_classes = 2 if objective == "binary" else 0
    if objective.startswith("multiclass"):
        n_classes = int(known["num_class"])
    _check_objective(objective, "lambdarank", "rank_xendcg")
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
    _check_objective(objective, "rank:")
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


def _check_objective(objective: str, *ranking: str) -> None:
    """Refuse a model that ranks rows, and one whose objective is a function that is not in the file."""
    if objective.startswith(ranking):
        raise Refusal("is a model that ranks rows: surefoot takes classifiers and regressors")
    if objective in ("", "custom", "none"):
        raise Refusal(
            "has an objective of its own, so that nothing is known of its outputs: in Python, pass assess a function "
            "that returns probabilities or predictions"
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
    n_classes = width if isinstance(width, int) and width > 1 else None
    has_classes = bool(n_classes) or len(outputs) > 1 or last.type.startswith("seq")
    return Facts(names or None, are_texts, [], n_classes, TASKS[1] if has_classes else "auto")


class NativeModel(BaseEstimator):
    """Fitted model around a booster or a graph, which is used as it is.

    Parameters
    ----------
    booster : Booster of LightGBM or XGBoost, or OnnxGraph
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
        tags.input_tags.allow_nan = True
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
        if not is_frame(X):
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
        places = [i for i, column in enumerate(columns) if flags[i] or not is_numeric(column)]
        if len(places) == len(facts.coded):
            self.categories_ = dict(zip(places, facts.coded, strict=True))
        self.is_categorical_ = np.isin(np.arange(len(names)), places)
        return self

    def outputs(self, X: Any) -> Any:
        """Outputs of the model as its library gives them: an array with one entry or one line for each row."""
        if isinstance(self.booster, OnnxGraph):
            return self.booster(X)[-1]
        if is_frame(X):
            X = self._with_categories(X)
        if library_of(self.booster) == "lightgbm":
            return self.booster.predict(X)
        return self.booster.inplace_predict(
            X, predict_type="margin" if self.are_scores_ else "value"
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
    """Regressor around a booster or a graph."""

    def predict(self, X: Any) -> Floats:
        """Predictions."""
        return np.asarray(self.outputs(X), dtype=np.float64).ravel()


class NativeClassifier(ClassifierMixin, NativeModel):
    """Classifier around a booster or a graph.

    Parameters
    ----------
    booster : Booster of LightGBM or XGBoost, or OnnxGraph
        The model.
    classes : array-like of shape (n_classes,)
        Classes, in the order of the outputs.
    """

    def __init__(self, booster: Any, classes: Any) -> None:
        super().__init__(booster)
        self.classes = classes
        self.classes_ = np.asarray(classes)

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities."""
        output = self.outputs(X)
        if isinstance(output, list):  # a dict for each row, of ONNX
            output = [[row[label] for label in self.classes_.tolist()] for row in output]
        values = np.asarray(output, dtype=np.float64)
        if values.ndim == 2 and values.shape[1] > 1:
            return np.asarray(softmax(values, axis=1)) if self.are_scores_ else values
        second = expit(values.ravel()) if self.are_scores_ else values.ravel()
        return np.column_stack([1 - second, second])

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def spelled(name: Any) -> str:
    """Name of a column as LightGBM keeps it."""
    return str(name).replace(" ", "_")


def native_estimator(model: Any, X: Any, y: Any, task: str = "auto") -> Any:
    """Estimator around a booster, a graph or a plain `CatBoost`, for rows with their targets; None for other models.

    Classes are those that the model names, or the sorted labels. A graph with one output may be of either task.
    """
    if estimator_name(model) == ("catboost", "CatBoost"):
        return _catboost_estimator(model)
    if isinstance(model, NativeModel):
        model = model.booster
    if not is_native(model):
        return None
    n_classes, labels = facts_of(model).n_classes, np.unique(np.asarray(y))
    are_scores = False
    if isinstance(model, OnnxGraph):
        output = model(take_rows(X, slice(0, N_TRIED)))[-1]
        if isinstance(output, list) and output and isinstance(output[0], dict):
            n_classes, labels = len(output[0]), np.array(list(output[0]))
        else:
            values = np.asarray(output, dtype=np.float64)
            width = 1 if values.ndim == 1 else values.shape[1]
            is_regressor = task == "regression" or type_of_target(y) != "binary"
            n_classes = width if width > 1 else 0 if is_regressor else 2
            are_scores = not ((values >= 0) & (values <= 1)).all()
    if not n_classes:
        return NativeRegressor(model).take_columns(X)
    if n_classes != len(labels):
        raise ValueError(
            f"The model has {n_classes} classes and no names for them, and y has {len(labels)}: they must match."
        )
    classifier = NativeClassifier(model, labels).take_columns(X)
    classifier.are_scores_ = classifier.are_scores_ or are_scores
    return classifier


def _catboost_estimator(model: Any) -> Any:
    """Classifier or regressor of CatBoost with the trees of a plain model."""
    catboost = imported("catboost")
    loss = str(model.get_all_params().get("loss_function", ""))
    if loss.startswith(("Group", "Lambda", "Pair", "Query", "Stochastic", "YetiRank")):
        raise Refusal("is a model that ranks rows: surefoot takes classifiers and regressors")
    kind = catboost.CatBoostClassifier if len(model.classes_) else catboost.CatBoostRegressor
    estimator = kind(**model.get_params()).load_model(blob=estimator_state(model)[TREES])
    names = model.feature_names_
    if names != [str(i) for i in range(len(names))]:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return estimator
