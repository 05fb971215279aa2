"""One item as somebody who compares items gets it: a file, a text, a picture, a row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from superpac.data.dataset import Dataset

    Seen = Path | str | dict[str, Any] | NDArray


def seen_item(data: Dataset, i: int) -> Seen:
    """Give point i as it was before it became a vector; never its true class.

    Parameters
    ----------
    data : Dataset
        The items.
    i : int
        Row number.

    Returns
    -------
    Path, str, dict or ndarray
        The path of a file; the words of a text; the values of a table's row by column; a picture
        that came without a file, or is a part of one, as an array of height x width (x 3); else
        the vector.

    Examples
    --------
    >>> from superpac.data import Dataset
    >>> seen_item(Dataset([[1.5, 2], [3, 4]], columns=("width", "height")), 0)
    {'width': 1.5, 'height': 2.0}
    """
    if data.cuts is not None:
        return np.asarray(data.draw(i).convert("RGB"))
    for things in (data.texts, data.sounds, data.paths):
        if things is not None:
            return things[i]
    if data.rows is not None:
        return dict(zip(data.columns or (), data.rows[i], strict=True))
    row: NDArray = (data.X if data.shown is None else data.shown)[i]
    if data.kind == "table" and data.columns is not None:
        return dict(zip(data.columns, row.tolist(), strict=True))
    return row.reshape(data.image_shape).copy() if data.image_shape is not None else row.copy()
