"""Reading photos, sounds and texts for a command: which encoder, what is set aside, how far."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from superpac.cli import common
from superpac.errors import InputError

if TYPE_CHECKING:
    from superpac.data import Dataset

FUNCTIONS = "SUPERPAC_FEATURES"
"""Environment variable with the function that may make a kept session's vectors again."""

_NAMED = 3  # things set aside that are named one by one


def read_encoded(
    what: str, *, features: str | None, text: str | None, labels: str | None, ids: str | None
) -> Dataset:
    """Read things and make vectors of them, or take those that a file holds."""
    from superpac.cache import DiskCache
    from superpac.data.things import read_things
    from superpac.features import encode
    from superpac.features.choice import choose_encoder
    from superpac.features.vectors_file import is_vectors_file, put_vectors

    aside: list[tuple[str, str]] = []
    with common.Stages() as stages:
        with stages.stage("read"):
            things = read_things(what, labels=labels, ids=ids, text=text)
        aside += things.set_aside
        if features is not None and is_vectors_file(features):
            items = put_vectors(things, features)
        else:
            if features is None:
                choice = choose_encoder(things)
                features = choice.encoder
                common.say(choice.why, stderr=True)
            with stages.stage("vectors") as progress:
                items = encode(
                    things,
                    features,
                    cache=DiskCache(),
                    progress=progress,
                    aside=lambda name, why: aside.append((name, why)),
                )
    _tell(aside)
    return items


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
    raise InputError(
        f"The vectors of this session are made by {features[:200]}, which is only run when you "
        f"name it yourself; set {FUNCTIONS}={features[:200]} if you trust it."
    )


def holds_sounds(what: str) -> bool:
    """Whether a folder holds sounds, of which only an encoder makes points, as names tell."""
    from superpac.data import folder_files, image_files, sound_files

    path = Path(what).expanduser()
    if not os.path.isdir(path):
        return False
    found = [file.suffix.lower() for file in folder_files.files_below(path)]
    sounds = sum(suffix in sound_files.SUFFIXES for suffix in found)
    return sounds > sum(suffix in image_files.raster_suffixes() for suffix in found)


def _tell(aside: list[tuple[str, str]]) -> None:
    for name, why in aside[:_NAMED]:
        common.say(f"Set aside: {name}: {why}", stderr=True)
    if len(aside) > _NAMED:
        common.say(f"Set aside: {len(aside) - _NAMED} more.", stderr=True)
