"""What would help a model, each with the gain measured on rows that nothing was fitted on."""

from surefoot.report.improvements._find import MOST_ROWS, find_improvements

__all__ = ["MOST_ROWS", "find_improvements"]
