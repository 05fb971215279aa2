"""The page's HTTP: routes, errors as one sentence, nothing of substance."""

from __future__ import annotations

import asyncio
import io
import logging
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from jinja2 import Environment, PackageLoader, select_autoescape
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from superpac import exports
from superpac.errors import (
    ConflictError,
    ContradictionError,
    InputError,
    NotFoundError,
    StoreError,
    SuperpacError,
)
from superpac.session import Receipt
from superpac.spec import Spec
from superpac.web import schemas, seconds, views
from superpac.web.asked import Asked, StaleError
from superpac.web.desk import Desk
from superpac.web.pictures import SIZES
from superpac.web.room import Room

STATIC = {
    "page.js": "text/javascript; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
MIME = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "jsonl": "application/jsonl",
    "answers": "application/jsonl",
    "links": "application/json",
    "coco": "application/json",
    "archive": "application/zip",
    "folders": "application/zip",
}
KEEP = "private, max-age=31536000, immutable"
_log = logging.getLogger("superpac.web")
_problems: dict[int | str, dict[str, Any]] = {
    code: {"model": schemas.Problem, "description": text}
    for code, text in {
        400: "The request cannot be read",
        401: "No token",
        403: "Another website asked",
        404: "There is no such thing",
        409: "Stale or contradicting",
        413: "Too large",
        415: "Not JSON",
        422: "A value is not allowed",
        503: "The store is locked or out of reach",
        507: "The disk is full",
    }.items()
}


def create_app(room: Room) -> FastAPI:
    """Build the application around a room; put :class:`~superpac.web.security.Gate` before it.

    Parameters
    ----------
    room : Room
        Data and session.

    Returns
    -------
    FastAPI
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        room.start()
        yield
        await run_in_threadpool(room.stop)

    app = FastAPI(
        title="superpac",
        version=version("superpac"),
        description="Ask and answer same-or-different questions, and get the clusters.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=_problems,
    )
    _errors(app)
    _page(app, room)
    _asking(app, room)
    _changing(app, room)
    _looking(app, room)
    _exporting(app, room)
    return app


def _errors(app: FastAPI) -> None:
    def problem(status: int, detail: str, **more: Any) -> JSONResponse:
        return JSONResponse(schemas.Problem(detail=detail, **more).model_dump(), status)

    @app.exception_handler(SuperpacError)
    def ours(request: Request, error: SuperpacError) -> JSONResponse:
        if isinstance(error, ContradictionError):
            return problem(409, str(error), chain=list(error.chain))
        if isinstance(error, StoreError):
            return problem(
                getattr(error, "status", 500),
                str(error),
                retryable=getattr(error, "retryable", False),
            )
        status = 422
        if isinstance(error, ConflictError):
            status = 409
        elif isinstance(error, NotFoundError):
            status = 404
        return problem(status, str(error))

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(p) for p in first["loc"] if p not in ("body", "query", "path"))
        return problem(422, f"{where or 'The request'}: {first['msg']}.")

    @app.exception_handler(HTTPException)
    def http(request: Request, error: HTTPException) -> JSONResponse:
        answer = problem(error.status_code, str(error.detail))
        for name, value in (error.headers or {}).items():
            answer.headers[name] = value
        return answer

    @app.exception_handler(Exception)
    def unexpected(request: Request, error: Exception) -> JSONResponse:
        _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return problem(500, "Something went wrong here; what was saved before is safe.")


def _page(app: FastAPI, room: Room) -> None:
    templates = Environment(
        loader=PackageLoader("superpac.web"), autoescape=select_autoescape(default=True)
    )
    folder = files("superpac.web") / "static"
    content = {name: (folder / name).read_bytes() for name in STATIC}
    stamp = sha256(b"".join(content.values())).hexdigest()[:12]

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def page() -> str:
        return templates.get_template("page.html").render(
            name=room.desk.name, stamp=stamp, version=version("superpac")
        )

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:
        if name not in content:
            raise HTTPException(404, "There is no such file.")
        return Response(content[name], media_type=STATIC[name], headers={"cache-control": KEEP})

    @app.get(
        "/picture/{item}",
        response_class=Response,
        responses={200: {"content": {"image/png": {}}, "description": "The item, drawn here"}},
    )
    async def picture(item: int, size: Annotated[int, Query()] = 320) -> Response:
        """Picture of an item."""
        if size not in SIZES:
            raise InputError(f"size must be one of {', '.join(map(str, SIZES))}; got {size}.")
        if not 0 <= item < len(room.data):
            raise NotFoundError(
                f"There is no item {item}; items are numbered 0 to {len(room.data) - 1}."
            )
        found = room.pictures.held(item, size)
        if found is None:
            found = await run_in_threadpool(room.pictures.png, item, size)
        return Response(found, media_type="image/png", headers={"cache-control": KEEP})


def _card(desk: Desk, item: int) -> schemas.Card:
    rows = desk.data.describe(item)[:60] if desk.data.kind == "table" else []
    return schemas.Card(item=item, id=str(desk.data.ids[item]), rows=rows)


def _question(desk: Desk, asked: Asked | None) -> schemas.Question | None:
    if asked is None:
        return None
    return schemas.Question(
        shape=asked.shape,  # type: ignore[arg-type]
        item=_card(desk, asked.item),
        others=[_card(desk, other) for other in asked.others],
        seq=asked.seq,
        reason=asked.reason,
        numbers=asked.numbers,
        stand_in=asked.stand_in,
    )


def _receipt(receipt: Receipt) -> schemas.ReceiptOut:
    return schemas.ReceiptOut(seq=receipt.seq, hash=receipt.hash, recorded=receipt.recorded)


def _then(
    desk: Desk, annotator: str, shape: str, receipts: list[Receipt], message: str = ""
) -> schemas.Taken:
    """Receipts with the next question; what was written stays written if there is none now."""
    given = [_receipt(r) for r in receipts]
    try:
        asked = desk.ask(annotator, shape)
    except SuperpacError:
        return schemas.Taken(receipts=given, question=None, finished=False, message=message)
    question = _question(desk, asked)
    return schemas.Taken(
        receipts=given, question=question, finished=question is None, message=message
    )


def _stale(desk: Desk, annotator: str, shape: str, error: StaleError) -> JSONResponse:
    asked = desk.ask(annotator, shape)
    body = schemas.Problem(
        detail=str(error), question=_question(desk, asked), finished=asked is None
    )
    return JSONResponse(body.model_dump(), 409)


def _asking(app: FastAPI, room: Room) -> None:
    @app.post("/api/question", response_model=schemas.Asking)
    def question(wish: schemas.Wish) -> Any:
        """Take the next question; the same until it is answered."""
        desk = room.desk
        for item in (wish.item, wish.other):
            if item is not None:
                desk.data.describe(item)
        if wish.other is not None and wish.item is None:
            raise InputError("An 'other' needs an 'item' that it is compared with.")
        asked = desk.ask(wish.annotator, wish.shape, wish.item, wish.other)
        return schemas.Asking(question=_question(desk, asked), finished=asked is None)

    @app.get("/api/question", response_model=schemas.Asking)
    def current(annotator: schemas.Name = "") -> Any:
        """Look at one's current question without taking a new one."""
        asked = room.desk.current(annotator)
        return schemas.Asking(question=_question(room.desk, asked), finished=False)

    @app.post("/api/answers", response_model=schemas.Taken)
    def answer(given: schemas.Answer) -> Any:
        """Record an answer; it is on disk when this returns. Gives the next question."""
        desk = room.desk
        try:
            receipt = desk.answer(
                given.annotator,
                (given.i, given.j),
                given.answer,
                seq=given.seq,
                key=given.key,
                elapsed_ms=given.elapsed_ms,
            )
        except StaleError as error:
            return _stale(desk, given.annotator, given.shape, error)
        return _then(desk, given.annotator, given.shape, [receipt])

    @app.post("/api/choices", response_model=schemas.Taken)
    def choose(given: schemas.Choice) -> Any:
        """Record which exemplar an item belongs to (null: none of them)."""
        desk = room.desk
        try:
            receipts = desk.choose(
                given.annotator,
                given.item,
                tuple(given.options),
                given.choice,
                seq=given.seq,
                key=given.key,
                elapsed_ms=given.elapsed_ms,
            )
        except StaleError as error:
            return _stale(desk, given.annotator, given.shape, error)
        return _then(desk, given.annotator, given.shape, receipts)

    @app.post("/api/skips", response_model=schemas.Taken)
    def skip(given: schemas.Skip) -> Any:
        """Postpone a pair."""
        desk = room.desk
        try:
            receipt = desk.skip(given.annotator, (given.i, given.j), seq=given.seq, key=given.key)
        except StaleError as error:
            return _stale(desk, given.annotator, given.shape, error)
        return _then(desk, given.annotator, given.shape, [receipt])

    @app.get("/api/ahead", response_model=schemas.Ahead)
    async def ahead(annotator: schemas.Name = "") -> Any:
        """Items that the next question may show, as soon as they are known."""
        desk, end = room.desk, time.monotonic() + 5.0
        while True:
            ready, items = await run_in_threadpool(desk.ahead, annotator)
            if ready or time.monotonic() > end:
                return schemas.Ahead(ready=ready, items=items)
            await asyncio.sleep(0.08)


def _changing(app: FastAPI, room: Room) -> None:
    def done(given: schemas.Act, shape: str, act: Callable[[], Receipt]) -> Any:
        desk = room.desk
        receipt = desk.act(given.annotator, act)
        return _then(desk, given.annotator, shape, [receipt])

    @app.post("/api/aside", response_model=schemas.Taken)
    def aside(given: schemas.Aside) -> Any:
        """Set an item aside as blank or damaged, or put it back."""
        session = room.desk.session
        return done(
            given,
            given.shape,
            lambda: session.set_aside(
                given.item, back=given.back, annotator=given.annotator, key=given.key
            ),
        )

    @app.post("/api/names", response_model=schemas.Taken)
    def name(given: schemas.Naming) -> Any:
        """Name the cluster that an item is in."""
        session = room.desk.session
        return done(
            given,
            "pair",
            lambda: session.rename(
                given.name, item=given.item, annotator=given.annotator, key=given.key
            ),
        )

    @app.post("/api/undo", response_model=schemas.Taken)
    def undo(given: schemas.Back) -> Any:
        """Take back one's last act, or any event by its number."""
        desk, session = room.desk, room.desk.session

        def act() -> list[int]:
            if given.seq is None:
                return session.undo_own(given.annotator, given.key)
            before = session.known_key(f"{given.key}/0")
            if before is not None:
                return [before.body["seq"]]
            return session.undo(given.seq, annotator=given.annotator, key=given.key)

        return _undone(desk, given, "Took back", act)

    @app.post("/api/redo", response_model=schemas.Taken)
    def redo(given: schemas.Back) -> Any:
        """Put back what one undid last."""
        session = room.desk.session
        return _undone(
            room.desk,
            given,
            "Put back",
            lambda: session.redo_own(given.annotator, given.key),
        )

    @app.post("/api/decisions", response_model=schemas.Taken)
    def decide(given: schemas.Decision) -> Any:
        """Settle a disagreement between two people."""
        session = room.desk.session
        return done(
            given,
            "pair",
            lambda: session.decide(
                given.second, given.keep, annotator=given.annotator, key=given.key
            ),
        )

    @app.post("/api/cancel", response_model=schemas.SessionOut)
    def cancel() -> Any:
        """Give the first clustering up."""
        room.desk.keeper.cancel()
        return _session(room)

    @app.post("/api/again", response_model=schemas.SessionOut)
    def again() -> Any:
        """Begin the first clustering anew after it was given up or failed."""
        room.desk.keeper.again()
        return _session(room)

    @app.post("/api/sessions", response_model=schemas.SessionOut)
    def begin(given: schemas.NewSession) -> Any:
        """Begin a session with other settings on the same data, or go on with it."""
        spec = Spec(
            given.n_clusters, given.affinity, given.strategy, dim=given.dim, seed=given.seed
        )
        room.begin(spec, given.name)
        return _session(room)


def _undone(desk: Desk, given: schemas.Back, words: str, act: Callable[[], list[int]]) -> Any:
    seqs = desk.act(given.annotator, act)
    if not seqs:
        return _then(desk, given.annotator, given.shape, [], "There is nothing left to do.")
    desk.drop(given.annotator)
    last = desk.session.fold.event(seqs[0])
    if words == "Took back" and last.kind in ("answer", "skip") and "group" not in last.body:
        # the person sees again what they take back
        pair = last.body["i"], last.body["j"]
        if desk.session.fold.state.askable(*pair):
            try:
                desk.ask(given.annotator, given.shape, *pair)
            except SuperpacError:
                desk.drop(given.annotator)
    told = f"{words} #{', #'.join(map(str, seqs))}. {views.effect(desk, seqs)}".strip()
    events = desk.session.fold.events
    receipts = [Receipt(e.seq, e.hash) for e in events[-len(seqs) :]]
    return _then(desk, given.annotator, given.shape, receipts, told)


def _session(room: Room) -> schemas.SessionOut:
    desk = room.desk
    status, info = desk.status(), desk.session.log.info
    return schemas.SessionOut(
        id=info.id,
        name=info.name,
        data=room.data.name,
        kind=room.data.kind,
        crisp=room.pictures.crisp,
        items=len(room.data),
        spec=info.spec,
        phase=status.phase,
        stage=status.stage,
        done=status.done,
        total=status.total,
        message=status.message,
        usable=desk.model() is not None,
        version=version("superpac"),
        formats=[*exports.FORMATS, "folders", "archive"],
    )


def _looking(app: FastAPI, room: Room) -> None:
    @app.get("/api/session", response_model=schemas.SessionOut)
    def session() -> Any:
        """Facts of the session, and how far the first clustering is."""
        return _session(room)

    @app.get("/api/progress")
    def progress() -> dict[str, Any]:
        """How far the answers are."""
        return views.progress(room.desk)

    @app.get("/api/labels", response_model=schemas.Labels)
    def labels() -> Any:
        """Clusters after all the answers so far."""
        desk = room.desk
        fresh = desk.settle()
        found = desk.session.labels()
        return schemas.Labels(
            ids=[str(i) for i in room.data.ids],
            labels=found.tolist(),
            names=exports.cluster_names(desk.session, found),
            seq=desk.session.seq,
            fresh=fresh,
        )

    @app.get("/api/clusters")
    def clusters(limit: Annotated[int, Query(ge=2, le=500)] = 60) -> dict[str, Any]:
        """Every cluster with its items, surest first; the middle is left out beyond `limit`."""
        return views.clusters(room.desk, limit)

    @app.get("/api/clusters/{cluster}")
    def wall(
        cluster: int,
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    ) -> list[dict[str, Any]]:
        """Part of one cluster, surest first."""
        return views.wall(room.desk, cluster, offset, limit)

    @app.get("/api/items/{item}")
    def item(item: int) -> dict[str, Any]:
        """One item, its nearest rivals and what answers say about it."""
        return views.item_view(room.desk, item)

    @app.get("/api/map")
    def map_() -> dict[str, Any]:
        """Two coordinates an item."""
        return views.map_view(room.desk)

    @app.get("/api/history")
    def history(
        before: Annotated[int | None, Query(ge=1, le=2**53)] = None,
        limit: Annotated[int, Query(ge=1, le=500)] = 100,
    ) -> dict[str, Any]:
        """Every event, the newest first."""
        return views.history(room.desk, before, limit)

    @app.get("/api/agreement")
    def agreement() -> dict[str, Any]:
        """Who answered how much, and how far people agree."""
        return {"overlap": room.desk.overlap, **seconds.agreement(room.desk.session)}


def _exporting(app: FastAPI, room: Room) -> None:
    @app.get("/api/export/{form}", response_class=Response)
    def export(form: str) -> Response:
        """Clusters or answers as a file: one of the session's `formats`."""
        desk = room.desk
        if form not in MIME:
            raise NotFoundError(
                f"There is no export format {form!r}; choose one of: {', '.join(MIME)}."
            )
        ending = {"archive": "zip", "folders": "zip", **exports.ENDINGS}.get(form, form)
        part = form if form in exports.ENDINGS or form == "folders" else "clusters"
        name = f"{exports.file_name(desk.name)}-{'session' if form == 'archive' else part}"
        ascii_name = name.encode("ascii", "replace").decode().replace("?", "_").replace('"', "_")
        headers = {"content-disposition": f'attachment; filename="{ascii_name}.{ending}"'}
        if form != "archive":
            desk.settle()
        if form == "archive":
            body = _archive(room)
        elif form == "folders":
            spool: Any = tempfile.SpooledTemporaryFile(max_size=32 << 20)  # noqa: SIM115
            exports.folders_zip(desk.session, spool)
            spool.seek(0)
            return StreamingResponse(_chunks(spool), media_type=MIME[form], headers=headers)
        else:
            body = exports.FORMATS[form](desk.session)
        return Response(body, media_type=MIME[form], headers=headers)


def _archive(room: Room) -> bytes:
    with tempfile.TemporaryDirectory(prefix="superpac-") as folder:
        path = Path(folder) / f"{uuid4().hex}.zip"
        room.store.export_archive(room.desk.session.log.session_id, path)
        return path.read_bytes()


def _chunks(file: io.BufferedIOBase) -> Iterator[bytes]:
    with file:
        while part := file.read(1 << 16):
            yield part
