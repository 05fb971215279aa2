"""The command line run inside the test's own process."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from superpac.cli import main


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def superpac(*words: object, check: bool = True, stdin: str = "") -> Done:
    """Run the command line as a process would, without paying for the start of one each time."""
    out, err = io.StringIO(), io.StringIO()
    saved = sys.argv, sys.stdin
    sys.argv, sys.stdin = ["superpac", *map(str, words)], io.StringIO(stdin)
    code = 0
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv, sys.stdin = saved
    if check:
        assert code == 0, err.getvalue()
    return Done(code, out.getvalue(), err.getvalue())
