"""XMP sidecars, read back as XML."""

from __future__ import annotations

import shutil
import subprocess
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from superpac.data import Dataset, load
from superpac.data.cuts import Cut
from superpac.errors import InputError
from superpac.session import exports
from superpac.session.session import Session
from superpac.session.sidecars import NAMES
from superpac.session.spec import Spec


@pytest.fixture
def photos(tmp_path):
    rng = np.random.default_rng(0)
    for n in range(8):
        folder = tmp_path / "photos" / ("", "summer & sun")[n % 2]
        folder.mkdir(parents=True, exist_ok=True)
        pixels = np.full((40, 60), 200 * (n % 2)) + rng.integers(0, 20, (40, 60))
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{n}.png")
    return tmp_path / "photos"


def words_in(path):
    return [entry.text for entry in ET.parse(path).findall(".//dc:subject/rdf:Bag/rdf:li", NAMES)]


def test_every_photo_of_a_named_group_has_a_sidecar_where_the_photo_lies(photos, tmp_path):
    session = Session.create(load(photos), Spec(2, affinity="tsc:q=2", dim=1))
    with pytest.raises(InputError, match="No group has a name yet"):
        exports.export(session, tmp_path / "out", "xmp")
    hostile = 'Anna <b> & "Co" \x00\u202eé'.replace("\x00", "")
    session.rename(hostile, item=1)
    session.set_aside(3)
    exports.export(session, tmp_path / "out", "xmp")
    mine = session.labels() == session.labels()[1]
    names = [str(name) for k, name in enumerate(session.data.ids) if mine[k] and k != 3]
    found = sorted((tmp_path / "out").rglob("*.xmp"))
    assert sorted(p.relative_to(tmp_path / "out").as_posix() for p in found) == sorted(
        f"{name}.xmp" for name in names
    )
    for path in found:
        (word,) = words_in(path)
        assert word.startswith('Anna <b> & "Co"')
        assert word.endswith("é")
    if shutil.which("exiftool"):
        read = subprocess.run(["exiftool", "-Subject", found[0]], capture_output=True, text=True)
        assert 'Anna <b> & "Co"' in read.stdout


def test_faces_are_regions_with_names_in_shares_of_the_photo(photos, tmp_path):
    path = (photos / "0.png").resolve()
    cuts = [Cut(path, (60, 40), (6, 4, 12, 8)), Cut(path, (60, 40), (30, 10, 20, 20))]
    cuts += [Cut((photos / "2.png").resolve(), (60, 40), (0, 0, 60, 40))]
    X = [[1.0, 0.0], [0.0, 1.0], [0.1, 1.0]]
    data = Dataset(X, ids=["0.png#1", "0.png#2", "2.png"], cuts=tuple(cuts), kind="image")
    session = Session.create(data, Spec(2, affinity="knn:k=1", dim=1))
    session.tell("different", (0, 1))
    session.tell("same", (1, 2))
    session.rename("Anna", item=0)
    session.rename("Ben", item=1)
    exports.export(session, tmp_path / "out", "xmp")
    (first, second) = sorted((tmp_path / "out").iterdir())
    assert words_in(first) == ["Anna", "Ben"]
    assert words_in(second) == ["Ben"]
    regions = ET.parse(first).findall(".//mwg-rs:RegionList/rdf:Bag/rdf:li", NAMES)
    assert [r.find("mwg-rs:Name", NAMES).text for r in regions] == ["Anna", "Ben"]
    area = regions[0].find("mwg-rs:Area", NAMES)
    shares = [float(area.get(f"{{{NAMES['stArea']}}}{side}")) for side in "xywh"]
    assert shares == pytest.approx([0.2, 0.2, 0.2, 0.2])


def test_what_is_no_photo_has_no_sidecar(tmp_path):
    session = Session.create(np.eye(4), Spec(2, affinity="knn:k=1", dim=1))
    with pytest.raises(InputError, match="Sidecars are for photos"):
        exports.export(session, tmp_path / "out", "xmp")
