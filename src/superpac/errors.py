"""Every error a user can cause. A message says what was given, what is allowed and what to do."""

from __future__ import annotations


class SuperpacError(Exception):
    """Base of every error that superpac raises on purpose; its text is fit to show to a person."""


class InputError(SuperpacError, ValueError):
    """A value that was given is not allowed."""


class DataError(InputError):
    """A data file or array cannot be used as it is."""


class NotFoundError(SuperpacError, LookupError):
    """Something that was named does not exist (a data set, a session, a question)."""


class StoreError(SuperpacError):
    """The answers log cannot be read or written.

    Attributes
    ----------
    status : int
        The HTTP status that fits: 507 full, 503 locked or out of reach, 500 otherwise.
    retryable : bool
        Whether sending the same thing again may work.
    """

    status: int = 500
    retryable: bool = False


class ConflictError(SuperpacError):
    """An answer was given to a question that is no longer the current one."""


class NotReadyError(SuperpacError):
    """Something is still being computed, or others have it: the same request may work later."""


class ContradictionError(SuperpacError):
    """An answer contradicts earlier ones.

    Parameters
    ----------
    message : str
        The sentence shown to the person, with the chain of answers spelled out.
    chain : tuple of int
        Sequence numbers of the earlier answers that together imply the opposite.
    """

    def __init__(self, message: str, chain: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.chain = chain


class DisconnectedGraphWarning(UserWarning):
    """The affinity graph falls into more connected components than there are clusters."""
