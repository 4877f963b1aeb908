"""Private names of skops, each with the reason why it is needed: `skops.io.loads` reads a file without asking us."""

# What a schema would make, before it is made.
from skops.io._audit import Node, get_tree

# The newest layout that the installed skops reads.
from skops.io._protocol import PROTOCOL

# A decision tree, whose arguments are checked before it is made.
from skops.io._sklearn import TreeNode

# Where parts are read from, and every node by its number.
from skops.io._utils import LoadContext

__all__ = ["PROTOCOL", "LoadContext", "Node", "TreeNode", "get_tree"]
