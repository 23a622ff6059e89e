"""Computes the features of turns and of sentences.

A turn is described by its shape, by the counts of each cue in its own words, by what comes just before and after it,
and by its length compared with its speaker's usual one. No word of a project is among the features.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import log1p
from typing import NamedTuple

from holdfast.detectors.statements._cues import ANY, KIND, NAMED, NOTABLE, PERSON, SURE, CueTable
from holdfast.detectors.statements._reading import IDENTIFIER, OwnSentences, Sentence, opens_with_intent, read

VERSION = "1"
"""Grows with every change of a feature; weights of another version are not used."""

_ANY = CueTable(ANY)
_PERSON = CueTable(PERSON)
_KIND = CueTable(KIND)
_SURE = CueTable(SURE)
_NAMED = CueTable(NAMED)
_NOTABLE = frozenset(_ANY.names.index(name) for name in NOTABLE)
_NUMBER = re.compile(r"\b\d[\d,.]*")
_EMOJI = "✅❌🎉"


class Turn(NamedTuple):
    """An event of a session, as far as it matters here."""

    role: str
    """`user`, `assistant` or `tool`."""
    text: str = ""
    edits: bool = False
    """Whether a tool turn changed a file."""
    failed: bool = False
    """Whether a tool turn failed."""


class Utterance(NamedTuple):
    """A turn with text after reading: its sentences and the cues in each."""

    role: str
    text: str
    reading: OwnSentences
    cues: tuple[tuple[int, ...], ...]
    person_cues: tuple[tuple[int, ...], ...]


def say(turn: Turn) -> Utterance:
    """Read a turn's text once: its sentences and their cues."""
    reading = read(turn.text)
    words = [sentence.words for sentence in reading.sentences]
    cues = tuple(tuple(_ANY.find(w, opens_turn=n == 0)) for n, w in enumerate(words))
    person = turn.role == "user"
    person_cues = tuple(tuple(_PERSON.find(w, opens_turn=n == 0)) for n, w in enumerate(words)) if person else ()
    return Utterance(turn.role, turn.text, reading, cues, person_cues)


def mute(utterance: Utterance) -> bool:
    """Return whether the turn holds no words of its speaker: injected text, bare code, output, a nod."""
    return sum(s.end - s.start for s in utterance.reading.sentences) < 12


def describe_session(turns: Sequence[Turn]) -> list[tuple[Utterance, dict[str, float]] | None]:
    """Return for every turn what was read and its features by name (a missing one is 0); None for a tool's turn."""
    utterances = [say(turn) if turn.role != "tool" else None for turn in turns]
    usual = {role: _usual_length(utterances, role) for role in ("user", "assistant")}
    described: list[tuple[Utterance, dict[str, float]] | None] = []
    for at, here in enumerate(utterances):
        if here is None:
            described.append(None)
            continue
        features = {**describe_turn(here), **describe_place(turns, at, utterances)}
        features["relative_length"] = log1p(len(here.text)) - usual[here.role]
        described.append((here, features))
    return described


def _usual_length(utterances: Sequence[Utterance | None], role: str) -> float:
    lengths = [log1p(len(utterance.text)) for utterance in utterances if utterance and utterance.role == role]
    return sum(lengths) / len(lengths) if lengths else 0.0


def describe_turn(utterance: Utterance) -> dict[str, float]:
    """Return the turn's features by name; a missing one is 0."""
    described = {**_shape(utterance), **_counts(utterance)}
    if utterance.role == "user":
        described["user"] = 1.0
        for name in ("own_length", "stated_length", "most_cues", "identifiers", "questions", "log_share"):
            described[f"user_{name}"] = described.get(name, 0.0)
    return described


def _shape(utterance: Utterance) -> dict[str, float]:
    reading, text = utterance.reading, utterance.text
    sentences = reading.sentences
    stated = [s for s in sentences if not s.announces]
    own, stated_length = _length(sentences), _length(stated)
    identifiers = sum(s.words.count(IDENTIFIER) for s in sentences)
    tail = text[-40:].rstrip()
    return {
        "length": log1p(len(text)),
        "very_long": max(0.0, log1p(len(text)) - 8),
        "own_length": log1p(own),
        "stated_length": log1p(stated_length),
        "stated": log1p(len(stated)),
        "stated_share": stated_length / (own + 20),
        "nothing_stated": float(not stated),
        "intents": log1p(sum(opens_with_intent(s.words) for s in sentences)),
        "opens_with_intent": float(bool(sentences) and opens_with_intent(sentences[0].words)),
        "code_share": reading.code_lines / (reading.lines + 1),
        "log_share": reading.log_lines / (reading.lines + 1),
        "identifiers": log1p(identifiers),
        "identifier_density": 100 * identifiers / (own + 100),
        "bold": log1p(text.count("**") / 2),
        "bullets": log1p(sum(s.form == "bullet" for s in sentences)),
        "headings": log1p(sum(s.form == "heading" for s in sentences)),
        "ends_colon": float(tail.endswith(":")),
        "ends_question": float(tail.endswith("?")),
        "questions": log1p(sum("?" in s.words for s in sentences)),
        "exclamations": log1p(sum(s.words.count("!") for s in sentences)),
        "emoji": log1p(sum(text.count(sign) for sign in _EMOJI)),
        **_signs(utterance),
        "sentence_length": own / (len(sentences) + 1) / 100,
    }


def _signs(utterance: Utterance) -> dict[str, float]:
    own = "\n".join(utterance.text[s.start : s.end] for s in utterance.reading.sentences)
    return {
        "arrows": log1p(own.count("→") + own.count("->") + own.count("=>")),
        "dashes": log1p(own.count(" \u2014 ") + own.count(" - ") + own.count(" \u2013 ")),
        "brackets": log1p(own.count("(")),
        "quotes": log1p(own.count('"') // 2),
        "colons": log1p(own.count(": ")),
        "numbers": log1p(len(_NUMBER.findall(own))),
    }


def _counts(utterance: Utterance) -> dict[str, float]:
    counts: dict[int, int] = {}
    for cues in utterance.cues:
        for cue in cues:
            counts[cue] = counts.get(cue, 0) + 1
    described = {f"cue_{_ANY.names[cue]}": log1p(count) for cue, count in counts.items()}
    person_counts: dict[int, int] = {}
    for cues in utterance.person_cues:
        for cue in cues:
            person_counts[cue] = person_counts.get(cue, 0) + 1
    described.update({f"says_{_PERSON.names[cue]}": log1p(count) for cue, count in person_counts.items()})
    notable = sorted(
        (_notable(utterance, at) for at, s in enumerate(utterance.reading.sentences) if not s.announces), reverse=True
    )
    described["most_cues"] = float(notable[0]) if notable else 0.0
    described["second_cues"] = float(notable[1]) if len(notable) > 1 else 0.0
    described["strong_sentences"] = log1p(sum(count >= 3 for count in notable))
    described["cue_density"] = sum(notable) / (len(notable) + 1)
    return described


def _notable(utterance: Utterance, at: int) -> int:
    kinds = {cue for cue in utterance.cues[at] if cue in _NOTABLE}
    return len(kinds) + (IDENTIFIER in utterance.reading.sentences[at].words)


def _length(sentences: Sequence[Sentence]) -> int:
    return sum(s.end - s.start for s in sentences)


def describe_place(turns: Sequence[Turn], at: int, utterances: Sequence[Utterance | None]) -> dict[str, float]:
    """Return features of the turn's place: what is just before and after it, and the distance to the person's turns."""
    before, after = turns[at - 1] if at else None, turns[at + 1] if at + 1 < len(turns) else None
    described = {f"after_{_what(before)}": 1.0, f"before_{_what(after)}": 1.0}
    described["after_failure"] = float(before is not None and before.failed)
    described["after_edit"] = float(before is not None and before.edits)
    described["before_edit"] = float(after is not None and after.edits)
    back = next((step for step in range(1, at + 1) if turns[at - step].role == "user"), at + 1)
    ahead = next((step for step in range(1, len(turns) - at) if turns[at + step].role == "user"), len(turns) - at)
    described["since_user"] = log1p(back - 1)
    described["until_user"] = log1p(ahead - 1)
    described["position"] = at / len(turns)
    described.update(_neighbours(at, utterances))
    return described


def _what(turn: Turn | None) -> str:
    return "nothing" if turn is None else turn.role


def _neighbours(at: int, utterances: Sequence[Utterance | None]) -> dict[str, float]:
    """Return features of the other side's reaction: the agent's to a person's turn, the person's to the agent's."""
    here = utterances[at]
    later = next((utterances[next_at] for next_at in range(at + 1, len(utterances)) if utterances[next_at]), None)
    if here is None or later is None or here.role == later.role:
        return {}
    return _answer(later) if here.role == "user" else _request(later)


def _answer(later: Utterance) -> dict[str, float]:
    cues = {_ANY.names[cue] for cues in later.cues[:3] for cue in cues}
    sentences = later.reading.sentences
    return {
        "answer_agrees": float("agree" in cues),
        "answer_intends": float(bool(sentences) and opens_with_intent(sentences[0].words)),
        "answer_length": log1p(_length(sentences)),
    }


def _request(other: Utterance) -> dict[str, float]:
    cues = {_PERSON.names[cue] for cues in other.person_cues for cue in cues}
    requests = ("suggests", "rules", "corrects", "assigns", "wonders", "reports")
    described = {f"later_{name}": 1.0 for name in requests if name in cues}
    described["later_length"] = log1p(_length(other.reading.sentences))
    described["later_turn"] = 1.0
    return described


_TOPICAL = (
    "user", "ends_", "opens_", "length", "code_share", "later_turn", "since_user", "after_failure", "before_edit",
    "own_length", "after_user", "questions", "identifiers", "bullets",
)  # fmt: skip


def describe_topic(utterance: Utterance, features: dict[str, float]) -> dict[str, float]:
    """Return features for naming a statement's kind: each kind's words in the turn and its most notable sentences."""
    sentences = utterance.reading.sentences
    most_telling = [_KIND.find(sentences[at].words, opens_turn=False) for at in _telling(utterance)]
    whole = [_KIND.find(sentence.words, opens_turn=False) for sentence in sentences]
    described = {name: value for name, value in features.items() if name.startswith(_TOPICAL)}
    return {**described, **_kind_words("told", most_telling), **_kind_words("whole", whole)}


def sure_kinds(utterance: Utterance) -> set[str]:
    """Return the kinds that a phrase in one of the turn's most notable sentences almost names."""
    most_telling = (utterance.reading.sentences[at].words for at in _telling(utterance))
    return {_SURE.names[index] for words in most_telling for index in _SURE.find(words, opens_turn=False)}


def named_kind(utterance: Utterance, at: int) -> str:
    """Return the kind that the sentence names itself; empty if it names none or several."""
    kinds = {_NAMED.names[index] for index in _NAMED.find(utterance.reading.sentences[at].words, opens_turn=False)}
    return kinds.pop() if len(kinds) == 1 else ""


def _telling(utterance: Utterance) -> list[int]:
    sentences = utterance.reading.sentences
    return sorted(range(len(sentences)), key=lambda at: 2 * sentences[at].announces - _notable(utterance, at))[:3]


def _kind_words(where: str, matches: Iterable[Iterable[int]]) -> dict[str, float]:
    counts: dict[int, int] = {}
    for indexes in matches:
        for index in indexes:
            counts[index] = counts.get(index, 0) + 1
    total = sum(counts.values()) + 2
    described = {f"{where}_{_KIND.names[index]}": log1p(count) for index, count in counts.items()}
    described.update({f"{where}_share_{_KIND.names[index]}": count / total for index, count in counts.items()})
    return described


def describe_sentence(utterance: Utterance, at: int) -> dict[str, float]:
    """Return features of one sentence, for choosing which sentence of a turn is the statement."""
    sentence = utterance.reading.sentences[at]
    described = {f"cue_{_ANY.names[cue]}": 1.0 for cue in utterance.cues[at]}
    if utterance.person_cues:
        described.update({f"says_{_PERSON.names[cue]}": 1.0 for cue in utterance.person_cues[at]})
    described["notable"] = float(_notable(utterance, at))
    described["length"] = log1p(sentence.end - sentence.start)
    described["identifiers"] = float(min(4, sentence.words.count(IDENTIFIER)))
    described["announces"] = float(sentence.announces)
    described["intends"] = float(opens_with_intent(sentence.words))
    described[sentence.form] = 1.0
    described["user"] = float(utterance.role == "user")
    described["first"] = float(at == 0)
    described["last"] = float(at == len(utterance.reading.sentences) - 1)
    described["depth"] = min(at, 20) / 20
    described["alone"] = float(len(utterance.reading.sentences) == 1)
    return described
