"""Text from files and people, made fit for a page, a file or a terminal."""

from __future__ import annotations

import re
import unicodedata

_LONE = re.compile("[\ud800-\udfff]")
# A byte that is no UTF-8 reaches Python as one of U+DC80 to U+DCFF.
_ESCAPE = r"x[0-9a-f]{2}|ud[89a-f][0-9a-f]{2}"
_TO_ESCAPE = re.compile(rf"(\\+)(?=[\ud800-\udfff]|{_ESCAPE})|([\ud800-\udfff])")
_ESCAPED = re.compile(rf"(\\+)({_ESCAPE})")
_JOINERS = "\u200c\u200d"  # scripts and emoji need them, and they move nothing


def well_formed(text: str) -> str:
    r"""Write what is no valid Unicode as an escape; two different texts stay different.

    A file name may hold any bytes. Those that are no UTF-8 become ``\xe9``; a backslash before
    what looks like such an escape is doubled, so that `as_it_was` finds the name again.

    Examples
    --------
    >>> print(well_formed("caf\udce9.png"), well_formed("café.png"), well_formed(r"caf\xe9.png"))
    caf\xe9.png café.png caf\\xe9.png
    """

    def escape(found: re.Match[str]) -> str:
        slashes, lone = found.groups()
        if slashes:
            return str(slashes * 2)
        code = ord(lone)
        return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"

    return _TO_ESCAPE.sub(escape, text)


def as_it_was(text: str) -> str:
    r"""Undo `well_formed`.

    Examples
    --------
    >>> as_it_was(well_formed("caf\udce9.png")) == "caf\udce9.png"
    True
    """

    def restore(found: re.Match[str]) -> str:
        slashes, escape = found.groups()
        kept = "\\" * (len(slashes) // 2)
        if len(slashes) % 2 == 0:
            return kept + str(escape)
        code = int(escape[1:], 16)
        return kept + chr(code + 0xDC00 if escape[0] == "x" else code)

    return _ESCAPED.sub(restore, text)


def encodable(text: str) -> str:
    """Give text that any file and store can keep: as it is, but for what is no valid Unicode."""
    return well_formed(text) if _LONE.search(text) else text


def printable(text: str) -> str:
    r"""Write control characters as escapes, so that a terminal shows them and obeys none.

    Escape sequences, bells, line ends, and the marks that turn the direction of writing are
    covered; letters of all scripts stay.

    Examples
    --------
    >>> print(printable("a\x1b[2Jb\x07 \u202egnp.exe"), printable("café 猫"))
    a\x1b[2Jb\x07 \u202egnp.exe café 猫
    """
    if text.isprintable():
        return text
    return "".join(_shown(c) for c in text)


def _shown(character: str) -> str:
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    if not hidden or character in _JOINERS:
        return character
    if 0xDC80 <= ord(character) <= 0xDCFF:
        return well_formed(character)
    return character.encode("unicode_escape").decode()
