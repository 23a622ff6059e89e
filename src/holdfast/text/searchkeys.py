"""Makes the keys by which a store finds lessons, in the same way from lessons and from questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.domain.lesson import Lesson
from holdfast.domain.query import Query
from holdfast.ports.store import ROOT_AREA, Facet, NameRelation, TokenSource
from holdfast.text import words
from holdfast.text.shell import command_target
from holdfast.text.signature import error_signature, masked

TOKEN_LIMIT = 96
"""Exact tokens kept of one lesson."""
ASKED_LIMIT = 64
"""Most exact tokens asked for in one search; twice as many words of a text are looked up."""
TEXT_LIMIT = 8_000
"""Characters of a text that are looked at: half from its start, half from its end."""
SYMBOL_LIMIT, LINKED_LIMIT = 24, 40
"""Most symbols and linked files asked for in one search."""

LINT_TOPIC = "lint:"
"""Prefix of the topic keys of lint rules."""

SOURCES: tuple[TokenSource, ...] = ("error", "command", "topic", "symbol", "path", "file", "mention", "part")
"""Sources of an exact token, the most significant first. A token of several sources counts under the first of them."""

_EDGES = ".,;:!?'\"`()[]{}<>=*|&"


def lesson_tokens(lesson: Lesson) -> dict[str, TokenSource]:
    """Return the exact tokens by which a lesson can be found, with the source of each."""
    sources: dict[str, TokenSource] = {}
    for token, source in _tokens(lesson):
        if token and len(sources) < TOKEN_LIMIT:
            sources[token] = min(source, sources.get(token, source), key=SOURCES.index)
    return sources


def _tokens(lesson: Lesson) -> Iterator[tuple[str, TokenSource]]:
    yield lesson.error_signature and "error " + lesson.error_signature, "error"
    yield lesson.command and "run " + lesson.command, "command"
    yield lesson.topic_key.casefold(), "topic"
    for symbol in lesson.symbols:
        yield symbol.casefold(), "symbol"
        yield (
            _unnumbered(symbol).casefold(),
            "symbol",
        )  # a question names the second definition of a name without its number
        yield _last_part(symbol), "part"
    for path in lesson.paths:
        yield path.casefold(), "path"
        yield path.casefold().rpartition("/")[2], "file"
    for name in identifiers(" ".join((lesson.title, lesson.insight, lesson.why, lesson.how, *lesson.snippets))):
        yield name, "mention"


def asked_tokens(query: Query) -> list[str]:
    """Return the exact tokens that a question may name, its error and command first."""
    text = shorten(query.text)
    tokens: list[str] = []
    if query.error or query.command:
        error = error_signature(query.error) if query.error else ""
        command = command_target(query.command) if query.command else ""
        tokens += ["error " + error, "error " + masked(error)] if error else []
        tokens += ["run " + command] if command else []
    for symbol in query.symbols:
        tokens += [symbol.casefold(), symbol.replace("::", ".").rpartition(".")[2].casefold()]
    tokens += [text.strip().casefold()] if 0 < len(text) <= 100 else []
    tokens += identifiers(f"{text} {query.command}")
    return list(dict.fromkeys(tokens))[:ASKED_LIMIT]


def asked_terms(text: str) -> list[str]:
    """Return the words of a question's text that are looked up."""
    return words.terms(shorten(text))[: 2 * ASKED_LIMIT]


def shorten(text: str) -> str:
    """Return a long text's head and tail, joined by a space; a short text as it is."""
    half = TEXT_LIMIT // 2
    return text if len(text) <= TEXT_LIMIT else f"{text[:half]} {text[-half:]}"


def text_columns(lesson: Lesson) -> tuple[str, str, str, str, str]:
    """Return title, insight, reason, expanded identifiers and error: the columns of a lesson's full text."""
    reason = "\n".join((lesson.why, lesson.how, *lesson.snippets))
    names = " ".join((*named_places(lesson), *lesson.tags, lesson.topic_key, lesson.command))
    spoken = "\n".join((lesson.title, lesson.insight, reason, names, lesson.error_signature))
    return lesson.title, lesson.insight, reason, f"{names} {words.expand(spoken)}", lesson.error_signature


def named_places(lesson: Lesson) -> tuple[str, ...]:
    """Return the paths, symbols and globs whose words count as the lesson's own.

    A lint rule holds everywhere; its anchors are where it was broken, and their words are no words of the rule.
    """
    is_lint = lesson.topic_key.startswith(LINT_TOPIC)
    return () if is_lint else (*lesson.paths, *lesson.globs, *lesson.symbols)


def asked_names(symbols: Sequence[str]) -> list[str]:
    """Return the symbols in question in the form in which they are looked up."""
    return [symbol.replace("::", ".").casefold() for symbol in symbols[:SYMBOL_LIMIT] if symbol]


def related_names(names: Sequence[str]) -> dict[str, set[tuple[NameRelation, int]]]:
    """Return each name, its last part, and the names around it, with relation and distance outward.

    A name *inside* another begins with that name and a full stop.
    """
    related: dict[str, set[tuple[NameRelation, int]]] = {}
    for name in names:
        parts = name.split(".")
        related.setdefault(name, set()).add(("same", 0))
        related.setdefault(parts[-1], set()).add(("unqualified", 0))
        for levels, count in enumerate(range(len(parts) - 1, 0, -1)):
            related.setdefault(".".join(parts[:count]), set()).add(("around", levels))
    return related


def anchored_files(lesson: Lesson) -> list[str]:
    """Return the files a lesson is anchored to, including earlier paths and paths on other branches."""
    return list(dict.fromkeys((*lesson.paths, *(path for anchor in lesson.anchors for path in anchor.other_paths))))


AREA_LEVELS = 2
"""Folders of a path that make the area of a lesson: `src/holdfast`."""


def area_of(path: str) -> str:
    """Return the first folders of a file's path; ROOT_AREA for a file in no folder."""
    return "/".join(path.split("/")[:-1][:AREA_LEVELS]) or ROOT_AREA


def is_in_area(path: str, area: str) -> bool:
    """Return whether the file is in that folder or below it; ROOT_AREA has the files that are in no folder."""
    return "/" not in path if area == ROOT_AREA else path.startswith(f"{area}/")


def facet_values(lesson: Lesson, facet: Facet) -> list[str]:
    """Return the values by which a lesson is counted, each once; a file and an area for each anchored file."""
    files = anchored_files(lesson) if facet in ("area", "file") else []
    values: dict[Facet, tuple[str, ...]] = {
        "area": tuple(map(area_of, files)),
        "file": tuple(files),
        "kind": (lesson.kind,),
        "month": (f"{lesson.recorded_at:%Y-%m}",),
        "person": (lesson.provenance.person,),
        "state": (lesson.state,),
        "tag": lesson.tags,
        "trust": (lesson.trust,),
    }
    return [value for value in dict.fromkeys(values[facet]) if value]


def folders_above(path: str) -> list[str]:
    """Return the folders a path is in, nearest first, without the root."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]


def identifiers(text: str) -> list[str]:
    """Return the words that name one exact thing (symbols, files, flags, error codes), case-folded, each once."""
    names: dict[str, None] = {}
    for raw in shorten(text).split():
        if raw.isalpha() and (raw.islower() or raw[1:].islower()):
            continue  # a plain word: nearly all of them
        for part in raw.replace("(", " ").replace("=", " ").replace(",", " ").split():
            word = part.strip(_EDGES).rstrip("/")
            if 2 < len(word) <= 120 and _is_exact(word):
                names[word.casefold()] = None
    return list(names)


def _is_exact(word: str) -> bool:
    if word.startswith("--"):
        return len(word) > 3
    core = word.strip("_-")
    if not core or not any(c.isalpha() for c in core):
        return False
    if "_" in core or "::" in core or "/" in core:
        return True
    if "." in core:
        return max(map(len, core.split("."))) > 2 and "://" not in core
    return any(core[i].islower() and core[i + 1].isupper() for i in range(len(core) - 1)) or (
        core.isupper() and core[0].isalpha() and sum(c.isdigit() for c in core) >= 2
    )


def _unnumbered(symbol: str) -> str:
    """Return `Store.put` for `Store.put#2`."""
    name, _, number = symbol.rpartition("#")
    return name if number.isdecimal() and name else symbol


def _last_part(symbol: str) -> str:
    last = _unnumbered(symbol).replace("::", ".").replace("#", ".").rpartition(".")[2].casefold()
    return last if len(last) > 3 and last != symbol.casefold() else ""
