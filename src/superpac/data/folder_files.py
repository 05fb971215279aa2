"""Files below a folder, as people mean them: no hidden ones, in the order of their names."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from superpac.data.checks import reading
from superpac.errors import DataError
from superpac.system.safe_text import well_formed


def files_below(folder: Path) -> list[Path]:
    """Every file below a folder but hidden ones, sorted by the parts of its path.

    Links to folders are not followed; links to files are among the files (see `leads_out`). A file
    instead of a folder is itself all there is.
    """
    if folder.is_file():
        return [folder]
    found: list[Path] = []
    with reading(folder, "a folder"):
        for here, below, files in os.walk(folder, onerror=_raise):
            below[:] = [d for d in below if not d.startswith(".") and d != "__MACOSX"]
            found += [Path(here, name) for name in files if not name.startswith(".")]
    return sorted(found, key=lambda p: p.relative_to(folder).parts)


def name_below(path: Path, folder: Path) -> str:
    """Path of a file below a folder, as people write it; its own name where it was given itself.

    A file name may be any bytes; the page, exports and terminals need text.
    """
    return well_formed((path.relative_to(folder) if path != folder else Path(path.name)).as_posix())


def leads_out(path: Path, folder: Path) -> bool:
    """Whether a file is a link to what lies outside of the folder."""
    return path.is_symlink() and not path.resolve().is_relative_to(folder.resolve())


def tally(endings: Counter[str]) -> str:
    """Name the endings that occur most.

    Examples
    --------
    >>> tally(Counter({".txt": 3, ".pdf": 1})), tally(Counter())
    ('3 x .txt, 1 x .pdf', 'nothing')
    """
    return ", ".join(f"{n} x {s}" for s, n in endings.most_common(3)) or "nothing"


BROKEN = "(broken)"  # class of a file that lies in no folder and is left out


def own_folders(folder: Path, names: Sequence[str], broken: Collection[int] = ()) -> list[str]:
    """Folder that each file lies in, as its true class; names are paths below `folder`.

    What is broken and will be left out needs none, wherever it lies.
    """
    if folder.is_file():
        return [folder.resolve().parent.name]
    parents = [n.rpartition("/")[0] for n in names]
    for i, parent in enumerate(parents):
        if not parent and i not in broken:
            raise DataError(
                f"{folder / names[i]}: lies in no sub-folder, so labels='folders' has "
                "no class for it; move it into one, or leave labels out."
            )
    return [parent or BROKEN for parent in parents]


def _raise(error: OSError) -> None:
    raise error
