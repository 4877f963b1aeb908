"""A model that scikit-learn cannot clone is named, and predictions in a column are taken as they are meant."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot import AbstainingClassifier, IndividualErrorClassifier
from surefoot.active_learning import ActiveLearner


class ColumnClassifier(LogisticRegression):
    """Predicts a column, as CatBoost does for three classes and more."""

    def predict(self, X):
        return super().predict(X)[:, None]


class CopyingClassifier(LogisticRegression):
    """Gives away copies of a parameter, as CatBoost does, which scikit-learn's clone refuses."""

    def __init__(self, cat_features=None):
        super().__init__(max_iter=500)
        self.cat_features = cat_features

    def get_params(self, deep=True):
        given = self.cat_features
        return {"cat_features": list(given) if isinstance(given, list) else given}


X, y = load_iris(return_X_y=True)
MODEL = LogisticRegression(max_iter=500)
COLUMN = ColumnClassifier(max_iter=500)
FIT = {
    "errors": IndividualErrorClassifier(COLUMN, cv=3, random_state=0),
    "abstention": AbstainingClassifier(COLUMN, coverage=0.8, random_state=0),
    "labels": ActiveLearner(COLUMN, random_state=0),
}


@pytest.mark.parametrize("estimator", FIT.values(), ids=FIT)
def test_predictions_in_a_column_are_one_a_row(estimator):
    predictions = estimator.fit(X, y).predict(X)
    np.testing.assert_array_equal(predictions, estimator.estimator_.predict(X)[:, 0])


def test_a_column_is_right_as_often_as_the_labels_in_it():
    kinds = [IndividualErrorClassifier(model, cv=3, random_state=0) for model in (MODEL, COLUMN)]
    plain, column = (kind.fit(X, y).judge(X) for kind in kinds)
    np.testing.assert_array_equal(column.prediction, plain.prediction)
    np.testing.assert_array_equal(column.error, plain.error)


def test_a_model_that_cannot_be_cloned_is_named_with_its_parameter():
    model = CopyingClassifier(cat_features=["plan"])
    with pytest.raises(RuntimeError, match="Cannot clone object"):
        clone(model)
    for estimator in (
        IndividualErrorClassifier(model),
        IndividualErrorClassifier(make_pipeline(StandardScaler(), model)),
        AbstainingClassifier(model, coverage=0.8),
        ActiveLearner(model),
    ):
        with pytest.raises(ValueError, match="cannot clone") as caught:
            estimator.fit(X, y)
        assert str(caught.value) == (
            "scikit-learn cannot clone CopyingClassifier, which does not keep cat_features as it was given: "
            "pass cat_features as a tuple if it is a list, or pass a fitted model in FrozenEstimator."
        )


def test_an_error_of_another_kind_stays_as_it_is():
    class Stubborn(LogisticRegression):
        def __sklearn_clone__(self):
            raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match=r"^out of memory$"):
        IndividualErrorClassifier(Stubborn()).fit(X, y)
