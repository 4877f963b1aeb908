"""
A number of neighbours for every series
=======================================

How many neighbours should vote on the class of a time series? One is best where classes are clear,
more are better where labels are noisy, and both can happen in the same data. This example gives
wrong labels to the best hubs of a synthetic set: the series that are most often the nearest
neighbour of others. It compares a single neighbour, one number for all series, and a number for
each series.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefoot.datasets import make_cylinder_bell_funnel
from surefoot.neighborhoods import hubness, infect_hubs
from surefoot.resampling import HoldoutSplit
from surefoot.time_series import DTWNeighbors, KNeighborsDTWClassifier, LocalKNeighborsDTWClassifier

# %%
# Three shapes with noise: a plateau, a rise, a fall.

X, y = make_cylinder_bell_funnel(450, random_state=0)
figure, axes = plt.subplots(1, 3, figsize=(9, 2.2), sharey=True, layout="constrained")
for ax, name in zip(axes, np.unique(y), strict=True):
    ax.plot(X[y == name][:3].T, linewidth=0.8)
    ax.set_title(name)

# %%
# A few series are the nearest neighbour of many others: the counts are skewed.

X_train, y_train, X_test, y_test = X[:300], y[:300], X[300:], y[300:]
nearest = DTWNeighbors(1, window=0.1).fit(X_train).kneighbors(return_distance=False)
found = hubness(nearest, y_train)
print(f"skewness {found.skewness:.1f}, best hub: nearest of {found.good_occurrences.max()} series")

# %%
# Mislabel more and more of the best hubs, in the training part only, and classify the test part.

models = {
    "one neighbour": KNeighborsDTWClassifier(window=0.1),
    "best number for all": LocalKNeighborsDTWClassifier(
        cv=HoldoutSplit(4 / 9, random_state=0),
        shrinkage=np.inf,
        label_trust=np.inf,
        weights="uniform",
        window=0.1,
    ),
    "a number for each": LocalKNeighborsDTWClassifier(window=0.1),
}
shares = [0, 0.05, 0.1, 0.15, 0.2]
scores = {name: [] for name in models}
for share in shares:
    labels = infect_hubs(y_train, nearest, share)
    for name, model in models.items():
        scores[name].append(model.fit(X_train, labels).score(X_test, y_test))

figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
for name, accuracies in scores.items():
    ax.plot(shares, accuracies, marker="o", label=name)
ax.set(xlabel="share of hubs mislabelled", ylabel="accuracy on clean test series")
ax.legend()

# %%
# The last model was fitted with a fifth of the labels wrong. It reports the number of neighbours for
# each series, here the largest allowed, and the estimated probability of an error. This estimate is
# high, because it is measured with labels of which a fifth are wrong.

local = models["a number for each"]
sizes, counts = np.unique(local.predict_n_neighbors(X_test), return_counts=True)
print(dict(zip(sizes.tolist(), counts.tolist(), strict=True)))
print(local.predict_error(X_test[:5]).round(2))
plt.show()
