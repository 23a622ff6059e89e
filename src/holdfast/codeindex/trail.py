"""Follows a definition that is no longer in its file through git's commits.

The commit in which it vanished is found by bisecting the commits that touched the file. In one commit few definitions
vanish and few appear, so the one that it became stands out, even if it was edited at the same time. Definitions are
paired by likeness, each with its best match, and a pair must be clearly better than the next. A definition that appears
between the same two neighbours counts as more alike. The trail then goes on to the next commit in which the definition
vanishes, and ends in the work tree.

`same_body`, `same_head` and `same_group` ask the index where else a definition may be; the current files confirm it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from holdfast.codeindex.definitions import Definition
from holdfast.codeindex.language import MEMBER_KINDS
from holdfast.codeindex.source import ParsedSource, SourceSnapshots, group_symbol, last_part, unnumbered
from holdfast.domain.lesson import Anchor
from holdfast.domain.symbol import Symbol
from holdfast.ports.codeindex import IndexStore

Part = tuple[ParsedSource, Definition]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

TELLING_TOKENS = 16
"""From this many tokens of body two equal definitions are taken as one and the same, whatever their names."""

SAME_NAME_FLOOR = (0.35, 2.0, 0.8)
OTHER_NAME_FLOOR = (0.45, 6.0, 1.0)
"""Least likeness for a definition that kept its last name, and for one that did not: a + b / words, at most c.

The fewer words there are, the more of them two strangers share by chance.
"""
NAME_WORTH = 0.25
"""How much of that floor a name that is alike makes up for."""
MARGIN = 0.1
"""How much the best must be ahead of the runner-up: nothing is guessed."""
PLACE_WORTH = 0.15
"""Added to the likeness of a definition that appears between the same neighbours."""
UNLIKE_SORTS = frozenset(map(frozenset, (("type", "field"), ("type", "constant"), ("routine", "constant"))))
"""Pairs of sorts that never replace each other. A method may become a property that holds a function."""
SAME_TEXT = 0.9
"""From this share of words in common two definitions are one text."""

Placed = tuple[tuple[str, str], Part]
"""A path and a qualified name without its number, and the definition found there."""
MAX_HOPS = 8
"""Moves that are followed, the look at where it is now included."""
FIRST_LOOKS = 20
"""Commits looked at for the first that has a definition."""
MAX_FILES = 80
"""Files of one commit that are compared."""


def likeness(then: Part, now: Part, *, in_place: bool = False) -> float:
    """Return how much two definitions share, 0 to 1.25; 0 if it is too little.

    Tokens count by Dice's coefficient over multisets. Names count as far as the tokens leave a doubt. A definition in
    the other's place needs no more tokens in common than a namesake.
    """
    if not _comparable(then[1], now[1]):
        return 0.0
    if then[1].kind == "field" and last_part(then[1].name) != last_part(now[1].name):
        return 0.0  # a field has few tokens or none: only its name identifies it
    words = then[0].words(then[1])
    tokens = dice(words, now[0].words(now[1]))
    same_owner = owner_of(then[1].name) == owner_of(now[1].name)
    names = 0.0 if _is_commonplace(then[1].name) and not same_owner else name_likeness(then[1].name, now[1].name)
    if tokens < _floor(words.total() // 2, 1.0 if in_place else names):
        return 0.0
    return 0.75 * tokens + 0.25 * names + (0.1 if same_owner else 0.0) + (PLACE_WORTH if in_place else 0.0)


def _floor(words: int, names: float) -> float:
    least, per_word, most = SAME_NAME_FLOOR if names >= 1 else OTHER_NAME_FLOOR
    floor = min(most, least + per_word / max(1, words))
    return floor if names >= 1 else floor - NAME_WORTH * names


def dice(tokens: Counter[str], other: Counter[str]) -> float:
    """Return twice the shared tokens over all tokens; 1 for two empty counters. Source: Dice, Ecology 26 (1945)."""
    total = tokens.total() + other.total()
    return 2 * (tokens & other).total() / total if total else 1.0


def name_likeness(then: str, now: str) -> float:
    """Return 1 for the same last name, without leading underscores; otherwise what their words share."""
    before, after = last_part(then).strip("_"), last_part(now).strip("_")
    if before == after:
        return 1.0
    return dice(Counter(_words(before)), Counter(_words(after))) * 0.9


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)] or [name.lower()]


def _comparable(definition: Definition, other: Definition) -> bool:
    """Return whether both are of one sort, and both local to a function or neither."""
    return sort_of(definition.kind) == sort_of(other.kind) and _is_local(definition) == _is_local(other)


def _is_local(definition: Definition) -> bool:
    return definition.inside is not None and sort_of(definition.inside.kind) == "routine"


def sort_of(kind: str) -> str:
    """Return the sort of a kind: functions and methods are routines, classes and structs types; others stay."""
    return "routine" if kind in ("function", "method") else "type" if kind in MEMBER_KINDS else kind


def same_sort(kind: str, other: str | None) -> bool:
    """Return whether a definition of kind `other` can be a later form of one of `kind`; an empty kind matches any.

    A class or function is gone if only a variable of its name, perhaps an alias, is left.
    """
    return other is not None and frozenset((sort_of(kind), sort_of(other))) not in UNLIKE_SORTS


def _is_commonplace(name: str) -> bool:
    """Return whether half of all classes have a method of that name, so that it identifies nothing."""
    last = last_part(name)
    return last.startswith("__") and last.endswith("__")


def owner_of(name: str) -> str:
    """Return the qualified name of the enclosing definition; empty at the top of a file."""
    return unnumbered(name).rpartition(".")[0]


def same_body(snapshots: SourceSnapshots, index: IndexStore | None, anchor: Anchor) -> Symbol | None:
    """Return the only definition with the anchor's body that was not there when the anchor was made.

    None if there are none or several, or if the body is short, since many definitions share short bodies.
    """
    candidates = _indexed(snapshots, index, anchor, "body_hash")
    same = [symbol for symbol in candidates if symbol.body_hash == anchor.body_hash]
    return _only(
        [symbol for symbol in same if _is_distinctive(snapshots, symbol, anchor) and _is_new(snapshots, anchor, symbol)]
    )


def same_head(snapshots: SourceSnapshots, index: IndexStore | None, anchor: Anchor) -> Symbol | None:
    """Return the only definition with the anchor's qualified name and head that was not there before, or None."""
    name = unnumbered(anchor.symbol)
    candidates = _indexed(snapshots, index, anchor, "signature_hash")
    namesakes = [symbol for symbol in candidates if unnumbered(symbol.name) == name]
    same = [symbol for symbol in namesakes if symbol.signature_hash == anchor.signature_hash]
    return _only([symbol for symbol in same if _is_new(snapshots, anchor, symbol)])


def same_group(snapshots: SourceSnapshots, index: IndexStore | None, anchor: Anchor) -> Symbol | None:
    """Return the group in the only other file whose definitions of that name equal the anchored group, or None."""
    name = unnumbered(anchor.symbol)
    symbols = index.symbols(snapshots.location.root, "name", name) if index is not None else []
    groups = []
    for path in dict.fromkeys(symbol.path for symbol in symbols if symbol.path != anchor.path):
        source = snapshots.current(path)
        group = source.by_name.get(name) if source is not None else None
        if source is not None and group and group_symbol(source, group).body_hash == anchor.body_hash:
            groups.append(group_symbol(source, group))
    return _only([symbol for symbol in groups if _is_new(snapshots, anchor, symbol)])


def _indexed(snapshots: SourceSnapshots, index: IndexStore | None, anchor: Anchor, by: str) -> Iterable[Symbol]:
    """Yield current definitions in the anchor's file and in files that have that hash in the index."""
    wanted = anchor.body_hash if by == "body_hash" else anchor.signature_hash
    indexed = index.symbols(snapshots.location.root, by, wanted) if index is not None and wanted else []
    for path in dict.fromkeys((anchor.path, *(symbol.path for symbol in indexed))):
        source = snapshots.current(path)
        names = {unnumbered(symbol.name) for symbol in indexed if symbol.path == path}
        for symbol in source.symbols() if source else ():
            if path == anchor.path or unnumbered(symbol.name) in names:
                yield symbol


def _is_distinctive(snapshots: SourceSnapshots, symbol: Symbol, anchor: Anchor) -> bool:
    source = snapshots.current(symbol.path)
    definitions = source.definitions if source is not None else ()
    definition = next((candidate for candidate in definitions if candidate.name == symbol.name), None)
    if source is None or definition is None or sort_of(definition.kind) != sort_of(anchor.symbol_kind):
        return False
    return source.body_size(definition) >= TELLING_TOKENS


def _is_new(snapshots: SourceSnapshots, anchor: Anchor, symbol: Symbol) -> bool:
    """Return whether the symbol did not exist yet when the anchor was made."""
    if not anchor.commit:
        return True
    then = snapshots.at_commit(anchor.commit, symbol.path)
    return then is None or unnumbered(symbol.name) not in then.by_name


def _only(symbols: list[Symbol]) -> Symbol | None:
    return symbols[0] if len(symbols) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """Where a trail ends: at a name in a file, in the commit that deleted it, or nowhere if git cannot tell."""

    path: str = ""
    name: str = ""
    deleted_in: str = ""
    """The commit's id; `work tree` when that is not committed."""


def follow(snapshots: SourceSnapshots, path: str, name: str, since: str, in_time: Callable[[], bool]) -> End:
    """Return where a definition went after a commit. All fields are empty if git cannot tell, or not in time."""
    name = unnumbered(name)
    since = _first_with(snapshots, path, name, since, in_time)
    if not since:
        return End()
    for _ in range(MAX_HOPS):
        kind = _kind(snapshots.at_commit(since, path), name) or ""
        now = snapshots.current(path)
        if now is not None and same_sort(kind, _kind(now, name)):
            commit = _left_meanwhile(snapshots, path, name, since)
            if not commit:
                return End(path=path, name=name)
        else:
            commit = _vanished_in(snapshots, path, name, kind, since)
        if commit is None or not in_time():
            return End()
        target = CommitStep(snapshots, commit, in_time).pair(path, name)
        if target is None and not commit and not _has(snapshots, snapshots.location.commit, path, name):
            return End()  # the work tree did not delete it: a merge did
        if target is None:
            return End(deleted_in=commit or "work tree") if in_time() else End()
        (path, name), since = target, commit or snapshots.location.commit
        if not commit:
            return End(path=path, name=name)
    return End()


def follow_file(snapshots: SourceSnapshots, path: str, since: str) -> str:
    """Return where a deleted file is now, by git's renames; empty if it was deleted or git cannot tell."""
    for _ in range(MAX_HOPS):
        commits = snapshots.history.list_touching(path, since)
        target = snapshots.history.find_new_name(commits[-1], path) if commits else ""
        if not target or snapshots.workspace.exists(snapshots.location, target):
            return target
        path, since = target, commits[-1]
    return ""


class CommitStep:
    """The changes of one commit to definitions; an empty commit means the uncommitted changes of the work tree."""

    def __init__(self, snapshots: SourceSnapshots, commit: str, in_time: Callable[[], bool]) -> None:
        self._snapshots = snapshots
        self._in_time = in_time
        self._commit = commit
        self._before = commit + "^" if commit else snapshots.location.commit

    def pair(self, path: str, name: str) -> tuple[str, str] | None:
        """Return (path, name) of a vanished definition after the commit; None if it was deleted or the case is unclear.

        Candidates in order: the same name in the file that git reports as this file's new name; the only definition of
        that name and sort that appears, if only one vanished, unless the old text stayed in its place under a new name;
        the same member where its owner went; the definition that is clearly most alike.
        """
        source = self._snapshots.at_commit(self._before, path)
        if source is None or name not in source.by_name:
            return None
        old = (source, source.by_name[name][0])
        renamed = self._snapshots.history.find_new_name(self._commit, path) if self._commit else ""
        if renamed and self._is_there(renamed, name, old[1].kind):
            return renamed, name
        gone, come = self._changed(self._files(path, source))
        in_place = _in_its_place(source, self._snapshots.at_commit(self._commit, renamed or path), old[1])
        namesakes = [new for where, new in come if where[1] == name and _one_sort(old, new)]
        if len(namesakes) == 1 and sum(where[1] == name and _one_sort(old, other) for where, other in gone) == 1:
            stayed = in_place is not None and _same_text(old, in_place) and not _same_text(old, namesakes[0])
            return _place(in_place if in_place is not None and stayed else namesakes[0])
        return self._with_owner(path, name) or self._likest(path, name, old, gone, come, in_place)

    def _with_owner(self, path: str, name: str) -> tuple[str, str] | None:
        """Return the same member of its class or module, if that moved as a whole."""
        owner, _, member = name.rpartition(".")
        after = self._snapshots.at_commit(self._commit, path)
        if not owner or (after is not None and owner in after.by_name):
            return None
        target = self.pair(path, owner)
        if target is None or not self._is_there(target[0], f"{target[1]}.{member}"):
            return None
        return target[0], f"{target[1]}.{member}"

    def _is_there(self, path: str, name: str, kind: str = "") -> bool:
        return same_sort(kind, _kind(self._snapshots.at_commit(self._commit, path), name))

    def _likest(
        self, path: str, name: str, old: Part, gone: Sequence[Placed], come: Sequence[Placed], in_place: Part | None
    ) -> tuple[str, str] | None:
        there = _place(in_place) if in_place is not None else None
        best = _clear_best([(likeness(old, new, in_place=where == there), where, new) for where, new in come])
        if best is None:
            return None
        value, where, new = best
        rivals = (likeness(other, new) for at, other in gone if at != (path, name))
        return where if value >= max(rivals, default=0.0) else None

    def _files(self, path: str, source: ParsedSource) -> list[str]:
        changed = (
            self._snapshots.history.list_changed(self._commit)
            if self._commit
            else self._snapshots.workspace.dirty(self._snapshots.location)
        )
        alike = [file for file in changed if file != path and file.endswith(source.language.suffixes)]
        return [path, *alike[:MAX_FILES]]

    def _changed(self, files: Sequence[str]) -> tuple[list[Placed], list[Placed]]:
        """Return the definitions that vanish, and those that appear, each with its place."""
        gone: list[Placed] = []
        come: list[Placed] = []
        for path in takewhile(lambda _: self._in_time(), files):
            before, after = self._snapshots.at_commit(self._before, path), self._snapshots.at_commit(self._commit, path)
            gone += [((path, unnumbered(part[1].name)), part) for part in _only_in(before, after)]
            come += [((path, unnumbered(part[1].name)), part) for part in _only_in(after, before)]
        return gone, come


def _one_sort(part: Part, other: Part) -> bool:
    return sort_of(part[1].kind) == sort_of(other[1].kind)


def _same_text(part: Part, other: Part) -> bool:
    return dice(part[0].words(part[1]), other[0].words(other[1])) >= SAME_TEXT


def _place(part: Part) -> tuple[str, str]:
    return part[0].path, unnumbered(part[1].name)


def _in_its_place(before: ParsedSource, after: ParsedSource | None, old: Definition) -> Part | None:
    """Return the definition that took this one's place.

    It is between the same neighbours, if as many definitions of its sort appeared as vanished: then the first became
    the first.
    """
    if after is None:
        return None
    then, now = _siblings(before, old), _siblings(after, old)
    name = unnumbered(old.name)
    stayed = [sibling for sibling in then if sibling in now]
    order = list(then)
    at = order.index(name)
    before_it = next((sibling for sibling in reversed(order[:at]) if sibling in now), None)
    after_it = next((sibling for sibling in order[at + 1 :] if sibling in now), None)
    vanished = [
        sibling for sibling in _between(order, before_it, after_it) if sort_of(then[sibling].kind) == sort_of(old.kind)
    ]
    between = _between(list(now), before_it, after_it)
    appeared = [sibling for sibling in between if sort_of(now[sibling].kind) == sort_of(old.kind)]
    if len(vanished) != len(appeared) or any(sibling in stayed for sibling in between):
        return None
    return after, now[appeared[vanished.index(name)]]


def _siblings(source: ParsedSource, definition: Definition) -> dict[str, Definition]:
    """Return the definitions of the same owner by name, in the order of the source."""
    owner = owner_of(definition.name)
    ordered = sorted((*source.definitions, *source.members), key=lambda other: other.start)
    siblings: dict[str, Definition] = {}
    for other in ordered:
        if owner_of(other.name) == owner:
            siblings.setdefault(unnumbered(other.name), other)
    return siblings


def _between(names: Sequence[str], first: str | None, last: str | None) -> list[str]:
    """Return the names between two of them; to the ends if one is None."""
    start = names.index(first) + 1 if first is not None else 0
    end = names.index(last) if last is not None else len(names)
    return list(names[start:end])


def _first_with(snapshots: SourceSnapshots, path: str, name: str, since: str, in_time: Callable[[], bool]) -> str:
    """Return the commit, or the first of those after it, whose file has the definition; empty if the first few lack it.

    A definition that was anchored before it was committed is only in a later commit.
    """
    if _has(snapshots, since, path, name):
        return since
    later = snapshots.history.list_touching(path, since)[:FIRST_LOOKS]
    return next((commit for commit in takewhile(lambda _: in_time(), later) if _has(snapshots, commit, path, name)), "")


def _only_in(source: ParsedSource | None, other: ParsedSource | None) -> Iterator[Part]:
    for name, group in (source.by_name if source else {}).items():
        if source is not None and (other is None or name not in other.by_name):
            yield source, group[0]


def _clear_best(scored: list[tuple[float, tuple[str, str], Part]]) -> tuple[float, tuple[str, str], Part] | None:
    """Return the best candidate if it has some likeness and is clearly ahead of the next."""
    ranked = sorted((candidate for candidate in scored if candidate[0] > 0), key=lambda candidate: -candidate[0])
    if not ranked or (len(ranked) > 1 and ranked[0][0] - ranked[1][0] < MARGIN):
        return None
    return ranked[0]


def _left_meanwhile(snapshots: SourceSnapshots, path: str, name: str, since: str) -> str | None:
    """Return the commit after `since` in which a definition left its file, although one of its name is there now.

    The present one is then another definition.
    """
    source = snapshots.at_commit(since, path)
    if source is None or name not in source.by_name:
        return None
    kind = source.by_name[name][0].kind
    name_start, name_end = source.by_name[name][0].name_spans[0]
    line = source.content.rfind(b"\n", 0, name_start) + 1
    head = source.content[line:name_end].decode("utf-8", "replace").strip()
    return next(
        (
            commit
            for commit in snapshots.history.list_touching(path, since, head)
            if _is_end(snapshots, commit, path, name, kind)
        ),
        "",
    )


def _vanished_in(snapshots: SourceSnapshots, path: str, name: str, kind: str, since: str) -> str | None:
    """Return the commit after `since` in which it left the file; empty for the work tree; None if not found."""
    commits = snapshots.history.list_touching(path, since)
    if not commits or _has(snapshots, commits[-1], path, name, kind):
        return ""
    present, absent = -1, len(commits) - 1
    while absent - present > 1:
        middle = (present + absent) // 2
        if _has(snapshots, commits[middle], path, name, kind):
            present = middle
        else:
            absent = middle
    if _has(snapshots, commits[absent] + "^", path, name, kind):
        return commits[absent]
    return next((commit for commit in reversed(commits) if _is_end(snapshots, commit, path, name, kind)), None)


def _is_end(snapshots: SourceSnapshots, commit: str, path: str, name: str, kind: str) -> bool:
    return _has(snapshots, commit + "^", path, name, kind) and not _has(snapshots, commit, path, name, kind)


def _has(snapshots: SourceSnapshots, commit: str, path: str, name: str, kind: str = "") -> bool:
    if not snapshots.mentions(commit, path, last_part(name)):
        return False
    return same_sort(kind, _kind(snapshots.at_commit(commit, path), name))


def _kind(source: ParsedSource | None, name: str) -> str | None:
    """Return the kind of the first definition of that name; None if there is none."""
    group = source.by_name.get(name) if source is not None else None
    return group[0].kind if group else None
