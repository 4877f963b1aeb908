"""Program of the child process that reads the files of models first; it imports nothing of surefoot, to start fast.

`python -P _trial.py BYTES LIBRARY PATH ...` reads each file, has it described as a whole, and predicts some rows: many
faults show only then. A crash of a parser ends this process alone.
"""

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

# Exit code where a library cannot be imported; stderr then has its name and the reason.
NO_LIBRARY = 4

# More columns than a model has: a file with more is damaged.
MOST_COLUMNS = 1_000_000


def limit_resources(most_memory: int) -> None:
    """Limit the memory of this process, and write no core dumps, where the system can do that."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - Windows has none

        resource.setrlimit(resource.RLIMIT_AS, (most_memory, most_memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def rows(n_columns: int) -> Any:
    """Seven rows: zeros, missing, huge and small numbers, and a row of different ones."""
    import numpy as np  # noqa: PLC0415 - after the limits

    if n_columns > MOST_COLUMNS:
        raise ValueError("too many columns")
    values = np.zeros((7, n_columns))
    values[1:6] = np.array([[np.nan], [1e30], [-1e30], [1.0], [-1.0]])
    values[6] = np.arange(n_columns)
    return values


def try_lightgbm(lightgbm: Any, path: Path) -> None:
    """Read a text file of LightGBM, check the columns of its splits, and predict."""
    model = lightgbm.Booster(model_str=path.read_text(encoding="utf-8"))
    model.dump_model()  # follows the branches of each tree
    n_columns = model.num_feature()
    for places in re.findall("^split_feature=(.*)$", model.model_to_string(), re.MULTILINE):
        if not all(0 <= int(place) < n_columns for place in places.split()):
            raise ValueError("a split of an unknown column")
    model.predict(rows(n_columns), num_threads=1)


def try_xgboost(xgboost: Any, path: Path) -> None:
    """Read a file of XGBoost, describe its trees, and predict."""
    model = xgboost.Booster({"nthread": 1}, model_file=bytearray(path.read_bytes()))
    model.get_dump()
    kinds, values = model.feature_types, rows(model.num_features())
    places = [place for place, kind in enumerate(kinds or ()) if kind == "c"]
    values[::2, places], values[1::2, places] = 0.0, float("nan")
    packed = xgboost.DMatrix(
        values, feature_names=model.feature_names, feature_types=kinds, enable_categorical=True
    )
    model.predict(packed)


def try_catboost(catboost: Any, path: Path) -> None:
    """Read a file of CatBoost, and predict if it takes numbers and categories only."""
    model = catboost.CatBoost().load_model(blob=path.read_bytes())
    values = rows(len(model.feature_names_)).astype(object)
    values[:, model.get_cat_feature_indices()] = "0"
    if not (model.get_text_feature_indices() or model.get_embedding_feature_indices()):
        model.predict(values, thread_count=1)


def try_onnxruntime(onnxruntime: Any, path: Path) -> None:
    """Read an ONNX graph and run it, which may never end; a graph may refuse made-up rows, such as unknown texts."""
    import numpy as np  # noqa: PLC0415 - after the limits

    kinds = {"float": "f4", "double": "f8", "string": "U"}
    session = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    feed = {}
    with suppress(Exception):
        for part in session.get_inputs():
            shape = [
                (1 if place else 7) if not isinstance(size, int) else size
                for place, size in enumerate(part.shape)
            ]
            kind = part.type.removeprefix("tensor(").removesuffix(")")
            values = np.resize(rows(int(np.prod(shape[1:]))), shape)
            feed[part.name] = values.astype(kinds.get(kind, kind))
        session.run(None, feed)


def main(most_memory: str, *files: str) -> None:
    """Try each of the files: pairs of a library and a path."""
    limit_resources(int(most_memory))
    tries = {
        "lightgbm": try_lightgbm,
        "xgboost": try_xgboost,
        "catboost": try_catboost,
        "onnxruntime": try_onnxruntime,
    }
    for library, path in zip(files[::2], files[1::2], strict=True):
        try:
            module = __import__(library)
        except ImportError as error:
            sys.stderr.write(f"{library}: {error}")
            sys.exit(NO_LIBRARY)
        tries[library](module, Path(path))


if __name__ == "__main__":
    main(*sys.argv[1:])
