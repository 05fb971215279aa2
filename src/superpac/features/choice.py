"""Which encoder to take where none was named, and why, in one sentence for the person."""

from __future__ import annotations

from dataclasses import dataclass

from superpac.data.checks import reading
from superpac.data.image_files import opened, upright_size
from superpac.data.things import Things
from superpac.errors import InputError
from superpac.features.models import MODELS, is_here
from superpac.features.registry import DEFAULTS
from superpac.system.optional import is_installed

SMALL = 64
_GREY = ("1", "L", "LA", "I", "F", "I;16", "I;16B", "I;16L")


@dataclass(frozen=True)
class Choice:
    """An encoder's name, why it was chosen, and whether something better could be installed.

    Attributes
    ----------
    encoder : str
        As `superpac.features.make_encoder` takes it.
    why : str
        One sentence, or two where something is to be installed.
    second_best : bool
        Whether another encoder would do better but is not here.
    """

    encoder: str
    why: str
    second_best: bool = False


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
        model = MODELS[name]
        return Choice(name, f"Vectors by the encoder {name}: {model.title}.")
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
    if _small_and_grey(things):
        return Choice(
            "pixels",
            f"Pixels as they are, since the images are small, grey and of one size; for photos, "
            f"name an encoder with --features {DEFAULTS['image']}.",
        )
    if _ready("image"):
        return Choice("image", f"Vectors by the encoder image: {MODELS['image'].title}.")
    return Choice(
        "pixels",
        f"Pixels, which will hardly do for photos; a better encoder is installed with: "
        f"{_how('image')}",
        second_best=True,
    )


def _small_and_grey(things: Things) -> bool:
    """Whether all images are grey, of one size and at most 64 x 64; headers alone are read."""
    sizes = set()
    for path in things.paths or ():
        with opened(path) as image, reading(path, "an image"):
            if image.mode not in _GREY:
                return False
            sizes.add(upright_size(image))
        if len(sizes) > 1 or max(next(iter(sizes))) > SMALL:
            return False
    return bool(sizes)


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
