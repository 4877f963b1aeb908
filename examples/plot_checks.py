"""
What should be checked before a model is judged?
================================================

A table with five faults: a column that was filled in after the target was known, a number of the row, a column in two
units, rows that were entered twice, and wrong labels. `check_table` names all but the last, and the report runs it.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from surefoot import IndividualErrorClassifier
from surefoot.checks import check_table
from surefoot.error_estimation import find_label_errors

draw = np.random.default_rng(0)
n_rows = 1000
X = pd.DataFrame(
    {
        "height": draw.normal(170, 10, n_rows),
        "weight": draw.normal(70, 12, n_rows),
        "pulse": draw.normal(70, 8, n_rows),
    }
)
clean = X["weight"] - 70 > 1.2 * (X["height"] - 170)
flipped = draw.random(n_rows) < 0.06
y = np.where(clean ^ flipped, "ill", "well")

X["inches"] = X["height"] / 2.54
X["number"] = np.arange(n_rows)
X["therapy"] = np.where(y == "ill", draw.integers(1, 4, n_rows), 0)
for finding in check_table(X, y):
    print(f"{finding.code}: {finding.sentence}")

# %%
# Without these columns, and with a tenth of the rows entered twice:

X = X[["height", "weight", "pulse"]]
twice = np.r_[np.arange(n_rows), draw.choice(n_rows, 100, replace=False)]
[copies] = check_table(X.iloc[twice])
print(f"{copies.code}: {copies.sentence}")

# %%
# The labels: how many of the rows at the top of the list were flipped?

model = HistGradientBoostingClassifier(random_state=0)
error_estimator = IndividualErrorClassifier(model, random_state=0).fit(X, y)
errors = find_label_errors(error_estimator)
print(f"p-value of so many contradictions if rows were merely hard: {errors.p_value:.1g}")

n_looked_at = np.arange(1, 201)
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.plot(n_looked_at, flipped[errors.rows].cumsum()[:200], label="find_label_errors")
own = np.argsort(
    error_estimator.held_out_.probabilities[
        np.arange(n_rows), np.searchsorted(error_estimator.classes_, y)
    ]
)
axes.plot(
    n_looked_at, flipped[own].cumsum()[:200], label="the model's own probability of the label"
)
axes.axhline(flipped.sum(), color="grey", linestyle=":", label="all flipped labels")
axes.set(xlabel="rows looked at", ylabel="wrong labels among them")
axes.legend()
plt.show()
