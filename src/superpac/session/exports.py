"""Clusters and answers written to files that other tools read. Every file appears whole or not."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from superpac.answers.history import History
from superpac.answers.state import State
from superpac.array_types import IntArray
from superpac.errors import InputError, SuperpacError
from superpac.system.atomic_files import output_folder, write_whole
from superpac.system.optional import is_installed, require
from superpac.system.safe_text import encodable

if TYPE_CHECKING:
    from superpac.data import Dataset


class Labelled(Protocol):
    """What is exported: a session, or the page's, whose clusters are computed elsewhere."""

    history: History

    @property
    def data(self) -> Dataset:
        """The items."""
        ...

    @property
    def state(self) -> State:
        """What the answers say."""
        ...

    def labels(self) -> IntArray:
        """Clusters that break no answer."""
        ...


RISKY = ("=", "+", "-", "@")
BLANKS = ("\t", "\r", "\n")


def neutral(cell: object) -> str:
    """Text for a CSV cell that no spreadsheet runs as a formula.

    What comes before a formula is passed over: spaces of any kind, and marks that are not seen.
    Full-width signs count as the signs they stand for.

    References
    ----------
    OWASP, "CSV injection".

    Examples
    --------
    >>> neutral("=1+1"), neutral(" ＝1"), neutral("face 12"), neutral(-3)
    ("'=1+1", "' ＝1", 'face 12', '-3')
    """
    text = str(cell)
    if not isinstance(cell, str):
        return text
    seen = (c for c in text if not (c.isspace() or unicodedata.category(c) in ("Cc", "Cf")))
    sign = unicodedata.normalize("NFKC", next(seen, ""))
    return "'" + text if text.startswith(BLANKS) or sign.startswith(RISKY) else text


def write_labels(path: str | Path, items: Dataset, clusters: NDArray) -> Path:
    """Write item and cluster as CSV, clusters numbered from 1; with texts and places as in `table`.

    Parameters
    ----------
    path : path
        Where to.
    items : Dataset
        The items.
    clusters : ndarray of shape (n,)
        Their clusters.

    Returns
    -------
    Path
    """
    columns = {
        "item": items.ids,
        "cluster": [group_number(c) for c in clusters],
        **_contents(items),
    }
    return write_whole(path, _csv(list(columns), zip(*columns.values(), strict=True)))


def table(session: Labelled) -> dict[str, list[Any]]:
    """Columns with one entry per item: cluster, its name, whether answers tie it there; its text.

    Clusters are numbered from 1, as on the page; ``session.labels()`` begins at 0.

    Items whose files are gone are left out.

    A part of a photo has its place: the photo's file, and the box in pixels.
    """
    labels = session.labels()
    names = cluster_names(session, labels)
    columns = {
        "item": [str(i) for i in session.data.ids],
        "cluster": [group_number(c) for c in labels],
        "name": [names.get(int(c), "") for c in labels],
        "settled": _tied(session, labels).tolist(),
        "set_aside": [i in session.state.bad for i in range(len(session.data))],
        **_contents(session.data),
    }
    gone = session.history.gone
    if not gone:
        return columns
    return {
        name: [cell for i, cell in enumerate(cells) if i not in gone]
        for name, cells in columns.items()
    }


def _tied(session: Labelled, labels: IntArray) -> NDArray[np.bool_]:
    from superpac.answers.consistent_labels import tied  # exports of the log alone need no SciPy

    return tied(labels, session.state.constraints)


def _contents(data: Dataset) -> dict[str, list[Any]]:
    """Text of each item, and where in which photo it is, for items that are texts or parts."""
    if data.texts is not None:
        return {"text": list(data.texts)}
    if data.cuts is None:
        return {}
    sides = {
        name: [cut.box[k] for cut in data.cuts]
        for k, name in enumerate(("left", "top", "width", "height"))
    }
    return {"photo": [encodable(str(cut.path)) for cut in data.cuts], **sides}


def cluster_names(session: Labelled, labels: NDArray) -> dict[int, str]:
    """Name of each cluster that people named.

    A name given to an item goes with the cluster that the item is in, whatever its number is now;
    the last name wins, and an empty one takes a name away.

    Examples
    --------
    >>> from superpac.session.session import Session
    >>> from superpac.session.spec import Spec
    >>> X = np.repeat(np.eye(2), 5, axis=0)
    >>> session = Session.create(X, Spec(2, affinity="tsc:q=2", dim=1))
    >>> _ = session.rename("towers", item=7)
    >>> labels = session.labels()
    >>> cluster_names(session, labels) == {int(labels[7]): "towers"}
    True
    """
    found = dict(session.history.cluster_names)
    for event in session.history.standing(("name",)):
        body = event.body
        target = body["cluster"] if "cluster" in body else int(labels[body["item"]])
        found[int(target)] = body["name"]
    return {cluster: name for cluster, name in found.items() if name}


def group_number(label: int) -> int:
    """Number of a group as people see it, from 1; labels of the library begin at 0.

    Examples
    --------
    >>> group_number(0)
    1
    """
    return int(label) + 1


def group_title(label: int, names: Mapping[int, str]) -> str:
    """What a group is called: its name, or its number as everywhere.

    Examples
    --------
    >>> group_title(2, {}), group_title(2, {2: "towers"})
    ('Cluster 3', 'towers')
    """
    return names.get(int(label)) or f"Cluster {group_number(label)}"


def answer_rows(session: Labelled) -> Iterator[dict[str, Any]]:
    """Standing answers, one dict each."""
    names = session.state.names or session.data.ids
    for event in session.history.standing():
        body = event.body
        yield {
            "seq": event.seq,
            "i": int(body["i"]),
            "j": int(body["j"]),
            "item_i": str(names[body["i"]]),
            "item_j": str(names[body["j"]]),
            "answer": body["answer"],
            "annotator": event.annotator,
            "at": event.at,
            "elapsed_ms": event.elapsed_ms,
        }


def as_csv(session: Labelled) -> bytes:
    """Items and clusters as CSV, formulas neutralised."""
    columns = table(session)
    return _csv(list(columns), zip(*columns.values(), strict=True))


def as_parquet(session: Labelled) -> bytes:
    """Items and clusters as Parquet, values exact."""
    require(*NEEDS["parquet"])
    import pyarrow as pa
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(pa.table(table(session)), buffer)
    return buffer.getvalue()


def as_jsonl(session: Labelled) -> bytes:
    """Items and clusters, one JSON object per line."""
    columns = table(session)
    rows = zip(*columns.values(), strict=True)
    return _json_lines(dict(zip(columns, row, strict=True)) for row in rows)


def as_answers(session: Labelled) -> bytes:
    """Answers, one JSON object per line."""
    return _json_lines(answer_rows(session))


def as_links(session: Labelled) -> bytes:
    """Must-link and cannot-link pairs as JSON, by item index."""
    known = session.state.constraints
    links = {"must_link": known.must_links(), "cannot_link": known.cannot_link_pairs()}
    return json.dumps({name: pairs.tolist() for name, pairs in links.items()}).encode()


def as_coco(session: Labelled) -> bytes:
    """Images and clusters in the layout of COCO's JSON: images, categories, annotations.

    Parts of one photo are annotations of one image, each with its box.

    References
    ----------
    Lin et al., "Microsoft COCO: common objects in context", ECCV 2014.
    """
    data, labels = session.data, session.labels()
    names = cluster_names(session, labels)
    images: dict[Any, dict[str, Any]] = {}
    marks = []
    for i, name in enumerate(data.ids):
        if i in session.state.bad:
            continue
        place = str(name) if data.paths is None else below_folder(data, i)
        image = place if data.cuts is not None else i
        if image not in images:
            height, width = height_and_width(data, i)
            images[image] = {"id": i, "file_name": place, "height": height, "width": width}
        shown = images[image]
        box = (0, 0, shown["width"], shown["height"]) if data.cuts is None else data.cuts[i].box
        mark = {
            "id": i + 1,
            "image_id": shown["id"],
            "category_id": group_number(labels[i]),
            "iscrowd": 0,
        }
        marks.append({**mark, "bbox": list(box), "area": box[2] * box[3]})
    groups = [
        {"id": group_number(c), "name": group_title(c, names), "supercategory": "cluster"}
        for c in np.unique(labels)
    ]
    info = {"description": f"Clusters of {data.name}", "version": "1.0"}
    whole = {
        "info": info,
        "images": list(images.values()),
        "categories": groups,
        "annotations": marks,
    }
    return json.dumps(whole, ensure_ascii=False).encode()


def below_folder(data: Dataset, item: int) -> str:
    """Path of a photo below the folder that was given; of one from another place the whole."""
    if data.paths is None:
        return str(data.ids[item])
    path, folder = data.paths[item], Path(data.source).expanduser().resolve()
    inside = path.is_relative_to(folder) and path != folder
    return encodable(path.relative_to(folder).as_posix() if inside else str(path))


def height_and_width(data: Dataset, item: int) -> tuple[int, int]:
    """Of an image: its file's, where there is one, as it is shown upright; (0, 0) of others."""
    if data.kind != "image" or data.paths is None:
        shape = data.image_shape or (0, 0)
        return int(shape[0]), int(shape[1])
    from superpac.data.image_files import opened, upright_size

    try:
        with opened(data.paths[item], data.limit_pixels) as image:
            return upright_size(image)
    except SuperpacError:  # gone since: the cluster is known all the same
        return 0, 0


FORMATS: dict[str, Callable[[Labelled], bytes]] = {
    "csv": as_csv,
    "parquet": as_parquet,
    "jsonl": as_jsonl,
    "answers": as_answers,
    "links": as_links,
    "coco": as_coco,
}
NEEDS = {"parquet": ("tables", "Parquet")}
FOLDERS: dict[str, Literal["link", "copy"]] = {"folders": "link", "folders-copy": "copy"}
SIDECARS = "xmp"
"""Format of a file beside each photo; see :mod:`superpac.session.sidecars`."""

ENDINGS = {"answers": "jsonl", "links": "json", "coco": "json"}


def folder_names(session: Labelled) -> list[tuple[int, str]]:
    """Item and the place it gets in a folder per cluster; items set aside are left out.

    Names from people and files become plain file names: no separators, no hidden files.
    """
    labels = session.labels()
    names = cluster_names(session, labels)
    folders: dict[int, str] = {}
    for c in (int(c) for c in np.unique(labels)):
        folders[c] = file_name(f"{group_number(c):02d} {names.get(c, '')}")
    found, used = [], set()
    for i, name in enumerate(session.data.ids):
        if i in session.state.bad:
            continue
        paths = _files(session.data)
        # an id may be a path of any system; a backslash in a file's own name is no separator
        last = (str(name).replace("\\", "/") if paths is None else str(name)).split("/")[-1]
        suffix = "" if paths is not None else ".txt" if session.data.kind == "text" else ".png"
        stem = file_name(last if paths is None else _as_file(last, paths[i]))
        place = f"{folders[int(labels[i])]}/{stem}{suffix}"
        if place.lower() in used:
            place = f"{folders[int(labels[i])]}/{i}-{stem}{suffix}"
        used.add(place.lower())
        found.append((i, place))
    return found


def _as_file(name: str, path: Path) -> str:
    """Name of a file as it is, of a part of one with the number before the ending."""
    whole = encodable(path.name)
    if not name.startswith(f"{whole}#"):
        return name
    return f"{Path(whole).stem}{name.removeprefix(whole)}{path.suffix}"


def write_folders(
    session: Labelled, path: str | Path, how: Literal["link", "copy"] = "link"
) -> Path:
    """Write a folder for each cluster with its items as links or copies.

    Items that are not files of their own are written as PNG, texts as text; of a face it is the
    photo that shows it. Nothing that exists is overwritten.

    Parameters
    ----------
    session : Session
        What to write.
    path : path
        A folder that does not exist yet, or is empty.
    how : {"link", "copy"}, default="link"
        Symbolic links to the originals, or copies of them.

    Returns
    -------
    Path
    """
    if how not in ("link", "copy"):
        raise InputError(f"Items are written as 'link' or 'copy'. Got {how!r} instead.")
    from superpac.data.image_files import open_plain

    paths = _files(session.data)
    with output_folder(path) as root:
        for i, place in folder_names(session):
            target = root / place
            target.parent.mkdir(exist_ok=True)
            if paths is not None and how == "link":
                with open_plain(paths[i]):  # what has become a link leads nobody knows where
                    target.symlink_to(paths[i])
            else:
                with open(target, "xb") as file:
                    _copy(session.data, i, file)
                    file.flush()
                    os.fsync(file.fileno())
    return Path(path)


def _files(data: Dataset) -> tuple[Path, ...] | None:
    """Files that the items are."""
    return data.sounds if data.kind == "sound" else data.paths


def _copy(data: Dataset, item: int, target: IO[bytes]) -> None:
    """Write an item's own file, or the words or the picture of an item that has none."""
    files = _files(data)
    if data.kind == "text" and data.texts is not None:
        target.write(data.texts[item].encode() + b"\n")
    elif files is None:
        picture = io.BytesIO()  # a zip is written from the front to the back, a PNG is not
        data.draw(item).save(picture, "PNG")
        target.write(picture.getvalue())
    else:
        from superpac.data.image_files import open_plain

        with open_plain(files[item]) as file:
            shutil.copyfileobj(file, target)


def folders_zip(session: Labelled, target: IO[bytes]) -> None:
    """Write the folders of the clusters as a zip of copies, for a browser to download."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as bundle:
        for i, place in folder_names(session):
            entry = zipfile.ZipInfo(place)
            entry.external_attr = 0o600 << 16
            with bundle.open(entry, "w") as file:
                _copy(session.data, i, file)


def file_name(text: str) -> str:
    """Text as a plain file name: no separators, nothing hidden, not empty.

    Examples
    --------
    >>> file_name("../a:b"), file_name("..")
    ('_a_b', '_')
    """
    plain = "".join(c if c.isprintable() and c not in '/\\:*?"<>|' else "_" for c in text)
    return plain.strip(" .")[:120] or "_"


def export(session: Labelled, path: str | Path, form: str | None = None) -> Path:
    """Write a session's clusters or answers to a file.

    Parameters
    ----------
    session : Session
        What to write.
    path : path
        Where to.
    form : str, optional
        One of ``FORMATS``, ``folders`` (links), ``folders-copy`` or ``xmp`` (a folder of sidecars);
        by default what the ending of `path` says.

    Returns
    -------
    Path
    """
    chosen = check_form(path, form)
    if chosen == SIDECARS:
        from superpac.session.sidecars import write_sidecars

        return write_sidecars(session, path)
    if chosen in FOLDERS:
        return write_folders(session, path, FOLDERS[chosen])
    return write_whole(path, FORMATS[chosen](session))


def check_form(path: str | Path, form: str | None = None) -> str:
    """Name of a format that can be written: as given, or as the ending of the path says."""
    chosen = form or Path(path).suffix.lstrip(".").lower()
    known = ", ".join((*FORMATS, *FOLDERS, SIDECARS))
    if not chosen:
        raise InputError(
            f"{path} has no ending that names a format; end it in .csv, or say which: {known}."
        )
    if chosen not in (*FORMATS, *FOLDERS, SIDECARS):
        raise InputError(f"There is no export format {chosen!r}; choose one of: {known}.")
    if chosen in NEEDS:
        require(*NEEDS[chosen])
    return chosen


def formats_here() -> list[str]:
    """Formats whose libraries are installed."""
    return [form for form in FORMATS if form not in NEEDS or is_installed(NEEDS[form][0])]


def _json_lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _csv(header: list[str], rows: Any) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([neutral(cell) for cell in row] for row in rows)
    return text.getvalue().encode()
