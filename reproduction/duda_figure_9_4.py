"""Figure 9.4 of Duda, Hart and Stork: four models of a few points from a noisy cubic, and of more and more points."""

from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from reproduction.results import Floats, progress, text_table, write_table
from surefoot.resampling import bias_variance

N_POINTS, NOISE = 6, 0.2
GRID = np.linspace(-1, 1, 101)[:, None]
N_SETS, QUICK_SETS = 2000, 50
SHOWN = 3
# Sizes of training sets as n grows, training sets of each, and those of them that are drawn.
SIZES, N_GROWING, OVERLAID = (6, 20, 60, 200, 600, 2000), 500, 15
PANELS = (6, 60, 600)


class FixedLine(RegressorMixin, BaseEstimator):
    """A line that does not depend on its training rows."""

    def __init__(self, intercept: float = 0.0, slope: float = 0.0) -> None:
        self.intercept = intercept
        self.slope = slope

    def fit(self, X: Any, y: Any) -> Self:
        """Learn nothing."""
        self.n_features_in_ = 1
        return self

    def predict(self, X: Floats) -> Floats:
        """The line."""
        return np.asarray(self.intercept + self.slope * np.asarray(X)[:, 0])


MODELS = {
    "a) fixed, poor": FixedLine(-0.6, -0.3),
    "b) fixed, better": FixedLine(0.0, 0.2),
    "c) fitted cubic": make_pipeline(PolynomialFeatures(3), LinearRegression()),
    "d) fitted line": LinearRegression(),
}


def run(out: Path, *, quick: bool = False) -> str:
    """Split the errors, write `duda-figure-9-4.csv` and the figure, and return the table as text."""
    n_sets = QUICK_SETS if quick else N_SETS
    table = [split_error(name, N_POINTS, n_sets) for name in MODELS]
    errors = {name: errors_by_set(model, n_sets) for name, model in MODELS.items()}
    write_table(out / "duda-figure-9-4.csv", table, ".5f")
    draw_figure(out / "duda-figure-9-4.png", errors)
    jobs = [(name, n_points, min(n_sets, N_GROWING)) for n_points in SIZES for name in MODELS]
    label = "models and sizes"
    growing = [split_error(*job) for job in progress(jobs, total=len(jobs), label=label)]
    write_table(out / "duda-figure-9-4-growing.csv", growing, ".6f")
    draw_panels(out / "duda-figure-9-4-growing.png", growing)
    title = f"Mean over the interval, against F without noise, {n_sets} training sets of 6 points"
    rows = [["", "bias²", "variance", "error"]]
    rows += [[name, *(f"{v:.4f}" for v in values)] for name, _, *values in map(dict.values, table)]
    low, high = winning_slopes(table[-1]["error"])
    return "\n".join(
        [
            f"{title}\n{text_table(rows)}",
            f"A fixed line through 0 beats the fitted line if its slope is between {low:.2f} and {high:.2f}.",
            f"\nBias² and variance as n grows, {min(n_sets, N_GROWING)} training sets of each size",
            text_table(growing_rows(growing)),
            f"Against targets with noise, each bias² is larger by the variance of the noise, {NOISE**2:.2f}.",
        ]
    )


def split_error(name: str, n_points: int, n_sets: int) -> dict[str, Any]:
    """Bias², variance and error of a model over training sets of n points, means over the interval."""
    result = bias_variance(
        MODELS[name],
        None,
        None,
        GRID,
        truth=truth,
        sampler=partial(draw, n_points=n_points),
        n_resamples=n_sets,
        random_state=0,
    )
    means = {"bias2": float(result.mean_bias2), "variance": float(result.mean_variance)}
    return {"model": name, "n": n_points, **means, "error": float(result.mean_error)}


def growing_rows(growing: list[dict[str, Any]]) -> list[list[str]]:
    """Bias² and variance of each model, by n across."""
    rows = [["", *(f"n = {n_points}" for n_points in SIZES)]]
    for name in MODELS:
        own = [row for row in growing if row["model"] == name]
        rows += [
            [f"{name}: {what}", *(f"{r[what]:.5f}" for r in own)] for what in ("bias2", "variance")
        ]
    return rows


def winning_slopes(error: float) -> tuple[float, float]:
    """Slopes between which a fixed line through 0 has a smaller error than the given one; NaN if there are none."""
    x, F = GRID[:, 0], truth(GRID)
    best = float(x @ F / (x @ x))
    reach = (error - float(np.mean((F - best * x) ** 2))) / float(np.mean(x**2))
    half = float(np.sqrt(reach)) if reach >= 0 else float("nan")
    return best - half, best + half


def truth(X: Floats) -> Floats:
    """The cubic F."""
    return np.asarray(1.5 * X[:, 0] ** 3 - 0.3 * X[:, 0])


def draw(random: Any, n_points: int = N_POINTS) -> tuple[Floats, Floats]:
    """Points of the noisy cubic, one in each of n equal parts of the way."""
    x = -1 + 2 * (np.arange(n_points) + random.uniform(size=n_points)) / n_points
    X = x[:, None]
    return X, truth(X) + random.normal(0, NOISE, size=n_points)


def errors_by_set(model: Any, n_sets: int) -> Floats:
    """Mean squared distance from F over the interval, for the model of each training set."""
    random = np.random.RandomState(0)
    fits = [clone(model).fit(*draw(random)).predict(GRID) for _ in range(n_sets)]
    return np.asarray(((np.array(fits) - truth(GRID)) ** 2).mean(axis=1))


def draw_figure(path: Path, errors: dict[str, Floats]) -> None:
    """Draw three training sets and their models, and the histogram of the error under each column."""
    figure = Figure(figsize=(11, 9.5), layout="constrained")
    axes = figure.subplots(SHOWN + 1, len(MODELS))
    random = np.random.RandomState(3)
    sets = [draw(random) for _ in range(SHOWN)]
    for c, model in enumerate(MODELS.values()):
        for ax, (X, y) in zip(axes[:, c], sets, strict=False):
            ax.plot(GRID, truth(GRID), color="#1a1a1a", linewidth=1)
            ax.plot(GRID, clone(model).fit(X, y).predict(GRID), color="#D55E00", linewidth=2)
            ax.plot(X, y, "o", color="#0072B2", markersize=5)
            ax.set(ylim=(-1.8, 1.8), xticks=[], yticks=[])
    highest = 1.25 * max(float(np.quantile(values, 0.98)) for values in errors.values())
    draw_errors(axes, errors, (0, highest), "E, mean squared error")
    figure.savefig(path, dpi=110)


def draw_errors(
    axes: Any, errors: dict[str, Floats], limits: tuple[float, float], label: str
) -> None:
    """Draw a histogram of the errors of each model in the last row of axes, and name columns and rows."""
    for column, (name, values) in zip(axes.T, errors.items(), strict=True):
        column[0].set_title(name)
        column[-1].hist(values, bins=np.linspace(*limits, 41), color="#56B4E9")
        column[-1].axvline(values.mean(), color="#D55E00")
        column[-1].set(yticks=[], xlabel=label)
    for r in range(SHOWN):
        axes[r, 0].set_ylabel(f"training set {r + 1}")
    axes[SHOWN, 0].set_ylabel(f"{len(next(iter(errors.values())))} training sets")


def draw_panels(path: Path, growing: list[dict[str, Any]]) -> None:
    """Draw the models of many training sets for growing n, and bias² and variance by n under each column."""
    figure = Figure(figsize=(11, 9.5), layout="constrained")
    axes = figure.subplots(len(PANELS) + 1, len(MODELS))
    for r, n_points in enumerate(PANELS):
        random = np.random.RandomState(3)
        sets = [draw(random, n_points) for _ in range(OVERLAID)]
        for ax, model in zip(axes[r], MODELS.values(), strict=True):
            for X, y in sets:
                fit = clone(model).fit(X, y).predict(GRID)
                ax.plot(GRID, fit, color="#D55E00", linewidth=0.8, alpha=0.5)
            ax.plot(GRID, truth(GRID), color="#1a1a1a", linewidth=1)
            ax.set(ylim=(-1.8, 1.8), xticks=[], yticks=[])
        axes[r, 0].set_ylabel(f"n = {n_points}")
    for column, name in zip(axes.T, MODELS, strict=True):
        own = [row for row in growing if row["model"] == name]
        column[0].set_title(name)
        for what, color in (("bias2", "#0072B2"), ("variance", "#E69F00")):
            values = np.maximum([row[what] for row in own], 1e-7)
            column[-1].loglog(SIZES, values, "o-", color=color, markersize=4, label=what)
        column[-1].set(ylim=(1e-7, 2), xlabel="n")
    axes[-1, 0].set_ylabel("mean over the interval")
    axes[-1, 0].legend(["bias²", "variance"], frameon=False, fontsize="small")
    figure.savefig(path, dpi=110)
