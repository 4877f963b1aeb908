"""Work behind `surefoot.integrations.mlflow`: the files of a model, its requirements, and what judges rows."""

import json
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import mlflow
import numpy as np
import pandas as pd
from mlflow.models import Model
from skops.io import get_untrusted_types

from surefoot import __version__
from surefoot._files import write_whole
from surefoot._sure import Sure, check_sure
from surefoot._words import listed, reason
from surefoot.abstention import Promise
from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.integrations._mlflow_signature import can_be_restored, make_signature, restored_types
from surefoot.model_files import ModelFileError, load_model, save_model

# Folder of the files in MLflow's folder `data`, and the files.
FOLDER, MODEL, PROMISE, TYPES = "surefoot", "model.skops", "promise.json", "types.json"


class JudgingModel:
    """Error estimator and promise, as MLflow asks them for predictions.

    Parameters
    ----------
    sure : IndividualErrorClassifier or IndividualErrorRegressor
        Judges the rows.
    promise : Promise
        Says which of them are accepted.
    types : mapping of str to str
        Columns whose type MLflow does not keep, and the name of their type in pandas.
    """

    def __init__(self, sure: Sure, promise: Promise, types: Mapping[str, str]) -> None:
        self.sure = sure
        self.promise = promise
        self.types = types

    def predict(self, model_input: Any) -> pd.DataFrame:
        """Table of the judgement of each row, with `accepted`."""
        return self.promise.apply(self.sure.judge(self._as_fitted(model_input))).to_frame()

    def get_raw_model(self) -> Sure:
        """Error estimator, for MLflow's method of the same name."""
        return self.sure

    def _as_fitted(self, table: Any) -> Any:
        """Known columns of a frame, in their order and types; any other table as it is."""
        names = getattr(self.sure, "feature_names_in_", None)
        if names is None or not isinstance(table, pd.DataFrame):
            return table
        if missing := [name for name in names if name not in table.columns]:
            raise ValueError(f"The table lacks {listed(missing)}, which the model was fitted on.")
        return with_types(table[list(names)], self.types)


def with_types(table: pd.DataFrame, types: Mapping[str, str]) -> pd.DataFrame:
    """Table whose columns have the given types; one sentence for values that cannot have them."""
    for name, kind in types.items():
        if name in table.columns and str(table[name].dtype) != kind:
            try:
                table = table.assign(**{name: table[name].astype(kind)})
            except (TypeError, ValueError) as error:
                raise ValueError(f"Column {name!r} holds values that are no {kind}.") from error
    return table


def save(
    sure: Sure,
    path: str | Path,
    promise: Promise | None,
    max_risk: float | Mapping[Any, float] | None,
    confidence: float,
    signature: Any,
    input_example: Any,
    options: dict[str, Any],
) -> None:
    """Write the folder of a model; `options` go to `mlflow.pyfunc.save_model`."""
    check_sure(sure)
    promise = chosen_promise(sure, promise, max_risk, confidence)
    described = options.pop("mlflow_model", None) or Model()
    described.signature = signature or make_signature(sure, promise, input_example)
    described.add_flavor("surefoot", surefoot_version=__version__, promise=as_plain(promise))
    with TemporaryDirectory() as folder:
        files = Path(folder) / FOLDER
        files.mkdir()
        write_files(files, sure, promise, restored_types(sure, input_example))
        mlflow.pyfunc.save_model(
            path,
            loader_module="surefoot.integrations.mlflow",
            data_path=str(files),
            mlflow_model=described,
            # MLflow compares an example with a signature, and warns of a signature without an example.
            signature=None if input_example is None else described.signature,
            input_example=input_example,
            **with_requirements(options, files / MODEL),
        )


def log(flavor: ModuleType, name: str, **kwargs: Any) -> Any:
    """Log a model under a name, which was its path among the artifacts in MLflow 2."""
    is_old = mlflow.__version__.startswith("2.")
    place = {"artifact_path": name} if is_old else {"artifact_path": None, "name": name}
    return Model.log(flavor=flavor, **place, **kwargs)


def load(model_uri: str) -> Sure:
    """Error estimator from an address of MLflow."""
    folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=model_uri)) / "data" / FOLDER
    if not folder.is_dir():
        raise ModelFileError(f"{model_uri} holds no model that surefoot saved.")
    return read_folder(folder).sure


def chosen_promise(
    sure: Sure,
    promise: Promise | None,
    max_risk: float | Mapping[Any, float] | None,
    confidence: float,
) -> Promise:
    """Promise that was given, or one from the held-out rows; a warning if it accepts no row."""
    if promise is not None and max_risk is not None:
        raise ValueError("Pass promise or max_risk, not both.")
    if promise is None:
        promise = Promise.from_held_out(sure.held_out_, max_risk, confidence)
    if not isinstance(promise, Promise):
        raise TypeError(f"promise is a {type(promise).__name__}: it may be a Promise or None.")
    if not promise.kept:
        limits = sure.held_out_.unit.describe_limits(promise.max_risk, promise.class_risks)
        warnings.warn(
            f"No row will be trusted: the held-out rows cannot promise {limits['short']} with a confidence of "
            f"{promise.confidence:g}.",
            stacklevel=4,
        )
    return promise


def write_files(folder: Path, sure: Sure, promise: Promise, types: Mapping[str, str]) -> None:
    """Write model, promise and types; one sentence for a model that could not be loaded again."""
    save_model(sure, folder / MODEL)
    try:
        load_model(folder / MODEL)
    except ModelFileError as error:
        sentence = str(error).replace(str(folder / MODEL), MODEL)
        raise ModelFileError(f"The model cannot be stored: {sentence}") from error
    write_json(folder / PROMISE, as_plain(promise))
    write_json(folder / TYPES, types)


def read_folder(folder: Path) -> JudgingModel:
    """Model, promise and types from the files of `write_files`; one sentence for any other."""
    sure = load_model(folder / MODEL)
    if not isinstance(sure, (IndividualErrorClassifier, IndividualErrorRegressor)):
        raise ModelFileError(f"{folder / MODEL} holds a {type(sure).__name__}, no error estimator.")
    return JudgingModel(sure, read_promise(folder / PROMISE), read_types(folder / TYPES))


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
    }


def read_promise(path: Path) -> Promise:
    """Promise from its file; one sentence for a file that holds none."""
    fields = read_json(path)
    limit = -inf if fields.get("limit") is None else fields["limit"]
    max_risk, by_class = fields.get("max_risk"), fields.get("class_risks", [])
    numbers: list[Any] = [fields.get(name) for name in ("confidence", "coverage", "n_rows")]
    if not isinstance(by_class, list) or not all(map(is_class_risk, by_class)):
        raise ModelFileError(f"{path} holds no promise.")
    risks = [risk for _, risk in by_class] + ([] if max_risk is None else [max_risk])
    if not risks or not all(isinstance(n, (int, float)) for n in [limit, *numbers, *risks]):
        raise ModelFileError(f"{path} holds no promise.")
    confidence, coverage, n_rows = numbers
    return Promise(max_risk, confidence, limit, coverage, n_rows, dict(by_class))


def is_class_risk(pair: Any) -> bool:
    """Whether this is a class, which is a text or a number, and its risk."""
    return isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], (str, int, float))


def read_types(path: Path) -> dict[str, str]:
    """Names of types by column from their file; one sentence for a file that holds none."""
    types = read_json(path)
    if not all(can_be_restored(kind) for kind in types.values()):
        raise ModelFileError(f"{path} holds no types of columns.")
    return types


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a mapping as JSON that other programs read."""
    write_whole(path, json.dumps(content, indent=2, allow_nan=False).encode())


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


def with_requirements(options: dict[str, Any], model: Path) -> dict[str, Any]:
    """Options with the packages that the model needs, unless they name an environment themselves."""
    if options.get("pip_requirements") is not None or options.get("conda_env") is not None:
        return options
    extra = options.pop("extra_pip_requirements", None) or []
    extra = [f"-r {extra}"] if isinstance(extra, str) else list(extra)
    return {**options, "pip_requirements": [*requirements(model), *extra]}


def requirements(model: Path) -> list[str]:
    """Pinned packages that load and ask a model."""
    packages = ["numpy", "pandas", "scikit-learn", "scipy", "skops"]
    if any(kind.startswith("skrub.") for kind in get_untrusted_types(file=model)):
        packages.append("skrub")
    own = [f"mlflow=={mlflow.__version__}", f"surefoot=={__version__}"]
    return [*own, *(f"{package}=={version(package)}" for package in packages)]
