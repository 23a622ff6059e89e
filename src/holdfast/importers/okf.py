"""Importer `okf`: a bundle of the Open Knowledge Format 0.1 or 0.2, one concept a file, each concept one lesson.

A concept's description and body are the lesson's words; of a long body only the description, with the file's name. Its
sources become the reason, its links to other concepts relations. `status` decides whether it is proposed or has ended;
a concept that is past its `stale_after` is not taken in, and one with a later `stale_after` holds until then. Nobody's
`verified` counts here: what comes from others waits for a person (ADR 19). Nothing that a concept names is run.

Concepts that Holdfast exported hold whole lessons; `publishing.okf` reads those.

Source: GoogleCloudPlatform/knowledge-catalog, okf/SPEC.md, version 0.2 of 24 July 2026; compared with the bundles of
that repository, and with those of serradura/okf and saschb2b/okf-studio.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from holdfast.domain.openknowledge import KINDS_BY_TYPE, RESERVED, is_own_concept
from holdfast.domain.vocabulary import LessonKind, LinkKind, State
from holdfast.importers.sdk.markdown import LONGEST, nearly_plain, why_not
from holdfast.importers.sdk.texts import from_row, instant, kind_of, load_markdown, split_front, text_of, texts_of
from holdfast.ports.plugins import MAYBE, NAMED, NO, Passage, Skipped, Source

KINDS: dict[str, LessonKind] = {
    "playbook": "tooling", "runbook": "tooling", "procedure": "tooling", "how_to": "tooling", "skill": "tooling",
    "guide": "tooling", "tool": "tooling", "command": "tooling", "policy": "constraint", "rule": "constraint",
    "adr": "decision", "architecture_decision": "decision", "gotcha": "bug_cause", "incident": "bug_cause",
    "postmortem": "bug_cause",
}  # fmt: skip
"""Kinds of lessons by types that bundles of others use, beside the names of the kinds themselves."""
STATES: dict[str, State] = {"draft": "candidate", "deprecated": "retired"}
FAMILIES = frozenset({"generated", "verified", "stale_after", "sources", "usage_window"})
"""Keys that only this format has, so that a file with them is a concept wherever it lies."""
DEPTH = 12
"""Folders above a concept in which the bundle's root is looked for."""
MOST_LINKS = 20
MOST_SOURCES = 5

_VERSION = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?:[^\n]*\n){0,5}?okf_version[ \t]*:")
_TYPE = re.compile(r"(?m)^type[ \t]*:[ \t]*\S")
_CITATIONS = re.compile(r"(?ms)^#{1,6}[ \t]+Citations[ \t]*$.*?(?=^#{1,6}[ \t]|\Z)")
_FOOTNOTE = re.compile(r"(?m)^\[\^[^\]\n]{1,100}\]:.*$")
_MARK = re.compile(r"\[\^[^\]\n]{1,100}\]")
_TARGET = re.compile(r"\]\(([^)\s:]{1,300}\.md)(?:#[^)\s]{0,200})?\)")


class Okf:
    """Reads one concept."""

    id = "okf/1"

    def sureness(self, source: Source) -> int:
        """Judge by the front matter, and by the index at the bundle's root."""
        head = source.head.decode("utf-8", "replace").replace("\r\n", "\n")
        is_concept = source.name.endswith(".md") and source.name not in RESERVED
        if not is_concept or not head.startswith(("---", "\ufeff---")) or is_own_concept(head):
            return NO
        front = head.partition("\n---")[0]
        if not _TYPE.search(front):
            return NO
        keys = {line.partition(":")[0].strip() for line in front.split("\n") if line[:1].isalpha()}
        return NAMED if keys & FAMILIES or bundle_root(os.path.dirname(source.path)) else MAYBE

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield the concept: one passage, or several of a long text without a description."""
        front, text = split_front(load_markdown(source))
        title = text_of(front.get("title")) or os.path.splitext(os.path.basename(source.path))[0]
        if not text_of(front.get("type")):
            yield Skipped(section=title, reason="no concept: its front matter has no type")
            return
        passage = _passage(source, front, text, title)
        described, body = text_of(front.get("description")), _body(text)
        if len(described) + len(body) <= LONGEST or not described or why_not(described):
            yield from from_row("\n\n".join(filter(None, (described, body))), passage)
            return
        yield from from_row(f"{described}\n\nThe whole text is in {source.label}.", passage)
        yield Skipped(section=f"{title}: text", reason=f"{len(body):,} characters; the lesson names the file")


def make(options: Mapping[str, str]) -> Okf:
    """Return the importer; it has no options."""
    return Okf()


@lru_cache(maxsize=4096)
def bundle_root(folder: str) -> str:
    """Return the nearest folder, this one or one above, whose index declares a version of the format; empty if none."""
    for _ in range(DEPTH):
        try:
            with open(os.path.join(folder, "index.md"), "rb") as stream:
                if _VERSION.match(stream.read(400)):
                    return folder
        except OSError:
            pass
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    return ""


def _passage(source: Source, front: Mapping[str, Any], text: str, title: str) -> Passage:
    type_of, generated = text_of(front.get("type")), _map(front.get("generated"))
    kind = KINDS_BY_TYPE.get(type_of.casefold()) or kind_of(type_of, KINDS)
    return Passage(
        section=title,
        kind=kind if kind and kind != "checkpoint" else "",
        title=nearly_plain(title),
        why=_sources(front),
        files=(source.label,) if source.ground == "project" else (),
        tags=tuple(dict.fromkeys((*texts_of(front.get("tags")), type_of.lower()))),
        state=STATES.get(text_of(front.get("status")).lower(), "active"),
        said_at=instant(text_of(generated.get("at")) or text_of(front.get("timestamp"))),
        holds_until=instant(text_of(front.get("stale_after"))),
        author=text_of(generated.get("by")),
        names=(os.path.realpath(source.path),),
        links=tuple(_links(source, text)),
    )


def _body(text: str) -> str:
    """Return the body's words without its list of citations and without footnotes, which name sources."""
    return _MARK.sub("", _FOOTNOTE.sub("", _CITATIONS.sub("", text))).strip()


def _sources(front: Mapping[str, Any]) -> str:
    """Return what the concept says it derives from, in one line; empty if it does not say."""
    entries = front.get("sources")
    named: list[str] = []
    for entry in entries if isinstance(entries, list) else []:
        title, resource = text_of(_map(entry).get("title")), text_of(_map(entry).get("resource"))
        if title or resource:
            named.append(f"{title} ({resource})" if title and resource and title != resource else title or resource)
    if not named:
        return ""
    more = f" and {len(named) - MOST_SOURCES} more" if len(named) > MOST_SOURCES else ""
    return "Derived from " + "; ".join(dict.fromkeys(named[:MOST_SOURCES])) + more + "."


def _links(source: Source, text: str) -> Iterator[tuple[LinkKind, str]]:
    """Yield a relation to each concept that the text links to, by its path on this disk; broken links lead nowhere."""
    folder = os.path.dirname(os.path.realpath(source.path))
    root = bundle_root(folder)
    targets = list(dict.fromkeys(_TARGET.findall(text)))[:MOST_LINKS]
    for target in targets:
        start = root if target.startswith("/") else folder
        if start and os.path.basename(target) not in RESERVED:
            yield "relates_to", os.path.normpath(os.path.join(start, target.lstrip("/")))


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
