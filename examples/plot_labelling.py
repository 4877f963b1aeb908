"""
A person answers
================

`surefoot label` asks a person for the label that helps most. Here a program takes the person's place: it reads the
questions of a real page over HTTP, and answers from labels that it knows, as fast as the page asks.
"""

import json
import tempfile
import time
from pathlib import Path
from urllib.request import Request, urlopen

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot.labeling import serve

X, y = load_wine(return_X_y=True, as_frame=True)
names = ["Barolo", "Grignolino", "Barbera"]
folder = tempfile.TemporaryDirectory()
model = make_pipeline(StandardScaler(), LogisticRegression())
page = serve(
    X, "grape", classes=names, name="wine", estimator=model, db=Path(folder.name) / "wine.db"
)

# %%
# The page listens on this machine only. The address has the token that every request needs.
address, _, token = page.url.partition("/?token=")


def ask(path, body=None):
    """What the page answers."""
    content = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with urlopen(Request(address + path, content, headers)) as answer:  # noqa: S310
        return json.load(answer)


def wait_for_the_model():
    """Let the model learn from the answers so far, for a minute at most: a person is slower than a program."""
    for _ in range(600):
        progress = ask("/api/progress")
        if progress["n_learned"] >= 0.9 * progress["n_labels"]:
            return
        time.sleep(0.1)


# %%
# Each question comes with the reason why it is asked, and names no class.
for n_answers in range(60):
    if n_answers % 15 == 0:
        wait_for_the_model()
    (item,) = ask("/api/next?person=example&count=1")["items"]
    if n_answers % 20 == 19:
        print(f"row {item['row']}: {item['why']}")
    answer = {"row": item["row"], "lease": item["lease"], "person": "example", "kind": "label"}
    label = names[y[item["row"]]]
    ask("/api/answers", {"key": f"answer {n_answers}", "label": label, **answer})

# %%
# One question in five is drawn at random, and only those measure the accuracy. With a dozen such rows the interval is
# wide, which the page shows as a band. Until it is sure within 20 points how good the model is, there is no claim.
wait_for_the_model()
progress = ask("/api/progress")
curve = progress["curve"]
n_labels = [point["n_labels"] for point in curve]
fig, ax = plt.subplots()
ax.fill_between(
    n_labels, [point["low"] for point in curve], [point["high"] for point in curve], alpha=0.2
)
ax.plot(n_labels, [point["accuracy"] for point in curve], marker="o")
ax.set(xlabel="labels", ylabel="accuracy on random rows, held out", ylim=(0, 1))
progress["changed"], progress["claim"]

# %%
# The answers, as `surefoot fit --labels` takes them.
answers = page.labels()
page.stop()
folder.cleanup()
answers[["row", "label", "kind", "strategy", "error"]].head()
