"""Importer `adr`: a folder of architecture decision records, one decision a file, with its context as the reason.

Reads the form of Michael Nygard (Status, Context, Decision, Consequences) and MADR (Context and Problem Statement,
Decision Drivers, Considered Options, Decision Outcome; status in front matter or a list). Superseded and deprecated
records keep that state, proposals become candidates, templates and indexes are ignored.

Source: adr.github.io/madr 2 to 4 and cognitect.com (Nygard 2011), September 2026; the form compared with records read
in public repositories, none of which was imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.domain.vocabulary import LinkKind, State
from holdfast.importers.sdk.markdown import LONGEST, mentioned, nearly_plain
from holdfast.importers.sdk.texts import from_row, instant, load_markdown, split_front, text_of
from holdfast.ports.plugins import CERTAIN, MAYBE, NAMED, NO, Passage, Skipped, Source
from holdfast.text.titles import clipped

FOLDERS = ("adr/", "adrs/", "decisions/", "architecture-decisions/", "decision-records/")
NUMBERED = re.compile(r"(?:adr[-_ ]?)?(\d{1,6})[-_. ]", re.IGNORECASE)
NO_RECORDS = re.compile(r"template|^readme\.md$|^index\.md$", re.IGNORECASE)
STATES: tuple[tuple[str, State], ...] = (
    ("superseded", "superseded"),
    ("superceded", "superseded"),
    ("replaced", "superseded"),
    ("deprecated", "retired"),
    ("obsolete", "retired"),
    ("rejected", "retired"),
    ("proposed", "candidate"),
    ("draft", "candidate"),
)
DECISION = ("decision outcome", "decision", "the decision", "solution", "resolution")
REASON = ("context and problem statement", "context", "problem", "problem statement", "background", "motivation")
DRIVERS = ("decision drivers", "rationale", "justification")
AFTERMATH = ("consequences", "positive consequences", "implications")

_HEADING = re.compile(r"(?m)^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_STATUS = re.compile(r"(?im)^[ \t]*(?:[-*][ \t]*)?[*_]*status[*_]*[ \t]*:[*_]*[ \t]*(.+)$")
_DATE = re.compile(r"(?im)^[ \t]*(?:[-*][ \t]*)?[*_]*date[*_]*[ \t]*:[*_]*[ \t]*(\d{4}-\d{2}-\d{2})")
_NUMBER = re.compile(r"^(?:adr[-_ ]?)?\d+[.:\s-]+", re.IGNORECASE)
_TICKED = re.compile(r"\[x\][ \t]*([^\[\n]+)", re.IGNORECASE)
_LINK = re.compile(
    r"\b(super[sc]edes|replaces|amends|refines|relates to)\b"
    r"[^\n\d]{0,40}?(?:adr[-_ ]?)?(\d{1,6})\b",
    re.IGNORECASE,
)
_LINKS: dict[str, LinkKind] = {
    "supersedes": "supersedes",
    "supercedes": "supersedes",
    "replaces": "supersedes",
    "amends": "refines",
    "refines": "refines",
    "relates to": "relates_to",
}


class Adr:
    """Reads one decision record."""

    id = "adr/1"

    def sureness(self, source: Source) -> int:
        """Judge by the folder and the headings."""
        if not source.name.endswith(".md") or NO_RECORDS.search(source.name):
            return NO
        inside = any(f"/{folder}" in "/" + source.label.lower() for folder in FOLDERS)
        head = source.head.decode("utf-8", "replace").lower()
        spoken = any(f"# {name}" in head for name in (*DECISION, *REASON)) and "# decision" in head
        if inside and NUMBERED.match(source.name):
            return CERTAIN
        return NAMED if inside and spoken else MAYBE if spoken else NO

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield the decision, its reason and its consequences: one passage, or several of a long decision."""
        front, text = split_front(load_markdown(source))
        title, sections = _sections(text)
        decided = _first(sections, DECISION)
        if not decided:
            yield Skipped(section=title, reason="a record without a decision")
            return
        number = NUMBERED.match(source.name)
        yield from from_row(
            decided,
            Passage(
                section=title or source.name,
                kind="decision",
                title=clipped(_NUMBER.sub("", title) or decided),
                why=_short("\n".join(filter(None, (_first(sections, REASON), _first(sections, DRIVERS))))),
                how=_short(_first(sections, AFTERMATH)),
                globs=mentioned(decided),
                state=_state(front, text, sections),
                said_at=instant(text_of(front.get("date")) or _dated(text)),
                names=(f"adr {int(number[1])}",) if number else (),
                links=tuple(_links(front, text)),
            ),
        )


def make(options: Mapping[str, str]) -> Adr:
    """Return the importer; it has no options."""
    return Adr()


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """Return (title, text by heading in lower case); a deeper section is also part of the one above."""
    headings = list(_HEADING.finditer(text))
    title = next((nearly_plain(heading[2]) for heading in headings if len(heading[1]) == 1), "")
    sections: dict[str, str] = {}
    for at, heading in enumerate(headings):
        later = (next_one.start() for next_one in headings[at + 1 :] if len(next_one[1]) <= len(heading[1]))
        body = text[heading.end() : next(later, len(text))]
        sections.setdefault(nearly_plain(heading[2]).lower().rstrip(":"), body.strip())
    return title, sections


def _first(sections: Mapping[str, str], names: tuple[str, ...]) -> str:
    """Return the first of the sections that has words, without inner sections that are read separately."""
    text = next((sections[name] for name in names if sections.get(name)), "")
    inner = _HEADING.search(text)
    return nearly_plain(text[: inner.start()] if inner and inner.start() > 0 else _HEADING.sub(r"\2:", text))


def _short(text: str) -> str:
    """Return at most as much as one lesson holds, cut at a line or a sentence."""
    if len(text) <= LONGEST:
        return text
    head = text[: LONGEST - 1]
    at = max(head.rfind("\n"), head.rfind(". ") + 1)
    return (head[:at].rstrip() if at > LONGEST // 2 else head) + "…"


def _state(front: Mapping[str, Any], text: str, sections: Mapping[str, str]) -> State:
    stated = _STATUS.search(text)
    words = text_of(front.get("status")) or (stated[1] if stated else "") or sections.get("status", "")
    ticked = _TICKED.search(words)
    stands = (ticked[1] if ticked else words[:200]).lower()
    return next((state for word, state in STATES if word in stands), "active")


def _dated(text: str) -> str:
    match = _DATE.search(text)
    return match[1] if match else ""


def _links(front: Mapping[str, Any], text: str) -> Iterator[tuple[LinkKind, str]]:
    """Yield links to other records by number, each once; the other record reports links in the other direction."""
    references = _LINK.findall(f"{text_of(front.get('status'))}\n{text}")
    yield from dict.fromkeys((_LINKS[verb.lower()], f"adr {int(number)}") for verb, number in references)
