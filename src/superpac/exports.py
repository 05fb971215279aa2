"""Clusters and answers written to files that other tools read. Every file appears whole or not."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from superpac.data import Dataset
from superpac.errors import InputError
from superpac.session import Session

RISKY = ("=", "+", "-", "@", "\t", "\r")


def neutral(cell: object) -> str:
    """Text for a CSV cell that no spreadsheet runs as a formula.

    References
    ----------
    OWASP, "CSV injection".

    Examples
    --------
    >>> neutral("=1+1"), neutral("face 12"), neutral(-3)
    ("'=1+1", 'face 12', '-3')
    """
    text = str(cell)
    if isinstance(cell, str) and text.startswith(RISKY):
        return "'" + text
    return text


def write_whole(path: str | Path, content: bytes) -> Path:
    """Write a file next to its place, sync it and move it there, so that no half file is seen."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(
            f"{target} cannot be written: {error.strerror or error}; choose another place."
        ) from None
    return target


def write_labels(path: str | Path, items: Dataset, clusters: NDArray) -> Path:
    """Write item and cluster as CSV.

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
    return write_whole(path, _csv(["item", "cluster"], zip(items.ids, clusters, strict=True)))


def table(session: Session) -> pd.DataFrame:
    """One row an item: its cluster, the cluster's name, whether its group is settled by answers."""
    labels = session.labels()
    known = session.fold.state.constraints
    settled = np.zeros(len(session.data), dtype=bool)
    for group in known.sets():
        settled[group] = True
    names = session.fold.cluster_names
    return pd.DataFrame(
        {
            "item": [str(i) for i in session.data.ids],
            "cluster": labels.astype(np.int64),
            "name": [names.get(int(c), "") for c in labels],
            "settled": settled,
            "set_aside": [i in session.fold.state.bad for i in range(len(session.data))],
        }
    )


def answer_rows(session: Session) -> Iterator[dict[str, Any]]:
    """Standing answers, one dict each."""
    ids = session.data.ids
    for event in session.fold.standing():
        body = event.body
        yield {
            "seq": event.seq,
            "i": int(body["i"]),
            "j": int(body["j"]),
            "item_i": str(ids[body["i"]]),
            "item_j": str(ids[body["j"]]),
            "answer": body["answer"],
            "annotator": event.annotator,
            "at": event.at,
            "elapsed_ms": event.elapsed_ms,
        }


def as_csv(session: Session) -> bytes:
    """Items and clusters as CSV, formulas neutralised."""
    frame = table(session)
    return _csv(list(frame.columns), frame.itertuples(index=False))


def as_parquet(session: Session) -> bytes:
    """Items and clusters as Parquet, values exact."""
    buffer = io.BytesIO()
    table(session).to_parquet(buffer, index=False)
    return buffer.getvalue()


def as_jsonl(session: Session) -> bytes:
    """Items and clusters, one JSON object a line."""
    rows = table(session).to_dict(orient="records")
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def as_answers(session: Session) -> bytes:
    """Answers, one JSON object a line."""
    rows = answer_rows(session)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def as_links(session: Session) -> bytes:
    """Must-link and cannot-link pairs as JSON, by item index."""
    known = session.fold.state.constraints
    links = {"must_link": known.must_links(), "cannot_link": known.cannot_link_pairs()}
    return json.dumps({name: pairs.tolist() for name, pairs in links.items()}).encode()


FORMATS: dict[str, Callable[[Session], bytes]] = {
    "csv": as_csv,
    "parquet": as_parquet,
    "jsonl": as_jsonl,
    "answers": as_answers,
    "links": as_links,
}


def export(session: Session, path: str | Path, form: str | None = None) -> Path:
    """Write a session's clusters or answers to a file.

    Parameters
    ----------
    session : Session
        What to write.
    path : path
        Where to.
    form : str, optional
        One of ``FORMATS``; by default what the ending of `path` says.

    Returns
    -------
    Path
    """
    chosen = form or Path(path).suffix.lstrip(".").lower()
    if chosen not in FORMATS:
        raise InputError(
            f"There is no export format {chosen!r}; choose one of: {', '.join(FORMATS)}."
        )
    return write_whole(path, FORMATS[chosen](session))


def _csv(header: list[str], rows: Any) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([neutral(cell) for cell in row] for row in rows)
    return text.getvalue().encode()
