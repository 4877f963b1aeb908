"""
How wrong will this prediction be?
==================================

Two models on data that comes with scikit-learn. For the classifier, surefoot estimates how likely each prediction is
wrong. Does this find the mistakes better than the model's own confidence? For the regressor, it estimates how far off
each prediction is, and makes conformal intervals whose width follows this estimate.
"""

# %%
# A classifier and its mistakes
# -----------------------------
# `predict_error` is the probability that a prediction is wrong. If rows with a low estimate are answered first, the
# error of the answered rows (risk) should stay low while their share (coverage) grows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_friedman1
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.plots import RiskCoverageDisplay

X, y = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
error_estimator = IndividualErrorClassifier(model, random_state=0).fit(X, y)

RiskCoverageDisplay.from_estimator(error_estimator, X_new, y_new)
plt.show()

# %%
# The twelve digits with the highest estimated error, each with the prediction and the estimate. Mistakes are red.

error, predicted = error_estimator.predict_error(X_new), error_estimator.predict(X_new)
most = np.argsort(-error)[:12]
figure, axes = plt.subplots(2, 6, figsize=(8, 3.2), layout="constrained")
for ax, i in zip(axes.flat, most, strict=True):
    ax.imshow(X_new[i].reshape(8, 8), cmap="gray_r")
    color = "tab:red" if predicted[i] != y_new[i] else "black"
    ax.set_title(f"read {predicted[i]}, {error[i]:.0%}", fontsize=9, color=color)
    ax.set_axis_off()
plt.show()

# %%
# A regressor and its intervals
# -----------------------------
# A linear model cannot follow Friedman's function. Where the estimated error is large, the interval is wide. The
# widest intervals are still slightly too narrow here: the guarantee is for all rows together.

Z, t = make_friedman1(n_samples=1000, random_state=0)
Z, Z_new, t, t_new = train_test_split(Z, t, test_size=0.5, random_state=0)
line = IndividualErrorRegressor(Ridge(), random_state=0).fit(Z, t)
low, high = line.predict_interval(Z_new, confidence=0.9).T
order = np.argsort(high - low)
residual = t_new - line.predict(Z_new)
inside = (low <= t_new) & (t_new <= high)

figure, ax = plt.subplots(layout="constrained")
place = np.arange(len(order))
middle = line.predict(Z_new)[order]
ax.fill_between(place, low[order] - middle, high[order] - middle, alpha=0.3, label="90 % interval")
for held, color, name in ((True, "tab:blue", "inside"), (False, "tab:red", "outside")):
    which = inside[order] == held
    ax.plot(place[which], residual[order][which], ".", color=color, markersize=4, label=name)
ax.set(xlabel="rows, by width of the interval", ylabel="truth minus prediction")
ax.legend()
plt.show()

# %%

thirds = np.array_split(order, 3)
for name, rows in zip(("narrowest", "middle", "widest"), thirds, strict=True):
    width = (high - low)[rows].mean()
    print(f"{name} third: {inside[rows].mean():.0%} inside, {width:.1f} wide")

# %%
# Corrected
# ---------
# The predictable part of the error can be added to the prediction. The intervals are then those of the corrected
# prediction.

corrected = IndividualErrorRegressor(Ridge(), corrected=True, random_state=0).fit(Z, t)
for name, each in ("line", line), ("corrected line", corrected):
    low, high = each.predict_interval(Z_new, confidence=0.9).T
    print(f"{name}: R² {each.score(Z_new, t_new):.2f}, intervals {(high - low).mean():.1f} wide")
