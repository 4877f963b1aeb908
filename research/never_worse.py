"""Is an action ever worse than what it starts from? Its loss on test rows, paired with that of its start.

The twelve development tables with classes and the six with numbers, small and larger training sets, several models
and pools of models, two seeds. A case is worse if the mean difference of the losses of the test rows is above two of
its standard errors; with no true difference one case in 44 would be. Results are appended to a CSV file case by case,
and a later run goes on where this one stopped:

    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python research/never_worse.py --out results
"""

import argparse
import csv
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from reproduction.data import fetch_table, list_tables
from surefoot.ensemble import StriveClassifier, TrustWeightedClassifier
from surefoot.error_estimation import IndividualErrorRegressor
from surefoot.indicators import LocalSensitivity
from surefoot.recalibration import LocallyRecalibratedClassifier, RecalibratedClassifier
from surefoot.selection import LocalSelectionClassifier, LocalSelectionRegressor

TRAIN_ROWS = (150, 500)
TEST_ROWS = 1500
COLUMNS = ("table", "models", "rows", "seed", "action", "measure", "start", "result", "error", "z")


def scaled(model):
    """The model after a scaler."""
    return make_pipeline(StandardScaler(), model)


def classifiers(seed):
    """Five classifiers; the support vector machine has no probabilities."""
    return {
        "logistic": scaled(LogisticRegression(max_iter=2000)),
        "bayes": scaled(GaussianNB(var_smoothing=1e-3)),
        "knn": scaled(KNeighborsClassifier(9)),
        "forest": RandomForestClassifier(50, random_state=seed),
        "svm": scaled(SVC()),
    }


def pools(seed):
    """Pools of classifiers: a strong one, and one of simple models."""
    models = classifiers(seed)
    tree = DecisionTreeClassifier(min_samples_leaf=3, random_state=seed)
    return {
        "strong": [(name, models[name]) for name in ("logistic", "knn", "forest", "svm")],
        "simple": [("bayes", models["bayes"]), ("knn", models["knn"]), ("tree", tree)],
    }


def regressors(seed):
    """Four regressors."""
    return {
        "ridge": scaled(RidgeCV()),
        "knn": scaled(KNeighborsRegressor(9)),
        "forest": RandomForestRegressor(50, random_state=seed),
        "svm": scaled(SVR(C=10.0)),
    }


def split(table, n_rows, seed):
    """Rows to learn from and rows to test on; texts become columns of 0 and 1."""
    X, y = fetch_table(table)
    X = pd.get_dummies(X, dtype=float).to_numpy() if hasattr(X, "columns") else np.asarray(X)
    is_classes = table in list_tables("classification", "tabular")
    test = min(TEST_ROWS, len(y) - n_rows)
    return train_test_split(
        X,
        y,
        train_size=n_rows,
        test_size=test,
        random_state=seed,
        stratify=y if is_classes else None,
    )


def class_losses(model, X, y):
    """Losses of each row: 0 or 1 for the class, and Brier's for the probabilities if there are any."""
    losses = {"error": (model.predict(X) != y).astype(float)}
    if hasattr(model, "predict_proba"):
        truth = np.asarray(y)[:, None] == model.classes_
        losses["Brier"] = ((model.predict_proba(X) - truth) ** 2).sum(axis=1)
    return losses


def squared_losses(model, X, y):
    """Squared error of each row."""
    return {"squared error": (model.predict(X) - y) ** 2}


def compare(action, start, result):
    """One line for each measure that both have: means, and the difference in standard errors."""
    lines = []
    for measure in start.keys() & result.keys():
        difference = result[measure] - start[measure]
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        z = difference.mean() / error if error > 0 else 0.0
        means = start[measure].mean(), result[measure].mean()
        lines.append((action, measure, *means, error, z))
    return lines


def recalibrate(table, name, n_rows, seed):
    """Recalibrations of one model, against the model."""
    X, X_test, y, y_test = split(table, n_rows, seed)
    model = classifiers(seed)[name]
    actions = {
        "Recalibrated": RecalibratedClassifier(model, random_state=0),
        "Recalibrated, sensitivity": RecalibratedClassifier(
            model, LocalSensitivity(), random_state=0
        ),
        "Locally recalibrated": LocallyRecalibratedClassifier(model, random_state=0),
    }
    lines = []
    for action, recalibrated in actions.items():
        recalibrated.fit(X, y)
        start = class_losses(recalibrated.estimator_, X_test, y_test)
        lines += compare(action, start, class_losses(recalibrated, X_test, y_test))
    return lines


class Borrowing:
    """Mixin of an ensemble that takes its judged models from another: they are the costly part, and the same."""

    def borrow(self, fitted):
        """Remember whose models to use."""
        self._lender = fitted
        return self

    def _fit_error_estimators(self, X, y, sample_weight, groups):
        names = ("error_estimators_", "estimators_", "named_estimators_", "held_out_", "classes_")
        vars(self).update({name: getattr(self._lender, name) for name in names})
        return np.ones(len(self.held_out_.rows))


class BorrowingVote(Borrowing, TrustWeightedClassifier):
    """Vote of models that were judged elsewhere."""


def combine(table, name, n_rows, seed):
    """Selection, votes and stacking of a pool, against the model of the pool that is best out of fold."""
    X, X_test, y, y_test = split(table, n_rows, seed)
    pool = pools(seed)[name]
    selection = LocalSelectionClassifier(pool, random_state=seed).fit(X, y)
    start = class_losses(selection.named_estimators_[selection.best_name_], X_test, y_test)
    stack = StriveClassifier(pool, random_state=seed).fit(X, y)
    strive = StriveClassifier(pool, LocalSensitivity(per_class=True), random_state=seed).fit(X, y)
    actions = {
        "Local selection": selection,
        "Trust-weighted vote": BorrowingVote(pool, random_state=seed).borrow(selection).fit(X, y),
        "Vote with abstentions": BorrowingVote(pool, mode="abstain", random_state=seed)
        .borrow(selection)
        .fit(X, y),
        "Stack": stack,
        "STRIVE": strive,
    }
    losses = {action: class_losses(model, X_test, y_test) for action, model in actions.items()}
    lines = [line for action in actions for line in compare(action, start, losses[action])]
    return [*lines, *compare("STRIVE, from the stack", losses["Stack"], losses["STRIVE"])]


def select(table, _name, n_rows, seed):
    """Selection among regressors, against the one that is best out of fold."""
    X, X_test, y, y_test = split(table, n_rows, seed)
    pool = list(regressors(seed).items())
    model = LocalSelectionRegressor(pool, random_state=seed).fit(X, y)
    start = squared_losses(model.named_estimators_[model.best_name_], X_test, y_test)
    return compare("Local selection, numbers", start, squared_losses(model, X_test, y_test))


def correct(table, name, n_rows, seed):
    """Corrected predictions of one regressor, against its own."""
    X, X_test, y, y_test = split(table, n_rows, seed)
    model = IndividualErrorRegressor(regressors(seed)[name], corrected=True, random_state=seed)
    model.fit(X, y)
    start = squared_losses(model.estimator_, X_test, y_test)
    return compare("Corrected, numbers", start, squared_losses(model, X_test, y_test))


def cases(parts, seeds):
    """Every case: the function that measures it, and its arguments."""
    kinds = {
        "recalibrate": (recalibrate, "classification", classifiers(0)),
        "combine": (combine, "classification", pools(0)),
        "select": (select, "regression", ["all"]),
        "correct": (correct, "regression", regressors(0)),
    }
    for seed, part in product(range(seeds), parts):
        measure, task, models = kinds[part]
        for case in product(list_tables(task, "tabular"), models, TRAIN_ROWS):
            yield part, measure, (*case, seed)


def run(file, parts, seeds):
    """Measure the cases that the file lacks, and append each as soon as it is known."""
    done = set()
    if file.exists():
        known = pd.read_csv(file, usecols=["part", "table", "models", "rows", "seed"])
        done = set(known.itertuples(index=False, name=None))
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(",".join(("part", *COLUMNS)) + "\n")
    for part, measure, case in cases(parts, seeds):
        if (part, *case) in done:
            continue
        lines = measure(*case)
        with file.open("a", newline="") as table:
            writer = csv.writer(table)
            for action, name, *values in lines:
                writer.writerow([part, *case, action, name, *(f"{v:.5g}" for v in values)])
        print(part, *case, *(f"{line[0]}/{line[1]} {line[-1]:+.1f}" for line in lines), flush=True)


def summarize(file):
    """Print for each action the share of the cases that are worse than the start, and better."""
    table = pd.read_csv(file)
    print(f"{'':26}{'measure':16}{'cases':>6}{'worse':>8}{'better':>8}{'mean':>9}{'worst':>9}")
    for (action, measure), found in table.groupby(["action", "measure"], sort=False):
        change = 100 * (found.result - found.start) / found.start.where(found.start > 0)
        worse, better = 100 * (found.z > 2).mean(), 100 * (found.z < -2).mean()
        print(
            f"{action:26}{measure:16}{len(found):6}{worse:7.1f}%{better:7.1f}%"
            f"{change.mean():8.1f}%{change.max():8.1f}%"
        )
    print(
        "worse, better: share of the cases beyond two paired standard errors; mean, worst: change of the loss"
    )


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--seeds", type=int, default=2)
    every = ["combine", "recalibrate", "select", "correct"]
    parser.add_argument("--parts", nargs="*", default=every, choices=every)
    options = parser.parse_args()
    file = options.out / "never_worse.csv"
    run(file, options.parts, options.seeds)
    summarize(file)


if __name__ == "__main__":
    main()
