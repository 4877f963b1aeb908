"""A test reaches this machine and no other, whatever it calls and whatever it starts."""

import os
import socket
import subprocess
import sys
from urllib.request import urlopen

import pytest
from joblib import Parallel, delayed


@pytest.mark.parametrize(
    "reach",
    [
        lambda: socket.create_connection(("example.org", 80)),
        lambda: urlopen("http://example.org/table.csv"),
        lambda: socket.getaddrinfo(b"example.org", 80),
    ],
)
def test_no_other_machine_is_looked_up(reach):
    with pytest.raises(BaseException, match=r"unix sockets only: not to example\.org, port 80\."):
        reach()


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET, ("192.0.2.1", 443)), (socket.AF_INET6, ("2001:db8::1", 443, 0, 0))],
)
def test_a_socket_does_not_connect_beyond_this_machine(method, family, address):
    with (
        socket.socket(family) as sock,
        pytest.raises(BaseException, match=f"unix sockets only: not to {address[0]}, port 443."),
    ):
        getattr(sock, method)(address)


def test_a_program_that_catches_every_exception_fails_too():
    program = """
import urllib.request
try:
    urllib.request.urlopen("http://example.org")
except Exception:
    print("offline")
"""
    run = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.rstrip().endswith("only: not to example.org, port 80.")


def test_a_worker_process_of_joblib_is_guarded():
    def reach():
        try:
            socket.create_connection(("example.org", 80))
        except BaseException as error:  # noqa: BLE001
            return os.getpid(), str(error)

    [(process, sentence)] = Parallel(n_jobs=2)([delayed(reach)()])
    assert process != os.getpid()
    assert sentence.endswith("only: not to example.org, port 80.")


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_this_machine_is_reached(name):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection((name, port)) as client:
            assert client.getpeername() == ("127.0.0.1", port)
