"""Cross-fitting: scores and columns of a row from models and neighbours that never saw it (out of fold)."""

from surefoot._crossfit._checks import check_rows, check_training_rows, known_classes
from surefoot._crossfit._cross_fit import CrossFit
from surefoot._crossfit._cross_fitter import MOST_LEARNED_ROWS, CrossFitter
from surefoot._crossfit._ensembles import ask_chosen, check_same_rows, common_classes
from surefoot._crossfit._input_sample import InputSample, sample_inputs, single_precision
from surefoot._crossfit._panel import Panel, PanelOutput, attach_all, named, with_fixed_seed
from surefoot._crossfit._shared_neighborhood import SharedNeighborhood, index_for, may_share

__all__ = [
    "MOST_LEARNED_ROWS",
    "CrossFit",
    "CrossFitter",
    "InputSample",
    "Panel",
    "PanelOutput",
    "SharedNeighborhood",
    "ask_chosen",
    "attach_all",
    "check_rows",
    "check_same_rows",
    "check_training_rows",
    "common_classes",
    "index_for",
    "known_classes",
    "may_share",
    "named",
    "sample_inputs",
    "single_precision",
    "with_fixed_seed",
]
