"""Encoders by name: from a short text such as ``"image"`` or ``"onnx:net.onnx"`` to an encoder."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from superpac.errors import InputError
from superpac.features.base import Encoder
from superpac.system.named_function import load_function

# name -> where the class is, and what it is for; imported when it is asked for
ENCODERS = {
    "image": ("image:ImageFeatures", "photos of things"),
    "face": ("face:FaceFeatures", "people, by the faces in photos"),
    "text": ("text:TextFeatures", "sentences, in English"),
    "text-plain": ("text_plain:PlainTextFeatures", "texts in any language, nothing to fetch"),
    "speaker": ("speaker:SpeakerFeatures", "who is speaking"),
    "pixels": ("pixels:PixelFeatures", "small, grey, aligned images"),
}
PREFIXES = {
    "onnx": ("onnx_encoder:OnnxFeatures", "onnx:FILE"),
    "timm": ("hubs:TimmFeatures", "timm:NAME"),
    "sentence": ("hubs:SentenceFeatures", "sentence:NAME"),
}
DEFAULTS = {"image": "image", "text": "text", "sound": "speaker"}
"""Encoder that is taken for a kind of things where none is named."""

_FUNCTION = re.compile(r"(.+\.py|[^\W\d]\w*(\.[^\W\d]\w*)*):[^\W\d]\w*")


def encoder_names() -> list[str]:
    """Names of the encoders that come with superpac.

    Examples
    --------
    >>> encoder_names()[:2]
    ['image', 'face']
    """
    return list(ENCODERS)


def make_encoder(what: Any, *, kind: str | None = None, n_jobs: int | None = None) -> Any:
    """Give the encoder that a text stands for.

    Parameters
    ----------
    what : str or transformer
        A name (``"image"``, ``"face"``, ``"text"``, ``"text-plain"``, ``"speaker"``, ``"pixels"``),
        ``"onnx:FILE"``, ``"timm:NAME"``, ``"sentence:NAME"``, ``"module:function"``, or any
        scikit-learn transformer, which is given back.
    kind : {"image", "text", "sound"}, optional
        What the things are; only a function of one's own needs to be told.
    n_jobs : int or None
        Threads; None or -1 uses all cores.

    Returns
    -------
    Encoder

    Raises
    ------
    InputError
        For anything else; the sentence lists what is allowed.

    Examples
    --------
    >>> make_encoder("pixels")
    PixelFeatures()
    >>> make_encoder("magic")
    Traceback (most recent call last):
    superpac.errors.InputError: An encoder must be one of image, face, ...; got 'magic'.
    """
    if isinstance(what, Encoder) or hasattr(what, "transform"):
        return what
    if not isinstance(what, str):
        raise _unknown(type(what).__name__)
    text = what.strip()
    if text in ENCODERS:
        return _class(ENCODERS[text][0])(n_jobs=n_jobs)
    prefix, _, rest = text.partition(":")
    if prefix in PREFIXES and rest:
        return _class(PREFIXES[prefix][0])(rest, n_jobs=n_jobs)
    if _FUNCTION.fullmatch(text) and prefix not in PREFIXES:
        from superpac.features.own_function import FunctionFeatures

        load_function(text)  # a misspelt name is told before files are read
        return FunctionFeatures(text, kind=kind or "image")
    raise _unknown(repr(text[:80]))


def _class(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(f"superpac.features.{module}"), name)


def _unknown(got: str) -> InputError:
    forms = ", ".join(form for _, form in PREFIXES.values())
    return InputError(
        f"An encoder must be one of {', '.join(ENCODERS)}, {forms} or module:function; got {got}."
    )
