"""Numeric, complete and scaled coordinates of a table with categories and missing values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from surefoot._models._model_input import MixedInput
from surefoot._tables import as_floats, as_objects
from surefoot._typing import Floats


def default_vectorizer(model_input: MixedInput) -> ColumnTransformer:
    """Transformer that imputes and scales numbers and encodes categories, two of which are at distance 1."""
    numbers = make_pipeline(
        FunctionTransformer(_infinite_to_gap, feature_names_out="one-to-one"),
        SimpleImputer(strategy="median", keep_empty_features=True),
        StandardScaler(),
    )
    categories = make_pipeline(
        FunctionTransformer(_as_objects, feature_names_out="one-to-one"),
        OneHotEncoder(
            handle_unknown="infrequent_if_exist", max_categories=100, sparse_output=False
        ),
        FunctionTransformer(_half_a_difference_each, feature_names_out="one-to-one"),
    )
    return ColumnTransformer(
        [
            ("numbers", numbers, model_input.numeric),
            ("categories", categories, model_input.categorical),
        ],
        sparse_threshold=0,
    )


def _infinite_to_gap(table: Any) -> Floats:
    """Numbers with infinite values as missing ones."""
    # Contiguous, as the layout in memory decides how sums of columns are rounded.
    values = np.ascontiguousarray(as_floats(table))
    return np.where(np.isfinite(values), values, np.nan)


def _as_objects(table: Any) -> NDArray[Any]:
    """Categories as texts, and None for a missing value: the encoder does not take mixed types."""
    values = as_objects(table)
    texts = [None if value is None else str(value) for value in values.ravel()]
    return np.array(texts, dtype=object).reshape(values.shape)


def _half_a_difference_each(indicators: Floats) -> Floats:
    """One-hot columns scaled by √½: two categories differ in two columns, and are then at distance 1."""
    return indicators * np.sqrt(0.5)
