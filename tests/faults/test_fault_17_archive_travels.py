"""Fault 17: a session exported and imported elsewhere has the same log to the last byte."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from superpac.answers.log import Draft
from superpac.session.spec import Spec
from superpac.store import new_info, open_store


def test_an_archive_travels_between_back_ends_unchanged(
    memory_folder: Path, postgres_server, fault_count: Callable[[int, int], int]
) -> None:
    draw = random.Random(17)
    with (
        open_store(memory_folder / "a.sqlite3") as first,
        open_store(postgres_server.database()) as second,
        open_store(memory_folder / "b.sqlite3") as third,
    ):
        for n in range(fault_count(5, 50)):
            log = first.create(
                new_info(
                    f"s{n}", fingerprint="f", n_items=10**6, spec=Spec(3, "é", seed=n).to_dict()
                )
            )
            for _ in range(draw.randrange(4)):
                log.append_many(
                    [
                        Draft(
                            "answer",
                            {
                                "i": draw.randrange(10**5),
                                "j": 10**5 + draw.randrange(10**5),
                                "answer": draw.choice(["same", "different", "unsure"]),
                                "why": {
                                    "margin": draw.random(),
                                    "text": chr(draw.randrange(1, 9999)),
                                },
                            },
                            draw.choice(["", "Zoë", "李", "a\"'\\"]),
                            None,
                            draw.choice([None, 0, draw.randrange(10**6)]),
                        )
                        for _ in range(draw.randrange(1, 30))
                    ]
                )
            one = first.export_archive(f"s{n}", memory_folder / f"{n}-1.zip")
            moved = second.import_archive(one)
            two = second.export_archive(f"s{n}", memory_folder / f"{n}-2.zip")
            back = third.import_archive(two)
            assert one.read_bytes() == two.read_bytes()
            assert log.head() == moved.head() == back.head()
            assert log.events() == moved.events() == back.events()
            assert second.verify(f"s{n}") == third.verify(f"s{n}") == log.head()
