"""Result of a cross-fit: what models of other folds say of held-out rows."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from surefoot._typing import Floats, Ints


class CrossFit(NamedTuple):
    """Out-of-fold scores, columns and answers: of held-out rows, by models and neighbours of the other folds.

    `rows` are positions in the training table, ascending: each once if the folds are a partition, else
    as often as it was held out. `splits` (number of the split that held the row out), `scores` (log-odds-like,
    of the model), `columns` (by indicator name), `answers` (of the model, by method) and `opinions` (predictions of
    other models, by name) are aligned with them.
    """

    rows: Ints
    splits: Ints
    scores: Floats
    columns: dict[str, Floats]
    answers: dict[str, NDArray[Any]]
    opinions: dict[str, NDArray[Any]]
