"""Scores a replay against the gold: what was learnt, and what was shown when.

A lesson counts as a gold lesson of its session when its words (title, insight, why, how, quotes) hold 60 % of the words
of the gold quote (or of the lesson's own, where they are fewer; at least four), or 60 % of the gold lesson's words. In
gold mode the memory holds the gold itself. A need is met in time when one of its lessons was shown in that session at
its event or before, with two events of grace: a call and its hook may lie a line apart.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.replay.catalog import Catalog, GoldLesson, Need
from benchmarks.replay.record import MOMENTS, START_MOMENTS, Record

SHARE_OF_WORDS = 0.6
LEAST_WORDS = 4
GRACE = 2
"""Events after its own at which a need still counts as met in time."""
USEFUL = 2
"""The lowest grade of gold that is clearly useful."""
WORD = re.compile(r"[a-z0-9_]{3,}")
FAMILIES = {
    "constraint": "rule", "convention": "rule", "preference": "rule", "decision": "rule",
    "bug_cause": "cause", "failed_approach": "cause",
    "tooling": "how-to", "fix": "how-to", "exploration": "how-to",
}  # fmt: skip
STANDINGS = {
    "active": ("active",),
    "all": ("active", "candidate", "quarantined"),
}
"""Which states of lessons count together."""
INBOX = ("candidate", "quarantined")
NEVER = 10**9


@dataclass(frozen=True)
class Shown:
    """One lesson shown once, and the gold it counts as."""

    session: int
    event: int
    moment: str
    gold: frozenset[str]
    """Of all lessons that the line stands for."""
    worded: frozenset[str] = frozenset()
    """Of the lesson whose words the line has."""


Matches = Mapping[str, frozenset[str]]
"""The gold of each lesson, by ids."""


def score(record: Record, catalog: Catalog, every: Catalog | None = None) -> dict[str, Any]:
    """Every figure of a replay of the catalog's sessions; `every`: the catalog that its gold is from."""
    matches = taught_matches(record.taught) if record.taught else match(record.lessons, catalog)
    shown = find_shown(record, matches)
    figures: dict[str, Any] = {"sessions": len(record.sessions)}
    if not record.taught:
        figures["capture"] = score_capture(record.lessons, matches, catalog)
        figures["kinds"] = score_kinds(record.lessons, matches, catalog)
    figures["needs"] = score_needs(shown, catalog.needs)
    figures["needs that memory could meet"] = score_reachable(record, shown, matches, catalog)
    brief = [line for line in shown if line.moment in START_MOMENTS]
    figures["needs by the brief alone"] = met_in_time(brief, catalog.needs)
    worded = [replace(line, gold=line.worded) for line in shown]
    figures["needs by the lesson that is worded"] = met_in_time(worded, catalog.needs)
    figures["size"] = score_size(record, min((need.session for need in catalog.needs), default=0))
    figures["delivery"] = score_delivery(record, shown, catalog, every or catalog)
    figures["outcomes"] = score_outcomes(record, matches, catalog)
    return figures


def taught_matches(taught: Mapping[str, str]) -> Matches:
    """The gold of each lesson that was stated; several are one lesson where they say the same."""
    matches: dict[str, frozenset[str]] = {}
    for gold, lesson in taught.items():
        matches[lesson] = matches.get(lesson, frozenset()) | {gold}
    return matches


def match(lessons: Sequence[Mapping[str, Any]], catalog: Catalog) -> Matches:
    """The gold lessons that each lesson counts as, by its id; lessons without any are left out."""
    number = {session.id: session.number for session in catalog.sessions}
    gold_of_session: dict[int, list[GoldLesson]] = defaultdict(list)
    for gold in catalog.gold:
        gold_of_session[gold.session].append(gold)
    matches = {
        lesson["id"]: frozenset(
            gold.id
            for gold in gold_of_session[number.get(lesson["session"], -1)]
            if counts_as(lesson_words(lesson), gold)
        )
        for lesson in lessons
    }
    return {lesson: gold for lesson, gold in matches.items() if gold}


def counts_as(words: set[str], gold: GoldLesson) -> bool:
    """Whether a lesson of these words says what the gold lesson says."""
    quote, statement = words_of(gold.quote), words_of(gold.lesson)
    in_quote = len(quote & words)
    if in_quote >= LEAST_WORDS and in_quote >= SHARE_OF_WORDS * min(len(quote), len(words)):
        return True
    return len(statement & words) >= SHARE_OF_WORDS * max(1, len(statement))


def lesson_words(lesson: Mapping[str, Any]) -> set[str]:
    """The words of everything that a lesson says and quotes."""
    return words_of(" ".join([lesson["title"], lesson["insight"], lesson["why"], lesson["how"], *lesson["quote"]]))


def words_of(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))


def find_shown(record: Record, matches: Matches) -> list[Shown]:
    """Every line that told lessons, in order, as the product logged them."""
    shown = []
    for delivery in record.deliveries:
        for line in filter(None, delivery.lines):
            gold = [matches.get(lesson, frozenset()) for lesson in line]
            shown.append(
                Shown(delivery.n, delivery.e, delivery.moment or delivery.event, gold[0].union(*gold), gold[0])
            )
    return shown


def score_size(record: Record, first: int = 0) -> dict[str, Any]:
    """How much the sessions from that number on were told: tokens of the text and lines, a session and by moment."""
    tokens, lines = Counter[int](), Counter[int]()
    counted = [delivery for delivery in record.deliveries if delivery.n >= first]
    for delivery in counted:
        tokens[delivery.n] += delivery.tokens
        lines[delivery.n] += len(delivery.lines)
    numbers = [session.n for session in record.sessions if session.n >= first]
    contexts: list[int] = []
    for session in numbers:
        contexts.append(0)
        for delivery in (delivery for delivery in counted if delivery.n == session):
            contexts += [0] if delivery.moment == "after a compaction" else []
            contexts[-1] += delivery.tokens
    figures: dict[str, Any] = {
        "tokens a session": spread([tokens[number] for number in numbers]),
        "tokens between compactions": spread(contexts),
        "lines a session": spread([lines[number] for number in numbers]),
    }
    for moment in MOMENTS:
        deliveries = [delivery for delivery in counted if delivery.moment == moment]
        if deliveries:
            figures[moment] = {
                "deliveries": len(deliveries),
                "lines a session": per(sum(len(delivery.lines) for delivery in deliveries), len(numbers)),
                "tokens a session": per(sum(delivery.tokens for delivery in deliveries), len(numbers)),
                "most tokens": max(delivery.tokens for delivery in deliveries),
            }
    return figures


def score_reachable(record: Record, shown: Sequence[Shown], matches: Matches, catalog: Catalog) -> dict[str, Any]:
    """Of the needs for which memory held a lesson, those met in time.

    All lessons that were learnt by the end count, whatever their state, but for those that were forgotten.
    """
    states = (*STANDINGS["all"], "superseded", "retired")
    living = {lesson["id"] for lesson in record.lessons if lesson["state"] in states}
    stored = frozenset[str]().union(*(gold for lesson, gold in matches.items() if lesson in living))
    began = {gold.id: gold.session for gold in catalog.gold}
    could = [
        need for need in catalog.needs if any(began.get(gold, -1) < need.session for gold in need.lessons & stored)
    ]
    return met_in_time(shown, could)


def met_in_time(shown: Iterable[Shown], needs: Sequence[Need]) -> dict[str, Any]:
    """How many needs of each strength were met in time."""
    figures = score_needs(shown, needs)
    return {name: figures[name]["in time"] for name in figures if name.startswith("strength")}


def spread(values: Sequence[int]) -> dict[str, float]:
    """Mean, median and most."""
    if not values:
        return {"mean": 0, "median": 0, "most": 0}
    return {
        "mean": round(statistics.mean(values), 1), "median": statistics.median(values), "most": max(values),
    }  # fmt: skip


def score_capture(lessons: Sequence[Mapping[str, Any]], matches: Matches, catalog: Catalog) -> dict[str, Any]:
    """Precision and recall of what was learnt, by how far it is believed."""
    useful = {gold.id for gold in catalog.gold if gold.grade >= USEFUL}
    figures: dict[str, Any] = {}
    for name, states in STANDINGS.items():
        believed = [lesson for lesson in lessons if lesson["state"] in states]
        learnt = frozenset[str]().union(*(matches.get(lesson["id"], frozenset()) for lesson in believed))
        figures[name] = {
            "gold lessons": share(bool(matches.get(lesson["id"], frozenset()) & useful) for lesson in believed),
            **{
                f"recall of grade >= {least}": share(gold.id in learnt for gold in catalog.gold if gold.grade >= least)
                for least in (2, 3)
            },
        }
    inbox = sum(lesson["state"] in INBOX for lesson in lessons)
    return figures | {"inbox": inbox, "inbox_per_session": per(inbox, len(catalog.sessions))}


def score_kinds(lessons: Sequence[Mapping[str, Any]], matches: Matches, catalog: Catalog) -> dict[str, Any]:
    """Whether a lesson has a kind of the same family as the gold it counts as, over all such pairs."""
    kind_of_gold = {gold.id: gold.kind for gold in catalog.gold}
    figures: dict[str, Any] = {}
    for name, states in STANDINGS.items():
        pairs = [
            (FAMILIES.get(kind_of_gold[gold], ""), FAMILIES.get(lesson["kind"], ""))
            for lesson in lessons
            if lesson["state"] in states
            for gold in matches.get(lesson["id"], ())
        ]
        figures[name] = {
            "same family": share(of_gold == of_lesson for of_gold, of_lesson in pairs),
            "gold as lesson": {f"{pair[0]} as {pair[1]}": count for pair, count in sorted(Counter(pairs).items())},
        }
    return figures


def score_delivery(record: Record, shown: Sequence[Shown], catalog: Catalog, every: Catalog) -> dict[str, Any]:
    """How much was shown, how much of it is gold, and how much the session needed (in sessions with needs alone)."""
    useful = {gold.id for gold in every.gold if gold.grade >= USEFUL}
    wanted: dict[int, set[str]] = defaultdict(set)
    for need in catalog.needs:
        wanted[need.session] |= need.lessons
    in_labelled = [lesson for lesson in shown if lesson.session in wanted]
    prompts = sum(session.prompts for session in record.sessions)
    answered = sum(delivery.event == "UserPromptSubmit" and bool(delivery.lines) for delivery in record.deliveries)
    moments = dict.fromkeys(lesson.moment for lesson in in_labelled)
    return {
        "shown": len(shown),
        "shown_per_session": per(len(shown), len(record.sessions)),
        "gold lessons": share(bool(lesson.gold & useful) for lesson in shown),
        "deliveries without a lesson": sum(not delivery.lines for delivery in record.deliveries),
        "prompts that got a lesson": fraction(answered, prompts),
        "needed by the session": share(bool(lesson.gold & wanted[lesson.session]) for lesson in in_labelled),
        "needed by moment": {
            moment: share(
                bool(lesson.gold & wanted[lesson.session]) for lesson in in_labelled if lesson.moment == moment
            )
            for moment in sorted(moments, key=_place)
        },
    }


def score_needs(shown: Iterable[Shown], needs: Sequence[Need]) -> dict[str, Any]:
    """How many needs were met in time, and at any time in their session: by strength, and by moment."""
    first: dict[tuple[int, str], int] = {}
    for lesson in shown:
        for gold in lesson.gold:
            key = (lesson.session, gold)
            first[key] = min(lesson.event, first.get(key, NEVER))
    selections: dict[str, Callable[[Need], bool]] = {
        f"strength >= {least}": lambda need, least=least: need.strength >= least  # type: ignore[misc]
        for least in (3, 2, 1)
    }
    for moment in dict.fromkeys(need.moment for need in needs):
        selections[f"moment {moment}"] = lambda need, moment=moment: need.moment == moment  # type: ignore[misc]
    figures = {}
    for name, selects in selections.items():
        moments = [
            (need.event, min(first.get((need.session, gold), NEVER) for gold in need.lessons))
            for need in needs
            if selects(need)
        ]
        figures[name] = {
            "in time": share(at <= event + GRACE for event, at in moments),
            "at any time": share(at < NEVER for _, at in moments),
        }
    return figures


def score_outcomes(record: Record, matches: Matches, catalog: Catalog) -> dict[str, Any]:
    """Of the outcomes of each verdict, in sessions with labelled needs, those whose lesson the session needed.

    `chance` is the same share of all pairs of a labelled session and a lesson that came before it.
    """
    number = {session.id: session.number for session in catalog.sessions}
    wanted: dict[int, set[str]] = defaultdict(set)
    for need in catalog.needs:
        wanted[need.session] |= need.lessons
    verdicts: dict[str, list[bool]] = defaultdict(list)
    for outcome in record.outcomes:
        session = number.get(outcome["session"], -1)
        if session in wanted:
            gold = matches.get(outcome["lesson"], frozenset())
            verdicts[outcome["verdict"]].append(bool(gold & wanted[session]))
    came = {gold.id: gold.session for gold in catalog.gold}
    pairs = [gold in wanted[session] for session in wanted for gold, learnt in came.items() if learnt < session]
    return {verdict: share(hits) for verdict, hits in sorted(verdicts.items())} | {"chance": share(pairs)}


def _place(moment: str) -> int:
    return MOMENTS.index(moment) if moment in MOMENTS else len(MOMENTS)


def share(hits: Iterable[bool]) -> dict[str, float]:
    """How many of how many, and their ratio."""
    listed = list(hits)
    return fraction(sum(listed), len(listed))


def fraction(count: int, of: int) -> dict[str, float]:
    return {"count": count, "of": of, "share": round(count / max(1, of), 3)}


def per(count: int, of: int) -> float:
    return round(count / max(1, of), 2)
