"""Search: which lessons match a query, and how. It returns facts; `ranking.retrievers` decides what a fact is worth."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LessonId, ProjectId, SessionId

Numbered = tuple[int, LessonId]
"""A position and a lesson's id: positions grow with every version written, so the larger is the newer."""
TokenSource = Literal["error", "command", "topic", "symbol", "path", "file", "mention", "part"]
"""Where a lesson's token comes from: see `text.searchkeys.lesson_tokens`."""
PathRelation = Literal["file", "glob", "folder", "beside"]
"""How an anchor relates to the path in question: it is that file, a glob that matches it, a folder that contains
it, or another file of such a folder."""
NameRelation = Literal["same", "unqualified", "around", "inside"]
"""How a name relates to the symbol in question: equal, equal to its last part, enclosing it, enclosed by it."""
TriggerKind = Literal["literal", "command", "path", "symbol"]
TextKind = Literal["bm25", "share"]
"""Scale of a text score: in `bm25` a term gives at most (k1 + 1) x idf with k1 = 1.2; `share`, 0 to 1, is relative
to the most that a lesson with every term could have."""

MOST_ALIKE = 1_000
"""Lessons of one token, the newest, that a store has to answer with: one that more have points at none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMatch:
    """Lessons that have one of the query's exact tokens, from one source."""

    token: str
    source: TokenSource
    sharing: int
    """How many lessons of the scope have the token, in any state and from any source."""
    lessons: tuple[Numbered, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorMatches:
    """The signature of the error asked about, and lessons whose signatures have words of it."""

    signature: str = ""
    lessons: tuple[tuple[str, Numbered], ...] = ()
    """(signature, lesson) pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextMatch:
    """A lesson that has words of the query's text, and the lesson learnt next to it."""

    lesson: Numbered
    score: float
    """The backend's own score, larger is better; `TextMatches.kind` names its scale."""
    session: str = ""
    """The session in which it was learnt."""
    after: Numbered | None = None
    """The lesson learnt next in that session, if the query may see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextMatches:
    """The lessons that match a text, and how many lessons have each of its terms."""

    kind: TextKind = "bm25"
    matches: tuple[TextMatch, ...] = ()
    """Best first."""
    terms: tuple[tuple[str, int], ...] = ()
    """Each term of the query and how many lessons of the store have it, estimated where it is common."""
    lessons: int = 0
    """How many lessons the store has, tombstones and other versions included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathMatch:
    """Lessons with an anchor in one relation to a path of the query."""

    path: str
    relation: PathRelation
    levels: int = 0
    """Folders between: 0 for the folder that contains the file, 1 for the one above it."""
    lessons: tuple[Numbered, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolMatch:
    """Lessons that have a name in one relation to a symbol of the query."""

    name: str
    relation: NameRelation
    levels: int = 0
    """Scopes between: 0 for the one directly around the symbol."""
    is_anchor: bool = True
    """False where only the lesson's words contain the name, or it is an anchor's last part."""
    lessons: tuple[Numbered, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedMatch:
    """Lessons anchored to a linked file, or to a file of the query."""

    path: str
    """The path as the query has it, even if a store cannot hold that text, because scores are looked up by it."""
    lessons: tuple[Numbered, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerMatch:
    """Lessons with a trigger of that kind that matches the query."""

    kind: TriggerKind
    lessons: tuple[Numbered, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorMatch:
    """A lesson and the cosine of its vector with the query's, -1 to 1."""

    id: LessonId
    cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentMatch:
    """A lesson and the time at which its version was recorded."""

    id: LessonId
    recorded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedMatch:
    """A pinned lesson and its salience."""

    id: LessonId
    salience: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenTurn:
    """A prompt, which is empty where its text was erased, and the replies to it, separated by empty lines."""

    project: ProjectId
    session: SessionId
    host: str
    branch: str
    at: datetime
    prompt: str = ""
    reply: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMatch:
    """A turn that has words of the query's text, with its number and the backend's own score, larger is better."""

    row: int
    turn: SpokenTurn
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMatches:
    """The turns that match a text, best first, and how many turns of the store have each of its terms."""

    matches: tuple[TurnMatch, ...] = ()
    terms: tuple[tuple[str, int], ...] = ()
    turns: int = 0
    """How many turns the store has."""


class Search(Protocol):
    """One method for each retriever. No method weighs its matches.

    Each method returns only lessons that the query admits, by project, states, kinds, time, branch, prefix and
    exclusions; with `as_of`, only lessons known and true then. A query that lacks the field a method uses gets an
    empty answer. With a `limit`, the answer has at least that many of the newest lessons that match equally well,
    newest first.
    """

    def match_tokens(self, query: Query) -> list[TokenMatch]:
        """Return the lessons that have an exact token of the query, in the order of `text.searchkeys.asked_tokens`.

        Of a token that more than MOST_ALIKE lessons have, return at least that many of the newest.
        """

    def match_errors(self, query: Query, limit: int) -> ErrorMatches:
        """Return the `limit` lessons whose error signatures have most of the rare words of the query's error."""

    def match_text(self, query: Query, limit: int, neighbours: int) -> TextMatches:
        """Return the lessons that have most words of the query's text; a word that few lessons have counts more.

        The answer has at least the best `neighbours` and the best `limit`. Once there are `limit` matches, words that
        many lessons have may be ignored. Session and successor are set for the best `neighbours`.
        """

    def match_paths(self, query: Query, limit: int) -> list[PathMatch]:
        """Return the lessons anchored to the query's paths, to matching globs, to folders above them, and beside them.

        The files beside a file are those of its folder and of the folders above it, except the root.
        """

    def match_symbols(self, query: Query, limit: int) -> list[SymbolMatch]:
        """Return lessons of the query's paths with names related to its symbols; without paths, equal names only."""

    def match_linked(self, query: Query, limit: int) -> list[LinkedMatch]:
        """Return the lessons anchored to the query's linked files, and to its own files."""

    def match_triggers(self, query: Query, limit: int) -> list[TriggerMatch]:
        """Return the lessons with a trigger that matches the query's code, command, paths or symbols."""

    def match_occasions(self, query: Query, limit: int) -> list[LessonId]:
        """Return the first `limit` lessons of one of the query's occasions, oldest first."""

    def match_vector(self, query: Query, limit: int) -> list[VectorMatch]:
        """Return the `limit` nearest lessons by the query's vector, among vectors of its embedder, nearest first."""

    def list_recent(self, query: Query, limit: int) -> list[RecentMatch]:
        """Return the newest `limit` lessons; if the query names a time, only lessons that hold since then."""

    def list_pinned(self, query: Query, limit: int) -> list[PinnedMatch]:
        """Return the `limit` most salient pinned lessons, newer first among equals."""

    def search_turns(self, query: Query, limit: int) -> TurnMatches:
        """Return the `limit` turns of the query's project that have most words of its text, of the time that it names.

        Turns are what `text.turns` makes of the recorded prompts and replies. A store indexes those received since the
        last search first; where it cannot write, it answers from what is indexed.
        """

    def count_lessons(self, query: Query, most: int) -> int:
        """Count the current lessons of the query's project and states; stop at `most`."""
