"""Users' models: how they are fitted, the input that they take, and their outputs, all that the core sees of them."""

from surefoot._homes import settle
from surefoot._models._fitting import (
    TagsOfModel,
    check_model,
    class_votes,
    clone_model,
    clone_with_seed,
    fit_model,
    predict_labels,
    saw_no_labels,
    series_model,
    series_window,
    share_of_columns,
    smoothed_targets,
    split_model,
    takes_rows_as_they_are,
)
from surefoot._models._given import GivenOutputs
from surefoot._models._inputs import (
    SAVED_FUNCTIONS,
    MixedInput,
    ModelInput,
    axis_samples,
    default_vectorizer,
    interpolate,
    model_input,
)
from surefoot._models._outputs import Outputs, margin, top_class

__all__ = [
    "GivenOutputs",
    "MixedInput",
    "ModelInput",
    "Outputs",
    "TagsOfModel",
    "axis_samples",
    "check_model",
    "class_votes",
    "clone_model",
    "clone_with_seed",
    "default_vectorizer",
    "fit_model",
    "interpolate",
    "margin",
    "model_input",
    "predict_labels",
    "saw_no_labels",
    "series_model",
    "series_window",
    "share_of_columns",
    "smoothed_targets",
    "split_model",
    "takes_rows_as_they_are",
    "top_class",
]

settle(__name__, *SAVED_FUNCTIONS)
