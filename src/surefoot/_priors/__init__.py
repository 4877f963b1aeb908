"""What was learned on other tables, as plain arrays beside the code, and how to ask it."""

from surefoot._priors._size_prior import SizePrior, has_prior_columns
from surefoot._priors._tree_arrays import TreeArrays

__all__ = ["SizePrior", "TreeArrays", "has_prior_columns"]
