"""Judges whether an anchor's code is still as it was recorded. Each verdict names its reason.

The rules in order: same blob, or a symbol with the same head and body: fresh. A different head: changed. A different
body: drifted. A symbol that is not in its file is searched in this order: the other places where it was seen; the only
definition with the same body and name; the trail through git's commits; the only one with the same body under another
name; the only one with the same head and name, unless a commit or the work tree deleted the symbol. If none is found,
it is orphaned.

A mismatch of an anchor recorded outside this branch's history is unverified. Nothing is guessed: if two places fit,
neither is chosen. What cannot be read or compared is unverified, never changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from holdfast.codeindex.change import NO_CHANGE, change_of, group_change, signature_words
from holdfast.codeindex.definitions import Definition
from holdfast.codeindex.fingerprint import BODY_VERSION, SIGNATURE_VERSION, hash_tokens
from holdfast.codeindex.language import UNINDEXED_KINDS
from holdfast.codeindex.source import GROUP, ParsedSource, SourceSnapshots, blob_of, group_symbol, last_part, unnumbered
from holdfast.codeindex.trail import End, follow, follow_file, same_body, same_group, same_head
from holdfast.domain.lesson import Anchor
from holdfast.domain.symbol import Symbol, Verdict
from holdfast.domain.vocabulary import Freshness
from holdfast.ports.codeindex import IndexStore
from holdfast.rendering.verdicts import verdict_words

SEEN_LOOKS = 40
"""Newest commits of a file that are looked through for a text recorded elsewhere."""


class AnchorJudge:
    """Judges the anchors of one work tree. `in_time` returns whether there is time for a further look at git."""

    def __init__(self, snapshots: SourceSnapshots, index: IndexStore | None, in_time: Callable[[], bool]) -> None:
        self._snapshots = snapshots
        self._index = index
        self._in_time = in_time

    def judge(self, anchor: Anchor) -> Verdict:
        """Return the anchor's verdict."""
        anchor = self._as_of_this_branch(anchor)
        content = self._snapshots.workspace.read(self._snapshots.location, anchor.path)
        if content is None and self._snapshots.workspace.exists(self._snapshots.location, anchor.path):
            return _unverified(anchor, "unreadable")
        blob = blob_of(content) if content is not None else ""
        if blob and blob == anchor.blob:
            return Verdict(freshness="fresh", anchor=anchor)
        if anchor.symbol and (anchor.body_hash or anchor.signature_hash):
            return self._on_this_branch(anchor, self._judge_symbol(anchor, blob))
        return self._on_this_branch(anchor, self._judge_file(anchor, blob))

    def _judge_symbol(self, anchor: Anchor, blob: str) -> Verdict:
        if not _known_version(anchor):
            return _unverified(anchor, "other_version")
        source = self._snapshots.current(anchor.path) if blob else None
        if blob and source is None:
            return _unverified(anchor, "unknown_language")
        if source is not None and source.obstacle:
            return _unverified(anchor, "not_parsed", source.obstacle)
        group = source.by_name.get(unnumbered(anchor.symbol), []) if source is not None else []
        if source is not None and group:
            return self._compare_group(anchor, source, group, blob)
        return self._judge_missing(anchor, source)

    def _compare_group(self, anchor: Anchor, source: ParsedSource, group: list[Definition], blob: str) -> Verdict:
        """Return the verdict on the definitions found under a name: on all of them, or on the anchored one."""
        if anchor.symbol_kind != GROUP:
            return self._compare(anchor, source, _pick(anchor, source, group), blob)
        symbol = group_symbol(source, group)
        now, (head, body) = _anchored(anchor, symbol, blob), _differences(anchor, symbol)
        if "tokens" not in (head, body):
            return _same(now, head, body)
        if any(map(source.is_broken, group)):
            return _unverified(anchor, "syntax_error", symbol.name)
        then, old = self._recorded(anchor)
        changes = group_change((then, old), (source, group)) if then is not None and old else NO_CHANGE
        return Verdict(
            freshness="changed" if head == "tokens" else "drifted",
            reason="definitions",
            detail=changes.words or f"definitions of {symbol.name} changed",
            share=changes.share,
            anchor=now,
        )

    def _compare(self, anchor: Anchor, source: ParsedSource, definition: Definition, blob: str) -> Verdict:
        """Return the verdict on a definition that was found."""
        symbol = source.symbol(definition)
        now, (head, body) = _anchored(anchor, symbol, blob), _differences(anchor, symbol)
        if "tokens" not in (head, body):
            return _same(now, head, body)
        if source.is_broken(definition):
            return _unverified(anchor, "syntax_error", symbol.name)
        then, old = self._recorded(anchor)
        change = change_of((then, old[0]), (source, definition)) if then is not None and old else NO_CHANGE
        if head != "tokens":
            return Verdict(freshness="drifted", reason="body", detail=change.bracketed, share=change.share, anchor=now)
        if definition.kind in UNINDEXED_KINDS:
            detail, reason = change.bracketed, "declaration"
            return Verdict(freshness="changed", reason=reason, detail=detail, share=change.share, anchor=now)
        reason = "signature_and_body" if body == "tokens" else "signature"
        words = "signature changed"
        if then is not None and old:
            words = signature_words((then, old[0]), (source, definition))
        return Verdict(freshness="changed", reason=reason, detail=words, share=change.share, anchor=now)

    def _recorded(self, anchor: Anchor) -> tuple[ParsedSource | None, list[Definition]]:
        """Return the anchored definitions as they were recorded, if git still has them."""
        then = self._snapshots.at_blob(anchor.path, anchor.blob)
        if then is None and anchor.commit:
            then = self._snapshots.at_commit(anchor.commit, anchor.path)
        group = then.by_name.get(unnumbered(anchor.symbol), []) if then is not None else []
        return (then, _recorded_in(anchor, then, group)) if then is not None else (None, [])

    def _judge_missing(self, anchor: Anchor, source: ParsedSource | None) -> Verdict:
        """Return the verdict on a symbol that is no longer in its file."""
        end = self._find(anchor)
        if end.path:
            return self._followed(anchor, end.path, end.name)
        if source is not None and source.note:
            return _unverified(anchor, "hidden_by_syntax_error")
        if end.deleted_in == "work tree":
            return Verdict(freshness="orphaned", reason="deleted_here", anchor=anchor)
        if end.deleted_in:
            return Verdict(freshness="orphaned", reason="deleted", detail=end.deleted_in[:10], anchor=anchor)
        if not self._in_time():
            return _unverified(anchor, "no_time")
        symbol = same_head(self._snapshots, self._index, anchor)
        if symbol is not None:
            return self._followed(anchor, symbol.path, symbol.name)
        return Verdict(freshness="orphaned", reason="gone", anchor=anchor)

    def _find(self, anchor: Anchor) -> End:
        """Return where it is now: a place where it was seen, its body under its name, git's trail, its body alone."""
        for path, name in _places(anchor):
            there = self._snapshots.current(path)
            if there is not None and unnumbered(name) in there.by_name:
                return End(path=path, name=name)
        search = same_group if anchor.symbol_kind == GROUP else same_body
        symbol = search(self._snapshots, self._index, anchor)
        namesake = symbol is not None and unnumbered(symbol.name) == unnumbered(anchor.symbol)
        end = End() if namesake else self._trail(anchor)
        return End(path=symbol.path, name=symbol.name) if symbol is not None and not end.path else end

    def _trail(self, anchor: Anchor) -> End:
        if not anchor.commit or not self._in_time():
            return End()
        return follow(self._snapshots, anchor.path, anchor.symbol, anchor.commit, self._in_time)

    def _followed(self, anchor: Anchor, path: str, name: str) -> Verdict:
        """Return the verdict on a symbol found under another name or in another file."""
        source = self._snapshots.current(path)
        assert source is not None
        group = source.by_name[unnumbered(name)]
        verdict = self._compare_group(anchor, source, group, blob_of(source.content))
        if path == anchor.path and source.note and last_part(name) == last_part(anchor.symbol):
            # it only seems to have moved: the parser failed on the code around it
            broken = _unverified(anchor, "syntax_error_around")
            return replace(verdict, anchor=anchor) if verdict.freshness == "fresh" else broken
        where = _where_words(anchor, verdict.anchor)
        return replace(verdict, freshness="moved" if verdict.freshness == "fresh" else verdict.freshness, where=where)

    def _judge_file(self, anchor: Anchor, blob: str) -> Verdict:
        if not anchor.blob:
            return _unverified(anchor, "not_recorded")
        if anchor.blob.partition(":")[0] != "git1":
            return _unverified(anchor, "other_version")
        if blob:
            return self._judge_edited(anchor, blob)
        target = self._file_target(anchor)
        if not target:
            return Verdict(freshness="orphaned", reason="file_gone", anchor=anchor)
        now = self._snapshots.workspace.blob(self._snapshots.location, target)
        there, where = replace(anchor, path=target, blob=now), f"moved to {target}"
        same = now == anchor.blob or self._judge_edited(replace(anchor, path=target), now).freshness == "fresh"
        state: Freshness = "moved" if same else "drifted"
        return Verdict(freshness=state, reason="moved" if same else "moved_and_changed", where=where, anchor=there)

    def _file_target(self, anchor: Anchor) -> str:
        """Return where a deleted file is now: where it was seen, an uncommitted file of its content, a git rename."""
        workspace, location = self._snapshots.workspace, self._snapshots.location
        seen = next((path for path, _ in _places(anchor) if workspace.exists(location, path)), "")
        beside = [path for path in workspace.dirty(location) if workspace.blob(location, path) == anchor.blob]
        if seen or len(beside) == 1:
            return seen or beside[0]
        return follow_file(self._snapshots, anchor.path, anchor.commit) if anchor.commit else ""

    def _as_of_this_branch(self, anchor: Anchor) -> Anchor:
        """Return the anchor at a commit of this branch that has its text, if its own commit is not in this branch.

        A squash merge or a rebase brings the text without the commit at which it was recorded.
        """
        own = anchor.commit
        if not own or own == self._snapshots.location.commit or self._snapshots.history.contains(own):
            return anchor
        seen = self._seen_in(anchor)
        return replace(anchor, commit=seen, branch=self._snapshots.location.branch) if seen else anchor

    def _seen_in(self, anchor: Anchor) -> str:
        """Return the newest commit of this branch whose file has the anchored text; empty if none of the newest has."""
        commits = self._snapshots.history.list_touching(anchor.path, "")[-SEEN_LOOKS:]
        for commit in reversed(commits):
            if not self._in_time():
                break
            if self._has_text(anchor, commit):
                return commit
        return ""

    def _has_text(self, anchor: Anchor, commit: str) -> bool:
        """Return whether the file, or the anchored definition in it, was then as recorded."""
        content = self._snapshots.history.file(commit, anchor.path)
        if content is None:
            return False
        if blob_of(content) == anchor.blob:
            return True
        if not anchor.symbol or not self._snapshots.mentions(commit, anchor.path, last_part(anchor.symbol)):
            return False
        source = self._snapshots.at_commit(commit, anchor.path)
        group = source.by_name.get(unnumbered(anchor.symbol), []) if source is not None else []
        return source is not None and bool(_recorded_in(anchor, source, group))

    def _judge_edited(self, anchor: Anchor, blob: str) -> Verdict:
        """Return the verdict on a whole file that differs: fresh if only comments or layout differ."""
        now = replace(anchor, blob=blob)
        then, source = self._snapshots.at_blob(anchor.path, anchor.blob), self._snapshots.current(anchor.path)
        if then is not None and source is not None and not (then.obstacle or source.obstacle):
            difference = _difference(_whole(then), _whole(source))
            if difference != "tokens":
                return Verdict(freshness="fresh", reason="annotations" if difference else "layout", anchor=now)
        return Verdict(freshness="drifted", reason="file_changed", anchor=now)

    def _on_this_branch(self, anchor: Anchor, verdict: Verdict) -> Verdict:
        """Return unverified instead of a bad verdict if the anchor comes from outside of the checked-out history."""
        bad = verdict.freshness in ("drifted", "changed", "orphaned")
        if not bad or not anchor.commit or anchor.commit == self._snapshots.location.commit:
            return verdict
        contained = self._snapshots.history.contains(anchor.commit)
        if contained:
            return verdict
        if contained is None:
            return _unverified(anchor, "unknown_commit", anchor.commit[:10])
        branch = f" ({anchor.branch})" if anchor.branch and anchor.branch != self._snapshots.location.branch else ""
        detail = f"{branch}; here: {verdict_words(verdict)}"
        return replace(_unverified(anchor, "other_branch", detail), hides=verdict.reason)


def _places(anchor: Anchor) -> list[tuple[str, str]]:
    """Return path and name of the other places where it was seen."""
    parted = (place.partition("::") for place in anchor.also)
    return [(path, name) for path, _, name in parted]


def _unverified(anchor: Anchor, reason: str, detail: str = "") -> Verdict:
    return Verdict(freshness="unverified", reason=reason, detail=detail, anchor=anchor)


def _known_version(anchor: Anchor) -> bool:
    hashes = ((anchor.signature_hash, SIGNATURE_VERSION), (anchor.body_hash, BODY_VERSION))
    return all(not recorded or recorded.partition(":")[0] == version for recorded, version in hashes)


def _difference(then: str, now: str) -> str:
    """Return what differs between two fingerprints of one version: `tokens`, `annotations` or nothing."""
    if not then or then == now:
        return ""
    return "annotations" if then.rpartition(".")[2] == now.rpartition(".")[2] else "tokens"


def _differences(anchor: Anchor, symbol: Symbol) -> tuple[str, str]:
    """Return what differs in the head, and what in the body. A field's type is essential, not an annotation."""
    head = _difference(anchor.signature_hash, symbol.signature_hash)
    body = _difference(anchor.body_hash, symbol.body_hash)
    return ("tokens" if head and symbol.kind == "field" else head), body


def _same(now: Anchor, head: str, body: str) -> Verdict:
    return Verdict(freshness="fresh", reason="annotations" if "annotations" in (head, body) else "same", anchor=now)


def _recorded_in(anchor: Anchor, source: ParsedSource, group: list[Definition]) -> list[Definition]:
    """Return the definitions that the anchor means, if they are as recorded."""
    recorded = (anchor.signature_hash, anchor.body_hash)
    if anchor.symbol_kind == GROUP:
        symbol = group_symbol(source, group) if group else None
        return group if symbol is not None and (symbol.signature_hash, symbol.body_hash) == recorded else []
    symbols = ((definition, source.symbol(definition)) for definition in group)
    return [definition for definition, symbol in symbols if (symbol.signature_hash, symbol.body_hash) == recorded][:1]


def _whole(source: ParsedSource) -> str:
    """Return a fingerprint of the whole file."""
    return hash_tokens(BODY_VERSION, source.tokens, range(len(source.tokens.texts)), "")


def _pick(anchor: Anchor, source: ParsedSource, group: list[Definition]) -> Definition:
    """Return of several definitions of one name the unchanged one, else that of the same number, else the first."""
    if len(group) == 1:
        return group[0]
    for definition in group:
        symbol = source.symbol(definition)
        if (symbol.signature_hash, symbol.body_hash) == (anchor.signature_hash, anchor.body_hash):
            return definition
    return next((definition for definition in group if definition.name == anchor.symbol), group[0])


def _anchored(anchor: Anchor, symbol: Symbol, blob: str) -> Anchor:
    """Return the anchor as it would be written now."""
    return replace(
        anchor,
        path=symbol.path,
        symbol=symbol.name,
        symbol_kind=symbol.kind,
        blob=blob,
        signature_hash=symbol.signature_hash,
        body_hash=symbol.body_hash,
    )


def _where_words(then: Anchor, now: Anchor) -> str:
    old, new = unnumbered(then.symbol), unnumbered(now.symbol)
    words = []
    if last_part(old) != last_part(new):
        words.append(f"renamed to {new}")
    elif old != new:
        words.append(f"moved to {new}")
    if then.path != now.path:
        words.append(f"moved to {now.path}" if not words or words[0].startswith("renamed") else f"in {now.path}")
    return ", ".join(words)
