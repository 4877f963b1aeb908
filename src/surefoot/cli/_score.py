"""`surefoot score`: predictions of a saved model for each row, and which of them are accepted."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot._words import plural
from surefoot.cli._console import (
    Mistake,
    check_output,
    check_outputs,
    one_sentence_of,
    progress_bar,
    unknown_column,
    working,
    write_output,
)
from surefoot.cli._options import Jobs, Json, MaxRisk, ModelFile, Table, check_confidence
from surefoot.cli._tables import read_table, table_bytes, table_name

# Rows that are judged at a time, so that there is progress to see.
CHUNK = 10_000

# Limits of the risk in words, by the unit of the loss: the limit, and the class that it is of.
LIMITS = {
    "classification": "at most {:.1%}{} wrong",
    "cost": "a mean cost{1} of at most {0:.3g}",
    "regression": "a mean error{1} of at most {0:.3g}",
}


def score(
    model: ModelFile,
    data: Table,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="File for the scored rows, .csv or .parquet; or a folder for parts of a table of any size, where "
            "a run that was stopped goes on.",
        ),
    ],
    max_risk: MaxRisk = None,
    confidence: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Probability that the risk stays within --max-risk.",
            callback=check_confidence,
        ),
    ] = 0.95,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column of DATA to copy to FILE; may be repeated."),
    ] = None,
    as_json: Json = False,
    jobs: Jobs = 1,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Scheduler of a Dask cluster whose workers judge the parts."
        ),
    ] = None,
) -> None:
    """Predict every row of a table, estimate its error, and mark the rows to trust."""
    with working("Starting"):
        import pandas as pd

        from surefoot.cli._memory import check_fits
        from surefoot.cli._model import inputs_of, load_with_promise, unit_of
        from surefoot.cli._score_folder import is_for_parts, run_score_folder

    keep = keep or []
    if is_for_parts(out) or dask is not None:
        run_score_folder(model, data, out, max_risk, confidence, keep, as_json, jobs, dask)
        return
    check_output(out, ".csv", ".parquet")
    check_outputs([out], [model, data])
    check_kept(keep)
    check_fits(data, f"name a folder instead of {out}, and the rows are scored part by part")
    error_estimator, promise = load_with_promise(model, max_risk, confidence)
    with working(f"Reading {data}"):
        table, name = read_table(data), table_name(data)
        for column in keep:
            if column not in table.columns:
                raise unknown_column(column, table.columns, name)
        kept, X = table[list(dict.fromkeys(keep))], inputs_of(error_estimator, table, name)
    with one_sentence_of(f"{model} cannot judge the rows of {name}"):
        judged = judge_in_chunks(error_estimator, X, promise, jobs)
    rows = pd.DataFrame({"row": range(len(X))})
    write_output(out, table_bytes(pd.concat([rows, kept, judged], axis=1), out.suffix))
    summary = {
        **figures_of(out, promise, confidence),
        "n_rows": len(judged),
        "n_accepted": int(judged["accepted"].sum()),
        "n_novel": int(judged["novel"].sum()),
        "estimated_error": float(judged["estimated_error"].mean()),
    }
    print(json.dumps(summary) if as_json else in_words(summary, unit_of(error_estimator)))


def check_kept(keep: Sequence[str]) -> None:
    """Raise one sentence for a column to be copied that would be there twice."""
    from surefoot._table_files import is_score_column

    for column in keep:
        if is_score_column(column):
            raise Mistake(f"--keep {column} has the name of a column that is written: rename it.")


def judge_in_chunks(error_estimator: Any, X: Any, promise: Any, jobs: int) -> Any:
    """Table of the judgement of each row, chunk by chunk."""
    import pandas as pd
    from joblib import Parallel, delayed

    from surefoot._parallel import shared_model

    parts = [X.iloc[start : start + CHUNK] for start in range(0, len(X), CHUNK)]
    shared = shared_model(error_estimator, jobs)
    judged = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(judge_chunk)(shared, part, promise) for part in parts
    )
    shown = progress_bar(judged, total=len(parts), label="Judging")
    return pd.concat(list(shown), ignore_index=True)


def judge_chunk(shared: Any, part: Any, promise: Any) -> Any:
    """Table of the judgement of a few rows."""
    from surefoot._parallel import model_of

    return promise.apply(model_of(shared).judge(part)).to_frame()


def figures_of(out: Path, promise: Any, confidence: float) -> dict[str, Any]:
    """Numbers of the summary that do not depend on the rows."""
    return {
        "scores": str(out),
        "max_risk": promise.max_risk,
        "class_risks": {str(label): risk for label, risk in promise.class_risks.items()},
        "confidence": confidence,
        "limit": promise.limit if promise.kept else None,
    }


def in_words(summary: dict[str, Any], unit: str) -> str:
    """How many rows can be trusted, and where all of them are."""
    n_rows, limit = summary["n_rows"], LIMITS[unit]
    overall = [] if summary["max_risk"] is None else [limit.format(summary["max_risk"], "")]
    of_classes = [
        limit.format(risk, f" of {label!r}") for label, risk in summary["class_risks"].items()
    ]
    kept = " and ".join(overall + of_classes)
    return (
        f"{summary['n_accepted']:,} of {plural(n_rows, 'row')} can be trusted for {kept} "
        f"({summary['confidence']:.0%} confidence); {summary['n_novel']:,} are unlike any seen.\n"
        f"Every row: {summary['scores']}"
    )
