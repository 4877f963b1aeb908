"""Held-out rows with given estimates and losses."""

import numpy as np

from surefoot.error_estimation import HeldOut


def held_out(estimates, losses, groups=None, **fields):
    """Held-out rows of a regressor; none is novel, and none has a copy, unless `fields` say so."""
    estimates, zeros = np.asarray(estimates, dtype=float), np.zeros(len(estimates))
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
    }
    return HeldOut(**known | fields)
