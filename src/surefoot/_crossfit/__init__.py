"""Cross-fitting: outputs and columns of a row from models and neighbours that never saw it (out of fold)."""

from surefoot._crossfit._fitter import (
    MOST_LEARNED_ROWS,
    CrossFit,
    CrossFitter,
    Fold,
    HeldOutOutputs,
    units_of,
)
from surefoot._crossfit._input_sample import InputSample, sample_inputs, single_precision
from surefoot._crossfit._panel import (
    ModelRows,
    Panel,
    PanelOutput,
    build_panels,
    join,
    named,
    with_fixed_seed,
)
from surefoot._homes import settle

__all__ = [
    "MOST_LEARNED_ROWS",
    "CrossFit",
    "CrossFitter",
    "Fold",
    "HeldOutOutputs",
    "InputSample",
    "ModelRows",
    "Panel",
    "PanelOutput",
    "build_panels",
    "join",
    "named",
    "sample_inputs",
    "single_precision",
    "units_of",
    "with_fixed_seed",
]

settle(__name__)
