"""The SDK: sessions that an agent in Python reports, and clients of a server on another machine.

It may touch: `outside`, `domain`, `lean` and `errors`. A server's operation is described once, for both clients.
Begin with `client`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.client.client import AsyncClient, Client
    from holdfast.client.session import AsyncSession, Session

__all__ = ["AsyncClient", "AsyncSession", "Client", "Session"]


def __getattr__(name: str) -> object:
    """Return a public name, loaded when it is used: a memory needs `session` alone, and no HTTP library."""
    if name not in __all__:
        raise AttributeError(f"module 'holdfast.client' has no attribute {name!r}")
    module = __import__(f"holdfast.client.{'client' if name.endswith('Client') else 'session'}", fromlist=[name])
    value: object = getattr(module, name)
    return value
