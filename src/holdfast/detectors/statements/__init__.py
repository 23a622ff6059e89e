"""Detector `statements`: sentences in prompts and replies that state a decision, constraint, bug cause, failed
approach, convention, tooling fact or preference.

The judge of worth (`_worth`) gives every sentence the probability that an engineer of the project would keep it; the
best of a session are proposed with that probability as their confidence, and admission decides by it. Their kind is
named by the linear models of `_model`. docs/explanation/statement-classifier.md tells what both were trained on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from holdfast.detectors.statements import _worth
from holdfast.detectors.statements._features import Turn, describe_session
from holdfast.detectors.statements._model import Verdict, judge, judge_turn, name_kind, shipped
from holdfast.detectors.statements._reading import Sentence
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence
from holdfast.domain.speech import MASK, own_words
from holdfast.domain.vocabulary import EventKind, LessonKind, Trust
from holdfast.domain.window import speaker_trust
from holdfast.ranking.prompts import read_prompt

__all__ = ["StatementsDetector", "Turn", "Verdict", "judge", "judge_turn", "make"]

MOST_PER_TURN, MOST_PER_SESSION = 2, 12
LEAST_WORTH = 0.15
"""Probability below which a sentence is no more than a part of its event."""
INSIGHT_LENGTH = 300
FILES_LIMIT = 5
SYMBOLS_LIMIT = 8
LONGEST = 500
"""Characters of the longest sentence that is kept; a part of a sentence never is."""
SHORTEST = 20
"""Characters of the shortest sentence that can stand alone as a lesson."""

_ROLES: dict[EventKind, str] = {
    "prompt": "user", "reply": "assistant", "tool_result": "tool", "tool_failure": "tool", "file_edit": "tool",
}  # fmt: skip
_LEANS = frozenset({
    "it", "its", "it's", "this", "that", "that's", "these", "those", "they", "them", "he", "she", "which", "so",
    "but", "and", "also", "then", "therefore", "thus", "hence", "because", "both", "neither", "same",
})  # fmt: skip
"""A sentence that opens with one of these leans on the one before it."""

_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\([^)\s]{0,400}\)")
_MARKS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__|`|~~|^#{1,6}\s+|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)", re.MULTILINE)
_BULLET = re.compile(r"\n[\s>]*(?:[-*•+]|\d{1,3}[.)])?\s*")
_PATH = re.compile(r"(?<![\w/.~-])(?:\./)?((?:[\w@.-]{1,60}/){0,12}[\w@-][\w@.-]{0,80}\.[A-Za-z]\w{0,5})(?![\w/(])")
_SYMBOL = re.compile(
    r"(?<![\w/.-])(?:[A-Za-z_]\w{0,40}(?:\.|::|#)){0,4}"
    r"(?:[a-z]{1,40}[A-Z]\w{0,60}|[A-Z][a-z0-9]{1,40}[A-Z]\w{0,60}|[A-Za-z]\w{0,40}_\w{1,60}|[A-Za-z_]\w{0,60}(?=\(\)))"
)


class Find(NamedTuple):
    """A sentence that is worth proposing."""

    worth: float
    at: int
    """Place of its event among those that were read."""
    start: int
    end: int
    kind: LessonKind


class StatementsDetector:
    """Finds the sentences of a session that state something worth knowing next time."""

    id = "statements/2"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """At most two candidates for each prompt or reply and twelve for the session, in order of the events."""
        told = [event for event in window if event.kind in _ROLES and not event.agent]
        chosen: list[Find] = []
        for find in sorted(_finds(told), key=lambda find: (-find.worth, find.at, find.start)):
            same_turn = [other for other in chosen if other.at == find.at]
            apart = all(find.end <= other.start or find.start >= other.end for other in same_turn)
            if apart and len(same_turn) < MOST_PER_TURN and len(chosen) < MOST_PER_SESSION:
                chosen.append(find)
        return [_candidate(told, find) for find in sorted(chosen, key=lambda find: (find.at, find.start))]

    def worth(self, window: Sequence[Event]) -> list[float]:
        """For each event the probability, 0 to 1, that its words state something worth keeping; 0 for a tool's."""
        return [verdict.probability if verdict else 0.0 for verdict in judge([_turn(event) for event in window])]


def make(options: Mapping[str, str]) -> StatementsDetector:
    """The detector; it has no options."""
    return StatementsDetector()


def _turn(event: Event) -> Turn:
    """The event as this detector reads it; what nobody says counts as a tool's."""
    role = _ROLES.get(event.kind, "tool")
    text = "" if role == "tool" else event.text
    return Turn(role, text, edits=event.kind == "file_edit", failed=event.kind == "tool_failure")


def _finds(told: Sequence[Event]) -> Iterator[Find]:
    model, kinds = _worth.shipped(), shipped().kinds
    for at, place in enumerate(describe_session([_turn(event) for event in told])):
        if place is None:
            continue
        said, features = place
        event, sentences = told[at], said.reading.sentences
        role = "user" if event.kind == "prompt" else "agent"
        own = ""
        for number, sentence in enumerate(sentences):
            worth = model.probability(role, sentence.words, _worth.describe(said, features, number, event.text))
            if worth < LEAST_WORTH or (role == "agent" and sentence.announces):
                continue
            start, end = _span(event.text, sentence, sentences)
            own = own or _own(event)  # most turns have no sentence of worth: their parts need not be told apart
            if _stands_alone(event.text, start, sentence, own, end):
                yield Find(worth, at, start, end, name_kind(place, kinds))


def _own(event: Event) -> str:
    """The event's text with what its speaker did not say masked, at the same offsets."""
    if event.kind != "prompt":
        return own_words(event.text)
    persons = read_prompt(event.text).own
    return "".join(
        mine if not theirs.isspace() or mine.isspace() else MASK
        for mine, theirs in zip(own_words(event.text), persons, strict=True)
    )


def _stands_alone(text: str, start: int, sentence: Sentence, own: str, end: int) -> bool:
    """Whether the span is whole, its speaker's own, and does not lean on words outside of it."""
    if MASK in own[start:end] or end - start > LONGEST or len(_plain(text[start:end])) < SHORTEST:
        return False
    leans = bool(sentence.words) and sentence.words[0] in _LEANS
    return not leans or start < sentence.start


def _span(text: str, sentence: Sentence, sentences: Sequence[Sentence]) -> tuple[int, int]:
    """The sentence, with the one before it when it leans on that and both are short enough."""
    start, end = sentence.start, sentence.end
    if sentence.words and sentence.words[0] in _LEANS:
        before = max((other.start for other in sentences if other.end <= start), default=start)
        if end - before <= INSIGHT_LENGTH and "\n\n" not in text[before:end]:
            start = before
    return start, end


def _candidate(told: Sequence[Event], find: Find) -> Candidate:
    event = told[find.at]
    quote = event.text[find.start : find.end]
    edited = _edited_next(told, find.at) or _edited_before(told, find.at)
    return Candidate(
        kind=find.kind,
        insight=_plain(quote),
        detector=StatementsDetector.id,
        evidence=(Evidence(event=event.id, quote=quote, start=find.start, end=find.end),),
        files=tuple(dict.fromkeys([*_files_in(quote, told), *edited]))[:FILES_LIMIT],
        symbols=_symbols_in(quote),
        trust=_trust(event, own_words(event.text), find.start),
        confidence=round(find.worth, 3),
        calibrated=True,
        salience=0.6 if event.kind == "prompt" else 0.5,
    )


def _trust(event: Event, own: str, start: int) -> Trust:
    """A person's word for prompts, unless the host says that the text came from elsewhere, or it looks pasted."""
    if event.kind != "prompt":
        return "agent"
    return event.trust if event.trust in ("repository", "tool") else speaker_trust(own, start)


def _plain(quote: str) -> str:
    """The quote without markdown, on one line."""
    text = _BULLET.sub(" ", _LINK.sub(r"\1", quote))
    return " ".join(_MARKS.sub("", text).split()).strip(" :;,-")


def _files_in(quote: str, told: Sequence[Event]) -> list[str]:
    """Files that the quote names: as the session knows them, or as written when it has a folder."""
    known: dict[str, str] = {}
    for event in told:
        for path in event.files:
            known.setdefault(path.rsplit("/", 1)[-1], path)
    named = []
    for written in dict.fromkeys(_PATH.findall(quote)):
        name = written.rsplit("/", 1)[-1]
        if name in known:
            named.append(known[name])
        elif "/" in written and ".." not in written:
            named.append(written)
    return named


def _edited_next(told: Sequence[Event], at: int) -> list[str]:
    """Files that were edited after the turn and before the person spoke again (or, after a prompt, in answer)."""
    edited: list[str] = []
    for event in told[at + 1 :]:
        if event.kind == "prompt":
            break
        if event.kind == "file_edit":
            edited.extend(event.files)
    return list(dict.fromkeys(edited))[:3]


def _edited_before(told: Sequence[Event], at: int) -> list[str]:
    """For what the agent says of its work: the files it edited since the person spoke, the latest first."""
    edited: list[str] = []
    for event in reversed(told[:at] if told[at].kind != "prompt" else ()):
        if event.kind == "prompt":
            break
        if event.kind == "file_edit":
            edited.extend(event.files)
    return list(dict.fromkeys(edited))[:3]


def _symbols_in(quote: str) -> tuple[str, ...]:
    without_paths = _PATH.sub(" ", quote)
    return tuple(dict.fromkeys(_SYMBOL.findall(without_paths)))[:SYMBOLS_LIMIT]
