"""Pages: one HTML file each, made from a summary, that opens offline."""

from surefoot.report.page._render import render

__all__ = ["render"]
