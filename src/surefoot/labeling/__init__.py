"""A web page on which people label the rows that help a model most."""

from surefoot._optional import needed_for

with needed_for("surefoot.labeling", "label"):
    from surefoot.labeling._server import serve

__all__ = ["serve"]
