"""Page of the report: one HTML file, made from the summary, that opens offline."""

from surefoot.report.page._render import render

__all__ = ["render"]
