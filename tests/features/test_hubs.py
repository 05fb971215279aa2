"""Networks of others' libraries: without the library, one sentence says what to install."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from superpac.features.hubs import SentenceFeatures, TimmFeatures
from superpac.system.optional import MissingLibraryError


@pytest.mark.parametrize(("encoder", "things"), [(TimmFeatures, []), (SentenceFeatures, ["a"])])
def test_a_missing_library_is_one_sentence_with_the_command(encoder, things):
    if find_spec(encoder.library):
        pytest.skip(f"{encoder.library} is installed")
    with pytest.raises(MissingLibraryError, match=f"pip install {encoder.package}$") as caught:
        encoder("some-network").transform(things)
    assert str(caught.value).startswith(f"{encoder.prefix}:some-network needs")
