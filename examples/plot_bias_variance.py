"""
Where does the error come from?
===============================

A model can be wrong because it cannot follow the true function (bias), because it changes with every training
set (variance), or because the target itself is noisy. :func:`~surefoot.resampling.bias_variance`
separates these parts at every point, and :class:`~surefoot.plots.BiasVarianceDisplay` draws them.
"""

# %%
# A wave with noise
# -----------------
# The true function is known here, so new training sets can be drawn, each of 40 points.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from surefoot.plots import BiasVarianceDisplay


def wave(X):
    """The true function."""
    return np.sin(7 * X[:, 0])


def draw(random):
    """A fresh training set; the noise has a variance of 0.09."""
    X = random.uniform(0, 1, size=(40, 1))
    return X, wave(X) + random.normal(0, 0.3, size=40)


grid = np.linspace(0, 1, 200)[:, None]
models = {
    "a line": LinearRegression(),
    "15 neighbours": KNeighborsRegressor(15),
    "a deep tree": DecisionTreeRegressor(random_state=0),
}

figure, axes = plt.subplots(1, 3, figsize=(12.5, 4), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    BiasVarianceDisplay.from_estimator(
        model,
        None,
        None,
        grid,
        truth=wave,
        noise=0.09,
        sampler=draw,
        n_resamples=200,
        random_state=0,
        ax=ax,
    )
    ax.set_title(name)
plt.show()

# %%
# The line is wrong where the wave turns, with every training set: that is bias. The tree follows each
# training set, including its noise: that is variance. The 15 neighbours are between these two, and are worst at the
# ends, where a point has neighbours on one side only.
#
# The same for classes
# --------------------
# With 0-1 loss, variance can also *help*: where most training sets lead to the wrong class, a prediction that
# differs is right. This variance is drawn below zero.

X, y = make_moons(200, noise=0.3, random_state=0)
X_test, y_test = make_moons(300, noise=0.3, random_state=1)

figure, axes = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained", sharey=True)
for ax, depth in zip(axes, (1, None), strict=True):
    BiasVarianceDisplay.from_estimator(
        DecisionTreeClassifier(max_depth=depth, random_state=0), X, y, X_test, y_test,
        loss="zero_one", n_resamples=100, random_state=0, ax=ax,
    )  # fmt: skip
    ax.set_title("a stump" if depth else "a deep tree")
plt.show()
