"""Fuzzing of the CSV and Parquet readers: every mutated file is read, or refused in one sentence.

`fuzz_tables.py --kind csv --seconds 600 --seed 0` prints how many files were read and refused, and every one that
raised anything else, took longer than a few seconds, or ended the process; those are kept in `--keep FOLDER`. Without
`--kind` files of both kinds are made.
"""

import argparse
import io
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from contextlib import redirect_stderr
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import typer
from pyarrow import parquet

from surefoot._tables import TableFileError, read_table
from surefoot.cli._rows import take_apart

KINDS = (".csv", ".parquet")
LONGEST = 10  # seconds for one file
TOKENS = [
    b",", b";", b"\t", b"|", b'"', b'""', b"\n", b"\r\n", b"\r", b"\0", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"nan",
    b"inf", b"-inf", b"1e999", b"NA", b"<", b"{", b"[", b"=", b"'", b" ", b"01", b"9" * 400, b"True", b"2024-13-45",
    "é".encode(), "\u202e".encode(), "😀".encode(), b"PAR1", b"\x1f\x8b",
]  # fmt: skip


def seeds(random):
    """Contents of good files to start from."""
    n = 30
    frame = pd.DataFrame(
        {
            "x": random.normal(size=n).round(3),
            "kind": random.choice(["a", "b", "nan"], n),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 99, n), "D"),
            "text": [f'a "quoted", text {i}' for i in range(n)],
            "y": random.choice(["yes", "no"], n),
        }
    )
    frame.loc[::5, "x"] = np.nan
    yield ".csv", frame.to_csv(index=False).encode()
    yield ".csv", frame.to_csv(index=False, sep=";", decimal=",").encode("latin-1")
    yield ".csv", frame.to_csv(index=False, sep="\t", lineterminator="\r\n").encode("utf-16")
    table = pa.table(
        {
            "x": pa.array(frame["x"]),
            "list": pa.array([[1, 2]] * n),
            "struct": pa.array([{"a": 1}] * n),
            "code": pa.array(frame["kind"]).dictionary_encode(),
            "day": pa.array(frame["when"].dt.date),
            "money": pa.array(range(n), pa.int64()).cast(pa.decimal128(25, 2)),
            "bytes": pa.array([b"x"] * n),
            "y": pa.array(frame["y"]),
        }
    )
    for compression in ("none", "snappy", "zstd"):
        content = io.BytesIO()
        parquet.write_table(table, content, compression=compression)
        yield ".parquet", content.getvalue()
    content = io.BytesIO()
    frame.set_index("x").to_parquet(content)
    yield ".parquet", content.getvalue()


def mutate(content, random):
    """Copy with a few bytes changed, dropped, repeated or put in."""
    data = bytearray(content)
    for _ in range(random.integers(1, 6)):
        at = int(random.integers(0, len(data) + 1))
        match random.integers(0, 6):
            case 0 if data:
                data[min(at, len(data) - 1)] = random.integers(0, 256)
            case 1:
                data[at : at + int(random.integers(1, 40))] = b""
            case 2:
                part = data[at : at + int(random.integers(1, 200))]
                data[at:at] = part * int(random.integers(1, 4))
            case 3:
                data[at:at] = TOKENS[random.integers(0, len(TOKENS))]
            case 4:
                data[at:] = b""
            case _:
                other = int(random.integers(0, len(data) + 1))
                data[at:at] = data[min(at, other) : max(at, other)][:300]
    return bytes(data)


def read(path):
    """Outcome of reading a file and splitting it by roles: read, refused, or what was raised."""
    try:
        table = read_table(path, str)
        if "y" in table:
            take_apart(table, "y", "auto", None, path.name)
    except (typer.TyperException, TableFileError) as mistake:
        sentence = str(mistake)
        return (
            "refused"
            if sentence.count("\n") == 0 or "\n" in path.name
            else f"two lines: {sentence!r}"
        )
    except Exception:  # noqa: BLE001 - this is what is looked for
        return traceback.format_exc()
    return "read"


def stop(*_):
    """Turn an alarm into an error that `read` reports."""
    raise TimeoutError("reading took too long")


def fuzz(seconds, seed, keep=None, kinds=KINDS):
    """Counts of outcomes, and the tracebacks of those that are defects."""
    random, counts, defects = np.random.default_rng(seed), Counter(), []
    started = [pair for pair in seeds(random) if pair[0] in kinds]
    signal.signal(signal.SIGALRM, stop)
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while time.monotonic() < end:
            suffix, content = started[random.integers(0, len(started))]
            data = mutate(content, random)
            path = Path(name) / f"table{suffix}"
            path.write_bytes(data)
            signal.alarm(LONGEST)
            with redirect_stderr(io.StringIO()):
                outcome = read(path)
            signal.alarm(0)
            counts[outcome if outcome in ("read", "refused") else "defect"] += 1
            if outcome not in ("read", "refused"):
                defects.append(outcome)
                if keep is not None:
                    (keep / f"{seed}-{sum(counts.values())}{suffix}").write_bytes(data)
    return counts, defects


def main():
    """Fuzz, print, and end with 1 if there was a defect."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--kind", choices=[kind[1:] for kind in KINDS])
    given = parser.parse_args()
    kinds = KINDS if given.kind is None else (f".{given.kind}",)
    counts, defects = fuzz(given.seconds, given.seed, given.keep, kinds)
    print(dict(counts))
    for defect in dict.fromkeys(defects):
        print(defect)
    sys.exit(bool(defects))


if __name__ == "__main__":
    main()
