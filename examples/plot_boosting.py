"""
Boosting, round by round
========================

AdaBoost's training error is bounded by a product that falls with every round. The test error is another
matter, and with noisy labels the variants of AdaBoost part ways.
"""

# %%
# The bound
# ---------
# Discrete AdaBoost on stumps. The training error stays below the bound, and goes on falling when the test
# error no longer does.

import matplotlib.pyplot as plt
import numpy as np

from surefoot.datasets import make_friedman_problem
from surefoot.ensemble import BoostingClassifier
from surefoot.plots import BoostingDisplay

X, y = make_friedman_problem(3, n_samples=500, random_state=0)
X_test, y_test = make_friedman_problem(3, n_samples=2000, random_state=1)
model = BoostingClassifier(n_estimators=200).fit(X, y)
BoostingDisplay.from_estimator(model, X, y, X_test, y_test)
plt.show()

# %%
# Under noise
# -----------
# A fifth of the training labels of another problem are turned. Real takes the largest steps, and learns the
# noise soonest; Gentle's steps are bounded; Modest hardly moves once the rows are right.

X, y = make_friedman_problem(1, n_samples=500, random_state=0)
X_test, y_test = make_friedman_problem(1, n_samples=2000, random_state=1)
turned = np.random.RandomState(0).uniform(size=len(y)) < 0.2
noisy = np.where(turned, 1 - y, y)

figure, axes = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained", sharey=True)
for ax, variant in zip(axes, ("discrete", "real", "gentle", "modest"), strict=True):
    model = BoostingClassifier(variant).fit(X, noisy)
    display = BoostingDisplay.from_estimator(model, X, noisy, X_test, y_test, ax=ax, legend=False)
    error = display.test_error
    ax.set(title=f"{variant}\nbest {error.min():.1%}, last {error[-1]:.1%}", ylim=(0, 0.4))
axes[0].legend(frameon=False, fontsize="small")
plt.show()
