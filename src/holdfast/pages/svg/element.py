"""Elements of SVG as escaped text, and the width that a text will probably have."""

from __future__ import annotations

import re
import unicodedata

from markupsafe import Markup, escape

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*\Z")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Characters that no XML document may contain."""
_NARROW = frozenset("iIjl.,:;'|!`· ")
_SLIM = frozenset('frt()[]{}/\\-"*°')
_WIDE = frozenset("mwMW@%&—…")
WIDTHS = (0.34, 0.46, 1.0, 0.78, 0.64)
"""Widths in ems of narrow, slim and wide characters, of capitals, and of all others: those of DejaVu Sans, the widest
of the fonts that the style sheet names."""
BOLD = 1.14
"""How much wider bold text is."""
MONOSPACE = 0.62
"""Width of a character of a monospaced font in ems."""


def element(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """Return an element. Children that are no `Markup` are escaped; an attribute that is None is left out.

    An underscore at the end of an attribute's name is dropped (`class_`), others become hyphens (`text_anchor`).
    Numbers are rounded to one decimal. Raises ValueError for a name that is not one of XML.
    """
    pairs = [
        f' {_checked(key.rstrip("_").replace("_", "-"))}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    ]
    begin = f"<{_checked(name)}{''.join(pairs)}"
    content = Markup("").join(child if isinstance(child, Markup) else clean(child) for child in children)
    return Markup(f"{begin}>{content}</{name}>") if content else Markup(f"{begin}/>")


def group(children: list[Markup], **attributes: str | float | None) -> Markup:
    """Return the elements as one `g` element."""
    return element("g", *children, **attributes)


def clean(text: str) -> str:
    """Return the text without characters that XML forbids."""
    return _CONTROL.sub("\ufffd", text)


def number(value: float) -> str:
    """Return a number with at most one decimal, as short as possible."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def text_width(text: str, size: float, *, is_code: bool = False) -> float:
    """Estimate the width of a text in a font of that size; bold text is as wide as one `BOLD` times as large."""
    return size * sum(_ems(char, is_code) for char in text)


def clipped(text: str, width: float, size: float, *, is_code: bool = False, keep_end: bool = False) -> str:
    """Return the text, or as much of it as fits into the width, with an ellipsis; empty if nothing fits.

    `keep_end` cuts off the beginning, which is right for paths.
    """
    if text_width(text, size, is_code=is_code) <= width:
        return text
    room = width - text_width("…", size, is_code=is_code)
    fits = 0
    for char in reversed(text) if keep_end else text:
        room -= size * _ems(char, is_code)
        if room < 0:
            break
        fits += 1
    if fits == 0:
        return ""
    return f"…{text[-fits:].lstrip()}" if keep_end else f"{text[:fits].rstrip()}…"


def _ems(char: str, is_code: bool) -> float:
    if unicodedata.east_asian_width(char) in "WF":
        return 1.1
    if is_code:
        return MONOSPACE
    narrow, slim, wide, capital, other = WIDTHS
    if char in _NARROW:
        return narrow
    if char in _SLIM:
        return slim
    if char in _WIDE:
        return wide
    return capital if char.isupper() else other


def _checked(name: str) -> str:
    if not _NAME.match(name):
        raise ValueError(f"not a name in XML: {name!r}")
    return name


def _plain(value: str | float) -> str:
    return clean(value) if isinstance(value, str) else number(value)
