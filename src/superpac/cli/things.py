"""Reading photos, sounds and texts for a command: which encoder, what is set aside, how far."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Any

from superpac.cli import common
from superpac.errors import InputError

if TYPE_CHECKING:
    from superpac.data import Dataset
    from superpac.data.cuts import Cut

FUNCTIONS = "SUPERPAC_FEATURES"
"""Environment variable with the function that may make a kept session's vectors again."""

_NAMED = 3  # things set aside that are named one by one, and reasons for it


def read_items(what: str, *, in_full: bool = False, **options: Any) -> Dataset:
    """Read things and make vectors of them; what is chosen, where nothing is named, is said."""
    from superpac.cache import DiskCache
    from superpac.features.reading import read_encoded

    with (
        told_at_the_end(what, in_full=in_full) as aside,
        common.Stages() as stages,
        stages.stage("vectors") as progress,
    ):
        items = read_encoded(
            what,
            **options,
            cache=DiskCache(),
            progress=progress,
            aside=aside,
            tell=lambda choice: common.say(choice.why, stderr=True),
            tell_columns=lambda words: common.say(words, stderr=True),
        )
    if items.cuts is not None:
        _tell_faces(items.cuts)
    return items


@contextmanager
def told_at_the_end(what: str, *, in_full: bool = False) -> Iterator[Callable[[str, str], None]]:
    """Collect what is set aside; once all is read, count it in one line, or name it one by one."""
    aside: list[tuple[str, str]] = []
    yield lambda name, why: aside.append((name, why))
    if in_full:
        for name, why in aside:
            common.say(f"Set aside: {name}: {why}")
        if not aside:
            common.say("Nothing was set aside.")
    elif aside:
        how = f"superpac data show {quote(what)} --set-aside"
        common.say(f"Set aside: {_in_one_line(aside)}. Why in full: {how}", stderr=True)


def _in_one_line(aside: list[tuple[str, str]]) -> str:
    """Each by name and reason; where one reason holds for several, counted by reason."""
    by_reason: dict[str, list[str]] = {}
    for name, why in aside:
        by_reason.setdefault(_in_short(why), []).append(name)
    if len(by_reason) == len(aside):
        named = "; ".join(f"{names[0]} ({why})" for why, names in [*by_reason.items()][:_NAMED])
        return named + (f"; and {len(aside) - _NAMED} more" if len(aside) > _NAMED else "")
    often = sorted(by_reason.items(), key=lambda one: -len(one[1]))
    words = []
    for why, names in often[:_NAMED]:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        words.append(f"{len(names)}, {why} ({', '.join(names[:_NAMED])}{more})")
    rest = sum(len(names) for _, names in often[_NAMED:])
    return "; ".join(words) + (f"; and {rest} more" if rest else "")


def _in_short(why: str) -> str:
    """Reason without what is in brackets and without the remedy."""
    return re.split(r" \(|; ", why.rstrip("."))[0]


def _tell_faces(cuts: Sequence[Cut]) -> None:
    """Say how many faces there are, and how many pictures were taken whole."""
    whole = sum(not cut.points for cut in cuts)
    also = f"; {whole} small pictures in which none was found are taken whole" if whole else ""
    photos = len({cut.path for cut in cuts})
    common.say(f"Faces: {len(cuts)}, in {photos} photos{also}.", stderr=True)


def noted(features: str) -> str:
    """Encoder as a session notes it down: files by their full path."""
    from superpac.features.vectors_file import is_vectors_file

    prefix, sign, rest = features.partition(":")
    if prefix == "onnx" and sign:
        return f"onnx:{common.place_of(rest)}"
    return common.place_of(features) if is_vectors_file(features) else features


def check_trusted(features: str) -> str:
    """Refuse to run a function because a log names it: an archive may come from anybody."""
    from superpac.features.registry import encoder_names
    from superpac.features.vectors_file import is_vectors_file

    plain = features in encoder_names() or features.startswith("onnx:")
    if plain or is_vectors_file(features) or os.environ.get(FUNCTIONS) == features:
        return features
    if ":" not in features:
        raise InputError(
            f"The vectors of this session were made in Python by {features[:200]}; go on with it "
            "there, or begin a new session with the vectors as a file (--features FILE)."
        )
    raise InputError(
        f"The vectors of this session are made by {features[:200]}, which is only run when you "
        f"name it yourself; set {FUNCTIONS}={features[:200]} if you trust it."
    )
