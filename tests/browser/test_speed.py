"""From a key press to the next pair painted, in the browser, on 9,298 handwritten digits."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from playwright.sync_api import Page

from labelling import LabelServer, Person, crowding
from superpac.data import load

ANSWERS, ROUNDS = 30, 3
LIMIT_MS = float(os.environ.get("SUPERPAC_PAINT_MS", "100"))


@pytest.mark.realdata
@pytest.mark.slow
def test_the_next_pair_is_there_within_a_tenth_of_a_second(
    tmp_path, need_data, page: Page, request
):
    need_data("usps")
    truth = load("usps").y
    server = LabelServer(tmp_path, "usps", k=10)
    request.addfinalizer(server.stop)
    page.goto(server.url)
    page.wait_for_selector("#ask:not([hidden]) #stage .card", timeout=240_000)
    person = Person(page, truth)
    best = {"p95": np.inf, "limit": LIMIT_MS}
    for _ in range(ROUNDS):
        page.evaluate("() => performance.clearMeasures()")
        for _ in range(ANSWERS):
            page.wait_for_timeout(560)  # with the pause in press: a quick person, 0.7 s a pair
            person.press(person.right())
        page.wait_for_timeout(300)
        times = page.evaluate(
            "() => performance.getEntriesByName('answer-to-paint').map((e) => e.duration)"
        )
        assert len(times) == ANSWERS
        limit = LIMIT_MS * crowding()
        found = {f"p{q}": round(float(np.percentile(times, q)), 1) for q in (50, 95, 100)}
        found["limit"] = round(limit, 1)
        print(json.dumps(found))
        best = min(best, found, key=lambda f: f["p95"] / f["limit"])
        if best["p95"] < best["limit"]:
            break
    late = sum(bool((e.body.get("why") or {}).get("late")) for e in server.events())
    print(json.dumps({**best, "late": late}))
    assert best["p95"] < best["limit"]
