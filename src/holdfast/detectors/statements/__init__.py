"""Finds sentences in prompts and replies that state something worth keeping.

These are decisions, constraints, bug causes, failed approaches, conventions, tooling facts and preferences. The judge
of worth (`_worth`) gives every sentence the probability that an engineer of the project would keep it. The best of a
session are proposed with that probability as their confidence, and admission decides by it. The linear models of
`_model` name the kind. docs/explanation/statement-classifier.md says what both were trained on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from holdfast.detectors.statements import _worth
from holdfast.detectors.statements._features import Turn, Utterance, describe_session
from holdfast.detectors.statements._model import Classification, judge, judge_turn, name_kind, shipped
from holdfast.detectors.statements._reading import Sentence
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import TITLE_LIMIT, Evidence
from holdfast.domain.vocabulary import REVIEW, EventId, EventKind, LessonKind, Trust
from holdfast.lean.records import replace
from holdfast.text.mentions import files_named, symbols_named
from holdfast.text.prompts import read_prompt
from holdfast.text.speech import MASK, own_words
from holdfast.text.window import speaker_trust
from holdfast.text.wording import headline, is_norm, stand_alone

__all__ = ["Classification", "StatementsDetector", "Turn", "judge", "judge_turn", "make"]

MOST_PER_TURN, MOST_PER_SESSION = 2, 12
LEAST_WORTH = 0.15
"""Probability below which a sentence is no more than a part of its event."""
FILES_LIMIT = 5
NORM_WORTH = ((0.4, 0.75), (0.2, 0.6))
"""Of a norm that a person lays down: the probability from which it is as sure as the second number. Of 28 sentences of
the first sort in sessions that the judge was not taught with, readers kept 19; of 36 of the second, 21."""
REVIEW_SHARE = 0.75
"""What a reviewer's sentence is worth beside a person's of the same probability, and never more than probation."""
LONGEST = 500
"""Characters of the longest sentence that is kept; a part of a sentence never is."""
REVIEWED: dict[LessonKind, LessonKind] = {"bug_cause": "bug_cause", "failed_approach": "bug_cause", "fix": "bug_cause"}
"""Kinds of reviewers' sentences; all others become conventions."""
SHORTEST = 20
"""Characters of the shortest sentence that can stand alone as a lesson."""

_ROLES: dict[EventKind, str] = {
    "prompt": "user", "reply": "assistant", "tool_result": "tool", "tool_failure": "tool", "file_edit": "tool",
}  # fmt: skip
_ASKS = re.compile(
    r"\b(?:can|could|would) you (?:please )?(?:check|confirm|look|verify|explain|tell|see)\b|\bis (?:this|that|it) "
    r"(?:really |actually |still )?(?:an?|the|true|right|correct|ok)\b.*[?:]|\byou have \w+ (?:tool )?access\b",
    re.IGNORECASE,
)
"""Words of a question: what its sentence assumes, the person does not know."""
_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\([^)\s]{0,400}\)")
_MARKS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__|`|~~|^#{1,6}\s+|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)", re.MULTILINE)
_BULLET = re.compile(r"\n[\s>]*(?:[-*•+]|\d{1,3}[.)])?\s*")


class StatementFind(NamedTuple):
    """A sentence that is worth proposing."""

    worth: float
    at: int
    """Index of its event among the events that were read."""
    start: int
    end: int
    kind: LessonKind
    insight: str
    reviewed: bool = False
    """Whether it is a reviewer's, in a comment that the user pasted."""


class StatementsDetector:
    """Finds the sentences of a session that state something useful for later sessions."""

    id = "statements/3"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return at most two candidates for each prompt or reply and twelve for the session, in order of the events."""
        events = [event for event in window if event.kind in _ROLES and not event.agent]
        chosen: list[StatementFind] = []
        for find in sorted(_finds(events), key=lambda find: (-find.worth, find.at, find.start)):
            same_turn = [other for other in chosen if other.at == find.at]
            apart = all(find.end <= other.start or find.start >= other.end for other in same_turn)
            if apart and len(same_turn) < MOST_PER_TURN and len(chosen) < MOST_PER_SESSION:
                chosen.append(find)
        return [_candidate(events, find) for find in sorted(chosen, key=lambda find: (find.at, find.start))]

    def worth(self, window: Sequence[Event]) -> list[float]:
        """Return for each event the probability, 0 to 1, that its words are worth keeping; 0 for a tool's event."""
        return [verdict.probability if verdict else 0.0 for verdict in judge([_turn(event) for event in window])]

    def calibrate(self, window: Sequence[Event], candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates in order; those that are `to_judge` get the probability of their words' worth."""
        events = [event for event in window if event.kind in _ROLES and not event.agent]
        places = dict(
            zip((event.id for event in events), describe_session([_turn(event) for event in events]), strict=True)
        )
        texts = {event.id: event for event in events}
        return [
            replace(
                candidate, to_judge=False, calibrated=True,
                confidence=_raised(candidate, _worth_of_span(texts, places, candidate.evidence[0])),
            )
            if candidate.to_judge and candidate.evidence
            else candidate
            for candidate in candidates
        ]  # fmt: skip


def make(options: Mapping[str, str]) -> StatementsDetector:
    """Return the detector; it has no options."""
    return StatementsDetector()


def _turn(event: Event) -> Turn:
    """Return the event as this detector reads it; events without a speaker count as a tool's."""
    role = _ROLES.get(event.kind, "tool")
    text = "" if role == "tool" else event.text
    return Turn(role, text, edits=event.kind == "file_edit", failed=event.kind == "tool_failure")


def _finds(events: Sequence[Event]) -> Iterator[StatementFind]:
    model, kinds = _worth.shipped(), shipped().kinds
    for at, place in enumerate(describe_session([_turn(event) for event in events])):
        if place is None:
            continue
        utterance, features = place
        event, sentences = events[at], utterance.reading.sentences
        role = "user" if event.kind == "prompt" else "agent"
        own: _Own | None = None
        for number, sentence in enumerate(sentences):
            worth = model.probability(role, sentence.words, _worth.describe(utterance, features, number, event.text))
            if worth < LEAST_WORTH or (role == "agent" and sentence.announces):
                continue
            own = own or _Own(event)  # created late: most turns have no sentence of worth
            reviewed = own.is_review(sentence.start, sentence.end)
            if not reviewed and not own.is_speakers(sentence.start, sentence.end):
                continue
            if role == "user" and _ASKS.search(event.text, sentence.start, sentence.end):
                continue
            before = _before(event.text, sentences, number)
            wording = stand_alone(_plain(event.text[sentence.start : sentence.end]), before[0])
            start = before[1] if wording.with_before else sentence.start
            whole = own.is_review(start, sentence.end) if reviewed else own.is_speakers(start, sentence.end)
            if len(wording.text) < SHORTEST or sentence.end - start > LONGEST or not whole:
                continue
            if reviewed:
                worth *= REVIEW_SHARE
            elif role == "user" and is_norm(wording.text):
                worth = max([worth, *(sure for least, sure in NORM_WORTH if worth >= least)])
            yield StatementFind(worth, at, start, sentence.end, name_kind(place, kinds, number), wording.text, reviewed)


class _Own:
    """An event's text with everything its speaker did not say masked, at the same offsets, and its reviews."""

    def __init__(self, event: Event) -> None:
        self._text = own_words(event.text)
        self._reviews: list[tuple[int, int]] = []
        if event.kind == "prompt":
            prompt = read_prompt(event.text)
            self._reviews = [(part.start, part.end) for part in prompt.parts if part.kind == "review"]
            self._spoken = "".join(
                mine if not theirs.isspace() or mine.isspace() else MASK
                for mine, theirs in zip(self._text, prompt.own, strict=True)
            )
        else:
            self._spoken = self._text

    def is_speakers(self, start: int, end: int) -> bool:
        """Return whether the speaker said all of the span; a person beside whose words a review is pasted said none."""
        return not self._reviews and MASK not in self._spoken[start:end]

    def is_review(self, start: int, end: int) -> bool:
        """Return whether all of the span is in a pasted review, outside of its quotes and code."""
        return MASK not in self._text[start:end] and any(a <= start and end <= b for a, b in self._reviews)


def _before(text: str, sentences: Sequence[Sentence], number: int) -> tuple[str, int]:
    """Return the sentence directly before that one in its paragraph, plain, and its start; an empty one if none."""
    if not number:
        return "", 0
    before, here = sentences[number - 1], sentences[number]
    apart = here.form != before.form or "\n" in text[before.end : here.start]
    return ("", 0) if apart else (_plain(text[before.start : before.end]), before.start)


def _worth_of_span(
    texts: Mapping[EventId, Event], places: Mapping[EventId, tuple[Utterance, dict[str, float]] | None], span: Evidence
) -> float:
    """Return the probability of the best sentence in the quoted span; 0 if the judge finds none there."""
    place, event = places.get(span.event), texts.get(span.event)
    if place is None or event is None:
        return 0.0
    utterance, features = place
    role = "user" if event.kind == "prompt" else "agent"
    model = _worth.shipped()
    return max(
        (
            model.probability(role, sentence.words, _worth.describe(utterance, features, number, event.text))
            for number, sentence in enumerate(utterance.reading.sentences)
            if sentence.start < span.end and span.start < sentence.end
        ),
        default=0.0,
    )


def _raised(candidate: Candidate, worth: float) -> float:
    """Return the probability combined from the find's form and from its words."""
    return round(candidate.confidence + (1 - candidate.confidence) * worth, 3)


def _candidate(events: Sequence[Event], find: StatementFind) -> Candidate:
    event = events[find.at]
    quote = event.text[find.start : find.end]
    edited = _edited_next(events, find.at) or _edited_before(events, find.at)
    return Candidate(
        kind=find.kind if not find.reviewed else REVIEWED.get(find.kind, "convention"),
        title=headline(find.insight, TITLE_LIMIT),
        insight=find.insight,
        why="A reviewer said so in a comment that the user pasted." if find.reviewed else "",
        tags=(REVIEW,) if find.reviewed else (),
        detector=StatementsDetector.id,
        evidence=(Evidence(event=event.id, quote=quote, start=find.start, end=find.end),),
        files=tuple(dict.fromkeys([*files_named(quote, events), *edited]))[:FILES_LIMIT],
        symbols=symbols_named(quote),
        trust="tool" if find.reviewed else _trust(event, own_words(event.text), find.start),
        confidence=round(find.worth, 3),
        calibrated=True,
        salience=0.6 if event.kind == "prompt" else 0.5,
    )


def _trust(event: Event, own: str, start: int) -> Trust:
    """Return a person's trust for prompts, unless the host marks the text as another's or it looks pasted."""
    if event.kind != "prompt":
        return "agent"
    return event.trust if event.trust in ("repository", "tool") else speaker_trust(own, start)


def _plain(quote: str) -> str:
    """Return the quote without markdown, on one line."""
    text = _BULLET.sub(" ", _LINK.sub(r"\1", quote))
    return " ".join(_MARKS.sub("", text).split()).strip(" :;,-")


def _edited_next(events: Sequence[Event], at: int) -> list[str]:
    """Return files edited after the turn and before the next prompt, at most three."""
    edited: list[str] = []
    for event in events[at + 1 :]:
        if event.kind == "prompt":
            break
        if event.kind == "file_edit":
            edited.extend(event.files)
    return list(dict.fromkeys(edited))[:3]


def _edited_before(events: Sequence[Event], at: int) -> list[str]:
    """Return for a reply the files that the agent edited since the last prompt, the latest first, at most three."""
    edited: list[str] = []
    for event in reversed(events[:at] if events[at].kind != "prompt" else ()):
        if event.kind == "prompt":
            break
        if event.kind == "file_edit":
            edited.extend(event.files)
    return list(dict.fromkeys(edited))[:3]
