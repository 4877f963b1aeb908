"""A report as one HTML file, and in a notebook."""

from abc import ABC, abstractmethod
from html import escape
from pathlib import Path
from typing import Any

from surefoot._files import write_whole


class WrittenPage(ABC):
    """Base of reports that are pages."""

    @abstractmethod
    def _page(self) -> str:
        """HTML of the page."""

    def write_html(self, path: Any) -> Path:
        """Write the page, one file that opens offline; an older file is replaced only when the new one is complete.

        Parameters
        ----------
        path : str or Path
            File to write.

        Returns
        -------
        path : Path
            The file that was written.
        """
        return write_whole(Path(path), self._page().encode())

    def _repr_html_(self) -> str:
        """Page in an iframe, for a notebook."""
        page = escape(self._page())
        return (
            f'<iframe srcdoc="{page}" title="surefoot report" '
            'style="width: 100%; height: 80vh; border: 0"></iframe>'
        )
