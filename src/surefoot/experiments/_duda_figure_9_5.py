"""Figure 9.5 of Duda, Hart and Stork: three Gaussian models of eight points in the plane."""

import csv
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import multivariate_normal
from sklearn.base import BaseEstimator, ClassifierMixin

from surefoot._typing import Floats, Ints
from surefoot.experiments._progress import Progress, silent
from surefoot.resampling import boundary_bias

N_POINTS, LEAST_PER_CLASS = 8, 3
MEANS = np.array([[-1.0, -0.4], [1.0, 0.4]])
COVARIANCES = np.array([[[1.0, 0.5], [0.5, 0.9]], [[0.7, -0.2], [-0.2, 1.3]]])
KINDS = {"a) full": "full", "b) diagonal": "diagonal", "c) unit": "unit"}
N_SETS, QUICK_SETS, N_TEST, SHOWN = 1000, 40, 2000, 3


class GaussianModel(ClassifierMixin, BaseEstimator):
    """A Gaussian for each of two equally likely classes, by maximum likelihood.

    Parameters
    ----------
    covariance : {"full", "diagonal", "unit"}, default="full"
        What the covariance may be; with "unit" only the means are learned.
    """

    def __init__(self, covariance: str = "full") -> None:
        self.covariance = covariance

    def fit(self, X: Floats, y: Any) -> Self:
        """Estimate means and covariances."""
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        self.covariances_ = np.array([self._covariance(X[y == label]) for label in self.classes_])
        return self

    def _covariance(self, rows: Floats) -> Floats:
        if self.covariance == "unit":
            return np.eye(rows.shape[1])
        covariance = np.cov(rows.T, ddof=0)
        return covariance if self.covariance == "full" else np.diag(np.diag(covariance))

    def predict_proba(self, X: Floats) -> Floats:
        """Class probabilities with equal priors."""
        second = expit(log_ratio(X, self.means_, self.covariances_))
        return np.column_stack([1 - second, second])

    def predict(self, X: Floats) -> NDArray[Any]:
        """The more likely class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def log_ratio(X: Floats, means: Floats, covariances: Floats) -> Floats:
    """Log density of the second Gaussian less that of the first."""
    first, second = (
        multivariate_normal(mean, covariance, allow_singular=True).logpdf(X)
        for mean, covariance in zip(means, covariances, strict=True)
    )
    return np.asarray(second - first)


def truth(X: Floats) -> Floats:
    """F, the probability of the second class."""
    return np.asarray(expit(log_ratio(X, MEANS, COVARIANCES)))


def draw_points(random: Any, n_points: int) -> Floats:
    """Points of the mixture of both Gaussians."""
    labels = random.randint(0, 2, size=n_points)
    pairs = zip(MEANS, COVARIANCES, strict=True)
    both = [random.multivariate_normal(mean, spread, size=n_points) for mean, spread in pairs]
    return np.where(labels[:, None] == 1, both[1], both[0])


def draw(random: Any) -> tuple[Floats, Ints]:
    """Eight points, labelled by the true boundary as in the book; each class has enough for a covariance."""
    while True:
        X = draw_points(random, N_POINTS)
        y = (truth(X) > 0.5).astype(np.int64)
        if LEAST_PER_CLASS <= y.sum() <= N_POINTS - LEAST_PER_CLASS:
            return X, y


def run(out: Path, *, quick: bool = False, progress: Progress = silent) -> str:
    """Measure boundary bias and variance, write `duda-figure-9-5.csv` and the figure."""
    n_sets = QUICK_SETS if quick else N_SETS
    X_test = draw_points(np.random.RandomState(1), N_TEST)
    bayes = float(np.minimum(truth(X_test), 1 - truth(X_test)).mean())
    rows, errors = [], {}
    for name, kind in progress(KINDS.items(), total=len(KINDS), label="models"):
        model = GaussianModel(kind)
        result = boundary_bias(
            model, None, None, X_test, truth=truth, sampler=draw, n_resamples=n_sets, random_state=0
        )
        errors[name] = errors_by_set(model, X_test, n_sets)
        terms = (result.boundary_bias, result.variance, result.disagreement)
        values = [
            *(float(term.mean()) for term in terms),
            float(result.observed_disagreement.mean()),
        ]
        rows.append([name, *values, float(errors[name].mean())])
    path = out / "duda-figure-9-5.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        names = ["boundary_bias", "variance", "disagreement", "observed_disagreement", "error"]
        writer.writerow(["model", *names])
        writer.writerows([name, *(f"{value:.5f}" for value in values)] for name, *values in rows)
    written = [path, *_draw(out / "duda-figure-9-5.png", errors, bayes)]
    lines = [
        f"{'':<13}{'boundary bias':>14}{'variance':>10}{'disagreement':>14}{'observed':>10}{'error':>8}"
    ]
    lines += [
        f"{name:<13}{bias:14.3f}{variance:10.3f}{predicted:14.3f}{seen:10.3f}{error:8.3f}"
        for name, bias, variance, predicted, seen, error in rows
    ]
    title = (
        f"Mean over the plane, {n_sets} training sets of 8 points; the Bayes error is {bayes:.3f}"
    )
    return "\n".join([title, *lines, "", f"Written to {', '.join(map(str, written))}"])


def errors_by_set(model: GaussianModel, X_test: Floats, n_sets: int) -> Floats:
    """Probability of a wrong label, for the model of each training set."""
    random, F = np.random.RandomState(0), truth(X_test)
    errors = []
    for _ in range(n_sets):
        predicted = model.fit(*draw(random)).predict(X_test)
        errors.append(np.where(predicted == 1, 1 - F, F).mean())
    return np.array(errors)


def _draw(path: Path, errors: dict[str, Floats], bayes: float) -> list[Path]:
    """The truth, the boundaries of three training sets, and the histogram of the error below."""
    if find_spec("matplotlib") is None:
        return []
    from matplotlib.figure import Figure  # noqa: PLC0415 - only this figure needs it

    figure = Figure(figsize=(9, 14), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=[1, SHOWN + 0.8])
    top, rest = parts
    side = np.linspace(-3.5, 3.5, 150)
    plane = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    shape = (len(side), len(side))
    ax = top.subplots()
    for mean, spread, color in zip(MEANS, COVARIANCES, ("#0072B2", "#E69F00"), strict=True):
        density = multivariate_normal(mean, spread).pdf(plane).reshape(shape)
        ax.contour(side, side, density, levels=4, colors=color, linewidths=1)
    ax.contour(side, side, truth(plane).reshape(shape), levels=[0.5], colors="#1a1a1a")
    ax.set(title="true distributions and the Bayes boundary", aspect="equal", xticks=[], yticks=[])
    axes = rest.subplots(SHOWN + 1, len(KINDS))
    random = np.random.RandomState(2)
    sets = [draw(random) for _ in range(SHOWN)]
    for c, (name, kind) in enumerate(KINDS.items()):
        axes[0, c].set_title(f"{name} covariance")
        for r, (X, y) in enumerate(sets):
            _draw_boundary(axes[r, c], GaussianModel(kind).fit(X, y), X, y, side, plane)
        ax = axes[SHOWN, c]
        ax.hist(errors[name], bins=np.linspace(bayes, 0.5, 41), color="#56B4E9")
        ax.axvline(errors[name].mean(), color="#D55E00")
        ax.set(yticks=[], xlabel="error")
    for r in range(SHOWN):
        axes[r, 0].set_ylabel(f"training set {r + 1}")
    figure.savefig(path, dpi=110)
    return [path]


def _draw_boundary(
    ax: Any, model: GaussianModel, X: Floats, y: NDArray[Any], side: Floats, plane: Floats
) -> None:
    shape = (len(side), len(side))
    second = model.predict_proba(plane)[:, 1].reshape(shape)
    ax.contourf(side, side, second, levels=[0, 0.5, 1], colors=["#cfe3f1", "#fbe7c6"])
    ax.contour(side, side, second, levels=[0.5], colors="#D55E00")
    ax.contour(
        side, side, truth(plane).reshape(shape), levels=[0.5], colors="#1a1a1a", linestyles=":"
    )
    ax.scatter(*X.T, c=np.where(y == 1, "#E69F00", "#0072B2"), edgecolors="#1a1a1a", s=36, zorder=3)
    ax.set(aspect="equal", xticks=[], yticks=[], xlim=(-3.5, 3.5), ylim=(-3.5, 3.5))
