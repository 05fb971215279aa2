"""Labels and links that people have before they begin, as answers in the log.

A half-sorted collection is a start: items of one label are the same, items of two labels differ,
and groups are called as their labels are. Everything is written in one append under a name of its
own, so that it weighs as one annotator does and is taken back by one undo.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from superpac.answers.acts import KNOWN
from superpac.answers.events import Draft, check_text
from superpac.answers.links import DIFFERENT, SAME
from superpac.data.mixed_tables import cells_of
from superpac.errors import DataError, InputError, NotFoundError

if TYPE_CHECKING:
    from superpac.session.answer_book import AnswerBook

FOLDERS = "folders"
"""Instead of a file: the folder that a file lies in is its label."""

MOST = 20_000
"""Answers that are taken in at most: a model goes through them one by one."""

_ITEM_HEADS = frozenset({"name", "item", "file", "filename", "file_name", "path", "id", "image"})
_LABEL_HEADS = frozenset({"label", "class", "group", "cluster", "tag", "person"})
_WORDS = {
    **dict.fromkeys(("same", "must-link", "must_link", "must", "1", "yes", "true"), SAME),
    **dict.fromkeys(("different", "cannot-link", "cannot_link", "cannot", "0", "-1"), DIFFERENT),
    **dict.fromkeys(("no", "false"), DIFFERENT),
}
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Known:
    """Labels and links that were read, by item number.

    Attributes
    ----------
    groups : dict of str to list of int
        Items of each label.
    links : list of (int, int, str)
        Pairs that are the same or differ.
    unknown : list of str
        Names that no item has.
    """

    groups: dict[str, list[int]]
    links: list[tuple[int, int, str]]
    unknown: list[str]


def read_known(what: str | Path, names: Sequence[str]) -> Known:
    r"""Read labels or links of some items.

    Parameters
    ----------
    what : str or Path
        A table with a column of names and one of labels (empty cells are no label), a table with
        two columns of names and one that says same or different, a ``.json`` file as
        ``superpac export --format links`` writes it, or "folders".
    names : sequence of str
        What the items are called. A file may be named by its path below the folder, by its own name
        or by that without its ending, where no other has it.

    Returns
    -------
    Known

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.csv"
    ...     _ = path.write_text("file,label\na.jpg,Anna\nb.jpg,Ben\nc.jpg,\nz.jpg,Ben\n")
    ...     read_known(path, ["x/a.jpg", "b.jpg", "c.jpg"])
    Known(groups={'Anna': [0], 'Ben': [1]}, links=[], unknown=['z.jpg'])
    """
    path = known_file(what)
    if path is None:
        return _by_folder(names)
    if path.suffix.lower() == ".json":
        return _from_json(path, len(names))
    columns, cells = cells_of(path)
    found = _numbers_of(names)
    if len(columns) == 3:
        return _links(path, _with_heading(columns, cells, found), found)
    if len(columns) < 2:
        raise DataError(f"{path}: has one column; give names in one and labels in another.")
    at, label_at = _columns(path, columns)
    groups: defaultdict[str, list[int]] = defaultdict(list)
    unknown: list[str] = []
    heading = [columns] if _is_row(columns) and columns[at] in found else []
    rows = zip(
        [*(row[at] for row in heading), *cells[at]],
        [*(row[label_at] for row in heading), *cells[label_at]],
        strict=True,
    )
    seen: dict[int, str] = {}
    for name, given in rows:
        item, label = found.get(name.strip()), given.strip()
        if not label:
            continue
        if item is None:
            unknown.append(name)
        elif seen.setdefault(item, label) != label:
            raise DataError(f"{path}: {name!r} has two labels, {seen[item]!r} and {label!r}.")
        elif item not in groups[label]:
            groups[label].append(item)
    return Known(dict(groups), [], unknown)


def known_file(what: str | Path) -> Path | None:
    """File that labels are read from, None for "folders"; one that is missing is told at once.

    Examples
    --------
    >>> known_file("folders") is None
    True
    """
    if what == FOLDERS:
        return None
    path = Path(what).expanduser()
    try:
        there = path.is_file()
    except (OSError, ValueError) as error:
        raise NotFoundError(f"{str(what)[:200]!r} is not a usable path ({error}).") from error
    if not there:
        raise NotFoundError(f"{path}: there is no such file; name one with labels or links.")
    return path


def _columns(path: Path, columns: Sequence[str]) -> tuple[int, int]:
    """Columns of names and of labels: by what they are called, else the first two."""
    lower = [name.strip().lower() for name in columns]
    labels = [k for k, name in enumerate(lower) if name in _LABEL_HEADS]
    at = next((k for k, name in enumerate(lower) if name in _ITEM_HEADS), None)
    if at is not None and labels:
        return at, labels[0]
    if len(columns) == 2:
        return (at, 1 - at) if at is not None else (0, 1)
    raise DataError(
        f"{path}: has {len(columns)} columns; call the one with names 'name' and the one with "
        "labels 'label'."
    )


def _with_heading(
    columns: Sequence[str], cells: Sequence[Sequence[str]], found: dict[str, int]
) -> list[tuple[str, str, str]]:
    """Rows of a table of links, with its first line where that is a link, too."""
    rows = [(a, b, answer) for a, b, answer in zip(*cells, strict=True)]
    first = (columns[0], columns[1], columns[2])
    known = columns[0] in found and columns[1] in found
    return [first, *rows] if known and _is_row(columns) else rows


def _is_row(columns: Sequence[str]) -> bool:
    """Whether a heading may be a row of names: where there is none, columns are numbered."""
    return list(columns) != [str(n) for n in range(len(columns))]


def _links(path: Path, rows: Sequence[tuple[str, str, str]], found: dict[str, int]) -> Known:
    links: list[tuple[int, int, str]] = []
    unknown: list[str] = []
    for a, b, said in rows:
        answer = _WORDS.get(said.strip().lower())
        if answer is None:
            raise DataError(
                f"{path}: the third column says {said[:40]!r} of {a[:40]!r} and {b[:40]!r}; write "
                "same or different."
            )
        i, j = found.get(a.strip()), found.get(b.strip())
        unknown += [name for name, item in ((a, i), (b, j)) if item is None]
        if i is not None and j is not None and i != j:
            links.append((i, j, answer))
    return Known({}, links, unknown)


def _from_json(path: Path, n: int) -> Known:
    """Links as they are exported, by item number."""
    try:
        found: Any = json.loads(path.read_text("utf-8"))
        lists = [(SAME, found["must_link"]), (DIFFERENT, found["cannot_link"])]
        links = [(int(i), int(j), answer) for answer, pairs in lists for i, j in pairs]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"{path}: is no file of links ({str(error)[:80]}); it has two lists of pairs of item "
            "numbers, must_link and cannot_link."
        ) from error
    if any(not 0 <= k < n for i, j, _ in links for k in (i, j)):
        raise DataError(f"{path}: names items beyond 0 to {n - 1}; it is of other data.")
    return Known({}, [link for link in links if link[0] != link[1]], [])


def _by_folder(names: Sequence[str]) -> Known:
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for item, name in enumerate(names):
        folder = name.rpartition("/")[0]
        if folder:
            groups[folder].append(item)
    if not groups:
        raise InputError("--known folders needs files in sub-folders; here are none.")
    return Known(dict(groups), [], [])


def _numbers_of(names: Sequence[str]) -> dict[str, int]:
    """Item by name, by the name of its file, and by that without ending, where only one has it."""
    found: dict[str, int] = {}
    for short in (str, _file, _stem):
        several: defaultdict[str, list[int]] = defaultdict(list)
        for item, name in enumerate(names):
            several[short(name)].append(item)
        for name, items in several.items():
            if len(items) == 1:
                found.setdefault(name, items[0])
    return found


def _file(name: str) -> str:
    return name.rpartition("/")[2]


def _stem(name: str) -> str:
    return Path(_file(name)).stem


@dataclass(frozen=True)
class Taken:
    """How many answers and names were written; 0 where all of it was there already."""

    answers: int
    named: int


def take_known(book: AnswerBook, known: Known, annotator: str = "known") -> Taken:
    """Write labels and links to a log as answers, in one append; the same again writes nothing.

    Parameters
    ----------
    book : AnswerBook
        A session.
    known : Known
        What is known.
    annotator : str
        Under which name.

    Returns
    -------
    Taken

    Raises
    ------
    InputError
        Where it would be more answers than a session goes through in reasonable time.

    Examples
    --------
    >>> from superpac.answers.events import SessionInfo
    >>> from superpac.answers.log import MemoryLog
    >>> from superpac.session.answer_book import AnswerBook
    >>> book = AnswerBook(MemoryLog(SessionInfo("a1", "five", "", "f00d", 5)))
    >>> known = Known({"Anna": [0, 1], "Ben": [3]}, [], [])
    >>> take_known(book, known), take_known(book, known)
    (Taken(answers=2, named=2), Taken(answers=0, named=0))
    >>> book.state.constraints.implied(1, 3)
    'different'
    """
    pairs = list(known.links)
    for items in known.groups.values():
        pairs += [(items[0], other, SAME) for other in items[1:]]
    firsts = [items[0] for items in known.groups.values()]
    pairs += [(i, j, DIFFERENT) for i, j in combinations(firsts, 2)]
    if len(pairs) > MOST:
        raise InputError(
            f"These would be {len(pairs):,} answers, at most {MOST:,} are taken in; give labels of "
            "fewer items."
        )
    said = json.dumps([sorted(pairs), sorted(known.groups)])
    key = f"known-{sha256(said.encode()).hexdigest()[:32]}"
    if book.events_under(key):
        return Taken(0, 0)
    drafts: list[Draft] = [
        Draft(
            "answer",
            {"i": new.i, "j": new.j, "answer": new.answer, "group": key, "why": {KNOWN: True}},
            annotator,
        )
        for new in book.news(pairs, asked=True, annotator=annotator)
    ]
    count = len(drafts)
    for label, items in known.groups.items():
        name = check_text("label", label[:_LONGEST_NAME], _LONGEST_NAME)
        drafts.append(Draft("name", {"name": name, "item": items[0], "group": key}, annotator))
    if drafts:
        book.act(("known", key), lambda: drafts, annotator=annotator, key=key)
    return Taken(count, len(known.groups))
