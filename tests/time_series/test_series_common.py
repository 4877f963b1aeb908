"""scikit-learn's own checks over the estimators of series."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from surefoot.neighborhoods import DTWNeighbors
from surefoot.time_series import KNeighborsDTWClassifier, LocalKNeighborsDTWClassifier

EXPECTED_FAILURES: dict[str, dict[str, str]] = {}


@parametrize_with_checks(
    [DTWNeighbors(), KNeighborsDTWClassifier(), LocalKNeighborsDTWClassifier()],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(type(estimator).__name__, {}),
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
