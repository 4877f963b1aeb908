"""Peak memory of local sensitivity as the rows to judge grow tenfold: it must not grow with them.

Each size runs in a process of its own; what the table itself takes is not counted.
"""

import resource
import subprocess
import sys

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from surefoot import KernelKNeighborsClassifier, LocalSensitivity
from timing import report

MODELS = {
    "vote": KernelKNeighborsClassifier(),
    "bayes": GaussianNB(),
    "linear": LogisticRegression(),
}


def peak(name, n_queries):
    """Peak resident memory in MiB, less the rows and their columns, after judging `n_queries` rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 50))
    stability = LocalSensitivity(MODELS[name]).fit(X, (X[:, 0] > 0).astype(int))
    queries = rng.normal(size=(n_queries, 50))
    found = stability.transform(queries)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return used - (queries.nbytes + found.nbytes) / 2**20


def measured(name, n_queries):
    """The same, in a new process."""
    command = [sys.executable, __file__, name, str(n_queries)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(peak(sys.argv[1], int(sys.argv[2])))
    else:
        for model in MODELS:
            few, many = measured(model, 5_000), measured(model, 50_000)
            print(f"{model}: {few:.0f} MiB for 5,000 rows, {many:.0f} MiB for 50,000")
            report(f"peak memory, {model}: 50,000 rows / 5,000 rows", many / few, "at most", 1.1)
