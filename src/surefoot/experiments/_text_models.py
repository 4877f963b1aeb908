"""The five classifiers of texts that Bennett (2007, section 4.2) combines, and the indicators of their reliability."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from surefoot import Confidence, KernelKNeighborsClassifier, LocalSensitivity
from surefoot._typing import Floats
from surefoot.datasets import term_information
from surefoot.indicators import Indicator, NeighborDistance
from surefoot.neighborhoods import Neighborhood

# Terms of a topic that its tree may ask for.
TREE_TERMS = 300


class _LogOdds:
    """Naive Bayes by its log-odds: as probabilities of long texts they are 0 or 1."""

    predict_joint_log_proba: Any

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of the second class."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(joint[:, 1] - joint[:, 0])


class BernoulliLogOdds(_LogOdds, BernoulliNB):
    """The multivariate model: which words occur."""


class MultinomialLogOdds(_LogOdds, MultinomialNB):
    """The multinomial model: how often."""


class TermCount(Indicator):
    """How much there is to read: the logarithm of the number of known terms; more is more trustworthy."""

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """One column."""
        rows = neighborhood.inputs
        counts = np.diff(rows.indptr) if issparse(rows) else (np.asarray(rows) != 0).sum(axis=1)
        return np.log1p(counts)[:, None]

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """The column itself."""
        return self.columns(neighborhood)[:, 0]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name of the column."""
        return np.array(["log_terms"], dtype=object)


def base_models() -> list[tuple[str, Any]]:
    """The five by name: nearest neighbours, linear SVM, decision tree and both kinds of naive Bayes."""
    tree = DecisionTreeClassifier(min_samples_leaf=3, random_state=0)
    select = SelectKBest(term_information, k=TREE_TERMS)
    return [
        ("knn", KernelKNeighborsClassifier(kernel="cosine")),
        ("svm", LinearSVC(random_state=0)),
        ("tree", make_pipeline(select, tree)),
        ("bernoulli", BernoulliLogOdds(alpha=0.1)),
        ("multinomial", MultinomialLogOdds(alpha=0.1)),
    ]


def paper_metaclassifier() -> Any:
    """The linear SVM that combines the columns in the paper, on columns within the range of the held-out ones."""
    svm = LinearSVC(C=0.1, dual=False, max_iter=10_000, random_state=0)
    return make_pipeline(MinMaxScaler(clip=True), StandardScaler(), svm)


def reliability() -> dict[str, list[Indicator]]:
    """The indicators of each: sensitivity where the texts themselves are the input, and confidence."""
    sensitivity = LocalSensitivity(per_class=True)
    both: list[Indicator] = [sensitivity, Confidence()]
    return {
        "knn": [*both, NeighborDistance(n_neighbors=(1, 10)), TermCount()],
        "svm": both,
        "tree": [Confidence()],
        "bernoulli": both,
        "multinomial": both,
    }
