"""Both priors that ship with surefoot, learned again: of classifiers' errors, and of the sizes of regressors' errors.

Collects the cases that the folder lacks; an interrupted run goes on where it was. The files are not copied into the
library: look at the results first.
"""

from pathlib import Path

from reproduction import error_prior, error_size_prior

FILES = ("error_prior.json", "size_prior.npz")


def run(out: Path, *, quick: bool = False) -> str:
    """Learn both priors, write them with their results, and return a summary."""
    parts = [learned.run(out, quick=quick) for learned in (error_prior, error_size_prior)]
    return "\n\n".join(
        [*parts, f"To ship them: {' and '.join(FILES)}, into src/surefoot/error_estimation"]
    )
