"""Only a few lines of a kind are written, and what was left out is counted."""

from __future__ import annotations

import logging

from superpac.web.quiet_log import KINDS, NAMES, FewOfAKind, quieten


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def logger_of(few: int, span: float, clock: Clock) -> tuple[logging.Logger, list[str]]:
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    logger = logging.Logger("of this test")
    logger.addFilter(FewOfAKind(few, span, clock))
    logger.addHandler(Keep())
    return logger, lines


def test_a_few_of_each_kind_are_written_in_each_span():
    clock = Clock()
    logger, lines = logger_of(3, 10.0, clock)
    for n in range(50):
        logger.error("No room for %s", n)
    logger.error("Something else\nwith a second line %d", 1)
    assert lines[:3] == [f"No room for {n}" for n in range(3)]
    (other,) = lines[3:]
    assert other.startswith("Something else")
    clock.now = 10.0
    logger.error("No room for %s", "%s")
    assert lines[-1] == "No room for %s (47 more like it were not written)"
    logger.error("No room for %s", 99)
    assert lines[-1] == "No room for 99"
    clock.now = 100.0
    logger.error("No room for %s", 100)
    assert lines[-1] == "No room for 100"


def test_what_is_remembered_is_bounded():
    quiet = FewOfAKind(1, 1e9, Clock())
    for n in range(3 * KINDS):
        assert quiet.filter(logging.makeLogRecord({"name": "x", "msg": f"kind {n}"}))
    assert len(quiet._seen) == KINDS


def test_the_loggers_that_requests_make_speak_are_quietened_once():
    for _ in range(3):
        quieten()
    for name in NAMES:
        found = [f for f in logging.getLogger(name).filters if isinstance(f, FewOfAKind)]
        assert len(found) == 1
