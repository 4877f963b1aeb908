"""Encoders, vectorizers and splines: what they store becomes places in a sparse matrix, or in memory."""

from typing import Any

import numpy as np

from surefoot._model_files._refusal import require

MOST_COLUMNS = 2**31 - 1

OTHER_KNOTS = "a spline in it has knots that do not fit its coefficients"
OTHER_CATEGORIES = "an encoder in it has columns that do not fit its categories"


def check_one_hot(encoder: Any) -> None:
    """Refuse an encoder that would set a column that there is not."""
    own = vars(encoder)
    if "categories_" not in own:
        return
    categories = own["categories_"]
    dropped = own["_drop_idx_after_grouping"]
    groups = own.get("_default_to_infrequent_mappings", [None] * len(categories))
    rare = own.get("_infrequent_indices", [None] * len(categories))
    sizes = own["_n_features_outs"]
    lengths = {len(part) for part in (categories, groups, rare, sizes)}
    require(len(lengths) == 1 and own["n_features_in_"] in lengths, OTHER_CATEGORIES)
    if not own.get("_infrequent_enabled", False):
        groups = rare = [None] * len(categories)
    for i, known in enumerate(categories):
        drop = None if dropped is None else dropped[i]
        check_category(known, groups[i], rare[i], drop, sizes[i])


def check_category(known: Any, groups: Any, rare: Any, drop: Any, n_columns: Any) -> None:
    """Refuse categories of one column that lead beyond its places among the new columns."""
    require(isinstance(known, np.ndarray) and known.ndim == 1, OTHER_CATEGORIES)
    if known.dtype.kind != "O":
        check_sorted(known)
    n_groups = len(known)
    require((groups is None) == (rare is None), OTHER_CATEGORIES)
    if groups is not None:
        require(groups.dtype.kind == "i" and groups.shape == known.shape, OTHER_CATEGORIES)
        n_groups = int(groups.max()) + 1
        require(groups.min() >= 0 and n_groups <= len(known), OTHER_CATEGORIES)
        require(0 <= rare.min() <= rare.max() < len(known), OTHER_CATEGORIES)
    require(drop is None or 0 <= drop < n_groups, OTHER_CATEGORIES)
    require(n_columns == n_groups - (drop is not None), OTHER_CATEGORIES)


def check_sorted(known: Any) -> None:
    """Refuse categories out of order: they are found by bisection. A NaN comes last."""
    has_gap = known.dtype.kind == "f" and len(known) > 0 and np.isnan(known[-1])
    values = known[:-1] if has_gap else known
    require((values[:-1] < values[1:]).all(), OTHER_CATEGORIES)


def check_vocabulary(vectorizer: Any) -> None:
    """Refuse words that stand for columns that there are not."""
    words = vars(vectorizer).get("vocabulary_")
    if words is not None:
        columns = np.fromiter(words.values(), dtype=np.int64, count=len(words))
        fits = np.array_equal(np.sort(columns), np.arange(len(columns)))
        require(fits, "the words of a vectorizer in it do not fit its columns")


def check_labels(binarizer: Any) -> None:
    """Refuse labels that stand for columns that there are not."""
    places = vars(binarizer).get("_cached_dict") or {}
    n_classes = len(vars(binarizer).get("classes_", ()))
    fits = all(0 <= place < n_classes for place in places.values())
    require(fits, "the labels of a binarizer in it do not fit its columns")


def check_hasher(hasher: Any) -> None:
    """Refuse a hasher into no columns, or into more than there can be."""
    n_columns = vars(hasher).get("n_features")
    fits = isinstance(n_columns, (int, np.integer)) and 1 <= n_columns <= MOST_COLUMNS
    require(fits, "a hasher in it has no columns, or too many")


def check_spline(spline: Any) -> None:
    """Refuse a spline without fitting numbers, which from scipy 1.18 on are those of a part of it."""
    part = vars(spline).get("_delegate_to")
    if part is None:
        check_knots(spline)
    else:
        require(type(part).__name__ == "_BSpline", OTHER_KNOTS)


def check_knots(spline: Any) -> None:
    """Refuse a spline whose knots, coefficients and degree do not fit each other."""
    own = vars(spline)
    require(own.get("_delegate_to") is None, OTHER_KNOTS)
    knots, coefficients = own.get("_t", own.get("t")), own.get("_c", own.get("c"))
    degree = own["k"]
    for values in (knots, coefficients):
        require(isinstance(values, np.ndarray) and values.dtype == np.float64, OTHER_KNOTS)
    require(type(degree) is int and 0 <= degree <= 100 and knots.ndim == 1, OTHER_KNOTS)
    n_needed = len(knots) - degree - 1
    require(n_needed >= degree + 1 and coefficients.ndim >= 1, OTHER_KNOTS)
    require(len(coefficients) >= n_needed and 0 <= own["axis"] < coefficients.ndim, OTHER_KNOTS)
    require(np.isfinite(knots).all() and (np.diff(knots) >= 0).all(), OTHER_KNOTS)
    require(knots[degree] < knots[n_needed], OTHER_KNOTS)


CHECKS_OF_ENCODERS = {
    "scipy.interpolate._bsplines.BSpline": check_spline,
    "scipy.interpolate._bsplines._BSpline": check_knots,
    "sklearn.feature_extraction._dict_vectorizer.DictVectorizer": check_vocabulary,
    "sklearn.feature_extraction._hash.FeatureHasher": check_hasher,
    "sklearn.feature_extraction.text.CountVectorizer": check_vocabulary,
    "sklearn.feature_extraction.text.HashingVectorizer": check_hasher,
    "sklearn.preprocessing._encoders.OneHotEncoder": check_one_hot,
    "sklearn.preprocessing._label.MultiLabelBinarizer": check_labels,
}
