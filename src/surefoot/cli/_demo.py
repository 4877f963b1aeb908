"""The main job on embedded data: which predictions are stable, and whether those are right."""

import csv
from pathlib import Path


def run_demo(out: Path) -> str:
    """Judge a forest's predictions of held-out rows, write them to `out`, say what was found."""
    from sklearn.datasets import load_breast_cancer  # noqa: PLC0415 - keeps --help fast
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415
    from sklearn.model_selection import train_test_split  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    from surefoot import LocalSensitivity  # noqa: PLC0415

    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    model = make_pipeline(StandardScaler(), RandomForestClassifier(random_state=0))
    stability = LocalSensitivity(model).fit(X_train, y_train)
    columns, scores = stability.transform(X_test), stability.score_samples(X_test)
    predicted = model.fit(X_train, y_train).predict(X_test)
    right = predicted == y_test
    order = scores.argsort()
    least = order[: len(order) // 10]
    rest = order[len(order) // 10 :]
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "truth", "prediction", *stability.get_feature_names_out(), "score"])
        for i in order:
            writer.writerow([i, y_test[i], predicted[i], *columns[i].round(4), f"{scores[i]:.4g}"])
    return "\n".join(
        [
            f"A random forest was trained on {len(y_train)} tumours and asked about {len(y_test)} others.",
            f"It is right on {right.mean():.1%} of them. One number; but which predictions stand firm?",
            f"  the least stable tenth ({len(least)} rows): right on {right[least].mean():.1%}",
            f"  the other nine tenths ({len(rest)} rows): right on {right[rest].mean():.1%}",
            f"  {(~right)[least].sum()} of its {(~right).sum()} mistakes are in that tenth.",
            f"Every row, the least stable first: {out.resolve()}",
        ]
    )
