"""Generators, and fetchers with a local data home."""

from surefoot.datasets._friedman import make_friedman_problem

__all__ = ["make_friedman_problem"]
