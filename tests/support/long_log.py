"""A store with one long session in it."""

from __future__ import annotations

from pathlib import Path

from superpac.answers.log import Draft
from superpac.store import new_info, open_store


def write_long_log(path: Path, total: int, at_a_time: int = 10_000) -> None:
    """Make a store whose session "x" has so many answers."""
    with open_store(path) as store:
        log = store.create(new_info("x", fingerprint="f", n_items=2 * total))
        for start in range(0, total, at_a_time):
            log.append_many(
                [
                    Draft(
                        "answer",
                        {"i": n, "j": n + 1, "answer": "same", "why": {"margin": n / total}},
                        "annotator",
                        None,
                        1200,
                    )
                    for n in range(start, start + at_a_time)
                ]
            )
