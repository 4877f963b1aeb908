"""
====================================
The points around a row, in its cell
====================================

A prediction is stable when the model predicts much the same at points around the row. But how far
away should these points be? As far as the *Voronoi cell* of the row reaches: the region that is
nearer to this row than to any training row. Beyond its border, a training row is nearer.

:class:`~surefoot.plots.VoronoiCellDisplay` draws the cell of any row in the plane, as in figure 1
of Bennett (2007), and what a model predicts on its border.
"""

# %%
# The cell and the samples
# ------------------------
# The star is the row of interest. Its seven nearest training rows are numbered, the nearest first.
# Walk from the star towards each of them, along a dashed line, and stop at the border of the cell:
# at this point (a sample) the model makes a prediction.
#
# Note two things. Samples lie only in directions where there *are* data, so the model does not
# predict rows that could not occur. And a neighbour behind a nearer one adds little information,
# because the nearer one limits the cell in this direction.

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.svm import SVC

from surefoot import LocalSensitivity
from surefoot.plots import VoronoiCellDisplay

X, y = make_moons(120, noise=0.25, random_state=3)
display = VoronoiCellDisplay.from_points(X, [0.5, 0.35], n_neighbors=7)

# %%
# What a model predicts there
# ---------------------------
# :class:`~surefoot.LocalSensitivity` uses the predictions of a model at these samples. Here the model
# is a support vector machine, and there are two rows: one in the middle of its class, one in the
# narrow gap between the two classes.
#
# The colour of a sample is the lead of the class predicted at the star: purple if this class has the
# higher score, orange if it has the lower score. A diamond shows the same without colour: another
# class is predicted there. The grey line is the border between the classes: it goes through the cell
# on the right, and is far from the cell on the left.

stability = LocalSensitivity(SVC(gamma=2), n_neighbors=9).fit(X, y)
rows = {"a steady prediction": [-0.6, 0.75], "a shaky prediction": [0.5, 0.3]}

figure, axes = plt.subplots(1, 2, figsize=(12.5, 6.2), layout="constrained")
for ax, (title, row) in zip(axes, rows.items(), strict=True):
    DecisionBoundaryDisplay.from_estimator(
        stability.index_.model.predictor,
        X,
        ax=ax,
        response_method="decision_function",
        plot_method="contour",
        levels=[0],
        colors="grey",
        linewidths=3,
        alpha=0.5,
        grid_resolution=300,
    )
    VoronoiCellDisplay.from_estimator(stability, row, ax=ax)
    ax.set_title(title)

# %%
# The same in numbers
# -------------------
# `flips` is the share of diamonds, and `worst` is how much of the lead is lost at the worst sample.
# The score is the mean lead at the samples divided by its spread: higher is more stable.

for title, row in rows.items():
    columns = dict(
        zip(stability.get_feature_names_out(), stability.transform([row])[0], strict=True)
    )
    score = stability.score_samples([row])[0]
    print(
        f"{title}: flips {columns['flips']:.0%}, worst {columns['worst']:+.2f}, score {score:+.1f}"
    )
