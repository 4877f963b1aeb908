"""Section "What would help": possible improvements of a model, each with its gain on held-out rows."""

from surefoot.report.improvements._find import find_improvements
from surefoot.report.improvements._refits import n_refits

__all__ = ["find_improvements", "n_refits"]
