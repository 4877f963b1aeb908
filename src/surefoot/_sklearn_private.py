"""Private names of scikit-learn that have no public twin, each with the reason why it is needed."""

# Named models as scikit-learn's own votes and stacks have them: get_params reaches into each by its name.
from sklearn.ensemble._base import _BaseHeterogeneousEnsemble as HeterogeneousEnsemble

# The base of forests, to know one by its class: its trees share rows and answer without checks.
from sklearn.ensemble._forest import BaseForest

# The weights by which a fitted nearest-neighbour model votes, for its exact leave-one-out answers.
from sklearn.neighbors._base import _get_weights as neighbor_weights

# The nodes of a decision tree, to know them in a stored model: nothing else may stand in their place.
from sklearn.tree._tree import Tree

# The number of threads that scikit-learn's neighbour search uses, in whatever context.
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads as n_search_threads

# A limit of the threads of OpenMP and BLAS: looking for these libraries takes milliseconds, so it is done once.
from sklearn.utils.parallel import _get_threadpool_controller as thread_controller

# Weights checked, broadcast and defaulted exactly as scikit-learn's own estimators do it.
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "BaseForest",
    "HeterogeneousEnsemble",
    "Tree",
    "check_sample_weight",
    "n_search_threads",
    "neighbor_weights",
    "thread_controller",
]
