"""The labelling page: its start and stop, and the HTTP interface, whose routes read a request and call the session."""

import asyncio
import secrets
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
import uvicorn
from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from jinja2 import Environment, FileSystemLoader
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt, StrictStr
from uvicorn.protocols.http.h11_impl import H11Protocol

from surefoot._words import reason
from surefoot.labeling._access import Access, is_loopback
from surefoot.labeling._pool import as_string, make_pool
from surefoot.labeling._session import Session
from surefoot.labeling._store import RefusedRequest, Store

# Seconds for the server to begin, and for requests under way to end.
START_SECONDS, STOP_SECONDS = 30, 5

# Seconds for a request to arrive, of which a browser needs a few thousandths.
REQUEST_SECONDS = 20.0

PAGE = Path(__file__).parent / "page"
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

# Rows that one request gets at most.
MOST_ITEMS = 100

# Beginnings of a name that a spreadsheet would run as a formula.
FORMULA = ("=", "+", "-", "@")


class TimedProtocol(H11Protocol):
    """Connection that is closed if a request, its body included, is not complete in time."""

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the time of the first request."""
        super().connection_made(transport)
        self._start_time()

    def on_response_complete(self) -> None:
        """Start the time of the next request."""
        super().on_response_complete()
        self._start_time()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time."""
        super().connection_lost(exc)
        if self._limit is not None:
            self._limit.cancel()

    def _start_time(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
        self._limit = self.loop.call_later(REQUEST_SECONDS, self._end)

    def _end(self) -> None:
        is_at_work = self.cycle is not None and not self.cycle.response_complete
        if not is_at_work or self.cycle.more_body:
            self.transport.close()


class LabelingPage:
    """Page that is being served; `stop` ends it.

    Attributes
    ----------
    url : str
        Address of the page, with the token that lets people in.
    """

    def __init__(self, session: Session, listener: socket.socket, host: str) -> None:
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(32)
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{port}/?token={token}"
        self._session, self._listener = session, listener
        config = uvicorn.Config(
            Access(make_app(session), token, host, port),
            http=TimedProtocol,
            ws="none",
            proxy_headers=False,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        self._server = uvicorn.Server(config)
        self._ended = threading.Event()
        self._stopped = threading.Lock()

    def labels(self) -> pd.DataFrame:
        """Frame of the answers in force: row, label, kind, person, time, seconds, strategy, error."""
        return self._session.frame()

    def wait(self) -> None:
        """Return when the page is stopped."""
        # A signal that interrupts join() makes Python before 3.13 take the thread for ended.
        while not self._ended.wait(1.0):
            pass

    def stop(self) -> None:
        """Stop the page, write the labels to their file, and close the database; once is enough."""
        if not self._stopped.acquire(blocking=False):
            return
        self._server.should_exit = True
        self.wait()
        self._session.close()

    def _run(self) -> None:
        try:
            self._server.run([self._listener])
        finally:
            self._ended.set()

    def _start(self) -> None:
        self._session.trainer.start()
        threading.Thread(target=self._run, name="surefoot label", daemon=True).start()
        end = time.monotonic() + START_SECONDS
        while not self._server.started and not self._ended.is_set() and time.monotonic() < end:
            time.sleep(0.01)

    def __repr__(self) -> str:
        return f"LabelingPage({self.url!r})"


def serve(
    pool: Any,
    target: str,
    *,
    classes: Sequence[str] | None = None,
    allow_new_classes: bool = False,
    strategy: str | None = None,
    estimator: Any = None,
    inputs: Sequence[str] | None = None,
    out: Any = None,
    db: Any = None,
    name: str = "pool",
    host: str = "127.0.0.1",
    port: int = 0,
    allow_remote: bool = False,
    lease_seconds: float = 300.0,
    random_state: int = 0,
) -> LabelingPage:
    """Start a page, in a thread, that asks people for the labels that help most; return an object to stop it.

    Parameters
    ----------
    pool : DataFrame
        Rows to label; rows that have the target already are the start. A file of `surefoot audit` is asked about in
        its order, each row once, and no model learns.
    target : str
        Column of the labels; it need not be there yet.
    classes : sequence of str, default=None
        Classes to choose from; by default those of a fitted `estimator`, else those that the target has.
    allow_new_classes : bool, default=False
        Whether people may add classes on the page.
    strategy : str, default=None
        Rule that ranks the rows to ask about, as for :func:`surefoot.active_learning.query`; the default is "margin".
    estimator : classifier, default=None
        Model to teach: a clone is fitted to the labels again and again. A fitted `IndividualErrorClassifier` is asked
        first: people answer the rows that it would not. If that of `assess_predictions`, the labels teach it the errors
        of the predictions, which people do not see. The default is a forest that takes any table.
    inputs : sequence of str, default=None
        Columns that the model learns from; people see all columns. The default is all but the target.
    out : path, default=None
        CSV file that the answers are written to at every export and at the end.
    db : path, default=None
        SQLite file that keeps every answer; labelling goes on where it stood. The default is `<name>.labels.db`
        in the current folder.
    name : str, default="pool"
        Name of the pool, shown on the page.
    host : str, default="127.0.0.1"
        Address to listen on; another than this machine's own needs `allow_remote`.
    port : int, default=0
        Port to listen on; 0 takes a free one.
    allow_remote : bool, default=False
        Whether other machines may reach the page. The connection is not encrypted.
    lease_seconds : float, default=300.0
        Time after which a row that was given to a person, and not answered, may go to somebody else.
    random_state : int, default=0
        Seed of all random draws.

    Returns
    -------
    page : LabelingPage
        Has `url`, `labels()`, `wait()` and `stop()`.

    Examples
    --------
    >>> import pandas as pd, tempfile
    >>> from pathlib import Path
    >>> from surefoot.labeling import serve
    >>> folder = tempfile.TemporaryDirectory()
    >>> pool = pd.DataFrame({"age": [41, 23, 65], "plan": ["a", "b", "a"]})
    >>> page = serve(pool, "leaves", classes=["yes", "no"], db=Path(folder.name) / "leaves.db")
    >>> page.url
    'http://127.0.0.1:.../?token=...'
    >>> page.labels()["label"].tolist()
    []
    >>> page.stop()
    >>> folder.cleanup()
    """
    if not is_loopback(host) and not allow_remote:
        raise ValueError(
            f"host={host!r} would let other machines reach the page, over a connection that is not encrypted: pass "
            "allow_remote=True if that is meant."
        )
    if isinstance(lease_seconds, bool) or not 1 <= lease_seconds < float("inf"):
        raise ValueError(
            f"lease_seconds={lease_seconds!r} must be a number of seconds, at least 1."
        )
    if strategy is not None:  # the default needs no check, which is slow
        from surefoot.active_learning import query  # noqa: PLC0415

        query(strategy, None, [[0.0]])
    model, error_estimator, unseen = _models(estimator, pool)
    if classes is None and error_estimator is not None:
        classes = [str(label) for label in error_estimator.classes_]
    frame = pd.DataFrame(pool)
    frame.columns = [as_string(column) for column in frame.columns]
    rows = make_pool(
        frame,
        target,
        classes=classes,
        inputs=inputs,
        name=name,
        may_grow=allow_new_classes,
        unseen=unseen,
    )
    if rows.audited_rows is not None and (strategy or estimator is not None or allow_new_classes):
        raise ValueError(
            f"{name} is a file of surefoot audit, whose rows are all asked about in their order and with its classes: "
            "leave out the strategy, the model and new classes."
        )
    try:
        with ExitStack() as undone:
            listener = undone.enter_context(_listen(host, port))
            store = Store(Path(f"{name}.labels.db") if db is None else Path(db))
            undone.callback(store.close)
            session = Session(
                rows,
                store,
                estimator=model,
                error_estimator=error_estimator,
                strategy=strategy or "margin",
                allow_new_classes=allow_new_classes,
                lease_seconds=lease_seconds,
                out=None if out is None else Path(out),
                random_state=random_state,
            )
            page = LabelingPage(session, listener, host)
            page._start()  # noqa: SLF001 - its own module
            undone.pop_all()
    except OSError as error:
        raise ValueError(f"{error.filename} cannot be used: {reason(error)}.") from error
    return page


def _models(estimator: Any, pool: Any) -> tuple[Any, Any, list[Any]]:
    """Model to teach, fitted error estimator whose unanswered rows come first, columns that the page does not show."""
    if estimator is None:
        return None, None, []
    from sklearn.base import is_classifier  # noqa: PLC0415 - slow, and the default model needs it in its process only
    from sklearn.frozen import FrozenEstimator  # noqa: PLC0415

    from surefoot._models import given_model, unseen_columns  # noqa: PLC0415
    from surefoot.error_estimation import IndividualErrorClassifier  # noqa: PLC0415

    if not is_classifier(estimator):
        raise TypeError(f"estimator={estimator!r} is no classifier.")
    if not isinstance(estimator, IndividualErrorClassifier):
        return estimator, None, []
    inner = estimator.estimator
    unseen = unseen_columns(inner, pool)
    if isinstance(inner, FrozenEstimator) and given_model(inner) is None:
        inner = inner.estimator
    return inner, estimator if hasattr(estimator, "held_out_") else None, unseen


def _listen(host: str, port: int) -> socket.socket:
    """Socket that listens at an address; a ValueError in one sentence if it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, so that asyncio sends small parts at once (TCP_NODELAY): else every reply waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise ValueError(
            f"The page cannot be served at {host}, port {port}: {reason(error)}."
        ) from error
    return listener


def check_person(name: str) -> str:
    """Name of a person without spaces around it; a ValueError if it cannot be one."""
    name = name.strip()
    if not name or not name.isprintable() or name.startswith(FORMULA):
        raise ValueError("must be a name: some letters, with no line breaks")
    return name


Person = Annotated[StrictStr, Field(max_length=100), AfterValidator(check_person)]


class Body(BaseModel):
    """Body of a request: nothing but what is named."""

    model_config = ConfigDict(extra="forbid")


class GivenUndo(Body):
    """Answer to be taken back."""

    key: Annotated[StrictStr, Field(min_length=1, max_length=200)]
    row: Annotated[StrictInt, Field(ge=0, lt=2**53)]
    person: Person


class GivenAnswer(GivenUndo):
    """Answer of a person to a row."""

    lease: Annotated[StrictStr, Field(max_length=200)]
    kind: Literal["label", "skip", "unsure"]
    label: StrictStr | None = None


class GivenClass(Body):
    """Class to be added."""

    label: StrictStr


# What FastAPI and Starlette refuse by themselves.
SENTENCES = {
    400: "The body of the request cannot be read.",
    404: "There is nothing at this address.",
    405: "This method is not allowed here.",
}


def make_app(session: Session) -> FastAPI:
    """Application that serves the page of a session and its interface."""
    app = FastAPI(
        title="surefoot label",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    templates = Environment(loader=FileSystemLoader(PAGE), autoescape=True)
    files = {path.name: path for path in PAGE.iterdir() if path.suffix in MEDIA_TYPES}

    @app.get("/healthz")
    def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @app.get("/")
    def page() -> HTMLResponse:
        return HTMLResponse(templates.get_template("page.html").render(title=session.pool.name))

    @app.get("/page/{name}")
    def part(name: str) -> Response:
        if name not in files:  # a name is looked up, never made a path
            raise RefusedRequest(404, SENTENCES[404])
        path = files[name]
        return Response(path.read_bytes(), media_type=MEDIA_TYPES[path.suffix])

    _add_interface(app, session)
    _add_errors(app)
    return app


def _add_interface(app: FastAPI, session: Session) -> None:
    @app.get("/api/task")
    def task() -> dict[str, Any]:
        return session.task()

    @app.get("/api/next")
    def following(
        person: Person,
        count: Annotated[int, Query(ge=1)] = 3,
        guess: Annotated[int, Query(ge=0, le=1)] = 0,
    ) -> dict[str, Any]:
        return session.next_items(person, min(count, MOST_ITEMS), guess=bool(guess))

    @app.get("/api/answered")
    def answered(person: Person, count: Annotated[int, Query(ge=1)] = 20) -> Any:
        return {"items": session.answered(person, min(count, MOST_ITEMS))}

    @app.get("/api/progress")
    def progress() -> dict[str, Any]:
        return session.progress()

    @app.get("/api/export.csv")
    def export() -> Response:
        disposition = {"Content-Disposition": 'attachment; filename="labels.csv"'}
        return Response(session.labels_csv(), media_type="text/csv", headers=disposition)

    @app.post("/api/answers")
    def answers(given: GivenAnswer) -> dict[str, Any]:
        if (given.label is None) is (given.kind == "label"):
            raise RefusedRequest(422, "A label belongs to the kind 'label', and to no other.")
        return {"saved": True, "n_labels": session.answer(**given.model_dump())}

    @app.post("/api/undo")
    def undo(given: GivenUndo) -> dict[str, Any]:
        n_labels, item = session.undo(**given.model_dump())
        return {"saved": True, "n_labels": n_labels, "item": item}

    @app.post("/api/classes")
    def classes(given: GivenClass) -> dict[str, Any]:
        return {"classes": session.add_class(given.label)}


def _add_errors(app: FastAPI) -> None:
    """Let every error be one sentence."""

    @app.exception_handler(RefusedRequest)
    async def refused(_request: Request, error: RefusedRequest) -> JSONResponse:
        return JSONResponse({"error": str(error)}, error.status)

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        if first["type"] == "json_invalid" or not where:
            return JSONResponse({"error": "The body must be a JSON object."}, 422)
        words = first["msg"].removeprefix("Value error, ")
        return JSONResponse({"error": f"{where}: {words[0].lower()}{words[1:]}."}, 422)

    @app.exception_handler(400)
    @app.exception_handler(404)
    @app.exception_handler(405)
    async def not_possible(_request: Request, error: Any) -> JSONResponse:
        status = error.status_code
        return JSONResponse({"error": SENTENCES[status]}, status, headers=error.headers)

    @app.exception_handler(OSError)
    async def failed(_request: Request, error: OSError) -> JSONResponse:
        words = f"{error.filename} could not be written: {error.strerror}. All answers are in the database."
        return JSONResponse({"error": words}, 507)

    @app.exception_handler(Exception)
    async def broken(_request: Request, error: Exception) -> JSONResponse:
        words = f"The server made a mistake ({type(error).__name__}), and saved nothing."
        return JSONResponse({"error": words}, 500)
