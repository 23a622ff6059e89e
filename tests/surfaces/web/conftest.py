"""A repository with a memory, and its pages."""

from __future__ import annotations

from tests.pages.conftest import memory as memory
from tests.pages.conftest import site as site
