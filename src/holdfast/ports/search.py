"""Search: what a question meets in the lessons, as facts. What a fact is worth is decided in `ranking.retrievers`."""

from __future__ import annotations

from holdfast.domain.vocabulary import LessonId
from holdfast.lean.records import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Literal, Protocol

    from holdfast.domain.query import Query

    Numbered = tuple[int, LessonId]
    """A lesson's version and its position: positions grow with every version written, so the larger is the newer."""
    TokenSource = Literal["error", "command", "topic", "symbol", "path", "file", "mention", "part"]
    """What of a lesson a token is: see `text.searchkeys.lesson_tokens`."""
    PathRelation = Literal["file", "glob", "folder", "beside"]
    """What an anchor is to the path asked: the file itself, a glob that it fits, a folder that it is in, a file of such
    a folder."""
    NameRelation = Literal["same", "unqualified", "around", "inside"]
    """What a name is to the symbol asked: the same, its last part, what it is in, what is in it."""
    TriggerKind = Literal["literal", "command", "path", "symbol"]
    TextKind = Literal["bm25", "share"]
    """What a text score is: `bm25`, of which a term gives at most (k1 + 1) x idf with k1 = 1.2; `share`, from 0 to 1,
    of the most that a lesson with every term asked could have."""
else:
    Protocol = object

MOST_ALIKE = 1_000
"""Lessons of one token, the newest, that a store has to answer with: one that more have points at none of them."""


class TokenMatch(Frozen):
    """Lessons that have one of the exact tokens asked, from one source."""

    token: str
    source: TokenSource
    sharing: int
    """How many lessons of the scope have the token, in any state and from any source."""
    lessons: tuple[Numbered, ...]


class ErrorMatches(Frozen):
    """The signature of the error asked about, and lessons whose signatures have words of it."""

    signature: str = ""
    lessons: tuple[tuple[str, Numbered], ...] = ()
    """Each with its signature."""


class TextMatch(Frozen):
    """A lesson that has words of the text asked, and what was learnt beside it."""

    lesson: Numbered
    score: float
    """The backend's own, larger is better; `TextMatches.kind` tells what it means."""
    session: str = ""
    """The session it was learnt in."""
    after: Numbered | None = None
    """The lesson learnt next in that session, if it may be seen."""


class TextMatches(Frozen):
    """What a text met: the lessons, and how many lessons have each of its terms."""

    kind: TextKind = "bm25"
    matches: tuple[TextMatch, ...] = ()
    """Best first."""
    terms: tuple[tuple[str, int], ...] = ()
    """Each term asked and how many lessons of the store have it, estimated where it is common."""
    lessons: int = 0
    """How many lessons the store has, tombstones and other versions included."""


class PathMatch(Frozen):
    """Lessons of which an anchor stands in one relation to a path asked."""

    path: str
    relation: PathRelation
    levels: int = 0
    """How far up: 0 for the folder that the file is in, 1 for the one above it."""
    lessons: tuple[Numbered, ...] = ()


class SymbolMatch(Frozen):
    """Lessons that have a name which stands in one relation to a symbol asked."""

    name: str
    relation: NameRelation
    levels: int = 0
    """How far around: 0 for what the symbol is in."""
    is_anchor: bool = True
    """False where only the lesson's words name it, or it is an anchor's last part."""
    lessons: tuple[Numbered, ...] = ()


class LinkedMatch(Frozen):
    """Lessons anchored to a linked file, or to a file asked about."""

    path: str
    """As the query has it, also where text cannot hold it: scores go by it."""
    lessons: tuple[Numbered, ...]


class TriggerMatch(Frozen):
    """Lessons of which a trigger of that kind fits what is in play."""

    kind: TriggerKind
    lessons: tuple[Numbered, ...]


class VectorMatch(Frozen):
    """A lesson and the cosine of its vector and the question's, -1 to 1."""

    id: LessonId
    cosine: float


class RecentMatch(Frozen):
    """A lesson and when its version was recorded."""

    id: LessonId
    recorded_at: datetime


class PinnedMatch(Frozen):
    """A pinned lesson and its salience."""

    id: LessonId
    salience: float


class Search(Protocol):
    """One method for each retriever, none of which weighs anything.

    Each keeps to what the query may be answered with: its project, states, kinds, time, branch, prefix and exclusions,
    and with `as_of` to the lessons known and true then. A query without what a method goes by is answered with nothing.
    With a `limit`, of lessons that match alike there are at least the newest so many, newest first.
    """

    def match_tokens(self, query: Query) -> list[TokenMatch]:
        """The lessons that have an exact token of the query (`text.searchkeys.asked_tokens`), by token in that order.

        Of a token that more than MOST_ALIKE lessons have, at least the newest so many.
        """
        ...

    def match_errors(self, query: Query, limit: int) -> ErrorMatches:
        """The `limit` lessons whose error signatures have most of the rare words of the query's error."""
        ...

    def match_text(self, query: Query, limit: int, neighbours: int) -> TextMatches:
        """The lessons that have most of the words of the query's text, words that few lessons have counting more.

        At least the best `neighbours` and the best `limit`; words that many lessons have may be left out once there
        are `limit`. Session and successor are told of the best `neighbours`.
        """
        ...

    def match_paths(self, query: Query, limit: int) -> list[PathMatch]:
        """The lessons anchored to the query's paths, to globs they fit, to folders they are in, and beside them.

        Beside a file in a folder are the files of that folder and of those above it, but for the root's.
        """
        ...

    def match_symbols(self, query: Query, limit: int) -> list[SymbolMatch]:
        """The lessons of the query's paths that have names related to its symbols; without paths, only the same."""
        ...

    def match_linked(self, query: Query, limit: int) -> list[LinkedMatch]:
        """The lessons anchored to the files linked to those in play, and to those in play themselves."""
        ...

    def match_triggers(self, query: Query, limit: int) -> list[TriggerMatch]:
        """The lessons of which a trigger fits the query's code, command, paths or symbols."""
        ...

    def match_occasions(self, query: Query, limit: int) -> list[LessonId]:
        """The first `limit` lessons of one of the query's occasions, oldest first."""
        ...

    def match_vector(self, query: Query, limit: int) -> list[VectorMatch]:
        """The `limit` nearest lessons by the query's vector, among the vectors of its embedder, nearest first."""
        ...

    def list_recent(self, query: Query, limit: int) -> list[RecentMatch]:
        """The newest `limit` lessons; of those that hold since the time asked about, if there is one."""
        ...

    def list_pinned(self, query: Query, limit: int) -> list[PinnedMatch]:
        """The `limit` most salient pinned lessons, newer first among equals."""
        ...

    def count_lessons(self, query: Query, most: int) -> int:
        """How many current lessons the query's project and states have, counted no further than `most`."""
        ...
