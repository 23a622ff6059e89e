"""Comparison: the code that a lesson is about, at anchoring and now."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff
from math import inf

from holdfast.domain.lesson import Anchor, Lesson
from holdfast.domain.project import Location
from holdfast.domain.symbol import Symbol, Verdict
from holdfast.freshness.check import FreshnessCheck
from holdfast.freshness.tuning import COMPARED_COMMITS, LINES_AROUND
from holdfast.lessons.lookup import resolve
from holdfast.ports.services import Services

GONE = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSpan:
    """The lines of a definition in its file, or of a whole file, and the lines around them."""

    text: str
    """Without the last line's end, if it is a definition."""
    first_line: int = 1
    """The number of the first line in the file, from 1."""
    before: tuple[str, ...] = ()
    """At most LINES_AROUND lines of the file before it; empty for a whole file."""
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One anchor's code then and now. None: that version is not available, and `note` says why."""

    anchor: Anchor
    verdict: Verdict
    then: str | None = None
    now: str | None = None
    note: str = ""
    then_span: CodeSpan | None = None
    """Where `then` was in its file; None where it is not available."""
    now_span: CodeSpan | None = None
    """Where `now` is in its file; None where it is gone."""

    def unified(self) -> list[str]:
        """Return the difference in unified form, without line ends; empty when there is none or a side is missing."""
        if self.then is None or self.now is None:
            return []
        old, new = name_of(self.anchor), name_of(self.verdict.anchor)
        then, now = self.then.splitlines(), self.now.splitlines()
        since = f"then ({self.anchor.commit[:10]})" if self.anchor.commit else "then"
        return list(unified_diff(then, now, f"{old}\t{since}", f"{new}\tnow", lineterm=""))


def compare(services: Services, location: Location, ref: str) -> tuple[Lesson, tuple[Comparison, ...]]:
    """Return the lesson and its anchors' code then and now; raises as `lookup.resolve` does."""
    lesson = resolve(services, location, ref)
    return lesson, compare_lesson(services, location, lesson)


def compare_lesson(services: Services, location: Location, lesson: Lesson) -> tuple[Comparison, ...]:
    """Return the code of the lesson's anchors then and now; empty for another project's lesson."""
    anchor_verdicts = FreshnessCheck(services, location, within_s=inf).anchor_verdicts(lesson)
    ours = lesson.scope.project in ("", location.project.id)
    return tuple(compare_anchor(services, location, *look) for look in anchor_verdicts if ours)


def compare_anchor(services: Services, location: Location, anchor: Anchor, verdict: Verdict) -> Comparison:
    """Return the anchor's code then and now, by the verdict of a freshness check at that location."""
    then, note = _then(services, location, anchor)
    target = verdict.anchor if verdict.freshness != "unverified" else anchor
    now = _span(services, target, services.workspace.read(location, target.path))
    return Comparison(
        anchor=anchor, verdict=verdict, then=then.text if then else None, now=now.text if now else GONE, note=note,
        then_span=then, now_span=now,
    )  # fmt: skip


def changing_commit(services: Services, location: Location, anchor: Anchor, verdict: Verdict) -> str:
    """Return the commit that made the anchored code what it is now; `-` when it is uncommitted, empty when unknown.

    It reads at most 40 commits of the file, newest first, while the definition in them is as it is now.
    """
    history = services.workspace.history(location)
    commits = list(history.list_touching(anchor.path, anchor.commit)) if anchor.commit else []
    if not anchor.symbol or not commits:
        return commits[-1] if commits else ""
    now, changed_in = _fingerprint(services, anchor, services.workspace.read(location, anchor.path)), "-"
    for commit in reversed(commits[-COMPARED_COMMITS:]):
        if _fingerprint(services, anchor, history.file(commit, anchor.path)) != now:
            break
        changed_in = commit
    return changed_in


def spans_of(services: Services, location: Location, anchor: Anchor) -> list[tuple[int, int]]:
    """Return first and last line, from 1, of the anchored definitions in the present file.

    (0, 0) stands for the whole file, and for a definition that is not found.
    """
    index = services.codeindex()
    content = services.workspace.read(location, anchor.path)
    if index is None or content is None or not anchor.symbol:
        return [(0, 0)]
    symbols = index.outline(anchor.path, content).symbols
    single = [symbol for symbol in symbols if symbol.kind != "group"]
    named = [symbol for symbol in single if symbol.name == anchor.symbol]
    if anchor.symbol_kind == "group":
        named = [symbol for symbol in single if symbol.name.partition("#")[0] == anchor.symbol]
    alike = [
        definition
        for definition in single
        if (definition.signature_hash, definition.body_hash) == (anchor.signature_hash, anchor.body_hash)
    ]
    return sorted({(definition.start_line, definition.end_line) for definition in named or alike[:1]}) or [(0, 0)]


def name_of(anchor: Anchor) -> str:
    """Return `src/store.py:Store.put`, or the file."""
    return f"{anchor.path}:{anchor.symbol}" if anchor.symbol else anchor.path


def _then(services: Services, location: Location, anchor: Anchor) -> tuple[CodeSpan | None, str]:
    """Return the code at anchoring, and a note about it."""
    history = services.workspace.history(location)
    if anchor.blob and anchor.blob == services.workspace.blob(location, anchor.path):
        return _span(services, anchor, services.workspace.read(location, anchor.path)), ""
    exact = history.blob(anchor.blob) if anchor.blob else None
    if exact is not None:
        return _span(services, anchor, exact), ""
    committed = history.file(anchor.commit, anchor.path) if anchor.commit else None
    if committed is not None:
        return _span(
            services, anchor, committed
        ), f"then: as committed in {anchor.commit[:10]}; uncommitted changes of that time are lost"
    why = "git does not know that version" if location.commit else "there is no git here"
    return None, f"{name_of(anchor)} as it was then cannot be shown: {why}"


def _span(services: Services, anchor: Anchor, content: bytes | None) -> CodeSpan | None:
    """Return the definition, or the whole file without one; None when there is no such definition."""
    if content is None:
        return None
    index = services.codeindex()
    text = content.decode("utf-8", "replace")
    if index is None or not (anchor.symbol and anchor.body_hash):
        return CodeSpan(text=text)
    lines = text.splitlines()
    symbols = index.outline(anchor.path, content).symbols
    named = (symbol for symbol in symbols if _is_meant(anchor, symbol))
    alike = (
        candidate
        for candidate in symbols
        if (candidate.signature_hash, candidate.body_hash) == (anchor.signature_hash, anchor.body_hash)
    )
    definition = next(named, None) or next(alike, None)  # it may have had another name at that time
    if definition is None:
        return None
    start, end = definition.start_line - 1, definition.end_line
    return CodeSpan(
        text="\n".join(lines[start:end]), first_line=definition.start_line,
        before=tuple(lines[max(0, start - LINES_AROUND) : start]), after=tuple(lines[end : end + LINES_AROUND]),
    )  # fmt: skip


def _fingerprint(services: Services, anchor: Anchor, content: bytes | None) -> tuple[str, str]:
    """Return hashes of head and body of the anchored definition in that content; empty when it is not there."""
    index = services.codeindex()
    if content is None or index is None:
        return "", ""
    symbols = index.outline(anchor.path, content).symbols
    definition = next((symbol for symbol in symbols if _is_meant(anchor, symbol)), None)
    return (definition.signature_hash, definition.body_hash) if definition else ("", "")


def _is_meant(anchor: Anchor, symbol: Symbol) -> bool:
    """Return whether the symbol is the anchored one: same name, and a group only for an anchor to a group."""
    return symbol.name == anchor.symbol and (symbol.kind == "group") == (anchor.symbol_kind == "group")
