"""For each row the model that suits it."""

from surefoot.selection._local_selection import LocalSelectionClassifier, LocalSelectionRegressor

__all__ = ["LocalSelectionClassifier", "LocalSelectionRegressor"]
