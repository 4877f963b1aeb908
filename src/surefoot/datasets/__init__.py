"""Generators of data sets."""

from surefoot.datasets._friedman import make_friedman_problem
from surefoot.datasets._series_generators import (
    make_cylinder_bell_funnel,
    make_synthetic_control,
)
from surefoot.datasets._subscriptions import make_subscriptions

__all__ = [
    "make_cylinder_bell_funnel",
    "make_friedman_problem",
    "make_subscriptions",
    "make_synthetic_control",
]
