"""Things to vectors: photos, sentences and voices as points that clustering can work with.

An encoder is a scikit-learn transformer, so ``make_pipeline(ImageFeatures(), TSC(20))`` takes a
list of photos. Its library is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from superpac.features.base import Encoder
    from superpac.features.encoding import encode
    from superpac.features.face import FaceFeatures
    from superpac.features.faces import find_faces
    from superpac.features.image import ImageFeatures
    from superpac.features.pixels import PixelFeatures
    from superpac.features.registry import make_encoder
    from superpac.features.speaker import SpeakerFeatures
    from superpac.features.text import TextFeatures
    from superpac.features.text_plain import PlainTextFeatures

_HOMES = {
    "Encoder": "base",
    "FaceFeatures": "face",
    "ImageFeatures": "image",
    "PixelFeatures": "pixels",
    "PlainTextFeatures": "text_plain",
    "SpeakerFeatures": "speaker",
    "TextFeatures": "text",
    "encode": "encoding",
    "find_faces": "faces",
    "make_encoder": "registry",
}

__all__ = [
    "Encoder",
    "FaceFeatures",
    "ImageFeatures",
    "PixelFeatures",
    "PlainTextFeatures",
    "SpeakerFeatures",
    "TextFeatures",
    "encode",
    "find_faces",
    "make_encoder",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'superpac.features' has no attribute {name!r}")
    return getattr(import_module(f"superpac.features.{_HOMES[name]}"), name)
