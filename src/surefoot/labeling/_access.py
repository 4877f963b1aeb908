"""Who may ask for what: token, Host, Origin, sizes and rates, before any route is looked up."""

import ipaddress
import json
import secrets
import socket
import time
from typing import Any
from urllib.parse import parse_qs

# The one path that needs no token; it says only that the server lives.
OPEN_PATH = "/healthz"

SAFE_METHODS = frozenset(["GET", "HEAD"])

# Bytes of a request's body, of which an answer has a few hundred, and of what follows the path in an address.
LARGEST_BODY, LONGEST_QUERY = 64 * 1024, 4096

TOO_LARGE = f"A request may have at most {LARGEST_BODY:,} bytes."

# Requests that may come at once, and how many a second may come for long.
BURST, RATE = 2000, 500.0

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

TO_ENTER = "Open the address that was printed when the page was started: it ends in the token."


# A browser that comes from a link elsewhere sends the cookie only when the person goes on from a page of this server.
PAGE = (
    "<!doctype html><html lang=en><meta name=viewport content='width=device-width'><title>surefoot label</title>"
    "<p>{}</p><p>If you have just done that, <a href=/>go on</a>.</p>"
)


class Access:
    """ASGI application that lets only permitted requests through to another.

    Parameters
    ----------
    app : ASGI application
        What is asked.
    token : str
        Secret that a request must have, in the header Authorization or in the cookie.
    host : str
        Address that the server listens on.
    port : int
        Its port.
    """

    def __init__(self, app: Any, token: str, host: str, port: int) -> None:
        self.app, self.token, self.port = app, token, port
        self.is_permitted_host = permitted_hosts(host, port)
        self.cookie = f"surefoot-{port}"  # cookies do not tell ports apart
        self.bucket = Bucket(BURST, RATE)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or refuse it with one sentence."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _headers(scope)
        with_headers = _adding_headers(send)
        refused = self._refused(scope, headers)
        if refused is not None:
            in_browser = scope["path"] == "/" and "text/html" in headers.get("accept", "")
            await _refuse(with_headers, *refused, as_page=in_browser)
        elif self._enters(scope):
            await self._let_in(with_headers)
        else:
            body = await _body(receive)
            if body is None:
                await _refuse(with_headers, 413, TOO_LARGE)
            else:
                await self.app(scope, _given(body, receive), with_headers)

    def _refused(self, scope: Any, headers: dict[str, str]) -> tuple[int, str] | None:
        """Status and sentence for a request that is not permitted; None for one that is."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.is_permitted_host(host):
            return 400, "The request names a host that this server does not go by."
        if (origin is not None and origin != f"http://{host}") or _is_from_elsewhere(
            scope, headers
        ):
            return 403, "The request comes from another page."
        if scope["path"] == OPEN_PATH and scope["method"] in SAFE_METHODS:
            return None
        if not self._has_token(scope, headers):
            return 401, TO_ENTER
        return self._not_now(scope, headers)

    def _not_now(self, scope: Any, headers: dict[str, str]) -> tuple[int, str] | None:
        """Status and sentence for a request of somebody who may enter, that is not permitted all the same."""
        if not self.bucket.take():
            return 429, "Too many requests at once: try again in a second."
        by_cookie = not self._is_token(_bearer(headers))
        if by_cookie and scope["method"] not in SAFE_METHODS and headers.get("x-surefoot") != "1":
            return 403, "A request that changes something needs the header X-Surefoot: 1."
        if _declared_length(headers) > LARGEST_BODY:
            return 413, TOO_LARGE
        if len(scope["query_string"]) > LONGEST_QUERY:
            return 414, "The address of the request is too long."
        return None

    def _has_token(self, scope: Any, headers: dict[str, str]) -> bool:
        return (
            self._is_token(_bearer(headers))
            or self._is_token(_cookie(headers, self.cookie))
            or self._enters(scope)
        )

    def _enters(self, scope: Any) -> bool:
        """Whether a request is for the printed address, with the token in it."""
        if scope["path"] != "/" or scope["method"] != "GET":
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        return self._is_token(given[0])

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())

    async def _let_in(self, send: Any) -> None:
        """Keep the token in a cookie, and go on to the address without it."""
        cookie = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


class Bucket:
    """Number of requests that may still come at once; it fills up again at a rate a second."""

    def __init__(self, most: float, rate: float, clock: Any = time.monotonic) -> None:
        self.most, self.rate, self.clock = most, rate, clock
        self.level, self.last = float(most), clock()

    def take(self) -> bool:
        """Whether one more request may come now."""
        now = self.clock()
        self.level = min(self.most, self.level + (now - self.last) * self.rate)
        self.last = now
        if self.level < 1:
            return False
        self.level -= 1
        return True


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def permitted_hosts(host: str, port: int) -> Any:
    """Function that says whether a Host header is one that the server goes by.

    A page elsewhere can let its own name point to this machine, but it cannot be called by an address of the machine.
    """
    names = {host.lower()}
    names |= {"localhost"} if is_loopback(host) else {socket.gethostname().lower(), "localhost"}

    def is_permitted(given: str) -> bool:
        name, separator, number = given.lower().rpartition(":")
        if not separator or given.endswith("]"):
            name, number = given.lower(), "80"
        if number != str(port):
            return False
        name = name.strip("[]")
        if name in names:
            return True
        return is_loopback(name) if is_loopback(host) else _is_address(name)

    return is_permitted


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _headers(scope: Any) -> dict[str, str]:
    """Headers by name; those that are there twice are joined, so that two hosts are no host (RFC 9110, 5.3)."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def _is_from_elsewhere(scope: Any, headers: dict[str, str]) -> bool:
    """Whether a browser says that another page asks: only a link to the page itself may stand elsewhere."""
    return scope["path"] != "/" and headers.get("sec-fetch-site") in ("same-site", "cross-site")


def _bearer(headers: dict[str, str]) -> str:
    kind, _, given = headers.get("authorization", "").partition(" ")
    return given.strip() if kind.lower() == "bearer" else ""


def _cookie(headers: dict[str, str], name: str) -> str:
    """Value of a cookie; other programs of this machine may have set others, of any form."""
    for part in headers.get("cookie", "").split(";"):
        given, _, value = part.strip().partition("=")
        if given == name:
            return value
    return ""


def _declared_length(headers: dict[str, str]) -> int:
    given = headers.get("content-length", "0")
    return int(given) if given.isdecimal() else 0


async def _body(receive: Any) -> bytes | None:
    """Body of a request; None if it is larger than allowed, or was not sent to its end."""
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY or message["type"] == "http.disconnect":
            return None
        if not message.get("more_body", False):
            return body


def _given(body: bytes, receive: Any) -> Any:
    """A `receive` that gives a body that was read already, then what comes after it."""
    parts = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Any:
        return parts.pop() if parts else await receive()

    return give


def _adding_headers(send: Any) -> Any:
    """The same `send`, with the headers that every answer has."""

    async def with_headers(message: Any) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            more = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
            message["headers"] = [
                *message["headers"],
                *(header for header in more if header[0] not in present),
            ]
        await send(message)

    return with_headers


async def _refuse(send: Any, status: int, sentence: str, *, as_page: bool = False) -> None:
    """Answer with one sentence: JSON for programs, a page for a person who opens the address."""
    body = (PAGE.format(sentence) if as_page else json.dumps({"error": sentence})).encode()
    headers = [
        (b"content-type", b"text/html; charset=utf-8" if as_page else b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
