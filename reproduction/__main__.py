"""`python -m reproduction`: list the experiments, run one of them, or run them all."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from joblib import parallel_config

EXPERIMENTS = {
    "bennett-table-1": "what sensitivity costs a nearest-neighbour classifier of texts; needs Reuters-21578",
    "bennett-table-2": "error of recalibrated nearest neighbours on five synthetic problems (tables 2 and 3)",
    "bennett-equation-2": "the best local recalibration where the true log-odds are known (equation 2)",
    "bennett-figure-2": "stacked and striving classifiers of texts beside the SVM (figure 2); needs Reuters-21578",
    "bennett-cell": "how much staying within the Voronoi cell matters (section 5's open question)",
    "bennett-cell-text": "how much staying in the cell matters to combined text classifiers; needs Reuters-21578",
    "bennett-sampling": "whether samples must stay in the cell to detect errors on texts; needs Reuters-21578",
    "buza-figure-4": "which models estimate which models' errors well (section 3); needs three UCI sets",
    "buza-correction": "predictions plus estimated residuals, in full and shrunk (section 2); needs three UCI sets",
    "buza-table-2": "a number of neighbours for every time series, with bad hubs (section 4); needs the UCR sets",
    "duda-figure-9-4": "bias and variance of four models of a noisy cubic",
    "duda-figure-9-5": "boundary bias and variance of three Gaussian models in the plane",
    "churn": "four variants of AdaBoost on customer churn; needs the churn tables",
    "priors": "both priors that ship with surefoot, from many models on many tables; needs the PMLB tables",
    "queries-and-the-oracle": "labels needed by each way of asking for them",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the arguments, or those of the command line, say."""
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    parser.add_argument("name", nargs="?", choices=list(EXPERIMENTS), metavar="NAME")
    parser.add_argument("--all", action="store_true", help="run every experiment")
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    parser.add_argument(
        "--out", type=Path, default=Path("surefoot-results"), help="folder for the results"
    )
    parser.add_argument("--jobs", type=int, default=-1, help="processes; default: one on each core")
    options = parser.parse_args(arguments)
    names = list(EXPERIMENTS) if options.all else [options.name] if options.name else []
    missing = []
    for name in names:
        print(f"{name}\n{'=' * len(name)}", flush=True)
        try:
            print(run(name, options.out, quick=options.quick, n_jobs=options.jobs), flush=True)
        except OSError as error:
            if not options.all:
                raise
            print(f"Not run: {error}")
            missing.append(name)
    if missing:
        raise OSError(
            f"{len(missing)} of {len(names)} experiments were not run, for want of data: {', '.join(missing)}. "
            f"Each says above which file to put where. Tables and figures of the others are in {options.out}."
        )
    if names:
        print(f"\nTables and figures are in {options.out}.")
    else:
        width = max(map(len, EXPERIMENTS)) + 2
        print("\n".join(f"{name:<{width}}{about}" for name, about in EXPERIMENTS.items()))


def run(name: str, out: Path, *, quick: bool = False, n_jobs: int | None = None) -> str:
    """Results of an experiment as text; its tables and figures are written into the folder."""
    out.mkdir(parents=True, exist_ok=True)
    module = import_module(f"reproduction.{name.replace('-', '_')}")
    with parallel_config(n_jobs=n_jobs):
        return str(module.run(out, quick=quick))


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(str(error))
