"""Figure 9.5 of Duda, Hart and Stork: three Gaussian models of eight points in the plane."""

from pathlib import Path
from typing import Any, Self

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import multivariate_normal
from sklearn.base import BaseEstimator, ClassifierMixin

from reproduction.duda_figure_9_4 import SHOWN, draw_errors
from reproduction.results import Floats, Ints, progress, text_table, write_table
from surefoot.resampling import boundary_bias

N_POINTS, LEAST_PER_CLASS = 8, 3
MEANS = np.array([[-1.0, -0.4], [1.0, 0.4]])
COVARIANCES = np.array([[[1.0, 0.5], [0.5, 0.9]], [[0.7, -0.2], [-0.2, 1.3]]])
KINDS = {"a) full": "full", "b) diagonal": "diagonal", "c) unit": "unit"}
N_SETS, QUICK_SETS, N_TEST = 1000, 40, 2000
# Points of the plane at which the figure is computed.
SIDE = np.linspace(-3.5, 3.5, 150)
PLANE = np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2)


class GaussianModel(ClassifierMixin, BaseEstimator):
    """A Gaussian for each of two equally likely classes, by maximum likelihood.

    Parameters
    ----------
    covariance : {"full", "diagonal", "unit"}, default="full"
        Form of the covariance; with "unit" only the means are learned.
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
        second = second_class(X, self.means_, self.covariances_)
        return np.column_stack([1 - second, second])

    def predict(self, X: Floats) -> NDArray[Any]:
        """The more likely class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def second_class(X: Floats, means: Floats, covariances: Floats) -> Floats:
    """Probability of the second of two Gaussians."""
    first, second = (
        multivariate_normal(mean, covariance, allow_singular=True).logpdf(X)
        for mean, covariance in zip(means, covariances, strict=True)
    )
    return np.asarray(expit(second - first))


def truth(X: Floats) -> Floats:
    """F, the probability of the second class."""
    return second_class(X, MEANS, COVARIANCES)


def run(out: Path, *, quick: bool = False) -> str:
    """Measure boundary bias and variance, write `duda-figure-9-5.csv` and the figure."""
    n_sets = QUICK_SETS if quick else N_SETS
    X_test = draw_points(np.random.RandomState(1), N_TEST)
    bayes = float(np.minimum(truth(X_test), 1 - truth(X_test)).mean())
    table: list[dict[str, Any]] = []
    errors = {}
    for name, kind in progress(KINDS.items(), total=len(KINDS), label="models"):
        model = GaussianModel(kind)
        result = boundary_bias(
            model, None, None, X_test, truth=truth, sampler=draw, n_resamples=n_sets, random_state=0
        )
        errors[name] = errors_by_set(model, X_test, n_sets)
        terms = ("boundary_bias", "variance", "disagreement", "observed_disagreement")
        means = {term: getattr(result, term).mean() for term in terms}
        table.append({"model": name, **means, "error": errors[name].mean()})
    write_table(out / "duda-figure-9-5.csv", table, ".5f")
    draw_figure(out / "duda-figure-9-5.png", errors, bayes)
    title = (
        f"Mean over the plane, {n_sets} training sets of 8 points; the Bayes error is {bayes:.3f}"
    )
    rows = [["", "boundary bias", "variance", "disagreement", "observed", "error"]]
    rows += [[name, *(f"{v:.3f}" for v in values)] for name, *values in map(dict.values, table)]
    return f"{title}\n{text_table(rows)}"


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


def errors_by_set(model: GaussianModel, X_test: Floats, n_sets: int) -> Floats:
    """Probability of a wrong label, for the model of each training set."""
    random, F = np.random.RandomState(0), truth(X_test)
    fits = (model.fit(*draw(random)).predict(X_test) for _ in range(n_sets))
    return np.array([np.where(predicted == 1, 1 - F, F).mean() for predicted in fits])


def draw_figure(path: Path, errors: dict[str, Floats], bayes: float) -> None:
    """Draw the truth, the boundaries of three training sets, and the histogram of the error below."""
    figure = Figure(figsize=(9, 14), layout="constrained")
    top, rest = figure.subfigures(2, 1, height_ratios=[1, SHOWN + 0.8])  # type: ignore[misc]
    ax = top.subplots()
    for mean, spread, color in zip(MEANS, COVARIANCES, ("#0072B2", "#E69F00"), strict=True):
        density = multivariate_normal(mean, spread).pdf(PLANE)
        contour(ax, density, levels=4, colors=color, linewidths=1)
    contour(ax, truth(PLANE), levels=[0.5], colors="#1a1a1a")
    ax.set(title="true distributions and the Bayes boundary", aspect="equal", xticks=[], yticks=[])
    axes = rest.subplots(SHOWN + 1, len(KINDS))
    random = np.random.RandomState(2)
    for row in axes[:SHOWN]:
        X, y = draw(random)
        for ax, kind in zip(row, KINDS.values(), strict=True):
            draw_boundary(ax, GaussianModel(kind).fit(X, y), X, y)
    titled = {f"{name} covariance": values for name, values in errors.items()}
    draw_errors(axes, titled, (bayes, 0.5), "error")
    figure.savefig(path, dpi=110)


def contour(ax: Any, values: Floats, *, filled: bool = False, **options: Any) -> None:
    """Draw contours of values at the points of the plane."""
    method = ax.contourf if filled else ax.contour
    method(SIDE, SIDE, values.reshape(len(SIDE), len(SIDE)), **options)


def draw_boundary(ax: Any, model: GaussianModel, X: Floats, y: Ints) -> None:
    """Draw the regions and the boundary of a model, the true boundary, and the training points."""
    second = model.predict_proba(PLANE)[:, 1]
    contour(ax, second, filled=True, levels=[0, 0.5, 1], colors=["#cfe3f1", "#fbe7c6"])
    contour(ax, second, levels=[0.5], colors="#D55E00")
    contour(ax, truth(PLANE), levels=[0.5], colors="#1a1a1a", linestyles=":")
    ax.scatter(*X.T, c=np.where(y == 1, "#E69F00", "#0072B2"), edgecolors="#1a1a1a", s=36, zorder=3)
    ax.set(aspect="equal", xticks=[], yticks=[], xlim=(-3.5, 3.5), ylim=(-3.5, 3.5))
