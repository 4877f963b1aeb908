"""Selection of one of several models for each row."""

from surefoot._typing import settle
from surefoot.selection._local_selection import LocalSelectionClassifier, LocalSelectionRegressor

__all__ = ["LocalSelectionClassifier", "LocalSelectionRegressor"]

settle(__name__)
