"""A user's model: how it is fitted, the input that it takes, its scores, and how its rows are stored."""

from surefoot._models._fitting import (
    check_model,
    clone_model,
    clone_with_seed,
    fit_model,
    predict_labels,
    share_of_columns,
    smoothed_targets,
)
from surefoot._models._model_input import (
    MixedInput,
    ModelInput,
    NumericInput,
    model_input,
    preprocesses_inside,
    series_model,
    series_window,
    split_model,
)
from surefoot._models._response import Response, margin, top_class
from surefoot._models._samples import axis_samples, interpolate
from surefoot._models._vectorizer import default_vectorizer

__all__ = [
    "MixedInput",
    "ModelInput",
    "NumericInput",
    "Response",
    "axis_samples",
    "check_model",
    "clone_model",
    "clone_with_seed",
    "default_vectorizer",
    "fit_model",
    "interpolate",
    "margin",
    "model_input",
    "predict_labels",
    "preprocesses_inside",
    "series_model",
    "series_window",
    "share_of_columns",
    "smoothed_targets",
    "split_model",
    "top_class",
]
