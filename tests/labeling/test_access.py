"""Nobody gets in without the token, from another page or by a trick; every answer has the headers that protect it."""

import http.client
import json
import socket
from urllib.parse import urlsplit

import pandas as pd
import pytest
from serving import Served

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")

HEADERS = {
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """One page for all: no test changes what it has, and its process that learns is left out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("surefoot.labeling._trainer.Trainer.start", lambda trainer: None)
        httpx = pytest.importorskip("httpx", reason="httpx is not installed")
        labeling = pytest.importorskip("surefoot.labeling", reason="the extra is not installed")
        options = {"db": tmp_path_factory.mktemp("access") / "answers.db", "classes": ["a", "b"]}
        pool = pd.DataFrame({"x": range(30)})
        page = labeling.serve(pool, "kind", allow_new_classes=True, **options)
        with httpx.Client(timeout=30) as client:
            served = Served(page, client)
            place = urlsplit(served.base)
            served.netloc, served.host, served.port = place.netloc, place.hostname, place.port
            served.bearer = ("Authorization", f"Bearer {served.token}")
            served.cookie = ("Cookie", f"surefoot-{place.port}={served.token}")
            routes = page._server.config.app.app.routes
            served.paths = sorted({each.path.replace("{name}", "page.js") for each in routes})
            yield served
        page.stop()


@pytest.fixture
def ask(served):
    """Send one request with exactly these headers; status, headers and body of the reply."""

    def send(method, path, headers=(), body=None, host=served.netloc):
        connection = http.client.HTTPConnection(served.host, served.port, timeout=30)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in [*([("Host", host)] if host else []), *headers]:
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Type", "application/json")
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            reply = connection.getresponse()
            answered = {name.lower(): value for name, value in reply.getheaders()}
            return reply.status, answered, reply.read()
        finally:
            connection.close()

    return send


def snapshot(served):
    store = served.session.store
    return [store.rows(f"SELECT * FROM {name}") for name in ("answers", "leases", "classes")]  # noqa: S608


def test_the_routes_are_those_of_the_interface(served, ask):
    expected = {
        *("/", "/page/page.js", "/healthz", "/api/task", "/api/next", "/api/answered"),
        *("/api/progress", "/api/export.csv", "/api/answers", "/api/undo", "/api/classes"),
    }
    assert set(served.paths) == expected
    status, _, body = ask("GET", "/healthz")
    assert (status, json.loads(body)) == (200, {"status": "alive"})


BAD_TOKENS = {
    "nothing": [],
    "wrong token": [("Authorization", "Bearer wrong")],
    "empty token": [("Authorization", "Bearer ")],
    "another scheme": [("Authorization", "Basic {token}")],
    "token twice": [("Authorization", "Bearer {token}"), ("Authorization", "Bearer wrong")],
    "wrong cookie": [("Cookie", "surefoot-{port}=wrong")],
    "cookie of another port": [("Cookie", "surefoot-1={token}")],
    "token in another cookie": [("Cookie", "token={token}")],
    "half of the token": [("Authorization", "Bearer {token:.20}")],
}


@pytest.mark.parametrize("name", BAD_TOKENS)
def test_no_route_and_no_method_answers_without_the_token(served, ask, name):
    named = {"token": served.token, "port": served.port}
    headers = [(key, value.format(**named)) for key, value in BAD_TOKENS[name]]
    before = snapshot(served)
    for path in served.paths:
        for method in METHODS:
            status, answered, body = ask(method, path, [*headers, ("X-Surefoot", "1")])
            if path == "/healthz" and method in ("GET", "HEAD"):
                continue
            assert status == 401, (method, path)
            assert answered["www-authenticate"] == "Bearer"
            if method != "HEAD":
                assert list(json.loads(body)) == ["error"]
    assert snapshot(served) == before


FOREIGN_HOSTS = (
    "evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:PORT", "127.0.0.1.nip.io:PORT",
    "evil.example:PORT", "127.1:PORT", "2130706433:PORT", "0.0.0.0:PORT", "", None,
)  # fmt: skip


@pytest.mark.parametrize("host", FOREIGN_HOSTS, ids=repr)
def test_a_foreign_host_is_refused_everywhere(served, ask, host):
    named = host and host.replace("PORT", str(served.port))
    for path in served.paths:
        for method in ("GET", "POST"):
            status, _, body = ask(method, path, [served.bearer], host=named)
            assert status == 400, (method, path)
            assert b"alive" not in body


def test_the_names_of_this_machine_are_no_foreign_hosts_and_two_hosts_are_no_host(served, ask):
    for host in ("127.0.0.1", "localhost", "LOCALHOST", "127.0.0.2", "[::1]"):
        status = ask("GET", "/api/task", [served.bearer], host=f"{host}:{served.port}")[0]
        assert status == 200, host
    place = served.netloc
    for first, second in ((place, "evil.example"), ("evil.example", place), (place, place)):
        assert ask("GET", "/api/task", [("Host", second), served.bearer], host=first)[0] == 400


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("Origin", f"http://{host}") for host in ("evil.example", "HOST.evil.example", "localhost:1")),
        *(("Origin", value) for value in ("null", "", "https://HOST")),
        *(("Sec-Fetch-Site", value) for value in ("cross-site", "same-site")),
    ],
)  # fmt: skip
def test_another_page_is_refused_whatever_it_asks(served, ask, name, value):
    header = (name, value.replace("HOST", served.netloc))
    before = snapshot(served)
    for path in served.paths:
        for method in METHODS:
            if path == "/" and name == "Sec-Fetch-Site":
                continue  # a link to the page may stand anywhere
            for who in (served.bearer, served.cookie):
                status = ask(method, path, [header, who, ("X-Surefoot", "1")])[0]
                assert status == 403, (method, path)
    assert snapshot(served) == before


def test_the_page_itself_is_no_other_page_and_other_cookies_do_no_harm(served, ask):
    headers = [served.cookie, ("Origin", served.base), ("Sec-Fetch-Site", "same-origin")]
    assert ask("GET", "/api/progress", headers)[0] == 200
    name, value = served.cookie
    others = 'prefs={"a": "b, c"}; _xsrf="2|1:0"; odd; =; caf\xe9=1; ' + value + "; last=1"
    assert ask("GET", "/api/task", [(name, others)])[0] == 200


def test_nothing_changes_by_cookie_without_the_header(served, ask):
    before = snapshot(served)
    for path in served.paths:
        for method in set(METHODS) - {"GET", "HEAD"}:
            for more in ([], [("X-Surefoot", "0")], [("X-Surefoot", "")]):
                status, _, body = ask(method, path, [served.cookie, *more], b"{}")
                assert status == 403, (method, path)
                assert b"X-Surefoot" in body
    assert snapshot(served) == before
    headers = [served.cookie, ("X-Surefoot", "1")]
    status, _, body = ask("POST", "/api/classes", headers, b'{"label": "c"}')
    assert (status, json.loads(body)) == (200, {"classes": ["a", "b", "c"]})


def test_the_token_in_the_address_is_turned_into_a_cookie(served, ask):
    status, headers, body = ask("GET", f"/?token={served.token}")
    assert (status, headers["location"], body) == (303, "/", b"")
    first, *attributes = headers["set-cookie"].split("; ")
    assert first == f"surefoot-{served.port}={served.token}"
    assert set(attributes) == {"HttpOnly", "SameSite=Strict", "Path=/"}
    status, headers, body = ask("GET", "/", [("Cookie", first)])
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    assert served.token.encode() not in body


def test_the_token_in_the_address_serves_for_nothing_else(served, ask):
    for path in served.paths:
        for method in METHODS:
            if (path == "/" and method == "GET") or path == "/healthz":
                continue
            address = f"{path}?token={served.token}"
            status, headers, _ = ask(method, address, [("X-Surefoot", "1")])
            assert (status, "set-cookie" in headers) == (401, False), (method, path)
    for wrong in (f"?token=wrong&token={served.token}", "?token=", "?Token=" + served.token):
        assert ask("GET", f"/{wrong}")[0] == 401


def test_a_person_without_the_token_gets_a_page_that_says_what_to_open(ask):
    status, headers, body = ask("GET", "/", [("Accept", "text/html,*/*")])
    assert (status, headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert b"Open the address that was printed" in body


def test_every_answer_has_the_protecting_headers(served, ask, monkeypatch):
    known = [served.bearer]
    replies = [
        ask("GET", "/healthz"),
        ask("GET", "/"),  # 401
        ask("GET", f"/?token={served.token}"),
        ask("GET", "/", known),
        ask("GET", "/page/page.js", known),
        ask("GET", "/api/export.csv", known),
        ask("GET", "/api/next", known),  # 422
        ask("GET", "/nothing", known),
        ask("DELETE", "/api/task", known),
        ask("GET", "/", known, host="evil.example"),
        ask("GET", "/", [*known, ("Origin", "null")]),
        ask("POST", "/api/undo", [*known, ("Content-Length", "70000")]),
    ]
    monkeypatch.setattr(served.session, "task", lambda: 1 / 0)
    replies.append(ask("GET", "/api/task", known))
    mistake = {"error": "The server made a mistake (ZeroDivisionError), and saved nothing."}
    assert json.loads(replies[-1][2]) == mistake
    statuses = [status for status, _, _ in replies]
    assert statuses == [200, 401, 303, 200, 200, 200, 422, 404, 405, 400, 403, 413, 500]
    for _, headers, _ in replies:
        assert {name: headers[name] for name in HEADERS} == HEADERS
        policy = headers["content-security-policy"]
        for rule in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
            assert rule in policy.split("; ")
        assert "unsafe" not in policy
        assert "server" not in headers


TRICKS = (
    "/page/../_store.py", "/page/%2e%2e/_store.py", "/page/..%2f_store.py", "/page/..\\_store.py", "//page/page.js",
    "/page//page.js", "/page/./page.js", "/page/page.html", "/page/page.js/", "/page/", "/page", "/page/%00",
    "/page/..", "/api/next/", "/healthz/", "//evil.example/", "/api", "/docs", "/redoc", "/openapi.json",
    "/page/page.js%00.css", "/%2e%2e/%2e%2e/etc/passwd", "/static/page.js", "http://evil.example/healthz",
)  # fmt: skip


def test_tricks_with_paths_lead_nowhere(served, ask):
    for path in TRICKS:
        status, headers, body = ask("GET", path, [served.bearer])
        assert status == 404, (path, body)
        assert "location" not in headers
        assert ask("GET", path)[0] == 401  # and not even that is told to strangers
    for path in ("//healthz", "/healthz/../api/task", "/healthz%2f..%2fapi/task"):
        assert ask("GET", path)[0] == 401
    assert ask("GET", "/%68ealthz")[0] == 200  # the open path, written otherwise


def test_head_and_options_tell_nothing_and_no_websocket_is_opened(served, ask):
    upgrade = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
    ]
    for path in served.paths:
        for method in ("HEAD", "OPTIONS"):
            status, headers, _ = ask(method, path, [served.bearer])
            assert status == 405
            assert not any(name.startswith("access-control") for name in headers)
        assert ask("GET", path, upgrade)[0] == (200 if path == "/healthz" else 401)
    assert ask("GET", "/api/progress", [*upgrade, served.bearer])[0] == 200  # plain HTTP


def raw(served, *headers, body=b""):
    """Status of the reply to an answer with these headers, byte by byte."""
    lines = ["POST /api/answers HTTP/1.1", f"Host: {served.netloc}", *headers, "", ""]
    with socket.create_connection((served.host, served.port), timeout=30) as connection:
        connection.sendall("\r\n".join(lines).encode() + body)
        return int(connection.recv(65536).split()[1])


def test_bodies_are_limited_whether_their_length_is_told_or_not(served, ask):
    assert ask("POST", "/api/answers", [served.bearer], b"x" * (64 * 1024))[0] == 422
    known = ": ".join(served.bearer)
    chunk = b"10001\r\n" + b"x" * 0x10001
    assert raw(served, known, "Transfer-Encoding: chunked", body=chunk) == 413
    for length in (64 * 1024 + 1, 10**15):
        assert raw(served, known, f"Content-Length: {length}") == 413  # though nothing was sent
    assert ask("GET", "/api/task?x=" + "x" * 4096, [served.bearer])[0] == 414
    assert raw(served, "Content-Length: 50000") == 401  # a stranger's body is not read


def test_too_many_requests_are_refused_for_a_while(served, ask, monkeypatch):
    bucket = served.page._server.config.app.bucket
    now = [0.0]
    monkeypatch.setattr(bucket, "clock", lambda: now[0])
    monkeypatch.setattr(bucket, "last", 0.0)
    monkeypatch.setattr(bucket, "level", 3.0)
    task = ("GET", "/api/task", [served.bearer])
    assert [ask(*task)[0] for _ in range(5)] == [200, 200, 200, 429, 429]
    assert ask("GET", "/healthz")[0] == 200
    assert ask("GET", "/api/task")[0] == 401  # strangers use up nothing
    now[0] = 0.004  # two more, at 500 a second
    assert [ask(*task)[0] for _ in range(3)] == [200, 200, 429]
    now[0] = 1e6
    ask(*task)
    assert bucket.level == 1999  # never more than it holds


def test_the_token_is_long_and_another_at_each_start(serve_pool, does_not_learn, tmp_path):
    one, two = serve_pool(), serve_pool(db=tmp_path / "two.db")
    assert one.page._listener.getsockname()[0] == "127.0.0.1"  # this machine only
    assert one.token != two.token
    assert len(one.token) == 43  # 32 random bytes, 6 bits a character
    one.client.headers["Authorization"] = f"Bearer {two.token}"
    assert one.client.get("/api/task").status_code == 401
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", ""):  # noqa: S104 - refused
        with pytest.raises(ValueError, match="allow_remote=True"):
            serve_pool(host=host)
