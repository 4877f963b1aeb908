"""The main job on embedded data: which predictions are likely wrong, and whether those are."""

import csv
from pathlib import Path


def run_demo(out: Path) -> str:
    """Estimate the error of a model's predictions of held-out rows, write them to `out`, say what was found."""
    from sklearn.datasets import load_digits  # noqa: PLC0415 - keeps --help fast
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.model_selection import train_test_split  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    from surefoot import IndividualErrorClassifier  # noqa: PLC0415

    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    sure = IndividualErrorClassifier(model, random_state=0).fit(X_train, y_train)
    error, predicted = sure.predict_error(X_test), sure.predict(X_test)
    probability, novel = sure.predict_proba(X_test).max(axis=1), sure.predict_novelty(X_test)
    wrong = predicted != y_test
    order = (-error).argsort()
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "truth", "prediction", "error", "own_probability", "novel"])
        for i in order:
            told = [f"{error[i]:.4f}", f"{probability[i]:.4f}", int(novel[i])]
            writer.writerow([i, y_test[i], predicted[i], *told])
    tenth = len(order) // 10
    own = probability.argsort()[:tenth]
    return "\n".join(
        [
            f"A logistic regression read {len(y_train)} handwritten digits and was asked about {len(y_test)} others.",
            f"It is right on {1 - wrong.mean():.1%} of them. One number; but which predictions are wrong?",
            f"  surefoot expected {error.sum():.0f} mistakes; it made {wrong.sum()}.",
            f"  {wrong[order[:tenth]].sum()} of them are in the tenth that surefoot doubts most;",
            f"  {wrong[own].sum()} are in the tenth that the model itself doubts most.",
            f"Every row, the most doubtful first: {out.resolve()}",
        ]
    )
