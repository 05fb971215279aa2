"""Text of any kind becomes text that can be kept and shown, and names stay apart."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from superpac.system.safe_text import as_it_was, encodable, printable, well_formed

TEXT = st.text(st.characters(exclude_categories=[]))
LIKE_ESCAPES = st.lists(
    st.sampled_from(["\\", "x", "e9", "\udce9", "\ud812", "u", "d812", "é", "a"])
).map("".join)


@given(st.one_of(TEXT, LIKE_ESCAPES))
def test_a_name_is_found_again_from_what_is_shown(text):
    shown = well_formed(text)
    shown.encode()
    assert as_it_was(shown) == text


@given(st.one_of(TEXT, LIKE_ESCAPES))
def test_valid_text_is_kept_as_it_is(text):
    kept = encodable(text)
    kept.encode()
    assert encodable(kept) == kept
    if not any(unicodedata.category(c) == "Cs" for c in text):
        assert kept == text


@given(TEXT)
def test_nothing_shown_controls_a_terminal(text):
    shown = printable(text)
    shown.encode()
    assert printable(shown) == shown
    kinds = {unicodedata.category(c) for c in shown if c not in "\u200c\u200d"}
    assert kinds.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})
    assert printable("café 猫 עברית 👩\u200d🔬") == "café 猫 עברית 👩\u200d🔬"
