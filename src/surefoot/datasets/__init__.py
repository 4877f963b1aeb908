"""Generators of data sets."""

from surefoot.datasets._generators import (
    make_cylinder_bell_funnel,
    make_friedman_problem,
    make_subscriptions,
    make_synthetic_control,
)

__all__ = [
    "make_cylinder_bell_funnel",
    "make_friedman_problem",
    "make_subscriptions",
    "make_synthetic_control",
]
