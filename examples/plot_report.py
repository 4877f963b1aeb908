"""
How far can this model be trusted, row by row?
==============================================

A report on a forest that classifies tumours as malignant or benign. The report is a single HTML file; its content is
also available as a dict and as a table of rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from surefoot.report import ReliabilityReport

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
report = ReliabilityReport(RandomForestClassifier(50, random_state=0), X, y, target="tumour")
summary = report.summarize()
print(summary["verdict"]["headline"])
print("\n".join(summary["verdict"]["sentences"]))

# %%
# ``report.write_html("report.html")`` writes the page. This is its first chart, drawn from the dict: the risk (error of
# the answered rows) if only the rows with the lowest estimated error are answered.

answer = summary["answer"]
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for name, told in (("surefoot", "surefoot"), ("own", "own confidence"), ("best", "best possible")):
    axes.plot(answer["coverage"], answer["risk"][name], label=told)
axes.set(xlabel="share of rows answered", ylabel=answer["risk_name"])
axes.legend()
plt.show()

# %%
# The rows to check first, and the reasons to doubt the prediction of the first one.

frame = report.to_frame().sort_values("estimated_error", ascending=False)
print(
    frame[["row", "truth", "prediction", "estimated_error", "own_error"]]
    .head(8)
    .round(2)
    .to_string()
)
for reason in summary["rows"]["items"][0]["against"]:
    print(f"{reason['name']}: {reason['effect']:+.2f}")

# %%
# What would help, with the gain measured on rows that were not used for fitting.

for improvement in summary["improvements"]:
    print(f"{improvement['name']}: {improvement['verdict']}. {improvement['sentence']}")
