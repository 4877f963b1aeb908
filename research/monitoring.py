"""Performance on new rows without labels: surefoot.monitoring against CBPE and DLE, and whether its intervals hold.

Twelve tables and those of PMLB with 2,000 rows or more, five models (for regression fourteen tables, three models). A
model is fitted on half of the rows, at most 1,500; batches of at most 1,000 rows are drawn from the others: evenly,
with odds that grow along a random direction of the inputs (mild, strong), with a category made rare; and in ways that
break the assumption: a class thinned, noise in a column; and moved out of what was seen. The true figure of each
batch is known. Each model is fitted and its pool judged once, which is kept in files; the batches are measured from
them. Stopped, it goes on where it was:

    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python research/monitoring.py --out results

With `--same` it counts instead how often `compare_rows` takes batches of the same distribution for others: six splits
of each of twenty tables, five batches each.
"""

import argparse
from dataclasses import fields, replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from reproduction.data import TABLES, fetch_table, list_tables
from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.indicators import Confidence
from surefoot.monitoring import NewRows, compare_rows

MOST_ROWS = 1500
POOL = 4000
BATCH = 1000
LEAST_ROWS = 2000
CONFIDENCE = 0.95

# Growth of the log-odds to be drawn with one standard deviation along the direction.
STRENGTHS = {"mild": 0.75, "strong": 1.5}
DIRECTIONS = 2
# Rows of a rare category, or of a thinned class, that are left.
LEFT = 0.1
# How far rows are moved that leave what was seen, beyond the range of the rows along the direction.
BEYOND = 1.0
SAME_TABLES = ("banana", "led7", "ring", "titanic", "twonorm", "waveform_21", "sleep", "krkopt")


def tables(task):
    """Names of the tables of a task."""
    large = [name for name in list_tables(task, "pmlb") if TABLES.at[name, "n_rows"] >= LEAST_ROWS]
    return [*list_tables(task, "tabular"), *large]


def models(task, seed=0):
    """Models with scikit-learn's defaults."""
    if task == "regression":
        return {
            "ridge": RidgeCV(),
            "forest": RandomForestRegressor(random_state=seed),
            "boosting": HistGradientBoostingRegressor(random_state=seed),
        }
    return {
        "logistic": LogisticRegression(max_iter=2000),
        "forest": RandomForestClassifier(random_state=seed),
        "boosting": HistGradientBoostingClassifier(random_state=seed),
        "svm": CalibratedClassifierCV(SVC(), ensemble=False),
        "knn": KNeighborsClassifier(),
    }


def encoded(model, X):
    """The model behind what encodes the texts of X, if it has any, and scales its numbers."""
    if not hasattr(X, "columns"):
        return make_pipeline(StandardScaler(), model)
    texts = make_column_selector(dtype_include="category")
    onehot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    encoder = make_column_transformer((onehot, texts), remainder=StandardScaler())
    return make_pipeline(encoder, model)


def load(name):
    """Rows to learn from, and the pool that batches are drawn from."""
    X, y = fetch_table(name)
    is_class = name in tables("classification")
    if is_class:  # a class of a few rows cannot be on both sides
        labels, counts = np.unique(y, return_counts=True)
        kept = np.isin(y, labels[counts >= 10])
        X, y = X[kept], y[kept]
    size = min(MOST_ROWS, len(y) // 2)
    rest = min(POOL, len(y) - size)
    return train_test_split(
        X, y, train_size=size, test_size=rest, random_state=0, stratify=y if is_class else None
    )


def numbers_of(X):
    """Columns of numbers, standardised."""
    numbers = X.select_dtypes("number").to_numpy(float) if hasattr(X, "columns") else X
    spread = numbers.std(axis=0)
    return (numbers - numbers.mean(axis=0)) / np.where(spread > 0, spread, 1)


def take(X, rows):
    """Rows of a frame or array."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def draw(odds, size, random):
    """Positions of `size` rows, drawn one after the other with these odds, without replacement."""
    keys = random.exponential(size=len(odds)) / np.maximum(odds, 1e-300)
    return np.sort(np.argsort(keys)[:size])


def projection(X, random):
    """Standardised projection of the rows on a random direction."""
    numbers = numbers_of(X)
    along = numbers @ random.normal(size=numbers.shape[1])
    return (along - along.mean()) / along.std()


def rare_category(X, random):
    """Odds with which one category of one column becomes rare; None if no column has ten values or fewer."""
    columns = X.T.to_numpy(object) if hasattr(X, "columns") else X.T
    choices = []
    for column in columns:
        values, counts = np.unique(column.astype(str), return_counts=True)
        if 2 <= len(values) <= 10:
            shares = counts / counts.sum()
            choices += [
                column.astype(str) == value
                for value, share in zip(values, shares, strict=True)
                if 0.1 <= share <= 0.7
            ]
    if not choices:
        return None
    return np.where(choices[random.randint(len(choices))], LEFT, 1.0)


def batches(X, y, task, random):
    """Kind of shift, and odds with which the rows of the pool are drawn."""
    for _ in range(DIRECTIONS):
        yield "none", np.ones(len(y))
        for kind, strength in STRENGTHS.items():
            yield kind, np.exp(strength * projection(X, random))
    if (odds := rare_category(X, random)) is not None:
        yield "rare category", odds
    if task == "classification":
        yield "thinned class", np.where(y == random.choice(np.unique(y)), LEFT, 1.0)


def with_noise(X, random):
    """Rows with one column of numbers drowned in noise of its own spread."""
    changed = X.copy()
    if hasattr(X, "columns"):
        name = random.choice(X.select_dtypes("number").columns)
        column = X[name].astype(float)
        changed[name] = column + random.normal(size=len(X)) * 2 * column.std()
        return changed
    place = random.randint(X.shape[1])
    changed[:, place] += random.normal(size=len(X)) * 2 * X[:, place].std()
    return changed


def moved_away(X, X_seen, random):
    """Rows moved along a random direction until most are beyond all rows that were seen."""
    is_frame = hasattr(X, "columns")
    names = X.select_dtypes("number").columns if is_frame else None
    seen = X_seen[names].to_numpy(float) if is_frame else X_seen
    spread = np.where(seen.std(axis=0) > 0, seen.std(axis=0), 0)
    direction = random.normal(size=seen.shape[1])
    along = (seen - seen.mean(axis=0)) / np.where(spread > 0, spread, 1) @ direction
    length = np.ptp(along) * BEYOND / (direction[spread > 0] @ direction[spread > 0])
    step = length * direction * spread
    if not is_frame:
        return X + step
    changed = X.copy()
    for name, by in zip(names, step, strict=True):
        changed[name] = X[name].astype(float) + by
    return changed


def rows_of(judgement, rows):
    """Judgement of some of the rows."""
    parts = {}
    for part in fields(judgement):
        value = getattr(judgement, part.name)
        if isinstance(value, dict):
            parts[part.name] = {name: block[rows] for name, block in value.items()}
        elif value is not None and part.name != "classes":
            parts[part.name] = value[rows]
    return replace(judgement, **parts)


def cbpe(held_out, judgement):
    """CBPE of NannyML 0.13: each class's probability, calibrated by isotonic regression one against the rest.

    Returns the expected accuracy, and for two classes the expected F1 of the second.
    """
    labels, truth = held_out.classes, held_out.truth
    calibrated = np.column_stack(
        [
            IsotonicRegression(out_of_bounds="clip", y_min=0, y_max=1)
            .fit(held_out.probabilities[:, place], truth == label)
            .predict(judgement.probabilities[:, place])
            for place, label in enumerate(
                labels[1:] if len(labels) == 2 else labels, len(labels) == 2
            )
        ]
    )
    if len(labels) == 2:
        calibrated = np.column_stack([1 - calibrated, calibrated])
    calibrated = calibrated / np.maximum(calibrated.sum(axis=1, keepdims=True), 1e-12)
    codes = np.searchsorted(labels, judgement.prediction)
    own = calibrated[np.arange(len(codes)), codes]
    f1 = np.nan
    if len(labels) == 2:
        right = own[codes == 1].sum()
        f1 = 2 * right / max((codes == 1).sum() + calibrated[:, 1].sum(), 1e-12)
    return 1 - own.mean(), f1


def dle(error_estimator, X, power):
    """DLE: boosted trees learn the held-out loss from the row and its prediction."""
    held_out = error_estimator.held_out_
    losses = np.abs(held_out.truth - held_out.prediction) ** power
    table = np.column_stack([encode(error_estimator, take(X, held_out.rows)), held_out.prediction])
    return HistGradientBoostingRegressor(random_state=0).fit(table, losses)


def encode(error_estimator, X):
    """Rows as the last step of the model takes them."""
    return error_estimator.estimator_[:-1].transform(X)


def measure(error_estimator, X, y, judgement, peers, base):
    """Lines for one batch: the estimates, and the truth beside them."""
    rows = NewRows(error_estimator).add(X, judgement)
    if hasattr(error_estimator, "classes_"):
        return class_lines(error_estimator, rows, y, judgement, base)
    return size_lines(error_estimator, rows, X, y, judgement, peers, base)


def line(base, metric, truth, estimate, naive, peer, plain, comparison):
    """Line of the table: the estimates of one figure of one batch, the truth, and what was found of a shift."""
    return {
        **base,
        "metric": metric,
        "truth": truth,
        "noise": truth * (1 - truth) / estimate.n_rows,
        "estimate": estimate.estimate,
        "low": estimate.interval[0],
        "high": estimate.interval[1],
        "before": naive,
        "peer": peer,
        "plain": plain,
        "n": estimate.n_rows,
        "effective": estimate.effective_rows,
        "reason": estimate.reason,
        "auc": estimate.shift.auc,
        "novel": estimate.shift.share_novel,
        "outside": estimate.shift.share_outside,
        "p_value": comparison.p_value,
        "moved": len(comparison.moved),
    }


def class_lines(error_estimator, rows, y, judgement, base):
    """Error rate, and for two classes F1."""
    wrong = judgement.prediction != y
    comparison = rows.compare()
    error = rows.estimate("error", CONFIDENCE)
    peer, peer_f1 = cbpe(error_estimator.held_out_, judgement)
    plain = judgement.error.mean()
    yield line(base, "error", wrong.mean(), error, error.baseline, peer, plain, comparison)
    if len(error_estimator.classes_) == 2:
        truth = f1_score(
            y, judgement.prediction, pos_label=error_estimator.classes_[1], zero_division=0
        )
        f1 = rows.estimate("f1", CONFIDENCE)
        yield line(base, "f1", truth, f1, f1.baseline, peer_f1, np.nan, comparison)


def size_lines(error_estimator, rows, X, y, judgement, peers, base):
    """Mean absolute and squared error, as shares of the held-out ones."""
    comparison = rows.compare()
    table = np.column_stack([encode(error_estimator, X), judgement.prediction])
    for power, metric in enumerate(("mean_absolute_error", "mean_squared_error"), 1):
        losses = np.abs(y - judgement.prediction) ** power
        result = rows.estimate(metric, CONFIDENCE)
        unit = result.baseline
        peer = peers[power - 1].predict(table).mean() / unit
        scaled = replace(
            result,
            estimate=result.estimate / unit,
            interval=tuple(end / unit for end in result.interval),
        )
        plain = judgement.error.mean() / unit if power == 1 else np.nan
        noise = losses.var() / len(losses) / unit**2
        yield {
            **line(base, metric, losses.mean() / unit, scaled, 1.0, peer, plain, comparison),
            "noise": noise,
        }


def fit_case(name, model, task):
    """Fitted error estimator, rows of the pool with their judgement, and rows that are no draws from the pool."""
    X, X_pool, y, y_pool = load(name)
    kind = IndividualErrorClassifier if task == "classification" else IndividualErrorRegressor
    error_estimator = kind(encoded(model, X), random_state=0).fit(X, y)
    random = np.random.RandomState(0)
    rows = draw(np.ones(len(y_pool)), min(batch_size(y_pool), 500), random)
    changed = {
        "noise in a column": with_noise(take(X_pool, rows), random),
        "moved away": moved_away(take(X_pool, rows), X, random),
    }
    return {
        "error_estimator": error_estimator,
        "pool": (X_pool, y_pool, error_estimator.judge(X_pool)),
        "changed": {
            kind: (part, y_pool[rows], error_estimator.judge(part))
            for kind, part in changed.items()
        },
        "peers": [dle(error_estimator, X, power) for power in (1, 2)]
        if task == "regression"
        else [],
    }


def batch_size(y_pool):
    """Rows of a batch, so that draws from the pool are not always the same rows."""
    return min(BATCH, len(y_pool) // 3)


def measure_case(case, base):
    """Lines of all batches of one table and model."""
    X, y, judgement = case["pool"]
    random = np.random.RandomState(1)
    for shift, odds in batches(X, y, base["task"], random):
        rows = draw(odds, batch_size(y), random)
        batch = take(X, rows), y[rows], rows_of(judgement, rows)
        yield from measure(case["error_estimator"], *batch, case["peers"], {**base, "shift": shift})
    for shift, batch in case["changed"].items():
        yield from measure(case["error_estimator"], *batch, case["peers"], {**base, "shift": shift})


def compare_same(name, split):
    """Lines for batches of the same distribution: p value, and the number of columns that are said to have moved."""
    X, y = fetch_table(name)
    order = np.random.RandomState(split).permutation(len(y))
    size = min(1000, len(y) // 2)
    learned, others = order[:size], order[size : size + 5 * BATCH]
    model = encoded(LogisticRegression(max_iter=2000), X)
    error_estimator = IndividualErrorClassifier(
        model, indicators=Confidence(), cv=2, random_state=0
    )
    error_estimator.fit(take(X, learned), y[learned])
    for rows in np.array_split(others, 5):
        comparison = compare_rows(error_estimator, take(X, rows))
        yield {
            "table": name,
            "split": split,
            "n": len(rows),
            "p_value": comparison.p_value,
            "moved": len(comparison.moved),
        }


def measure_same(out):
    """Share of false alarms, for splits that were not measured yet and all others."""
    for split in range(6):
        for name in [*list_tables("classification", "tabular"), *SAME_TABLES]:
            file = out / f"same-{name}-{split}.csv"
            if not file.exists():
                pd.DataFrame(compare_same(name, split)).to_csv(file, index=False)
    lines = pd.concat([pd.read_csv(file) for file in sorted(out.glob("same-*.csv"))])
    print(f"{len(lines)} batches of the same distribution")
    print(
        f"other rows: {(lines.p_value <= 0.05).mean():.3f}; a column: {(lines.moved > 0).mean():.3f}"
    )


def summary(lines):
    """Table of the excess over noise of each estimate, and of how often intervals hold and reasons are given."""
    rows = []
    for (metric, shift), part in lines.groupby(["metric", "shift"], sort=False):
        given = part[part.reason.isna()]
        inside = (given.low <= given.truth + 1e-12) & (given.truth <= given.high + 1e-12)
        excess = {
            column: np.sqrt(max(0, ((given[column] - given.truth) ** 2 - given.noise).mean()))
            for column in ("before", "peer", "plain", "estimate")
        }
        rows.append(
            {
                "metric": metric,
                "shift": shift,
                "batches": len(part),
                **{f"excess {column}": 100 * value for column, value in excess.items()},
                "of peer": excess["estimate"] / max(excess["peer"], 1e-12),
                "covered": inside.mean(),
                "width": 100 * (given.high - given.low).mean(),
                "reason": part.reason.notna().mean(),
                "alarms": (part.p_value <= 0.05).mean(),
                "some column": (part.moved > 0).mean(),
            }
        )
    return pd.DataFrame(rows).round(3)


def all_cases(chosen):
    """Task, table, name of the model and the model."""
    for task in ("classification", "regression"):
        for name in tables(task):
            for model_name, model in models(task).items():
                if not chosen or name in chosen:
                    yield task, name, model_name, model


def main():
    """Fit the cases that are missing, measure those that were not measured, and sum up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--fit-only", action="store_true")
    parser.add_argument("--same", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.same:
        measure_same(options.out)
        return
    measured = []
    for task, name, model_name, model in all_cases(options.tables):
        fitted = options.out / f"{name}-{model_name}.joblib"
        lines = fitted.with_suffix(".csv")
        if not fitted.exists():
            joblib.dump(fit_case(name, model, task), fitted)
        if options.fit_only:
            continue
        if not lines.exists():
            base = {"task": task, "table": name, "model": model_name}
            pd.DataFrame(measure_case(joblib.load(fitted), base)).to_csv(lines, index=False)
        measured.append(pd.read_csv(lines))
    if measured:
        print(summary(pd.concat(measured)).to_string(index=False))


if __name__ == "__main__":
    main()
