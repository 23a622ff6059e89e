"""The endpoint, running."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from .endpoint import EmbeddingServer


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as opened:
        thread = threading.Thread(target=opened.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield opened
        opened.shutdown()
        thread.join()
