"""Words for numbers, as every page says them."""

from __future__ import annotations


def plural(number: int, singular: str, several: str = "") -> str:
    """Return `1 lesson`, `27 lessons`: `{{ page.waiting | plural("lesson") }}`."""
    return f"{number:,} {singular if number == 1 else several or singular + 's'}"
