"""Routes that show: the session, progress, clusters, items, history, exports. None writes."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response, StreamingResponse

from superpac.errors import NotFoundError
from superpac.session import exports
from superpac.system.safe_text import encodable
from superpac.web import group_views, page_views, schemas, second_opinions
from superpac.web.own_threads import LookingRoute
from superpac.web.workspace import Workspace

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


def session_out(workspace: Workspace) -> schemas.SessionOut:
    """Facts of the session and how far the first clustering is."""
    service = workspace.service
    status, info = service.status(), service.session.info
    return schemas.SessionOut(
        id=info.id,
        name=info.name,
        data=workspace.data.name,
        kind=workspace.data.kind,
        question=service.question,
        crisp=workspace.pictures.crisp,
        items=len(workspace.data),
        spec=info.spec,
        phase=status.phase,
        stage=status.stage,
        done=status.done,
        total=status.total,
        message=encodable(status.message),
        usable=service.model() is not None,
        version=version("superpac"),
        formats=[*exports.formats_here(), "folders", "archive"],
    )


def router(workspace: Workspace) -> APIRouter:
    """Routes that show and export, and write nothing.

    Parameters
    ----------
    workspace : Workspace
        Data and session.

    Returns
    -------
    APIRouter
    """
    routes = APIRouter(route_class=LookingRoute)
    _looking(routes, workspace)
    _exporting(routes, workspace)
    return routes


def _looking(app: APIRouter, workspace: Workspace) -> None:
    async def settled() -> None:
        # on the event loop, not in a thread: it may wait for long
        await workspace.service.settle()

    @app.get("/api/session", response_model=schemas.SessionOut)
    def session() -> Any:
        """Facts of the session, and how far the first clustering is."""
        return session_out(workspace)

    @app.get("/api/progress")
    def progress(annotator: schemas.Name | None = None) -> dict[str, Any]:
        """How far the answers are; the pace is that of one person, where one is named."""
        return page_views.progress(workspace.service, annotator)

    @app.get("/api/labels", response_model=schemas.Labels, dependencies=[Depends(settled)])
    def labels() -> Any:
        """Clusters after all the answers so far."""
        service = workspace.service
        service.model()
        found = service.session.labels()
        return schemas.Labels(
            ids=[str(i) for i in workspace.data.ids],
            labels=found.tolist(),
            names=exports.cluster_names(service.session, found),
            seq=service.session.seq,
            fresh=service.session.fresh,
        )

    @app.get("/api/clusters")
    def clusters(
        limit: Annotated[int, Query(ge=0, le=500)] = 60, order: schemas.Order = "sure"
    ) -> dict[str, Any]:
        """Every cluster with the first items of its wall."""
        return group_views.clusters(workspace.service, limit, order)

    @app.get("/api/clusters/{cluster}")
    def wall(
        cluster: int,
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 200,
        order: schemas.Order = "sure",
    ) -> dict[str, Any]:
        """Part of one cluster's wall; cluster -1 holds the items set aside."""
        return group_views.wall(workspace.service, cluster, offset, limit, order)

    @app.get("/api/items/{item}")
    def item(item: int) -> dict[str, Any]:
        """One item, its nearest rivals and what answers say about it."""
        return page_views.item_view(workspace.service, item)

    def checked(items: list[int]) -> list[int]:
        for one in items:
            if one >= len(workspace.data):
                last = len(workspace.data) - 1
                raise NotFoundError(f"There is no item {one}; items are numbered 0 to {last}.")
        return items

    @app.get("/api/briefs")
    def briefs(
        item: Annotated[list[schemas.Number], Query(min_length=1, max_length=500)],
    ) -> list[str]:
        """Items in a few words each, in the order asked for; empty where pictures say more."""
        return [page_views.brief(workspace.data, one) for one in checked(item)]

    @app.get("/api/titles")
    def titles(
        item: Annotated[list[schemas.Number], Query(min_length=1, max_length=500)],
    ) -> list[str]:
        """What items are called and which groups they are in, in the order asked for."""
        service = workspace.service
        service.model()
        return group_views.titles(service, checked(item))

    @app.get("/api/scales")
    def scales() -> list[list[float] | None]:
        """Smallest and largest number of each column of a table; null where it has words."""
        return [None if ends is None else list(ends) for ends in page_views.scales(workspace.data)]

    @app.get("/api/map")
    def map_() -> dict[str, Any]:
        """Place and group of every item."""
        return group_views.map_view(workspace.service)

    @app.get("/api/history")
    def history(
        before: Annotated[int | None, Query(ge=1, le=2**53)] = None,
        limit: Annotated[int, Query(ge=1, le=500)] = 100,
    ) -> dict[str, Any]:
        """Every event, the newest first."""
        return page_views.history(workspace.service, before, limit)

    @app.get("/api/suspects")
    def suspects() -> dict[str, Any]:
        """Answers that contradict each other or do not fit, and what is cheapest to take back."""
        return page_views.suspects(workspace.service)

    @app.get("/api/review")
    def review() -> dict[str, Any]:
        """What to look at: new items by group, and answers in doubt as in `suspects`."""
        service = workspace.service
        service.model()
        return {"new": group_views.newcomers(service), **page_views.suspects(service)}

    @app.get("/api/agreement")
    def agreement() -> dict[str, Any]:
        """Who answered how much, and how far people agree."""
        return {
            "overlap": workspace.service.overlap,
            **second_opinions.agreement(workspace.service.session, workspace.service.test),
        }


def _exporting(app: APIRouter, workspace: Workspace) -> None:
    async def settled(form: str) -> None:
        if form in MIME and form != "archive":
            await workspace.service.settle()

    @app.get("/api/export/{form}", response_class=Response, dependencies=[Depends(settled)])
    def export(form: str) -> Response:
        """Clusters or answers as a file: one of the session's `formats`."""
        service = workspace.service
        if form not in MIME:
            raise NotFoundError(
                f"There is no export format {form!r}; choose one of: {', '.join(MIME)}."
            )
        ending = {"archive": "zip", "folders": "zip", **exports.ENDINGS}.get(form, form)
        part = form if form in exports.ENDINGS or form == "folders" else "clusters"
        name = f"{exports.file_name(service.name)}-{'session' if form == 'archive' else part}"
        ascii_name = name.encode("ascii", "replace").decode().replace("?", "_").replace('"', "_")
        headers = {"content-disposition": f'attachment; filename="{ascii_name}.{ending}"'}
        service.model()
        if form == "archive":
            body = _archive(workspace)
        elif form == "folders":
            spool: Any = tempfile.SpooledTemporaryFile(max_size=32 << 20)  # noqa: SIM115
            exports.folders_zip(service.session, spool)
            spool.seek(0)
            return StreamingResponse(_chunks(spool), media_type=MIME[form], headers=headers)
        else:
            body = exports.FORMATS[form](service.session)
        return Response(body, media_type=MIME[form], headers=headers)


def _archive(workspace: Workspace) -> bytes:
    with tempfile.TemporaryDirectory(prefix="superpac-") as folder:
        path = Path(folder) / f"{uuid4().hex}.zip"
        workspace.store.export_archive(workspace.service.session.log.session_id, path)
        return path.read_bytes()


def _chunks(file: io.BufferedIOBase) -> Iterator[bytes]:
    with file:
        while part := file.read(1 << 16):
            yield part
