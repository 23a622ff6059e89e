"""Finds decisions in the user's answers to the agent's questions; question and answer together are one decision.

Not reported: questions about how the agent is to go on, answers that leave the choice to the agent, and questions that
mean nothing without the conversation. An answer that the user typed is a separate prompt, which other detectors read.
"""

from __future__ import annotations

import re

from holdfast.domain.candidate import Candidate
from holdfast.text.window import clip, quote
from holdfast.text.words import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.domain.event import Event

TOOL = "AskUserQuestion"
OPTION_MARK = "  option: "
CONFIDENCE, AGAINST_ADVICE = 0.5, 0.55
"""Share of such answers that readers of public sessions would keep; a little more where the agent advised otherwise."""
LEAST_TERMS = 4
"""Telling words of question and answer together, without which nobody understands them later."""
QUESTION_LIMIT, TITLE_LIMIT, REASON_LIMIT = 240, 100, 240
"""Characters of a question that decides something, of a title and of the chosen option's description."""

_RECOMMENDED = re.compile(r"\s*\((?:recommended|default)\)\s*$", re.IGNORECASE)
_UNDECIDED = re.compile(
    r"(?:you (?:decide|choose|pick)|(?:your|up to you)|either|any|skip|other|none|next(?: area| topic)?|done"
    r"|more questions"
    r"|continue|proceed|go ahead|not sure|i don't know|let me|later|ok(?:ay)?|yes|no|looks good|approve[sd]?|work on)\b"
    r"(?:[^\w,].*|$)",
    re.IGNORECASE,
)
_PROCEDURE = re.compile(
    r"^(?:(?:do|would) you (?:want|like)|want me|ready)\b|\b(?:like me to|want me to|would you like to|should I|shall I"
    r"|can I|may I|proceed|continue|next steps?|what (?:next|now)|move (?:on|to)|more questions|discuss|this todo"
    r"|how (?:much|deep|detailed)|approve|apply|own (?:change|pr|commit)|scope it|before (?:I|we) (?:start|begin"
    r"|continue)"
    r"|(?:this|the) (?:plan|phase|pr|session|branch|commit|review|sweep)\b)",
    re.IGNORECASE,
)
"""Words of questions about the work at hand: how to go on, what to do first, what to put into one change."""
_LEANS = re.compile(
    r"(?:based on|given (?:this|that|the)|which (?:\w+ )?(?:one|option|approach|direction)\b|(?:this|that|it"
    r"|these)\b|and\b|so\b"
    r"|thoughts|what do you think)",
    re.IGNORECASE,
)
_EDGES = re.compile(r"[\s?!.:]+$")


class Answers:
    """Finds decisions in the user's answers to the agent's questions."""

    id = "answers/1"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return one candidate for each question whose answer decides something, in order."""
        return [
            candidate
            for at, event in enumerate(window)
            if event.kind == "tool_result" and event.tool == TOOL and event.trust == "person" and not event.agent
            for candidate in _decisions(event, _edited_next(window, at))
        ]


def make(options: Mapping[str, str]) -> Answers:
    """Return the detector; it has no options."""
    return Answers()


def _decisions(event: Event, files: tuple[str, ...]) -> Iterator[Candidate]:
    start = 0
    lines = event.text.split("\n")
    for number, line in enumerate(lines):
        question, parted, answer = line.partition("? = ")
        following = lines[number + 1] if number + 1 < len(lines) else ""
        about = following.removeprefix(OPTION_MARK) if following.startswith(OPTION_MARK) else ""
        if parted and _decides(question, answer, about):
            yield _candidate(event, (line, start), (question, answer, about), files)
        start += len(line) + 1


def _decides(question: str, answer: str, about: str) -> bool:
    """Return whether the answer settles something that a later session can understand. Only a chosen option can."""
    if not about or len(question) > QUESTION_LIMIT or "?" in answer:
        return False
    if _PROCEDURE.search(question) or _LEANS.match(question) or _UNDECIDED.match(answer):
        return False
    return len(set(terms(f"{question} {answer}"))) >= LEAST_TERMS


def _candidate(event: Event, span: tuple[str, int], parts: tuple[str, str, str], files: tuple[str, ...]) -> Candidate:
    question, answer, about = parts
    advised = bool(_RECOMMENDED.search(answer))
    choice, topic = _RECOMMENDED.sub("", answer), _EDGES.sub("", question)
    return Candidate(
        kind="decision",
        title=clip(f"{choice}: the user's answer to \u201c{topic}\u201d", TITLE_LIMIT),
        insight=f"Asked \u201c{topic}?\u201d, the user chose: {choice}.",
        why=clip(about, REASON_LIMIT),
        detector=Answers.id,
        evidence=(quote(event, *span),),
        files=files,
        trust="person",
        confidence=CONFIDENCE if advised else AGAINST_ADVICE,
        calibrated=True,
        salience=0.6,
    )


def _edited_next(window: Sequence[Event], at: int) -> tuple[str, ...]:
    """Return at most three files that were edited before the next prompt."""
    edited: list[str] = []
    for event in window[at + 1 :]:
        if event.kind == "prompt":
            break
        edited += event.files if event.kind == "file_edit" else ()
    return tuple(dict.fromkeys(edited))[:3]
