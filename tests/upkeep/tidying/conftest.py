"""The fixtures of this room's tests."""

from __future__ import annotations

from tests.harbour import memory, project

__all__ = ["memory", "project"]
