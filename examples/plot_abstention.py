"""
When should the model abstain?
==============================

A classifier predicts every row, also rows where it is often wrong. Here one classifier abstains on such rows (selective
prediction), so that the error of its answers stays below a limit. Another classifier gives its doubtful rows to a
better model.
"""

# %%
# Two classes that overlap
# ------------------------
# The classes overlap in the middle. The true probability of each row is known, and so the true risk is known.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from surefoot.abstention import AbstainingClassifier, DeferringClassifier
from surefoot.datasets import make_friedman_problem


def true_probability(X):
    """Probability of class 1."""
    return expit(4 * X[:, 0] + 2 * np.sin(2 * X[:, 1]))


def draw(n_rows, random_state):
    """Rows of two columns, and labels drawn from the true probabilities."""
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(n_rows, 2))
    return X, (rng.random(n_rows) < true_probability(X)).astype(int)


X, y = draw(4000, random_state=0)
X_new, _ = draw(20_000, random_state=1)
model = AbstainingClassifier(LogisticRegression(), max_risk=0.05, random_state=0).fit(X, y)
accepted = model.predict_accepted(X_new)
chance = true_probability(X_new)
risk = np.where(model.predict(X_new) == 1, 1 - chance, chance)
print(f"error of all rows        {risk.mean():.3f}")
print(
    f"error of answered rows   {risk[accepted].mean():.3f}, promised: at most {model.risk_bound_}"
)
print(f"share of answered rows   {accepted.mean():.2f}")

# %%
# It abstains along the border of the classes, on both sides.

figure, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
shown = slice(0, 4000)
for answered, color, label in [(True, "tab:blue", "answered"), (False, "tab:orange", "abstained")]:
    mine = X_new[shown][accepted[shown] == answered]
    ax.scatter(*mine.T, s=4, color=color, label=label)
ax.set(xlabel="first column", ylabel="second column")
ax.legend(markerscale=3)
plt.show()

# %%
# What a lower limit costs
# ------------------------
# The lower the limit, the fewer rows are answered. The true error stays below the diagonal: the limit is promised with
# a confidence of 95 %.

limits = np.array([0.04, 0.06, 0.08, 0.12, 0.15])
risks, shares = [], []
for limit in limits:
    accepted = model.set_params(max_risk=limit).fit(X, y).predict_accepted(X_new)
    risks.append(risk[accepted].mean())
    shares.append(accepted.mean())

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(limits, limits, color="grey", linestyle="--", label="the limit")
left.plot(limits, risks, marker="o", label="true error of answered rows")
left.set(xlabel="max_risk", ylabel="error")
left.legend()
right.plot(limits, shares, marker="o")
right.set(xlabel="max_risk", ylabel="share of rows answered", ylim=(0, 1))
plt.show()

# %%
# Asking a better model
# ---------------------
# Instead of abstaining, a model can defer rows to a better one. A small tree defers rows to a support vector machine,
# beginning with the rows where the call is expected to avoid most mistakes. The curve comes from held-out rows, so you
# can read it before you deploy.

X, y = make_friedman_problem(3, n_samples=1500, random_state=0)
X_new, y_new = make_friedman_problem(3, n_samples=5000, random_state=1)
models = [("cheap", DecisionTreeClassifier(max_depth=5, random_state=0)), ("expensive", SVC())]
deferring = DeferringClassifier(models, budget=0.3, random_state=0).fit(X, y)
curve = deferring.deferral_curve_
calls = deferring.predict_defer(X_new).mean()
accuracy = deferring.score(X_new, y_new)

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(curve.calls, curve.accuracy, label="held-out rows")
ax.plot([0, 1], curve.accuracy[[0, -1]], color="grey", linestyle="--", label="rows at random")
ax.plot(calls, accuracy, marker="o", linestyle="", label="new rows, budget 0.3")
ax.set(xlabel="share of rows for which the expensive model is called", ylabel="accuracy")
ax.legend()
plt.show()
