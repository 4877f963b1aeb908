"""Held-out rows with given estimates and losses."""

import numpy as np

from surefoot.error_estimation import HeldOut


def held_out(estimates, losses, groups=None, **fields):
    """Held-out rows, of a classifier if all losses are 0 or 1; none is novel or has a copy, unless `fields` say so."""
    estimates, zeros = np.asarray(estimates, dtype=float), np.zeros(len(estimates))
    is_share = np.isin(losses, (0, 1)).all()
    known = {
        "prediction": zeros,
        "error": estimates,
        "losses": np.asarray(losses, dtype=float),
        "groups": None if groups is None else np.asarray(groups),
        "novel": zeros > 0,
        "columns": {},
        "rows": np.arange(len(zeros)),
        "scores": zeros[:, None],
        "splits": zeros.astype(int),
        "truth": zeros,
        "classes": np.array([0, 1]) if is_share else None,
    }
    return HeldOut(**known | fields)
