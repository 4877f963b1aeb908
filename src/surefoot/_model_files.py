"""Models on disk: read and written by skops, which makes nothing but what is on a list."""

import io
import zipfile
from pathlib import Path
from typing import Any

from skops.io import dumps, get_untrusted_types, loads
from skops.io.exceptions import UntrustedTypesFoundException

from surefoot._files import write_whole
from surefoot._words import listed, reason

# What models of `surefoot fit` are made of, besides what skops trusts by itself: scikit-learn's estimators,
# NumPy's arrays, Python's own containers. None of it runs what the file says; but the nodes of a tree are not
# checked by scikit-learn, and those of a forged file could crash the process.
TRUSTED = (
    "functools.partial",
    "numpy.dtype",
    "pandas.DataFrame",
    "pandas.core.frame.DataFrame",  # its name before pandas 3
    "scipy._lib.array_api_compat.numpy._aliases.asarray",
    "scipy.interpolate._bsplines.BSpline",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.tree._tree.Tree",
    "sklearn.utils.validation.check_array",
    "skrub._apply_to_each_col.ApplyToEachCol",
    "skrub._check_input.CheckInputDataFrame",
    "skrub._clean_categories.CleanCategories",
    "skrub._clean_null_strings.CleanNullStrings",
    "skrub._dataframe._common.is_any_date",
    "skrub._dataframe._common.is_categorical",
    "skrub._dataframe._common.is_numeric",
    "skrub._datetime_encoder.DatetimeEncoder",
    "skrub._datetime_encoder._SplineEncoder",
    "skrub._drop_uninformative.DropUninformative",
    "skrub._duration_to_float.DurationToFloat",
    "skrub._squashing_scaler.SquashingScaler",
    "skrub._squashing_scaler._MinMaxScaler",
    "skrub._string_encoder.StringEncoder",
    "skrub._table_vectorizer.PassThrough",
    "skrub._table_vectorizer.ShortReprDict",
    "skrub._table_vectorizer.TableVectorizer",
    "skrub._table_vectorizer._created_by_predicate",
    "skrub._to_categorical.ToCategorical",
    "skrub._to_datetime.ToDatetime",
    "skrub._to_float.ToFloat",
    "skrub._to_str.ToStr",
    "skrub.selectors._base.All",
    "skrub.selectors._base.And",
    "skrub.selectors._base.Cols",
    "skrub.selectors._base.Filter",
    "skrub.selectors._base.Sub",
    "skrub.selectors._selectors._cardinality_below",
    "surefoot._crossfit._panel.Panel",
    "surefoot._models._frame_parts.FrameParts",
    "surefoot._models._model_input.MixedInput",
    "surefoot._models._model_input.ModelInput",
    "surefoot._models._model_input.NumericInput",
    "surefoot._models._response.Response",
    "surefoot._models._vectorizer._as_objects",
    "surefoot._models._vectorizer._half_a_difference_each",
    "surefoot._models._vectorizer._infinite_to_gap",
    "surefoot.error_estimation._classifier.IndividualErrorClassifier",
    "surefoot.error_estimation._error_probability.ErrorProbability",
    "surefoot.error_estimation._error_size.ErrorSize",
    "surefoot.error_estimation._error_size.LineThenTrees",
    "surefoot.error_estimation._judgement.HeldOut",
    "surefoot.error_estimation._regressor.FoldFit",
    "surefoot.error_estimation._regressor.IndividualErrorRegressor",
    "surefoot.error_estimation._row.Row",
    "surefoot.error_estimation._shrunk_logistic.ShrunkLogisticRegression",
    "surefoot.indicators._confidence.Confidence",
    "surefoot.indicators._local_sensitivity.LocalSensitivity",
    "surefoot.indicators._neighbor_disagreement.NeighborDisagreement",
    "surefoot.indicators._neighbor_distance.NeighborDistance",
    "surefoot.indicators._second_opinion.SecondOpinion",
    "surefoot.neighborhoods._neighborhood.NeighborhoodIndex",
    "surefoot.neighborhoods._space.NeighborSpace",
)

# How a pickle begins, and what joblib compresses it to.
PICKLES = (b"\x80", b"\x78", b"\x1f\x8b", b"\x04\x22\x4d\x18", b"BZ", b"\xfd7zXZ", b"]\0\0")


class ModelFileError(ValueError):
    """A file that holds no model that can be loaded, in one sentence."""


def model_content(model: Any) -> bytes:
    """Contents of a skops file, compressed: most of it is names, again and again."""
    return dumps(model, compression=zipfile.ZIP_DEFLATED)


def save_model(model: Any, path: Path) -> None:
    """Write a model with skops: the whole file, or none."""
    write_whole(path, model_content(model))


def load_model(path: Path) -> Any:
    """Model from a skops file that is made of nothing but trusted types; one sentence if that cannot be."""
    content = read_content(path)
    try:
        return loads(content, trusted=list(TRUSTED))
    except UntrustedTypesFoundException as error:
        others = sorted(set(get_untrusted_types(data=content)) - set(TRUSTED))
        raise ModelFileError(_why_untrusted(path, others)) from error
    except (AttributeError, ImportError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{path} is a broken skops file, or was saved by other versions."
        ) from error


def _why_untrusted(path: Path, types: list[str]) -> str:
    """Sentence for types that are not on the list; surefoot's own have moved since the file was written."""
    foreign = [name for name in types if not name.startswith("surefoot.")]
    if foreign:
        return f"{path} is not loaded: it holds {listed(foreign)}, which surefoot does not trust."
    return (
        f"{path} was saved by another version of surefoot, whose models are laid out differently: "
        "fit the model again with this one."
    )


def read_content(path: Path) -> bytes:
    """Contents of a skops file; one sentence for anything else."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {reason(error)}.") from error
    if content.startswith(PICKLES):
        raise ModelFileError(
            f"{path} is a pickle, and loading a pickle runs any code in it: save the model with skops.io.dump."
        )
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise ModelFileError(f"{path} is not a skops file.")
    return content
