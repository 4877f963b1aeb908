"""The HTTP interface: a route reads a request, calls the session, and writes the answer."""

from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from jinja2 import Environment, FileSystemLoader
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt, StrictStr

from surefoot.labeling._session import Session
from surefoot.labeling._store import Refusal

PAGE = Path(__file__).parent / "page"
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

# Rows that one request gets at most.
MOST_ITEMS = 100

# Beginnings of a name that a spreadsheet would run as a formula.
FORMULA = ("=", "+", "-", "@")


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
            raise Refusal(404, SENTENCES[404])
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
            raise Refusal(422, "A label belongs to the kind 'label', and to no other.")
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

    @app.exception_handler(Refusal)
    async def refused(_request: Request, error: Refusal) -> JSONResponse:
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
