"""Full-text search: finds lessons by a question's words, with the BM25 that SQLite's FTS5 gives them.

Postings lie in a B-tree: PostgreSQL's own full-text search cannot use its index under a row-level policy, and knows no
document frequencies. As in the SQLite store only rare words select lessons, rarest first, as many as select no more
than CHOSEN; the other words add to the scores of the best of those.

A word of a question may stand for several stems that are neighbours (`Pool.acquire`, a path), or be a single character
of a script without spaces, which begins stems. The lessons that have such a word are looked up first (`_Looked`), and
take part in the scoring as rows of their own.

In a large organisation the counts of common words, of lessons and of their words are remembered for some minutes. Two
stores with the same lessons give them the same scores, but for that, for a lesson of more than 32,767 words, and for
common words of which FTS5 reads only the newest lessons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any

from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LessonId
from holdfast.lean.plain import clean
from holdfast.lean.texts import loads
from holdfast.ports.store import ErrorMatches, Numbered, TextMatch, TextMatches
from holdfast.ranking.tuning import TEXT_COLUMN_WEIGHTS
from holdfast.stores._shared.rows import DAMAGED, SCORE_STEPS, SESSION_PREFIX
from holdfast.stores.postgresql.derived import ERROR, ERROR_COLUMN, phrase
from holdfast.stores.postgresql.matching import derived, then, visible
from holdfast.stores.postgresql.rows import SESSION_CODE
from holdfast.stores.postgresql.tenant import Sql
from holdfast.stores.postgresql.terms import stems_of
from holdfast.text import words
from holdfast.text.searchkeys import asked_terms
from holdfast.text.signature import error_signature

CHOSEN, CHOSEN_BY_COMMON = 3_000, 500
"""Most lessons scored in one search, and in one by any of the common words: the newest that match."""
WIDER = 8
"""So many times as many where hardly any of the newest are visible to the query."""
COUNTED = 40_000
"""Most rows that words which choose nothing may have together."""
TERM_LIMIT, COMMON_LIMIT = 64, 20
"""Most words asked for in one search, and how many of them may be common."""
COMMON = 1_000
"""A term in more lessons than this says little; it chooses lessons only when no rarer term is there."""
COMMON_SHARE = 0.02
"""As COMMON, for a store of more than 50,000 lessons: the share of them."""
FINALISTS = 150
"""Fewest of the chosen to which the words that choose nothing are added: those with the best scores so far."""
FEW = 1_000
"""What is counted up to here is counted for every question."""
K1, B = 1.2, 0.75
"""BM25's saturation of a repeated term, and how much a long text counts against it: FTS5's values."""
IDF_LEAST = 1e-6
SCORE = f"{K1 + 1} * {{0}}.weight / ({{0}}.weight + {K1 * (1 - B)} + {K1 * B} * {{0}}.length / %s)"
"""BM25 of one term, without its idf; the argument is the average length."""
STEPPED = f"floor(({{0}}) * {SCORE_STEPS}) / {SCORE_STEPS}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """The lessons among which a question is asked."""

    versions: int
    """How many versions were ever written."""
    lessons: int
    """How many lessons have words."""
    average: float
    """The average number of words of a lesson."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """That a lesson has a word."""

    lesson: int
    scope: int
    weight: int
    length: int


@dataclass(slots=True, kw_only=True)
class Word:
    """A word of a question."""

    text: str
    stems: list[str]
    """Neighbours in a lesson's text; none for a word that no text has."""
    is_begun: bool = False
    """Whether the only stem is the beginning of others."""
    count: int = 0
    """How many lessons have it; for a common one it may be some minutes old."""
    postings: list[Posting] | None = None
    """The lessons that have it, where they were looked up."""

    @property
    def term(self) -> str:
        """The term of its postings; empty for a word that has none of its own."""
        return self.stems[0] if len(self.stems) == 1 and not self.is_begun else ""


@dataclass(slots=True, kw_only=True)
class Question:
    """A question's words, counted, and what is needed to score lessons by them."""

    query: Query
    corpus: Corpus
    words: list[Word]
    prefix: str = ""
    """ERROR where only signatures of errors are searched."""
    many: int = COMMON
    seen: tuple[str, list[Any]] = field(default_factory=lambda: ("true", []))

    def idf(self, word: Word) -> float:
        """Return the word's inverse document frequency."""
        others = max(self.corpus.lessons - word.count, 0)
        return max(IDF_LEAST, log((others + 0.5) / (word.count + 0.5)))


def match_text(sql: Sql, query: Query, limit: int, neighbours: int) -> TextMatches:
    """See `ports.store.Search`."""
    terms = asked_terms(clean(query.text))
    if not terms:
        return TextMatches()
    question = _question(sql, query, terms)
    scores = _search(sql, question, limit, max(limit, neighbours))
    best_first = sorted(scores, key=lambda numbered: (-scores[numbered], -numbered[0]))
    sessions = _sessions(sql, query, best_first[:neighbours])
    matches = []
    for numbered in best_first:
        session, after = sessions.get(numbered[0], ("", None))
        matches.append(TextMatch(lesson=numbered, score=scores[numbered], session=session, after=after))
    return TextMatches(
        matches=tuple(matches), terms=tuple((word.text, word.count) for word in question.words),
        lessons=question.corpus.versions,
    )  # fmt: skip


def match_errors(sql: Sql, query: Query, limit: int) -> ErrorMatches:
    """See `ports.store.Search`."""
    signature = error_signature(clean(query.error))
    question = _question(sql, query, sorted(frozenset(words.terms(signature))))
    choosing = _rarest([word for word in question.words if 0 < word.count <= question.many][:TERM_LIMIT], CHOSEN)
    if not choosing:
        return ErrorMatches(signature=signature)
    in_errors = Question(
        query=query, corpus=question.corpus, many=question.many, seen=question.seen, prefix=ERROR,
        words=[Word(text=word.text, stems=word.stems, is_begun=word.is_begun) for word in choosing],
    )  # fmt: skip
    _count(sql, in_errors)
    rows = _scored(sql, in_errors, in_errors.words, [], limit, "s.score DESC, s.lesson", ", l.doc")
    lessons = []
    for row, id_, _, _, doc in rows:
        try:
            lessons.append((str(loads(doc)["error_signature"]), (row, LessonId(id_))))
        except DAMAGED:
            continue
    return ErrorMatches(signature=signature, lessons=tuple(lessons))


def _question(sql: Sql, query: Query, terms: Sequence[str]) -> Question:
    """Return the question of these terms with its words counted."""
    corpus = _corpus(sql, query)
    question = Question(
        query=query, corpus=corpus, seen=visible(query), many=max(COMMON, int(corpus.versions * COMMON_SHARE)),
        words=[
            Word(text=term, stems=stems_of(words.indexed(term)), is_begun=words.is_begun(term)) for term in terms
        ],
    )  # fmt: skip
    _count(sql, question)
    return question


def _corpus(sql: Sql, query: Query) -> Corpus:
    if query.as_of is not None:
        return _past_corpus(sql, query)
    remembered: Corpus | None = sql.cache.get((sql.org, "corpus"))
    if remembered is not None:
        return remembered
    counting = (
        "SELECT (SELECT sum(c.last) FROM counters c WHERE c.org = %s AND c.name = 'versions'),"
        " count(*), avg(w.length) FROM (SELECT d.length FROM words d WHERE d.org = %s AND d.live LIMIT %s) w"
    )
    corpus = _corpus_of(sql.execute(counting, (sql.org, sql.org, FEW + 1)).fetchone())
    if corpus.lessons > FEW:
        corpus = _corpus_of(sql.execute(counting, (sql.org, sql.org, None)).fetchone())
        sql.cache.put((sql.org, "corpus"), corpus)
    return corpus


def _past_corpus(sql: Sql, query: Query) -> Corpus:
    source, args = derived(sql, "words", query, in_scope=False)
    row = sql.execute(
        "SELECT (SELECT count(*) FROM lessons l WHERE l.org = %s AND l.row <= t.newest), t.lessons, t.average"
        f" FROM (SELECT max(d.lesson) AS newest, count(*) AS lessons, avg(d.length) AS average{source}) t",
        (sql.org, *args),
    ).fetchone()
    return _corpus_of(row)


def _corpus_of(row: tuple[Any, ...] | None) -> Corpus:
    versions, lessons, average = row or (0, 0, None)
    return Corpus(versions=int(versions or 0), lessons=int(lessons), average=float(average or 1.0))


def _count(sql: Sql, question: Question) -> None:
    """Count the lessons that have each word, whoever may see them; of words without postings, look these up."""
    terms = {word.term for word in question.words if word.term}
    parts = {stem for word in question.words if not word.term and not word.is_begun for stem in word.stems}
    counts = _counts(sql, question, sorted(terms | parts))
    for word in question.words:
        if word.term:
            word.count = counts[word.term]
        elif word.is_begun:
            word.postings = _begun(sql, question, word.stems[0]) if word.stems else []
            word.count = len(word.postings)
    phrases = [
        word for word in question.words
        if not word.term and not word.is_begun and word.stems and all(counts[stem] for stem in word.stems)
    ]  # fmt: skip
    if phrases:
        _look_up_phrases(sql, question, phrases, counts)


def _counts(sql: Sql, question: Question, terms: Sequence[str]) -> dict[str, int]:
    """Return how many lessons have each term."""
    counts: dict[str, int] = {}
    is_now = question.query.as_of is None
    for term in terms if is_now else ():
        count = sql.cache.get((sql.org, question.prefix + term))
        if count is not None:
            counts[term] = count
    unknown = [term for term in terms if term not in counts]
    counts.update(_counted(sql, question, unknown, question.many + 1))
    common = [term for term in unknown if counts[term] > question.many]
    counts.update(_counted(sql, question, common, None))
    for term in common if is_now else ():
        sql.cache.put((sql.org, question.prefix + term), counts[term])
    return counts


def _counted(sql: Sql, question: Question, terms: Sequence[str], most: int | None) -> dict[str, int]:
    if not terms:
        return {}
    source, args = derived(sql, "postings", question.query, in_scope=False)
    rows = sql.execute(
        "SELECT q.term, (SELECT count(*) FROM ("
        f"SELECT 1{source} AND d.term = %s || q.term LIMIT %s) c) FROM unnest(%s::text[]) q (term)",
        (*args, question.prefix, most, list(terms)),
    )
    return dict(rows.fetchall())


def _begun(sql: Sql, question: Question, beginning: str) -> list[Posting]:
    """Return the newest lessons that have a stem with that beginning."""
    source, args = derived(sql, "postings", question.query, in_scope=False)
    first = question.prefix + beginning
    rows = sql.execute(
        f"SELECT d.lesson, min(d.scope), sum(d.weight), max(d.length){source} AND d.term >= %s AND d.term < %s"
        " GROUP BY d.lesson ORDER BY d.lesson DESC LIMIT %s",
        (*args, first, first[:-1] + chr(ord(first[-1]) + 1), COUNTED),
    )
    return [Posting(lesson=row, scope=scope, weight=weight, length=length) for row, scope, weight, length in rows]


def _look_up_phrases(sql: Sql, question: Question, phrases: Sequence[Word], counts: Mapping[str, int]) -> None:
    """Find the lessons in which the stems of a word are neighbours, among the newest that have the rarest of them."""
    source, args = derived(sql, "postings", question.query, in_scope=False)
    rarest = [min(word.stems, key=counts.__getitem__) for word in phrases]
    rows = sql.execute(
        "SELECT q.number, p.lesson, p.scope, w.length, w.stems"
        " FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY q (rarest, phrase, number) CROSS JOIN LATERAL"
        f" (SELECT d.lesson, d.scope{source} AND d.term = %s || q.rarest ORDER BY d.lesson DESC LIMIT %s) p"
        " JOIN words w ON w.org = %s AND w.lesson = p.lesson WHERE strpos(w.stems, q.phrase) > 0",
        (
            rarest, [phrase(word.stems) for word in phrases], *args, question.prefix,
            max(CHOSEN, question.many + 1), sql.org,
        ),
    )  # fmt: skip
    for word in phrases:
        word.postings = []
    for number, lesson, scope, length, stems in rows:
        word = phrases[number - 1]
        weight = _phrase_weight(stems.split("\n"), phrase(word.stems), question.prefix)
        if weight and word.postings is not None:
            word.postings.append(Posting(lesson=lesson, scope=scope, weight=weight, length=length))
    for word in phrases:
        word.count = len(word.postings or ())


def _phrase_weight(columns: Sequence[str], neighbours: str, prefix: str) -> int:
    """Return how often a phrase occurs, each time as often as its column weighs; with a prefix, in the errors alone."""
    if prefix:
        return columns[ERROR_COLUMN].count(neighbours)
    weights = zip(TEXT_COLUMN_WEIGHTS, columns, strict=True)
    return sum(round(weight) * column.count(neighbours) for weight, column in weights)


def _search(sql: Sql, question: Question, limit: int, depth: int) -> dict[Numbered, float]:
    """Return the best `depth` visible lessons with their BM25, larger is better.

    If rare words find fewer than `limit`, common words add some more.
    """
    rare = [word for word in question.words if 0 < word.count <= question.many][:TERM_LIMIT]
    common = [word for word in question.words if word.count > question.many][:COMMON_LIMIT]
    scores: dict[Numbered, float] = {}
    if rare:
        choosing = _rarest(rare, CHOSEN)
        # Words that select nothing still count for selected lessons: without them recall falls by a tenth.
        counting = _rarest([word for word in (*rare, *common) if word not in choosing], COUNTED, least=0)
        scores = _best(sql, question, choosing, counting, depth)
    elif common:
        scores = _best_common(sql, question, _rarest(common, COUNTED), depth, CHOSEN, with_all=True)
    if len(scores) < limit and len(common) > (not rare):
        some = _rarest(common, COUNTED)
        scores = _best_common(sql, question, some, depth, CHOSEN_BY_COMMON, with_all=False) | scores
    return scores


def _rarest(some: Sequence[Word], most: int, least: int = 1) -> list[Word]:
    """Return the rarest words that together occur in at most `most` lessons, but at least `least` words."""
    taken: list[Word] = []
    for word in sorted(some, key=lambda word: word.count):
        most -= word.count
        if most < 0 and len(taken) >= least:
            break
        taken.append(word)
    return taken


def _best(
    sql: Sql, question: Question, choosing: Sequence[Word], counting: Sequence[Word], depth: int
) -> dict[Numbered, float]:
    """Return the best visible lessons that have a choosing word, scored by all words."""
    finalists = max(FINALISTS, 2 * depth)
    rows = _scored(sql, question, choosing, counting, depth, "s.score DESC, s.lesson DESC", finalists=finalists)
    if len(rows) < depth and rows and rows[0][3] > finalists:  # most of the best are not visible to the query
        rows = _scored(sql, question, choosing, counting, depth, "s.score DESC, s.lesson DESC", finalists=CHOSEN)
    return {(row, LessonId(id_)): score for row, id_, score, *_ in rows}


def _scored(
    sql: Sql, question: Question, choosing: Sequence[Word], counting: Sequence[Word], depth: int, order: str,
    columns: str = "", finalists: int = CHOSEN,
) -> list[tuple[Any, ...]]:  # fmt: skip
    """Return row, id, score, number of lessons chosen, and further columns of the best visible lessons, best first."""
    hits, hit_args = _hits(sql, question, choosing)
    extra, extra_args = _extra(sql, question, counting)
    seen, seen_args = question.seen
    return sql.execute(
        f"WITH chosen AS MATERIALIZED (SELECT h.lesson, min(h.scope) AS scope, sum(h.score) AS score FROM ({hits}) h"
        " GROUP BY h.lesson), finalists AS MATERIALIZED (SELECT c.lesson, c.scope, c.score FROM chosen c"
        " ORDER BY c.score DESC, c.lesson DESC LIMIT %s),"
        f" scored AS MATERIALIZED (SELECT c.lesson, {STEPPED.format(f'c.score + {extra}')} AS score FROM finalists c)"
        f" SELECT l.row, l.id, s.score, (SELECT count(*) FROM chosen){columns} FROM scored s"
        f" JOIN lessons l ON l.org = %s AND l.row = s.lesson AND {seen} ORDER BY {order} LIMIT %s",
        (*hit_args, finalists, *extra_args, sql.org, *seen_args, depth),
    ).fetchall()


def _hits(sql: Sql, question: Question, choosing: Sequence[Word]) -> tuple[str, list[Any]]:
    """Return SQL for the lessons that have a choosing word: lesson, scope, score."""
    average = question.corpus.average
    source, source_args = derived(sql, "postings", question.query)
    terms = [word for word in choosing if word.postings is None]
    hits = (
        f"SELECT p.lesson, p.scope, q.idf * {SCORE.format('p')} AS score"
        " FROM unnest(%s::text[], %s::float8[]) q (term, idf) CROSS JOIN LATERAL"
        f" (SELECT d.lesson, d.scope, d.weight, d.length{source} AND d.term = q.term) p"
    )
    args = [average, [question.prefix + word.term for word in terms], list(map(question.idf, terms)), *source_args]
    if looked_up := [word for word in choosing if word.postings]:
        rows, row_args = _looked_up(question, looked_up)
        hits, args = f"{hits} UNION ALL SELECT r.lesson, r.scope, r.score FROM {rows}", [*args, *row_args]
    return hits, args


def _extra(sql: Sql, question: Question, counting: Sequence[Word]) -> tuple[str, list[Any]]:
    """Return SQL for what the counting words add to the score of the lesson `c`."""
    terms = [word for word in counting if word.postings is None]
    live = "p.live" if question.query.as_of is None else "p.live = ANY('{t,f}')"
    extra, args = "0.0", []
    if terms:
        extra += (
            f" + coalesce((SELECT sum(q.idf * {SCORE.format('p')}) FROM unnest(%s::text[], %s::float8[]) q (term, idf)"
            f" JOIN postings p ON p.org = %s AND {live} AND p.term = q.term AND p.scope = c.scope"
            " AND p.lesson = c.lesson), 0.0)"
        )
        args += [
            question.corpus.average, [question.prefix + word.term for word in terms], list(map(question.idf, terms)),
            sql.org,
        ]  # fmt: skip
    if looked_up := [word for word in counting if word.postings]:
        rows, row_args = _looked_up(question, looked_up)
        extra += f" + coalesce((SELECT sum(r.score) FROM {rows} WHERE r.lesson = c.lesson), 0.0)"
        args += row_args
    return extra, args


def _looked_up(question: Question, looked_up: Sequence[Word]) -> tuple[str, list[Any]]:
    """Return SQL for rows `r` of what was looked up: lesson, scope, score."""
    lessons, scopes, scores = [], [], []
    for word in looked_up:
        idf = question.idf(word)
        for posting in word.postings or ():
            lessons.append(posting.lesson)
            scopes.append(posting.scope)
            against = K1 * (1 - B) + K1 * B * posting.length / question.corpus.average
            scores.append(idf * (K1 + 1) * posting.weight / (posting.weight + against))
    return "unnest(%s::bigint[], %s::int[], %s::float8[]) r (lesson, scope, score)", [lessons, scopes, scores]


def _best_common(
    sql: Sql, question: Question, some: Sequence[Word], depth: int, newest: int, with_all: bool
) -> dict[Numbered, float]:
    """Return the best visible lessons among the `newest` that have all, or any, of these common words.

    If hardly any of the newest are visible (others' are newer), more are searched.
    """
    scores: dict[Numbered, float] = {}
    for most in (newest, newest * WIDER):
        rows = _scored_common(sql, question, some, depth, most, with_all)
        scores = {(row, LessonId(id_)): score for row, id_, score, _ in rows}
        if len(scores) >= depth or not rows or rows[0][3] < most:
            break
    return scores


def _scored_common(
    sql: Sql, question: Question, some: Sequence[Word], depth: int, newest: int, with_all: bool
) -> list[tuple[Any, ...]]:
    """Return row, id, score, and how many matched, of the best visible lessons among the newest that match."""
    average = question.corpus.average
    source, source_args = derived(sql, "postings", question.query)
    seen, seen_args = question.seen
    terms = [word for word in some if word.postings is None]
    looked_up, looked_up_args = _looked_up(question, [word for word in some if word.postings])
    return sql.execute(
        f"WITH hits AS (SELECT p.lesson, q.idf * {SCORE.format('p')} AS score"
        " FROM unnest(%s::text[], %s::float8[]) q (term, idf) CROSS JOIN LATERAL"
        f" (SELECT d.lesson, d.weight, d.length{source} AND d.term = q.term ORDER BY d.lesson DESC LIMIT %s) p"
        f" UNION ALL SELECT r.lesson, r.score FROM {looked_up}),"
        f" matching AS MATERIALIZED (SELECT h.lesson, {STEPPED.format('sum(h.score)')} AS score FROM hits h"
        " GROUP BY h.lesson HAVING count(*) >= %s ORDER BY h.lesson DESC LIMIT %s)"
        " SELECT l.row, l.id, m.score, (SELECT count(*) FROM matching) FROM matching m"
        f" JOIN lessons l ON l.org = %s AND l.row = m.lesson AND {seen} ORDER BY m.score DESC, m.lesson DESC LIMIT %s",
        (
            average, [word.term for word in terms], list(map(question.idf, terms)), *source_args,
            None if with_all and len(some) > 1 else newest, *looked_up_args, len(some) if with_all else 1, newest,
            sql.org, *seen_args, depth,
        ),
    ).fetchall()  # fmt: skip


def _sessions(sql: Sql, query: Query, best: Sequence[Numbered]) -> dict[int, tuple[str, Numbered | None]]:
    """Return the session of each lesson that has one, and the lesson learnt next in it, if it is visible."""
    if not best:
        return {}
    live = "live" if query.as_of is None else "live = ANY('{t,f}')"
    known, known_args = then(query, "v")
    seen, seen_args = visible(query)
    rows = sql.execute(
        f"SELECT s.lesson, s.token, l.row, l.id FROM tokens s LEFT JOIN LATERAL (SELECT n.lesson FROM tokens n"
        f" JOIN lessons v ON v.org = %s AND v.row = n.lesson AND {known}"
        f" WHERE n.org = %s AND n.{live} AND n.token = s.token AND n.scope = s.scope AND n.lesson > s.lesson"
        " ORDER BY n.lesson LIMIT 1) n ON true"
        f" LEFT JOIN lessons l ON l.org = %s AND l.row = n.lesson AND {seen}"
        f" WHERE s.org = %s AND s.{live} AND s.lesson = ANY(%s) AND s.source = %s",
        (
            sql.org, *known_args, sql.org, sql.org, *seen_args, sql.org, [row for row, _ in best], SESSION_CODE,
        ),
    )  # fmt: skip
    return {
        row: (token.removeprefix(SESSION_PREFIX), None if next_row is None else (next_row, LessonId(next_id)))
        for row, token, next_row, next_id in rows
    }
