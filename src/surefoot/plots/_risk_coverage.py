"""Risk against coverage: the cost of answering more rows."""

from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier

from surefoot._typing import Floats
from surefoot.metrics import augrc_loss, risk_coverage_curve
from surefoot.plots._display import BLUE, INK, VERMILION, Axes, LegendDisplay

Curve = tuple[Floats, Floats, float]


class RiskCoverageDisplay(LegendDisplay):
    """Mean loss of the answered rows, lower better, against the share of rows that are answered.

    Beside the curve of an estimated error, it shows that of the model's own confidence and that of
    the best possible order. Where rows with equal estimates are answered only in part, the line is what
    a random choice among them is expected to lose. Use `from_predictions` or `from_estimator` to make a
    display; the parameters are stored as attributes.

    Parameters
    ----------
    estimated : tuple of (ndarray, ndarray, float)
        Coverages and risks of the estimated error, as `risk_coverage_curve` gives them, and its
        `augrc_loss`.
    own : tuple of (ndarray, ndarray, float), default=None
        Curve of the model's own confidence.
    oracle : tuple of (ndarray, ndarray, float), default=None
        Curve of the best possible order.
    risk_name : str, default="risk (mean loss)"
        Label of the y axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the figure.
    figure_ : matplotlib Figure
        Figure that contains them.
    lines_ : list of matplotlib Line2D
        The curves: the estimated error, then own confidence and the best order, as far as given.

    See Also
    --------
    surefoot.metrics.risk_coverage_curve : The numbers alone.
    surefoot.metrics.augrc_loss : The number beside each curve in the legend.

    Examples
    --------
    >>> from surefoot.plots import RiskCoverageDisplay
    >>> wrong = [0, 0, 1, 0, 1]
    >>> display = RiskCoverageDisplay.from_predictions(wrong, [0.1, 0.2, 0.2, 0.3, 0.9])
    >>> coverages, risks, augrc = display.estimated
    >>> coverages
    array([0.2, 0.6, 0.8, 1. ])
    >>> risks.round(2)
    array([0.  , 0.33, 0.25, 0.4 ])
    """

    def __init__(
        self,
        *,
        estimated: Curve,
        own: Curve | None = None,
        oracle: Curve | None = None,
        risk_name: str = "risk (mean loss)",
    ) -> None:
        self.estimated = estimated
        self.own = own
        self.oracle = oracle
        self.risk_name = risk_name

    @classmethod
    def from_predictions(
        cls,
        errors: Any,
        estimated_error: Any,
        *,
        own_error: Any = None,
        oracle: bool = True,
        sample_weight: Any = None,
        risk_name: str | None = None,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw the curves of one or two estimates of the same losses.

        Parameters
        ----------
        errors : array-like of shape (n_rows,)
            Loss of each prediction: 0 or 1, or any other number from 0 up.
        estimated_error : array-like of shape (n_rows,)
            Estimate of each loss; rows with the lowest are answered first.
        own_error : array-like of shape (n_rows,), default=None
            The model's own estimate, such as 1 minus its highest probability; lowest first.
        oracle : bool, default=True
            Whether to draw the best possible order.
        sample_weight : array-like of shape (n_rows,), default=None
            Weight of each row.
        risk_name : str, default=None
            Label of the y axis; by default "risk (error rate)" if all losses are 0 or 1, else "risk (mean loss)".
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        display : RiskCoverageDisplay
            The display, drawn.
        """

        def curve(score: Any) -> Curve:
            coverages, risks, _ = risk_coverage_curve(errors, score, sample_weight=sample_weight)
            return coverages, risks, augrc_loss(errors, score, sample_weight=sample_weight)

        estimated = curve(estimated_error)
        if risk_name is None:
            binary = np.isin(np.asarray(errors), (0, 1)).all()
            risk_name = f"risk ({'error rate' if binary else 'mean loss'})"
        return cls(
            estimated=estimated,
            own=None if own_error is None else curve(own_error),
            oracle=curve(errors) if oracle else None,
            risk_name=risk_name,
        ).plot(ax, legend=legend)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        oracle: bool = True,
        sample_weight: Any = None,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw how well a fitted model's `predict_error` estimates its errors on held-out rows.

        The loss is whether the class is wrong, for a regressor the absolute residual. A classifier with
        `predict_proba` gets a second curve, of 1 minus its highest probability.

        Parameters
        ----------
        estimator : estimator instance
            Fitted, with `predict` and `predict_error`.
        X : array-like or frame of shape (n_rows, n_columns)
            Rows that it has not seen.
        y : array-like of shape (n_rows,)
            Their labels or targets.
        oracle : bool, default=True
            Whether to draw the best possible order.
        sample_weight : array-like of shape (n_rows,), default=None
            Weight of each row.
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        display : RiskCoverageDisplay
            The display, drawn.
        """
        if not (hasattr(estimator, "predict") and hasattr(estimator, "predict_error")):
            raise TypeError(
                f"{type(estimator).__name__} does not estimate its errors: "
                "estimator may be a model with predict and predict_error."
            )
        predicted, truth = np.asarray(estimator.predict(X)), np.asarray(y)
        if predicted.shape != truth.shape:
            raise ValueError(f"y has shape {truth.shape}, the predictions {predicted.shape}.")
        own_error = None
        if is_classifier(estimator):
            errors, risk_name = predicted != truth, "risk (error rate)"
            if hasattr(estimator, "predict_proba"):
                own_error = 1.0 - np.max(estimator.predict_proba(X), axis=1)
        else:
            errors, risk_name = np.abs(truth - predicted), "risk (mean |residual|)"
        return cls.from_predictions(
            errors,
            estimator.predict_error(X),
            own_error=own_error,
            oracle=oracle,
            sample_weight=sample_weight,
            risk_name=risk_name,
            ax=ax,
            legend=legend,
        )

    def _draw(self) -> None:
        kinds: list[tuple[Curve | None, str, dict[str, Any]]] = [
            (self.estimated, "estimated error", {"color": BLUE, "linewidth": 2.2, "zorder": 4}),
            (self.own, "own confidence", {"color": VERMILION, "linestyle": (0, (5, 2))}),
            (self.oracle, "best possible order", {"color": INK, "linestyle": (0, (1, 1.5))}),
        ]
        drawn = [(curve, name, style) for curve, name, style in kinds if curve is not None]
        self.lines_ = [
            self.ax_.plot(*_line_points(curve), label=f"{curve[2]:.3g}  {name}", **style)[0]
            for curve, name, style in drawn
        ]
        highest = max(float(np.max(risks)) for (_, risks, _), _, _ in drawn)
        self.ax_.set(xlim=(0.0, 1.0), xlabel="coverage (share answered)")
        self.ax_.set(ylim=(0.0, highest * 1.05 or 1.0), ylabel=self.risk_name)

    def _draw_legend(self) -> None:
        """Draw a legend that covers no curve: below if a layout engine makes room there, else above the curves.

        Distances are in points or measured, because shares of the axes would not do in small ones.
        """
        from matplotlib.transforms import ScaledTranslation  # noqa: PLC0415 - only who draws needs it

        ax = self.ax_
        root: Any = ax.get_figure(root=True)
        style: dict[str, Any] = {"title": "AUGRC, lower is better", "alignment": "left"}
        style |= {"fontsize": "small", "title_fontsize": "small", "frameon": False}
        if root.get_layout_engine() is not None:
            down = ScaledTranslation(0.0, -36 / 72, root.dpi_scale_trans)
            style |= {"bbox_to_anchor": (0.5, 0.0), "bbox_transform": ax.transAxes + down}
            ax.legend(loc="upper center", borderaxespad=0.0, **style)
            return
        height = ax.legend(loc="upper left", **style).get_window_extent().height
        share = min(0.7, 1.1 * height / ax.get_window_extent().height)
        ax.set_ylim(top=ax.get_ylim()[1] / (1.0 - share))


def _line_points(curve: Curve) -> tuple[Floats, Floats]:
    """Coverages and risks of the line, from coverage 0 on; among tied rows, those of a random choice."""
    coverages, risks, _ = curve
    at = np.union1d(coverages, np.linspace(0.0, 1.0, 201)[1:])
    lost = np.interp(at, np.append(0.0, coverages), np.append(0.0, coverages * risks))
    return np.append(0.0, at), np.append(risks[0], lost / at)
