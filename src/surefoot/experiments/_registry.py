"""Names of the experiments; each is imported only when it runs."""

from importlib import import_module
from pathlib import Path
from typing import Any

from surefoot._validation import check_option

EXPERIMENTS = {
    "bennett-table-1": "what sensitivity costs a nearest-neighbour classifier of texts; needs Reuters-21578",
    "bennett-table-2": "error of recalibrated nearest neighbours on five synthetic problems (tables 2 and 3)",
    "bennett-figure-2": "stacked and striving classifiers of texts beside the SVM (figure 2); needs Reuters-21578",
    "bennett-cell": "how much staying within the Voronoi cell matters (section 5's open question)",
    "bennett-cell-text": "how much staying in the cell matters to combined text classifiers; needs Reuters-21578",
    "bennett-sampling": "whether samples must stay in the cell to detect errors on texts; needs Reuters-21578",
    "buza-figure-4": "which models estimate which models' errors well (section 3); needs three UCI sets",
    "buza-table-2": "a number of neighbours for every time series, with bad hubs (section 4); needs the UCR sets",
    "duda-figure-9-4": "bias and variance of four models of a noisy cubic",
    "duda-figure-9-5": "boundary bias and variance of three Gaussian models in the plane",
    "churn": "four variants of AdaBoost on customer churn; needs the churn tables",
    "error-prior": "what a mistake looks like on any table, learned from the cases of prior-cases in the same folder",
    "error-size-prior": "what goes with large errors of regressors, learned on many tables; needs the PMLB tables",
    "prior-cases": "what goes with the mistakes of many models on many tables, to learn from; needs the PMLB tables",
    "queries-and-the-oracle": "labels needed by each way of asking for them",
}


def run_experiment(name: str, out: Path, *, quick: bool = False, **options: Any) -> str:
    """Run an experiment by name, write its files into `out`, and return its results as text."""
    check_option(name, "experiment", list(EXPERIMENTS))
    out.mkdir(parents=True, exist_ok=True)
    module = import_module(f"surefoot.experiments._{name.replace('-', '_')}")
    return str(module.run(out, quick=quick, **options))
