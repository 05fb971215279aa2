"""The page's HTTP: the application, its page and pictures, errors as one sentence."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import PurePath
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from jinja2 import Environment, PackageLoader, select_autoescape
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from superpac.errors import (
    ConflictError,
    ContradictionError,
    InputError,
    NotFoundError,
    NotReadyError,
    StoreError,
    SuperpacError,
)
from superpac.store.failures import crowded, is_crowded
from superpac.system.safe_text import encodable
from superpac.web import answer_routes, schemas, view_routes
from superpac.web.own_threads import in_looking_threads
from superpac.web.sounds import asked_part
from superpac.web.thumbnails import SIZES, picture_kind
from superpac.web.workspace import Workspace

STATIC = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
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
        503: "The store is out of reach, clusters are not ready, or connections are too many",
        507: "The disk is full",
    }.items()
}


def create_app(workspace: Workspace) -> FastAPI:
    """Build the application around a workspace; put :class:`~superpac.web.security.Gate` before it.

    Parameters
    ----------
    workspace : Workspace
        Data and session.

    Returns
    -------
    FastAPI
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        workspace.start()
        yield
        await run_in_threadpool(workspace.stop)

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
    _page(app, workspace)
    _media(app, workspace)
    app.include_router(answer_routes.router(workspace))
    app.include_router(view_routes.router(workspace))
    return app


def _errors(app: FastAPI) -> None:
    def problem(status: int, detail: str, **more: Any) -> JSONResponse:
        body = schemas.Problem(detail=encodable(detail), **more)
        later = {"retry-after": "1"} if status == 503 and body.retryable else None
        return JSONResponse(body.model_dump(), status, later)

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
        if isinstance(error, NotReadyError):
            return problem(503, str(error), retryable=True)
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

    @app.exception_handler(OSError)
    def system(request: Request, error: OSError) -> JSONResponse:
        if not is_crowded(error):
            raise error
        return ours(request, crowded(str(error.filename or "a file")))

    @app.exception_handler(Exception)
    def unexpected(request: Request, error: Exception) -> JSONResponse:
        _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return problem(500, "Something went wrong here; what was saved before is safe.")


def _ending(name: str) -> str:
    return PurePath(name).suffix


def _page(app: FastAPI, workspace: Workspace) -> None:
    templates = Environment(
        loader=PackageLoader("superpac.web"), autoescape=select_autoescape(default=True)
    )
    folder = files("superpac.web") / "static"
    found = sorted((file.name, file) for file in folder.iterdir())
    content = {name: file.read_bytes() for name, file in found if _ending(name) in STATIC}
    stamp = sha256(b"".join(content.values())).hexdigest()[:12]
    modules = [name for name in content if _ending(name) == ".js"]

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def page() -> str:
        return templates.get_template("page.html").render(
            name=workspace.service.name,
            stamp=stamp,
            modules=modules,
            version=version("superpac"),
            instructions=workspace.instructions,
            instructions_mark=sha256(workspace.instructions.encode()).hexdigest()[:16],
        )

    # The stamp is a folder of the address and not a query, so that a module's relative imports
    # carry it too: browsers keep these files for a year, and a new version must not meet old ones.
    @app.get("/static/{edition}/{name}", include_in_schema=False)
    async def static(edition: str, name: str) -> Response:
        if edition != stamp or name not in content:
            raise HTTPException(404, "There is no such file.")
        kind = STATIC[_ending(name)]
        return Response(content[name], media_type=kind, headers={"cache-control": KEEP})


def _media(app: FastAPI, workspace: Workspace) -> None:
    def check(item: int) -> None:
        if not 0 <= item < len(workspace.data):
            raise NotFoundError(
                f"There is no item {item}; items are numbered 0 to {len(workspace.data) - 1}."
            )

    @app.get(
        "/picture/{item}",
        response_class=Response,
        responses={
            200: {
                "content": {"image/png": {}, "image/jpeg": {}},
                "description": "The item, drawn here",
            }
        },
    )
    async def picture(
        item: int, size: Annotated[int, Query()] = 320, behind: bool = False
    ) -> Response:
        """Picture of an item, or the photo that it is a part of."""
        if size not in SIZES:
            raise InputError(f"size must be one of {', '.join(map(str, SIZES))}; got {size}.")
        check(item)
        found = workspace.pictures.held(item, size, behind)
        if found is None:
            found = await in_looking_threads(workspace.pictures.draw)(item, size, behind)
        return Response(found, media_type=picture_kind(found), headers={"cache-control": KEEP})

    @app.get(
        "/sound/{item}",
        response_class=Response,
        responses={
            200: {"content": {"audio/wav": {}}, "description": "The item, decoded here"},
            206: {"content": {"audio/wav": {}}, "description": "The part that was asked for"},
            416: {"model": schemas.Problem, "description": "The sound is shorter"},
        },
    )
    async def sound(item: int, request: Request) -> Response:
        """Sound of an item, whole or the part that a Range header asks for."""
        check(item)
        found = workspace.sounds.held(item)
        if found is None:
            found = await in_looking_threads(workspace.sounds.wav)(item)
        size = len(found)
        headers = {"cache-control": KEEP, "accept-ranges": "bytes"}
        asked = request.headers.get("range")
        part = asked_part(asked, size)
        if part is None:
            raise HTTPException(
                416, f"The sound has {size} bytes.", {"content-range": f"bytes */{size}"}
            )
        start, end = part
        whole = end - start == size
        if not whole:
            headers["content-range"] = f"bytes {start}-{end - 1}/{size}"
        body = found if whole else found[start:end]
        return Response(body, 200 if whole else 206, headers, media_type="audio/wav")
