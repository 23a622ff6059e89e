"""Holdfast: persistent memory for coding agents.

The public names are loaded on first use, because a hook needs few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast._version import __version__

if TYPE_CHECKING:
    from holdfast.bootstrap import Memory, open_memory
    from holdfast.domain.briefing import Briefing
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.query import Query
    from holdfast.errors import HoldfastError

__all__ = ["Briefing", "HoldfastError", "Lesson", "Memory", "Query", "__version__", "open_memory"]

_HOMES = {
    "Briefing": "holdfast.domain.briefing",
    "HoldfastError": "holdfast.errors",
    "Lesson": "holdfast.domain.lesson",
    "Memory": "holdfast.bootstrap",
    "Query": "holdfast.domain.query",
    "open_memory": "holdfast.bootstrap",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    home = __import__(_HOMES[name], fromlist=[name])
    return getattr(home, name)
