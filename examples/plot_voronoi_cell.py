"""
=====================================
Where a model is asked around one row
=====================================

A prediction is stable when the model says much the same all around the row. But how far around?
As far as the row's own *Voronoi cell* reaches: the region that is nearer to this row than to any
training row. Beyond its border, somebody else's data is closer.

:class:`~surefoot.plots.VoronoiCellDisplay` draws the cell of any row in the plane, as in figure 1
of Bennett (2007), and what a model answers on its border.
"""

# %%
# The cell and the samples
# ------------------------
# The star is the row we want to know about. Seven training rows are nearest to it, numbered from
# the nearest on. Walk from the star towards each of them, along a dashed line, and stop where you
# leave the cell: that is where the model will be asked.
#
# Two things are worth a look. Samples lie only in directions where there *is* data, so the model is
# never asked about rows that could not occur. And a neighbour that stands behind a nearer one adds
# little that is new: the nearer one cuts the way short.

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.svm import SVC

from surefoot import LocalSensitivity
from surefoot.plots import VoronoiCellDisplay

X, y = make_moons(120, noise=0.25, random_state=3)
display = VoronoiCellDisplay.from_points(X, [0.5, 0.35], n_neighbors=7)

# %%
# What a model answers there
# --------------------------
# :class:`~surefoot.LocalSensitivity` asks a model at these samples. Here it judges a support vector
# machine at two rows: one in the middle of its class, one in the narrow pass between the two.
#
# A sample's colour is the lead of the class that is predicted at the star: purple where it is ahead,
# orange where it has fallen behind. A diamond says the same without colour: another class is
# predicted there. The grey line is the border between the classes: it cuts through the cell on the
# right, and is nowhere near the one on the left.

stability = LocalSensitivity(SVC(gamma=2), n_neighbors=9).fit(X, y)
rows = {"a steady prediction": [-0.6, 0.75], "a shaky prediction": [0.5, 0.3]}

figure, axes = plt.subplots(1, 2, figsize=(12.5, 6.2), layout="constrained")
for ax, (title, row) in zip(axes, rows.items(), strict=True):
    DecisionBoundaryDisplay.from_estimator(
        stability.index_.predictor,
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
# The score sums it up as the mean lead in the cell over its spread: higher is more stable.

for title, row in rows.items():
    columns = dict(
        zip(stability.get_feature_names_out(), stability.transform([row])[0], strict=True)
    )
    score = stability.score_samples([row])[0]
    print(
        f"{title}: flips {columns['flips']:.0%}, worst {columns['worst']:+.2f}, score {score:+.1f}"
    )
