"""Leave-one-out without refitting against refitting, and bias and variance against mlxtend, in one run.

mlxtend is in the dependency group `peers`; without it only the first part runs.
"""

import os
from importlib.util import find_spec

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from surefoot._refits import exact_leave_one_out
from surefoot.resampling import bias_variance
from timing import alternate, report


def rows(n_rows, n_columns=10):
    """Rows with a noisy linear target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X @ rng.normal(size=n_columns) + rng.normal(size=n_rows)


def leave_one_out():
    """Ratios and largest differences at 2,000 rows."""
    X, y = rows(2_000)
    for model in (Ridge(), KNeighborsRegressor(5)):
        name = type(model).__name__
        # A row's own place among the changes: its nearest neighbour is itself.
        changes = exact_leave_one_out(model, X, y).changes(X)
        places = np.arange(len(X)) if isinstance(model, Ridge) else 0
        exact = model.fit(X, y).predict(X) + changes[np.arange(len(X)), places, 0]
        refitted = cross_val_predict(model, X, y, cv=LeaveOneOut())
        report(f"{name}: largest difference", np.abs(exact - refitted).max(), "at most", 1e-10)
        fast, slow = alternate(
            [
                lambda model=model: exact_leave_one_out(model, X, y).changes(X),
                lambda model=model: cross_val_predict(model, X, y, cv=LeaveOneOut()),
            ],
            repeats=3,
        )
        report(f"{name}: refitting / exact leave-one-out", slow / fast, "at least", 100)


def against_mlxtend():
    """Differences of the averages with the same seed, and ratios with one and two processes."""
    from mlxtend.evaluate import bias_variance_decomp

    X, y = rows(6_000)
    kinds = {
        "mse": (DecisionTreeRegressor(random_state=0), y, "squared"),
        "0-1_loss": (DecisionTreeClassifier(random_state=0), (y > 0).astype(int), "zero_one"),
    }
    for theirs, (model, target, loss) in kinds.items():
        train, test = slice(0, 4_000), slice(4_000, None)
        data = X[train], target[train], X[test], target[test]

        def mlxtend(data=data, model=model, theirs=theirs):
            return bias_variance_decomp(model, *data, loss=theirs, num_rounds=100, random_seed=0)

        def ours(n_jobs, data=data, model=model, loss=loss):
            return bias_variance(
                model, *data, loss=loss, n_resamples=100, random_state=0, n_jobs=n_jobs
            )

        found = ours(2)  # starts the processes
        means = found.mean_error, found.mean_bias2, found.mean_variance
        difference = np.abs(np.subtract(means, mlxtend())).max()
        report(f"{theirs}: largest difference of the averages", difference, "at most", 1e-10)
        total = found.bias2 + found.net_variance + found.net_noise
        report(
            f"{theirs}: terms less error, any point",
            np.abs(total - found.error).max(),
            "at most",
            1e-10,
        )
        peer, one, two = alternate([mlxtend, lambda: ours(None), lambda: ours(2)], repeats=3)
        report(f"{theirs}: mlxtend / two processes", peer / two, "at least", 1.7)
        print(f"{theirs}: mlxtend / one process {peer / one:.2f}")


if __name__ == "__main__":
    leave_one_out()
    if find_spec("mlxtend"):
        against_mlxtend()
    else:
        print("not compared: mlxtend")
