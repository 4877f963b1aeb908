"""
Which points does each strategy query?
======================================

There is a pool of points without labels, and an oracle that knows the labels. After a few labels of points that
are far from each other, each strategy chooses the next points in its own way. The figure shows these points, like the
figure on queries in Duda, Hart and Stork.
"""

# %%
# Thirty queries in the plane
# ---------------------------
# Two moons, and a support vector machine. While there is no model, `query` chooses points that are far from each
# other but no outliers (squares). Then every strategy asks six times for the labels of five points (dots; later ones
# are darker).

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.svm import SVC

from surefoot.active_learning import ActiveLearner, query
from surefoot.plots import LearningCurveDisplay

X, y = make_moons(400, noise=0.2, random_state=0)
start = query("margin", None, X, batch_size=10, random_state=0)
strategies = ["random", "margin", "votes", "sensitivity"]

figure, axes = plt.subplots(2, 2, figsize=(10, 7.5), layout="constrained", sharex=True, sharey=True)
for ax, strategy in zip(axes.ravel(), strategies, strict=True):
    learner = ActiveLearner(SVC(gamma=1.0), strategy, random_state=0).fit(X[start], y[start])
    left, asked = np.setdiff1d(np.arange(400), start), []
    for _ in range(6):
        chosen = left[learner.query(X[left], batch_size=5)]
        learner.teach(X[chosen], y[chosen]).fit()
        left, asked = np.setdiff1d(left, chosen), [*asked, *chosen]
    DecisionBoundaryDisplay.from_estimator(
        learner,
        X,
        ax=ax,
        response_method="predict",
        plot_method="contour",
        levels=[0.5],
        colors="grey",
    )
    ax.scatter(*X.T, c=np.where(y == 1, "#E69F00", "#56B4E9"), s=10, alpha=0.5)
    ax.scatter(*X[start].T, marker="s", s=40, facecolors="none", edgecolors="#1a1a1a")
    ax.scatter(
        *X[asked].T,
        c=np.arange(30),
        cmap="Reds",
        vmin=-15,
        s=34,
        edgecolors="#1a1a1a",
        linewidths=0.6,
    )
    ax.set_title(f"{strategy}: {learner.score(X, y):.1%} right with 40 labels")
plt.show()

# %%
# "margin" queries points at the current boundary. "sensitivity" and "votes" query points where the boundary itself is
# uncertain. All of them but "random" take points from different clusters of doubtful points.
#
# How many labels does it take?
# -----------------------------
# The mean of ten random starts, with bands of one standard error. One answer in twenty is wrong.

LearningCurveDisplay.from_estimator(
    SVC(gamma=1.0),
    X,
    y,
    ["random", "margin", "sensitivity"],
    n_labels=60,
    batch_size=5,
    n_repeats=10,
    wrong=0.05,
    random_state=0,
)
plt.show()
