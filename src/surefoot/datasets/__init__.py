"""Data sets: generators, and fetchers that keep files in a local folder."""

from surefoot.datasets._churn import fetch_churn
from surefoot.datasets._friedman import make_friedman_problem
from surefoot.datasets._pmlb import describe_pmlb, fetch_pmlb, list_pmlb
from surefoot.datasets._reuters import fetch_reuters21578
from surefoot.datasets._series_generators import (
    make_cylinder_bell_funnel,
    make_synthetic_control,
)
from surefoot.datasets._subscriptions import make_subscriptions
from surefoot.datasets._tabular import fetch_tabular, list_tabular
from surefoot.datasets._term_information import informative_tfidf, term_information
from surefoot.datasets._uci import fetch_communities, fetch_parkinsons, fetch_wine_quality
from surefoot.datasets._ucr import fetch_ucr, list_ucr

__all__ = [
    "describe_pmlb",
    "fetch_churn",
    "fetch_communities",
    "fetch_parkinsons",
    "fetch_pmlb",
    "fetch_reuters21578",
    "fetch_tabular",
    "fetch_ucr",
    "fetch_wine_quality",
    "informative_tfidf",
    "list_pmlb",
    "list_tabular",
    "list_ucr",
    "make_cylinder_bell_funnel",
    "make_friedman_problem",
    "make_subscriptions",
    "make_synthetic_control",
    "term_information",
]
