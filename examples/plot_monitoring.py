"""
Is it still as good?
====================

A model is in use for a year, and its rows come without labels. In spring the inputs shift: more rows come from where
predictions are hard. In autumn the inputs are as before, but the same inputs have other labels (concept shift). The
estimate follows the first change. Only an audit, which asks for a few labels, sees the second.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from surefoot import IndividualErrorClassifier
from surefoot.monitoring import audit, compare_rows, estimate_performance
from surefoot.plots import PerformanceOverTimeDisplay, ShiftDisplay
from surefoot.report import MonitoringReport

rng = np.random.default_rng(0)


def make_rows(n_rows, heat=0.0, changed=False):
    """Rows whose labels are noisy where the first column is high."""
    X = rng.normal([heat, 0, 0, 0], size=(n_rows, 4))
    truth = X[:, 1] + (0.1 if changed else 1.0) * X[:, 2] > 0
    is_noisy = rng.random(n_rows) < 0.45 * expit(4 * (X[:, 0] - 1))
    return X, (truth ^ is_noisy).astype(int)


X_old, y_old = make_rows(1500)
error_estimator = IndividualErrorClassifier(LogisticRegression(), random_state=0).fit(X_old, y_old)
print(f"{error_estimator.held_out_.losses.mean():.1%} wrong when it was fitted")

# %%
# A year of weeks, 300 rows each. The 12th to the 20th have warmer rows; from the 38th on, one column counts for less.
starts = np.datetime64("2026-01-05") + 7 * np.arange(52)
is_spring, is_autumn = (np.arange(52) >= 11) & (np.arange(52) < 20), np.arange(52) >= 37
weeks = [
    make_rows(300, heat=1.0 if spring else 0.0, changed=autumn)
    for spring, autumn in zip(is_spring, is_autumn, strict=True)
]

# %%
# The error of each week is estimated without labels. Every fourth week is audited: 80 of its rows get a label, drawn
# so that rows which are probably wrong come more often. The dots are the true errors, which are unknown in use.
estimates = [estimate_performance(error_estimator, X) for X, _ in weeks]
audits = [None] * 52
for number in range(1, 52, 4):
    X, y = weeks[number]
    drawn = audit(error_estimator, X, 80, random_state=number)
    audits[number] = drawn.result(y[drawn.rows])
figure, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
true_errors = [np.mean(error_estimator.predict(X) != y) for X, y in weeks]
ax.plot(starts, true_errors, ".", color="black", label="true error")
PerformanceOverTimeDisplay.from_estimates(starts, estimates, audits=audits, ax=ax)

# %%
# In spring the estimate rises with the true error, and the display of a week shows which column moved.
spring_week = weeks[15]
ShiftDisplay.from_result(compare_rows(error_estimator, spring_week[0]))

# %%
# In autumn the estimate stays where it was, although more than twice as many predictions are wrong: the
# inputs do not show it, the audits do. This is how far the estimates are from the truth, in points:
off = 100 * (np.array([each.estimate for each in estimates]) - true_errors)
names = {"spring": is_spring, "autumn": is_autumn, "other weeks": ~is_spring & ~is_autumn}
for name, inside in names.items():
    print(f"{name}: the estimate is off by {off[inside].mean():+.1f} points on average")

# %%
# The page of one month says so. It is what `surefoot watch new.parquet --time day --answers ask.csv --out watch.html`
# writes; in a notebook, the report is shown as it is.
november = range(43, 48)
X_new = np.vstack([weeks[number][0] for number in november])
y_new = np.concatenate([weeks[number][1] for number in november])
times = np.repeat(starts[november], 300)
drawn = audit(error_estimator, X_new, 200, random_state=0)
report = MonitoringReport(error_estimator, audit=drawn.result(y_new[drawn.rows])).add(X_new, times)
verdict = report.summarize()["verdict"]
print(verdict["headline"], *verdict["sentences"], sep="\n")
