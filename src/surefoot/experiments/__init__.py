"""The tables and figures of the sources, reproduced through the public API.

An experiment is a module with one function `run(out, *, quick, progress)`: it does the work, writes
its tables and figures into the folder `out`, and returns its results as text.
"""

from surefoot.experiments._registry import EXPERIMENTS, run_experiment

__all__ = ["EXPERIMENTS", "run_experiment"]
