"""Splits a rules file (CLAUDE.md, AGENTS.md, SKILL.md, .cursorrules, …) into addressable units, to deliver by section.

A unit is one heading with its own text, without the headings below it. A long one is cut between paragraphs, list items
and lines into numbered parts. Code fences, tables and HTML comments are never cut. Every line that is not blank is in
exactly one unit, except headings that only other headings follow.
"""

from __future__ import annotations

from itertools import pairwise
from operator import mul

from holdfast.errors import InvalidValueError
from holdfast.lean.records import Frozen
from holdfast.ranking.bm25 import bm25
from holdfast.rendering.budget import count_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from markdown_it.token import Token

    from holdfast.ports.embedder import Embedder

PART_TOKENS = 300
"""A section with more tokens is cut into parts of at most about that many."""
CONTRACT_LIMIT = 100
"""Characters of a unit's line in an outline."""
FRONT_MATTER, PREAMBLE = "front-matter", "preamble"
"""Addresses of what comes before the first heading."""
HEADING_WEIGHT = 2
"""How many times a unit's headings count as words of it."""
NEIGHBOUR = 0.2
"""Share of the score of the unit before or after it that counts for a unit."""
LIKENESS_WEIGHT, LIKENESS_LEAST = 0.6, 0.15
"""What a cosine of 1 is worth beside the best match of words, and the least that counts where no word matches."""
EMBEDDED_LIMIT = 1_500
"""Characters of a unit that are placed by meaning."""
BUDGET_LEAST, BUDGET_SHARE = 800, 0.4
"""The default budget: that share of the file's tokens, but at least so many. All of these were chosen on the
development part of `benchmarks/compile.py`."""
LANGUAGES = {
    "py": "python", "ts": "typescript", "tsx": "typescript react", "js": "javascript", "jsx": "javascript react",
    "rs": "rust", "go": "golang", "rb": "ruby", "kt": "kotlin", "cs": "csharp", "cpp": "c++", "sh": "shell bash",
    "php": "php", "java": "java", "swift": "swift", "scala": "scala", "sql": "sql", "css": "css", "html": "html",
    "md": "markdown documentation", "yml": "yaml", "yaml": "yaml", "tf": "terraform",
}  # fmt: skip
"""Words that rules use for the language of a file ending."""


class Unit(Frozen):
    """One addressable part of a file."""

    address: str
    """The slugs of its headings, separated by slashes; `:2` at the end is a long section's second part."""
    headings: tuple[str, ...]
    first: int
    """Its first line, from 1; headings above it in the section belong to no other unit."""
    last: int
    text: str
    tokens: int
    contract: str
    """Its first sentence, without markup."""


class UnitSelection(Frozen):
    """The units that answer a question, in the file's order, and the best unit if it exceeded the budget."""

    units: tuple[Unit, ...] = ()
    tokens: int = 0
    too_long: Unit | None = None


class _Section(Frozen):
    """Lines [begin, end) under one heading."""

    slugs: tuple[str, ...]
    headings: tuple[str, ...]
    begin: int
    body: int
    """The first line after the heading."""
    end: int
    cuts: tuple[int, ...] = ()
    """Lines at which it may be cut."""


def parse_units(text: str) -> tuple[Unit, ...]:
    """Return the file's units in order; none for a blank file. Any line ends, a byte order mark and NUL are allowed."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    lines = text.split("\n")
    units = [unit for section in _sections(lines) for unit in _units_of(section, lines)]
    return tuple(units)


def find_units(units: Sequence[Unit], address: str) -> tuple[Unit, ...]:
    """Return the unit with that address, or all under that heading. Raises InvalidValueError, with near addresses."""
    wanted = address.strip().strip("/")
    chosen = tuple(
        unit for unit in units if unit.address == wanted or unit.address.startswith((f"{wanted}/", f"{wanted}:"))
    )
    if chosen and wanted:
        return chosen
    from difflib import get_close_matches

    addresses = [unit.address for unit in units]
    holding = [candidate for candidate in addresses if wanted in candidate]
    near = holding[:3] or get_close_matches(wanted, addresses, 3, 0.4)
    raise InvalidValueError(f"no unit {wanted!r}", hint=f"one of: {', '.join(near)}" if near else "")


def choose_units(
    units: Sequence[Unit], question: str, budget_tokens: int, embedder: Embedder | None = None
) -> UnitSelection:
    """Return the units that answer the question best, as many as the budget allows; none if nothing matches.

    Words decide, and with an embedder meaning too; raises EmbedderError. The front matter is never chosen, since hosts
    read it themselves.
    """
    units = [unit for unit in units if unit.address != FRONT_MATTER]
    scores = _scores(units, question, embedder)
    order = sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: (-scores[at], at))
    taken: list[int] = []
    spent = 0
    for at in order:
        if spent + units[at].tokens <= budget_tokens:
            taken.append(at)
            spent += units[at].tokens
    too_long = units[order[0]] if order and order[0] not in taken else None
    return UnitSelection(units=tuple(units[at] for at in sorted(taken)), tokens=spent, too_long=too_long)


def default_budget(units: Iterable[Unit]) -> int:
    """Return the default number of tokens for the sections that answer a question."""
    return max(BUDGET_LEAST, int(sum(unit.tokens for unit in units) * BUDGET_SHARE))


def question_about(path: str) -> str:
    """Return the question to ask a rules file before work on that path: its folders and name, and its language."""
    suffix = path.rsplit("/", 1)[-1].rsplit(".", 1)[-1].lower()
    return f"{path} {LANGUAGES.get(suffix, '')}".strip()


def _scores(units: Sequence[Unit], question: str, embedder: Embedder | None) -> list[float]:
    """Return how well each unit answers, 0 for no answer: words, as a share of the best, plus likeness."""
    by_words = _with_neighbours(bm25(question, [_words(unit) for unit in units]))
    if embedder is None or not units or not question.strip():
        return by_words
    best = max(by_words) or 1.0
    places = embedder.embed_documents([_words(unit)[:EMBEDDED_LIMIT] for unit in units])
    query_vector = embedder.embed_query(question[:EMBEDDED_LIMIT])
    alike = [sum(map(mul, place, query_vector)) for place in places]
    return [
        words / best + LIKENESS_WEIGHT * max(likeness, 0.0) if words or likeness >= LIKENESS_LEAST else 0.0
        for words, likeness in zip(by_words, alike, strict=True)
    ]


def _with_neighbours(scores: Sequence[float]) -> list[float]:
    """Return each score plus a share of the better neighbour's: text beside an answer often belongs to it."""
    padded = [0.0, *scores, 0.0]
    return [score + NEIGHBOUR * max(padded[at], padded[at + 2]) for at, score in enumerate(scores)]


def _words(unit: Unit) -> str:
    return "\n".join([*unit.headings * HEADING_WEIGHT, unit.text])


def _sections(lines: Sequence[str]) -> Iterator[_Section]:
    """Yield the front matter, what comes before the first heading, and one section for each heading."""
    begin = _front_matter_end(lines)
    taken: dict[tuple[str, ...], int] = {}
    if begin:
        yield _Section(slugs=_unique((FRONT_MATTER,), taken), headings=(), begin=0, body=0, end=begin)
    tokens = _parse("\n".join(lines[begin:]))
    starts: list[tuple[int, int, int, str]] = [(begin, begin, 0, PREAMBLE)]
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            starts.append((token.map[0] + begin, token.map[1] + begin, int(token.tag[1]), _plain(inline)))
    cuts = [line + begin for line in _cuts(tokens)]
    levels = [level for _, _, level, _ in starts]
    titled = levels[1:2] == [1] and levels.count(1) == 1
    open_headings: list[tuple[int, str, str]] = []
    for (start, body, level, title), end in zip(starts, [*(s[0] for s in starts[1:]), len(lines)], strict=True):
        while open_headings and open_headings[-1][0] >= level:
            open_headings.pop()
        slugs = _unique((*(slug for _, slug, _ in open_headings), _slug(title)), taken)
        if level and not (titled and level == 1):  # the file's only title is not part of the addresses
            open_headings.append((level, slugs[-1], " ".join(title.split())))
        yield _Section(
            slugs=slugs, headings=tuple(heading for _, _, heading in open_headings), begin=start, body=body, end=end,
            cuts=tuple(line for line in cuts if body < line < end),
        )  # fmt: skip


def _plain(inline: Token) -> str:
    """Return a heading's words; for a link its text."""
    return "".join(part.content for part in inline.children or () if part.type in ("text", "code_inline"))


def _parse(text: str) -> list[Token]:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").parse(text)


def _front_matter_end(lines: Sequence[str]) -> int:
    """Return the line after a YAML front matter; 0 if there is none."""
    if lines[0].rstrip() != "---":
        return 0
    return next((at + 1 for at, line in enumerate(lines) if at and line.rstrip() in ("---", "...")), 0)


def _cuts(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield lines, ascending, before which a section may be cut; never directly after a line that ends in a colon."""
    led = False
    for token, after in pairwise([*tokens, *tokens[-1:]]):
        if not token.map or token.nesting < 0:
            continue
        if (token.level == 0 and not led) or (token.type == "list_item_open" and token.level == 1):
            yield token.map[0]
        if token.type == "paragraph_open" and token.level == 0:
            yield from range(token.map[0] + 1, token.map[1])
            led = after.content.rstrip().endswith(":")
        elif token.level == 0:
            led = False


def _units_of(section: _Section, lines: Sequence[str]) -> Iterator[Unit]:
    if not "".join(lines[section.body : section.end]).strip():
        return
    address = "/".join(section.slugs)
    parts = _parts(section, lines)
    for number, (begin, end) in enumerate(parts, start=1):
        while end > begin and not lines[end - 1].strip():
            end -= 1
        while begin < end and not lines[begin].strip():
            begin += 1
        text = "\n".join(lines[begin:end])
        yield Unit(
            address=f"{address}:{number}" if len(parts) > 1 else address,
            headings=section.headings,
            first=begin + 1,
            last=end,
            text=text,
            tokens=count_tokens(text),
            contract=_contract(lines[max(begin, section.body) : end]),
        )


def _parts(section: _Section, lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the section's lines in runs of at most PART_TOKENS, as far as the cuts allow."""
    if count_tokens("\n".join(lines[section.begin : section.end])) <= PART_TOKENS:
        return [(section.begin, section.end)]
    parts: list[tuple[int, int]] = []
    begin, spent = section.begin, 0
    for start, end in pairwise([section.begin, *section.cuts, section.end]):
        cost = count_tokens("\n".join(lines[start:end]))
        if spent and spent + cost > PART_TOKENS and "".join(lines[max(begin, section.body) : start]).strip():
            parts.append((begin, start))
            begin, spent = start, 0
        spent += cost
    return [*parts, (begin, section.end)]


def _contract(lines: Iterable[str]) -> str:
    """Return the first sentence, without Markdown's marks, cut at a word; for code alone, its first line."""
    prose = (line for line in lines if not line.lstrip().startswith(("```", "~~~")))
    plain = next((bare for line in prose if (bare := line.strip(" \t#>*-+`|=<!"))), "")
    plain = plain.replace("**", "").replace("`", "")
    sentence = plain.split(". ", 1)[0]
    if len(sentence) <= CONTRACT_LIMIT:
        return sentence
    head = sentence[: CONTRACT_LIMIT - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[40:] else head) + "…"


def _slug(title: str) -> str:
    """Return lower-case letters and digits of any script, joined by hyphens; `section` for a title without any."""
    spelled = "".join(c if c.isalnum() else "-" if c in " -_/.:" else "" for c in title.lower())
    return "-".join(filter(None, spelled.split("-"))) or "section"


def _unique(slugs: tuple[str, ...], taken: dict[tuple[str, ...], int]) -> tuple[str, ...]:
    """Return the slugs, with a number at the end if they are taken."""
    wanted = slugs
    while wanted in taken:
        taken[slugs] += 1
        wanted = (*slugs[:-1], f"{slugs[-1]}-{taken[slugs]}")
    taken[wanted] = 1
    return wanted
