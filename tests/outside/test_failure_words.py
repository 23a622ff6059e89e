"""A request that fails is told of in words, without the error's own text."""

from __future__ import annotations

import httpx2
import pytest

from holdfast.outside.endpoint import failure_words


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (httpx2.ConnectError("http://me:secret@host"), "the connection was refused, or the name is unknown"),
        (httpx2.RemoteProtocolError("x"), "the server broke off, or does not speak HTTP"),
        (httpx2.InvalidURL("http://me:secret@host"), "the address, or that of the proxy, is not valid"),
        (UnicodeError("x"), "the address, or that of the proxy, is not valid"),
        (httpx2.NetworkError("x"), "the request failed"),
    ],
)
def test_a_failure_has_plain_words_and_none_of_its_own(error: Exception, words: str) -> None:
    assert failure_words(error) == words
