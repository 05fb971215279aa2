"""Memory that is free, under limits that really hold, and sizes as people write them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from superpac.errors import InputError
from superpac.system.memory import free_bytes, parse_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("12", 12), ("500 MB", 5 * 10**8), (" 2gb ", 2 * 10**9), ("1.5 t", 15 * 10**11)],
)
def test_sizes_are_read(text, size):
    assert parse_bytes("X", text) == size


@pytest.mark.parametrize("text", ["", "-1", "1e9", "ten", "1 PB", "1,5 GB", "9" * 5000, "\u0661"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(InputError, match="X must be a size such as 500 MB"):
        parse_bytes("X", text)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on addresses is Linux's")
def test_the_limit_of_the_process_counts():
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 * 10**8, 3 * 10**8));"
        "from superpac.system.memory import free_bytes; print(free_bytes())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) < 3 * 10**8
    assert free_bytes() > 0
