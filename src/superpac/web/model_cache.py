"""Models by the state they belong to, and the process that computes them, kept alive and busy."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import signal
import threading
import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Literal

from superpac.data import Dataset
from superpac.data.sent_dataset import SentDataset
from superpac.session.spec import Spec
from superpac.web.worker import Basis, Job, Model, work

Phase = Literal["preparing", "ready", "cancelled", "failed"]

DEATHS = 8  # of the computing process within a minute, after which it is given up
KEPT = 12  # models kept: now, what may follow, and the last few for undo
HUNG = 5.0  # seconds without a result after which a job counts as hung, unless jobs are slower:
PATIENCE = 10.0  # ... this many times the slowest job so far, and twice as long after each hang

_log = logging.getLogger("superpac.web")


@dataclass(frozen=True)
class Preparing:
    """How far the first computation is."""

    phase: Phase
    stage: str
    done: int
    total: int
    message: str
    restarts: int


class ModelCache:
    """Owns the computing process: starts it, feeds it, replaces it when it dies or hangs.

    Parameters
    ----------
    data : Dataset
        The items.
    spec : Spec
        What is computed.
    hang_after : float
        Seconds after which a job without result is given up, at least.
    """

    def __init__(self, data: Dataset, spec: Spec, *, hang_after: float = HUNG) -> None:
        self._data, self._spec = data, spec
        self._hang_after = hang_after
        # A forkserver has the libraries loaded, so that a new process is there at once.
        way = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        self._context: Any = multiprocessing.get_context(way)
        if way == "forkserver":
            self._context.set_forkserver_preload(["superpac.web.worker"])
        self._lock = threading.Condition()
        self._wanted: Sequence[Job] = ()
        self._models: dict[Hashable, Model] = {}
        self._newest: Model | None = None
        self._basis: Basis | None = None
        self._phase: Phase = "preparing"
        self._stage: tuple[str, int, int] = ("starting", 0, 0)
        self._message = ""
        self._numbers = 0
        self._busy_since: float | None = None
        self._slowest = 0.0
        self._patience = PATIENCE
        self._restarts: list[float] = []
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._stopping = False
        self._thread: threading.Thread | None = None
        # A pipe to the watching thread, so that it notices new wishes without polling.
        self._ear, self._bell = multiprocessing.Pipe(duplex=False)

    @property
    def basis(self) -> Basis | None:
        """What the first computation gave; None before."""
        return self._basis

    @property
    def newest(self) -> Model | None:
        """Model that came in last."""
        return self._newest

    @property
    def pid(self) -> int | None:
        """Number of the computing process."""
        return None if self._process is None else self._process.pid

    def status(self) -> Preparing:
        """How far the first computation is, and what went wrong if it did."""
        with self._lock:
            return Preparing(self._phase, *self._stage, self._message, restarts=len(self._restarts))

    def start(self) -> None:
        """Start computing."""
        self._thread = threading.Thread(target=self._run, name="models", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the process and the thread that watches it."""
        self._stopping = True
        self._ring()
        if self._thread is not None:
            self._thread.join(timeout=5.0)
        self._end(kindly=True)
        for end in (self._ear, self._bell):
            end.close()

    def cancel(self) -> bool:
        """Give the first computation up; False when it is over already."""
        with self._lock:
            if self._phase != "preparing":
                return False
            self._phase, self._message = "cancelled", "Stopped."
        self._ring()
        return True

    def again(self) -> bool:
        """Begin the first computation anew after it was cancelled or failed."""
        with self._lock:
            if self._phase not in ("cancelled", "failed"):
                return False
            self._phase, self._stage, self._message = "preparing", ("starting", 0, 0), ""
            self._restarts.clear()
        self._ring()
        return True

    def want(self, wishes: Sequence[Job]) -> None:
        """Say which states are needed, the most urgent first; replaces earlier wishes."""
        with self._lock:
            self._wanted = tuple(wishes)
        self._ring()

    def get(self, key: Hashable, timeout: float = 0.0) -> Model | None:
        """Model of a state, waiting for it a while; None if it is not there."""
        with self._lock:
            self._lock.wait_for(lambda: key in self._models or self._stopping, timeout)
            return self._models.get(key)

    def forget(self) -> None:
        """Have every state computed anew; the newest model stands until then."""
        with self._lock:
            self._models.clear()

    def rename(self, old: Hashable, new: Hashable) -> None:
        """Let the model prepared for what might happen stand for what did happen."""
        with self._lock:
            model = self._models.get(old)
            if model is not None:
                self._models.pop(new, None)
                self._newest = self._models[new] = replace(model, key=new)

    def _ring(self) -> None:
        try:
            self._bell.send(None)
        except (OSError, ValueError):
            return

    def _run(self) -> None:
        while not self._stopping:
            if self._process is None and self._phase in ("preparing", "ready"):
                self._spawn()
            self._feed()
            self._listen()
            self._watch()

    def _spawn(self) -> None:
        try:
            ours, theirs = self._context.Pipe()
        except OSError:  # no file handle is left just now; tried again in a moment
            return
        process = self._context.Process(
            target=work,
            args=(theirs, SentDataset(self._data), self._spec, self._basis),
            daemon=True,
        )
        try:
            process.start()
        except OSError as error:
            ours.close()
            theirs.close()
            # What starts it may be ending too, as by Ctrl+C in a terminal; or it never can be.
            self._died(f"it could not be started: {error.strerror or error}")
            return
        theirs.close()
        self._process, self._pipe = process, ours
        self._ready, self._message = False, ""
        self._busy_since = None

    def _feed(self) -> None:
        if self._pipe is None or not self._ready or self._busy_since is not None:
            return
        with self._lock:
            wish = next((job for job in self._wanted if job.key not in self._models), None)
        if wish is None:
            return
        self._numbers += 1
        self._busy_since = time.monotonic()
        try:
            self._pipe.send(replace(wish, number=self._numbers))
        except OSError:
            return  # the process is gone: _watch sees to it

    def _listen(self) -> None:
        ends: list[Any] = [self._ear]
        if self._pipe is not None and self._process is not None:
            ends += [self._pipe, self._process.sentinel]
        ready = wait(ends, timeout=0.5)
        if self._ear in ready:
            while self._ear.poll():
                self._ear.recv()
        if self._pipe is not None and self._pipe in ready:
            try:
                while self._pipe.poll():
                    self._take(self._pipe.recv())
            except (EOFError, OSError):
                self._died()

    def _take(self, message: tuple[Any, ...]) -> None:
        kind = message[0]
        with self._lock:
            if kind == "stage" and self._opening():
                self._stage = message[1:]
            elif kind == "ready":
                self._basis = message[1]
                self._slowest = max(self._slowest, message[2])
                self._ready = True
                if self._phase == "preparing":
                    self._phase = "ready"
                if self._opening():
                    self._stage = ("model", 0, 0)
            elif kind == "model":
                model: Model = message[1]
                self._busy_since = None
                self._slowest = max(self._slowest, model.seconds)
                self._models[model.key] = model
                if isinstance(model.key, int):  # what may happen has another kind of key
                    self._newest = model
                while len(self._models) > KEPT:
                    self._models.pop(next(iter(self._models)))
                self._lock.notify_all()
            elif kind == "failed":
                self._message = message[1]
                if message[2] and self._phase == "preparing":
                    self._phase = "failed"

    def _opening(self) -> bool:
        """Whether the first model, and so the first question, is still to come."""
        return self._phase in ("preparing", "ready") and self._newest is None

    def _watch(self) -> None:
        process = self._process
        if process is None:
            return
        if self._phase in ("cancelled", "failed"):
            self._end()
        elif not process.is_alive():
            self._died()
        elif self._busy_since is not None:
            limit = max(self._hang_after, self._patience * self._slowest)
            if time.monotonic() - self._busy_since > limit:
                _log.warning("The computing process hung and is replaced.")
                self._patience *= 2
                self._died("it gave no result for long")

    def _died(self, how: str = "") -> None:
        """Replace the process, unless it dies again and again."""
        how = how or self._message or _ending(self._process)
        self._end()
        if self._stopping:
            return
        now = time.monotonic()
        with self._lock:
            self._restarts = [t for t in self._restarts if now - t < 60.0] + [now]
            if len(self._restarts) >= DEATHS:
                self._phase = "failed"
                self._message = (
                    f"Computing has stopped: its process ended {DEATHS} times within a minute "
                    f"({how}). Every answer is saved. Press “Start again”; if it stops again, "
                    "close other programs or start superpac anew."
                )
                _log.error(self._message)

    def _end(self, kindly: bool = False) -> None:
        process, self._process = self._process, None
        if process is not None:
            if kindly and self._pipe is not None and self._ready and self._busy_since is None:
                with contextlib.suppress(OSError):
                    self._pipe.send(None)
                process.join(timeout=1.0)
            process.kill()
            process.join(timeout=5.0)
            process.close()
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        self._ready = False
        self._busy_since = None

    _ready = False


def _ending(process: BaseProcess | None) -> str:
    """Say how a process ended."""
    if process is not None:
        process.join(timeout=1.0)
    code = None if process is None else process.exitcode
    if code == -signal.SIGKILL:
        return "killed, as the system does when memory runs out"
    if code is not None and code < 0:
        return f"ended by signal {-code}"
    return "without saying why"
