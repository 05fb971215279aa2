"""Tables: CSV and Parquet files and DataFrames, checked cell by cell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superpac.data import csv_text
from superpac.data.checks import EXACT, as_points, reading
from superpac.data.dataset import Dataset
from superpac.data.limits import check_size
from superpac.errors import DataError, SuperpacError
from superpac.system.optional import require

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

Column = str | int
_INDEX_NAMES = ("", "__index_level_0__")


def load_csv(path: Path, **options: Any) -> Dataset:
    """Read a CSV file (comma, semicolon, tab or bar; with or without a header line).

    Every column must be numeric but those named by `labels` and `ids`. Without a header the
    columns are named "0", "1", ... A first column without a name, as pandas writes its index,
    is taken as ids.
    """
    with reading(path, "a CSV file"):
        layout = csv_text.inspect(path)
        columns = list(layout.columns)
        places = places_of(options.get("labels"), options.get("ids"), columns, path)
        texts = {k for k in places if k is not None}
        X, words = csv_text.read(path, layout, texts)
        try:
            data = _dataset(
                columns,
                len(X),
                words.__getitem__,
                lambda rest: X,
                name=path.stem,
                source=str(path),
                named=layout.header,
                **options,
            )
        except SuperpacError:
            csv_text.explain(path, layout, skip=texts)  # says on which line
            raise
        if max(np.abs(data.X.max()), np.abs(data.X.min())) >= EXACT:
            # Integers of twenty digits arrive as rounded floats; they are ids more often than not.
            csv_text.explain(path, layout, skip=texts)
        return data


def load_parquet(path: Path, **options: Any) -> Dataset:
    """Read a Parquet file; `labels` and `ids` name columns."""
    with reading(path, "a Parquet file"):
        return _from_table(parquet_table(path), name=path.stem, source=str(path), **options)


def parquet_table(path: Path) -> pa.Table:
    """Read all columns of a Parquet file that is not too large."""
    require("tables", f"{path}: a Parquet file")
    import pyarrow.parquet

    with reading(path, "a Parquet file"):
        file = pyarrow.parquet.ParquetFile(path)
        _check_parquet(file.metadata, path)
        # texts stay in a dictionary: one of a megabyte may be there once and stand in every row
        texts = [f.name for f in file.schema_arrow if _is_text(f.type)]
        file = pyarrow.parquet.ParquetFile(path, read_dictionary=texts)
        table = file.read()
        for name in texts:
            _check_texts(table.column(name), f"{path}, column {name!r}")
        return table


def _check_parquet(meta: pq.FileMetaData, path: Path) -> None:
    """Refuse a file whose own figures say that it is too large."""
    packed = path.stat().st_size
    check_size(meta.num_rows * meta.num_columns, 8, str(path), rows=meta.num_rows, packed=packed)
    groups = (meta.row_group(k) for k in range(meta.num_row_groups))
    unpacked = sum(group.total_byte_size for group in groups)
    check_size(max(0, unpacked), 1, str(path), packed=packed)


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return pa.types.is_string(kind) or pa.types.is_binary(kind)


def _check_texts(column: pa.ChunkedArray, where: str) -> None:
    """Refuse texts that would take too much once each row has its own."""
    import pyarrow.compute as pc

    size = 0
    for chunk in column.chunks:
        longest = pc.max(pc.binary_length(chunk.dictionary)).as_py() if len(chunk) else 0
        size += (longest or 0) * len(chunk)
    check_size(size, 1, where)


def load_frame(frame: pd.DataFrame, **options: Any) -> Dataset:
    """Take a DataFrame; an index that is not just row numbers names the points."""
    require("tables", "A DataFrame")
    import pandas as pd
    import pyarrow as pa

    with reading(Path("DataFrame"), "a table"):
        plain = frame.rename(columns=str)
        try:
            table = pa.Table.from_pandas(plain, preserve_index=False)
        except pa.ArrowException as error:
            raise DataError(
                f"DataFrame: holds objects that are not numbers ({error}); "
                "turn the columns into numbers or leave them out."
            ) from error
        if options.get("ids") is None and not isinstance(frame.index, pd.RangeIndex):
            options["ids"] = [str(v) for v in frame.index]
        return _from_table(table, name="table", source="DataFrame", **options)


def _from_table(table: pa.Table, **options: Any) -> Dataset:
    """Take a table of pyarrow's."""
    columns = [str(c) for c in table.column_names]

    def numbers(rest: list[int]) -> NDArray:
        arrays = [_numbers(table.column(k), columns[k], options["source"]) for k in rest]
        X = np.empty((table.num_rows, len(rest)), dtype=np.result_type(*arrays) if rest else float)
        for j, values in enumerate(arrays):
            X[:, j] = values
        return X

    return _dataset(
        columns, table.num_rows, lambda k: table.column(k).to_pylist(), numbers, **options
    )


def _dataset(
    columns: list[str],
    n_rows: int,
    texts: Callable[[int], list[Any]],
    numbers: Callable[[list[int]], NDArray],
    *,
    name: str,
    source: str,
    named: bool = True,
    labels: Column | ArrayLike | None = None,
    ids: Column | ArrayLike | None = None,
    image_shape: tuple[int, ...] | None = None,
) -> Dataset:
    """Make points of columns: those of labels and ids through `texts`, all others are numbers."""
    if n_rows == 0 and columns:
        raise DataError(f"{source}: has no rows of values; give at least two points.")
    label_at, id_at = places_of(labels, ids, columns, Path(source))
    rest = [k for k in range(len(columns)) if k not in (label_at, id_at)]
    if not rest:
        raise DataError(
            f"{source}: no column is left for the points (D = 0); give at least one numeric column."
        )
    features = [columns[k] for k in rest]
    return Dataset(
        as_points(numbers(rest), source, features),
        ids=ids if id_at is None else texts(id_at),  # type: ignore[arg-type]
        y=labels if label_at is None else texts(label_at),  # type: ignore[arg-type]
        name=name,
        kind="image" if image_shape else "table" if named else "vector",
        image_shape=image_shape,
        columns=tuple(features) if named else None,
        source=source,
    )


def places_of(
    labels: Any, ids: Any, columns: list[str], path: Path
) -> tuple[int | None, int | None]:
    """Columns of labels and of ids; where no ids are given, an index that pandas wrote."""
    label_at = position(labels, columns, path, "labels")
    id_at = position(ids, columns, path, "ids")
    if ids is None and columns:
        id_at = next((k for k in (0, len(columns) - 1) if columns[k] in _INDEX_NAMES), None)
    return label_at, id_at


def position(given: Any, columns: list[str], path: Path, option: str) -> int | None:
    """Column number of a name or a position; None where values were given instead."""
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        if -len(columns) <= given < len(columns):
            return int(given) % len(columns)
        raise DataError(f"{path}: has no column {given} for {option}=, only {len(columns)}.")
    if not isinstance(given, str):
        return None
    at = [k for k, c in enumerate(columns) if c == given]
    if len(at) == 1:
        return at[0]
    shown = ", ".join(repr(c) for c in columns[:12]) + (", ..." if len(columns) > 12 else "")
    problem = "several columns" if at else "no column"
    raise DataError(f"{path}: has {problem} {given!r} for {option}=; its columns are {shown}.")


def _numbers(column: pa.ChunkedArray, name: str, source: str) -> NDArray:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy()))
        raise DataError(
            f"{source}: row {row} (counted from 0), column {name!r} is empty; remove the row, "
            "fill the value in, or drop the column."
        )
    if pa.types.is_boolean(kind):
        return column.to_numpy().astype(np.uint8)
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64()).to_numpy()
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        first = str(column[0].as_py())[:40] if len(column) else ""
        raise DataError(
            f"{source}: row 0 (counted from 0), column {name!r} holds {first!r} ({kind}), which "
            f"is not a number; if the column is the true class or an id say so with "
            f"labels={name!r} or ids={name!r}, else remove it or turn it into numbers."
        )
    values = column.to_numpy()
    if pa.types.is_integer(kind):
        as_points(values[:, None], source, [name])  # before other columns make floats of it
    return values
