"""Finds hidden characters, which a person does not see, and characters that look like others.

All code that stores, judges, delivers or prints text uses these tests. Hooks import this module, so it avoids `re`.
"""

from __future__ import annotations

from unicodedata import category, normalize

_KEPT = frozenset("\n\t")
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
)
"""Letters and marks that show nothing: fillers, joiners and variation selectors, which can carry bytes."""
_EMOJI_STYLE = "\ufe0f"
_LINE_ENDS = {"\u2028": "\n", "\u2029": "\n", "\x85": "\n", "\x0b": "\n", "\x0c": "\n"}

_LOOK_ALIKES = {
    **dict(zip(
        "\u0430\u0431\u0432\u0433\u0434\u0435\u0451\u0437\u0456\u0458\u043a\u043c\u043d\u043e\u0440\u0441\u0455"
        "\u0442\u0443\u0445\u04bb\u0501\u051b\u051d\u044c\u0475",
        "abbrdeesijkmhopcstyxhdqwbv", strict=True,
    )),
    **dict(zip(
        "\u03b1\u03b2\u03b3\u03b4\u03b5\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03c9\u03f2",
        "abydeikuvoptuxwc", strict=True,
    )),
    **dict.fromkeys("\uff1c\u2039\u3008\u27e8\u02c2\u1438\u276e\ufe64\u300a\u227a\U000104a0", "<"),
    **dict.fromkeys("\uff1e\u203a\u3009\u27e9\u02c3\u1433\u276f\ufe65\u300b\u227b", ">"),
    **dict.fromkeys("\u2044\u2215\uff0f\u29f8", "/"),
    "\u0131": "i", "\u0261": "g", "\u0251": "a", "\u217c": "l", "\u04cf": "l", "\uff70": "-",
    "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2212": "-",
}  # fmt: skip
"""Letters of other scripts and signs that look like those of a tag. Source: Unicode's confusables.txt, in part."""


def is_hidden(char: str) -> bool:
    """Return whether a character is invisible or steers the display (control, format, surrogate, tag, filler)."""
    if " " <= char <= "~" or char in _KEPT:
        return False
    return (
        category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") or char in _INVISIBLE or 0xE0000 <= ord(char) <= 0xE0FFF
    )


def without_hidden(text: str) -> str:
    """Return the text without hidden characters; unusual line ends become plain ones."""
    if text.isascii() and (text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable()):
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(_LINE_ENDS.get(char, "" if is_hidden(char) else char) for char in text)


def hides_something(text: str) -> bool:
    """Return whether the text holds invisible characters that no writing system or emoji needs at their place."""
    if text.isascii():
        return False
    for at, char in enumerate(text):
        if char.isascii() or not is_hidden(char):
            continue
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        joins = char in "\u200c\u200d" and not (before.isascii() or after.isascii() or is_hidden(before))
        emoji = char == _EMOJI_STYLE and before and not before.isalpha() and not is_hidden(before)
        if not (joins or emoji or char in "\u00ad\x85\u2028\u2029" or 0xE000 <= ord(char) <= 0xF8FF):
            return True
    return False


def disguises_word(text: str) -> bool:
    """Return whether a word of Latin letters has a Cyrillic or Greek one that looks like one of them.

    A Greek letter at a word's beginning is a sign of physics or mathematics, as in microseconds.
    """
    if text.isascii():
        return False
    words = "".join(char if char.isalpha() else " " for char in text).split()
    return any(_is_disguised(word) for word in words if not word.isascii())


def _is_disguised(word: str) -> bool:
    looks = [at for at, char in enumerate(word) if "\u0370" <= char <= "\u052f" and char.lower() in _LOOK_ALIKES]
    latin = any(char.isascii() for char in word)
    return latin and any(at > 0 or word[at] >= "\u0400" for at in looks)


def folded(text: str) -> str:
    """Return the text with look-alikes replaced by the Latin letters and signs they imitate; of the same length."""
    if text.isascii():
        return text
    return "".join(char if char.isascii() else _folded(char, normalize) for char in text)


def _folded(char: str, normalize: object) -> str:
    plain = _LOOK_ALIKES.get(char) or _LOOK_ALIKES.get(char.lower())
    if plain:
        return plain
    plain = normalize("NFKD", char)[:1]  # type: ignore[operator]
    return plain if plain.isascii() and plain else char
