"""Outputs of one model refitted on other training rows, computed by refits or by exact shortcuts."""

from surefoot._refits._infinitesimal import infinitesimal_jackknife, tree_answers
from surefoot._refits._leave_one_out import (
    exact_leave_one_out,
    jackknife_variance,
    leave_one_out_predict,
)
from surefoot._refits._refits import Refits, RunningMoments, bootstrap_models

__all__ = [
    "Refits",
    "RunningMoments",
    "bootstrap_models",
    "exact_leave_one_out",
    "infinitesimal_jackknife",
    "jackknife_variance",
    "leave_one_out_predict",
    "tree_answers",
]
