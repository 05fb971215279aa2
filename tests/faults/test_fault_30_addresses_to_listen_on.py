"""Fault 30: an address that others can reach is refused without a flag and a token."""

from __future__ import annotations

import pytest

from superpac.errors import InputError
from superpac.web import security


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "8.8.8.8", "fe80::1"])
def test_an_address_that_others_reach_needs_flag_and_token(host):
    for share, token in ((False, False), (True, False), (False, True)):
        with pytest.raises(InputError, match="--share"):
            security.check_bind(host, share=share, token_given=token)
    assert security.check_bind(host, share=True, token_given=True) == host


def test_names_to_listen_on():
    assert security.check_bind("localhost", share=False, token_given=False) == "127.0.0.1"
    assert security.check_bind("[::1]", share=False, token_given=False) == "::1"
    with pytest.raises(InputError, match="IP address"):
        security.check_bind("example.com", share=True, token_given=True)
