"""Recalibration: calibrated probabilities from out-of-fold scores and indicators."""

from surefoot._typing import settle
from surefoot.recalibration._local import LocallyRecalibratedClassifier
from surefoot.recalibration._recalibrated import RecalibratedClassifier

__all__ = ["LocallyRecalibratedClassifier", "RecalibratedClassifier"]

settle(__name__)
