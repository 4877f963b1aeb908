"""Downloads: files are verified by checksum, and written completely or not at all."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen


@contextmanager
def reach(address: str, *, what: str, remedy: str) -> Iterator[Any]:
    """Open a constant address for reading; the error says what to do if it cannot be reached."""
    try:
        with urlopen(address, timeout=60) as source:  # noqa: S310 (constant https addresses only)
            yield source
    except (URLError, TimeoutError, ConnectionError) as error:
        raise OSError(
            f"{what} is not on disk and {address} cannot be reached: {remedy}."
        ) from error


def check_may_download(download: bool, *, what: str, remedy: str) -> None:
    """Raise an error if a missing file may not be downloaded."""
    if not download:
        raise FileNotFoundError(f"{what} is not on disk: {remedy}.")


def read_address(address: str, *, what: str, remedy: str) -> bytes:
    """Content of the file at an address."""
    with reach(address, what=what, remedy=remedy) as source:
        content: bytes = source.read()
    return content


def verify(text: bytes, checksum: str | None, *, what: str) -> None:
    """Raise an error unless the SHA-256 begins with the known checksum; None is not checked."""
    if checksum is None:
        return
    actual = hashlib.sha256(text).hexdigest()[: len(checksum)]
    if actual != checksum:
        raise OSError(
            f"{what} is damaged or has changed: its SHA-256 begins with {actual} and should begin "
            f"with {checksum}."
        )


def download_text(
    address: str, file: Path, checksum: str, *, download: bool, what: str, remedy: str
) -> None:
    """Download a text to `file`, with line ends as LF, if it has the known checksum."""
    check_may_download(download, what=what, remedy=remedy)
    content = read_address(address, what=what, remedy=remedy).replace(b"\r\n", b"\n")
    verify(content, checksum, what=what)
    store(content, file)


def store(content: bytes, file: Path) -> None:
    """Write a file completely or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.part")
    partial.write_bytes(content)
    partial.replace(file)
