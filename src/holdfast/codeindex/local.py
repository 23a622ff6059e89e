"""LocalCodeIndex: the code index of the work trees on this machine.

The parser is loaded only when needed. An anchor whose file is unchanged, or whose verdict for this content is stored,
costs a read of the file and a look-up in the index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha1
from typing import Any, Self

from holdfast.codeindex.anchoring import choose, make_anchors, plain_name, search
from holdfast.codeindex.history import neighbours
from holdfast.codeindex.refresh import refresh
from holdfast.codeindex.source import ParsedFiles, SourceSnapshots, outline
from holdfast.codeindex.verdict import AnchorJudge
from holdfast.codeindex.walk import walk
from holdfast.domain.lesson import Anchor
from holdfast.domain.project import Location
from holdfast.domain.symbol import IndexReport, Neighbour, Outline, Symbol, Verdict
from holdfast.domain.vocabulary import FRESHNESSES
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.lean.plain import as_dict
from holdfast.ports.codeindex import IndexStore
from holdfast.ports.services import Clock
from holdfast.ports.workspace import Workspace
from holdfast.rendering.verdicts import REASONS

RULES = "3"
"""Increased whenever the same code would get another verdict, or a verdict's stored form changes."""

LASTING = ("other_branch", "other_version")
"""Reasons for which an anchor stays unverified while its file and HEAD stay."""
MAY_RETURN = ("gone", "file_gone", "deleted_here")
"""Reasons that can end without a change of the anchor's file: the definition may come back elsewhere."""
_WRITTEN = ("freshness", "reason", "detail", "where", "hides", "share")
_ANCHORED = ("path", "symbol", "symbol_kind", "blob", "signature_hash", "body_hash")
_SEPARATOR = "\x1f"

SEARCH_S = 2.0
"""How long one verdict may look through git's history for what is not in its file any more."""


def load_verdict(
    store: IndexStore | None, workspace: Workspace, location: Location, anchor: Anchor, blob: str
) -> Verdict | None:
    """Return the stored verdict if it still holds, otherwise None."""
    if store is None:
        return None
    try:
        values = store.verdict(_key(anchor, blob)).split(_SEPARATOR)
    except HoldfastError:
        return None
    if len(values) != 1 + len(_WRITTEN) + len(_ANCHORED) or values[0] != location.commit:
        return None
    fields: dict[str, Any] = dict(zip(_WRITTEN, values[1:], strict=False))
    anchored: dict[str, Any] = dict(zip(_ANCHORED, values[1 + len(_WRITTEN) :], strict=True))
    now = replace(anchor, **anchored)
    if now.path != anchor.path and workspace.blob(location, now.path) != now.blob:
        return None
    try:
        fields["share"] = float(fields["share"])
    except ValueError:
        return None
    is_sound = fields["freshness"] in FRESHNESSES and {fields["reason"], fields["hides"]} <= {"", *REASONS}
    return Verdict(anchor=now, **fields) if is_sound else None


def keep_verdict(store: IndexStore | None, location: Location, anchor: Anchor, blob: str, verdict: Verdict) -> None:
    """Store a verdict that will hold. A store that cannot be written is ignored."""
    if store is None or (verdict.freshness == "unverified" and verdict.reason not in LASTING):
        return
    if (verdict.hides or verdict.reason) in MAY_RETURN:
        return
    written = [str(getattr(verdict, name)) for name in _WRITTEN]
    now = [getattr(verdict.anchor, name) for name in _ANCHORED]
    value = _SEPARATOR.join((location.commit, *written, *now))
    try:
        store.keep_verdict(_key(anchor, blob), value)
    except HoldfastError:
        return


def _key(anchor: Anchor, blob: str) -> str:
    return f"{RULES}:{_digest(_SEPARATOR.join(map(str, as_dict(anchor).values())))}:{blob}"


def _digest(text: str) -> str:
    return sha1(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


class LocalCodeIndex:
    """See `ports.codeindex.CodeIndex` for the contract of each method.

    `open_index` returns the index of a location, not opened yet, or None; it stays open until `close`. `search_s`
    limits the search through git's history for one verdict; hooks pass less. `is_made` returns whether a location
    already has an index.
    """

    def __init__(
        self,
        workspace: Workspace,
        open_index: Callable[[Location], IndexStore | None],
        clock: Clock,
        search_s: float = SEARCH_S,
        is_made: Callable[[Location], bool] = lambda location: True,
    ) -> None:
        self._workspace = workspace
        self._open_index = open_index
        self._clock = clock
        self._search_s = search_s
        self._is_made = is_made
        self._stores: dict[str, IndexStore | None] = {}
        self._views: dict[tuple[str, str], SourceSnapshots] = {}
        self._parsed: ParsedFiles | None = None
        self._sizes: dict[str, tuple[tuple[int, ...], dict[str, int]]] = {}
        """By root: the stamp of the checkout, and the files' sizes."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the indexes that were opened."""
        stores, self._stores = self._stores, {}
        for store in stores.values():
            if store is not None:
                store.__exit__(None, None, None)

    def forget_parsed(self) -> None:
        """Drop parsed files and git's answers, which are cached only for speed."""
        self._views.clear()
        self._parsed = None

    def outline(self, path: str, content: bytes) -> Outline:
        """Return the definitions, with fields, tests and groups, of one file's content."""
        return outline(path, content, members=True)

    def anchors(
        self, location: Location, path: str, names: Sequence[str], lines: tuple[int, int] | None
    ) -> list[Anchor]:
        """Return anchors for those parts of the file; one for the whole file if nothing is found."""
        return make_anchors(self._view(location), path, names, lines)

    def verdict(self, location: Location, anchor: Anchor) -> Verdict:
        """Return the anchor's state now."""
        blob = self._workspace.blob(location, anchor.path)
        if blob and blob == anchor.blob:
            return Verdict(freshness="fresh", anchor=anchor)
        store = self._store(location)
        cached = load_verdict(store, self._workspace, location, anchor, blob)
        if cached is not None:
            return cached
        verdict = self._judge(location, store, anchor)
        keep_verdict(store, location, anchor, blob, verdict)
        return verdict

    def refresh(self, location: Location, progress: Callable[[int, int], None] | None = None) -> IndexReport:
        """Bring the index up to the work tree, parsing only what changed."""
        store = self._store(location)
        return IndexReport(complete=False) if store is None else refresh(store, location.root, progress=progress)

    def sizes(self, location: Location) -> Mapping[str, int]:
        """Return the bytes of each file that is worth indexing; listed anew when the checkout or git's index changes.

        Without git they are listed each time. A folder that is no project's has none.
        """
        stamp = self._workspace.stamps(location, ()).checkout[1:]
        if not stamp or self._sizes.get(location.root, ((), {}))[0] != stamp:
            try:
                sizes = {path: size for path, (size, _) in walk(location.root).files.items()}
            except InvalidValueError:
                sizes = {}
            self._sizes[location.root] = stamp, sizes
        return self._sizes[location.root][1]

    def find(self, location: Location, name: str) -> list[Symbol]:
        """Return definitions in the project with that qualified name, or with that last part; from the index."""
        store = self._store(location)
        if store is None:
            return []
        wanted = plain_name(name)
        exact = store.symbols(location.root, "name", wanted) or store.symbols(location.root, "last_name", wanted)
        if not exact and "." in wanted:
            exact = choose(store.symbols(location.root, "last_name", wanted.rpartition(".")[2]), wanted)
        return self._still_in(location, exact) if location.tree else exact

    def _still_in(self, location: Location, symbols: Sequence[Symbol]) -> list[Symbol]:
        """Return those of the present definitions that the commit has in the same file; the index knows no commit."""
        view = self._view(location)
        sources = {path: view.current(path) for path in dict.fromkeys(symbol.path for symbol in symbols)}
        names = {(path, name) for path, source in sources.items() if source for name in source.by_name}
        return [symbol for symbol in symbols if (symbol.path, symbol.name.partition("#")[0]) in names]

    def search(self, location: Location, name: str) -> list[Symbol]:
        """Return definitions that the name means, read from the files in which git finds it; no index is needed."""
        deadline = self._clock.elapsed_s() + self._search_s
        return search(self._view(location), name, lambda: self._clock.elapsed_s() < deadline)

    def neighbours(self, location: Location, path: str) -> list[Neighbour]:
        """Return files linked to the file, closest first."""
        if location.project.id not in self._stores and not self._is_made(location):
            return []  # a new index would have no links
        store = self._store(location)
        return [] if store is None else neighbours(store, location.root, path)

    def put_pairs(self, location: Location, relation: str, pairs: Mapping[tuple[str, str], float], upto: str) -> bool:
        """Store a relation's weighted pairs of paths in place of the stored ones."""
        store = self._store(location)
        if store is None:
            return False
        store.put_pairs(relation, pairs, upto)
        return True

    def add_pairs(
        self, location: Location, relation: str, pairs: Mapping[tuple[str, str], float], since: str, upto: str
    ) -> bool:
        """Add weighted pairs of paths to a relation that is complete up to `since`."""
        store = self._store(location)
        return store is not None and store.add_pairs(relation, pairs, since, upto)

    def pairs_upto(self, location: Location, relation: str) -> str:
        """Return the mark up to which the relation's pairs are complete; empty for none."""
        store = self._store(location)
        return "" if store is None else store.pairs_upto(relation)

    def _judge(self, location: Location, store: IndexStore | None, anchor: Anchor) -> Verdict:
        deadline = self._clock.elapsed_s() + self._search_s
        return AnchorJudge(self._view(location), store, lambda: self._clock.elapsed_s() < deadline).judge(anchor)

    def _view(self, location: Location) -> SourceSnapshots:
        """Return the work tree as of one commit. A new one is made when HEAD moves, since it caches git's answers."""
        key = (location.root, location.commit)
        if location.tree:
            self._parsed = self._parsed or ParsedFiles()
            return SourceSnapshots(self._workspace, location, self._parsed)
        if key not in self._views:
            self._parsed = self._parsed or ParsedFiles()
            self._views = {key: SourceSnapshots(self._workspace, location, self._parsed)}
        return self._views[key]

    def _store(self, location: Location) -> IndexStore | None:
        """Return the location's opened index; None if there is none or it cannot be opened. Verdicts do not need it."""
        if location.project.id not in self._stores:
            try:
                store = self._open_index(location)
                self._stores[location.project.id] = store.__enter__() if store is not None else None
            except HoldfastError:
                self._stores[location.project.id] = None
        return self._stores[location.project.id]
