"""Fit of one fold, for the intervals of new rows."""

from typing import NamedTuple

from surefoot._crossfit import Panel
from surefoot._typing import Floats
from surefoot.error_estimation._error_size import ErrorSize


class FoldFit(NamedTuple):
    """Panel and error size fitted without one fold, and the scaled errors (`scores`) of the rows of that fold."""

    panel: Panel
    size: ErrorSize
    scores: Floats
