"""Assembles an answer from matches: which may be delivered, how many of them, in which order, as which lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.domain.briefing import Briefing, Ranked, RetrieverShare
from holdfast.domain.lesson import Lesson
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import Moment
from holdfast.errors import LessonNotFoundError
from holdfast.ports.services import Services
from holdfast.ranking.fuse import Rival, diversify, is_exact
from holdfast.ranking.fuse import total as fuse_total
from holdfast.ranking.names import TELLING, UNNAMED
from holdfast.ranking.relevance import lesson_stems, overlap_of, weigh
from holdfast.ranking.threshold import Threshold, is_certain, meaning_meets_threshold, words_meet_threshold
from holdfast.recall.retrieve import asked_words
from holdfast.recall.score import SETTLING, RetrievedLesson
from holdfast.recall.tuning import LINKS_FOLLOWED, NEAR_MEANING, ON_DEMAND_LINE_TOKENS
from holdfast.rendering.budget import count_tokens, fit_budget
from holdfast.rendering.lines import LINE_TOKENS, Line, compile_line, frame_tokens, more_line, render_block

FOLLOWED = ("relates_to", "refines", "caused_by")
"""Kinds of links that are followed from a lesson that the question names."""


def filter_relevant(
    services: Services, query: Query, matches: Sequence[RetrievedLesson], threshold: Threshold
) -> list[RetrievedLesson]:
    """Return the matches that pass by a name, a place, their meaning or words, and the lessons linked to named ones.

    A question that names a lesson is about that lesson: all others then need strong words.
    """

    def has_words(match: RetrievedLesson) -> bool:
        return words_meet_threshold(match.overlap, threshold, match.shares, match.corpus)

    def is_named(match: RetrievedLesson) -> bool:
        return match.named == TELLING or (match.named != UNNAMED and has_words(match))

    def is_relevant(match: RetrievedLesson) -> bool:
        if some_named:
            return match.overlap.weight >= threshold.weight_alone
        return has_words(match) or meaning_meets_threshold(match.shares, threshold, match.overlap, match.corpus)

    some_named = any(map(is_named, matches))
    good = [
        match for match in matches if is_named(match) or is_certain(match.shares, match.corpus) or is_relevant(match)
    ]
    return good + _linked_by(services, query, good)


def _linked_by(services: Services, query: Query, good: Sequence[RetrievedLesson]) -> list[RetrievedLesson]:
    """Return the first lessons linked to those the question names, each with half the score of the named one."""
    taken = {*query.exclude, *(match.lesson.id for match in good)}
    followed: list[RetrievedLesson] = []
    for match in good if query.as_of is None else ():
        for link in match.lesson.links if match.named == TELLING else ():
            if link.kind not in FOLLOWED or link.target in taken or len(followed) == LINKS_FOLLOWED:
                continue
            taken.add(link.target)
            try:
                (lesson,) = services.store.get([link.target])
            except LessonNotFoundError:
                continue  # purged since
            if is_visible(lesson, query):
                share = RetrieverShare(lane="link", rank=len(followed) + 1, raw=1.0, share=fuse_total(match.shares) / 2)
                stems = lesson_stems(lesson)
                overlap = overlap_of(weigh(asked_words(query)), stems)
                via = "linked to a lesson that the question names"
                followed.append(
                    RetrievedLesson(
                        lesson=lesson, shares=(share,), overlap=overlap, stems=stems, aim=match.aim, via=via
                    )
                )
    return followed


def is_visible(lesson: Lesson, query: Query) -> bool:
    """Return whether the query allows a lesson that no retriever found."""
    scope, ends = lesson.scope, lesson.validity.valid_to
    mine = query.all_projects or scope.level == "user" or scope.project == query.project
    holds = query.at is None or ends is None or ends > query.at
    here = not scope.branch or query.staged is None or scope.project != query.project or lesson.id in query.staged
    return mine and holds and here and lesson.state in query.states and lesson.kind in (query.kinds or (lesson.kind,))


def assemble(
    ranked: Sequence[tuple[Ranked, RetrievedLesson]],
    *,
    moment: Moment,
    limit: int,
    budget_tokens: int,
    checkpoint_text: str = "",
    extra: int = 0,
    hint: str = "holdfast recall",
    degraded: str = "",
) -> Briefing:
    """Choose, order and compile at most `limit` lessons within the budget, which includes the frame and checkpoint.

    `extra` counts further lessons that were not read; `hint` is the command that shows those left out.
    """
    rivals = [
        Rival(score=r.score, terms=f.stems, session=f.lesson.provenance.session, exact=is_exact(f.shares))
        for r, f in ranked
    ]
    chosen = diversify(rivals, 2 * limit)
    order = [at for at, _ in chosen]
    line_budget = ON_DEMAND_LINE_TOKENS if moment == "on_demand" else LINE_TOKENS
    lines = [compile_line(ranked[i][0].lesson, ranked[i][0].caveat, line_budget) for i in order]
    total = len(ranked) + extra
    room = budget_tokens - frame_tokens(more_line(max(total, 1), hint), checkpoint_text)
    taken = fit_budget([line.tokens for line in lines], [worth for _, worth in chosen], room, limit)
    items = tuple(replace(ranked[order[at]][0], rank=n) for n, at in enumerate(taken, start=1))
    text = render([lines[at] for at in taken], total - len(items), hint, checkpoint_text)
    return Briefing(
        moment=moment,
        items=items,
        more=total - len(items),
        tokens=count_tokens(text),
        checkpoint_text=checkpoint_text,
        text=text,
        degraded=degraded,
    )


def says_something(share: RetrieverShare) -> bool:
    """Return whether the share is evidence: it does more than settle ties, and its meaning is near enough."""
    return share.lane not in (*SETTLING, "ranker") and (share.lane != "vector" or share.raw >= NEAR_MEANING)


def render(lines: Sequence[Line], more: int, hint: str, checkpoint_text: str) -> str:
    """Return the fenced text of a briefing; empty when there is nothing to deliver."""
    if not lines and not checkpoint_text:
        return ""
    return render_block([line.text for line in lines], more_line(more, hint), checkpoint_text)
