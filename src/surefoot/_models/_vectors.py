"""Texts and embeddings as inputs: short coordinates in which near rows are those at a small cosine distance."""

import re
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.sparse.linalg import svds
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from surefoot._models._inputs import MixedInput, MixedVectorizer
from surefoot._tables import (
    as_floats,
    as_objects,
    column_names,
    count_rows,
    is_frame,
    is_missing,
    kind_of,
    take_column,
    take_columns,
    take_rows,
)
from surefoot._typing import Floats

# Fewest numbered columns, such as e_0 to e_767, or numbers of a list, that are an embedding; fewest words of a text.
LEAST_COLUMNS, LEAST_NUMBERS, LEAST_WORDS = 64, 8, 4

# Coordinates of an embedding or a text, rows that they are learned from, rows at a time, and most words.
N_COORDINATES, MOST_LEARNED, AT_A_TIME, MOST_WORDS = 100, 5_000, 8_192, 50_000


class VectorEncoder(TransformerMixin, BaseEstimator):
    """Transformer of texts and embeddings into coordinates: the distance of two rows grows with their cosine distance.

    Embeddings, and the TF-IDF weights of texts, have length one and are turned to their 100 widest directions (a
    singular value decomposition of 5,000 rows). Other columns are scaled and encoded as in any mixed table.
    """

    keeps_scale = True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find embeddings and texts, and learn their directions."""
        self.vectors_, self.texts_ = vector_columns(X), text_columns(X)
        rows = np.random.RandomState(0).permutation(count_rows(X))[:MOST_LEARNED]
        sample = take_rows(X, np.sort(rows))
        used = {name for names in self.vectors_ for name in names} | {*self.texts_}
        self.others_ = [name for name in column_names(X) if name not in used]
        self.mixed_: MixedVectorizer | None = None
        if self.others_:
            others = take_columns(X, self.others_)
            self.mixed_ = MixedInput(None, others).vectorizer().fit(others)
        self.words_ = [
            TfidfVectorizer(sublinear_tf=True, max_features=MOST_WORDS).fit(_texts(X, name))
            for name in self.texts_
        ]
        self.directions_ = [_directions(part) for part in self._parts(sample)]
        return self

    def transform(self, X: Any) -> Floats:
        """Coordinates of rows."""
        batches = []
        for start in range(0, count_rows(X), AT_A_TIME):
            rows = take_rows(X, slice(start, start + AT_A_TIME))
            parts = [
                normalize(np.asarray(part @ directions))
                for part, directions in zip(self._parts(rows), self.directions_, strict=True)
            ]
            if self.mixed_ is not None:
                parts.append(self.mixed_.transform(take_columns(rows, self.others_)))
            batches.append(np.hstack(parts))
        return np.concatenate(batches)

    def _parts(self, X: Any) -> Iterator[Any]:
        """Rows of length one of each embedding, and the weights of the words of each text."""
        for names in self.vectors_:
            yield normalize(_vectors(X, names))
        for name, words in zip(self.texts_, self.words_, strict=True):
            yield words.transform(_texts(X, name))


def vector_encoder(X: Any) -> VectorEncoder | None:
    """Encoder for a table with an embedding or a column of texts; None for any other."""
    has_vectors = not issparse(X) and (vector_columns(X) or text_columns(X))
    return VectorEncoder() if has_vectors else None


def vector_columns(X: Any) -> list[list[Any]]:
    """Names of the columns of each embedding: numbered columns, a column of lists, or all columns of a wide array."""
    if not is_frame(type(X)):
        is_wide = X.ndim == 2 and X.shape[1] >= LEAST_COLUMNS and X.dtype.kind == "f"
        return [list(range(X.shape[1]))] if is_wide else []
    by_stem: dict[str, list[Any]] = {}
    lists = []
    for name in column_names(X):
        column = take_column(X, name)
        if kind_of(column) in "biuf":
            by_stem.setdefault(re.sub(r"\d+$", "", str(name)), []).append(name)
        elif isinstance(value := _first(column), (list, tuple, np.ndarray)) and (
            len(value) >= LEAST_NUMBERS and np.asarray(value).dtype.kind in "iuf"
        ):
            lists.append([name])
    return [names for names in by_stem.values() if len(names) >= LEAST_COLUMNS] + lists


def text_columns(X: Any) -> list[Any]:
    """Names of the columns of a frame whose values are texts of several words, most of them different."""
    found = []
    for name in column_names(X) if is_frame(type(X)) else []:
        column = take_column(X, name)
        if isinstance(_first(column), str):
            texts = [text for text in _texts(take_rows(X, slice(0, MOST_LEARNED)), name) if text]
            n_words = np.median([len(text.split()) for text in texts])
            if n_words >= LEAST_WORDS and len(set(texts)) > len(texts) / 2:
                found.append(name)
    return found


def _first(column: Any) -> Any:
    """First value of a column that is not missing; None if there is none."""
    if kind_of(column) in "biuf":
        return None
    for start in range(0, count_rows(column), 1_000):
        values = as_objects(take_rows(column, slice(start, start + 1_000)))
        for value in values:
            if isinstance(value, (list, tuple, np.ndarray)) or not is_missing(value):
                return value
    return None


def _texts(X: Any, name: Any) -> list[str]:
    return ["" if value is None else str(value) for value in as_objects(take_column(X, name))]


def _vectors(X: Any, names: list[Any]) -> Floats:
    """Numbers of an embedding; a missing one is all zeros."""
    if not is_frame(type(X)) or len(names) > 1:
        table = take_columns(X, names) if is_frame(type(X)) else X
        return np.nan_to_num(as_floats(table))
    values = list(take_column(X, names[0]))
    width = len(next(value for value in values if value is not None))
    blank = np.zeros(width)
    if strange := [len(value) for value in values if value is not None and len(value) != width]:
        raise ValueError(
            f"Column {names[0]!r} holds lists of {width} and of {strange[0]} numbers: all must be of one length."
        )
    rows = [blank if value is None else np.asarray(value, dtype=np.float64) for value in values]
    return np.nan_to_num(np.stack(rows))


def _directions(rows: Any) -> NDArray[Any]:
    """Widest directions of rows, as columns."""
    n_directions = min(N_COORDINATES, min(rows.shape) - 1)
    if n_directions < 1 or rows.shape[1] <= N_COORDINATES:
        return np.eye(rows.shape[1])
    start = np.random.RandomState(0).uniform(-1, 1, min(rows.shape))
    found = svds(rows, k=n_directions, v0=start, return_singular_vectors="vh")[2][::-1].T
    return np.ascontiguousarray(found, dtype=np.float32)  # half the size of a model file
