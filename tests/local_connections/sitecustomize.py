"""Only this machine can be reached: by tests, and by every Python that a test starts, which imports this file."""

import socket
from ipaddress import ip_address

LOCAL = (None, "", "127.0.0.1", "::1", "localhost")


class ConnectionBeyondThisMachineError(BaseException):
    """Not an Exception, so that no program takes it for a network that is down, and the test fails."""


def check_local(host, port):
    """Raise an error that names the address, unless it is one of this machine."""
    if host not in LOCAL:
        raise ConnectionBeyondThisMachineError(
            f"A test may connect to 127.0.0.1, ::1 and unix sockets only: not to {host}, port {port}."
        )


def is_numeric(host):
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def guard(name):
    """Replace a method of sockets that connects."""
    connect = getattr(socket.socket, name)

    def connect_locally(sock, address):
        if sock.family in (socket.AF_INET, socket.AF_INET6):
            check_local(*address[:2])
        return connect(sock, address)

    setattr(socket.socket, name, connect_locally)


def getaddrinfo(host, port, *values, look_up=socket.getaddrinfo, **options):
    """Look up this machine only; an address in numbers, which a server may listen at, needs no look."""
    host = host.decode() if isinstance(host, bytes) else host
    if not is_numeric(host):
        check_local(host, port)
    return look_up(host, port, *values, **options)


guard("connect")
guard("connect_ex")
socket.getaddrinfo = getaddrinfo
