"""Types that models of `surefoot fit` are made of, and the one way in which each may be stored."""

# The name of one type, from pandas 3 on and before.
FRAMES = ("pandas.DataFrame", "pandas.core.frame.DataFrame")

# Besides these skops trusts scikit-learn's estimators, NumPy's arrays and Python's own containers. A name counts for
# one loader only: as a function, say, and not as something that is called with whatever the file holds.
TRUSTED: dict[str, tuple[str, ...]] = {
    "DTypeNode": ("numpy.dtype",),
    "DictNode": ("surefoot._models._frame_parts.FrameParts",),
    "FunctionNode": (
        "scipy._lib.array_api_compat.numpy._aliases.asarray",
        "sklearn.utils.validation.check_array",
        "skrub._dataframe._common.is_any_date",
        "skrub._dataframe._common.is_categorical",
        "skrub._dataframe._common.is_numeric",
        "skrub._table_vectorizer._created_by_predicate",
        "skrub.selectors._selectors._cardinality_below",
        "surefoot._models._vectorizer._as_objects",
        "surefoot._models._vectorizer._half_a_difference_each",
        "surefoot._models._vectorizer._infinite_to_gap",
    ),
    "ObjectNode": (
        "scipy.interpolate._bsplines.BSpline",
        "scipy.interpolate._bsplines._BSpline",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.neighbors._kd_tree.KDTree",
        "skrub._apply_to_each_col.ApplyToEachCol",
        "skrub._check_input.CheckInputDataFrame",
        "skrub._clean_categories.CleanCategories",
        "skrub._clean_null_strings.CleanNullStrings",
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
        "skrub._to_categorical.ToCategorical",
        "skrub._to_datetime.ToDatetime",
        "skrub._to_float.ToFloat",
        "skrub._to_str.ToStr",
        "skrub.selectors._base.All",
        "skrub.selectors._base.And",
        "skrub.selectors._base.Cols",
        "skrub.selectors._base.Filter",
        "skrub.selectors._base.Sub",
        "surefoot._boosted_trees.BoostedTrees",
        "surefoot._crossfit._input_sample.InputSample",
        "surefoot._crossfit._panel.Panel",
        "surefoot._models._model_input.MixedInput",
        "surefoot._models._model_input.ModelInput",
        "surefoot._models._model_input.NumericInput",
        "surefoot._models._response.Response",
        "surefoot._priors._size_prior.SizePrior",
        "surefoot._tables._plain.PlainColumn",
        "surefoot.error_estimation._classifier.IndividualErrorClassifier",
        "surefoot.error_estimation._error_probability.ErrorProbability",
        "surefoot.error_estimation._error_size.ErrorSize",
        "surefoot.error_estimation._error_size.LineThenTrees",
        "surefoot.error_estimation._judgement.HeldOut",
        "surefoot.error_estimation._pretrained_logistic.PretrainedLogisticRegression",
        "surefoot.error_estimation._prior.ErrorPrior",
        "surefoot.error_estimation._prior.NormalScores",
        "surefoot.error_estimation._regressor.IndividualErrorRegressor",
        "surefoot.error_estimation._row.Row",
        "surefoot.error_estimation._shrunk_logistic.ShrunkLogisticRegression",
        "surefoot.error_estimation._shrunk_size.ShrunkSize",
        "surefoot.indicators._confidence.Confidence",
        "surefoot.indicators._local_sensitivity.LocalSensitivity",
        "surefoot.indicators._neighbor_disagreement.NeighborDisagreement",
        "surefoot.indicators._neighbor_distance.NeighborDistance",
        "surefoot.indicators._second_opinion.SecondOpinion",
        "surefoot.neighborhoods._neighborhood.NeighborhoodIndex",
        "surefoot.neighborhoods._space.NeighborSpace",
    ),
    "PartialNode": ("functools.partial",),
    "TreeNode": ("sklearn.tree._tree.Tree",),
    "TupleNode": ("surefoot.error_estimation._fold_fit.FoldFit",),
    "TypeNode": FRAMES,
}

# Parts of boosting that skops trusts by itself, but not from its first version that we take.
PARTS_OF_BOOSTING = (
    "sklearn._loss.link.HalfLogitLink",
    "sklearn._loss.link.IdentityLink",
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogLink",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.link.MultinomialLogit",
    "sklearn._loss.loss.AbsoluteError",
    "sklearn._loss.loss.ExponentialLoss",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn._loss.loss.HalfGammaLoss",
    "sklearn._loss.loss.HalfMultinomialLoss",
    "sklearn._loss.loss.HalfPoissonLoss",
    "sklearn._loss.loss.HalfSquaredError",
    "sklearn._loss.loss.HuberLoss",
    "sklearn._loss.loss.PinballLoss",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
)

LOADER_OF = {
    **dict.fromkeys(PARTS_OF_BOOSTING, "ObjectNode"),
    **{name: loader for loader, names in TRUSTED.items() for name in names},
}

# Whose types may be trusted. One of another package is named besides what it holds: who saved a model knows it by that.
PACKAGES = frozenset({"_loss", "builtins", "collections"}).union(
    name.partition(".")[0] for name in LOADER_OF
)

# Where skops alone decides which types it trusts. Not here: methods, operators, and types that are called with stored
# arguments, which can run what they were not meant to; and sparse matrices, whose archive lies within the archive.
LOADERS = frozenset(TRUSTED) | {
    "BytesNode",
    "DefaultDictNode",
    "JsonNode",
    "ListNode",
    "LossNode",
    "MaskedArrayNode",
    "NdArrayNode",
    "RandomGeneratorNode",
    "RandomStateNode",
    "SetNode",
    "SliceNode",
}

# Modules that a spline of scipy 1.18 finds for itself, when it is loaded.
NAMESPACES = ("scipy._external.array_api_compat.numpy",)

# The only places where a model of ours holds a function, or a module: its owner's type, the attribute, the functions.
PLACES_OF_FUNCTIONS = {
    ("scipy.interpolate._bsplines.BSpline", "_asarray"): (
        "scipy._lib.array_api_compat.numpy._aliases.asarray",
    ),
    ("scipy.interpolate._bsplines.BSpline", "_xp"): NAMESPACES,
    ("scipy.interpolate._bsplines.BSpline", "_xp_internal"): NAMESPACES,
    ("sklearn.preprocessing._function_transformer.FunctionTransformer", "func"): (
        "functools.partial",
        "surefoot._models._vectorizer._as_objects",
        "surefoot._models._vectorizer._half_a_difference_each",
        "surefoot._models._vectorizer._infinite_to_gap",
    ),
    ("skrub.selectors._base.Filter", "predicate"): (
        "skrub._dataframe._common.is_any_date",
        "skrub._dataframe._common.is_categorical",
        "skrub._dataframe._common.is_numeric",
        "skrub._table_vectorizer._created_by_predicate",
        "skrub.selectors._selectors._cardinality_below",
    ),
    ("surefoot._models._model_input.NumericInput", "frame_type"): FRAMES,
}

# What `functools.partial` may wrap: how boosting checks its numbers.
WRAPPED_FUNCTIONS = ("sklearn.utils.validation.check_array",)
