"""A test reaches this machine and no other, whatever it calls and whatever it starts."""

import socket
from urllib.request import urlopen

import pytest


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
