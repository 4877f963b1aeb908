"""What all displays are drawn with: colours, and axes of a figure of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which differ for every kind of colour vision.
INK, GREY = "#1a1a1a", "#b5b5b5"
BLUE, SKY, ORANGE, VERMILION = "#0072B2", "#56B4E9", "#E69F00", "#D55E00"
GREEN, PINK = "#009E73", "#CC79A7"


def new_axes() -> Axes:
    """Axes of a new figure, or one sentence that says what they need."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("Displays need matplotlib: pip install 'surefoot[plots]'.") from error
    return plt.subplots(figsize=(6.4, 6.4), layout="constrained")[1]
