"""
Which models should vote, and when?
===================================

Stacking learns how much weight each model deserves; striving also learns when.
:class:`~surefoot.ensemble.StriveClassifier` does both: stacking without indicators, striving with them.
"""

# %%
# Two models that fail in different places
# ----------------------------------------
# The labels are swapped in the upper part of the plane. Neither a straight line nor a Gaussian for each class can
# follow that, so no weighted sum of the two can either.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from surefoot.ensemble import StriveClassifier
from surefoot.indicators import Confidence, NeighborDisagreement


def make_corner(n_rows, random_state):
    """Draw points of the plane, with the labels swapped in the upper part."""
    X = np.random.default_rng(random_state).normal(size=(n_rows, 2))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 1)).astype(int)


X, y = make_corner(600, random_state=0)
X_new, y_new = make_corner(4000, random_state=1)

models = [("line", LogisticRegression()), ("bayes", GaussianNB())]
indicators = [NeighborDisagreement(n_neighbors=15), Confidence()]
forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
strive = StriveClassifier(models, indicators, final_estimator=forest, random_state=0).fit(X, y)
stack = strive.with_columns(["line__score", "bayes__score"])

# %%
# The predictions of each model
# -----------------------------
# The indicators show where the labels of near rows contradict a model. There, striving does not trust the model.

answers = {name: found[0].predict(X_new) for name, found in strive.named_estimators_.items()}
answers |= {"stacked": stack.predict(X_new), "striving": strive.predict(X_new)}
figure, axes = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained", sharey=True)
for ax, (name, told) in zip(axes, answers.items(), strict=True):
    ax.scatter(*X_new.T, c=np.where(told == 1, "#E69F00", "#0072B2"), s=3)
    ax.set(title=f"{name}: {np.mean(told != y_new):.1%} wrong", aspect="equal")
    ax.set(xlim=(-3, 3), ylim=(-3, 3), xticks=[], yticks=[])
plt.show()

# %%
# Which indicator is responsible for the gain?
# --------------------------------------------
# Remove the indicators one after the other, first the one whose removal costs least.

for step in strive.backward_selection():
    print(f"{step.dropped or 'nothing left out':<28}{step.score:.3f}")
