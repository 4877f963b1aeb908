"""Cross-fitting: outputs and columns of a row from models and neighbours that never saw it (out of fold)."""

from surefoot._crossfit._fitter import (
    MOST_LEARNED_ROWS,
    CrossFit,
    CrossFitter,
    Fold,
    HeldOutOutputs,
    units_of,
)
from surefoot._crossfit._panel import (
    ModelRows,
    Panel,
    PanelOutput,
    build_panels,
    join,
    named,
)
from surefoot._typing import settle

__all__ = [
    "MOST_LEARNED_ROWS",
    "CrossFit",
    "CrossFitter",
    "Fold",
    "HeldOutOutputs",
    "ModelRows",
    "Panel",
    "PanelOutput",
    "build_panels",
    "join",
    "named",
    "units_of",
]

settle(__name__)
