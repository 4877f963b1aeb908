"""What was learned on other tables, as plain arrays beside the code, and how to ask it."""

from surefoot._priors._size_prior import SIGNS, VERSION, SizePrior, has_prior_columns
from surefoot._priors._tree_arrays import TreeArrays

__all__ = ["SIGNS", "VERSION", "SizePrior", "TreeArrays", "has_prior_columns"]
