"""
Are the probabilities calibrated?
=================================

When a model predicts 0.9, it should be right nine times out of ten. Here naive Bayes is recalibrated with held-out
(out-of-fold) rows: with one line for all rows, with the help of stability, or separately in each neighbourhood.
"""

# %%
# Four models of the same data
# ----------------------------
# Problem 3 of Friedman (1994) has ten columns, of which the first matter more, and a curved border of the classes.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibrationDisplay
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.naive_bayes import GaussianNB

from surefoot import (
    LocallyRecalibratedClassifier,
    LocalSensitivity,
    RecalibratedClassifier,
)
from surefoot.datasets import make_friedman_problem

X, y = make_friedman_problem(3, n_samples=1000, random_state=0)
X_test, y_test = make_friedman_problem(3, n_samples=5000, random_state=1)

models = {
    "naive Bayes": GaussianNB(),
    "recalibrated": RecalibratedClassifier(GaussianNB(), random_state=0),
    "with stability": RecalibratedClassifier(GaussianNB(), LocalSensitivity(), random_state=0),
    "locally": LocallyRecalibratedClassifier(GaussianNB(), random_state=0),
}
probabilities = {
    name: model.fit(X, y).predict_proba(X_test)[:, 1] for name, model in models.items()
}

# %%
# Three metrics on rows that no model has seen; lower is better for each.

print(f"{'':16}{'error %':>9}{'Brier':>9}{'log loss':>10}")
for name, p in probabilities.items():
    error = 100 * (1 - models[name].score(X_test, y_test))
    brier, loss = brier_score_loss(y_test, p), log_loss(y_test, p)
    print(f"{name:16}{error:9.1f}{brier:9.3f}{loss:10.3f}")

# %%
# A reliability curve on the diagonal means that the probabilities are calibrated. Naive Bayes is underconfident here:
# where it predicts 0.75, nearly all rows are positive.

figure, axes = plt.subplots(1, 4, figsize=(11, 3.3), layout="constrained", sharey=True)
for ax, (name, p) in zip(axes, probabilities.items(), strict=True):
    CalibrationDisplay.from_predictions(y_test, p, n_bins=10, ax=ax, name=name)
    ax.set(title=name, xlabel="predicted probability", ylabel="")
    ax.get_legend().remove()
axes[0].set_ylabel("share of positives")
plt.show()

# %%
# Where a local recalibration helps
# ---------------------------------
# The same score can mean different probabilities in different places. On the left half of this
# square the labels are noisy, on the right half they are nearly certain. A logistic regression of
# the two columns cannot learn that.


def make_half_noisy(n_samples, random_state):
    """Label rows by the sign of the second column plus noise, more of it on the left."""
    rng = np.random.default_rng(random_state)
    X = rng.uniform(-1, 1, size=(n_samples, 2))
    noise = rng.normal(0, np.where(X[:, 0] < 0, 0.8, 0.1))
    return X, (X[:, 1] + noise > 0).astype(int)


X, y = make_half_noisy(1000, random_state=0)
X_test, y_test = make_half_noisy(5000, random_state=1)
alike = RecalibratedClassifier(LogisticRegression(), random_state=0).fit(X, y)
local = LocallyRecalibratedClassifier(LogisticRegression(), random_state=0).fit(X, y)
for name, model in {"everywhere alike": alike, "locally": local}.items():
    print(f"{name:16} log loss {log_loss(y_test, model.predict_proba(X_test)):.3f}")

# %%
# The log-odds of the local model are W0(x) + W1(x)·λ(x). The slope W1 is below one on the left, which makes the
# probabilities less certain, and above one on the right, which makes them more certain.

offset, slope = local.local_weights(X_test)

figure, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
points = ax.scatter(*X_test.T, c=slope, s=8, cmap="viridis")
figure.colorbar(points, label="slope W1(x)")
ax.set(xlabel="first column", ylabel="second column", aspect="equal")
plt.show()
