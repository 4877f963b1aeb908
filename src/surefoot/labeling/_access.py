"""Who may ask for what: token, Host, Origin, sizes and rates, before any route is looked up."""

import ipaddress
import secrets
import socket
import time
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

# The one path that needs no token; the reply is only that the server is alive.
OPEN_PATH = "/healthz"

SAFE_METHODS = frozenset(["GET", "HEAD"])

# Bytes of a request's body, of which an answer has a few hundred, and of what follows the path in an address.
LARGEST_BODY, LONGEST_QUERY = 64 * 1024, 4096

TOO_LARGE = f"A request may have at most {LARGEST_BODY:,} bytes."

# Requests that may come at once, and how many a second may come for long.
BURST, RATE = 2000, 500.0

SECURITY_HEADERS = [
    (
        b"content-security-policy",
        (
            b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
            b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
    ),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]

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
        self.is_local = is_loopback(host)
        self.names = {host.lower(), "localhost"}
        if not self.is_local:
            self.names.add(socket.gethostname().lower())
        self.cookie = f"surefoot-{port}"  # cookies do not tell ports apart
        self.bucket = Bucket(BURST, RATE)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or refuse it with one sentence; every reply has the headers that protect it."""

        async def send_protected(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *SECURITY_HEADERS]
            await send(message)

        request = Request(scope)
        refused = self._refused(request)
        if refused is not None:
            in_browser = scope["path"] == "/" and "text/html" in request.headers.get("accept", "")
            response = refusal(*refused, as_page=in_browser)
        elif self._enters(request):
            # Keep the token in a cookie, and go on to the address without it.
            cookie = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
            response = Response(status_code=303, headers={"location": "/", "set-cookie": cookie})
        else:
            body = await _body(receive)
            if body is not None:
                await self.app(scope, _receiving(body, receive), send_protected)
                return
            response = refusal(413, TOO_LARGE)
        await response(scope, receive, send_protected)

    def _refused(self, request: Request) -> tuple[int, str] | None:
        """Status and sentence for a request that is not permitted; None for one that is."""
        headers, is_safe = request.headers, request.method in SAFE_METHODS
        hosts, path = headers.getlist("host"), request.scope["path"]
        if len(hosts) != 1 or not self._is_own_name(hosts[0]):
            return 400, "The request names a host that this server does not go by."
        # Only a link to the page itself may stand on another page.
        is_foreign = headers.get("sec-fetch-site") in ("same-site", "cross-site") and path != "/"
        if is_foreign or headers.getlist("origin") not in ([], [f"http://{hosts[0]}"]):
            return 403, "The request comes from another page."
        if path == OPEN_PATH and is_safe:
            return None
        kind, _, given = ", ".join(headers.getlist("authorization")).partition(" ")
        has_bearer = kind.lower() == "bearer" and self._is_token(given.strip())
        has_cookie = self._is_token(request.cookies.get(self.cookie, ""))
        if not (has_bearer or has_cookie or self._enters(request)):
            return 401, TO_ENTER
        if not has_bearer and not is_safe and headers.get("x-surefoot") != "1":
            return 403, "A request that changes something needs the header X-Surefoot: 1."
        return self._too_much(request)

    def _too_much(self, request: Request) -> tuple[int, str] | None:
        """Status and sentence for a request that is too large, or one too many; None for any other."""
        if not self.bucket.take():
            return 429, "Too many requests at once: try again in a second."
        if int(request.headers.get("content-length", "0")) > LARGEST_BODY:
            return 413, TOO_LARGE
        if len(request.scope["query_string"]) > LONGEST_QUERY:
            return 414, "The address of the request is too long."
        return None

    def _is_own_name(self, host: str) -> bool:
        """Whether a Host header is one that the server goes by.

        A page elsewhere can let its own name point to this machine, but it cannot be called by an address of the
        machine.
        """
        name, separator, port = host.lower().rpartition(":")
        if not separator or host.endswith("]"):
            name, port = host.lower(), "80"
        address = _address(name.strip("[]"))
        is_named = name.strip("[]") in self.names
        is_address = address is not None and (address.is_loopback or not self.is_local)
        return port == str(self.port) and (is_named or is_address)

    def _enters(self, request: Request) -> bool:
        """Whether a request is for the printed address, with the token in it."""
        given = request.query_params.getlist("token")
        is_page = request.scope["path"] == "/" and request.method == "GET"
        return is_page and bool(given) and self._is_token(given[0])

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())


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
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _address(name: str) -> Any:
    """IP address; None for a name."""
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


async def _body(receive: Any) -> bytes | None:
    """Body of a request; None if it is larger than allowed, or was not sent to its end."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY or message["type"] == "http.disconnect":
            return None
        more = message.get("more_body", False)
    return body


def _receiving(body: bytes, receive: Any) -> Any:
    """A `receive` that gives a body that was read already, then what comes after it."""
    parts = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Any:
        return parts.pop() if parts else await receive()

    return receive_again


def refusal(status: int, sentence: str, *, as_page: bool = False) -> Response:
    """Response of one sentence: JSON for programs, a page for a person who opens the address."""
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    if as_page:
        return HTMLResponse(PAGE.format(sentence), status, headers)
    return JSONResponse({"error": sentence}, status, headers)
