"""Cross-fitting: outputs and columns of a row from models and neighbours that never saw it (out of fold)."""

from surefoot._crossfit._fitter import (
    MOST_LEARNED_ROWS,
    CrossFit,
    Fold,
    TrainingRows,
    cross_fit,
    cross_predict,
    named,
    units_of,
)
from surefoot._crossfit._panel import Outputs, Panel, build_panel
from surefoot._typing import settle

__all__ = [
    "MOST_LEARNED_ROWS",
    "CrossFit",
    "Fold",
    "Outputs",
    "Panel",
    "TrainingRows",
    "build_panel",
    "cross_fit",
    "cross_predict",
    "named",
    "units_of",
]

settle(__name__)
