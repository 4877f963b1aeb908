"""What if the data had been others: splits and resamples."""

from surefoot.resampling._holdout import HoldoutSplit

__all__ = ["HoldoutSplit"]
