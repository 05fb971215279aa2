"""One trial of one method, written down completely, and the seeds that follow from its name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any


def seed_of(*parts: str | int) -> int:
    """Seed by hashing, so that adding a method or a trial changes no other run.

    Parameters
    ----------
    *parts : str or int
        For example figure, method and trial.

    Returns
    -------
    int
        Below 2**31, which every generator takes.

    Examples
    --------
    >>> seed_of("sonar", "superpac", 0) == seed_of("sonar", "superpac", 0)
    True
    >>> seed_of("sonar", "superpac", 0) == seed_of("sonar", "superpac", 1)
    False
    """
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(sha256(text.encode()).digest()[:4], "big") >> 1


@dataclass(frozen=True)
class Task:
    """Everything that determines one trial of one method.

    The fields are those of :class:`~superpac.research.figure_specs.Panel` and
    :class:`~superpac.research.figure_specs.Line`, resolved.

    Examples
    --------
    >>> task = Task("sonar", "sonar", "superpac", 0, data="sonar", strategy="superpac")
    >>> Task.from_dict(task.to_dict()) == task
    True
    """

    figure: str
    panel: str
    method: str
    trial: int
    kind: str = "session"
    data: str = ""
    classes: int = 0
    per_class: int = 0
    standardise: bool = False
    affinity: str = ""
    dim: int = 0
    clusters_times: float = 1.0
    strategy: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    wrong: float = 0.0
    questions: int = 0
    stop: str = "budget"
    limit_s: float = 0.0
    unit_rows: bool | None = None
    every: int = 1

    @property
    def seed(self) -> int:
        """Seed of the method: from (figure, method, trial)."""
        return seed_of(f"{self.figure}/{self.panel}", self.method, self.trial)

    @property
    def data_seed(self) -> int:
        """Seed of the points drawn: the same for all methods, so that they compare.

        It derives from the kind of subset and the trial alone, so that an affinity serves every
        figure that shows the same points.
        """
        return seed_of("data", self.data, self.classes, self.per_class, self.trial)

    @property
    def key(self) -> str:
        """Fingerprint of all but the time allowed: a trial with the same key is the same trial."""
        plain = self.to_dict()
        del plain["limit_s"]
        if self.unit_rows is None:  # a method to which it makes no difference
            del plain["unit_rows"]
        if self.every == 1:  # as before trials could measure less often
            del plain["every"]
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
        return sha256(text.encode()).hexdigest()[:24]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {**asdict(self), "options": dict(self.options)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Task:
        """Build a task from :meth:`to_dict`."""
        return cls(**plain)
