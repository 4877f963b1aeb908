"""
Labels of a language model
==========================

A language model has sorted 4,000 support tickets into four queues. It states a confidence, 0.95 for nearly every
ticket. A person has checked 600 tickets. Which of the other labels are wrong, which can be kept, and how many mistakes
stay? Only the texts, the labels and the checked tickets are needed: the language model is not called.

Tickets are generated here, and a rule stands for the language model. It goes by the usual words of each queue, and is
misled by tickets that use the words of one queue and belong to another: a gift card that does not work is no question
of payment.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from surefoot import assess_predictions
from surefoot.abstention import Promise
from surefoot.metrics import error_auroc_score
from surefoot.monitoring import audit
from surefoot.plots import RiskCoverageDisplay

QUEUES = np.array(["account", "delivery", "payment", "returns"])

# Subjects of tickets: the queue that they belong to, the one that their words suggest, and these words.
SUBJECTS = [
    ("account", "account", "password reset login locked email username"),
    ("account", "account", "profile settings language name change newsletter"),
    ("account", "payment", "card bank remove change amount invoice"),
    ("delivery", "delivery", "parcel courier late tracking address driver"),
    ("delivery", "delivery", "pickup locker shop opening code collect"),
    ("delivery", "account", "moved change address profile name email"),
    ("payment", "payment", "invoice charge twice bank transfer amount"),
    ("payment", "payment", "voucher discount checkout total price tax"),
    ("payment", "returns", "refund waiting return bank send label"),
    ("returns", "returns", "return label size wrong exchange send"),
    ("returns", "returns", "broken screen defective warranty repair faulty"),
    ("returns", "payment", "gift card voucher code total invalid"),
]
FILLERS = np.array(
    ["hello", "please", "help", "my", "is", "with", "since", "again", "thanks", "order"]
)

rng = np.random.default_rng(0)
is_usual = np.array([queue == suggested for queue, suggested, _ in SUBJECTS])
subject = rng.choice(len(SUBJECTS), 4_000, p=np.where(is_usual, 0.095, 0.06))
words = [spoken.split() for _, _, spoken in SUBJECTS]
usual = {queue: [] for queue in QUEUES}
for queue, suggested, spoken in SUBJECTS:
    usual[suggested] += spoken.split() if queue == suggested else []


def write_ticket(subject):
    """Two words of the subject, two usual words of the queue that it seems to be for, and fillers."""
    seeming = usual[SUBJECTS[subject][1]]
    chosen = [*rng.choice(words[subject], 2), *rng.choice(seeming, 2), *rng.choice(FILLERS, 6)]
    return " ".join(rng.permutation(chosen))


tickets = pd.DataFrame({"text": [write_ticket(each) for each in subject]})
truth = np.array([queue for queue, _, _ in SUBJECTS])[subject]
suggested = np.array([queue for _, queue, _ in SUBJECTS])[subject]
label = np.where(rng.random(4_000) < 0.05, rng.choice(QUEUES, 4_000), suggested)
confidence = np.where(rng.random(4_000) < 0.9, 0.95, rng.choice([0.8, 0.9, 0.99], 4_000))
tickets.assign(label=label, confidence=confidence).head(4)

# %%
# A person has checked the first 600 tickets, which are a random part. From these the errors are learned: texts are
# compared by their words, and other models learn what the person said.
checked, rest = slice(0, 600), slice(600, None)
error_estimator = assess_predictions(
    tickets[checked], truth[checked], label[checked], confidence[checked], random_state=0
)
error = error_estimator.predict_error(tickets[rest], label[rest], confidence[rest])
print(f"Wrong among the checked labels: {np.mean(label[checked] != truth[checked]):.0%}")

# %%
# The stated confidence is worth nothing: it ranks wrong labels no better than chance (0.5). The estimated error finds
# them.
wrong = label[rest] != truth[rest]
print(
    f"Ranking by the stated confidence: AUROC {error_auroc_score(wrong, 1 - confidence[rest]):.2f}"
)
print(f"Ranking by the estimated error:   AUROC {error_auroc_score(wrong, error):.2f}")

# %%
# **A queue for review**: the labels that are most likely wrong come first. Of the first 200 nearly all are wrong: the
# truth is known here, as the tickets are generated.
queue = np.argsort(-error)
print(f"Wrong among the first 200: {wrong[queue[:200]].mean():.0%}")
tickets[rest].assign(label=label[rest], estimated_error=error.round(2)).iloc[queue[:5]]

# %%
# **What can be kept**: at most 5 % of the kept labels are wrong, with 95 % confidence. The rest goes to a person.
promise = Promise.from_held_out(error_estimator.held_out_, 0.05)
kept = promise.accepted(error)
print(f"Kept: {kept.mean():.0%} of the labels; {wrong[kept].mean():.1%} of these are wrong")

# %%
# From left to right, more labels are kept, those with the lowest estimated error first. The curve of the stated
# confidence is that of a random order.
fig, ax = plt.subplots(figsize=(6, 4))
RiskCoverageDisplay.from_predictions(wrong, error, own_error=1 - confidence[rest]).plot(ax=ax)
ax.scatter(kept.mean(), wrong[kept].mean(), color="black", zorder=3)
ax.annotate(
    "kept with a promise of 5 %",
    (kept.mean(), wrong[kept].mean()),
    xytext=(-10, 40),
    textcoords="offset points",
    ha="right",
    arrowprops={"arrowstyle": "-"},
)
ax.set(xlabel="share of the labels that are kept", ylabel="share of these that are wrong")
fig.tight_layout()

# %%
# **An audit of the labels that are kept**: a person checks 150 of them, drawn at random, and the interval is valid
# whatever the estimate is worth. On the command line, `surefoot audit` draws such rows from a table.
table = tickets[rest].assign(prediction=label[rest], probability=confidence[rest])[kept]
drawn = audit(error_estimator, table, 150, random_state=0)
result = drawn.result(truth[rest][kept][drawn.rows], confidence=0.9)
low, high = result.interval
print(
    f"Wrong among the kept labels: {result.estimate:.1%} (90 % interval: {low:.1%} to {high:.1%})"
)
