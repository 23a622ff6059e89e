"""Makes passages of pieces: adds a title and the stated reason, cuts long ones, and rejects what is no lesson."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from holdfast.domain.vocabulary import LessonKind
from holdfast.importers._shared.markdown import MarkdownPiece, split_markdown
from holdfast.lean.records import replace
from holdfast.ports.importer import Passage, Skipped
from holdfast.text.titles import clipped

LONGEST = 1_500
"""Characters of the longest passage; a longer one becomes several."""
SHORTEST = 12
"""Characters below which a passage of fewer than three words says nothing."""
BOILERPLATE_LENGTH = 300
"""Characters up to which a paragraph that opens like boilerplate is nothing else."""
MENTIONS = 3
"""Files named in a passage that it is delivered before."""

_LABELLED = re.compile(
    r"^[ \t]*(?:[-*] )?(why|reason|rationale|because|how|how to apply|instead|learned)[ \t]*:[ \t]*", re.I | re.M
)
_REASONS = frozenset({"why", "reason", "rationale", "because"})
_MENTIONED = re.compile(r"`((?:[\w@.+-]{1,60}/){1,12}[\w@.+-]{1,80}\.[A-Za-z]\w{0,8})`")
_FORBIDS = re.compile(
    r"\b(?:must(?: not|n't)?|never|do not|don't|cannot|can't|forbidden|not allowed|required to)\b", re.I
)
_COMMANDS = re.compile(r"\b(?:commands?|build|run|running|setup|set-up|install|installation|scripts?|tooling)\b", re.I)
_BOILERPLATE = re.compile(
    r"this file provides guidance to (?:claude|codex|gemini|agents|ai)|^@[\w~./-]+$|^\[toc\]$|^table of contents$"
    r"|^(?:you are|act as) an? (?:\w+[ ,-]+){0,8}(?:expert|engineer|developer|assistant|programmer)\b"
    r"|^\W*last (?:updated|modified|reviewed)\b",
    re.I,
)
_POINTER = re.compile(r"(?:see|refer to|read|for (?:more|full|further|details?)\b)[^.]{1,100}\.?\Z", re.I)
_BOX = re.compile(r"\[[ xX-]\] ")


class Voice(NamedTuple):
    """What all passages of a source share."""

    usual_kind: LessonKind = "convention"
    shared: Passage = Passage(section="")
    """Its globs, tags, trust, scope, prefix and time apply to every passage."""


def read_markdown(text: str, voice: Voice) -> Iterator[Passage | Skipped]:
    """Yield the passages of a markdown text, and the rejected parts, with the reason."""
    for piece in split_markdown(text):
        yield from from_piece(piece, voice)


def from_piece(piece: MarkdownPiece, voice: Voice) -> Iterator[Passage | Skipped]:
    """Yield the piece's passage, or several if it is too long, or why it is none."""
    paragraphs = piece.text.split("\n\n")
    content = [
        text for text in paragraphs if not (len(text) <= BOILERPLATE_LENGTH and _BOILERPLATE.search(text.strip()))
    ]
    reason = why_not("\n\n".join(content)) if content else "boilerplate"
    if reason:
        yield Skipped(section=piece.section, reason=f"{reason}: {clipped(piece.text)}")
        return
    insight, why, how = split_reasons("\n\n".join(content))
    parts = list(cut(insight))
    for part in parts:
        yield _passage(piece, voice, part, ("", "") if part is not parts[0] else (why, how))


def why_not(text: str) -> str:
    """Return why a text is no lesson, in a few words; empty if it may be one."""
    plain = text.strip().strip("-*#`: ")
    if len(plain) < SHORTEST and len(plain.split()) < 3:
        return "too short"
    if _BOX.match(plain):
        return "a task"
    if _POINTER.match(plain):
        return "it only refers to another text"
    return "" if re.search(r"\w{2}", plain) else "no words"


def cut(text: str, longest: int = LONGEST) -> Iterator[str]:
    """Yield the text in parts of at most that many characters, cut at blank lines, line ends, sentences, or words."""
    while len(text) > longest:
        ends = (text.rfind(mark, longest // 3, longest) for mark in ("\n\n", "\n", ". ", " "))
        at = next((end + 1 for end in ends if end > 0), longest)
        yield text[:at].strip()
        text = text[at:].strip()
    if text:
        yield text


def split_reasons(text: str) -> tuple[str, str, str]:
    """Return (statement, why, how): labelled parts such as `Why: …` at a line's beginning are taken out of it."""
    marks = list(_LABELLED.finditer(text))
    if not marks or not text[: marks[0].start()].strip(" \n-*"):
        return text, "", ""
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    reasons = {True: "", False: ""}
    for mark, end in zip(marks, ends, strict=True):
        is_reason = mark[1].lower() in _REASONS
        reasons[is_reason] = f"{reasons[is_reason]}\n{text[mark.end() : end].strip()}".strip()
    return text[: marks[0].start()].strip(), reasons[True], reasons[False]


def headline(headings: Iterable[str], text: str) -> str:
    """Return a title: the last heading and the text's first line, by which a person would search."""
    last = next((name for name in reversed(tuple(headings)) if name), "")
    first = clipped(text.strip().lstrip("-#> ").strip() or text)
    return first if not last or first.lower().startswith(last.lower()[:40]) else clipped(f"{last}: {first}")


def mentioned(text: str) -> tuple[str, ...]:
    """Return paths in code spans, at most three."""
    return tuple(dict.fromkeys(_MENTIONED.findall(text)))[:MENTIONS]


def _passage(piece: MarkdownPiece, voice: Voice, insight: str, reasons: tuple[str, str]) -> Passage:
    return replace(
        voice.shared,
        section=piece.section,
        insight=insight,
        usual_kind=_usual(piece, voice, insight),
        title=headline(piece.headings, insight),
        why=reasons[0],
        how=reasons[1],
        snippets=piece.snippets,
        globs=voice.shared.globs or mentioned(insight),
    )


def _usual(piece: MarkdownPiece, voice: Voice, insight: str) -> LessonKind:
    """Return the kind that the headings and the words suggest."""
    if voice.usual_kind != "convention":
        return voice.usual_kind
    if any(_COMMANDS.search(name) for name in piece.headings) and ("`" in insight or piece.snippets):
        return "tooling"
    return "constraint" if _FORBIDS.search(insight) else "convention"
