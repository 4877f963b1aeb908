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
        db = tmp_path_factory.mktemp("access") / "answers.db"
        page = labeling.serve(
            pd.DataFrame({"x": range(30)}),
            "kind",
            classes=["a", "b"],
            db=db,
            allow_new_classes=True,
        )
        with httpx.Client(timeout=30) as client:
            yield Served(page, client)
        page.stop()


@pytest.fixture
def ask(served):
    """Send one request with exactly these headers; status, headers and body of the reply."""
    place = urlsplit(served.base)

    def send(method, path, headers=(), body=None, host=place.netloc):
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in [*([("Host", host)] if host else []), *headers]:
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Type", "application/json")
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            reply = connection.getresponse()
            return reply.status, dict(map(lower, reply.getheaders())), reply.read()
        finally:
            connection.close()

    return send


def lower(header):
    return header[0].lower(), header[1]


def paths(served):
    """Every path that the application has, with something in the place of a name."""
    routes = served.page._server.config.app.app.routes
    return sorted({route.path.replace("{name}", "page.js") for route in routes})


def bearer(served):
    return ("Authorization", f"Bearer {served.token}")


def cookie(served):
    port = urlsplit(served.base).port
    return ("Cookie", f"surefoot-{port}={served.token}")


def snapshot(served):
    store = served.session.store
    return [store.rows(f"SELECT * FROM {name}") for name in ("answers", "leases", "classes")]  # noqa: S608


def test_the_routes_are_those_of_the_interface(served):
    expected = {
        *("/", "/page/page.js", "/healthz", "/api/task", "/api/next", "/api/answered"),
        *("/api/progress", "/api/export.csv", "/api/answers", "/api/undo", "/api/classes"),
    }
    assert set(paths(served)) == expected


BAD_TOKENS = {
    "nothing": [],
    "wrong token": [("Authorization", "Bearer wrong")],
    "empty token": [("Authorization", "Bearer ")],
    "another scheme": [("Authorization", "Basic TOKEN")],
    "token twice": [("Authorization", "Bearer TOKEN"), ("Authorization", "Bearer wrong")],
    "wrong cookie": [("Cookie", "surefoot-PORT=wrong")],
    "cookie of another port": [("Cookie", "surefoot-1=TOKEN")],
    "token in another cookie": [("Cookie", "token=TOKEN")],
    "token as a header": [("X-Token", "TOKEN")],
    "half of the token": [("Authorization", "Bearer HALF")],
}


@pytest.mark.parametrize("name", BAD_TOKENS)
def test_no_route_and_no_method_answers_without_the_token(served, ask, name):
    port = str(urlsplit(served.base).port)
    texts = {"TOKEN": served.token, "HALF": served.token[:20], "PORT": port}
    headers = [
        (key, value.replace("TOKEN", texts["TOKEN"]).replace("HALF", texts["HALF"]).replace("PORT", port))
        for key, value in BAD_TOKENS[name]
    ]  # fmt: skip
    before = snapshot(served)
    for path in paths(served):
        for method in METHODS:
            status, answered, body = ask(method, path, [*headers, ("X-Surefoot", "1")])
            if path == "/healthz" and method in ("GET", "HEAD"):
                continue
            assert status == 401, (method, path)
            assert answered["www-authenticate"] == "Bearer"
            if method != "HEAD":
                assert list(json.loads(body)) == ["error"]
    assert snapshot(served) == before


def test_healthz_says_only_that_the_server_lives(ask):
    status, _, body = ask("GET", "/healthz")
    assert (status, json.loads(body)) == (200, {"status": "alive"})


FOREIGN_HOSTS = (
    "evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:PORT", "127.0.0.1.nip.io:PORT",
    "evil.example:PORT", "127.1:PORT", "2130706433:PORT", "0.0.0.0:PORT", "", None,
)  # fmt: skip


@pytest.mark.parametrize("host", FOREIGN_HOSTS, ids=repr)
def test_a_foreign_host_is_refused_everywhere(served, ask, host):
    port = str(urlsplit(served.base).port)
    named = host and host.replace("PORT", port)
    for path in paths(served):
        for method in ("GET", "POST"):
            status, _, body = ask(method, path, [bearer(served)], host=named)
            assert status == 400, (method, path)
            assert b"alive" not in body


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "127.0.0.2", "[::1]"])
def test_the_names_of_this_machine_are_no_foreign_hosts(served, ask, host):
    port = urlsplit(served.base).port
    assert ask("GET", "/api/task", [bearer(served)], host=f"{host}:{port}")[0] == 200


def test_two_hosts_are_no_host(served, ask):
    place = urlsplit(served.base).netloc
    for hosts in ((place, "evil.example"), ("evil.example", place), (place, place)):
        headers = [("Host", hosts[1]), bearer(served)]
        assert ask("GET", "/api/task", headers, host=hosts[0])[0] == 400


@pytest.mark.parametrize(
    "header",
    [
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
        ("Origin", ""),
        ("Origin", "https://HOST"),
        ("Origin", "http://HOST.evil.example"),
        ("Origin", "http://localhost:1"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ],
    ids=" ".join,
)
def test_another_page_is_refused_whatever_it_asks(served, ask, header):
    name, value = header
    value = value.replace("HOST", urlsplit(served.base).netloc)
    before = snapshot(served)
    for path in paths(served):
        for method in METHODS:
            if path == "/" and name == "Sec-Fetch-Site":
                continue  # a link to the page may stand anywhere
            for who in (bearer(served), cookie(served)):
                headers = [(name, value), who, ("X-Surefoot", "1")]
                assert ask(method, path, headers)[0] == 403, (method, path)
    assert snapshot(served) == before


def test_the_page_itself_is_no_other_page(served, ask):
    headers = [cookie(served), ("Origin", served.base), ("Sec-Fetch-Site", "same-origin")]
    assert ask("GET", "/api/progress", headers)[0] == 200


def test_nothing_changes_by_cookie_without_the_header(served, ask):
    before = snapshot(served)
    for path in paths(served):
        for method in set(METHODS) - {"GET", "HEAD"}:
            for more in ([], [("X-Surefoot", "0")], [("X-Surefoot", "")]):
                status, _, body = ask(method, path, [cookie(served), *more], b"{}")
                assert status == 403, (method, path)
                assert b"X-Surefoot" in body
    assert snapshot(served) == before


def test_with_the_header_a_cookie_may_change_something(served, ask):
    headers = [cookie(served), ("X-Surefoot", "1")]
    status, _, body = ask("POST", "/api/classes", headers, b'{"label": "c"}')
    assert (status, json.loads(body)) == (200, {"classes": ["a", "b", "c"]})


def test_cookies_of_other_programs_do_no_harm(served, ask):
    name, value = cookie(served)
    others = 'prefs={"a": "b, c"}; _xsrf="2|1:0"; odd; =; caf\xe9=1; ' + value + "; last=1"
    assert ask("GET", "/api/task", [(name, others)])[0] == 200


def test_the_token_in_the_address_is_turned_into_a_cookie(served, ask):
    status, headers, body = ask("GET", f"/?token={served.token}")
    assert (status, headers["location"], body) == (303, "/", b"")
    port = urlsplit(served.base).port
    first, *attributes = headers["set-cookie"].split("; ")
    assert first == f"surefoot-{port}={served.token}"
    assert set(attributes) == {"HttpOnly", "SameSite=Strict", "Path=/"}
    status, headers, body = ask("GET", "/", [("Cookie", first)])
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    assert served.token.encode() not in body


def test_the_token_in_the_address_serves_for_nothing_else(served, ask):
    query = f"?token={served.token}"
    for path in paths(served):
        for method in METHODS:
            if (path == "/" and method == "GET") or path == "/healthz":
                continue
            status, headers, _ = ask(method, path + query, [("X-Surefoot", "1")])
            assert (status, "set-cookie" in headers) == (401, False), (method, path)
    for wrong in (f"?token=wrong&token={served.token}", "?token=", "?Token=" + served.token):
        assert ask("GET", f"/{wrong}")[0] == 401


def test_every_answer_has_the_protecting_headers(served, ask):
    replies = [
        ask("GET", "/healthz"),
        ask("GET", "/"),  # 401
        ask("GET", f"/?token={served.token}"),
        ask("GET", "/", [bearer(served)]),
        ask("GET", "/page/page.js", [bearer(served)]),
        ask("GET", "/api/task", [bearer(served)]),
        ask("GET", "/api/export.csv", [bearer(served)]),
        ask("GET", "/api/next", [bearer(served)]),  # 422
        ask("GET", "/nothing", [bearer(served)]),
        ask("DELETE", "/api/task", [bearer(served)]),
        ask("GET", "/", [bearer(served)], host="evil.example"),
        ask("GET", "/", [bearer(served), ("Origin", "null")]),
        ask("POST", "/api/undo", [bearer(served), ("Content-Length", "70000")]),
    ]
    statuses = [status for status, _, _ in replies]
    assert statuses == [200, 401, 303, 200, 200, 200, 200, 422, 404, 405, 400, 403, 413]
    for _, headers, _ in replies:
        assert {name: headers[name] for name in HEADERS} == HEADERS
        policy = headers["content-security-policy"].split("; ")
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "server" not in headers
    assert not any("unsafe" in headers["content-security-policy"] for _, headers, _ in replies)


def test_an_error_of_the_program_itself_has_the_headers_too(served, ask, monkeypatch):
    monkeypatch.setattr(served.session, "task", lambda: 1 / 0)
    status, headers, body = ask("GET", "/api/task", [bearer(served)])
    assert (status, headers["x-frame-options"]) == (500, "DENY")
    assert json.loads(body) == {
        "error": "The server made a mistake (ZeroDivisionError), and saved nothing."
    }


TRICKS = (
    "/page/../_store.py", "/page/%2e%2e/_store.py", "/page/..%2f_store.py", "/page/..\\_store.py", "//page/page.js",
    "/page//page.js", "/page/./page.js", "/page/page.html", "/page/page.js/", "/page/", "/page", "/page/%00",
    "/page/..", "/api/next/", "/healthz/", "//evil.example/", "/api", "/docs", "/redoc", "/openapi.json",
    "/page/page.js%00.css", "/%2e%2e/%2e%2e/etc/passwd", "/static/page.js", "http://evil.example/healthz",
)  # fmt: skip


@pytest.mark.parametrize("path", TRICKS)
def test_tricks_with_paths_lead_nowhere(served, ask, path):
    status, headers, body = ask("GET", path, [bearer(served)])
    assert status == 404, body
    assert "location" not in headers
    assert ask("GET", path)[0] == 401  # and not even that is told to strangers


def test_the_open_path_is_open_in_one_spelling_only(ask):
    for path in ("/healthz/", "//healthz", "/healthz/../api/task", "/healthz%2f..%2fapi/task"):
        assert ask("GET", path)[0] == 401
    assert ask("GET", "/%68ealthz")[0] == 200  # the same path, written otherwise


def test_head_and_options_tell_nothing(served, ask):
    for path in paths(served):
        for method in ("HEAD", "OPTIONS"):
            status, headers, _ = ask(method, path, [bearer(served)])
            assert status == 405
            assert not any(name.startswith("access-control") for name in headers)


def test_no_websocket_is_opened(served, ask):
    upgrade = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
    ]
    for path in paths(served):
        assert ask("GET", path, upgrade)[0] == (200 if path == "/healthz" else 401)
    assert ask("GET", "/api/progress", [*upgrade, bearer(served)])[0] == 200  # plain HTTP


def raw(served, content):
    """First line of the reply to bytes as they are."""
    place = urlsplit(served.base)
    with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
        connection.sendall(content)
        return connection.recv(65536).split(b"\r\n")[0]


def test_bodies_are_limited_whether_their_length_is_told_or_not(served, ask):
    assert ask("POST", "/api/answers", [bearer(served)], b"x" * (64 * 1024))[0] == 422
    netloc = urlsplit(served.base).netloc
    start = (
        f"POST /api/answers HTTP/1.1\r\nHost: {netloc}\r\nAuthorization: Bearer {served.token}\r\n"
    )
    chunk = b"10001\r\n" + b"x" * 0x10001
    chunked = start.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + chunk
    assert raw(served, chunked).split()[1] == b"413"
    for length in (64 * 1024 + 1, 10**15):
        announced = f"{start}Content-Length: {length}\r\n\r\n".encode()
        assert raw(served, announced).split()[1] == b"413"  # at once, though nothing was sent
    assert ask("GET", "/api/task?x=" + "x" * 4096, [bearer(served)])[0] == 414


def test_a_stranger_is_refused_before_a_body_is_read(served):
    netloc = urlsplit(served.base).netloc
    content = f"POST /api/answers HTTP/1.1\r\nHost: {netloc}\r\nContent-Length: 50000\r\n\r\n"
    assert raw(served, content.encode()).split()[1] == b"401"


def test_too_many_requests_are_refused_for_a_while(served, ask, monkeypatch):
    bucket = served.page._server.config.app.bucket
    now = [0.0]
    monkeypatch.setattr(bucket, "clock", lambda: now[0])
    monkeypatch.setattr(bucket, "last", 0.0)
    monkeypatch.setattr(bucket, "level", 3.0)
    task = ("GET", "/api/task", [bearer(served)])
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
    assert one.token != two.token
    assert len(one.token) == 43  # 32 random bytes, 6 bits a character
    one.client.headers["Authorization"] = f"Bearer {two.token}"
    assert one.client.get("/api/task").status_code == 401


def test_the_page_listens_on_this_machine_only(serve_pool, does_not_learn):
    served = serve_pool()
    assert served.page._listener.getsockname()[0] == "127.0.0.1"


def test_other_addresses_need_a_word(serve_pool):
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", ""):  # noqa: S104 - refused
        with pytest.raises(ValueError, match="allow_remote=True"):
            serve_pool(host=host)
