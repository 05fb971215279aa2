"""A real PostgreSQL server for the tests: made in a temporary folder, thrown away after."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NoReturn

import pytest


def unavailable(reason: str) -> NoReturn:
    """Skip the test by name, or fail it under CI=true, where everything must be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"under CI=true this must run: {reason}", pytrace=False)
    pytest.skip(reason)


def binary(name: str) -> str | None:
    """Newest server program of that name, Debian's folders first."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), key=_version)
    return found[-1] if found else shutil.which(name)


def _version(path: str) -> float:
    try:
        return float(Path(path).parts[-3])
    except ValueError:
        return 0.0


class PostgresServer:
    """Starts, kills and restarts one server on a loopback port and a socket in its own folder."""

    def __init__(self, *, fsync: bool) -> None:
        self._fsync = "on" if fsync else "off"
        initdb, postgres = binary("initdb"), binary("postgres")
        if initdb is None or postgres is None:
            unavailable("PostgreSQL's initdb and postgres are not installed")
        self._postgres = postgres
        self._as_user: list[str] = []
        self.folder = Path(tempfile.mkdtemp(prefix="superpac-pg-", dir=_roomy_folder()))
        if os.getuid() == 0:
            user = "postgres" if _has_user("postgres") else "nobody"
            setpriv = shutil.which("setpriv")
            if setpriv is None:
                unavailable("PostgreSQL does not run as root and setpriv is not installed")
            self._as_user = [setpriv, f"--reuid={user}", "--clear-groups", "--inh-caps=-all"]
            shutil.chown(self.folder, user)
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        command = [initdb, "-D", str(self.folder / "data"), "-U", "tester", "-A", "trust"]
        made = subprocess.run(
            [*self._as_user, *command, "-E", "UTF8", "--locale=C", "--no-sync"],
            capture_output=True,
            cwd=self.folder,
            check=False,
        )
        if made.returncode:
            shutil.rmtree(self.folder, ignore_errors=True)
            unavailable(f"initdb failed: {made.stderr.decode()[-300:]}")
        self.start()

    def start(self, timeout: float = 60.0) -> None:
        """Start the server and wait until it answers; also after it was killed."""
        deadline = time.monotonic() + timeout
        while True:
            with (self.folder / "server.log").open("ab") as log:
                self._process = subprocess.Popen(
                    [
                        *(*self._as_user, self._postgres, "-D", str(self.folder / "data")),
                        *("-p", str(self.port), "-k", str(self.folder)),
                        *("-c", "listen_addresses=127.0.0.1", "-c", f"fsync={self._fsync}"),
                        *("-c", "max_connections=120", "-c", "dynamic_shared_memory_type=mmap"),
                    ],
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                )
            while self._process.poll() is None:
                if self._answers():
                    return
                if time.monotonic() > deadline:
                    raise TimeoutError(self.tail())
                time.sleep(0.05)
            # After kill -9 the old children may hold the shared memory a moment longer.
            if time.monotonic() > deadline:
                raise TimeoutError(self.tail())
            time.sleep(0.2)

    def _answers(self) -> bool:
        import psycopg

        try:
            with psycopg.connect(self.url("postgres"), connect_timeout=2):
                return True
        except psycopg.OperationalError:
            return False

    def tail(self) -> str:
        return (self.folder / "server.log").read_text(errors="replace")[-1000:]

    def url(self, database: str, *, port: int | None = None) -> str:
        return f"postgresql://tester@127.0.0.1:{port or self.port}/{database}"

    def database(self) -> str:
        """Make an empty database and return its address."""
        name = "t" + secrets.token_hex(6)
        self.sql(f"CREATE DATABASE {name}")
        return self.url(name)

    def sql(self, statement: str, url: str | None = None) -> list[tuple]:
        """Run one statement from outside of the store."""
        import psycopg

        with psycopg.connect(url or self.url("postgres"), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def kill(self) -> None:
        """kill -9 of the postmaster, as a power cut would do."""
        pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        if self._process is not None:
            self._process.wait()

    def restart(self) -> None:
        """Stop it as an administrator does, who waits for nobody, and start it again."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(60)
        self.start()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            # Quit without a checkpoint: the folder goes away.
            self._process.send_signal(signal.SIGQUIT)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _roomy_folder() -> str:
    """Memory where there is plenty: a server's thousand small files take seconds on a slow disk.

    Either is short enough for a socket's path, and another user can reach it.
    """
    with contextlib.suppress(OSError):
        if shutil.disk_usage("/dev/shm").free > 1 << 30 and os.access("/dev/shm", os.W_OK):
            return "/dev/shm"
    return "/tmp"


def _has_user(name: str) -> bool:
    import pwd

    with contextlib.suppress(KeyError):
        return bool(pwd.getpwnam(name))
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
