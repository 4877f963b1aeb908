"""`surefoot reproduce`: run experiments that reproduce tables and figures of the papers."""

from importlib.util import find_spec
from pathlib import Path

from joblib import parallel_config

from surefoot._optional import missing_package
from surefoot._words import reason
from surefoot.cli._console import progress_bar, remark
from surefoot.cli._mistakes import Mistake
from surefoot.experiments import EXPERIMENTS, run_experiment


def list_experiments() -> None:
    """Print the names of the experiments, each with a description."""
    width = max(map(len, EXPERIMENTS)) + 2
    for name, about in EXPERIMENTS.items():
        print(f"{name:<{width}}{about}")


def run_experiments(name: str | None, every: bool, quick: bool, jobs: int, out: Path) -> None:
    """Run one experiment or all, and print their tables."""
    if name is not None and name not in EXPERIMENTS:
        raise Mistake(f"There is no experiment {name!r}: choose from {', '.join(EXPERIMENTS)}.")
    if name is None and not every:
        raise Mistake("Name an experiment, or pass --list to see them or --all to run them all.")
    if find_spec("matplotlib") is None:
        remark(f"Tables only: {missing_package('a figure', 'matplotlib', 'plots')}")
    for chosen in EXPERIMENTS if every else [str(name)]:
        try:
            with parallel_config(n_jobs=jobs):
                print(run_experiment(chosen, out, quick=quick, progress=progress_bar))
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise Mistake(f"{chosen} stopped: {where}{reason(error)}.") from error
