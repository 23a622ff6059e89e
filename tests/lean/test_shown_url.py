"""A store's URL as messages and files may show it."""

from __future__ import annotations

import pytest

from holdfast.lean.texts import shown_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///home/ada@work/m.db", "sqlite:///home/ada@work/m.db"),
        ("postgresql://ada:hunter2@db:5432/memory?org=3&password=hunter2", "postgresql://db:5432/memory?org=3"),
        ("postgresql:///memory?host=/run/pg&user=ada&org=1", "postgresql:///memory?host=/run/pg&org=1"),
        ("postgresql://db/memory", "postgresql://db/memory"),
        ("postgresql://ada:hun/ter2@db/memory", "postgresql://db/memory"),
        ("postgresql://ada:hun?ter2@db/memory", "postgresql://db/memory"),
        ("postgresql:ada:hunter2", "postgresql:"),
    ],
)
def test_a_stores_url_is_shown_without_who_connects(url: str, shown: str) -> None:
    assert shown_url(url) == shown
