"""The page: a summary becomes one file that opens offline."""

from surefoot.report.page._render import render

__all__ = ["render"]
