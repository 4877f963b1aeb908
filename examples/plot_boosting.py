"""
Boosting, round by round
========================

The training error of AdaBoost has an upper bound that falls with every round. The test error has no such bound, and
with noisy labels the variants of AdaBoost behave differently.
"""

# %%
# The bound
# ---------
# Discrete AdaBoost with stumps. The training error stays below the bound, and still falls when the test error
# no longer does.

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
# In another problem, a fifth of the training labels are swapped. Real takes the largest steps and learns the
# noise first; the steps of Gentle are bounded; Modest hardly changes once the rows are right.

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
