"""Fault 9: connections killed, server killed, transactions aborted, network cut: nothing lost."""

from __future__ import annotations

import contextlib
import random
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import event

from postgres import PostgresServer
from superpac.answers.log import Event
from superpac.store import Store, StoredLog, StoreFailure, new_info, open_store


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    durable = PostgresServer(fsync=True)
    yield durable
    durable.stop()


class Writer(threading.Thread):
    """Answers without pause, sends again under the same key what is refused, keeps receipts."""

    def __init__(self, log: StoredLog) -> None:
        super().__init__()
        self.log = log
        self.acked: list[Event] = []
        self.refusals: list[StoreFailure] = []
        self.errors: list[BaseException] = []
        self._enough = threading.Event()

    def run(self) -> None:
        n = 0
        try:
            while not self._enough.is_set():
                body = {"i": n, "j": n + 1, "answer": "same"}
                try:
                    self.acked.append(self.log.append("answer", body, key=f"k{n}"))
                except StoreFailure as failure:
                    if not failure.retryable:
                        raise
                    self.refusals.append(failure)
                    continue
                n += 1
        except BaseException as error:
            self.errors.append(error)

    def next_ack(self) -> None:
        """Wait until an answer was acknowledged that was sent after this call."""
        have, end = len(self.acked), time.monotonic() + 120
        while len(self.acked) < have + 2:
            assert not self.errors, self.errors
            assert time.monotonic() < end, "no answer was acknowledged any more"
            time.sleep(0.01)

    def finish(self) -> None:
        self._enough.set()
        self.join(60)
        assert not self.is_alive()
        assert not self.errors, self.errors
        events = self.log.events()
        assert events[: len(self.acked)] == self.acked
        # At most the answer in flight may be there without an acknowledgement.
        assert len(events) - len(self.acked) in (0, 1)
        assert len({e.key for e in events}) == len(events)
        assert [e.seq for e in events] == list(range(1, len(events) + 1))


def new_log(store: Store) -> StoredLog:
    return store.create(new_info("x", fingerprint="f", n_items=10**6))


def test_killed_connections_lose_nothing(
    server: PostgresServer, fault_count: Callable[[int, int], int]
) -> None:
    url = server.database()
    name, draw = url.rpartition("/")[2], random.Random(9)
    with open_store(url) as store:
        writer = Writer(new_log(store))
        writer.start()
        for _ in range(fault_count(10, 50)):
            time.sleep(draw.uniform(0, 0.05))
            killed = server.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                f"WHERE application_name = 'superpac' AND datname = '{name}'"
            )
            assert killed
            writer.next_ack()
        writer.finish()
        store.verify("x")


def test_a_killed_server_loses_nothing(
    server: PostgresServer, fault_count: Callable[[int, int], int]
) -> None:
    draw = random.Random(10)
    with open_store(server.database()) as store:
        writer = Writer(new_log(store))
        writer.start()
        for _ in range(fault_count(2, 20)):
            writer.next_ack()
            time.sleep(draw.uniform(0, 0.1))
            server.kill()
            server.start()
            writer.next_ack()
        writer.finish()
        store.verify("x")


def test_a_server_that_stays_away_is_told_as_retryable(server: PostgresServer) -> None:
    with open_store(server.database()) as store:
        writer = Writer(new_log(store))
        store._backend._retry_for = 0.5  # type: ignore[attr-defined]
        writer.start()
        writer.next_ack()
        server.kill()
        try:
            # A connection may outlive the postmaster by an answer, which is then kept like any.
            while not writer.refusals:
                assert not writer.errors, writer.errors
                time.sleep(0.01)
        finally:
            server.start()
        failure = writer.refusals[0]
        assert (failure.status, failure.retryable) == (503, True)
        assert "does not answer" in str(failure)
        assert "\n" not in str(failure)
        writer.next_ack()
        writer.finish()


def once(store: Store, moment: str, action: Callable[[], None]) -> None:
    """Do something at the first such moment of the store's engine."""
    engine = store._backend._engine  # type: ignore[attr-defined]
    event.listen(engine, moment, lambda *_: action(), once=True)


def test_a_stalled_transaction_is_aborted_and_run_again(server: PostgresServer) -> None:
    with open_store(server.database()) as store:
        log = new_log(store)
        begun: list[object] = []
        event.listen(store._backend._engine, "begin", begun.append)  # type: ignore[attr-defined]
        once(store, "commit", lambda: time.sleep(4.5))
        made = log.append("answer", {"i": 1, "j": 2, "answer": "same"}, key="a")
        assert len(begun) >= 2, "the server let a transaction stall for 4.5 seconds"
        assert log.events() == [made]


def test_a_row_held_by_another_is_waited_for_then_told(server: PostgresServer) -> None:
    import psycopg

    url = server.database()
    with open_store(url) as store, psycopg.connect(url) as other:
        log = new_log(store)
        other.execute("SELECT * FROM superpac_sessions FOR UPDATE")
        with pytest.raises(StoreFailure) as caught:
            log.append("answer", {"i": 1, "j": 2, "answer": "same"}, key="a")
        assert (caught.value.status, caught.value.retryable) == (503, True)
        other.rollback()
        assert log.append("answer", {"i": 1, "j": 2, "answer": "same"}, key="a").seq == 1


class Network:
    """A wire between store and server that can be cut in the ways real ones are."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._wires: list[dict] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                wire = {"near": near, "far": far, "up": True, "down": True}
                self._wires.append(wire)
                threading.Thread(target=self._carry, args=(wire,), daemon=True).start()

    def _carry(self, wire: dict) -> None:
        near, far = wire["near"], wire["far"]
        ends = [near, far]
        with contextlib.suppress(OSError, ValueError):
            while True:
                for side in select.select(ends, [], [], 0.5)[0]:
                    data = side.recv(65536)
                    if not data and side is far and not wire["down"]:
                        ends.remove(far)  # the server hung up, but that does not arrive either
                    elif not data:
                        raise OSError
                    if side is near and wire["up"]:
                        far.sendall(data)
                    if side is far and wire["down"]:
                        near.sendall(data)
        near.close()
        # A cut wire does not tell the server either: it finds out by itself.
        if wire["up"]:
            far.close()

    def cut(self, *directions: str) -> None:
        """Swallow what the present connections send, without telling either end."""
        for wire in self._wires:
            wire.update(dict.fromkeys(directions, False))

    def reset(self) -> None:
        """Break the present connections, as a router that restarts does."""
        for wire in self._wires:
            with contextlib.suppress(OSError):
                wire["near"].shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
        for wire in self._wires:
            for end in ("near", "far"):
                with contextlib.suppress(OSError):
                    wire[end].close()


@pytest.fixture
def network(server: PostgresServer) -> Iterator[Network]:
    wire = Network(server.port)
    yield wire
    wire.close()


def url_through(network: Network, server: PostgresServer) -> str:
    name = server.database().rpartition("/")[2]
    return server.url(name, port=network.port)


def test_a_cut_network_loses_nothing(
    server: PostgresServer, network: Network, fault_count: Callable[[int, int], int]
) -> None:
    draw = random.Random(11)
    with open_store(url_through(network, server)) as store:
        writer = Writer(new_log(store))
        writer.start()
        for n in range(fault_count(2, 10)):
            time.sleep(draw.uniform(0, 0.1))
            if n % 2:
                network.reset()
            else:
                network.cut("up", "down")
            writer.next_ack()
        writer.finish()
        store.verify("x")


def test_a_commit_whose_reply_is_lost_counts_once(server: PostgresServer, network: Network) -> None:
    with open_store(url_through(network, server)) as store:
        log = new_log(store)
        once(store, "commit", lambda: network.cut("down"))
        made = log.append("answer", {"i": 1, "j": 2, "answer": "same"}, expected_seq=0)
        assert log.events() == [made]
        assert made.seq == 1


def test_a_session_whose_creation_reply_is_lost_is_created_once(
    server: PostgresServer, network: Network
) -> None:
    with open_store(url_through(network, server)) as store:
        store._backend.run(lambda connection: None)
        info = new_info("x", fingerprint="f", n_items=10)
        once(store, "commit", network.reset)
        assert store.create(info).info == info
        assert [s.info for s in store.sessions()] == [info]
