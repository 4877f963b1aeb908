"""Work behind `surefoot.integrations.mlflow`: files of a model, its signature, requirements and predictions."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import mlflow
import numpy as np
import pandas as pd
from mlflow.models import Model, ModelSignature, infer_signature
from mlflow.types import ColSpec, DataType, Schema
from mlflow.types.schema import AnyType
from packaging.version import Version

from surefoot import __version__
from surefoot._error_estimators import ErrorEstimator, check_error_estimator
from surefoot._files import write_whole
from surefoot._tables import model_columns
from surefoot._words import reason
from surefoot.abstention import Promise, promise_of
from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.model_files import ModelFileError, packages_of
from surefoot.model_files import load as load_file
from surefoot.model_files import save as save_file

# Folder of the files in MLflow's folder `data`, and the files.
FOLDER, MODEL, PROMISE, RESTORED = "surefoot", "model.skops", "promise.json", "types.json"


class JudgingModel:
    """Error estimator and promise, as MLflow asks them for predictions.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Judges the rows.
    promise : Promise
        Says which of them are accepted.
    types : mapping of str to str
        Columns whose type MLflow does not keep, and the name of their type in pandas.
    """

    def __init__(
        self, error_estimator: ErrorEstimator, promise: Promise, types: Mapping[str, str]
    ) -> None:
        self.error_estimator = error_estimator
        self.promise = promise
        self.types = types

    def predict(self, model_input: Any) -> pd.DataFrame:
        """Table of the judgement of each row, with `accepted`."""
        return self.promise.apply(
            self.error_estimator.judge(self._as_fitted(model_input))
        ).to_frame()

    def get_raw_model(self) -> ErrorEstimator:
        """Error estimator, for MLflow's method of the same name."""
        return self.error_estimator

    def _as_fitted(self, table: Any) -> Any:
        """Known columns of a frame, in their order and types; any other table as it is."""
        has_names = hasattr(self.error_estimator, "feature_names_in_")
        if not isinstance(table, pd.DataFrame) or not has_names:
            return table
        table = known_columns(self.error_estimator, table, "The table")
        for name, kind in self.types.items():
            if name in table.columns and str(table[name].dtype) != kind:
                try:
                    table = table.assign(**{name: table[name].astype(kind)})
                except (TypeError, ValueError) as error:
                    raise ValueError(f"Column {name!r} holds values that are no {kind}.") from error
        return table


def save(
    error_estimator: ErrorEstimator,
    path: str | Path,
    promise: Promise | None,
    max_risk: float | Mapping[Any, float] | None,
    confidence: float,
    signature: Any,
    input_example: Any,
    options: dict[str, Any],
) -> None:
    """Write the folder of a model; `options` go to `mlflow.pyfunc.save_model`."""
    check_error_estimator(error_estimator)
    promise = chosen_promise(error_estimator, promise, max_risk, confidence)
    described = options.pop("mlflow_model", None) or Model()
    described.signature = signature or make_signature(error_estimator, promise, input_example)
    described.add_flavor("surefoot", surefoot_version=__version__, promise=as_plain(promise))
    with TemporaryDirectory() as folder:
        files = Path(folder) / FOLDER
        files.mkdir()
        write_files(files, error_estimator, promise, restored_types(error_estimator, input_example))
        mlflow.pyfunc.save_model(
            path,
            loader_module="surefoot.integrations.mlflow",
            data_path=str(files),
            mlflow_model=described,
            # MLflow compares an example with a signature, and warns of a signature without an example.
            signature=None if input_example is None else described.signature,
            input_example=input_example,
            **with_requirements(options, packages_of(error_estimator)),
        )


def log(flavor: ModuleType, name: str, **kwargs: Any) -> Any:
    """Log a model under a name, which was its path among the artifacts in MLflow 2."""
    is_old = mlflow.__version__.startswith("2.")
    place = {"artifact_path": name} if is_old else {"artifact_path": None, "name": name}
    return Model.log(flavor=flavor, **place, **kwargs)


def load(model_uri: str) -> ErrorEstimator:
    """Error estimator from an address of MLflow."""
    folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=model_uri)) / "data" / FOLDER
    if not folder.is_dir():
        raise ModelFileError(f"{model_uri} holds no model that surefoot saved.")
    return read_folder(folder).error_estimator


# Flavors of MLflow, and the entry that names the file of their model.
FILES = {
    "lightgbm": "data",
    "xgboost": "data",
    "catboost": "data",
    "onnx": "data",
    "sklearn": "pickled_model",  # which may be a skops file
}


def load_estimator(model_uri: str) -> Any:
    """Model from an address of MLflow, if it is in a file that runs no code."""
    try:
        folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=model_uri)).resolve()
    except (mlflow.exceptions.MlflowException, OSError) as error:
        words = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelFileError(f"{model_uri} cannot be read: {words.rstrip('.')}.") from error
    if (folder / "data" / FOLDER).is_dir():
        return read_folder(folder / "data" / FOLDER).error_estimator
    flavors = Model.load(str(folder)).flavors if (folder / "MLmodel").is_file() else {}
    for flavor, entry in FILES.items():
        path = (folder / str(flavors.get(flavor, {}).get(entry, "."))).resolve()
        if path != folder and path.is_relative_to(folder):
            return load_file(path / "model.onnx" if path.is_dir() else path)
    raise ModelFileError(
        f"{model_uri} holds no model of surefoot, LightGBM, XGBoost, CatBoost, ONNX or skops."
    )


def chosen_promise(
    error_estimator: ErrorEstimator,
    promise: Promise | None,
    max_risk: float | Mapping[Any, float] | None,
    confidence: float,
) -> Promise:
    """Promise that was given or saved, or one from the held-out rows; a warning if it accepts no row."""
    if promise is not None and max_risk is not None:
        raise ValueError("Pass promise or max_risk, not both.")
    if promise is None:
        promise = promise_of(error_estimator, max_risk, confidence)
    if not isinstance(promise, Promise):
        raise TypeError(f"promise is a {type(promise).__name__}: it may be a Promise or None.")
    if not promise.kept:
        limits = promise.describe(error_estimator.held_out_.unit)
        warnings.warn(
            f"No row will be trusted: the held-out rows cannot promise {limits['short']} with a confidence of "
            f"{promise.confidence:g}.",
            stacklevel=4,
        )
    return promise


def write_files(
    folder: Path, error_estimator: ErrorEstimator, promise: Promise, types: Mapping[str, str]
) -> None:
    """Write model, promise and types."""
    save_file(error_estimator, folder / MODEL)
    for name, content in ((PROMISE, as_plain(promise)), (RESTORED, types)):
        write_whole(folder / name, json.dumps(content, indent=2, allow_nan=False).encode())


def read_folder(folder: Path) -> JudgingModel:
    """Model, promise and types from the files of `write_files`; one sentence for any other."""
    error_estimator = load_file(folder / MODEL)
    if not isinstance(error_estimator, (IndividualErrorClassifier, IndividualErrorRegressor)):
        raise ModelFileError(
            f"{folder / MODEL} holds a {type(error_estimator).__name__}, no error estimator."
        )
    promise, types = read_promise(folder / PROMISE), read_json(folder / RESTORED)
    if not all(can_be_restored(kind) for kind in types.values()):
        raise ModelFileError(f"{folder / RESTORED} holds no types of columns.")
    return JudgingModel(error_estimator, promise, types)


def as_plain(promise: Promise) -> dict[str, Any]:
    """Fields of a promise as plain values, the limit None where nothing can be promised."""
    classes = np.array(list(promise.class_risks)).tolist()  # numbers and texts of Python's own
    return {
        "max_risk": None if promise.max_risk is None else float(promise.max_risk),
        "class_risks": [
            list(pair) for pair in zip(classes, promise.class_risks.values(), strict=True)
        ],
        "confidence": float(promise.confidence),
        "limit": float(promise.threshold) if promise.kept else None,
        "coverage": float(promise.coverage),
        "n_rows": int(promise.n_rows),
        "cap": promise.cap,
        "is_about": promise.is_about,
    }


def read_promise(path: Path) -> Promise:
    """Promise from its file; an error for a file that holds none."""
    fields = read_json(path)
    threshold = -inf if fields.get("limit") is None else fields["limit"]
    max_risk, by_class = fields.get("max_risk"), fields.get("class_risks", [])
    numbers: list[Any] = [fields.get(name) for name in ("confidence", "coverage", "n_rows")]
    if isinstance(by_class, list) and all(map(is_class_risk, by_class)):
        risks = [risk for _, risk in by_class] + ([] if max_risk is None else [max_risk])
        if risks and all(isinstance(n, (int, float)) for n in [threshold, *numbers, *risks]):
            confidence, coverage, n_rows = numbers
            known = {name: fields[name] for name in ("cap", "is_about") if name in fields}
            return Promise(
                max_risk, confidence, threshold, coverage, n_rows, dict(by_class), **known
            )
    raise ModelFileError(f"{path} holds no promise.")


def is_class_risk(pair: Any) -> bool:
    """Whether this is a class, which is a string or a number, and its risk."""
    return isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], (str, int, float))


def read_json(path: Path) -> dict[str, Any]:
    """Mapping from a JSON file; one sentence for anything else."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {reason(error)}.") from error
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} is no JSON file.") from error
    if not isinstance(content, dict):
        raise ModelFileError(f"{path} holds no JSON object.")
    return content


# Signature: the columns that a model takes and those that it returns, with their types

# Before 3.17 MLflow numbered the rows of columns of type "any" from 0, those of other columns by their index.
MIXES_TYPES = Version(mlflow.__version__) >= Version("3.17.0")

# MLflow's types of NumPy's; it has none for unsigned numbers of eight bytes, nor for the widest floats.
TYPES = {
    "bool": DataType.boolean,
    "int8": DataType.integer,
    "int16": DataType.integer,
    "int32": DataType.integer,
    "int64": DataType.long,
    "uint8": DataType.integer,
    "uint16": DataType.integer,
    "uint32": DataType.long,
    "float16": DataType.float,
    "float32": DataType.float,
    "float64": DataType.double,
    "str": DataType.string,
}


def make_signature(
    error_estimator: ErrorEstimator, promise: Promise, example: Any
) -> ModelSignature:
    """Signature with the columns of the judgement as outputs, and as much as is known of the inputs."""
    # Columns of new rows that held-out rows have not.
    held_out = replace(error_estimator.held_out_, known=error_estimator.held_out_.novel)
    if isinstance(error_estimator, IndividualErrorRegressor):
        held_out = replace(held_out, residual=held_out.error)
    frame = promise.apply(held_out).to_frame()
    outputs = [ColSpec(type_of(column), str(name)) for name, column in frame.items()]
    return ModelSignature(input_schema(error_estimator, example), Schema(outputs))


def input_schema(error_estimator: ErrorEstimator, example: Any) -> Schema | None:
    """Columns that the model was fitted on, with the types of the example; None if they have no names."""
    names = getattr(error_estimator, "feature_names_in_", None)
    if isinstance(example, pd.DataFrame):
        types = input_types(known_columns(error_estimator, example, "input_example"))
        return Schema([ColSpec(kind, str(name)) for name, kind in types.items()])
    if names is not None:
        return Schema([ColSpec(AnyType(), str(name)) for name in names])
    return None if example is None else infer_signature(example).inputs


def known_columns(error_estimator: ErrorEstimator, table: pd.DataFrame, what: str) -> pd.DataFrame:
    """Columns of a table that the model was fitted on; an error if some are missing."""
    return table[model_columns(error_estimator, list(table.columns), what)]


def input_types(frame: pd.DataFrame) -> dict[Any, DataType | AnyType]:
    """MLflow's type of each column, or "any" for all where it would mix up their rows."""
    types = {name: type_of(column) for name, column in frame.items()}
    if not MIXES_TYPES and any(isinstance(kind, AnyType) for kind in types.values()):
        return dict.fromkeys(types, AnyType())
    return types


def restored_types(error_estimator: ErrorEstimator, example: Any) -> dict[str, str]:
    """Columns of type "any" in the signature, and their types in pandas, which MLflow does not keep."""
    if not isinstance(example, pd.DataFrame):
        return {}
    frame = known_columns(error_estimator, example, "input_example")
    types = {
        str(name): str(frame[name].dtype)
        for name, kind in input_types(frame).items()
        if isinstance(kind, AnyType)
    }
    return {name: kind for name, kind in types.items() if can_be_restored(kind)}


def can_be_restored(kind: Any) -> bool:
    """Whether pandas has a type of that name, for numbers, booleans, times or its own kinds of columns."""
    try:
        dtype = pd.api.types.pandas_dtype(kind) if isinstance(kind, str) else np.dtype(object)
    except TypeError:
        return False
    return not isinstance(dtype, np.dtype) or dtype.kind in "biufmM"


def type_of(column: pd.Series) -> DataType | AnyType:
    """MLflow's type of a column, "any" where it would not take the column back as it is."""
    dtype: Any = column.dtype
    if pd.api.types.is_object_dtype(dtype):
        kind = pd.api.types.infer_dtype(column, skipna=True)
        return {"string": DataType.string, "boolean": DataType.boolean}.get(kind, AnyType())
    if isinstance(dtype, np.dtype) and dtype.kind == "M":
        return DataType.datetime
    return TYPES.get(str(dtype), AnyType())


def with_requirements(options: dict[str, Any], needed: list[str]) -> dict[str, Any]:
    """Options with the pinned packages that load and ask a model, unless they name an environment themselves."""
    if options.get("pip_requirements") is not None or options.get("conda_env") is not None:
        return options
    extra = options.pop("extra_pip_requirements", None) or []
    extra = [f"-r {extra}"] if isinstance(extra, str) else list(extra)
    packages = ["numpy", "pandas", "scikit-learn", "scipy", "skops", *needed]
    own = [f"mlflow=={mlflow.__version__}", f"surefoot=={__version__}"]
    pinned = [*own, *(f"{package}=={version(package)}" for package in packages)]
    return {**options, "pip_requirements": [*pinned, *extra]}
