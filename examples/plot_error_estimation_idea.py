"""
Which model is right about this row?
====================================

An error rate says how often a model is wrong, not where. Buza, Nanopoulos and Schmidt-Thieme (2010)
begin with a figure of two rows and two models, a single nearest neighbour and a vote of six
neighbours: each model is right about one row and wrong about the other. A second model, trained on
the errors of the first, can learn where the first is right. This page draws the figure, then trains
such a second model.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

# %%
# Above are many triangles; below are a few circles; one circle is among the triangles.
# The true class of row 1 is triangle, that of row 2 is circle.

triangles = np.array([(x, y) for y in (2.0, 2.4, 2.8, 3.2) for x in np.arange(0.2, 4.1, 0.4)])
triangles[:11, 0] += 0.1
triangles[22:33, 0] -= 0.1
circles = np.array([(1.52, 2.68), (0.4, 1.0), (1.4, 0.5), (2.5, 1.15), (3.6, 1.2), (3.0, 0.3)])
X = np.vstack([triangles, circles])
y = np.repeat(["triangle", "circle"], [len(triangles), len(circles)])
rows, truth = np.array([(1.4, 2.58), (2.6, 1.5)]), np.array(["triangle", "circle"])

models = {"1-NN": KNeighborsClassifier(1), "6-NN": KNeighborsClassifier(6)}
for model in models.values():
    model.fit(X, y)

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
ax.scatter(*triangles.T, marker="^", color="tab:blue", label="triangles")
ax.scatter(*circles.T, marker="o", color="tab:orange", label="circles")
for number, row in enumerate(rows, start=1):
    reach = models["6-NN"].kneighbors([row])[0][0]
    ax.add_patch(plt.Circle(row, reach[0], fill=False, color="black", linewidth=1))
    ax.add_patch(plt.Circle(row, reach[-1], fill=False, color="black", linestyle="--"))
    ax.annotate(str(number), row, ha="center", va="center", weight="bold", fontsize=13)
ax.set(xlim=(-0.1, 4.5), ylim=(0, 3.5), aspect="equal", xticks=[], yticks=[])
ax.set_title("Nearest neighbour (solid) and six neighbours (dashed) of two rows")
ax.legend(loc="lower left")

# %%
# Table 1 of the paper. For each model, the column after its prediction is what its perfect second
# model, M*, would predict.

header = ["row", "truth", "1-NN says", "M* says", "6-NN says", "M* says"]
print("".join(f"{title:<11}" for title in header))
for i, label in enumerate(truth):
    cells = [str(i + 1), label]
    for model in models.values():
        answer = model.predict(rows[[i]])[0]
        cells += [answer, "correct" if answer == label else "incorrect"]
    print("".join(f"{cell:<11}" for cell in cells))

# %%
# Now learn M*. Above the line, a fifth of the rows have the other class, which misleads a single
# neighbour. Below the line, the classes form narrow stripes, and six neighbours belong to more than
# one stripe. Both models are trained on one half of the rows. M* learns their errors on the other
# half: its estimate is the share of errors among the 100 nearest rows.


def draw(n_rows, random_state):
    """Rows above and below the line, and their labels."""
    random = np.random.RandomState(random_state)
    X = random.uniform((0, -1), (1, 1), size=(n_rows, 2))
    strays = random.uniform(size=n_rows) < 0.2
    triangle = np.where(X[:, 1] > 0, ~strays, np.floor(20 * X[:, 0]) % 2 == 0)
    return X, np.where(triangle, "triangle", "circle")


X, y = draw(2000, random_state=0)
X_held, y_held = draw(2000, random_state=1)
second_models = {}
for name, model in models.items():
    wrong = model.fit(X, y).predict(X_held) != y_held
    second_models[name] = KNeighborsRegressor(100).fit(X_held, wrong.astype(float))

grid = np.stack(np.meshgrid(np.linspace(0, 1, 100), np.linspace(-1, 1, 200)), axis=-1)
one, six = (second.predict(grid.reshape(-1, 2)) for second in second_models.values())

figure, axes = plt.subplots(1, 2, figsize=(7, 5.5), layout="constrained", sharey=True)
for label, marker, color in (("triangle", "^", "tab:blue"), ("circle", "o", "tab:orange")):
    axes[0].scatter(*X[y == label].T, marker=marker, color=color, s=5)
image = axes[1].imshow(
    (six - one).reshape(grid.shape[:2]),
    origin="lower",
    extent=(0, 1, -1, 1),
    vmin=-0.25,
    vmax=0.25,
    cmap="PuOr",
)
for ax, title in zip(axes, ["training rows", "estimated errors"], strict=True):
    ax.axhline(0, color="black", linestyle=":")
    ax.set(title=title, aspect="equal", xlim=(0, 1), ylim=(-1, 1), xticks=[], yticks=[])
figure.colorbar(image, ax=axes, label="error of 6-NN minus error of 1-NN, as estimated")

# %%
# Each model is better on one half of the plane, and M* has learned which: six neighbours are better
# where the map is orange, a single neighbour where it is purple. To choose for each row the model
# with the smaller estimate is better than either model alone.

X_test, y_test = draw(20_000, random_state=2)
correct = [model.predict(X_test) == y_test for model in models.values()]
for name, right in zip(models, correct, strict=True):
    print(f"{name} everywhere: {right.mean():.1%} right")
estimates = [second.predict(X_test) for second in second_models.values()]
chosen = np.choose(np.argmin(estimates, axis=0), correct)
print(f"the one with the smaller estimate: {chosen.mean():.1%} right")
plt.show()
