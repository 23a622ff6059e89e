"""Cuts text into search terms, in the same way for stored texts and for questions.

No regular expressions: importing `re` costs a cold hook 5 ms. The loops run over words, never over characters of plain
words, so 2 KB of text take a fraction of a millisecond.
"""

from __future__ import annotations

from unicodedata import category, normalize

WORD_LIMIT = 64
"""Longer runs of letters and digits are encoded data, not words."""
KNOWN_CHUNKS = 5_000
"""Chunks of texts whose terms a process keeps: 2 MB."""
CHUNK_LIMIT = 200
"""Longest compound (a path, a dotted name) that is kept whole."""

_JOINERS = "._-/:\\@#+$"
"""Characters that join an identifier, a path or a version."""
_EDGES = "._-/:\\@$"
"""Joiners without meaning at a word's edge; `c#` and `c++` keep theirs."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set; word lists are written in this form."""
    return frozenset(text.split())


STOP_WORDS = word_set(
    """
    a about after again all also am an and any anything are aren as at be because been before being both but by can
    cannot come could couldn d did didn do does doesn doing don done each else every few for from get gets getting
    give given gives go goes going got had hadn has hasn have haven having he her here him his how i if in into is
    isn it its itself just keep know let lets like ll make makes may me might more most much must my need needs no
    nor not now of off ok on once one only onto or other our out over own please put re s same shall she should
    shouldn so some something still such t take tell than thank thanks that the their them then there these they
    thing things this those though through to too try trying two under until up upon us use used uses using ve very
    via want wants was wasn way we well went were weren what when where whether which while who whose why will with
    within without won would wouldn yes yet you your
    """
)
"""English words that say nothing about a question's subject; they would match half of any store."""


class _Keep(dict[int, "int | str"]):
    """A `str.translate` table that keeps letters, digits, marks and joiners, isolates emoji and blanks the rest."""

    def __init__(self, joiners: str) -> None:
        joining = frozenset(joiners)
        super().__init__({i: i if chr(i).isalnum() or chr(i) in joining else " " for i in range(128)})

    def __missing__(self, code: int) -> int | str:
        self[code] = f" {chr(code)} " if _emoji(code) else code if category(chr(code))[0] in "LNM" else " "
        return self[code]


_CHUNKS = _Keep(_JOINERS)
_SUBWORDS = _Keep("_")


def terms(text: str) -> list[str]:
    """Return search terms, lower-cased, each once, in order: words, and identifiers and paths both whole and in parts.

    Stop words and single letters are left out. Runs of Chinese, Japanese and Korean become pairs of characters; one
    such character alone stays.
    """
    unique: dict[str, None] = {}
    for chunk in chunks(text):
        unique.update(_TERMS[chunk])
    return list(unique)


class _Terms(dict[str, "dict[str, None]"]):
    """A cache of the terms of text chunks: a question is cut several times, and a long one repeats its words."""

    def __missing__(self, chunk: str) -> dict[str, None]:
        cut = dict.fromkeys(terms_of(chunk))
        if len(chunk) <= WORD_LIMIT:
            if len(self) >= KNOWN_CHUNKS:
                self.clear()
            self[chunk] = cut
        return cut


_TERMS = _Terms()


def forget_words() -> None:
    """Empty the cache of words: a word of a purged lesson must not stay in memory."""
    _TERMS.clear()


def chunks(text: str) -> list[str]:
    """Return the text's words, identifiers and paths, each as often as it occurs."""
    return _normal(text).translate(_CHUNKS).split()


def terms_of(chunk: str) -> list[str]:
    """Return the search terms of one chunk of a text; see `terms`."""
    if chunk.isalpha() and chunk.isascii() and (chunk.islower() or chunk[1:].islower()):
        candidates = [chunk.lower()] if 1 < len(chunk) <= WORD_LIMIT else []  # a plain word: nearly all of them
    else:
        candidates = _of_chunk(chunk)
    return [term for term in candidates if term not in STOP_WORDS]


def expand(text: str) -> str:
    """Return forms that a full-text index cannot derive, joined by spaces, each once.

    These are parts of camelCase and snake_case, pairs of CJK, emoji, and letters without the marks and widths that
    `terms` removes. A store keeps them in a column of its own beside the text.
    """
    forms: dict[str, None] = {}
    plain = _normal(text)
    written = frozenset() if plain is text else frozenset(text.lower().translate(_SUBWORDS).split())
    for word in plain.translate(_SUBWORDS).split():
        if word.isascii() and "_" not in word and (word.islower() or word[1:].islower() or word.isupper()):
            if written and word.lower() not in written:
                forms[word.lower()] = None
            continue
        pieces = _indexed_pieces(word)
        if pieces != [word.lower()] or (written and word.lower() not in written):
            forms.update(dict.fromkeys(pieces))
    return " ".join(piece for piece in forms if len(piece) > 1 or not piece.isascii())


def indexed(term: str) -> str:
    """Return a term in the index's form: an emoji, which the index would drop, becomes a word with its number."""
    return f"zm{ord(term):x}" if len(term) == 1 and _emoji(ord(term)) else term


def is_begun(term: str) -> bool:
    """Return whether the term is a single CJK character, for which the index searches by prefix."""
    return len(term) == 1 and _cjk(term)


def duplicate_key(text: str) -> str:
    """Return the normalised words in order: equal keys say the same, and opposite statements never have equal keys.

    Articles and modal filler are dropped; negations, numbers, operators and identifiers stay.
    """
    words: list[str] = []
    for raw in _normal(text).replace("\u2019", "'").lower().split():
        word = raw.strip("\"'`()[]{}\u201c\u201d,;").rstrip(".,;:!?").strip("\"'`()[]{}\u201c\u201d,;")
        if word and word.strip("-\u2013\u2014*\u2022") and word not in _FILLER:
            words.append(_NEGATIONS.get(word, word))
    return " ".join(words)


_FILLER = word_set(
    """
    a an the please just really simply also is are was were be we i you it that this should must shall always to so
    remember note
    """
)
_NEGATIONS = {
    "don't": "not", "dont": "not", "doesn't": "not", "didn't": "not", "isn't": "not", "aren't": "not",
    "never": "not", "shouldn't": "not", "mustn't": "not", "can't": "cannot", "won't": "not", "wouldn't": "not",
    "do": "", "does": "",
}  # fmt: skip
"""All negations become one word; `do` beside them means nothing."""
_FILLER |= {word for word, plain in _NEGATIONS.items() if not plain}


def _normal(text: str) -> str:
    """Return one form of each letter: full width as usual width, Arabic and Hebrew without vowel signs."""
    if text.isascii():
        return text
    return normalize("NFKC", text).translate(_SIGNS)


_SIGNS = dict.fromkeys(
    [
        *range(0x0591, 0x05BE), 0x05BF, 0x05C1, 0x05C2, 0x05C4, 0x05C5, 0x05C7,
        0x0640, *range(0x064B, 0x0653), 0x0670,
        *range(0xFE00, 0xFE10),
    ]
)  # fmt: skip
"""Characters that show how a letter sounds or looks, and are optional."""


def _of_chunk(chunk: str) -> list[str]:
    """Return the whole and the parts of one compound; nothing if no part is worth a search."""
    whole = chunk.strip(_EDGES).lstrip("#+")
    parts: list[str] = []
    for word in whole.translate(_SUBWORDS).split():
        if len(word) <= WORD_LIMIT or _is_cjk(word):
            lowered = word.lower()
            pieces = _pieces(word)
            parts += pieces if _is_cjk(word) else [lowered, *(piece for piece in pieces if piece != lowered)]
    telling = [part for part in parts if part not in STOP_WORDS and (len(part) > 1 or not part.isascii())]
    lowered = whole.lower()
    if (not telling and not lowered.endswith(("++", "#"))) or len(whole) > CHUNK_LIMIT or _is_cjk(whole):
        return telling
    return [lowered, *telling]


def _indexed_pieces(word: str) -> list[str]:
    """Return the pieces of a word in the index's form, with the last character of a CJK run, which begins no pair."""
    if _is_cjk(word):
        return _pairs(word, ends=True)
    return [indexed(piece) for piece in _pieces(word)] if len(word) <= WORD_LIMIT else []


def _pieces(word: str) -> list[str]:
    """Return a word split at underscores and humps, in lower case; CJK runs as pairs; an unsplit word as it is."""
    if not word.isascii() and _is_cjk(word):
        return _pairs(word)
    pieces: list[str] = []
    for bit in word.split("_"):
        if not bit or bit.islower() or bit.isupper() or bit[1:].islower():
            pieces += [bit.lower()] if bit else []
        else:
            pieces += _humps(bit)
    return pieces


def _humps(bit: str) -> list[str]:
    """Return parse, http, body for `parseHTTPBody`."""
    cuts = [0]
    for i in range(1, len(bit)):
        before, here, after = bit[i - 1], bit[i], bit[i + 1 : i + 2]
        if here.isupper() and (not before.isupper() or (after and after.islower())):
            cuts.append(i)
    return [bit[a:b].lower() for a, b in zip(cuts, [*cuts[1:], len(bit)], strict=True)]


def _is_cjk(word: str) -> bool:
    return not word.isascii() and any(_cjk(c) for c in word)


def _cjk(c: str) -> bool:
    """Return whether the character is Han, kana or hangul: scripts written without (useful) spaces."""
    code = ord(c)
    return (
        0x3040 <= code <= 0x30FF
        or 0x3400 <= code <= 0x9FFF
        or 0xAC00 <= code <= 0xD7AF
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x3FFFF
    )


def _emoji(code: int) -> bool:
    """Return whether the character is a pictograph. Ticks, arrows and dingbats are not: they name no subject."""
    return 0x1F300 <= code <= 0x1FAFF


def _pairs(word: str, ends: bool = False) -> list[str]:
    """Return the pairs of neighbours in CJK runs and the text between runs; `ends` adds each run's last character."""
    pieces: list[str] = []
    run = other = ""
    for c in word + " ":
        if _cjk(c):
            pieces += [other.lower()] if other else []
            run, other = run + c, ""
            continue
        pieces += [run[i : i + 2] for i in range(len(run) - (0 if ends else len(run) > 1))]
        run, other = "", other + c if c != " " else other
    return [*pieces, other.lower()] if other else pieces
