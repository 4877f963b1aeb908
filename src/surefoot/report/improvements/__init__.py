"""Section "What would help": possible improvements of a model, each with its gain on held-out rows."""

from surefoot.report.improvements._find import find_improvements
from surefoot.report.improvements._gain import Gain, relative_gain
from surefoot.report.improvements._measured import amount
from surefoot.report.improvements._refits import n_refits

__all__ = ["Gain", "amount", "find_improvements", "n_refits", "relative_gain"]
