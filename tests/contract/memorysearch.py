"""`MemorySearch`: the port `Search` over lessons in memory, without an index: the minimum for a further backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from math import log
from typing import Any

from holdfast.domain.lesson import Lesson
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LIVING, LessonId
from holdfast.lean.plain import clean
from holdfast.ports import store as port
from holdfast.ranking.relevance import stem
from holdfast.ranking.tuning import TEXT_COLUMN_WEIGHTS
from holdfast.text import searchkeys as keys
from holdfast.text.globs import glob_matches
from holdfast.text.occasions import occasions
from holdfast.text.shell import command_lines
from holdfast.text.signature import error_signature
from holdfast.text.triggers import begins, last_part, stands_in, triggers_of
from holdfast.text.words import is_begun, terms

Row = tuple[int, Lesson]
K1 = 1.2
"""BM25's saturation of a repeated term."""


class MemorySearch:
    """The search methods for a store that has `known` and `vectors`, which are by embedder and lesson."""

    vectors: dict[str, dict[LessonId, Sequence[float]]]

    def known(self, as_of: datetime | None) -> Iterable[Row]:
        """Return versions and positions, oldest first: the current ones, or those known and true at that instant."""
        raise NotImplementedError

    def match_tokens(self, query: Query) -> list[port.TokenMatch]:
        tokens = [keys.lesson_tokens(lesson) for _, lesson in self._scope(query)]
        sharing = {token: sum(token in own for own in tokens) for token in keys.asked_tokens(query)}
        groups = _grouped(self._seen(query), lambda lesson: keys.lesson_tokens(lesson).items())
        return [
            port.TokenMatch(token=token, source=source, sharing=sharing[token], lessons=groups[token, source])
            for token in sharing
            for source in keys.SOURCES
            if (token, source) in groups
        ]

    def match_errors(self, query: Query, limit: int) -> port.ErrorMatches:
        signature = error_signature(query.error)
        shared = [(len({*terms(signature)} & {*terms(row[1].error_signature)}), row) for row in self._seen(query)]
        best = sorted((pair for pair in shared if pair[0]), key=lambda pair: -pair[0])[:limit]
        lessons = tuple((lesson.error_signature, (at, lesson.id)) for _, (at, lesson) in best)
        return port.ErrorMatches(signature=signature, lessons=lessons)

    def match_text(self, query: Query, limit: int, neighbours: int) -> port.TextMatches:
        """Score by BM25 without length normalisation; a word counts as often as the weight of its column."""
        seen = dict(self._seen(query))
        rows = {at: lesson for at, lesson in self.known(query.as_of) if lesson.state != "forgotten"}
        stems = {at: [{*map(stem, terms(text))} for text in keys.text_columns(lesson)] for at, lesson in rows.items()}
        counts: dict[str, int] = {}
        scores = dict.fromkeys(seen, 0.0)
        for term in keys.asked_terms(query.text):
            having = {at: weight for at, columns in stems.items() if (weight := _weight(columns, term))}
            counts[term] = len(having)
            idf = max(1e-6, log((len(rows) - len(having) + 0.5) / (len(having) + 0.5)))
            for at in having.keys() & seen.keys():
                scores[at] += idf * having[at] * (K1 + 1) / (having[at] + K1)
        matches, scope = [], dict(self._scope(query))
        for at in sorted(filter(scores.get, scores), key=lambda at: (-scores[at], -at))[: max(limit, neighbours)]:
            session = seen[at].provenance.session
            after = next((other for other in scope if other > at and scope[other].provenance.session == session), 0)
            next_one = (after, scope[after].id) if session and after in seen else None
            matches.append(port.TextMatch(lesson=(at, seen[at].id), score=scores[at], session=session, after=next_one))
        return port.TextMatches(matches=tuple(matches), terms=tuple(counts.items()), lessons=len(rows))

    def match_paths(self, query: Query, limit: int) -> list[port.PathMatch]:
        places = _grouped(self._seen(query), lambda lesson: _places(lesson, query.paths))
        return [port.PathMatch(path=p, relation=r, levels=n, lessons=ids[:limit]) for (p, r, n), ids in places.items()]

    def match_symbols(self, query: Query, limit: int) -> list[port.SymbolMatch]:
        names = _grouped(self._seen(query), lambda lesson: _names(lesson, query))
        return [
            port.SymbolMatch(name=name, relation=relation, levels=levels, is_anchor=is_anchor, lessons=ids[:limit])
            for (name, relation, levels, is_anchor), ids in names.items()
        ]

    def match_linked(self, query: Query, limit: int) -> list[port.LinkedMatch]:
        linked = (*(link.path for link in query.linked[: keys.LINKED_LIMIT]), *(query.paths if query.linked else ()))
        asked_paths = {clean(path): path for path in linked}
        paths = _grouped(self._seen(query), lambda lesson: asked_paths.keys() & {*keys.anchored_files(lesson)})
        return [port.LinkedMatch(path=asked_paths[path], lessons=ids[:limit]) for path, ids in paths.items()]

    def match_triggers(self, query: Query, limit: int) -> list[port.TriggerMatch]:
        kinds = _grouped(self._seen(query), lambda lesson: _fitting(lesson, query))
        return [port.TriggerMatch(kind=kind, lessons=ids[:limit]) for kind, ids in kinds.items()]

    def match_occasions(self, query: Query, limit: int) -> list[LessonId]:
        return [lesson.id for _, lesson in self._seen(query) if {*query.occasions} & {*occasions(lesson)}][:limit]

    def match_vector(self, query: Query, limit: int) -> list[port.VectorMatch]:
        vectors = self.vectors.get(query.embedder_id, {})
        near = [
            (sum(a * b for a, b in zip(vectors[lesson.id], query.vector, strict=True)), at, lesson.id)
            for at, lesson in self._seen(query)
            if query.vector and len(vectors.get(lesson.id, ())) == len(query.vector)
        ]
        return [port.VectorMatch(id=id_, cosine=cosine) for cosine, _, id_ in sorted(near, reverse=True)[:limit]]

    def list_recent(self, query: Query, limit: int) -> list[port.RecentMatch]:
        rows = [
            (lesson.recorded_at, at, lesson.id)
            for at, lesson in self._seen(query)
            if (query.since is None or lesson.validity.valid_from >= query.since)
            and (query.until is None or lesson.validity.valid_from < query.until)
        ]
        return [port.RecentMatch(id=id_, recorded_at=when) for when, _, id_ in sorted(rows, reverse=True)[:limit]]

    def list_pinned(self, query: Query, limit: int) -> list[port.PinnedMatch]:
        rows = [row for row in self._seen(query) if row[1].pinned]
        rows.sort(key=lambda row: (row[1].salience, row[1].recorded_at, row[0]), reverse=True)
        return [port.PinnedMatch(id=lesson.id, salience=lesson.salience) for _, lesson in rows[:limit]]

    def turns(self) -> Sequence[port.SpokenTurn]:
        """Return the turns of every session, in the order of their first events."""
        raise NotImplementedError

    def search_turns(self, query: Query, limit: int) -> port.TurnMatches:
        terms_asked = keys.asked_terms(query.text)
        rows = [(at, turn, {*map(stem, terms(f"{turn.prompt}\n{turn.reply}"))}) for at, turn in enumerate(self.turns())]
        counts = {term: sum(stem(term) in stems for _, _, stems in rows) for term in terms_asked}
        matches = [
            port.TurnMatch(row=at, turn=turn, score=score)
            for at, turn, stems in rows
            if turn.project == query.project
            and (query.since is None or turn.at >= query.since)
            and (query.until is None or turn.at < query.until)
            and (query.as_of is None or turn.at <= query.as_of)
            and (score := sum(log(1 + len(rows) / counts[term]) for term in counts if stem(term) in stems))
        ]
        matches.sort(key=lambda match: (-match.score, -match.turn.at.timestamp()))
        best = tuple(matches[: max(0, limit)])
        return port.TurnMatches(matches=best, terms=tuple(counts.items()) if terms_asked else (), turns=len(rows))

    def count_lessons(self, query: Query, most: int) -> int:
        return min(most, sum(lesson.state in query.states for _, lesson in self._scope(query)))

    def _scope(self, query: Query) -> Iterable[Row]:
        """Return the lessons of the query's project and of the user, without tombstones."""
        rows = (row for row in self.known(query.as_of) if row[1].state != "forgotten")
        return (row for row in rows if query.all_projects or row[1].scope.owner in ("", query.project))

    def _seen(self, query: Query) -> Iterable[Row]:
        """Return the lessons that are visible to the query."""
        return (row for row in self._scope(query) if _is_seen(row[1], query))


def _is_seen(lesson: Lesson, query: Query) -> bool:
    scope, validity, at, own = lesson.scope, lesson.validity, query.at, lesson.scope.owner == query.project
    ended = at is not None and validity.valid_to is not None and validity.valid_to <= at and lesson.state in LIVING
    begun = at is None or validity.valid_from <= max(at, lesson.recorded_at)
    hidden = own and scope.branch and query.staged is not None and lesson.id not in query.staged
    part, prefix = scope.path_prefix + "/", query.prefix + "/"
    elsewhere = own and scope.path_prefix and query.prefix and not (prefix.startswith(part) or part.startswith(prefix))
    listed = lesson.state in query.states and (not query.kinds or lesson.kind in query.kinds)
    return bool(begun and listed and not (ended or hidden or elsewhere or lesson.id in query.exclude))


def _places(lesson: Lesson, paths: Iterable[str]) -> Iterator[tuple[str, str, int]]:
    files = keys.anchored_files(lesson)
    beside = {file.rpartition("/")[0] for file in files}
    for path in paths:
        folders = keys.folders_above(path)
        yield from [(path, "file", 0)] if path in files else []
        yield from [(path, "glob", 0)] if any(glob_matches(glob, path) for glob in lesson.globs) else []
        yield from ((path, "folder", level) for level, folder in enumerate(folders) if folder in files)
        yield from ((path, "beside", level) for level, folder in enumerate(folders or [""]) if folder in beside)


def _names(lesson: Lesson, query: Query) -> Iterator[tuple[str, port.NameRelation, int, bool]]:
    names = keys.asked_names(query.symbols)
    related = keys.related_names(names)
    of_paths = bool({*query.paths} & {*keys.anchored_files(lesson)})
    for token, source in keys.lesson_tokens(lesson).items() if of_paths or not query.paths else ():
        is_anchor = keys.SOURCES.index(source) <= keys.SOURCES.index("symbol")
        for relation, levels in related.get(token, ()):
            if of_paths or (is_anchor and relation == "same"):
                yield token, relation, levels, is_anchor
        if of_paths and is_anchor and any(token.startswith(name + ".") for name in names):
            yield token, "inside", 0, True


def _fitting(lesson: Lesson, query: Query) -> Iterator[port.TriggerKind]:
    when, commands = triggers_of(lesson), command_lines(query.command)
    fits: dict[port.TriggerKind, bool] = {
        "literal": any(stands_in(literal, query.code) for literal in when.literals),
        "command": any(begins(command, beginning) for command in commands for beginning in when.commands),
        "path": any(glob_matches(glob, path) for glob in (*when.paths, *lesson.globs) for path in query.paths),
        "symbol": bool({*map(last_part, when.symbols)} & {*map(last_part, query.symbols)}),
    }
    return (kind for kind, is_fit in fits.items() if is_fit)


def _weight(columns: Iterable[set[str]], term: str) -> float:
    """Return the sum of the weights of the columns that have the term, or a word that begins with it."""
    root, begun = stem(term), is_begun(term)
    matches = [root in stems or (begun and any(word.startswith(term) for word in stems)) for stems in columns]
    return sum(weight for weight, has_term in zip(TEXT_COLUMN_WEIGHTS, matches, strict=True) if has_term)


def _grouped(rows: Iterable[Row], keys_of: Callable[[Lesson], Iterable[Any]]) -> dict[Any, tuple[port.Numbered, ...]]:
    """Return for each key the lessons that have it, each once, newest first."""
    groups: dict[Any, dict[port.Numbered, None]] = {}
    for at, lesson in reversed(list(rows)):
        for key in keys_of(lesson):
            groups.setdefault(key, {})[at, lesson.id] = None
    return {key: tuple(lessons) for key, lessons in groups.items()}
