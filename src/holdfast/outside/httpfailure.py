"""Explains in words why a request did not reach its server."""

from __future__ import annotations

WORDS = {
    "ConnectError": "the connection was refused, or the name is unknown",
    "ProxyError": "the proxy refused the connection",
    "UnsupportedProtocol": "the address is neither http nor https",
    "ReadError": "the connection broke off",
    "WriteError": "the connection broke off",
    "CloseError": "the connection broke off",
    "RemoteProtocolError": "the server broke off, or does not speak HTTP",
    "DecodingError": "the answer cannot be unpacked",
    "TooManyRedirects": "the server redirects without end",
    "InvalidURL": "the address, or that of the proxy, is not valid",
    "ImportError": "the proxy needs a package that is not installed (httpx[socks])",
    "ValueError": "the address, or that of the proxy, is not valid",
}
"""Words by the name of httpx's error class, or of one of its base classes."""


def failure_words(exc: BaseException) -> str:
    """Return why the request failed. The error's own text is left out, since it may hold a login from an address."""
    names = (kind.__name__ for kind in type(exc).__mro__)
    return next((WORDS[name] for name in names if name in WORDS), "the request failed")
