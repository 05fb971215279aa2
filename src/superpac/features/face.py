"""Faces as vectors: who it is, whatever the pose and the light."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from superpac.cache import DiskCache
from superpac.data.cuts import Cut
from superpac.data.things import Things
from superpac.errors import DataError
from superpac.features.base import digest, unit
from superpac.features.faces import NONE, FaceFinder, Photo, find_faces
from superpac.features.photo import photo_file
from superpac.features.published_network import PublishedNetwork
from superpac.system.progress import Progress, no_progress


class FaceFeatures(PublishedNetwork):
    """Who a face is, as 128 numbers: dlib's face network.

    As a transformer it takes photos and gives one vector for each, that of the widest face in it.
    Where photos show several people, `superpac.features.find_faces` makes one thing of each face
    first, and so do `superpac.features.encode` and the command line.

    Parameters
    ----------
    n_jobs : int or None
        Threads; None or -1 uses all cores.

    References
    ----------
    D. E. King, "Dlib-ml: A Machine Learning Toolkit", JMLR 10, 2009.

    Examples
    --------
    >>> FaceFeatures().dimension
    128
    """

    kind: ClassVar[str] = "image"
    model_name: ClassVar[str] = "face"

    @property
    def fingerprint(self) -> str:
        """Hash of all that vectors depend on."""
        finder = FaceFinder().fingerprint
        return digest(encoder="face", revision=1, model=self._model.fingerprint, finder=finder)

    def parts_of(
        self,
        things: Things,
        *,
        cache: DiskCache | None = None,
        progress: Progress = no_progress,
    ) -> Things:
        """Give the faces in photos, one thing for each; see `find_faces`."""
        self._things(things)  # the wrong kind is told as by every encoder
        return find_faces(things, cache=cache, progress=progress, n_jobs=self.n_jobs)

    @cached_property
    def _finder(self) -> FaceFinder:
        return FaceFinder()

    def _prepare(self) -> None:
        self._network, self._finder.network  # noqa: B018

    def _encode(self, batch: Sequence[Path | Cut]) -> NDArray:
        photos = {path: Photo(path) for path in dict.fromkeys(map(photo_file, batch))}
        rows = []
        for member in batch:
            points = member.points if isinstance(member, Cut) else self._widest(member)
            face = photos[photo_file(member)].straight(points).transpose(2, 0, 1)[None]
            # one at a time, no slower: the last bits of a vector do not depend on the others
            given = np.ascontiguousarray(face, dtype=np.float32)
            rows.append(self._network.run(None, {"faces": given})[0][0])
        return unit(np.stack(rows))

    def _widest(self, path: Path) -> tuple[tuple[float, float], ...]:
        """Points of the widest face of a photo, small and blurred ones counted."""
        found = self._finder.find(path)
        if not found:
            raise DataError(f"{path}: {NONE}; leave it out.")
        return max(found, key=lambda face: face.box[2]).points
