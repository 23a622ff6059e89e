"""The indexes of current lessons, each answering with ids and its own scores, larger better.

- exact: 0 to 1. Equal error signature, command or topic key 1; an error of nearly the same words .6 to .9; a symbol .9,
  a path .8, a file's name .6, an identifier of the text .5, a symbol's last part .4, the last four divided by
  1 + log2(lessons that have it). Several hits add up as independent chances do.
- text: the share (0 to 1) that BM25, weighted by column (title 5, insight 3, error 3, reason 2, expanded 2), is of the
  most that the question's terms could give, times 1 to 2 for how familiar its words are here (`termcounts`), and
  shares of what is near in the session (`nearby`). A hit's weight is the BM25 with the same factor.
- path: 1 the file itself, .8 a glob, .6 a folder above it that is an anchor (times .7 a level), .4 another file of
  its folder, .2 and halving a file of a folder above (not of the root).
- symbol: with paths, only lessons anchored to one of them: 1 the same qualified symbol, .9 the same name without what
  it is in, .8 what it is in (times .9 a level), .6 what is in it; three quarters of that where not an anchor but the
  lesson's words name it, or an anchor's last part. Without paths: 1 the same qualified symbol.
- graph: the weight of the heaviest linked file that is an anchor; 1 a file asked about, so that links never put
  another one above it.
- trigger: 1 a literal that stands in the code, .95 the beginning of a command, .9 a glob or a symbol in play.
  occasion: 1 for each that begins now, oldest lessons first.
- recent: seconds since 1970 when recorded, of lessons that hold since the time asked about, if there is one. pinned:
  salience.

Every lane keeps to the query's scope, states, kinds and exclusions inside its SQL.
"""

from __future__ import annotations

import math

from holdfast.domain.query import Hit
from holdfast.domain.vocabulary import LessonId
from holdfast.stores.sqlite import derived, fulltext, nearby, triggers
from holdfast.stores.sqlite.rows import clean, clean_all, micros, slots
from holdfast.stores.sqlite.termcounts import count_terms
from holdfast.stores.sqlite.visible import first_visible, visible
from holdfast.text import words
from holdfast.text.globs import glob_matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from typing import Any

    from holdfast.domain.query import Query

    Clause = tuple[str, list[Any]]

TERM_LIMIT = 64
"""Most exact tokens asked for in one search; twice as many words of a text are looked up."""
BESIDE = 500
"""Fewest lessons of a folder that are looked at: the newest."""
QUESTION_LIMIT = 8_000
"""Characters of a question that are looked at: half from its start, half from its end."""
SYMBOL_LIMIT, LINKED_LIMIT = 24, 40
"""Most symbols, and linked files, asked for in one search."""
UNQUALIFIED, AROUND, NAMED, INSIDE = 0.9, 0.8, 0.75, 0.6
"""Scores of the symbol lane, see above."""
LEAST_EXACT = 0.33
"""A name that many lessons share points at none of them."""
NEAR_ERROR = 0.6
"""Least share of common words (Jaccard) for two error signatures to be nearly the same."""


def search(sql: sqlite3.Connection, lane: str, query: Query, limit: int) -> list[Hit]:
    """What one of these lanes answers, best first, at most `limit`."""
    if limit <= 0 or not query.states:
        return []
    return _LANES[lane](sql, query, limit)


def best(sql: sqlite3.Connection, query: Query, scores: dict[int, float], limit: int) -> list[Hit]:
    """The visible ones of scored rows, best first, newer first among equals."""
    rows = sorted(scores, key=lambda row: (-scores[row], -row))
    return [Hit(id=LessonId(id_), score=scores[row]) for row, id_ in first_visible(sql, rows, visible(query), limit)]


def _exact(sql: sqlite3.Connection, query: Query, limit: int) -> list[Hit]:
    asked = _asked_tokens(query)
    chances: dict[int, float] = {}
    for token in asked:
        owner, args = _owners(query)
        found = sql.execute(f"SELECT lesson, weight FROM tokens WHERE token = ?{owner}", (token, *args)).fetchall()
        for row, weight in found:
            sure = weight >= derived.TOPIC or len(found) == 1
            share = weight if sure else weight / (1 + math.log2(len(found)) / 4)
            chances[row] = 1 - (1 - chances.get(row, 0.0)) * (1 - share)
    for row, share in _near_errors(sql, query).items():
        chances[row] = max(share, chances.get(row, 0.0))
    return best(sql, query, {row: chance for row, chance in chances.items() if chance >= LEAST_EXACT}, limit)


def _asked_tokens(query: Query) -> list[str]:
    from holdfast.text.signature import command_target, error_signature, masked

    text = _looked_at(query.text)
    error = error_signature(clean(query.error)) if query.error else ""
    command = command_target(clean(query.command)) if query.command else ""
    tokens = ["error " + error, "error " + masked(error)] if error else []
    tokens += ["run " + command] if command else []
    for symbol in clean_all(query.symbols):
        tokens += [symbol.casefold(), symbol.replace("::", ".").rpartition(".")[2].casefold()]
    tokens += [text.strip().casefold()] if 0 < len(text) <= 100 else []
    tokens += derived.identifiers(f"{text} {query.command and clean(query.command)}")
    return list(dict.fromkeys(tokens))[:TERM_LIMIT]


def _near_errors(sql: sqlite3.Connection, query: Query) -> dict[int, float]:
    """Lessons whose error signature has nearly the words of the query's: rows and chances of .6 to .9."""
    if not query.error:
        return {}
    from holdfast.text.signature import error_signature

    asked = frozenset(words.terms(error_signature(clean(query.error))))
    if len(asked) < 3:
        return {}
    found: dict[int, float] = {}
    for row, error in fulltext.errors_with(sql, query, count_terms(sql, sorted(asked)), visible(query)):
        have = frozenset(words.terms(error))
        share = len(asked & have) / len(asked | have)
        if share >= NEAR_ERROR:
            found[row] = 0.9 * share if share < 1 else 0.9
    return found


def _text(sql: sqlite3.Connection, query: Query, limit: int) -> list[Hit]:
    counts = count_terms(sql, words.terms(_looked_at(query.text))[: TERM_LIMIT * 2])
    found = fulltext.search(sql, query, counts, visible(query), limit)
    scores = {row: counts.factor * bm25 for row, bm25 in found.items()}
    spread = nearby.spread(sql, {row: score / counts.most for row, score in scores.items()})
    rows = sorted(spread, key=lambda row: (-spread[row], -row))
    return [
        Hit(id=LessonId(id_), score=spread[row], weight=scores.get(row, 0.0))
        for row, id_ in first_visible(sql, rows, visible(query), limit)
    ]


def _path(sql: sqlite3.Connection, query: Query, limit: int) -> list[Hit]:
    scores: dict[int, float] = {}

    def found(rows: Sequence[tuple[int]], score: float) -> None:
        for (row,) in rows:
            scores[row] = max(score, scores.get(row, 0.0))

    owner, args = _owners(query)
    for path in clean_all(query.paths):
        for glob in _globs(sql, query):
            if glob_matches(glob, path):
                found(sql.execute(f"SELECT lesson FROM anchors WHERE path = ?{owner}", (glob, *args)).fetchall(), 0.8)
        folders = _above(path)
        for level, anchor in enumerate([path, *folders]):
            score = 1.0 if level == 0 else 0.6 * 0.7 ** (level - 1)
            found(sql.execute(f"SELECT lesson FROM anchors WHERE path = ?{owner}", (anchor, *args)).fetchall(), score)
        for level, folder in enumerate(folders or [""]):
            beside = f"SELECT lesson FROM anchors WHERE folder = ? AND is_glob = 0{owner} ORDER BY lesson DESC LIMIT ?"
            score = 0.4 if level == 0 else 0.4 * 0.5**level
            found(sql.execute(beside, (folder, *args, max(BESIDE, 2 * limit))).fetchall(), score)
    return best(sql, query, scores, limit)


def _above(path: str) -> list[str]:
    """The folders a path is in, nearest first, without the root."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]


def _globs(sql: sqlite3.Connection, query: Query) -> list[str]:
    owner, args = _owners(query)
    return [glob for (glob,) in sql.execute(f"SELECT DISTINCT path FROM anchors WHERE is_glob = 1{owner}", args)]


def _symbol(sql: sqlite3.Connection, query: Query, limit: int) -> list[Hit]:
    names = [symbol.replace("::", ".").casefold() for symbol in clean_all(query.symbols)[:SYMBOL_LIMIT] if symbol]
    worth = _worth_of_names(names) if query.paths else dict.fromkeys(names, 1.0)
    scores: dict[int, float] = {}
    for token, row, weight in _named(sql, query, f"token IN ({slots(len(worth))})", list(worth)):
        score = worth[token] if weight >= derived.SYMBOL else NAMED * worth[token]
        scores[row] = max(score, scores.get(row, 0.0))
    for name in names if query.paths else ():
        for _, row, weight in _named(sql, query, "token > ? AND token < ?", [name + ".", name + "/"]):
            if weight >= derived.SYMBOL:
                scores[row] = max(INSIDE, scores.get(row, 0.0))
    return best(sql, query, scores, limit)


def _worth_of_names(names: Sequence[str]) -> dict[str, float]:
    """Each name, the name without what it is in, and the names of what it is in, nearest first."""
    worth: dict[str, float] = {}
    for name in names:
        parts = name.split(".")
        around = [".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]
        offered = [(part, AROUND * 0.9**level) for level, part in enumerate(around)]
        for part, score in [*offered, (parts[-1], UNQUALIFIED), (name, 1.0)]:
            worth[part] = max(score, worth.get(part, 0.0))
    return worth


def _named(sql: sqlite3.Connection, query: Query, which: str, names: Sequence[str]) -> list[tuple[str, int, float]]:
    """Token, row and weight of lessons that such names point at: of those anchored to the files asked, if any."""
    owner, args = _owners(query)
    paths = clean_all(query.paths)
    where, least = f"{which}{owner} AND weight >= ?", derived.PART if paths else derived.SYMBOL
    if paths:
        where += (
            " AND EXISTS (SELECT 1 FROM anchors a WHERE a.lesson = tokens.lesson AND a.owner = tokens.owner"
            f" AND a.path IN ({slots(len(paths))}))"
        )
    found = sql.execute(f"SELECT token, lesson, weight FROM tokens WHERE {where}", (*names, *args, least, *paths))
    return found.fetchall()


def _graph(sql: sqlite3.Connection, query: Query, limit: int) -> list[Hit]:
    weights: dict[str, float] = {}
    for one in query.linked[:LINKED_LIMIT]:
        weights[clean(one.path)] = max(one.weight, weights.get(clean(one.path), 0.0))
    if weights:
        weights.update(dict.fromkeys(clean_all(query.paths), 1.0))
    owner, args = _owners(query)
    where = f"path IN ({slots(len(weights))}) AND is_glob = 0{owner}"
    scores: dict[int, float] = {}
    for path, row in sql.execute(f"SELECT path, lesson FROM anchors WHERE {where}", (*weights, *args)):
        scores[row] = max(weights[path], scores.get(row, 0.0))
    return best(sql, query, scores, limit)


def _recent(sql: sqlite3.Connection, query: Query, limit: int) -> list[Hit]:
    seen, args = visible(query)
    if query.since is not None:
        seen, args = f"{seen} AND l.valid_from >= ?", [*args, micros(query.since)]
    if query.until is not None:
        seen, args = f"{seen} AND l.valid_from < ?", [*args, micros(query.until)]
    rows = sql.execute(
        f"SELECT l.id, l.recorded_at FROM lessons l WHERE {seen} ORDER BY l.recorded_at DESC, l.row DESC LIMIT ?",
        (*args, limit),
    )
    return [Hit(id=LessonId(id_), score=at / 1_000_000) for id_, at in rows]


def _pinned(sql: sqlite3.Connection, query: Query, limit: int) -> list[Hit]:
    seen, args = visible(query)
    rows = sql.execute(
        f"SELECT l.id, l.salience FROM lessons l INDEXED BY lessons_pinned WHERE l.pinned = 1 AND {seen}"
        " ORDER BY l.salience DESC, l.recorded_at DESC, l.row DESC LIMIT ?",
        (*args, limit),
    )
    return [Hit(id=LessonId(id_), score=salience) for id_, salience in rows]


def _owners(query: Query) -> Clause:
    if query.all_projects:
        return "", []
    return " AND owner IN ('', ?)", [clean(query.project)]


def _looked_at(text: str) -> str:
    text = clean(text)
    half = QUESTION_LIMIT // 2
    return text if len(text) <= QUESTION_LIMIT else f"{text[:half]} {text[-half:]}"


_LANES = {
    "exact": _exact, "text": _text, "path": _path, "symbol": _symbol, "graph": _graph, "recent": _recent,
    "pinned": _pinned, "trigger": triggers.search, "occasion": triggers.search_occasions,
}  # fmt: skip
