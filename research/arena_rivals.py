"""Rivals of the arena: strong models whose probability of an answer is the estimate of its error.

A rival does not depend on the model that is judged: its class probabilities of the test rows are computed once for each
table, number of training rows and seed, and kept in `rivals/NAME/TABLE-ROWS-SEED.npz`. Resumable; needs the group
`boosters`, and for TabPFN the group `tabpfn` and the folder `models_diff` of the source package tabpfn 0.1, which has
the weights, in FOLDER/tabpfn:

    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python research/arena_rivals.py FOLDER --half chosen --rivals "four models"
"""

import argparse
import sys
import time
import warnings
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from cached_fits import CachedFit
from reproduction.data import TABLES, list_tables
from reproduction.prior_cases import Case, encoded, models, split
from reproduction.results import progress, write_whole

# Draws the halves of the families, once: choices are made on the first, and results are reported of the second.
HALVES_SEED = 28
HALVES = ("chosen", "reported")
SIZES = (300, 1500, 8000)
# With this many training rows only the tables take part that have twice as many rows.
LARGE = 8000
FIVE = ("logistic", "forest", "boosting", "svm", "knn")
LEAST_PROBABILITY = 1e-3
# Of TabPFN's ensemble, whose time is in proportion.
CONFIGURATIONS = 8


class Draw(NamedTuple):
    """Training rows of a table: `size` is the number that was asked for, `n_train` the number that it can give."""

    table: str
    size: int
    n_train: int
    random_state: int = 0

    @property
    def name(self):
        """Name of the draw's files."""
        return f"{self.table}-{self.n_train}-{self.random_state}"


def half_of_families():
    """Half of each family of classification tables, by its name."""
    families = sorted(set(TABLES.family[TABLES.task == "classification"]))
    order = np.random.default_rng(HALVES_SEED).permutation(len(families))
    n_chosen = len(families) // 2
    return {families[place]: HALVES[rank >= n_chosen] for rank, place in enumerate(order)}


def half_of_table(table):
    """Half of the families that a table is in."""
    return half_of_families()[TABLES.at[table, "family"]]


def arena_tables(half=None):
    """Names of the tables of a half, or of both."""
    names = [*list_tables("classification", "pmlb"), *list_tables("classification", "tabular")]
    return [name for name in names if half in (None, half_of_table(name))]


def draws_of(tables, sizes=SIZES):
    """Draws of the tables: a table gives at most half of its rows, and a number of rows that two sizes share once."""
    draws = []
    for table in tables:
        possible = int(TABLES.at[table, "n_rows"]) // 2
        taken = {}
        for size in sizes:
            if size < LARGE or possible >= size:
                taken.setdefault(min(size, possible), size)
        draws += [Draw(table, size, n_train) for n_train, size in taken.items()]
    return draws


def catboost(random_state=0):
    """CatBoost with its defaults, on one thread."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        thread_count=1, verbose=False, random_seed=random_state, allow_writing_files=False
    )


def lightgbm(random_state=0):
    """LightGBM with its defaults, on one thread."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1, random_state=random_state)


def stack(random_state=0):
    """Logistic regression on the cross-fitted probabilities of the five models."""
    members = models("classification", random_state)
    return StackingClassifier(
        [(name, members[name]) for name in FIVE], LogisticRegression(max_iter=2000)
    )


def quick_models(random_state=0):
    """Four quick models, whose geometric mean is a rival."""
    return {
        "forest": RandomForestClassifier(random_state=random_state + 1),
        "extra_trees": ExtraTreesClassifier(random_state=random_state + 1),
        "slow_boosting": HistGradientBoostingClassifier(
            learning_rate=0.03, max_iter=200, max_leaf_nodes=8, random_state=random_state
        ),
        "logistic": LogisticRegression(max_iter=2000),
    }


class Problem(NamedTuple):
    """Encoded rows of a draw and their classes, numbered from 0."""

    rows: np.ndarray
    labels: np.ndarray
    test_rows: np.ndarray
    test_labels: np.ndarray
    classes: np.ndarray

    @classmethod
    def of(cls, draw):
        """Problem of a draw, encoded as the judged models see it."""
        rows = split(Case(draw.table, "", draw.n_train, draw.random_state))
        encoder = clone(encoded(LogisticRegression(), rows.X)[:-1]).fit(rows.X, rows.y)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
            new = encoder.transform(rows.X_test)
        return cls(encoder.transform(rows.X), rows.y, new, rows.y_test, np.unique(rows.y))

    @property
    def size(self):
        """Numbers that a boosted tree of each class looks at: encoded inputs times outputs."""
        return self.rows.shape[1] * (1 if len(self.classes) == 2 else len(self.classes))


def geometric_mean_of(probabilities):
    """Geometric mean of several models' class probabilities, which sum to one."""
    logs = np.mean([np.log(np.maximum(part, LEAST_PROBABILITY)) for part in probabilities], axis=0)
    mean = np.exp(logs)
    return mean / mean.sum(axis=1, keepdims=True)


def probabilities_of(model, problem):
    """Class probabilities of the test rows by a model, which is fitted first, and the processor seconds of both."""
    start, saved = time.process_time(), CachedFit.saved_seconds
    model.fit(problem.rows, problem.labels)
    probabilities = model.predict_proba(problem.test_rows)
    assert (np.asarray(model.classes_) == problem.classes).all()
    return probabilities, time.process_time() - start + CachedFit.saved_seconds - saved


def of_cached(model):
    """Rival that is one model, the fit of which is kept for where it is judged."""

    def compute(problem, draw, folder):
        cached = CachedFit(model(draw.random_state), folder / "fits")
        probabilities, seconds = probabilities_of(cached, problem)
        return {"probabilities": probabilities, "seconds": seconds}

    return compute


def of_quick_models(problem, draw, _folder):
    """Geometric mean of the four quick models, with the probabilities of each."""
    results = {
        name: probabilities_of(model, problem)
        for name, model in quick_models(draw.random_state).items()
    }
    parts = {name: probabilities for name, (probabilities, _) in results.items()}
    return {
        "probabilities": geometric_mean_of(list(parts.values())),
        "seconds": sum(seconds for _, seconds in results.values()),
        **parts,
    }


class TooLargeError(ValueError):
    """A rival cannot learn from so many rows, inputs or classes."""


def of_tabpfn(problem, draw, folder):
    """TabPFN v1 with its defaults: at most 1,000 training rows, 100 inputs and 10 classes."""
    if problem.rows.shape[0] > 1000 or problem.rows.shape[1] > 100 or len(problem.classes) > 10:
        raise TooLargeError
    model = tabpfn(folder / "tabpfn", draw.random_state)
    probabilities, seconds = probabilities_of(model, problem)
    return {"probabilities": probabilities, "seconds": seconds}


def tabpfn(weights, random_state=0):
    """TabPFN v1 on one thread, with what it calls by names that later releases of its dependencies have not."""
    import typing

    import torch

    torch.set_num_threads(1)
    for home, name in ((typing, "Optional"), (torch, "Tensor"), (torch.nn, "Module")):
        setattr(torch.nn.modules.transformer, name, getattr(home, name))
    import tabpfn.scripts.transformer_prediction_interface as interface

    def renamed(check):
        return lambda *args, force_all_finite: check(*args, ensure_all_finite=force_all_finite)

    def load_all(*args, load=torch.load, **options):
        return load(*args, **options | {"weights_only": False})

    interface.check_X_y = renamed(sklearn.utils.check_X_y)
    interface.check_array = renamed(sklearn.utils.check_array)
    torch.load = load_all
    warnings.filterwarnings("ignore", "torch.utils.checkpoint", UserWarning)
    return interface.TabPFNClassifier(
        device="cpu",
        base_path=weights,
        N_ensemble_configurations=CONFIGURATIONS,
        seed=random_state,
    )


RIVALS = {
    "four models": of_quick_models,
    "CatBoost": of_cached(catboost),
    "stack": of_cached(stack),
    "TabPFN": of_tabpfn,
}


def path_of(folder, rival, draw):
    """File of a rival's probabilities for a draw."""
    return folder / "rivals" / rival.replace(" ", "_").lower() / f"{draw.name}.npz"


def compute(rival, draw, folder, largest=np.inf):
    """Compute a rival's probabilities if they are not on disk; whether they are there now."""
    path = path_of(folder, rival, draw)
    if path.exists():
        return True
    problem = Problem.of(draw)
    if problem.size > largest:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            values = RIVALS[rival](problem, draw, folder)
    except TooLargeError:
        return False
    values |= {"classes": problem.classes, "test_truth": problem.test_labels, **draw._asdict()}
    content = BytesIO()
    np.savez_compressed(content, **values)
    write_whole(path, content.getvalue())
    print(f"{rival} {draw.name}: {float(values['seconds']):.1f} s", file=sys.stderr, flush=True)
    return True


def read_probabilities(rival, draw, folder):
    """Class probabilities of the test rows by a rival, and its processor seconds; None if they are not on disk."""
    path = path_of(folder, rival, draw)
    if not path.exists():
        return None
    with np.load(path) as stored:
        return stored["probabilities"], float(stored["seconds"])


def main():
    """Compute what is missing of the rivals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=HALVES, help="default: both")
    parser.add_argument("--rivals", nargs="*", choices=list(RIVALS), default=list(RIVALS)[:3])
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--largest", type=float, default=np.inf, help="inputs times outputs")
    options = parser.parse_args()
    draws = draws_of(arena_tables(options.half))
    jobs = [(r, d) for r in options.rivals for d in draws if d.size in options.sizes]
    for rival, draw in progress(jobs, total=len(jobs), label="rivals"):
        if not compute(rival, draw, options.folder, options.largest):
            print(f"{rival} {draw.name}: too large", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
