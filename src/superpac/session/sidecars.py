"""XMP sidecars: the group of each photo as a keyword beside it, for programs that manage photos.

``sub/party.jpg`` gets ``sub/party.jpg.xmp``. Faces have their place and name as regions in the
layout of the Metadata Working Group.

References
----------
ISO 16684-1 (XMP); Metadata Working Group, "Guidelines for handling image metadata", 2010.
"""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET  # nosec B405

from superpac.errors import InputError
from superpac.session.exports import (
    Labelled,
    below_folder,
    cluster_names,
    file_name,
    height_and_width,
)
from superpac.system.atomic_files import output_folder

if TYPE_CHECKING:
    from superpac.data import Dataset

NAMES = {
    "x": "adobe:ns:meta/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "mwg-rs": "http://www.metadataworkinggroup.com/schemas/regions/",
    "stArea": "http://ns.adobe.com/xmp/sType/Area#",
    "stDim": "http://ns.adobe.com/xap/1.0/sType/Dimensions#",
}


def write_sidecars(session: Labelled, path: str | Path) -> Path:
    """Write a sidecar for each photo below a folder, with the names of its groups as keywords.

    Items set aside are left out, and so are groups that nobody named.

    Parameters
    ----------
    session : Session
        What to write; its items must be photos or faces in them.
    path : path
        A folder that does not exist yet, or is empty: nothing is written beside the originals.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        Where items are no files of photos, or no group has a name.
    """
    data = session.data
    if data.kind != "image" or data.paths is None:
        raise InputError("Sidecars are for photos; the items of this session are no image files.")
    labels = session.labels()
    names = {c: name for c, name in cluster_names(session, labels).items() if name}
    photos: defaultdict[Path, list[int]] = defaultdict(list)
    for item, photo in enumerate(data.paths):
        if item not in session.state.bad and int(labels[item]) in names:
            photos[photo].append(item)
    if not photos:
        raise InputError("No group has a name yet, so there is no keyword to write; name some.")
    called = [names.get(int(c), "") for c in labels]
    with output_folder(path) as root:
        used: set[str] = set()
        for items in photos.values():
            place = _place(data, items[0])
            if place.lower() in used:
                place = f"{items[0]}-{place.replace('/', '_')}"
            used.add(place.lower())
            target = root / f"{place}.xmp"
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(target, "xb") as file:
                file.write(sidecar(data, items, called))
                file.flush()
                os.fsync(file.fileno())
    return Path(path)


def _place(data: Dataset, item: int) -> str:
    """Path of a photo below its folder, each part a plain file name."""
    whole = below_folder(data, item)
    parts = whole.split("/") if not os.path.isabs(whole) else [whole.rpartition("/")[2]]
    return "/".join(file_name(part) for part in parts)


def sidecar(data: Dataset, items: list[int], called: list[str]) -> bytes:
    """Give the XMP of one photo: keywords, and a region for each face.

    Parameters
    ----------
    data : Dataset
        The photos.
    items : list of int
        Items of this photo: itself, or the faces in it.
    called : list of str
        Name of every item's group.

    Returns
    -------
    bytes
        UTF-8.
    """
    for prefix, address in NAMES.items():
        ET.register_namespace(prefix, address)
    top = ET.Element(_tag("x", "xmpmeta"))
    about = ET.SubElement(ET.SubElement(top, _tag("rdf", "RDF")), _tag("rdf", "Description"))
    about.set(_tag("rdf", "about"), "")
    words = ET.SubElement(ET.SubElement(about, _tag("dc", "subject")), _tag("rdf", "Bag"))
    for word in sorted({_plain(called[item]) for item in items}):
        ET.SubElement(words, _tag("rdf", "li")).text = word
    if data.cuts is not None:
        _regions(about, data, items, called)
    return ET.tostring(top, encoding="utf-8", xml_declaration=True)


def _regions(about: ET.Element, data: Dataset, items: list[int], called: list[str]) -> None:
    """Where the faces are: middle and size of each box, as shares of the photo."""
    height, width = height_and_width(data, items[0])
    if not height or not width or data.cuts is None:
        return
    regions = ET.SubElement(about, _tag("mwg-rs", "Regions"))
    regions.set(_tag("rdf", "parseType"), "Resource")
    size = ET.SubElement(regions, _tag("mwg-rs", "AppliedToDimensions"))
    for side, value in (("w", f"{width}"), ("h", f"{height}"), ("unit", "pixel")):
        size.set(_tag("stDim", side), value)
    bag = ET.SubElement(ET.SubElement(regions, _tag("mwg-rs", "RegionList")), _tag("rdf", "Bag"))
    for item in items:
        left, top, wide, high = data.cuts[item].box
        entry = ET.SubElement(bag, _tag("rdf", "li"))
        entry.set(_tag("rdf", "parseType"), "Resource")
        ET.SubElement(entry, _tag("mwg-rs", "Name")).text = _plain(called[item])
        ET.SubElement(entry, _tag("mwg-rs", "Type")).text = "Face"
        area = ET.SubElement(entry, _tag("mwg-rs", "Area"))
        middle = ((left + wide / 2) / width, (top + high / 2) / height)
        shares = {"x": middle[0], "y": middle[1], "w": wide / width, "h": high / height}
        for side, share in shares.items():
            area.set(_tag("stArea", side), f"{share:.6f}")
        area.set(_tag("stArea", "unit"), "normalized")


def _tag(prefix: str, name: str) -> str:
    return f"{{{NAMES[prefix]}}}{name}"


def _plain(text: str) -> str:
    """Text without what XML cannot hold."""
    return "".join(c if c.isprintable() and c not in "\ufffe\uffff" else " " for c in text).strip()
