"""Detector `statements`: sentences in prompts and replies that state a decision, constraint, bug cause, failed
approach, convention, tooling fact or preference.

Cue phrases and the shape and place of a turn feed a small linear classifier, trained by
`scripts/train_statements.py`; docs/explanation/statement-classifier.md tells on what, and how well it does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from holdfast.detectors.statements._features import Turn
from holdfast.detectors.statements._model import Verdict, judge, judge_turn
from holdfast.detectors.statements._reading import Sentence, read
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence
from holdfast.domain.speech import MASK, own_words
from holdfast.domain.vocabulary import EventKind, Trust
from holdfast.domain.window import speaker_trust

__all__ = ["StatementsDetector", "Turn", "Verdict", "judge", "judge_turn", "make"]

MOST_PER_TURN = 2
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


class StatementsDetector:
    """Finds turns that state something worth knowing next time, and the sentences that say it."""

    id = "statements/1"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """At most two candidates for each prompt or reply that reads like a statement, in order."""
        told = [event for event in window if event.kind in _ROLES and not event.agent]
        verdicts = judge([_turn(event) for event in told])
        found: list[Candidate] = []
        for at, verdict in enumerate(verdicts):
            if verdict and verdict.found:
                found.extend(_candidates(told, at, verdict))
        return found

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


def _candidates(told: Sequence[Event], at: int, verdict: Verdict) -> list[Candidate]:
    event = told[at]
    spans: list[tuple[int, int]] = []
    sentences = read(event.text).sentences
    own = own_words(event.text)
    for sentence in verdict.sentences:
        start, end = _span(event.text, sentence, sentences)
        if MASK in own[start:end] or end - start > LONGEST:
            continue  # somebody else's words, or more than a lesson holds: half a sentence is no lesson
        apart = all(end <= other_start or start >= other_end for other_start, other_end in spans)
        if apart and len(_plain(event.text[start:end])) >= SHORTEST:
            spans.append((start, end))
        if len(spans) == MOST_PER_TURN:
            break
    edited = _edited_next(told, at) or _edited_before(told, at)
    return [_candidate(told, event, span, verdict, edited) for span in spans]


def _span(text: str, sentence: Sentence, sentences: Sequence[Sentence]) -> tuple[int, int]:
    """The sentence, with the one before it when it leans on that and both are short enough."""
    start, end = sentence.start, sentence.end
    if sentence.words and sentence.words[0] in _LEANS:
        before = max((other.start for other in sentences if other.end <= start), default=start)
        if end - before <= INSIGHT_LENGTH and "\n\n" not in text[before:end]:
            start = before
    return start, end


def _candidate(
    told: Sequence[Event], event: Event, span: tuple[int, int], verdict: Verdict, edited: Sequence[str]
) -> Candidate:
    quote = event.text[span[0] : span[1]]
    person = event.kind == "prompt"
    named = _files_in(quote, told)
    return Candidate(
        kind=verdict.kind,
        insight=_plain(quote),
        detector=StatementsDetector.id,
        evidence=(Evidence(event=event.id, quote=quote, start=span[0], end=span[1]),),
        files=tuple(dict.fromkeys([*named, *edited]))[:FILES_LIMIT],
        symbols=_symbols_in(quote),
        trust=_trust(event, own_words(event.text), span[0]),
        confidence=round(verdict.probability, 3),
        salience=0.6 if person else 0.5,
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
