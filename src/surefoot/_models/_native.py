"""Models of LightGBM, XGBoost, CatBoost and ONNX Runtime: as estimators, and as files of their own libraries.

None of these formats holds code. Their parsers are not made for files that mean harm, though: a child process reads
each file first, so that a crash of the parser ends the child alone.
"""

import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from surefoot._parallel import free_memory

# Estimators of these libraries that a model file may hold.
ESTIMATORS = {
    "lightgbm": ("LGBMClassifier", "LGBMRegressor"),
    "xgboost": ("XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor"),
    "catboost": ("CatBoost", "CatBoostClassifier", "CatBoostRegressor"),
}
# Endings of files, and the library that reads them.
ENDINGS = {
    ".txt": "lightgbm",
    ".json": "xgboost",
    ".ubj": "xgboost",
    ".cbm": "catboost",
    ".onnx": "onnxruntime",
}
TITLES = {
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "catboost": "CatBoost",
    "onnxruntime": "ONNX Runtime",
}

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


def estimator_name(model: Any) -> tuple[str, str] | None:
    """Library and name of an estimator of these libraries; None for anything else."""
    kind = type(model)
    library = kind.__module__.partition(".")[0]
    return (library, kind.__name__) if kind.__name__ in ESTIMATORS.get(library, ()) else None


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


def is_booster(model: Any) -> bool:
    """Whether this is a `Booster` of LightGBM or XGBoost."""
    kind = type(model)
    library = kind.__module__.partition(".")[0]
    return kind.__name__ == "Booster" and library in ("lightgbm", "xgboost")


def native_file(model: Any) -> tuple[str, bytes] | None:
    """Library and contents of the file of a booster or graph; None for anything else."""
    if isinstance(model, OnnxGraph):
        return "onnxruntime", model.content
    if not is_booster(model):
        return None
    library = type(model).__module__.partition(".")[0]
    if library == "lightgbm":
        return library, model.model_to_string().encode()
    return library, bytes(model.save_raw("ubj"))


def estimator_state(model: Any) -> tuple[dict[str, Any], bytes | None]:
    """Attributes of an estimator of these libraries, with plain dicts; of CatBoost the parameters, and its file."""
    state = {name: _plain(part) for name, part in model.__getstate__().items()}
    for name in ("_test_evals", "_prediction_values_change", "_loss_value_change"):
        state.pop(name, None)  # records of CatBoost's training
    return state, state.pop("__model", None)


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
        raise Refusal(f"is not loaded: {titles} cannot read it, so it is damaged or forged")


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
