"""Support vector machines: libsvm reads as many numbers as the sizes of other arrays say."""

from typing import Any

import numpy as np

from surefoot._model_files._refusal import require

ALTERED = "the support vectors in it do not fit its coefficients"


def check_libsvm(model: Any) -> None:
    """Refuse a support vector machine whose arrays do not fit each other."""
    own = vars(model)
    if "support_vectors_" not in own:
        return
    require(own.get("_sparse") is False and not callable(own["kernel"]), ALTERED)
    vectors, support, counts = own["support_vectors_"], own["support_"], own["_n_support"]
    check_array(vectors, np.float64, 2)
    check_array(support, np.int32, 1)
    check_array(counts, np.int32, 1)
    is_classifier = type(model).__name__ in ("SVC", "NuSVC")
    n_classes = len(own["classes_"]) if is_classifier else 2
    n_pairs = n_classes * (n_classes - 1) // 2
    n_vectors = len(support)
    total = counts.sum() if is_classifier else counts[0]
    require(len(counts) == n_classes >= 2 and counts.min() >= 0 and total == n_vectors, ALTERED)
    check_shape(own["_dual_coef_"], (n_classes - 1, n_vectors))
    check_shape(own["dual_coef_"], (n_classes - 1, n_vectors))
    check_shape(own["_intercept_"], (n_pairs,))
    check_probabilities(own, n_pairs if is_classifier else 1)
    if own["kernel"] == "precomputed":
        n_rows = own["shape_fit_"][0]
        require(support.size == 0 or 0 <= support.min() <= support.max() < n_rows, ALTERED)
        require(own["n_features_in_"] == n_rows and vectors.size == 0, ALTERED)
    else:
        require(vectors.shape == (n_vectors, own["n_features_in_"]), ALTERED)


def check_probabilities(own: dict[str, Any], n_pairs: int) -> None:
    """Refuse coefficients of probabilities that are neither absent nor one for each pair of classes."""
    for name in ("_probA", "_probB"):
        check_array(own[name], np.float64, 1)
        require(len(own[name]) in (0, n_pairs), ALTERED)


def check_shape(values: Any, shape: tuple[int, ...]) -> None:
    """Refuse anything but numbers in this shape."""
    check_array(values, np.float64, len(shape))
    require(values.shape == shape, ALTERED)


def check_array(values: Any, kind: Any, n_dimensions: int) -> None:
    """Refuse anything but an array of this type and number of dimensions."""
    is_array = isinstance(values, np.ndarray) and values.dtype == kind
    require(is_array and values.ndim == n_dimensions, ALTERED)


CHECKS_OF_SVM = {"sklearn.svm._base.BaseLibSVM": check_libsvm}
