"""Models on disk: read and written by skops, which makes nothing but what is on a list."""

import io
import zipfile
from pathlib import Path
from typing import Any

from skops.io import dumps, get_untrusted_types, loads
from skops.io.exceptions import UntrustedTypesFoundException

from surefoot.cli._mistakes import Mistake, listed, reason
from surefoot.cli._output import write_output

# What models of `surefoot fit` are made of, besides what skops trusts by itself: scikit-learn's estimators,
# NumPy's arrays, Python's own containers. None of it runs what the file says; but the nodes of a tree are not
# checked by scikit-learn, and those of a forged file could crash the process.
TRUSTED = (
    "functools.partial",
    "numpy.dtype",
    "pandas.DataFrame",
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
    "surefoot.error_estimation._classifier.IndividualErrorClassifier",
    "surefoot.error_estimation._error_probability.ErrorProbability",
    "surefoot.error_estimation._individual_error.HeldOut",
    "surefoot.error_estimation._judgement.Judgement",
    "surefoot.error_estimation._judgement.LineThenTrees",
    "surefoot.error_estimation._regressor.FoldFit",
    "surefoot.error_estimation._regressor.IndividualErrorRegressor",
    "surefoot.error_estimation._row.Row",
    "surefoot.error_estimation._shrunk_logistic.ShrunkLogisticRegression",
    "surefoot.indicators._confidence.Confidence",
    "surefoot.indicators._local_sensitivity.LocalSensitivity",
    "surefoot.indicators._neighbor_disagreement.NeighborDisagreement",
    "surefoot.indicators._neighbor_distance.NeighborDistance",
    "surefoot.indicators._panel.Panel",
    "surefoot.indicators._second_opinion.SecondOpinion",
    "surefoot.neighborhoods._frame_parts.FrameParts",
    "surefoot.neighborhoods._model_input.MixedInput",
    "surefoot.neighborhoods._model_input.ModelInput",
    "surefoot.neighborhoods._model_input.NumericInput",
    "surefoot.neighborhoods._neighborhood.NeighborhoodIndex",
    "surefoot.neighborhoods._response.Response",
    "surefoot.neighborhoods._space.NeighborSpace",
    "surefoot.neighborhoods._space._as_objects",
    "surefoot.neighborhoods._space._half_a_difference_each",
    "surefoot.neighborhoods._space._infinite_to_gap",
)

# How a pickle begins, and what joblib compresses it to.
PICKLES = (b"\x80", b"\x78", b"\x1f\x8b", b"\x04\x22\x4d\x18", b"BZ", b"\xfd7zXZ", b"]\0\0")


def save_model(model: Any, path: Path) -> None:
    """Write a model with skops, compressed: most of it is names, again and again."""
    write_output(path, dumps(model, compression=zipfile.ZIP_DEFLATED))


def load_model(path: Path) -> Any:
    """Read a model that is made of nothing but trusted types; one sentence if that cannot be."""
    data = model_bytes(path)
    try:
        return loads(data, trusted=list(TRUSTED))
    except UntrustedTypesFoundException as error:
        others = sorted(set(get_untrusted_types(data=data)) - set(TRUSTED))
        raise Mistake(
            f"{path} is not loaded: it holds {listed(others)}, which surefoot does not trust."
        ) from error
    except (AttributeError, ImportError, KeyError, TypeError, ValueError) as error:
        raise Mistake(f"{path} is a broken skops file, or was saved by other versions.") from error


def model_bytes(path: Path) -> bytes:
    """Contents of a skops file; one sentence for anything else."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Mistake(f"{path} cannot be read: {reason(error)}.") from error
    if data.startswith(PICKLES):
        raise Mistake(
            f"{path} is a pickle, and loading a pickle runs any code in it: save the model with skops.io.dump."
        )
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise Mistake(f"{path} is not a skops file.")
    return data
