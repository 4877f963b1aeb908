"""Check that a model is a fitted error estimator which knows the rows it was fitted on."""

from typing import Any

from surefoot._sure import check_sure


def check_monitored(sure: Any) -> None:
    """Raise one sentence unless `sure` is a fitted error estimator that kept a sample of its rows."""
    check_sure(sure)
    if not hasattr(sure, "input_sample_"):
        raise ValueError(
            "The model was saved by an older version of surefoot, which kept no sample of its rows: fit it again."
        )
