"""What each column means in the table of rows: `to_frame`, the file of --scores and the page's CSV."""

from collections.abc import Iterable

OF_EITHER = {
    "row": "the row's position in the table, counted from 0, or its label if the table's index holds whole numbers",
    "truth": "the true value of the target",
    "prediction": "the prediction of the model, made without having seen the row",
    "novel": "True if the row is further from the training rows than they are from each other (out-of-distribution)",
    "accepted": "True if the row is answered, False if a person should check it. Here the slider in “Answer or "
    "abstain” decides. In {everywhere} the risk promised in the verdict decides; without a promise there is no such "
    "column",
}
OF_CLASSES = {
    "probability_<class>": "the model's own probability of each class",
    "estimated_error": "the estimated probability that the prediction is wrong",
    "shift": "mean change of the predicted class's lead over the second class, close to the row (within its Voronoi "
    "cell); below 0, the lead is smaller around the row",
    "spread": "standard deviation of that change; near 0, the prediction is stable",
    "worst": "the lowest of these changes",
    "flips": "share of the points close to the row that get another class",
    "loss": "1 if the prediction is wrong, 0 if it is right",
    "own_error": "1 − the model's own probability of its prediction",
}
OF_NUMBERS = {
    "estimated_error": "the estimated size of the error, in the unit of the target",
    "low": "lower end of the 90 % interval of the true value (conformal prediction interval)",
    "high": "upper end of that interval",
    "shift": "mean change of the predicted value close to the row (within its Voronoi cell)",
    "spread": "standard deviation of that change; near 0, the prediction is stable",
    "worst": "the lowest of these changes",
    "residual": "the estimated residual: truth minus prediction",
    "loss": "the actual size of the error",
}


def explain_columns(
    names: Iterable[str], on_page: Iterable[str], is_classifier: bool, everywhere: str
) -> list[dict[str, str]]:
    """Name and meaning of each column, in the given order; the probabilities of classes have one entry.

    Parameters
    ----------
    names : iterable of str
        Columns of the table of all rows.
    on_page : iterable of str
        Columns of the page's CSV: they have `accepted` in any case, and no probabilities if there are very many.
    is_classifier : bool
        Whether the model is a classifier.
    everywhere : str
        Where the table of all rows is: the file of an option, or the method in Python.
    """
    about = OF_EITHER | (OF_CLASSES if is_classifier else OF_NUMBERS)
    shown = {_kind(name, is_classifier) for name in on_page}
    kinds = dict.fromkeys(_kind(name, is_classifier) for name in (*names, *on_page))
    return [
        {
            "name": kind,
            "about": about[kind].format(everywhere=everywhere)
            + ("" if kind in shown else f" (only in {everywhere}, because there are many classes)"),
        }
        for kind in kinds
    ]


def _kind(name: str, is_classifier: bool) -> str:
    """Name of a column, the same for the probabilities of all classes."""
    is_probability = is_classifier and name.startswith("probability_")
    return "probability_<class>" if is_probability else name
