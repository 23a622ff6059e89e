"""LocalCodeIndex: the code index of the work trees on this machine.

The parser is loaded only when needed. An anchor whose file is unchanged, or whose verdict for this content is stored,
costs a read of the file and a look-up in the index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Self

from holdfast.codeindex import verdictcache
from holdfast.codeindex.anchoring import make_anchors
from holdfast.codeindex.history import neighbours
from holdfast.codeindex.namesearch import choose, plain_name, search
from holdfast.codeindex.outline import outline
from holdfast.codeindex.refresh import refresh
from holdfast.codeindex.snapshots import ParsedFiles, SourceSnapshots
from holdfast.codeindex.verdict import AnchorJudge
from holdfast.domain.lesson import Anchor
from holdfast.domain.project import Location
from holdfast.domain.symbol import IndexReport, Neighbour, Outline, Symbol, Verdict
from holdfast.errors import HoldfastError
from holdfast.ports.clock import Clock
from holdfast.ports.indexstore import IndexStore
from holdfast.ports.workspace import Workspace

SEARCH_S = 2.0
"""How long one verdict may look through git's history for what is not in its file any more."""


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
        cached = verdictcache.load(store, self._workspace, location, anchor, blob)
        if cached is not None:
            return cached
        verdict = self._judge(location, store, anchor)
        verdictcache.keep(store, location, anchor, blob, verdict)
        return verdict

    def refresh(self, location: Location, progress: Callable[[int, int], None] | None = None) -> IndexReport:
        """Bring the index up to the work tree, parsing only what changed."""
        store = self._store(location)
        return IndexReport(complete=False) if store is None else refresh(store, location.root, progress=progress)

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
