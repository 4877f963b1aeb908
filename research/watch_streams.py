"""`surefoot watch` on the streams of `$SUREFOOT_DATA/streams`: whether a headline contradicts the measured error.

A quick model is fitted on the first quarter of the periods of each stream, and the other periods are watched, once with
their labels and once without them. A line a stream is printed, and kept in a file, so that a run can be resumed.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.report import MonitoringReport

MOST_FITTED, MOST_WATCHED = 2_000, 8_000
LEAST_KNOWN = 0.05  # share of a column's values that the first quarter has
FIRST_DAY = np.datetime64("1900-01-01")


def read_stream(folder):
    """Inputs, targets, and the number of each row's period, in the order of time."""
    card = json.loads((folder / "card.json").read_text())
    table = pd.read_parquet(folder / f"{folder.name}.parquet")
    times, every = table[card["time"]], card["period"]
    if every in ("week", "month") or times.dtype.kind not in "iuf":
        times = pd.to_datetime(times)
    if isinstance(every, int) or str(every).isdigit():
        keys = np.arange(len(table)) // int(every)
    elif times.dtype.kind == "M":
        keys = times.dt.to_period({"week": "W", "month": "M", "year": "Y"}[every])
    else:
        keys = times
    periods = pd.factorize(keys, sort=True)[0]
    kept = [name for name in card["baseline"]["features"] if name in table.columns]
    X = table[kept].apply(as_numbers)
    return X, table[card["target"]].to_numpy(), periods, card["task"]


def as_numbers(column):
    """Column of numbers: codes for categories, NaN where they are missing."""
    if column.dtype.kind in "biuf":
        return column.astype(float)
    codes = pd.factorize(column, sort=False)[0].astype(float)
    return pd.Series(np.where(codes < 0, np.nan, codes), index=column.index)


def even(rows, most):
    """At most so many rows, evenly spread."""
    return rows[np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(int)]


def watch(folder):
    """Verdicts with and without labels, and the errors that are counted here."""
    X, y, periods, task = read_stream(folder)
    n_early = max(1, round((periods.max() + 1) / 4))
    early = even(np.flatnonzero(periods < n_early), MOST_FITTED)
    late = even(np.flatnonzero(periods >= n_early), MOST_WATCHED)
    X = X.loc[:, X.iloc[early].notna().mean() > LEAST_KNOWN]
    if task == "classification":
        y = y.astype(str)
        kind, model = IndividualErrorClassifier, HistGradientBoostingClassifier(max_iter=30)
    else:
        y = y.astype(float)
        kind, model = IndividualErrorRegressor, HistGradientBoostingRegressor(max_iter=30)
    sure = kind(model, random_state=0).fit(X.iloc[early], y[early])
    new, times = X.iloc[late], FIRST_DAY + 366 * periods[late]  # each period is a year of its own
    judgement = sure.judge(new)
    summaries = [
        MonitoringReport(sure, every="year").add(new, times, judgement, given).summarize()
        for given in (y[late], None)
    ]
    if task == "classification":
        losses = (judgement.prediction != y[late]).astype(float)
    else:
        losses = np.abs(judgement.prediction - y[late])
    return {"name": folder.name, **describe(*summaries, losses, periods[late], sure)}


def ends(values):
    """Mean of independent values, and two standard errors of it."""
    return float(values.mean()), 1.96 * float(values.std()) / np.sqrt(len(values))


def describe(labelled, bare, losses, periods, sure):
    """Line of a stream; the errors, their standard errors and the contradictions are counted from the losses alone."""
    held_out = sure.held_out_
    old = (
        held_out.losses
        if held_out.classes is not None
        else np.abs(held_out.truth - held_out.prediction)
    )
    at_training, around_training = ends(old)
    last = losses[periods == periods.max()]
    measured, around = ends(last)
    verdict = labelled["verdict"]
    says_higher = verdict["headline"].startswith("The labels show a higher error")
    is_higher = measured - at_training > np.hypot(around, around_training)
    overall, around = ends(losses)
    all_higher = overall - at_training > np.hypot(around, around_training)
    names_any = says_higher or "A higher error was measured" in verdict["headline"]
    is_lower = measured <= at_training
    covered = [
        each["low"] <= losses[periods == number].mean() <= each["high"]
        for number, each in zip(np.unique(periods), bare["periods"], strict=True)
        if each["estimate"] is not None and each["n_estimated"] == each["n_rows"]
    ]
    silent = bare["verdict"]["headline"]
    claims = ("The inputs", "No error can be estimated", "Nearly all")
    return {
        "at_training": at_training,
        "estimated": bare["periods"][-1]["estimate"],
        "measured": measured,
        "overall": overall,
        "headline": verdict["headline"],
        "contradiction": bool(
            (says_higher and is_lower)
            or (is_higher and not says_higher)
            or (all_higher and not names_any)
        ),
        "without labels": silent,
        "too much": not (
            (silent.startswith(claims) or "lie outside of the training data" in silent)
            and "A change in the outcomes would not be visible here" in silent
        ),
        "periods": len(bare["periods"]),
        "covered": [int(sum(covered)), len(covered)],
        "higher": [
            sum(name != "all rows" for name in each["verdict"]["alarms"])
            for each in (labelled, bare)
        ],
        "sentences": bare["verdict"]["sentences"],
    }


def main():
    """Watch every stream that the file has no line of, and print all lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("watch_streams.jsonl"))
    parser.add_argument("--only", nargs="*", help="names of streams")
    given = parser.parse_args()
    lines = (
        [json.loads(line) for line in given.out.read_text().splitlines()]
        if given.out.exists()
        else []
    )
    done = {line["name"] for line in lines}
    for folder in sorted(Path(os.environ["SUREFOOT_DATA"], "streams").iterdir()):
        if not folder.is_dir() or (given.only and folder.name not in given.only):
            continue
        if folder.name not in done:
            lines.append(watch(folder))
            with given.out.open("a") as file:
                file.write(json.dumps(lines[-1]) + "\n")
        line = next(each for each in lines if each["name"] == folder.name)
        shown = [
            "–" if line[key] is None else f"{line[key]:.4g}"
            for key in ("at_training", "estimated", "measured")
        ]
        print(
            f"{line['name']}: {line['headline']} | at training {shown[0]}, estimated {shown[1]}, measured {shown[2]}, "
            f"contradiction {'yes' if line['contradiction'] else 'no'}\n    without labels: {line['without labels']}",
            flush=True,
        )
    n_covered, n_periods = np.sum([line["covered"] for line in lines], axis=0)
    print(f"{len(lines)} streams, contradictions: {sum(line['contradiction'] for line in lines)}")
    print(f"claims beyond the inputs, without labels: {sum(line['too much'] for line in lines)}")
    print(
        f"intervals if only the inputs changed hold the measured error in {n_covered} of {n_periods} periods"
    )


if __name__ == "__main__":
    main()
