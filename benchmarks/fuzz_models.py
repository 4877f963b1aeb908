"""Forge and damage stored models, load them, and ask them: every answer has to be a result or one sentence.

    python benchmarks/fuzz_models.py --seconds 600 --seed 0

Each case changes the schema or the arrays inside the archive, or the bytes of the archive, and is loaded and asked in a
process of its own, with a limit of time. Cases follow from the seed. What ends in a traceback, a hang or a crash is
kept in `tests/model_files/seeds` and makes the exit code 1.
"""

import argparse
import contextlib
import gc
import io
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from fuzz_models_mutations import Parts, mutate, pack, read_parts
from fuzz_models_specimens import Specimen, build_specimens
from surefoot._model_files import ModelFileError, load_model
from surefoot.cli import main as surefoot

# A process with threads cannot be copied.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")

SEEDS = Path(__file__).parents[1] / "tests" / "model_files" / "seeds"

OUTCOMES = ("sentence", "success", "traceback", "hang", "crash")
LIMIT = 20.0
MEMORY = 12 << 30
SMALL = 30_000

SUCCESS, SENTENCE, TRACEBACK = 0, 2, 3


class Case(NamedTuple):
    """Contents of a file, made when they are needed, and the model that they were made from."""

    name: str
    specimen: Specimen
    content: Callable[[], bytes]


def all_cases(specimens: list[Specimen], seed: int) -> Iterator[Case]:
    """Cases that once went wrong, then new ones without end."""
    by_name = {specimen.name: specimen for specimen in specimens}
    for path in sorted(SEEDS.glob("*.skops")):
        yield Case(path.stem, by_name[path.stem.split("-")[1]], path.read_bytes)
    parts = [read_parts(specimen.path.read_bytes()) for specimen in specimens]
    gc.freeze()  # what is never looked at again is never copied
    for number in count():
        which = number % len(specimens)
        make = partial(forged, parts[which], [seed, number])
        yield Case(f"{specimens[which].name}-{seed}-{number}", specimens[which], make)


def forged(parts: Parts, seed: list[int]) -> bytes:
    """A model with one to three changes; its parts are changed in place."""
    return pack(*mutate(parts, np.random.default_rng(seed)))


def ask(path: Path, specimen: Specimen) -> int:
    """Load a model and use it as the command line does; how that ended."""
    if specimen.is_sure:
        return score(path, specimen)
    try:
        model = load_model(path)
    except ModelFileError:
        return SENTENCE
    try:
        model.predict(specimen.rows)
    except Exception:  # noqa: BLE001 - as `surefoot` does, which says it in a sentence
        return SENTENCE
    return SUCCESS


def score(path: Path, specimen: Specimen) -> int:
    """Exit code of `surefoot score`, or that of a traceback if it says more than one sentence."""
    table, out = specimen.path.with_suffix(".csv"), path.with_suffix(".scores.csv")
    said = io.StringIO()
    code: Any = TRACEBACK
    with (
        patch("surefoot.cli._score.read_table", return_value=specimen.rows),
        patch("surefoot.cli._score.write_output"),
        contextlib.redirect_stderr(said),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        try:
            surefoot(["score", str(path), str(table), "--out", str(out)])
        except SystemExit as left:
            code = left.code or 0
    sentences = [line for line in said.getvalue().splitlines() if line.strip()]
    if code == SENTENCE and len(sentences) > 2:  # a remark may come first
        raise AssertionError(said.getvalue())
    return int(code)


def run_case(path: Path, case: Case) -> None:
    """Make the case, ask it, and leave with the outcome; in a process of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    code = TRACEBACK
    try:
        path.write_bytes(case.content())
        code = ask(path, case.specimen)
    except BaseException:  # noqa: BLE001 - whatever it is, it is written down
        path.with_suffix(".txt").write_text(traceback.format_exc())
    finally:
        os._exit(code)


def start(path: Path, case: Case) -> int:
    """Number of the process that runs a case."""
    child = os.fork()
    if child == 0:
        run_case(path, case)
    return child


def outcome(child: int, started: float) -> str | None:
    """How a case ended, or None while it runs; one that runs too long is stopped."""
    done, status = os.waitpid(child, os.WNOHANG)
    if done == 0:
        if time.monotonic() - started < LIMIT:
            return None
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "hang"
    if os.WIFSIGNALED(status):
        return "crash"
    code = os.WEXITSTATUS(status)
    return {SUCCESS: "success", SENTENCE: "sentence"}.get(code, "traceback")


def keep(path: Path, name: str, into: Path) -> None:
    """Keep a case that went wrong, if it is small, and print what happened."""
    report = path.with_suffix(".txt")
    print(f"{name}\n{report.read_text() if report.exists() else ''}", flush=True)
    content = compressed(path.read_bytes()) if path.exists() else b""
    if 0 < len(content) <= SMALL:
        into.mkdir(parents=True, exist_ok=True)
        (into / f"{name}.skops").write_bytes(content)


def compressed(content: bytes) -> bytes:
    """Archive in less space, if it can be read at all."""
    out = io.BytesIO()
    try:
        with (
            zipfile.ZipFile(io.BytesIO(content)) as archive,
            zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as smaller,
        ):
            for name in archive.namelist():
                smaller.writestr(name, archive.read(name))
    except Exception:  # noqa: BLE001 - it is damaged: kept as it is
        return content
    return out.getvalue()


def fuzz(seconds: float, seed: int, jobs: int, into: Path) -> Counter[str]:
    """Run cases for some time, from when the models are built; how many ended how."""
    counts: Counter[str] = Counter(dict.fromkeys(OUTCOMES, 0))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        specimens = build_specimens(folder)
        for specimen in specimens:  # compiles what has to be compiled, once for all
            assert ask(specimen.path, specimen) == SUCCESS, specimen.name
        end = time.monotonic() + seconds
        cases = all_cases(specimens, seed)
        running: dict[int, tuple[float, Case]] = {}
        while running or time.monotonic() < end:
            while len(running) < jobs and time.monotonic() < end:
                case = next(cases)
                child = start(folder / f"case-{case.name}.skops", case)
                running[child] = (time.monotonic(), case)
            for child, (started, case) in list(running.items()):
                ended = outcome(child, started)
                if ended is None:
                    continue
                del running[child]
                counts[ended] += 1
                path = folder / f"case-{case.name}.skops"
                if ended not in ("sentence", "success"):
                    keep(path, f"{ended}-{case.name}", into)
                path.unlink(missing_ok=True)
            time.sleep(0.002)
    return counts


def main() -> None:
    """Fuzz, print the counts, and fail if anything but a result or a sentence came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, default=SEEDS)
    given = parser.parse_args()
    if not ONE_THREAD.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})  # noqa: S606
    counts = fuzz(given.seconds, given.seed, given.jobs, given.keep)
    print(json.dumps({"cases": counts.total(), **counts}))
    sys.exit(any(counts[name] for name in ("traceback", "hang", "crash")))


if __name__ == "__main__":
    main()
