"""Routes that hand out questions, take answers in and take them back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from superpac.errors import InputError, SuperpacError
from superpac.session.questions import Receipt
from superpac.session.spec import Spec
from superpac.session.workbench import Arranged
from superpac.web import group_views, page_views, schemas, second_opinions
from superpac.web.context import Context
from superpac.web.open_questions import OpenQuestion, StaleError
from superpac.web.service import LabelService, Next
from superpac.web.view_routes import session_out
from superpac.web.workspace import Workspace

EDITING = ("move", "merge", "split")  # acts that make groups what they are


def _card(service: LabelService, item: int, context: dict[str, Any]) -> schemas.Card:
    return schemas.Card(**page_views.card(service.data, item), **context)


def _question(service: LabelService, asked: OpenQuestion | None) -> schemas.Question | None:
    if asked is None:
        return None
    reason = asked.reason
    if asked.shape == "strip":
        first = reason.split(";")[0].rstrip(".")
        reason = f"{first}; beside it are the groups it may belong to, nearest first."
    if asked.shape == "test":  # the group that an item is taken for would tell
        cards = [_card(service, one, {}) for one in asked.pair]
        return schemas.Question(
            shape="test",
            item=cards[0],
            others=cards[1:],
            seq=asked.seq,
            reason=reason,
            numbers=asked.numbers,
            late=False,
        )
    context, item = Context(service), asked.item
    to_place = asked.shape in ("pair", "strip")  # in a wall or a board it stands for its group
    own = context.placed(item, asked.others) if to_place else context.face(item)
    return schemas.Question(
        shape=asked.shape,  # type: ignore[arg-type]
        item=_card(service, item, own),
        others=[_card(service, other, context.standing(other, item)) for other in asked.others],
        seq=asked.seq,
        reason=reason,
        numbers=asked.numbers,
        late=asked.late,
    )


def _receipt(receipt: Receipt) -> schemas.ReceiptOut:
    return schemas.ReceiptOut(seq=receipt.seq, hash=receipt.hash, recorded=receipt.recorded)


def _arranged(done: Arranged, words: str) -> schemas.ArrangedOut:
    return schemas.ArrangedOut(
        receipts=[_receipt(r) for r in done.receipts],
        message=words,
        answers=done.answers,
        taken_back=done.taken_back,
        disputed=done.disputed,
    )


def _then(
    service: LabelService, annotator: str, shape: str, receipts: list[Receipt], message: str = ""
) -> schemas.Taken:
    """Receipts with the next question; what was written stays written if there is none now."""
    given = [_receipt(r) for r in receipts]
    found = _next(service, annotator, shape)
    return schemas.Taken(
        receipts=given,
        question=_question(service, found.question),
        finished=found.finished,
        reached=page_views.goal_reached(service),
        stopped=service.stopped,
        message=message,
    )


def _stale(service: LabelService, annotator: str, shape: str, error: StaleError) -> JSONResponse:
    """Refuse an answer to a question that is gone, with the one that is current."""
    found = _next(service, annotator, shape)
    body = schemas.Problem(
        detail=str(error), question=_question(service, found.question), finished=found.finished
    )
    return JSONResponse(body.model_dump(), 409)


def _next(service: LabelService, annotator: str, shape: str) -> Next:
    """Next question if it can be found now: what was said or refused stands in any case."""
    try:
        return service.ask(annotator, shape)
    except SuperpacError:
        return Next(None)


def router(workspace: Workspace) -> APIRouter:
    """Routes that hand out questions and change the log.

    Parameters
    ----------
    workspace : Workspace
        Data and session.

    Returns
    -------
    APIRouter
    """
    routes = APIRouter()
    _asking(routes, workspace)
    _changing(routes, workspace)
    return routes


def _asking(app: APIRouter, workspace: Workspace) -> None:
    @app.post("/api/question", response_model=schemas.Asking)
    def question(wish: schemas.Wish) -> Any:
        """Take the next question; the same until it is answered."""
        service = workspace.service
        for item in (wish.item, wish.other):
            if item is not None:
                service.data.describe(item)
        if wish.other is not None and wish.item is None:
            raise InputError("An 'other' needs an 'item' that it is compared with.")
        if wish.was is not None and wish.was != wish.annotator:
            service.drop(wish.was)
        found = service.ask(wish.annotator, wish.shape, wish.item, wish.other)
        return schemas.Asking(
            question=_question(service, found.question),
            finished=found.finished,
            reached=page_views.goal_reached(service),
            stopped=service.stopped,
        )

    @app.get("/api/question", response_model=schemas.Asking)
    def current(annotator: schemas.Name = "") -> Any:
        """Look at one's current question without taking a new one."""
        service = workspace.service
        return schemas.Asking(
            question=_question(service, service.current(annotator)),
            finished=False,
            reached=page_views.goal_reached(service),
            stopped=service.stopped,
        )

    @app.post("/api/answers", response_model=schemas.Taken)
    def answer(given: schemas.Answer) -> Any:
        """Record an answer; it is on disk when this returns. Gives the next question."""
        service = workspace.service
        try:
            receipt = service.answer(
                given.annotator,
                (given.i, given.j),
                given.answer,
                seq=given.seq,
                key=given.key,
                elapsed_ms=given.elapsed_ms,
            )
        except StaleError as error:
            return _stale(service, given.annotator, given.shape, error)
        told = service.told_of_test(given.annotator, receipt)
        return _then(service, given.annotator, given.shape, [receipt], told)

    @app.post("/api/choices", response_model=schemas.Taken)
    def choose(given: schemas.Choice) -> Any:
        """Record what was marked, as the pairs that it answers."""
        service = workspace.service
        try:
            receipts = service.choose(
                given.annotator,
                given.item,
                tuple(given.options),
                tuple(given.marked),
                form=given.form,
                seq=given.seq,
                key=given.key,
                elapsed_ms=given.elapsed_ms,
            )
        except StaleError as error:
            return _stale(service, given.annotator, given.shape, error)
        return _then(service, given.annotator, given.shape, receipts)

    @app.post("/api/skips", response_model=schemas.Taken)
    def skip(given: schemas.Skip) -> Any:
        """Postpone a pair."""
        service = workspace.service
        try:
            receipt = service.skip(
                given.annotator, (given.i, given.j), seq=given.seq, key=given.key
            )
        except StaleError as error:
            return _stale(service, given.annotator, given.shape, error)
        return _then(service, given.annotator, given.shape, [receipt])

    @app.get("/api/ahead", response_model=schemas.Ahead)
    async def ahead(request: Request, annotator: schemas.Name = "") -> Any:
        """Items that the next question may show, as soon as they are known."""
        service, end = workspace.service, time.monotonic() + 5.0
        before = await run_in_threadpool(service.current, annotator)
        while True:
            ready, items = await run_in_threadpool(service.ahead, annotator)
            now = await run_in_threadpool(service.current, annotator)
            gone = now is not before or await request.is_disconnected()
            if ready or gone or time.monotonic() > end:
                return schemas.Ahead(ready=ready, items=items)
            await asyncio.sleep(0.08)


def _changing(app: APIRouter, workspace: Workspace) -> None:
    def done(given: schemas.Act, shape: str, act: Callable[[], Receipt]) -> Any:
        service = workspace.service
        receipt = service.act(given.annotator, act)
        return _then(service, given.annotator, shape, [receipt])

    @app.post("/api/aside", response_model=schemas.Taken)
    def aside(given: schemas.Aside) -> Any:
        """Set an item aside as blank or damaged, or put it back."""
        session = workspace.service.session
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
        workspace.check_editor(given.annotator)
        session = workspace.service.session
        return done(
            given,
            "pair",
            lambda: session.rename(
                given.name.strip(), item=given.item, annotator=given.annotator, key=given.key
            ),
        )

    @app.post("/api/arrange", response_model=schemas.ArrangedOut)
    def arrange(given: schemas.Arrange) -> Any:
        """Move, merge, split, join, exclude or set aside items: one act, one undo."""
        if given.name is not None or given.act in EDITING:
            workspace.check_editor(given.annotator)
        service = workspace.service
        service.model()
        found = service.act(
            given.annotator,
            lambda: service.session.arrange(
                given.act,
                given.items,
                to=given.to,
                name=given.name,
                annotator=given.annotator,
                key=given.key,
            ),
        )
        words = group_views.told(service, given.act, given.items, given.to, found)
        return _arranged(found, words)

    @app.post("/api/keep", response_model=schemas.ArrangedOut)
    def keep(given: schemas.Keep) -> Any:
        """Say again what answers in doubt said: one act, one undo."""
        service = workspace.service
        found = service.act(
            given.annotator,
            lambda: service.session.keep(given.seqs, annotator=given.annotator, key=given.key),
        )
        return _arranged(found, f"Kept #{', #'.join(map(str, given.seqs))}.")

    @app.post("/api/undo", response_model=schemas.Taken)
    def undo(given: schemas.Back) -> Any:
        """Take back one's last act, or any event by its number."""
        service, session = workspace.service, workspace.service.session

        def act() -> list[int]:
            who = {"annotator": given.annotator, "key": given.key}
            if given.seq is None:
                return second_opinions.undo_last(session, **who)
            return session.undo(given.seq, **who)

        return _undone(service, given, "Took back", act)

    @app.post("/api/redo", response_model=schemas.Taken)
    def redo(given: schemas.Back) -> Any:
        """Put back what one undid last."""
        session = workspace.service.session
        return _undone(
            workspace.service,
            given,
            "Put back",
            lambda: session.redo(by=given.annotator, annotator=given.annotator, key=given.key),
        )

    @app.post("/api/decisions", response_model=schemas.Taken)
    def decide(given: schemas.Decision) -> Any:
        """Settle a disagreement between two people."""
        session = workspace.service.session
        return done(
            given,
            "pair",
            lambda: second_opinions.decide(
                session, given.second, given.keep, annotator=given.annotator, key=given.key
            ),
        )

    @app.post("/api/cancel", response_model=schemas.SessionOut)
    def cancel() -> Any:
        """Give the first clustering up."""
        workspace.service.models.cancel()
        return session_out(workspace)

    @app.post("/api/again", response_model=schemas.SessionOut)
    def again() -> Any:
        """Begin the first clustering anew after it was given up or failed."""
        workspace.service.models.again()
        return session_out(workspace)

    @app.post("/api/sessions", response_model=schemas.SessionOut)
    def begin(given: schemas.NewSession) -> Any:
        """Begin a session with other settings on the same data, or go on with it."""
        spec = Spec(
            given.n_clusters, given.affinity, given.strategy, dim=given.dim, seed=given.seed
        )
        workspace.begin(spec, given.name)
        return session_out(workspace)


def _undone(
    service: LabelService, given: schemas.Back, words: str, act: Callable[[], list[int]]
) -> Any:
    seqs = service.act(given.annotator, act)
    if not seqs:
        return _then(service, given.annotator, given.shape, [], "There is nothing left to do.")
    service.drop(given.annotator)
    last = service.session.history.event(seqs[0])
    if words == "Took back" and last.kind in ("answer", "skip") and "group" not in last.body:
        # the person sees again what they take back
        service.ask_again(given.annotator, (last.body["i"], last.body["j"]), given.shape)
    what = group_views.numbered(service, seqs)
    told = f"{words} {what}. {page_views.effect(service, seqs)}".strip()
    receipts = [Receipt(e.seq, e.hash) for e in service.session.events_under(given.key)]
    return _then(service, given.annotator, given.shape, receipts, told)
