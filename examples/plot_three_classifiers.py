"""
Boosting with three classifiers
===============================

The oldest form of boosting trains three classifiers, each on rows that the ones before select (Schapire 1990). This
page draws the figure that Duda, Hart and Stork (2001) have of it: three straight boundaries, and what they decide
together.
"""

# %%
# Three sets of rows
# ------------------
# The first classifier learns from rows drawn at random. The second learns from rows of which the first classifies
# half correctly. The third learns from rows on which the first two disagree.
# :class:`~surefoot.ensemble.FilterBoostingClassifier` looks for a size of the first set with which the three sets are
# about equally large. The classifier here remembers its rows, for the figure.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from surefoot.ensemble import FilterBoostingClassifier


class Stump(DecisionTreeClassifier):
    """Decision on one column that remembers the rows it learned from."""

    def fit(self, X, y):
        """Learn the cut and keep the rows."""
        self.rows_ = X, y
        return super().fit(X, y)


X, y = make_moons(900, noise=0.2, random_state=0)
X_test, y_test = make_moons(5000, noise=0.2, random_state=1)
boosted = FilterBoostingClassifier(Stump(max_depth=1), random_state=0).fit(X, y)
print("rows of each set:", boosted.set_sizes_)

# %%
# Where the first two agree, their class is the answer, elsewhere the class of the third.

span = [
    np.linspace(low - 0.4, high + 0.4, 200) for low, high in zip(X.min(0), X.max(0), strict=True)
]
plane = np.stack(np.meshgrid(*span), axis=-1).reshape(-1, 2)
panels = {f"C{i}, learned from D{i}": c for i, c in enumerate(boosted.estimators_, start=1)}
panels["all three"] = boosted

figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained", sharex=True, sharey=True)
for ax, (name, model) in zip(axes.ravel(), panels.items(), strict=True):
    regions = model.predict(plane).reshape(200, 200)
    ax.contourf(*span, regions, levels=[-0.5, 0.5, 1.5], colors=["#cfe3f1", "#fbe7c6"])
    rows, labels = (X, y) if model is boosted else model.rows_
    ax.scatter(*rows.T, c=np.where(labels == 1, "#E69F00", "#0072B2"), s=7)
    ax.set(title=f"{name}: {model.score(X_test, y_test):.1%} right", xticks=[], yticks=[])
plt.show()

# %%
# How large is the gain?
# ----------------------
# One classifier, fitted to all rows, beside three, in ten draws of the rows. Boosting helps a weak learner: the stump
# gains. The best line through all rows is no weak learner here; three lines, each of fewer rows, are worse.

learners = {"stump": DecisionTreeClassifier(max_depth=1), "line": LogisticRegression()}
for name, learner in learners.items():
    alone, together = [], []
    for seed in range(10):
        X, y = make_moons(900, noise=0.2, random_state=10 + seed)
        alone.append(learner.fit(X, y).score(X_test, y_test))
        three = FilterBoostingClassifier(learner, random_state=seed).fit(X, y)
        together.append(three.score(X_test, y_test))
    low, high = min(together), max(together)
    print(
        f"{name}: {np.mean(alone):.1%} right; three: {np.mean(together):.1%} ({low:.1%} to {high:.1%})"
    )
