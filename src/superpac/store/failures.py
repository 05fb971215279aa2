"""What went wrong in the database, in one sentence and with an HTTP status."""

from __future__ import annotations

import errno
import os
import sqlite3

from superpac.errors import StoreError


class StoreFailure(StoreError):
    """The store could not be read or written just now.

    Parameters
    ----------
    message : str
        One sentence for a person.
    status : int
        HTTP status that says the same: 507 full, 503 locked or out of reach, 500 damaged.
    retryable : bool
        Whether the same request, with the same key, may succeed later.
    """

    def __init__(self, message: str, *, status: int = 500, retryable: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.retryable = retryable


def full(where: str) -> StoreFailure:
    """No space left."""
    return StoreFailure(
        f"The disk of {where} is full, so this was not saved; free some space and send it again.",
        status=507,
        retryable=True,
    )


def busy(where: str) -> StoreFailure:
    """Somebody else holds a lock."""
    return StoreFailure(
        f"{where} is locked by another program, so this was not saved; send it again in a moment.",
        status=503,
        retryable=True,
    )


def unreachable(where: str, reason: str) -> StoreFailure:
    """The database server does not answer."""
    return StoreFailure(
        f"{where} does not answer ({reason}); check that it runs, then send this again.",
        status=503,
        retryable=True,
    )


def broken(where: str, reason: str) -> StoreFailure:
    """The content is damaged."""
    return StoreFailure(
        f"{where} is damaged ({reason}); restore it from a backup or import an archive."
    )


def unwritable(folder: str, error: BaseException) -> StoreFailure:
    """A file cannot be written in a folder, whatever is in it already."""
    full_disk = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or (
        getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
    )
    reason = getattr(error, "strerror", None) or " ".join(str(error).split())
    return StoreFailure(
        f"{folder} cannot be written ({reason}), so nothing was kept; "
        "free some space or make it writable, or name another folder.",
        status=507 if full_disk else 503,
    )


def vanished(where: str) -> StoreFailure:
    """The file was removed or replaced while it was open."""
    return StoreFailure(
        f"{where} was moved or removed while it was open, so this was not saved; "
        "put the file back or start again, no new file was made.",
        status=503,
        retryable=True,
    )


def crowded(where: str) -> StoreFailure:
    """As many files and connections are open as this process, or the computer, may have."""
    return StoreFailure(
        f"Too many files and connections are open to reach {where}, so this was not saved; "
        "send it again in a moment.",
        status=503,
        retryable=True,
    )


def taken_over(where: str, lock: str) -> StoreFailure:
    """The lock is not ours any more, so somebody else may be writing."""
    return StoreFailure(
        f"{lock} was removed or replaced, so another superpac may be writing to {where}: this one "
        "saves nothing more and stops; go on with the other, or start this one again.",
        status=503,
    )


def is_crowded(error: BaseException | None) -> bool:
    """Whether a system's error says that too many files are open."""
    return isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)


def from_system(error: OSError, message: str) -> StoreFailure:
    """Translate an error of the operating system; the message is for all that is no crowd."""
    if is_crowded(error):
        return crowded(str(error.filename or "the store"))
    return StoreFailure(message, status=503)


def _no_handle_left() -> bool:
    """Whether nothing can be opened just now; SQLite does not say why it could not open a file."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return is_crowded(error)
    return False


def from_sqlite(error: BaseException | None, where: str) -> StoreFailure:
    """Translate an error of the sqlite3 module."""
    text = " ".join(str(error).split())
    # Extended codes carry the primary one in their low byte.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return busy(where)
    if code == sqlite3.SQLITE_FULL:
        return full(where)
    if code == sqlite3.SQLITE_CANTOPEN and _no_handle_left():
        return crowded(where)
    if code == sqlite3.SQLITE_IOERR:
        return StoreFailure(
            f"The disk of {where} reported an error ({text}), so this was not saved; "
            "check the disk and send it again.",
            status=503,
            retryable=True,
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreFailure(
            f"{where} or its folder cannot be written ({text}); "
            "make both writable, or name another file.",
            status=503,
        )
    if code == sqlite3.SQLITE_NOTADB:
        return StoreFailure(f"{where} is not a superpac store; name another file.")
    return broken(where, text or type(error).__name__)


def from_postgres(error: BaseException | None, where: str) -> StoreFailure:
    """Translate an error of psycopg; one with no SQLSTATE comes from the connection itself."""
    state = getattr(error, "sqlstate", None) or ""
    text = " ".join(str(error).split())[:200]
    if state == "53100":
        return full(where)
    if state in ("55P03", "57014", "40001", "40P01"):
        return busy(where)
    if refused(error):
        return StoreFailure(f"{where} refused the connection ({text}); check user and database.")
    if disconnected(error):
        return unreachable(where, text)
    if state == "42501":
        return StoreFailure(f"{where} does not let this user do that ({text}); ask for the rights.")
    return broken(where, text)


def refused(error: BaseException | None) -> bool:
    """Whether the server answered and said no: a wrong password or name, which no retry mends."""
    state, text = getattr(error, "sqlstate", None), str(error)
    if state:
        return str(state)[:2] in ("28", "3D")
    said = ("authentication failed", "no pg_hba.conf entry", "does not exist", "not permitted")
    return any(words in text for words in said)


def disconnected(error: BaseException | None) -> bool:
    """Whether the connection was lost or could not be made, so that trying again makes sense."""
    state = getattr(error, "sqlstate", None)
    if state:
        return state[:2] == "08" or state in ("57P01", "57P02", "57P03", "57P05", "53300", "25P03")
    # Without a code it is the client library speaking; these two kinds are about the connection.
    kinds = {base.__name__ for base in type(error).__mro__}
    return bool(kinds & {"OperationalError", "InterfaceError"}) and not refused(error)
