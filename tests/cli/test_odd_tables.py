"""Odd tables mean the same to every command: the same numbers, the same sentences, the same exit codes."""

import gzip
import io
import json
import shutil
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import typer
from pyarrow import parquet
from sklearn.linear_model import LogisticRegression
from skrub import tabular_pipeline

from surefoot import IndividualErrorClassifier
from surefoot.abstention import Promise
from surefoot.indicators import Confidence
from surefoot.model_files import load, save
from surefoot.report import MonitoringReport

N_ROWS = 24


def make_rows(n_rows, seed):
    """Numbers, whole numbers, booleans, strings, times and categories, and a class to predict."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 10, n_rows).round(1)
    return pd.DataFrame(
        {
            "age": age,
            "visits": rng.integers(1, 9, n_rows),
            "paid": rng.random(n_rows) < 0.5,
            "plan": rng.choice(["free", "team", "none yet"], n_rows),
            "since": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(rng.integers(0, 900, n_rows), "D"),
            "city": pd.Categorical(rng.choice(["Bonn", "Graz"], n_rows), ["Wien", "Bonn", "Graz"]),
            "leaves": np.where(age + rng.normal(0, 5, n_rows) > 40, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model as `surefoot fit` makes it, with one indicator: what is read is the same with all of them."""
    path, table = tmp_path_factory.mktemp("odd") / "m.skops", make_rows(90, 0)
    table.loc[::9, "age"] = np.nan
    pipeline = tabular_pipeline(LogisticRegression())
    error_estimator = IndividualErrorClassifier(
        pipeline, indicators=Confidence(), cv=2, random_state=0
    )
    save(error_estimator.fit(table.drop(columns="leaves"), table["leaves"]), path)
    return path


ROWS = make_rows(N_ROWS, 1)


def with_cell(column, value, table=ROWS):
    """Table with one other value in row 5, which is in line 7 of a CSV."""
    return table.astype({column: object}).assign(
        **{column: [value if i == 5 else cell for i, cell in enumerate(table[column])]}
    )


def as_csv(table=ROWS, **options):
    return table.to_csv(index=False, **options).encode()


def as_parquet(table=ROWS, **options):
    return table.to_parquet(**options)


def of_arrow(**columns):
    """Parquet file with some columns of other types."""
    table = pa.Table.from_pandas(ROWS, preserve_index=False)
    for name, column in columns.items():
        table = table.set_column(table.schema.names.index(name), name, pa.array(column))
    content = io.BytesIO()
    parquet.write_table(table, content)
    return content.getvalue()


def twice_in_parquet():
    table = pa.Table.from_pandas(ROWS, preserve_index=False)
    content = io.BytesIO()
    parquet.write_table(table.append_column("age", table["age"]), content)
    return content.getvalue()


def lines(change):
    """CSV whose lines were changed."""
    return "\n".join(change(as_csv().decode().splitlines())).encode()


def halves(second, first=ROWS[:12]):
    return {"a.parquet": as_parquet(first), "b.parquet": as_parquet(second)}


LOWER = ROWS.assign(paid=ROWS["paid"].map({True: "true", False: "FALSE"}))
COMMAS = ROWS.assign(age=ROWS["age"].map(lambda age: str(age).replace(".", ",")))
INDEX = pd.Index(range(50, 50 + N_ROWS), name="age")

# Tables that are read as ROWS, by the name of their file; a folder of files is a dictionary.
SAME = {
    "plain.csv": as_csv(),
    "plain.parquet": as_parquet(),
    "packed.csv.gz": gzip.compress(as_csv()),
    "packed.parquet.gz": gzip.compress(as_parquet()),
    "folder": halves(ROWS[12:]),
    "semicolons.csv": as_csv(sep=";"),
    "decimal commas.csv": as_csv(COMMAS, sep=";"),
    "tabs.tsv": as_csv(sep="\t"),
    "bars.csv": as_csv(sep="|"),
    "byte order mark.csv": b"\xef\xbb\xbf" + as_csv(),
    "latin-1.csv": as_csv(ROWS.assign(größe="Ä")).decode().encode("latin-1"),
    "carriage returns.csv": as_csv(lineterminator="\r\n"),
    "only carriage returns.csv": as_csv(lineterminator="\r"),
    "quoted newlines.csv": as_csv(ROWS.assign(note="two\nlines; three, four")),
    "blank lines.csv": lines(lambda rows: [part for row in rows for part in (row, "")]),
    "spaces.csv": lines(lambda rows: [row.replace(",", ", ") for row in rows]),
    "spaces and quotes.csv": lines(
        lambda rows: [row.replace(",free", ', "free"').replace(",team", ', "team"') for row in rows]
    ),
    "quotes everywhere.csv": as_csv(quoting=1),
    "a quote inside.csv": lines(lambda rows: [f"{rows[0]},size", *(f'{row},5" wide' for row in rows[1:])]),
    "booleans as strings.csv": as_csv(LOWER),
    "booleans as strings.parquet": as_parquet(LOWER),
    "booleans as numbers.csv": as_csv(ROWS.assign(paid=ROWS["paid"].astype(int))),
    "whole numbers as floats.csv": as_csv(ROWS.astype({"visits": float})),
    "numbers as strings.parquet": as_parquet(ROWS.astype({"age": str, "visits": str})),
    "decimals.parquet": of_arrow(age=[Decimal(f"{age:.1f}") for age in ROWS["age"]]),
    "dates.parquet": of_arrow(since=ROWS["since"].dt.date),
    "categories as strings.parquet": as_parquet(ROWS.astype({"city": str})),
    "other columns.csv": as_csv(ROWS.assign(a=1, b="x")),
    "another order.csv": as_csv(ROWS[ROWS.columns[::-1]]),
    "an index like a column.parquet": as_parquet(ROWS.set_index(INDEX)),
    "an index without a name.parquet": as_parquet(ROWS.set_index(INDEX.rename(None))),
    "a named index.parquet": as_parquet(ROWS.set_index(INDEX.rename("id"))),
}  # fmt: skip

MISSING = with_cell("age", None)
INFINITE = "1 number that is infinite or above 3.4e+38 is treated as missing."

# Tables that are read as MISSING, and the remark that each gets.
ONE_MISSING = {
    "empty.csv": (as_csv(MISSING), None),
    "quoted empty.csv": (as_csv(MISSING, quoting=1), None),
    "NA.csv": (as_csv(MISSING, na_rep="NA"), None),
    "nan.csv": (as_csv(MISSING, na_rep="nan"), None),
    "not a number.csv": (as_csv(MISSING, na_rep="-1.#IND"), None),
    "null.parquet": (as_parquet(MISSING.astype({"age": float})), None),
    "infinite.csv": (as_csv(with_cell("age", "-inf")), INFINITE),
    "too large.csv": (as_csv(with_cell("age", "1e39")), INFINITE),
    "far too large.csv": (as_csv(with_cell("age", "1e400")), INFINITE),
    "infinite.parquet": (as_parquet(with_cell("age", np.inf).astype({"age": float})), INFINITE),
    "too large.parquet": (as_parquet(with_cell("age", -1e39).astype({"age": float})), INFINITE),
}

# Tables that no command reads, and their sentence; PATH is the path, of a table in a folder that of the folder.
REFUSED = {
    "bad number.csv": (
        as_csv(with_cell("age", "old")),
        "Line 7 of PATH has 'old' in the column 'age', where the model expects numbers.",
    ),
    "bad whole number.csv": (
        as_csv(with_cell("visits", "0x1A")),
        "Line 7 of PATH has '0x1A' in the column 'visits', where the model expects numbers.",
    ),
    "thousands.csv": (
        as_csv(with_cell("age", "1,234")),
        "Line 7 of PATH has '1,234' in the column 'age', where the model expects numbers.",
    ),
    "bad boolean.csv": (
        as_csv(with_cell("paid", "maybe")),
        "Line 7 of PATH has 'maybe' in the column 'paid', where the model expects booleans.",
    ),
    "bad time.csv": (
        as_csv(with_cell("since", "16.11.2026")),
        "Line 7 of PATH has '16.11.2026' in the column 'since', where the model expects times.",
    ),
    "bad number behind newlines.csv": (
        as_csv(with_cell("age", "old").assign(note="two\nlines")),
        "Line 12 of PATH has 'old' in the column 'age', where the model expects numbers.",
    ),
    "bad number.parquet": (
        as_parquet(with_cell("age", "old").astype({"age": str})),
        "Row 5 of PATH has 'old' in the column 'age', where the model expects numbers.",
    ),
    "bad number in a folder": (
        halves(with_cell("age", "old")[5:].astype({"age": str}), ROWS.astype({"age": str})),
        "Row 0 of PATH/b.parquet has 'old' in the column 'age', where the model expects numbers.",
    ),
    "times for numbers.parquet": (
        as_parquet(ROWS.assign(age=ROWS["since"])),
        "Column 'age' of PATH holds times where the model expects numbers.",
    ),
    "lists.parquet": (
        as_parquet(ROWS.assign(age=[[1]] * N_ROWS)),
        "PATH has lists of numbers in 'age', where the model expects one value per row.",
    ),
    "missing column.csv": (
        as_csv(ROWS.drop(columns=["age", "plan"])),
        "missing column.csv lacks 'age' and 'plan', which the model was fitted on.",
    ),
    "column twice.csv": (
        as_csv().replace(b"visits", b"age"),
        "PATH has more than one column 'age': names must differ.",
    ),
    "column twice.parquet": (
        twice_in_parquet(),
        "PATH has more than one column 'age': names must differ.",
    ),
    "another kind in a folder": (
        halves(ROWS[12:].astype({"age": str})),
        "PATH/b.parquet has strings in the column 'age', and PATH/a.parquet has numbers.",
    ),
    "long line.csv": (
        lines(lambda rows: [*rows[:6], rows[6] + ",1", *rows[7:]]),
        "Line 7 of PATH has 8 fields where the header has 7.",
    ),
    "open quote.csv": (
        lines(lambda rows: [*rows[:6], '"' + rows[6], *rows[7:]]),
        "Line 7 of PATH cannot be read: a quote that is never closed.",
    ),
    "header.csv": (as_csv(ROWS[:0]), "PATH has column names but no rows."),
    "empty.csv": (b"\n", "PATH is empty."),
    "image.csv": (
        b"\x89PNG\r\n\x1a\n",
        "PATH is not a table but an image: surefoot reads CSV and Parquet.",
    ),
    "cut off.parquet": (as_parquet()[:-20], "PATH is a broken Parquet file."),
    "cut off.csv.gz": (
        gzip.compress(as_csv())[:-20],
        "PATH is a compressed file that is cut off or damaged.",
    ),
}


@pytest.fixture
def written(tmp_path):
    """Write a table, which may be a folder, and return its path."""

    def call(name, content):
        path = tmp_path / name
        for file, part in (content if isinstance(content, dict) else {"": content}).items():
            place = path / file if file else path
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(part)
        return path

    return call


load_once = cache(load)


@pytest.fixture
def every_command(run, model, tmp_path, monkeypatch):
    """Results of all commands for a table; and what a report, which is stopped then, has read of it."""

    def call(path):
        read = []

        def report(_, X, y, **__):
            read.append(X)
            raise typer.Exit

        monkeypatch.setattr("surefoot.cli._model.load", load_once)
        monkeypatch.setattr("surefoot.report.ReliabilityReport", report)
        commands = {
            "file": ["score", model, path, "--out", tmp_path / "s.parquet", "--max-risk", "0.5"],
            "folder": ["score", model, path, "--out", tmp_path / "scores", "--max-risk", "0.5"],
            "watch": ["watch", model, path, "--json", "--max-risk", "0.5"],
            "audit": ["audit", model, path, "--labels", "5", "--out", tmp_path / "ask.csv"],
            "report": ["report", path, "--target", "leaves", "--estimator", model, "--json"],
        }
        return {name: run(*command) for name, command in commands.items()}, read

    return call


def without_names(summary):
    """Summary of a report without what names the file."""
    data = {name: value for name, value in summary["data"].items() if name != "name"}
    verdict = {**summary["verdict"]}
    verdict["sentences"] = [each for each in verdict["sentences"] if "audit" not in each]
    kept = {name: value for name, value in summary.items() if name != "how"}
    return {**kept, "data": data, "verdict": verdict}


@cache
def judged(model, *, is_complete):
    """Estimated errors of the rows in memory, and the summary of `surefoot watch` for them."""
    error_estimator, table = load_once(model), ROWS if is_complete else MISSING
    X = table[list(error_estimator.feature_names_in_)].astype({"age": float})
    promise = Promise.from_held_out(error_estimator.held_out_, 0.5)
    watched = MonitoringReport(error_estimator, promise=promise).add(X).summarize()
    return error_estimator.predict_error(X), without_names(json.loads(json.dumps(watched)))


def check_read_as(table, path, remark, every_command, model, tmp_path):
    """Check that every command reads a file as this table, and makes the same remark."""
    errors, watched = judged(model, is_complete=table is ROWS)
    results, read = every_command(path)
    for name, result in results.items():
        assert result.code == 0, (name, result.err)
        remarks = [line for line in result.err.splitlines() if "missing" in line]
        assert remarks == ([remark] if remark else [])
    one, parts = pd.read_parquet(tmp_path / "s.parquet"), pd.read_parquet(tmp_path / "scores")
    np.testing.assert_allclose(one["estimated_error"], errors)
    pd.testing.assert_frame_equal(one, parts, check_dtype=False)
    np.testing.assert_allclose(load_once(model).predict_error(read[0]), errors)
    assert without_names(json.loads(results["watch"].out)) == watched


@pytest.mark.parametrize("name", SAME)
def test_every_command_reads_the_same_rows(name, written, every_command, model, tmp_path):
    path = written(name, SAME[name])
    check_read_as(ROWS, path, None, every_command, model, tmp_path)


@pytest.mark.parametrize("name", ONE_MISSING)
def test_every_command_takes_the_same_cells_for_missing(
    name, written, every_command, model, tmp_path
):
    content, remark = ONE_MISSING[name]
    check_read_as(MISSING, written(name, content), remark, every_command, model, tmp_path)


@pytest.mark.parametrize("name", REFUSED)
def test_every_command_refuses_the_same_cells(name, written, every_command):
    content, sentence = REFUSED[name]
    path = written(name, content)
    results, _ = every_command(path)
    said = {command: result.err.replace(str(path), "PATH") for command, result in results.items()}
    assert {command: text.splitlines()[-1] for command, text in said.items()} == dict.fromkeys(
        results, sentence
    )
    assert {result.code for result in results.values()} == {2}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SAME, *ONE_MISSING])
def test_every_report_has_the_same_numbers(name, written, run, model, tmp_path):
    content = SAME.get(name) or ONE_MISSING[name][0]
    expected = as_parquet(ROWS if name in SAME else MISSING.astype({"age": float}))
    options = ["--target", "leaves", "--estimator", model, "--json", "--quick"]
    results = [
        run("report", written(place, table), *options)
        for place, table in ((name, content), ("expected.parquet", expected))
    ]
    one, other = (without_names(json.loads(result.out)) for result in results)
    assert one == other
    assert "error" in one["numbers"]


def test_a_csv_is_read_at_most_twice(written, run, model, every_command, tmp_path):
    def n_bytes_read():
        """Bytes that this process has read so far, from whatever file."""
        return int(Path("/proc/self/io").read_text().split()[1])

    counts = []
    for letters in (1, 1, 400_000):  # the first run imports everything
        path = written(f"{letters}.csv", as_csv(ROWS.assign(note="x" * letters)))
        before = n_bytes_read()
        results, _ = every_command(path)
        counts.append(n_bytes_read() - before)
        assert {result.code for result in results.values()} == {0}
        asked = pd.read_csv(tmp_path / "ask.csv").assign(label="no", note="")
        asked.to_csv(tmp_path / "ask.csv", index=False)
        before = n_bytes_read()
        assert run("watch", model, path, "--answers", tmp_path / "ask.csv").code == 0
        counts[-1] += n_bytes_read() - before
        shutil.rmtree(tmp_path / "scores")
        (tmp_path / "ask.csv").unlink()
    n_reads = (counts[2] - counts[1]) / path.stat().st_size
    assert n_reads < 2.3 * (len(results) + 1)  # two reads, and peeks at the beginning
