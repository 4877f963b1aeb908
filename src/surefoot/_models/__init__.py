"""Users' models: how they are fitted, the input that they take, and their outputs, all that the core sees of them."""

from surefoot._models._inputs import (
    SAVED_FUNCTIONS,
    GivenOutputs,
    MixedInput,
    ModelInput,
    axis_samples,
    interpolate,
    model_input,
)
from surefoot._models._model import (
    Outputs,
    TagsOfModel,
    ask_chosen,
    check_model,
    class_votes,
    clone_model,
    clone_with_seed,
    fit_model,
    margin,
    predict_labels,
    saw_no_labels,
    series_model,
    series_window,
    share_of_columns,
    split_model,
    takes_rows_as_they_are,
    top_class,
)
from surefoot._models._trees import (
    SharedTrees,
    VotingTrees,
)
from surefoot._typing import settle

__all__ = [
    "GivenOutputs",
    "MixedInput",
    "ModelInput",
    "Outputs",
    "SharedTrees",
    "TagsOfModel",
    "VotingTrees",
    "ask_chosen",
    "axis_samples",
    "check_model",
    "class_votes",
    "clone_model",
    "clone_with_seed",
    "fit_model",
    "interpolate",
    "margin",
    "model_input",
    "predict_labels",
    "saw_no_labels",
    "series_model",
    "series_window",
    "share_of_columns",
    "split_model",
    "takes_rows_as_they_are",
    "top_class",
]

settle(__name__, *SAVED_FUNCTIONS)
