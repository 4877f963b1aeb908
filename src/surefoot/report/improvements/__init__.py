"""Section "What would help": possible improvements of a model, each with its gain on test rows."""

from surefoot.report.improvements._find import MOST_ROWS, find_improvements
from surefoot.report.improvements._gain import Gain, paired_gain

__all__ = ["MOST_ROWS", "Gain", "find_improvements", "paired_gain"]
