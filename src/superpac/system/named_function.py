"""A person's own function, by name: ``module:function``, or ``file.py:function``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from superpac.errors import InputError, NotFoundError, SuperpacError


def load_function(named: str) -> Callable[..., Any]:
    """Import the function that ``module:function`` or ``file.py:function`` names.

    Modules are looked for in the current folder first, then among what is installed.

    Parameters
    ----------
    named : str
        Where it is and what it is called.

    Returns
    -------
    callable

    Raises
    ------
    InputError
        When the name is not of this form, or the module cannot be imported.
    NotFoundError
        When there is no such module, file or function.

    Examples
    --------
    >>> load_function("math:hypot")(3, 4)
    5.0
    """
    place, colon, name = named.rpartition(":")
    if not (place and colon and name.isidentifier()):
        raise InputError(
            f"A function is named module:function or file.py:function; got {named[:80]!r}."
        )
    module = _from_file(Path(place)) if place.endswith(".py") else _from_name(place)
    found = getattr(module, name, None)
    if not callable(found):
        has = "no function" if found is None else f"{type(found).__name__}, and no function,"
        raise NotFoundError(f"{place} has {has} called {name!r}; check the name.")
    return found


def _from_file(path: Path) -> ModuleType:
    """Run a file as a module; what lies beside it is found, as when the file is run."""
    if not path.is_file():
        raise NotFoundError(f"There is no file {path}; check the path of the function.")
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} cannot be read as Python; name another file.")
    module = module_from_spec(spec)
    with _searched_first(path.resolve().parent), _in_one_sentence(str(path)):
        spec.loader.exec_module(module)
    return module


def _from_name(place: str) -> ModuleType:
    """Import a module."""
    with _searched_first(Path.cwd()), _in_one_sentence(place):
        try:
            return import_module(place)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{place}.".startswith(f"{error.name}."):
                raise  # something that it imports is missing
            raise NotFoundError(
                f"There is no module {place!r} in {Path.cwd()} or among what is installed; check "
                "the name."
            ) from error


@contextmanager
def _searched_first(folder: Path) -> Iterator[None]:
    """Let a folder be searched for modules, before all others."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))


@contextmanager
def _in_one_sentence(place: str) -> Iterator[None]:
    """Say in a sentence what a module did wrong while it was imported."""
    try:
        yield
    except SuperpacError:
        raise
    except (Exception, SystemExit) as error:
        words = " ".join(str(error).split())[:200]
        raise InputError(
            f"{place} cannot be imported ({type(error).__name__}: {words}); mend it."
        ) from error
