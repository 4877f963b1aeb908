"""Models on disk: skops in and out, so that loading runs no code of the file and opens no other file.

A booster is in the file as the file of its own library.

skops describes an object again wherever it meets it, and each word of a vocabulary by itself: 2.8 GB for a text model
of 1,000 rows. So a model is written as `Stored`: each object once, as JSON, and by skops what it alone can write
(types, large arrays, functions). A model that was saved with `skops.io.dump` is read too.
"""

import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator, MutableMapping
from copy import copy
from functools import cache, partial
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn import metrics
from sklearn.base import BaseEstimator
from skops.io import dumps, get_untrusted_types, loads
from skops.io.exceptions import UntrustedTypesFoundException

from surefoot._files import FileError, write_whole
from surefoot._models import (
    ENDINGS,
    TITLES,
    ModelInput,
    Refusal,
    estimator_name,
    estimator_state,
    estimator_type,
    is_native,
    model_of_file,
    native_file,
    read_native,
    try_files,
)
from surefoot._parallel import free_memory
from surefoot._tables import as_objects, is_frame, split_columns
from surefoot._words import listed, reason

__all__ = ["IS_PICKLE", "ModelFileError", "load", "model_content", "packages_of", "save"]

# What a model may hold besides what skops trusts (estimators of scikit-learn, arrays, containers): by the only way in
# which a file may store it, and by module. So no type of an object is called with what a file holds.
TRUSTED: dict[str, dict[str, tuple[str, ...]]] = {
    "DTypeNode": {"numpy": ("dtype",)},
    "DictNode": {"sklearn.utils._bunch": ("Bunch",)},
    "FunctionNode": {
        "numpy": ("mean",),
        "scipy._lib.array_api_compat.numpy._aliases": ("asarray",),
        "sklearn.cluster._kmeans": ("_kmeans_single_lloyd",),
        "sklearn.feature_selection._univariate_selection": ("f_classif", "f_regression"),
        "sklearn.utils.validation": ("check_array",),
        "skrub._dataframe._common": ("is_any_date", "is_categorical", "is_numeric"),
        "skrub._table_vectorizer": ("_created_by_predicate",),
        "skrub.selectors._selectors": ("_cardinality_below",),
    },
    "ObjectNode": {
        "scipy.interpolate._bsplines": ("BSpline", "_BSpline"),
        "sklearn._loss.link": (
            *("HalfLogitLink", "IdentityLink", "Interval", "LogLink", "LogitLink"),
            "MultinomialLogit",
        ),
        "sklearn._loss.loss": (
            *("AbsoluteError", "ExponentialLoss", "HalfBinomialLoss", "HalfGammaLoss"),
            *("HalfMultinomialLoss", "HalfPoissonLoss", "HalfSquaredError", "HalfTweedieLoss"),
            *("HalfTweedieLossIdentity", "HuberLoss", "PinballLoss"),
        ),
        "sklearn.calibration": ("_CalibratedClassifier", "_SigmoidCalibration"),
        "sklearn.cluster._bisect_k_means": ("_BisectingTree",),
        "sklearn.compose._column_transformer": ("make_column_selector",),
        "sklearn.ensemble._hist_gradient_boosting.binning": ("_BinMapper",),
        "sklearn.ensemble._hist_gradient_boosting.predictor": ("TreePredictor",),
        "sklearn.gaussian_process._gpc": ("_BinaryGaussianProcessClassifierLaplace",),
        "sklearn.gaussian_process.kernels": (
            *("ConstantKernel", "DotProduct", "Matern", "Product", "RBF", "Sum", "WhiteKernel"),
        ),
        "sklearn.metrics._dist_metrics": ("EuclideanDistance64",),
        "sklearn.metrics._scorer": ("_CurveScorer", "_PassthroughScorer", "_Scorer"),
        "sklearn.model_selection._search_successive_halving": (
            *("HalvingGridSearchCV", "HalvingRandomSearchCV"),
        ),
        "sklearn.model_selection._split": ("KFold", "StratifiedKFold"),
        "sklearn.multiclass": ("_ConstantPredictor",),
        "sklearn.neighbors._kd_tree": ("KDTree",),
        "sklearn.neural_network._stochastic_optimizers": ("AdamOptimizer", "SGDOptimizer"),
        "sklearn.utils._metadata_requests": ("MetadataRequest", "MethodMetadataRequest"),
        "skrub._apply_to_each_col": ("ApplyToEachCol",),
        "skrub._check_input": ("CheckInputDataFrame",),
        "skrub._clean_categories": ("CleanCategories",),
        "skrub._clean_null_strings": ("CleanNullStrings",),
        "skrub._datetime_encoder": ("DatetimeEncoder", "_SplineEncoder"),
        "skrub._drop_uninformative": ("DropUninformative",),
        "skrub._duration_to_float": ("DurationToFloat",),
        "skrub._squashing_scaler": ("SquashingScaler", "_MinMaxScaler"),
        "skrub._string_encoder": ("StringEncoder",),
        "skrub._table_vectorizer": ("PassThrough", "ShortReprDict", "TableVectorizer"),
        "skrub._to_categorical": ("ToCategorical",),
        "skrub._to_datetime": ("ToDatetime",),
        "skrub._to_float": ("ToFloat",),
        "skrub._to_str": ("ToStr",),
        "skrub.selectors._base": ("All", "And", "Cols", "Filter", "Sub"),
        "surefoot._crossfit": ("Panel",),
        "surefoot._logistic": ("LogOddsLine",),
        "surefoot._models": (
            *("GivenOutputs", "GraphClassifier", "MixedInput", "MixedVectorizer", "ModelInput"),
            *(
                "NativeClassifier",
                "NativeRegressor",
                "NumericInput",
                "FittedModel",
                "VectorEncoder",
            ),
            "VotingTrees",
        ),
        "surefoot._tables": ("MissingInputs", "PlainColumn"),
        "surefoot.abstention": ("Promise",),
        "surefoot.error_estimation": (
            *("CalibratedLearner", "ErrorPrior", "ErrorSize", "HeldOut", "InputSample"),
            *("IndividualErrorClassifier", "IndividualErrorRegressor", "NeighborConfidence"),
            *("NormalScores", "PretrainedLogisticRegression", "ResidualLine", "Row"),
            *("ShrunkLogisticRegression", "ShrunkSize", "SizePrior"),
        ),
        "surefoot.indicators": (
            *(
                "BoostedTrees",
                "BoostedTreesRegressor",
                "Confidence",
                "GaussianClasses",
                "KernelRegressor",
                "LocalSensitivity",
            ),
            *(
                "NeighborDisagreement",
                "NeighborDistance",
                "NeighborError",
                "ResamplingSpread",
                "SecondOpinion",
            ),
            *("TrustScore", "VoteDisagreement"),
        ),
        "surefoot.neighborhoods": (
            *("NeighborSpace", "NeighborhoodIndex", "RowSearch", "SparseNeighbors"),
        ),
        "surefoot.resampling": ("HoldoutSplit",),
        "surefoot.time_series": (
            *("DTWNeighbors", "KNeighborsDTWClassifier", "LocalKNeighborsDTWClassifier"),
            *("SeriesBatch", "VoteConfidence"),
        ),
    },
    "PartialNode": {"functools": ("partial",)},
    "TreeNode": {"sklearn.tree._tree": ("Tree",)},
    "TupleNode": {
        "surefoot._kernels": ("Forest", "Stored"),
        "surefoot.model_files": ("Stored",),
    },
}
LOADER_OF = {
    f"{module}.{name}": loader
    for loader, modules in TRUSTED.items()
    for module, names in modules.items()
    for name in names
}
# And the scores of scikit-learn, by which searches choose.
LOADER_OF |= {
    f"{getattr(metrics, name).__module__}.{name}": "FunctionNode"
    for name in metrics.__all__
    if name.endswith(("_deviance", "_error", "_loss", "_score"))
}

# Ways to store what skops itself trusts. Not here: what calls something with stored arguments, and sparse matrices,
# which are archives within the archive.
PASSIVE = {
    *(*TRUSTED, "BytearrayNode", "BytesNode", "JsonNode", "ListNode", "LossNode"),
    *("MaskedArrayNode", "NdArrayNode", "RandomGeneratorNode", "RandomStateNode", "SetNode"),
    *("SliceNode", "TypeNode"),
}
OLDEST_PROTOCOL = 2

# Type of the promise of an error estimator, in a package above this one.
PROMISE = "surefoot.abstention.Promise"

# Bytes that are unpacked without a further look; how many times as large as the file more may be (models reach 200,
# a bomb 1,000); and how many times what is unpacked is in memory while it is loaded.
FEW_BYTES, MOST_RATIO, COPIES = 64 << 20, 500, 3

IS_PICKLE = (
    "is a pickle, and loading a pickle runs any code in it: load it in Python, if you trust it, and write the model "
    "with surefoot.save."
)
# How a pickle begins, and what joblib compresses it to: by zlib (at its four levels), gzip, lz4, bz2, xz and lzma.
PICKLES = (
    *(b"\x80", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda"),
    *(b"\x1f\x8b", b"\x04\x22\x4d\x18", b"BZh", b"\xfd7zXZ", b"]\0\0"),
)

# Packages that surefoot does not need itself, and models may.
EXTRA_PACKAGES = {"catboost", "lightgbm", "onnxruntime", "skrub", "xgboost"}

# Version of the layout of files: it changes with whatever is kept of a model, under which name.
FORMAT = 1
OTHER_FORMAT = (
    "was saved by another version of surefoot, whose models are laid out differently: "
    "fit the model again with this one"
)

PLAIN = (type(None), bool, int, float, str)
SPARSE = (sparse.csc_array, sparse.csc_matrix, sparse.csr_array, sparse.csr_matrix)

# Arrays up to this length are written as JSON: a member of the archive for each number would be slow.
FEW_VALUES = 64

# Settings by which a model opens files, with the texts by which it does not: texts that are names of files; a cache,
# whose files are pickles; and the names of methods, of which arrays have some that write. And what starts processes.
GUARDED = {
    "input": ("content",),
    "memory": (),
    "stack_method_": ("decision_function", "predict", "predict_proba"),
}
# Settings of boosters that name files to read or write, or machines to connect to: no text is allowed.
FILE_SETTING = re.compile(
    r"(.*_)?(borders|dir|file|filename|forced_splits|fs|log|machine_list|machines|mlist|nodes|path|workers)"
)
PROCESSES = ("n_jobs", "_n_threads", "nthread", "num_threads", "thread_count")


class ModelFileError(FileError):
    """A file that holds no model that can be loaded, in one sentence."""


class Stored(NamedTuple):
    """Model as it is written: an empty object of each type, what only skops can write, and everything else as JSON.

    And boosters: the name of the library, and the contents of the file that it would write; and the layout of all this.
    """

    kinds: list[Any]
    leaves: list[Any]
    text: bytes
    natives: Any = ()
    format: int = FORMAT


def save(error_estimator: Any, path: str | Path, promise: Any = None) -> None:
    """Write the file of a fitted error estimator, or of another model: the whole file, or none.

    The file is a skops archive. LightGBM, XGBoost, CatBoost and ONNX models are in it as the files of their own
    libraries. `load`, every command, and `surefoot.integrations.mlflow` read it; none of them runs code from it.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        The fitted error estimator. A model of its own, for the option `--estimator` of the commands, is saved, too.
    path : str or Path
        The file; the commands expect the ending .skops.
    promise : Promise, default=None
        Which rows the commands accept. None means the one that the error estimator has already, else
        `Promise.from_held_out(error_estimator.held_out_)`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> import surefoot
    >>> X, y = load_iris(return_X_y=True)
    >>> error_estimator = surefoot.IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     surefoot.save(error_estimator, f"{folder}/iris.skops")
    ...     again = surefoot.load(f"{folder}/iris.skops")
    >>> bool((again.predict_error(X) == error_estimator.predict_error(X)).all())
    True
    """
    if promise is not None:
        error_estimator = copy(error_estimator)
        error_estimator.promise_ = promise
    stored = Writer().store(error_estimator)
    try:
        content = _packed(stored)
        _check_model(error_estimator)
        _trusted_types(*_unpacked(content)[:2])
        _check_settings(error_estimator, limit=False)
    except Refusal as error:
        why = str(error).removeprefix("is not loaded: ")
        raise ModelFileError(
            f"The model cannot be saved, as its file would not be loaded: {why}."
        ) from error
    write_whole(Path(path), content)


def model_content(model: Any) -> bytes:
    """Contents of the file of a model."""
    return _packed(Writer().store(model))


def _packed(stored: Stored) -> bytes:
    try:
        return dumps(stored, compression=zipfile.ZIP_DEFLATED)
    except (
        AttributeError,
        TypeError,
    ) as error:  # a function or an object that skops cannot describe
        raise Refusal(f"is not loaded: skops cannot write a part of it ({error})") from error


def load(path: str | Path) -> Any:
    """Error estimator, or another model, from a file that `save` or `surefoot fit` wrote.

    No code of the file is run and no other file is opened: a file with anything that is not trusted is refused in one
    sentence. A child process reads the files of boosters first, so that a crash of a parser is a sentence, too.

    Parameters
    ----------
    path : str or Path
        The file. One that was written with `skops.io.dump` is read as well, and so are the files of LightGBM (.txt),
        XGBoost (.json, .ubj), CatBoost (.cbm) and ONNX (.onnx), as models for `--estimator`.

    Returns
    -------
    error_estimator : IndividualErrorClassifier, IndividualErrorRegressor or another model
        As it was saved; see `save` for an example.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {reason(error)}.") from error
    if content.startswith(PICKLES):
        raise ModelFileError(f"{path} {IS_PICKLE}")
    library = ENDINGS.get(path.suffix.lower())
    if library is None and not zipfile.is_zipfile(io.BytesIO(content)):
        raise ModelFileError(f"{path} is not a skops file.")
    try:
        return _model_of(content) if library is None else model_of_file(library, content)
    except Refusal as error:
        raise ModelFileError(f"{path} {error}.") from error
    except (MemoryError, RecursionError) as error:
        raise ModelFileError(
            f"{path} is not loaded: it is nested too deeply, or too large for the memory."
        ) from error
    except Exception as error:
        title = TITLES.get(library or "", "skops")
        raise ModelFileError(
            f"{path} is a broken {title} file, or was saved by other versions."
        ) from error


def packages_of(model: Any) -> list[str]:
    """Names of the packages that a saved model needs beside those of surefoot itself, such as skrub and lightgbm."""
    stored = Writer().store(model)
    codes = json.loads(stored.text)[0]
    modules = [type(kind).__module__ for kind in stored.kinds]
    libraries = [kind["estimator"][0] for kind, _ in codes if "estimator" in kind]
    named = {name.partition(".")[0] for name in modules} | {*libraries}
    return sorted((named | {library for library, _ in stored.natives}) & EXTRA_PACKAGES)


def _model_of(content: bytes) -> Any:
    """Model in the contents of a file, of which only trusted types are made, and nothing is called."""
    loaded = _loaded(*_unpacked(content))
    if isinstance(loaded, Stored) and loaded.format != FORMAT:
        raise Refusal(OTHER_FORMAT)
    model = _restored(loaded) if isinstance(loaded, Stored) else loaded
    _check_settings(model, limit=True)
    _check_model(model)
    return model


def _loaded(unpacked: bytes, refused: set[str], names: set[str]) -> Any:
    """What skops reads of an archive, which it looks through once more to name what is not trusted."""
    if not refused:
        try:
            return loads(unpacked, trusted=sorted(names & LOADER_OF.keys()))
        except UntrustedTypesFoundException:  # or what only skops can name, such as a function
            pass
    return loads(unpacked, trusted=_trusted_types(unpacked, refused))


def _trusted_types(unpacked: bytes, refused: set[str]) -> list[str]:
    """Types in an archive that skops is told to trust; raises if others are in it, or were refused already."""
    types = get_untrusted_types(data=unpacked)
    refused.update(name for name in types if name not in LOADER_OF)
    if refused:
        raise Refusal(_why_untrusted(sorted(refused)))
    return list(types)


def _check_model(model: Any) -> None:
    """Refuse what is no model, and an error estimator that is not fitted."""
    kind = type(model)
    if not isinstance(model, BaseEstimator) and estimator_name(model) is None:
        raise Refusal(f"is not loaded: it holds a {kind.__name__}, which is no model")
    if kind.__module__ == "surefoot.error_estimation" and "held_out_" not in vars(model):
        raise Refusal(f"is not loaded: it holds an unfitted {kind.__name__}")
    promise = type(getattr(model, "promise_", None))
    if promise is not type(None) and f"{promise.__module__}.{promise.__name__}" != PROMISE:
        raise Refusal(f"is not loaded: it holds a {promise.__name__} as its promise")


def _unpacked(content: bytes) -> tuple[bytes, set[str], set[str]]:
    """Archive that is unpacked within bounds and has a checked schema; types that it may not hold, and all it names."""
    refused: set[str] = set()
    names: set[str] = set()
    unpacked = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as packed, zipfile.ZipFile(unpacked, "w") as plain:
        _check_sizes(packed.infolist(), len(content))
        for name in set(packed.namelist()):
            member = packed.getinfo(name)
            with packed.open(member) as part:
                raw = part.read(member.file_size)  # `ZipFile.read` may unpack more than is declared
            if name == "schema.json":
                schema = json.loads(raw)
                if schema["protocol"] < OLDEST_PROTOCOL:
                    raise ValueError("The file has nodes that skops has replaced for their faults.")
                _check_names(schema, refused, names)
                raw = json.dumps(schema).encode()
            plain.writestr(name, raw)
    return unpacked.getvalue(), refused, names


def _check_sizes(members: list[zipfile.ZipInfo], n_packed: int) -> None:
    """Refuse an archive by the sizes that it declares, before a byte of it is unpacked."""
    methods = {member.compress_type for member in members}
    if not methods <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise ValueError("Other methods unpack a block as a whole, however large it is.")
    total, free = sum(member.file_size for member in members), free_memory()
    if total > max(FEW_BYTES, MOST_RATIO * n_packed):
        raise Refusal(f"is not loaded: unpacked, it would be over {MOST_RATIO} times as large")
    if COPIES * total > free:
        raise Refusal(
            f"is not loaded: it needs about {COPIES * total / 1e9:,.3g} GB of memory, "
            f"where {free / 1e9:,.3g} GB are free"
        )


def _why_untrusted(types: list[str]) -> str:
    """Reason for types that are not on the list; those of surefoot have moved since the file was written."""
    foreign = [name for name in types if not name.startswith("surefoot.")]
    if foreign or any(name in LOADER_OF for name in types):
        return f"is not loaded: it holds {listed(foreign or types)}, which surefoot does not trust"
    return OTHER_FORMAT


def _check_names(state: Any, refused: set[str], names: set[str]) -> None:
    """Add the types of a description to `names`, what skops may not make to `refused`, and take numbers of objects out.

    For skops, an object is the one that was described earlier under the same number, whatever it was.
    """
    waiting = [state]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict):
            waiting += part if isinstance(part, list) else []
            continue
        waiting += part.values()
        if (loader := part.get("__loader__")) is None:
            continue
        part.pop("__id__", None)
        name = f"{part['__module__']}.{part['__class__']}"
        names.add(name)
        if loader not in PASSIVE or LOADER_OF.get(name, loader) != loader:
            refused.add(name)
        if loader == "DictNode" and any(
            key["__loader__"] != "TypeNode" for key in part["key_types"]["content"]
        ):
            raise ValueError("skops would call what makes these keys.")


def _check_settings(model: Any, *, limit: bool) -> None:
    """Refuse a model that would open files; if asked, limit the processes that it would start.

    Settings are attributes of objects and, within settings, keys of dicts, which a search would set. In attributes
    that `fit` made, keys are words and columns.
    """
    # With the values, so that no other one gets the id of a value that is gone.
    seen: dict[tuple[int, str, bool], Any] = {}
    waiting: list[tuple[Any, str, bool]] = [(model, "", False)]
    while waiting:
        value, name, sets = waiting.pop()
        if _opens_files(name, value):
            raise Refusal(f"is not loaded: its setting {name!r} would have it open other files")
        if (place := (id(value), name, sets)) not in seen:
            seen[place] = value
            parts = _parts(value, name, sets, limit)
            waiting += [
                part for part in parts if _is_guarded(part[1]) or type(part[0]) not in PLAIN
            ]


def _parts(value: Any, name: str, sets: bool, limit: bool) -> Iterator[tuple[Any, str, bool]]:
    """Values within a value, the name of the setting that each belongs to, and whether keys within are settings."""
    if isinstance(value, MutableMapping):
        for key, part in [*value.items()]:
            inner = _setting(key) if sets else ""
            if limit and inner in PROCESSES and isinstance(part, (list, tuple)):
                value[key] = _limited(part)
            yield part, name if name in GUARDED else inner, sets
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from ((part, name, sets) for part in value)
    elif isinstance(value, np.ndarray) and not _is_numeric(value.dtype):
        yield from ((part, name, sets) for part in np.asarray(value).ravel().tolist())
    elif isinstance(value, partial):
        yield from ((part, "", True) for part in (value.func, value.args, value.keywords))
    elif hasattr(value, "__dict__") and not (isinstance(value, type) or is_native(value)):
        for key, part in [*vars(value).items()]:
            if limit and key in PROCESSES:
                setattr(value, key, _limited(part))
            # LightGBM and CatBoost keep some settings under these names.
            is_setting = key == key.strip("_") or key in ("_other_params", "_init_params")
            yield part, "" if isinstance(part, ModelInput) else _setting(key), is_setting


def _is_numeric(kind: np.dtype[Any]) -> bool:
    """Whether all that an array of this type can hold are numbers and times, in its fields, too."""
    fields = (kind.fields or {}).values()
    return all(_is_numeric(field[0]) for field in fields) if fields else kind.base.kind in "biufcmM"


def _limited(value: Any) -> Any:
    """The value, or the number of processors if it is a greater number of processes; also in a list of them."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(_limited, value))
    return min(value, os.cpu_count() or 1) if isinstance(value, Integral) else value


@cache
def _is_guarded(name: str) -> bool:
    return name in GUARDED or FILE_SETTING.fullmatch(name) is not None


def _opens_files(name: str, value: Any) -> bool:
    """Whether the value of a guarded setting is a text that is not allowed, or cannot be looked at."""
    if isinstance(value, str):
        return value not in GUARDED.get(name, ()) and _is_guarded(name)
    return name in GUARDED and not isinstance(
        value, (*PLAIN, MutableMapping, list, tuple, np.ndarray, np.generic)
    )


def _setting(key: Any) -> str:
    """Name of a setting, which for an inner estimator follows two underscores; empty for a key that is no text."""
    return str(key).rpartition("__")[2] if isinstance(key, str) else ""


class Writer:
    """Takes a model apart into what `Stored` holds; `_restored` puts it together again.

    In JSON, None, booleans, numbers, texts and lists stand for themselves. Anything else is a dict with one entry: a
    table (kind, object or leaf) and a place in it, or a function in `MAKERS` and its arguments.
    """

    def __init__(self) -> None:
        self.kinds: dict[type, int] = {}
        self.empty: list[Any] = []
        self.leaves: list[Any] = []
        self.states: list[Any] = []
        self.natives: list[tuple[str, bytes]] = []
        # By its id, each value, which is kept so that no other gets this id, and its code.
        self.known: dict[int, tuple[Any, Any]] = {}

    def store(self, model: Any) -> Stored:
        """Parts of a model."""
        root = self.code(model)
        text = json.dumps([self.states, root], separators=(",", ":")).encode()
        return Stored(self.empty, self.leaves, text, self.natives)

    def code(self, value: Any) -> Any:
        """JSON for a value."""
        if type(value) in PLAIN:
            return value
        if type(value) is list:
            return [self.code(part) for part in value]
        if id(value) not in self.known:
            code = (
                self._code_of_native(value)
                or self._code_of_container(value, type(value))
                or self._code_of_object(value)
            )
            if code is None:
                self.leaves.append(value)
                code = {"leaf": len(self.leaves) - 1}
            self.known[id(value)] = (value, code)
        return self.known[id(value)][1]

    def _code_of_container(self, value: Any, kind: Any) -> Any:
        """Code of what is made of other values; None for anything else."""
        parts: tuple[Any, ...] = ()
        if kind is dict:
            parts = "dict", [list(map(self.code, item)) for item in value.items()]
        elif isinstance(value, tuple):
            parts = "tuple", self._kind(value), list(value)
        elif kind is np.ndarray and (value.dtype == object or _is_short(value)):
            parts = "array", value.dtype.str, list(value.shape), value.ravel().tolist()
        elif isinstance(value, np.generic) and _is_short(value):
            parts = "scalar", value.dtype.str, value.item()
        elif kind in SPARSE:
            parts = (
                *("sparse", SPARSE.index(kind), list(value.shape)),
                [value.data, value.indices, value.indptr],
            )
        elif hasattr(value, "iloc") and is_frame(type(value)):
            columns = [_parts_of_column(column) for column in split_columns(value)]
            parts = "frame", len(value), list(value.columns), columns
        return {parts[0]: [parts[1], *map(self.code, parts[2:])]} if parts else None

    def _code_of_native(self, value: Any) -> Any:
        """Code of a booster or graph, or of the trees of CatBoost; None for anything else."""
        if (file := native_file(value)) is None:
            return None
        self.natives.append(file)
        return {"native": len(self.natives) - 1}

    def _code_of_object(self, value: Any) -> Any:
        """Code of an object that is nothing but its attributes, or of a booster's estimator; None for anything else.

        That is containers of another type; functions, types and modules, which have a name; and what restores its state
        by itself, for which it may need all of it at once.
        """
        kind, name = type(value), estimator_name(value)
        restore = getattr(kind, "__setstate__", BaseEstimator.__setstate__)
        is_simple = restore is BaseEstimator.__setstate__ or kind.__module__.startswith("surefoot.")
        is_more = isinstance(value, (dict, list, set)) or hasattr(value, "__name__")
        if name is None and (is_more or not is_simple or not hasattr(value, "__dict__")):
            return None
        state = (value.__getstate__() or {}) if name is None else estimator_state(value)
        attributes = {key: self.code(part) for key, part in state.items()}
        self.states.append([{"estimator": name} if name else self._kind(value), attributes])
        return {"object": len(self.states) - 1}

    def _kind(self, value: Any) -> dict[str, int]:
        """Code of the type of a value, which skops writes as an object whose parts are None."""
        kind: Any = type(value)
        if kind not in self.kinds:
            self.kinds[kind] = len(self.empty)
            if isinstance(value, tuple):
                self.empty.append(tuple.__new__(kind, [None] * len(value)))
            else:
                self.empty.append(kind.__new__(kind))
                vars(self.empty[-1]).update(dict.fromkeys(vars(value)))
        return {"kind": self.kinds[kind]}


def _is_short(values: Any) -> bool:
    """Whether an array or number of NumPy is written as JSON: of at most one dimension, short, and exact as text."""
    is_exact = values.dtype.kind in "biuU" or values.dtype in (np.float32, np.float64)
    return bool(is_exact and values.ndim <= 1 and values.size <= FEW_VALUES)


def _restored(stored: Stored) -> Any:
    """Model from its parts."""
    states, root = json.loads(stored.text)
    if stored.natives:
        try_files(stored.natives)
    tables: dict[str, list[Any]] = {
        "kind": [type(empty) for empty in stored.kinds],
        "leaf": stored.leaves,
        "native": [read_native(*file) for file in stored.natives],
        "object": [],
    }
    for code, state in states:
        kind = _value(code, tables)
        made = kind.__new__(kind)
        values = {name: _value(part, tables) for name, part in state.items()}
        getattr(made, "__setstate__", vars(made).update)(values)
        tables["object"].append(made)
    return _value(root, tables)


def _value(code: Any, tables: dict[str, list[Any]]) -> Any:
    """Value of its code."""
    if isinstance(code, list):
        return [_value(part, tables) for part in code]
    if not isinstance(code, dict):
        return code
    [(what, content)] = code.items()
    return tables[what][content] if what in tables else MAKERS[what](*_value(content, tables))


def _array(kind: str, shape: list[int], parts: list[Any]) -> Any:
    """Array of such values, put into it one by one: an object may be a list."""
    values = np.empty(len(parts), dtype=kind)
    for place, part in enumerate(parts):
        values[place] = part
    return values.reshape(shape)


def _parts_of_column(column: Any) -> list[Any]:
    """Name of the type and values of a pandas column; of categories also their column, and whether they are ordered."""
    if hasattr(column, "cat"):
        codes, categories = np.asarray(column.cat.codes), column.cat.categories.to_series()
        return ["category", codes, _parts_of_column(categories), column.cat.ordered]
    is_plain = isinstance(column.dtype, np.dtype)
    return [str(column.dtype), column.to_numpy() if is_plain else as_objects(column)]


def _column(kind: str, values: Any, *coding: Any) -> Any:
    """Pandas column of its parts."""
    pandas = import_module("pandas")  # there was a frame, so there is pandas
    if not coding:
        return pandas.Series(values, dtype=kind)
    categories, ordered = coding
    return pandas.Series(pandas.Categorical.from_codes(values, _column(*categories), ordered))


def _frame(n_rows: int, names: list[Any], columns: list[Any]) -> Any:
    """Pandas frame of its columns, two of which may have one name, with rows numbered from 0."""
    by_number = {number: _column(*parts) for number, parts in enumerate(columns)}
    table = import_module("pandas").DataFrame(by_number, index=range(n_rows))
    table.columns = names
    return table


MAKERS: dict[str, Callable[..., Any]] = {
    "array": _array,
    "dict": dict,
    "estimator": estimator_type,
    "frame": _frame,
    "scalar": lambda kind, value: np.dtype(kind).type(value),
    "sparse": lambda place, shape, arrays: SPARSE[place](tuple(arrays), shape=tuple(shape)),
    "tuple": tuple.__new__,
}
