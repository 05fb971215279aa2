"""Results on disk: append-only parts while a run goes on, then one Parquet file with everything.

A part is a text file with one finished trial per line, synced before the next: a kill loses only
the trials that were being computed. The Parquet file holds a row per trial (curves, times, seeds,
settings, machine) and, in its metadata, the figures' layout: drawings need nothing else.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from superpac.errors import ConflictError, DataError, NotFoundError
from superpac.strategies import STRATEGIES
from superpac.system.atomic_files import output

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Row = dict[str, Any]
META = b"superpac"
FORMAT = 1

# columns of the Parquet file in their order, by type
_COLUMNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("string", ("key", "figure", "panel", "method")),
    ("int32", ("trial",)),
    ("string", ("kind", "status", "why", "stopped", "data", "affinity", "strategy", "options")),
    ("int32", ("revision",)),
    ("int64", ("seed", "data_seed")),
    ("int32", ("n", "ambient", "classes_true", "clusters", "dim_used")),
    ("int32", ("questions", "met_at", "mistakes")),
    ("float64", ("wrong", "limit_s", "nmi_last")),
    ("list of float64", ("error", "ari")),
    ("list of float32", ("ask_ms",)),
    ("float64", ("affinity_seconds", "start_seconds", "seconds", "cpu_seconds")),
    ("string", ("facts", "machine")),
)
TEXTS = ("options", "facts", "machine")
COUNTS = ("n", "ambient", "classes_true", "clusters", "dim_used", "questions", "met_at", "mistakes")


def revision_of(strategy: str) -> int:
    """Revision of a strategy as it is now; 1 for what has none, such as an oracle."""
    return STRATEGIES[strategy].revision if strategy in STRATEGIES else 1


class Parts:
    """The append-only parts of a run.

    Parameters
    ----------
    folder : path
        Where they are kept, one per figure.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._open: dict[str, IO[bytes]] = {}

    def rows(self) -> list[Row]:
        """Read every whole line; of trials run twice the last. A line cut short is left out."""
        found: dict[str, Row] = {}
        for path in sorted(self.folder.glob("*.jsonl")):
            for line in path.read_bytes().split(b"\n"):
                row = _row(line)
                if row is not None:
                    found[row["key"]] = row
        return list(found.values())

    def append(self, row: Row) -> None:
        """Add a finished trial; it is on disk when this returns."""
        file = self._open.get(row["figure"])
        if file is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / f"{row['figure']}.jsonl"
            file = self._open[row["figure"]] = path.open("ab")
            if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
                file.write(b"\n")  # a kill cut the last line short: the next one begins afresh
        file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())

    def close(self) -> None:
        """Close the files."""
        for file in self._open.values():
            file.close()
        self._open.clear()


@contextmanager
def only_run(folder: str | Path) -> Iterator[None]:
    """Hold a folder for one run; another one is refused until this ends, however it ends."""
    root = Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConflictError(
                f"Another run is writing to {root}; wait for it, or name another folder with --out."
            ) from None
        yield


@dataclass
class Results:
    """A finished run as read from its Parquet file.

    Attributes
    ----------
    table : pandas.DataFrame
        A row per trial.
    meta : dict
        ``figures`` (their layout), ``commands``, ``date``, ``skipped`` (what was left out and why),
        ``seconds``, ``quick``.
    """

    table: pd.DataFrame
    meta: dict[str, Any]

    def select(self, figure: str, panel: str, method: str) -> pd.DataFrame:
        """Trials of one line that were finished, in order."""
        t = self.table
        here = (t["figure"] == figure) & (t["panel"] == panel) & (t["method"] == method)
        return t[here & (t["status"] == "done")].sort_values("trial")

    def older(self, figure: str, panel: str, method: str) -> bool:
        """Whether a line holds trials of an older revision of its strategy."""
        trials = self.select(figure, panel, method)
        return any(
            row.revision != revision_of(row.strategy)
            for row in trials[["revision", "strategy"]].drop_duplicates().itertuples()
        )

    def curves(self, figure: str, panel: str, method: str) -> NDArray[np.float64]:
        """Error after 0, 1, 2, ... questions, a row per trial.

        A trial with nothing left to ask keeps its last error; one that was stopped for time is
        NaN from there on.
        """
        return stack(self.select(figure, panel, method))


def stack(trials: pd.DataFrame, column: str = "error") -> NDArray[np.float64]:
    """Curves of several trials as one table, a row per trial."""
    if trials.empty:
        return np.zeros((0, 0))
    longest = max(len(curve) for curve in trials[column])
    longest = max(longest, int(trials["questions"].max()) + 1)
    table = np.full((len(trials), longest), np.nan)
    for r, (curve, stopped) in enumerate(zip(trials[column], trials["stopped"], strict=True)):
        table[r, : len(curve)] = curve
        if stopped != "time" and len(curve):
            table[r, len(curve) :] = curve[-1]
    return table


def write_results(path: str | Path, rows: list[Row], meta: Mapping[str, Any]) -> Path:
    """Write one Parquet file, whole or not at all.

    Parameters
    ----------
    path : path
        File to write.
    rows : list of dict
        Trials.
    meta : mapping
        JSON values: see :class:`Results`.

    Returns
    -------
    Path
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    target = Path(path)
    ordered = sorted(rows, key=lambda r: (r["figure"], r["panel"], r["method"], r["trial"]))
    columns = {
        name: [_cell(row, name, kind) for row in ordered]
        for kind, names in _COLUMNS
        for name in names
    }
    table = pa.table(columns, schema=_schema())
    text = json.dumps({"format": FORMAT, **meta}).encode()
    table = table.replace_schema_metadata({META: text})
    with output(target, private=False) as file:
        pq.write_table(table, file, compression="zstd", compression_level=9)
    return target


def read_results(path: str | Path) -> Results:
    """Read what :func:`write_results` wrote.

    Parameters
    ----------
    path : path
        The Parquet file.

    Returns
    -------
    Results
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = Path(path)
    if not source.is_file():
        raise NotFoundError(f"There are no results in {source}; run superpac reproduce first.")
    try:
        table = pq.read_table(source)
        meta = json.loads((table.schema.metadata or {})[META])
    except (pa.ArrowException, KeyError, ValueError):
        raise DataError(f"{source} is not a result of superpac reproduce; run it again.") from None
    if meta.get("format") != FORMAT:
        raise DataError(f"{source} was written by another version of superpac; run it again.")
    frame = table.to_pandas()
    for name in TEXTS:
        frame[name] = [json.loads(text) for text in frame[name]]
    if "revision" not in frame:  # written before trials noted it
        frame["revision"] = 0
    return Results(frame, meta)


def finished_rows(path: str | Path) -> list[Row]:
    """Trials of a Parquet file as they were appended; none where it cannot be read.

    Parameters
    ----------
    path : path
        The Parquet file.

    Returns
    -------
    list of dict
    """
    try:
        read_results(path)
    except (NotFoundError, DataError):
        return []
    import pyarrow.parquet as pq

    rows: list[Row] = pq.read_table(path).to_pylist()
    for row in rows:
        row.update({name: json.loads(row[name]) for name in TEXTS})
    return rows


def _schema() -> pa.Schema:
    """Types of the columns as pyarrow has them."""
    import pyarrow as pa

    def typed(kind: str) -> pa.DataType:
        inner = kind.removeprefix("list of ")
        one = pa.type_for_alias(inner)
        return one if inner == kind else pa.list_(one)

    return pa.schema([(name, typed(kind)) for kind, names in _COLUMNS for name in names])


def _cell(row: Row, name: str, kind: str) -> Any:
    """A trial's value for a column, or what stands for none."""
    if name in TEXTS:
        return json.dumps(row.get(name) or {}, sort_keys=True)
    if kind.startswith("list"):
        return row.get(name) or []
    if name in COUNTS:
        return int(row.get(name, -1))
    return row.get(name, "" if kind == "string" else 0)


def _row(line: bytes) -> Row | None:
    """A trial from a line of a part; None where it is no whole trial."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and {"key", "figure", "status"} <= set(row) else None
