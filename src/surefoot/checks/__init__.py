"""Checks of a table before a model is judged on it: leaks, identifiers, copies, entities and the order of rows."""

from surefoot.checks._columns import EqualColumns, Identifier, find_equal_columns, find_identifiers
from surefoot.checks._duplicates import Duplicates, find_duplicates
from surefoot.checks._entities import Entity, find_entities
from surefoot.checks._fold_orders import FoldOrders, compare_fold_orders
from surefoot.checks._leaks import Leak, find_leaks

__all__ = [
    "Duplicates",
    "Entity",
    "EqualColumns",
    "FoldOrders",
    "Identifier",
    "Leak",
    "compare_fold_orders",
    "find_duplicates",
    "find_entities",
    "find_equal_columns",
    "find_identifiers",
    "find_leaks",
]
