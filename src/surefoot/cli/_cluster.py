"""Clusters of Dask that a command uses."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from surefoot._optional import needed_for
from surefoot.cli._console import Mistake, working


@contextmanager
def cluster(address: str | None) -> Iterator[Any]:
    """Client of the Dask scheduler at an address, which has a worker; None without an address.

    How long it waits is `distributed.comm.timeouts.connect` of Dask's configuration, half a minute by default.
    """
    if address is None:
        yield None
        return
    with needed_for("--dask", "dask"):
        from dask import config
        from dask.utils import parse_timedelta
        from distributed import Client
    seconds = parse_timedelta(config.get("distributed.comm.timeouts.connect"))
    with working(f"Connecting to {address}"):
        try:
            client = Client(address, timeout=seconds)
        except ValueError as error:
            raise Mistake(
                f"{address!r} is no address of a scheduler of Dask: it may be tcp://10.0.0.1:8786."
            ) from error
        except OSError as error:
            raise Mistake(
                f"No scheduler of Dask answers at {address} within {seconds:g} s: start one there, with dask scheduler."
            ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=seconds)
        except TimeoutError as error:
            raise Mistake(
                f"The scheduler of Dask at {address} has no worker: start one with dask worker {address}."
            ) from error
        yield client


@contextmanager
def mistakes_of_cluster(address: str | None) -> Iterator[None]:
    """Turn the errors of a cluster that is lost during work into a `Mistake`."""
    if address is None:
        yield
        return
    with needed_for("--dask", "dask"):
        from distributed import CancelledError, KilledWorker
        from distributed.comm import CommClosedError

    again = "Finished parts stay, and the same command goes on behind them."
    try:
        yield
    except (CancelledError, CommClosedError) as error:
        raise Mistake(f"The scheduler of Dask at {address} was lost. {again}") from error
    except KilledWorker as error:
        raise Mistake(
            f"A part ended several workers of {address}, perhaps for want of memory. {again}"
        ) from error
