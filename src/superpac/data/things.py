"""What a person has before there are vectors: photos, sounds, texts, or rows of a table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superpac.data import folder_files, image_files, limits, sound_files, tables
from superpac.data.checks import as_ids, as_labels
from superpac.data.cuts import Cut
from superpac.data.dataset import Dataset
from superpac.data.mixed_tables import cells_of
from superpac.errors import DataError, InputError, NotFoundError
from superpac.system.safe_text import encodable, well_formed

ThingKind = Literal["image", "text", "sound", "table"]

KINDS: tuple[ThingKind, ...] = ("image", "text", "sound", "table")
TABLES = (".csv", ".tsv", ".txt", ".data", ".parquet", ".pq")
_WORDS = 3  # a cell of as many words is a sentence; names and classes are shorter
_HEADING = 4  # words in the name of a column that is a sentence itself, and no name


@dataclass(frozen=True, eq=False)
class Things:
    """Photos, sounds, texts or rows, with their names; an encoder makes vectors of them.

    Parameters
    ----------
    kind : {"image", "text", "sound", "table"}
        What they are.
    names : array-like of n values, optional
        Distinct names: paths below a folder, ids, or row numbers, which is what they are if left
        out.
    paths : tuple of n paths, optional
        Files of images or sounds, without links in any part of a path.
    texts : tuple of n str, optional
        The texts.
    rows : tuple of n tuples of str, optional
        Rows of a table, cells as they stand there.
    columns : tuple of str, optional
        Names of the cells of a row.
    cuts : tuple of n Cut, optional
        Parts of photos that the things are, such as faces; `paths` are then those of the photos.
    y : array-like of n values, optional
        True classes, for measuring only.
    class_names : tuple of str, optional
        Names of the classes; with them `y` must already be 0-based.
    set_aside : tuple of (str, str)
        Name of each broken thing that was left out, and why.
    name, source : str
        What people call them, and where they came from.
    by_content : bool
        Whether they are known by what they hold, so that names may change.
    fewest : int, default=2
        Fewer are refused; 1 does for things that are added to others.

    Examples
    --------
    >>> things = Things("text", texts=("a cat", "a dog", ""))
    >>> len(things), things.without({2: "the text is empty"}).set_aside
    (3, (('2', 'the text is empty'),))
    >>> things.dataset([[1.0], [2.0], [0.0]])
    Dataset('things', 3 points, 1 values each, text)
    """

    kind: ThingKind
    names: tuple[str, ...] = ()
    paths: tuple[Path, ...] | None = None
    texts: tuple[str, ...] | None = None
    rows: tuple[tuple[str, ...], ...] | None = None
    columns: tuple[str, ...] | None = None
    cuts: tuple[Cut, ...] | None = None
    y: NDArray[np.intp] | None = None
    class_names: tuple[str, ...] | None = None
    set_aside: tuple[tuple[str, str], ...] = ()
    name: str = "things"
    source: str = "things"
    by_content: bool = False
    fewest: int = 2

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind must be one of {', '.join(KINDS)}. Got {self.kind!r} instead.")
        if self.cuts is not None:
            object.__setattr__(self, "paths", tuple(cut.path for cut in self.cuts))
        n = len(self._held())
        if n == 0:
            raise DataError(f"{self.source}: holds nothing; give at least two things.")
        names = as_ids(list(self.names) if len(self.names) else None, n, self.source)
        object.__setattr__(self, "names", tuple(names.tolist()))
        if self.y is not None and self.class_names is None:
            y, classes = as_labels(self.y, n, self.source)
            object.__setattr__(self, "y", y)
            object.__setattr__(self, "class_names", classes)

    def _held(self) -> Sequence[Any]:
        """The things themselves."""
        part = {"text": "texts", "table": "rows"}.get(self.kind, "paths")
        held = getattr(self, part)
        if held is None:
            raise InputError(f"Things of kind {self.kind!r} need {part}=; give one for each.")
        return held

    def __len__(self) -> int:
        return len(self._held())

    def __repr__(self) -> str:
        aside = f", {len(self.set_aside)} set aside" if self.set_aside else ""
        return f"Things({self.name!r}, {len(self)} of kind {self.kind}{aside})"

    def subset(self, indices: ArrayLike) -> Things:
        """Return the things at these numbers, in that order.

        Parameters
        ----------
        indices : array-like of int
            Distinct numbers, counted from 0.
        """
        rows = np.asarray(indices, dtype=np.intp).tolist()

        def part(values: Sequence[Any] | None) -> Any:
            return None if values is None else tuple(values[i] for i in rows)

        return replace(
            self,
            names=part(self.names),
            paths=part(self.paths),
            texts=part(self.texts),
            rows=part(self.rows),
            cuts=part(self.cuts),
            y=None if self.y is None else self.y[rows],
        )

    def without(self, broken: Mapping[int, str]) -> Things:
        """Return the things without those that cannot be used.

        Parameters
        ----------
        broken : mapping of int to str
            Number of a thing, and why it is left out.

        Raises
        ------
        DataError
            Fewer would be left than are needed.
        """
        if not broken:
            return self
        kept = [i for i in range(len(self)) if i not in broken]
        if len(kept) < self.fewest:
            first = min(broken)
            needed = "two are" if self.fewest == 2 else "one is"
            raise DataError(
                f"{self.source}: {len(kept)} of {len(self)} can be used, at least {needed} needed; "
                f"{self.names[first]} cannot: {broken[first]}"
            )
        aside = tuple((self.names[i], broken[i]) for i in sorted(broken))
        return replace(self.subset(kept), set_aside=self.set_aside + aside)

    def dataset(
        self,
        X: ArrayLike,
        features: str = "",
        *,
        marks: Sequence[str] | None = None,
        made_by: str = "",
    ) -> Dataset:
        """Put vectors beside the things.

        Parameters
        ----------
        X : array-like of shape (n, d)
            One vector for each, in the same order.
        features : str
            What made the vectors.
        marks, made_by
            As in `Dataset`: what each thing holds, and what the vectors depend on beside it.

        Returns
        -------
        Dataset
            Which draws the things and computes with the vectors.
        """
        return Dataset(
            X,  # type: ignore[arg-type]
            ids=self.names,  # type: ignore[arg-type]
            y=self.y,
            class_names=self.class_names,
            name=self.name,
            kind=self.kind,
            columns=self.columns,
            paths=self.paths if self.kind == "image" else None,
            sounds=self.paths if self.kind == "sound" else None,
            texts=self.texts,
            rows=self.rows,
            cuts=self.cuts,
            source=self.source,
            by_content=self.by_content,
            features=features,
            marks=None if marks is None else tuple(marks),
            made_by=made_by,
        )


def as_things(items: Sequence[str | os.PathLike[str]], *, fewest: int = 2) -> Things:
    """Take a list of files, all of images or all of sounds, or else a list of texts.

    Parameters
    ----------
    items : sequence of str or paths
        Files where every one ends as an image or a sound does.
    fewest : int, default=2
        Fewer are refused.

    Returns
    -------
    Things
        Without what cannot be used, which is named in `set_aside`.

    Examples
    --------
    >>> as_things(["a cat", "a dog"])
    Things('things', 2 of kind text)
    """
    if len(items) < fewest:
        raise DataError(f"A list of {len(items)} was given, at least two are needed; add more.")
    kinds = {_kind_of_file(os.fspath(item)) for item in items}
    texts = [item for item in items if isinstance(item, str)]
    if None in kinds and len(texts) == len(items):
        words = tuple(encodable(text.strip()) for text in texts)
        things = Things("text", texts=words, by_content=True, fewest=fewest)
        return things.without(_unusable(words))
    if len(kinds) != 1 or None in kinds:
        raise InputError("A list must be of images, of sounds or of texts alone; got several.")
    files = [Path(item).expanduser() for item in items]
    return _from_list(kinds.pop(), files, fewest=fewest)


def _from_list(kind: Any, files: Sequence[Path], names: Sequence[str] = (), **facts: Any) -> Things:
    """Files that somebody has listed; by their own names where these differ and none are given."""
    short = [path.name for path in files]
    if len(set(short)) < len(short):
        short = [path.as_posix() for path in files]
    things = Things(
        kind,
        names=tuple(names or map(well_formed, short)),
        paths=tuple(path.resolve() for path in files),
        **{"by_content": True, **facts},
    )
    faults = {}
    for row, path in enumerate(things.paths or ()):
        why = _fault(path, path, path.parent, kind, image_files.LIMIT_PIXELS)
        if why:
            faults[row] = why
    return things.without(faults)


def _kind_of_file(name: str) -> ThingKind | None:
    """What a file is by its ending; None where it is neither an image nor a sound."""
    suffix = Path(name).suffix.lower()
    if suffix in sound_files.SUFFIXES:
        return "sound"
    return "image" if suffix in image_files.raster_suffixes() else None


def read_things(
    path: str | os.PathLike[str],
    *,
    labels: str | int | ArrayLike | None = None,
    ids: str | int | ArrayLike | None = None,
    text: str | int | None = None,
    limit_pixels: int = image_files.LIMIT_PIXELS,
    fewest: int = 2,
) -> Things:
    r"""Read a folder of images or of sounds, or a table with a column of texts.

    Images may be of any sizes, and in sub-folders. What is broken or cut off is set aside by name.

    Parameters
    ----------
    path : str or path
        A folder, or a ``.csv``, ``.tsv`` or ``.parquet`` file with a column of texts or one of
        files, which are then looked for from its folder; a single image or sound where one is
        enough.
    labels : str, int or array-like, optional
        True classes, for measuring only: "folders" for a folder, a column's name or number for a
        table, or one label for each thing, broken ones counted.
    ids : str, int or array-like, optional
        Names: a column's name or number for a table, or one for each thing.
    text : str or int, optional
        Column that holds the texts. Where exactly one column holds sentences, or lists images or
        sounds, it is found; where none does, the things are the rows of the table.
    limit_pixels : int
        Larger images are set aside undecoded.
    fewest : int, default=2
        Fewer things are refused; 1 does for things that are added to others.

    Returns
    -------
    Things

    Raises
    ------
    DataError
        Nothing there can be used; the sentence names the file and a remedy.
    NotFoundError
        There is no such file or folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "asked.csv"
    ...     _ = path.write_text("text,about\nWhere is my card?,card\nWhy was I charged?,fee\n")
    ...     things = read_things(path, labels="about")
    >>> things, things.texts[0], things.class_names
    (Things('asked', 2 of kind text), 'Where is my card?', ('card', 'fee'))
    """
    try:
        place = Path(path).expanduser()
        exists = place.exists()
    except (ValueError, OSError, RuntimeError) as error:
        raise NotFoundError(f"{str(path)[:200]!r} is not a usable path ({error}).") from error
    if not exists:
        raise NotFoundError(f"{path}: no such file or folder; check the path.")
    alone = place.suffix.lower() in image_files.raster_suffixes() | set(sound_files.SUFFIXES)
    if place.is_dir() or (alone and fewest == 1):
        if text is not None:
            raise InputError("text= names a column of a table; leave it out for a folder.")
        return _from_folder(place, labels, ids, limit_pixels, fewest)
    if place.suffix.lower() not in TABLES:
        raise DataError(
            f"{place}: files ending in {place.suffix or 'nothing'} hold no photos, sounds or "
            f"texts; give a folder of images or sounds, or a table ({', '.join(TABLES)})."
        )
    return _from_table(place, labels, ids, text, fewest)


def _from_folder(folder: Path, labels: Any, ids: Any, limit_pixels: int, fewest: int) -> Things:
    for option, value in (("labels", labels), ("ids", ids)):
        if isinstance(value, str | int) and not (option == "labels" and value == "folders"):
            allowed = "'folders' or one value per file" if option == "labels" else "one per file"
            raise InputError(f"{option} must be {allowed} for a folder; got {value!r}.")
    kind, found, others = _sort_out(folder)
    names = [folder_files.name_below(f, folder) for f in found]
    # Resolved, so that a link put in a file's place later is seen as one and not followed.
    paths = tuple(f.resolve() for f in found)
    broken = {}
    for i, (given, real) in enumerate(zip(found, paths, strict=True)):
        why = _fault(given, real, folder, kind, limit_pixels)
        if why:
            broken[i] = why
    by_folder = isinstance(labels, str)
    classes: Any = folder_files.own_folders(folder, names, broken) if by_folder else labels
    things = Things(
        kind,
        names=tuple(names if ids is None else np.asarray(ids, dtype=object).tolist()),
        paths=paths,
        y=classes,
        set_aside=others,
        name=folder.resolve().name or str(folder),
        source=str(folder),
        by_content=ids is None,
        fewest=fewest,
    )
    things = things.without(broken)
    if len(things) < fewest:
        raise DataError(f"{folder}: holds one {kind}, at least two are needed; add more.")
    return things


def _sort_out(folder: Path) -> tuple[ThingKind, list[Path], tuple[tuple[str, str], ...]]:
    """Kind of a folder by what most of its files are, those files, and the others by name."""
    images, sounds, drawings = [], [], []
    rest: Counter[str] = Counter()
    for path in folder_files.files_below(folder):
        suffix = path.suffix.lower()
        if suffix in sound_files.SUFFIXES:
            sounds.append(path)
        elif suffix in image_files.VECTOR_SUFFIXES:
            drawings.append(path)
        elif suffix in image_files.raster_suffixes():
            images.append(path)
        else:
            rest[suffix or "no extension"] += 1
    if not images and not sounds:
        rest.update(path.suffix.lower() for path in drawings)
        raise DataError(
            f"{folder}: no image and no sound in this folder (it holds {folder_files.tally(rest)});"
            " give a folder of images or of sounds, or a table of texts (.csv, .parquet)."
        )

    def named(paths: list[Path], why: str) -> list[tuple[str, str]]:
        return [(folder_files.name_below(p, folder), why) for p in paths]

    if len(sounds) > len(images):
        return "sound", sounds, tuple(named(images, "an image among sounds"))
    aside = named(sounds, "a sound among images")
    aside += named(drawings, "vector graphics are not read; save it as PNG")
    return "image", images, tuple(aside)


def _fault(given: Path, real: Path, folder: Path, kind: str, limit_pixels: int) -> str:
    """Why a file cannot be used; nothing where it can."""
    if folder_files.leads_out(given, folder):
        return "a link that leads out of the folder"
    try:
        if kind == "image":
            image_files.check_whole(real, limit_pixels)
        else:
            sound_files.check_sound(real)
    except (DataError, NotFoundError) as error:
        return str(error).removeprefix(f"{real}: ")
    return ""


def _from_table(path: Path, labels: Any, ids: Any, text: str | int | None, fewest: int) -> Things:
    columns, cells = cells_of(path)
    label_at, id_at = tables.places_of(labels, ids, columns, path)
    taken = {k for k in (label_at, id_at) if k is not None}
    rest = [k for k in range(len(columns)) if k not in taken]
    at = tables.position(text, columns, path, "text")
    if at is None:
        at = _sentences(path, columns, cells, rest)
    files = None if at is not None else _listed(cells, rest)
    headless = at is not None and text is None and len(columns[at].split()) >= _HEADING
    if headless or (files is not None and _kind_of_file(columns[files])):
        # a list without a heading: the first sentence or file is no name of a column
        cells = [[column, *below] for column, below in zip(columns, cells, strict=True)]
    n = len(cells[0]) if cells else 0
    if n < fewest:
        raise DataError(f"{path}: has {n} rows of values, at least two are needed; add rows.")
    given = () if ids is None else np.asarray(ids, dtype=object).tolist()
    facts: dict[str, Any] = {
        "names": tuple(given if id_at is None else cells[id_at]),
        "y": labels if label_at is None else cells[label_at],
        "name": path.stem,
        "source": str(path),
        "fewest": fewest,
        # rows that nobody named are known by their text: it may move, others may come before it
        "by_content": (at is not None or files is not None) and id_at is None and ids is None,
    }
    if files is not None:
        # from the place of the list; what is written as a whole path stays one
        listed = [path.parent / cell.strip() for cell in cells[files]]
        return _from_list(_kind_of_file(cells[files][0].strip()), listed, **facts)
    if at is None:
        if not rest:
            raise DataError(f"{path}: no column is left for the rows; leave labels or ids out.")
        shown = [[encodable(cell) for cell in cells[k]] for k in rest]
        heads = tuple(encodable(columns[k]) for k in rest)
        return Things("table", rows=tuple(zip(*shown, strict=True)), columns=heads, **facts)
    texts = tuple(encodable(cell.strip()) for cell in cells[at])
    return Things("text", texts=texts, **facts).without(_unusable(texts))


def _unusable(texts: Sequence[str]) -> dict[int, str]:
    broken = {i: "the text is empty" for i, words in enumerate(texts) if not words}
    for i, words in enumerate(texts):
        if len(words) > limits.LONGEST_TEXT:
            broken[i] = (
                f"the text has {len(words):,} characters, at most {limits.LONGEST_TEXT:,} are read"
            )
    return broken


def _sentences(
    path: Path, columns: list[str], cells: list[list[str]], rest: list[int]
) -> int | None:
    """The one column of sentences, if there is one."""
    found = [k for k in rest if cells and _are_sentences(cells[k])]
    if len(found) > 1:
        named = ", ".join(repr(columns[k]) for k in found)
        raise DataError(
            f"{path}: the columns {named} all hold sentences; say which is meant with "
            f"text={columns[found[0]]!r} (--text)."
        )
    return found[0] if found else None


def _listed(cells: list[list[str]], rest: list[int]) -> int | None:
    """The one column that lists files of images, or of sounds, if there is one."""
    found = []
    for k in rest:
        kinds = {_kind_of_file(cell.strip()) for cell in cells[k]}
        if len(kinds) == 1 and None not in kinds:
            found.append(k)
    return found[0] if len(found) == 1 else None


def _are_sentences(cells: Sequence[str]) -> bool:
    """Whether most cells have several words and differ; a class of three words stands often."""
    filled = [cell for cell in cells if cell.strip()]
    long = sum(len(cell.split()) >= _WORDS for cell in filled)
    return 2 * long > len(filled) and 2 * len(set(filled)) > len(filled)
