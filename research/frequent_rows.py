"""Do the limits of `_copies` matter? Copies in public tables, with other limits for frequent rows.

A set of equal rows is no set of copies if it is larger than a number and than a share of all rows. For each limit, the
tables of PMLB on which other rows become copies than with ten rows and 5 % are counted:

    python research/frequent_rows.py FOLDER
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from surefoot import _copies

MOST_ROWS = 5000


def tables(folder):
    """Name and inputs of each table, at most 5,000 rows of it."""
    for path in sorted(folder.glob("*/*.tsv.gz")):
        table = pd.read_csv(path, sep="\t", nrows=MOST_ROWS)
        yield path.parent.name, table.drop(columns="target").to_numpy(dtype=np.float64)


def main():
    """Print the tables with copies, and those that each limit changes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="Folder of PMLB.")
    every = dict(tables(parser.parse_args().data))
    usual = {name: _copies.group_copies(X).sets for name, X in every.items()}
    counts = {name: len(sets) - len(np.unique(sets)) for name, sets in usual.items()}
    some = {name: count for name, count in counts.items() if count}
    print(f"{len(every)} tables, {len(some)} with copies: {some}", flush=True)
    for number in (2, 5, 10, 20, 50):
        for share in (0.01, 0.02, 0.05, 0.1, 0.2):
            _copies.FREQUENT, _copies.FREQUENT_ROWS = share, number
            changed = [
                n for n, X in every.items() if (_copies.group_copies(X).sets != usual[n]).any()
            ]
            print(f"  more than {number} rows and {share:.0%}: {changed or '-'}", flush=True)


if __name__ == "__main__":
    main()
