"""Which encoder to take where none was named, and why, in one sentence for the person."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from superpac.data.checks import reading
from superpac.data.image_files import eight_bit, opened, upright_size
from superpac.data.image_folder import SMALL
from superpac.data.things import Things
from superpac.errors import InputError
from superpac.features.base import PLURALS
from superpac.features.models import MODELS, is_here
from superpac.features.pixels import PixelFeatures
from superpac.features.registry import DEFAULTS
from superpac.system.optional import is_installed

_GREY = ("1", "L", "LA", "I", "F", "I;16", "I;16B", "I;16L")
_TINT = 16  # of 255: what saving a grey image as JPEG leaves between its channels


@dataclass(frozen=True)
class Choice:
    """An encoder's name, why it was chosen, and whether something better could be installed.

    Attributes
    ----------
    encoder : str
        As `superpac.features.make_encoder` takes it.
    why : str
        One line: which and why, and where something better is to be had, how.
    second_best : bool
        Whether another encoder would do better but is not here.
    as_they_are : bool
        Whether nothing is to be encoded: the pixels of the files are the vectors, at their size.
    """

    encoder: str
    why: str
    second_best: bool = False
    as_they_are: bool = False


def choose_encoder(things: Things) -> Choice:
    """Choose an encoder for things by what they are and what is installed.

    Parameters
    ----------
    things : Things
        Photos, texts or sounds.

    Returns
    -------
    Choice

    Raises
    ------
    InputError
        Where there is none: rows of a table, or sounds while the voice encoder is not here.

    Examples
    --------
    >>> choose_encoder(Things("text", texts=("a cat", "a dog"))).encoder in ("text", "text-plain")
    True
    """
    if things.kind == "image":
        return _for_images(things)
    if things.kind not in DEFAULTS:
        raise InputError(
            f"{things.source}: rows of a table have no encoder; leave --features out, or name a "
            "function of your own as module:function."
        )
    name = DEFAULTS[things.kind]
    if _ready(name):
        return Choice(name, _taken(name, f"since these are {PLURALS[things.kind]}"))
    if things.kind == "text":
        return Choice(
            "text-plain",
            "Vectors by the letters that texts share (text-plain), which are blind to meaning; for "
            f"English, fetch a better encoder with: {_how(name)}",
            second_best=True,
        )
    raise InputError(
        f"{things.source}: sounds need the encoder {name}, which is not here; fetch it with: "
        f"{_how(name)}"
    )


def _for_images(things: Things) -> Choice:
    why_not = _not_for_pixels(things)
    if not why_not:
        whole = Path(things.source).is_dir()  # a list is read by the encoder, which makes squares
        side = PixelFeatures().size
        how = "as they are" if whole else f"at {side} x {side}"
        return Choice(
            "pixels",
            f"Pixels {how}, since the images are small, grey and of one size; for photos, "
            f"name an encoder with --features {DEFAULTS['image']}.",
            as_they_are=whole,
        )
    if _ready("image"):
        return Choice("image", _taken("image", f"since these images are {why_not}"))
    return Choice(
        "pixels",
        f"Pixels, which will hardly do for photos (these are {why_not}); a better encoder is "
        f"installed with: {_how('image')}",
        second_best=True,
    )


def _not_for_pixels(things: Things) -> str:
    """Say what keeps pixels from being compared place by place; nothing where they can be.

    Headers alone are read of images that are grey by their format, and all of small ones that may
    have colours, up to the first that has.
    """
    first: tuple[int, int] | None = None
    for path in things.paths or ():
        with opened(path) as image, reading(path, "an image"):
            size = upright_size(image)
            if first is not None and size != first:
                return "of several sizes"
            if max(size) > SMALL:
                return f"larger than {SMALL} x {SMALL} pixels"
            if image.mode not in _GREY and _has_colour(image):
                return "in colour"
        first = size
    return ""


def _has_colour(image: Image.Image) -> bool:
    """Whether the channels of an image differ by more than rounding, however it is stored."""
    channels = np.asarray(eight_bit(image, grey=False)).astype(np.int16)
    return bool((channels.max(axis=2) - channels.min(axis=2)).max(initial=0) > _TINT)


def _taken(name: str, why: str) -> str:
    return f"Vectors by the encoder {name} ({MODELS[name].title}), {why}."


def _ready(name: str) -> bool:
    """Whether an encoder would run now: its weights and the libraries that it needs."""
    return is_installed("features") and is_here(MODELS[name])


def _how(name: str) -> str:
    """Commands that bring an encoder here."""
    install = 'pip install "superpac[features]"'
    if MODELS[name].in_extra:
        return install
    get = f"superpac features get {name}"
    return get if is_installed("features") else f"{install} && {get}"
