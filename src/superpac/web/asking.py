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
from superpac.session.session import Receipt
from superpac.session.spec import Spec
from superpac.web import schemas, views
from superpac.web.asked import Asked, StaleError
from superpac.web.desk import Desk
from superpac.web.looking import session_out
from superpac.web.room import Room


def _card(desk: Desk, item: int) -> schemas.Card:
    rows = desk.data.describe(item)[:60] if desk.data.kind == "table" else []
    return schemas.Card(item=item, id=str(desk.data.ids[item]), rows=rows)


def _question(desk: Desk, asked: Asked | None) -> schemas.Question | None:
    if asked is None:
        return None
    reason = asked.reason
    if asked.shape == "strip":
        first = reason.split(";")[0].rstrip(".")
        reason = f"{first}; beside it are the groups it may belong to, nearest first."
    return schemas.Question(
        shape=asked.shape,  # type: ignore[arg-type]
        item=_card(desk, asked.item),
        others=[_card(desk, other) for other in asked.others],
        seq=asked.seq,
        reason=reason,
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


def router(room: Room) -> APIRouter:
    """Routes that hand out questions and change the log.

    Parameters
    ----------
    room : Room
        Data and session.

    Returns
    -------
    APIRouter
    """
    routes = APIRouter()
    _asking(routes, room)
    _changing(routes, room)
    return routes


def _asking(app: APIRouter, room: Room) -> None:
    @app.post("/api/question", response_model=schemas.Asking)
    def question(wish: schemas.Wish) -> Any:
        """Take the next question; the same until it is answered."""
        desk = room.desk
        for item in (wish.item, wish.other):
            if item is not None:
                desk.data.describe(item)
        if wish.other is not None and wish.item is None:
            raise InputError("An 'other' needs an 'item' that it is compared with.")
        if wish.was is not None and wish.was != wish.annotator:
            desk.drop(wish.was)
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
    async def ahead(request: Request, annotator: schemas.Name = "") -> Any:
        """Items that the next question may show, as soon as they are known."""
        desk, end = room.desk, time.monotonic() + 5.0
        before = await run_in_threadpool(desk.current, annotator)
        while True:
            ready, items = await run_in_threadpool(desk.ahead, annotator)
            now = await run_in_threadpool(desk.current, annotator)
            gone = now is not before or await request.is_disconnected()
            if ready or gone or time.monotonic() > end:
                return schemas.Ahead(ready=ready, items=items)
            await asyncio.sleep(0.08)


def _changing(app: APIRouter, room: Room) -> None:
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
        return session_out(room)

    @app.post("/api/again", response_model=schemas.SessionOut)
    def again() -> Any:
        """Begin the first clustering anew after it was given up or failed."""
        room.desk.keeper.again()
        return session_out(room)

    @app.post("/api/sessions", response_model=schemas.SessionOut)
    def begin(given: schemas.NewSession) -> Any:
        """Begin a session with other settings on the same data, or go on with it."""
        spec = Spec(
            given.n_clusters, given.affinity, given.strategy, dim=given.dim, seed=given.seed
        )
        room.begin(spec, given.name)
        return session_out(room)


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
