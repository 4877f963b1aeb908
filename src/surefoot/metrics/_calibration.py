"""Measures of how far probabilities are from observed frequencies."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.fft import dct, idct
from scipy.optimize import brentq
from sklearn.utils import check_consistent_length, check_scalar

from surefoot._typing import Floats
from surefoot._validation import check_binary, check_vector, check_weights

GRID_STEPS = 2**14


class BrierDecomposition(NamedTuple):
    """Three parts of a Brier score, which is reliability − resolution + uncertainty."""

    reliability: float
    resolution: float
    uncertainty: float


def smooth_calibration_error(y_true: Any, probability: Any, *, sample_weight: Any = None) -> float:
    """Calibration error, smoothed by a kernel that chooses its own bandwidth, lower better.

    The residuals, label minus probability, are smoothed over the probabilities with a
    Gaussian kernel that is reflected at 0 and at 1. The error at a bandwidth is the integral of the
    absolute value of the smoothed residuals, and the result is the one bandwidth that equals its own
    error (smECE, [1]_). There are no bins to choose, and it does not jump when a probability moves a little.

    Residuals are placed on a grid of 16,384 steps of width h, each shared between the two points beside
    it, so time is linear in the rows. That changes a result s by less than (h / s)², which is below
    0.00004 where s is 0.01 or more; usually by less than a hundredth of it.

    With few rows even perfectly calibrated probabilities have some error, because residuals cancel only
    in part: compare with the error of labels that are drawn from the probabilities.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels 0 and 1, or False and True.
    probability : array-like of shape (n_rows,)
        Probability of a 1.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.

    Returns
    -------
    error : float
        From 0 to 1.

    See Also
    --------
    brier_decomposition : Sharpness and calibration in one sum.

    References
    ----------
    .. [1] J. Błasiok and P. Nakkiran. Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing.
       ICLR 2024.

    Examples
    --------
    All residuals have one sign, so no bandwidth lets them cancel, and their mean is left:

    >>> from surefoot.metrics import smooth_calibration_error
    >>> round(smooth_calibration_error([0, 0, 0, 0], [0.1, 0.2, 0.3, 0.8]), 6)
    0.35
    """
    labels, forecasts, weights = _check_forecasts(y_true, probability, sample_weight)
    masses = _on_grid(forecasts, weights / weights.sum() * (labels - forecasts))
    spectrum = dct(masses / _grid_widths(), type=1)
    unsmoothed = float(np.abs(masses).sum())
    # Smoothing more leaves less, so the difference falls and has one root.
    return float(
        brentq(lambda width: _smoothed_error(spectrum, width) - width, 0.0, 2 * unsmoothed)
    )


def brier_decomposition(
    y_true: Any, probability: Any, *, n_bins: int | None = None, sample_weight: Any = None
) -> BrierDecomposition:
    """Reliability (lower better), resolution (higher better) and uncertainty of a Brier score.

    The Brier score, the mean of (probability − label)², is exactly reliability − resolution +
    uncertainty. Rows with the same probability make a group:

    - reliability is the mean squared distance between a group's probability and its share of ones;
    - resolution is the variance of these shares around the share of ones in all rows;
    - uncertainty is the variance of the labels, which no model can change.

    If hardly any two rows have the same probability, every group is one row, and the parts are uninformative. Then
    `n_bins` makes groups of similar probabilities, each represented by its mean. So that the
    sum stays exact, resolution also takes in twice the covariance of probabilities and labels
    within the bins minus the variance of the probabilities within them [1]_.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels 0 and 1, or False and True.
    probability : array-like of shape (n_rows,)
        Probability of a 1.
    n_bins : int, default=None
        Number of equally wide bins from 0 to 1; by default each distinct probability is one.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.

    Returns
    -------
    decomposition : named tuple
        With the fields `reliability`, `resolution` and `uncertainty`.

    References
    ----------
    .. [1] D. B. Stephenson, C. A. S. Coelho and I. T. Jolliffe. Two Extra Components in the Brier Score
       Decomposition. Weather and Forecasting 23, 2008.

    Examples
    --------
    >>> from surefoot.metrics import brier_decomposition
    >>> parts = brier_decomposition([0, 0, 0, 1, 0, 1, 1, 1], [0.25] * 4 + [0.5] * 4)
    >>> parts.reliability, parts.resolution, parts.uncertainty
    (0.03125, 0.0625, 0.25)
    """
    labels, forecasts, weights = _check_forecasts(y_true, probability, sample_weight)
    weights = weights / weights.sum()
    keys = forecasts
    if n_bins is not None:
        check_scalar(n_bins, "n_bins", Integral, min_val=1)
        keys = np.minimum(np.floor(forecasts * n_bins), n_bins - 1)
    group = np.unique(keys, return_inverse=True)[1]
    mass = np.bincount(group, weights)
    share = np.bincount(group, weights * labels) / mass
    center = np.bincount(group, weights * forecasts) / mass
    base = float(weights @ labels)
    offset, surprise = forecasts - center[group], labels - share[group]
    within = weights @ (2.0 * offset * surprise - offset**2)
    return BrierDecomposition(
        reliability=float(mass @ (center - share) ** 2),
        resolution=float(mass @ (share - base) ** 2 + within),
        uncertainty=float(weights @ (labels - base) ** 2),
    )


def _check_forecasts(
    y_true: Any, probability: Any, sample_weight: Any
) -> tuple[Floats, Floats, Floats]:
    """Labels, probabilities and weights of the rows that have a weight."""
    labels = check_binary(y_true, "y_true")
    forecasts = check_vector(probability, "probability")
    check_consistent_length(labels, forecasts)
    if forecasts.min() < 0 or forecasts.max() > 1:
        raise ValueError("probability has values outside 0 to 1.")
    weights = check_weights(sample_weight, labels)
    counted = weights > 0
    return labels[counted], forecasts[counted], weights[counted]


def _grid_widths() -> Floats:
    """Width that each point of the grid stands for: half a step at both ends."""
    cells = np.full(GRID_STEPS + 1, 1.0 / GRID_STEPS)
    cells[[0, -1]] /= 2.0
    return cells


def _on_grid(positions: Floats, masses: Floats) -> Floats:
    """Share each mass between the two grid points beside it, so that its mean position stays."""
    place = positions * GRID_STEPS
    left = np.minimum(place.astype(np.int64), GRID_STEPS - 1)
    right_part = (place - left) * masses
    size = GRID_STEPS + 1
    at_left, at_right = (
        np.bincount(left + step, part, size)
        for step, part in ((0, masses - right_part), (1, right_part))
    )
    return np.asarray(at_left + at_right, dtype=np.float64)


def _smoothed_error(spectrum: Floats, width: float) -> float:
    """Integral of the absolute smoothed residuals.

    In the cosine basis, whose functions are symmetric about 0 and 1, the reflected kernel is a
    product. This one is the discrete Gaussian, the heat kernel of the grid, rather than samples of a
    Gaussian: it is positive at every width and never lets more remain as the width grows.
    """
    waves = np.cos(np.linspace(0.0, np.pi, GRID_STEPS + 1))
    kept = np.exp((width * GRID_STEPS) ** 2 * (waves - 1.0))
    return float(np.abs(idct(spectrum * kept, type=1)) @ _grid_widths())
