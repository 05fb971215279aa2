"""Photos to faces: where they are, how each is set straight, and which are of no use.

A photo may hold several faces, so an album becomes one item for each of them (`find_faces`). What
a network finds in a photo is kept by the content of its file, as vectors are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from superpac.cache import DiskCache
from superpac.data.cuts import Box, Cut
from superpac.data.image_files import opened, upright_size
from superpac.data.things import Things
from superpac.errors import DataError, InputError, NotFoundError
from superpac.features.base import cores, digest, members_of, run_parts
from superpac.features.models import MODELS, kept_file, load_network
from superpac.features.onnx_encoder import open_network
from superpac.features.photo import open_photo
from superpac.features.shelves import Shelves, content_marks, why
from superpac.features.weights.centerface import MULTIPLE, STRIDE
from superpac.features.weights.dlib_face import SIZE
from superpac.system.progress import Progress, no_progress

TOO_SMALL = "the face is too small"
BLURRED = "the face is blurred"
NONE = "no face was found in it"

# Longest side of a photo as the network sees it: a face of a fiftieth of it is found.
_LARGEST, _SMALLEST = 1024, 160
_SURE = 0.5  # how sure the network must be
_OVERLAP = 0.3  # share of two boxes in common from which on they are one face

# Of 321 faces in the wild 0.3% have a nearest neighbour of another person; made 24 pixels wide it
# is 1.6%, made 20 wide 5%.
_NARROWEST = 24
# Of the same faces blurred by 2 of 112 pixels 2.5% err, and 7% have less detail than this; by 3
# pixels 16 and 62%, by 4 pixels 46 and 94%. Of those as they are none has.
_LEAST_DETAIL = 0.08
_COARSE = 16

_CROP = 256  # longest side of a picture that may be one face, cut out by somebody before
_CROP_SHAPE = 1.5

# Where the eyes, the nose and the corners of the mouth of an average face are, as dlib's network
# was trained: brows at the top and chin at the bottom of a unit square.
_AVERAGE = np.array(
    [[0.2273, 0.2214], [0.7528, 0.2212], [0.4901, 0.5156], [0.2541, 0.7802], [0.7261, 0.7802]]
)
_PADDING = 0.25
_REDUCED = (8, 4, 2, 1)


class Face(NamedTuple):
    """One face of a photo, in pixels of the photo as it stands upright.

    Attributes
    ----------
    box : (int, int, int, int)
        Left, top, width and height.
    points : tuple of (float, float)
        Eyes, nose, corners of the mouth; none where the picture as a whole counts as a face.
    size : (int, int)
        Width and height of the photo.
    fault : str
        Why it is of no use; empty where it is.
    """

    box: Box
    points: tuple[tuple[float, float], ...]
    size: tuple[int, int]
    fault: str = ""


class FaceFinder:
    """Finds the faces in photos.

    Examples
    --------
    >>> FaceFinder().fingerprint == FaceFinder().fingerprint
    True
    """

    @property
    def fingerprint(self) -> str:
        """Hash of all that the faces depend on."""
        return digest(
            finder="face",
            revision=1,
            model=MODELS["face-finder"].fingerprint,
            sizes=[_LARGEST, _SMALLEST, _SURE, _OVERLAP, _NARROWEST, _LEAST_DETAIL, _CROP],
        )

    @cached_property
    def network(self) -> Any:
        """The network, loaded when it is first needed."""
        model = MODELS["face-finder"]
        return open_network(load_network(model), kept_file(model))

    def find(self, path: Path) -> list[Face]:
        """Find the faces of a photo, from left to right.

        A small picture that one face fills is that face's; one in which none is found counts as a
        face as a whole, since somebody may have cut it out before.

        Parameters
        ----------
        path : Path
            Without links in any part of it.

        Raises
        ------
        DataError
            Where it cannot be read.
        """
        photo = Photo(path)
        found = self._look(photo)
        width, height = photo.size
        if max(photo.size) <= _CROP:
            if not found and max(photo.size) <= _CROP_SHAPE * min(photo.size):
                return [Face((0, 0, width, height), (), photo.size)]
            largest = max(found, key=lambda face: face.box[2], default=None)
            if largest is not None and 2 * largest.box[2] >= width:
                found = [largest]
        judged = [face._replace(fault=_fault(photo, face)) for face in found]
        return sorted(judged, key=lambda face: face.box)

    def _look(self, photo: Photo) -> list[Face]:
        """What the network sees, each face once."""
        least = _LARGEST
        reduced = next(r for r in _REDUCED if r == 1 or min(photo.size) // r >= least)
        image = photo.at(reduced)
        factor = min(max(max(photo.size), _SMALLEST), _LARGEST) / max(photo.size)
        width, height = (max(1, round(side * factor)) for side in photo.size)
        drawn = image.resize((width, height), Image.Resampling.BILINEAR, reducing_gap=2.0)
        rows, columns = (-(-side // MULTIPLE) * MULTIPLE for side in (height, width))
        canvas = np.zeros((1, 3, rows, columns), dtype=np.float32)
        canvas[0, :, :height, :width] = np.asarray(drawn).transpose(2, 0, 1)
        maps = self.network.run(["heat", "sizes", "shifts", "points"], {"photos": canvas})
        boxes, points = decode(*(each[0] for each in maps))
        across, down = width / photo.size[0], height / photo.size[1]
        faces = []
        for box, marks in zip(boxes, points, strict=True):
            sides = box / (across, down, across, down)
            left, top = (max(0, int(v)) for v in np.floor(sides[:2]))
            right, bottom = (int(v) for v in np.minimum(np.ceil(sides[2:]), photo.size))
            if right > left and bottom > top:
                straight = (marks / (across, down)).astype(float).round(2).tolist()
                where = (left, top, right - left, bottom - top)
                faces.append(Face(where, tuple((x, y) for x, y in straight), photo.size))
        return faces


class Photo:
    """A photo that is decoded as large as it is needed, and once for each size.

    Parameters
    ----------
    path : Path
        Without links in any part of it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with opened(path) as image:
            height, width = upright_size(image)
        self.size = width, height
        self._decoded: dict[int, Image.Image] = {}

    def at(self, reduced: int) -> Image.Image:
        """Upright and in RGB, a half, a quarter or an eighth of its size where its format can."""
        if reduced not in self._decoded:
            with open_photo(self.path, max(1, min(self.size) // reduced)) as image:
                decoded = image.copy()
            whole = decoded.size == self.size
            self._decoded |= dict.fromkeys(_REDUCED if whole else (reduced,), decoded)
        return self._decoded[reduced]

    def straight(self, points: Sequence[tuple[float, float]]) -> NDArray[np.uint8]:
        """A face turned upright and brought to the size and place that the network expects.

        Parameters
        ----------
        points : sequence of five (float, float)
            Eyes, nose, corners of the mouth; none takes the middle of the whole photo.

        Returns
        -------
        ndarray of uint8, shape (150, 150, 3)
        """
        if not points:
            side = min(self.size)
            left, top = ((whole - side) // 2 for whole in self.size)
            box = (left, top, left + side, top + side)
            drawn = self.at(1).resize((SIZE, SIZE), Image.Resampling.BILINEAR, box=box)
            return np.asarray(drawn)
        turn, shift = _fitted(points)
        # what is decoded depends on this face alone, so that its vector does
        reduced = next(r for r in _REDUCED if r == 1 or abs(turn) >= r)
        image = self.at(reduced)
        factor = image.width / self.size[0]
        turn, shift = turn * factor, shift * factor
        finer = max(1, int(np.ceil(abs(turn))))
        turn /= finer
        numbers = (turn.real, -turn.imag, shift.real, turn.imag, turn.real, shift.imag)
        side = SIZE * finer
        drawn = image.transform(
            (side, side), Image.Transform.AFFINE, numbers, Image.Resampling.BILINEAR
        )
        return np.asarray(drawn.reduce(finer) if finer > 1 else drawn)


def find_faces(
    things: Things,
    *,
    cache: DiskCache | None = None,
    progress: Progress = no_progress,
    n_jobs: int | None = None,
) -> Things:
    """Turn photos into the faces in them, one thing for each.

    A face is called by its photo and a number from left to right, such as ``party.jpg#2``; the
    only face of a photo is called as the photo. Faces that are too small or blurred and photos
    without a face are set aside by name.

    Parameters
    ----------
    things : Things
        Photos. Faces are given back as they are.
    cache : DiskCache, optional
        Where what was found is kept; by default nowhere.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of photos.
    n_jobs : int or None
        Threads; None or -1 uses all cores.

    Returns
    -------
    Things
        With `cuts`.

    Raises
    ------
    InputError
        Where the things are no photos.
    DataError
        Where fewer faces can be used than are needed.
    """
    if things.kind != "image":
        raise InputError(f"{things.source}: faces are found in images; got {things.kind} instead.")
    if things.cuts is not None:
        return things
    paths: Sequence[Path] = members_of(things)
    finder = FaceFinder()
    place = None if cache is None else cache.lasting().part(f"faces of {finder.fingerprint}")
    shelves = Shelves(place)
    marks, broken = content_marks(paths, cores(n_jobs))
    found = {mark: [_from_json(face) for face in kept] for mark, kept in shelves.get(marks).items()}
    left = {mark: row for row, mark in enumerate(marks) if row not in broken and mark not in found}
    done = len(things) - len(left)
    progress(done, len(things))
    if left:
        finder.network  # noqa: B018  # once, before threads begin

    def look(row: int) -> tuple[int, list[Face] | DataError | NotFoundError]:
        try:
            return row, finder.find(paths[row])
        except (DataError, NotFoundError) as error:
            return row, error

    new: dict[str, list[Face]] = {}
    faults: dict[str, Exception] = {}
    try:
        for row, faces in run_parts(look, left.values(), cores(n_jobs)):
            if isinstance(faces, Exception):
                faults[marks[row]] = faces
            else:
                new[marks[row]] = faces
            done += 1
            progress(done, len(things))
    finally:  # what is interrupted loses nothing
        shelves.put({mark: [list(face) for face in faces] for mark, faces in new.items()})
    found |= new
    broken |= {row: faults[mark] for row, mark in enumerate(marks) if mark in faults}
    return _one_each(things, [found.get(mark, []) for mark in marks], marks, broken)


def decode(
    heat: NDArray, sizes: NDArray, shifts: NDArray, points: NDArray
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Boxes and points of the faces in the maps of the network, each face once.

    Parameters
    ----------
    heat : ndarray of shape (1, h, w)
        How sure a face has its middle there.
    sizes, shifts : ndarray of shape (2, h, w)
        Logarithm of height and width; where in its place the middle is, down and across.
    points : ndarray of shape (10, h, w)
        Down and across of five marks, in heights and widths from the box's corner.

    Returns
    -------
    boxes : ndarray of shape (n, 4)
        Left, top, right, bottom, the surest face first.
    points : ndarray of shape (n, 5, 2)
        Across and down.
    """
    rows, columns = np.nonzero(heat[0] > _SURE)
    order = np.argsort(-heat[0, rows, columns], kind="stable")
    rows, columns = rows[order], columns[order]
    high, wide = np.exp(sizes[:, rows, columns].astype(np.float64)) * STRIDE
    left = (columns + shifts[1, rows, columns] + 0.5) * STRIDE - wide / 2
    top = (rows + shifts[0, rows, columns] + 0.5) * STRIDE - high / 2
    boxes = np.stack([left, top, left + wide, top + high], axis=1)
    marks = points[:, rows, columns].astype(np.float64).reshape(5, 2, -1)
    placed = np.stack([marks[:, 1] * wide + left, marks[:, 0] * high + top], axis=-1)
    kept: list[int] = []
    for k in range(len(boxes)):
        if all(_common(boxes[k], boxes[j]) < _OVERLAP for j in kept):
            kept.append(k)
    return boxes[kept], placed.transpose(1, 0, 2)[kept]


def _common(one: NDArray, other: NDArray) -> float:
    """Share of two boxes that both cover."""
    sides = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    if (sides <= 0).any():
        return 0.0
    both = float(np.prod(sides))
    areas = [float(np.prod(box[2:] - box[:2])) for box in (one, other)]
    return both / (sum(areas) - both)


def _fitted(points: Sequence[tuple[float, float]]) -> tuple[complex, complex]:
    """Turn, scale and shift that bring the average face nearest to these points."""
    average = (_AVERAGE + _PADDING) / (1 + 2 * _PADDING) * SIZE
    source = average[:, 0] + 1j * average[:, 1]
    target = np.array([complex(x, y) for x, y in points])
    middle = source.mean()
    turn = np.vdot(source - middle, target - target.mean()) / np.vdot(
        source - middle, source - middle
    )
    return complex(turn), complex(target.mean() - turn * middle)


def _fault(photo: Photo, face: Face) -> str:
    """Why a face is of no use; nothing where it is."""
    if face.box[2] < _NARROWEST:
        return TOO_SMALL
    return BLURRED if detail(photo.straight(face.points)) < _LEAST_DETAIL else ""


def detail(face: NDArray[np.uint8]) -> float:
    """How much of a face is finer than a sixteenth of it, as a share of all contrast.

    Examples
    --------
    >>> detail(np.zeros((150, 150, 3), dtype=np.uint8))
    0.0
    """
    edge = SIZE // 6
    middle = Image.fromarray(face).convert("L").crop((edge, edge, SIZE - edge, SIZE - edge))
    coarse = middle.resize((_COARSE, _COARSE), Image.Resampling.BOX)
    coarse = coarse.resize(middle.size, Image.Resampling.BICUBIC)
    grey = np.asarray(middle, dtype=np.float64)
    all_contrast = max(float(np.abs(grey - grey.mean()).mean()), 1.0)
    return float(np.abs(grey - np.asarray(coarse, dtype=np.float64)).mean()) / all_contrast


def _from_json(kept: Any) -> Face:
    (left, top, width, height), points, (wide, high), fault = kept
    marks = tuple((x, y) for x, y in points)
    return Face((left, top, width, height), marks, (wide, high), fault)


def _one_each(
    things: Things,
    found: Sequence[Sequence[Face]],
    marks: Sequence[str],
    broken: dict[int, Exception],
) -> Things:
    """Things that are faces, from those of each photo."""
    cuts, names, rows = [], [], []
    aside = [(things.names[row], why(error)) for row, error in sorted(broken.items())]
    for row, faces in enumerate(found):
        name = things.names[row]
        if not faces and row not in broken:
            aside.append((name, NONE))
        for number, face in enumerate(faces, 1):
            own = name if len(faces) == 1 else f"{name}#{number}"
            if face.fault:
                aside.append((own, face.fault))
                continue
            path = members_of(things)[row]
            cuts.append(Cut(path, face.size, face.box, face.points, marks[row]))
            names.append(own)
            rows.append(row)
    if len(cuts) < things.fewest:
        first = f" ({aside[0][0]}: {aside[0][1]})" if aside else ""
        needed = "two are" if things.fewest == 2 else "one is"
        raise DataError(
            f"{things.source}: {len(cuts)} faces can be used{first}, at least {needed} needed; "
            f"give photos that show faces, sharp and {_NARROWEST} pixels wide or more."
        )
    # pictures are taken for faces that somebody cut out only beside some that are known to be faces
    if things.fewest > 1 and not any(cut.points for cut in cuts):
        raise DataError(
            f"{things.source}: no face was found in {len(found)} pictures; leave --features face "
            "out for photos of other things, or give photos that show faces."
        )
    return replace(
        things,
        names=tuple(names),
        cuts=tuple(cuts),
        y=None if things.y is None else things.y[rows],
        set_aside=things.set_aside + tuple(aside),
    )
