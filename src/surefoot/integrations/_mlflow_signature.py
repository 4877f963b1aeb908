"""Signature of a model for MLflow: the columns that it takes and those that it returns, with their types."""

from dataclasses import replace
from typing import Any

import mlflow
import numpy as np
import pandas as pd
from mlflow.models import ModelSignature, infer_signature
from mlflow.types import ColSpec, DataType, Schema
from mlflow.types.schema import AnyType
from packaging.version import Version

from surefoot._sure import Sure
from surefoot._words import listed
from surefoot.abstention import Promise
from surefoot.error_estimation import IndividualErrorRegressor

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


def make_signature(sure: Sure, promise: Promise, example: Any) -> ModelSignature:
    """Signature with the columns of the judgement as outputs, and as much as is known of the inputs."""
    return ModelSignature(input_schema(sure, example), schema_of(judged_rows(sure, promise)))


def input_schema(sure: Sure, example: Any) -> Schema | None:
    """Columns that the model was fitted on, with the types of the example; None if they have no names."""
    names = getattr(sure, "feature_names_in_", None)
    if isinstance(example, pd.DataFrame):
        types = input_types(known_columns(sure, example))
        return Schema([ColSpec(kind, str(name)) for name, kind in types.items()])
    if names is not None:
        return Schema([ColSpec(AnyType(), str(name)) for name in names])
    return None if example is None else infer_signature(example).inputs


def known_columns(sure: Sure, example: pd.DataFrame) -> pd.DataFrame:
    """Columns of an example that the model was fitted on; one sentence if some are missing."""
    names = list(getattr(sure, "feature_names_in_", example.columns))
    if missing := [name for name in names if name not in example.columns]:
        raise ValueError(f"input_example lacks {listed(missing)}, which the model was fitted on.")
    return example[names]


def input_types(frame: pd.DataFrame) -> dict[Any, DataType | AnyType]:
    """MLflow's type of each column, or "any" for all where it would mix up their rows."""
    types = {name: type_of(column) for name, column in frame.items()}
    if not MIXES_TYPES and any(isinstance(kind, AnyType) for kind in types.values()):
        return dict.fromkeys(types, AnyType())
    return types


def restored_types(sure: Sure, example: Any) -> dict[str, str]:
    """Columns of type "any" in the signature, and their types in pandas, which MLflow does not keep."""
    if not isinstance(example, pd.DataFrame):
        return {}
    frame = known_columns(sure, example)
    types = {
        str(name): str(frame[name].dtype)
        for name, kind in input_types(frame).items()
        if isinstance(kind, AnyType)
    }
    return {name: kind for name, kind in types.items() if can_be_restored(kind)}


def can_be_restored(kind: Any) -> bool:
    """Whether pandas has a type of that name, for numbers, truth values, times or its own kinds of columns."""
    try:
        dtype = pd.api.types.pandas_dtype(kind) if isinstance(kind, str) else np.dtype(object)
    except TypeError:
        return False
    return not isinstance(dtype, np.dtype) or dtype.kind in "biufmM"


def judged_rows(sure: Sure, promise: Promise) -> pd.DataFrame:
    """Held-out rows with all columns that new rows have."""
    held_out = sure.held_out_
    if isinstance(sure, IndividualErrorRegressor):  # whose held-out rows have no residual
        held_out = replace(held_out, residual=held_out.error)
    return promise.apply(held_out).to_frame()


def schema_of(frame: pd.DataFrame) -> Schema:
    """Names and types of a frame's columns."""
    return Schema([ColSpec(type_of(column), str(name)) for name, column in frame.items()])


def type_of(column: pd.Series) -> DataType | AnyType:
    """MLflow's type of a column, "any" where it would not take the column back as it is."""
    dtype: Any = column.dtype
    if pd.api.types.is_object_dtype(dtype):
        kind = pd.api.types.infer_dtype(column, skipna=True)
        return {"string": DataType.string, "boolean": DataType.boolean}.get(kind, AnyType())
    if isinstance(dtype, np.dtype) and dtype.kind == "M":
        return DataType.datetime
    return TYPES.get(str(dtype), AnyType())
