"""Splits markdown into pieces that stand alone, and makes passages of them.

A piece is a list item, a paragraph group or a table, with its headings. What belongs together stays together: an
ordered list, a list of short items, a paragraph with the code it leads to. A sentence that ends in a colon is repeated
with every item it introduces: `Never:` must not be lost. A passage has a title and the stated reason; a long piece
becomes several, and what is no lesson is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from holdfast.domain.vocabulary import LessonKind
from holdfast.ports.plugins import Passage, Skipped
from holdfast.text.titles import clipped

GROUP_LENGTH = 600
"""Characters up to which paragraphs that follow each other are one piece."""
SHORT_ITEM, FEW_WORDS = 15, 4
"""A list item of fewer characters or words hardly says anything alone; a list with many of them is one piece."""
LEAD_LENGTH = 160
"""Characters of the longest sentence that is repeated before each item it introduces."""
SNIPPET_LENGTH = 2_000
"""Characters of a block of code that are kept."""

_MANAGED = re.compile(r"<!--[ \t]{0,9}holdfast:begin\b.*?(?:<!--[ \t]{0,9}holdfast:end\b[^>]{0,200}>|\Z)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MARKER = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_LINK = re.compile(r"!?\[([^\[\]\n]{1,300})\]\((https?://[^\s)]{1,500})?[^)\n]{0,500}\)")
_BOLD = re.compile(r"(?<!\w)(\*\*|__)(?=\S)([^\n]{1,500}?)(?<=\S)\1(?!\w)")
_WRAPPED = re.compile(r"(?<=[^\n])[ \t]*\n[ \t]*(?=[^\s\d*+>|#`~-])(?![A-Za-z]+(?: [a-z]+){0,2}:)")
"""A line break inside prose; lists, code and lines that begin with a label (`Why: …`) keep theirs."""
_LAST_SENTENCE = re.compile(r"\A(.*[.!?])\s+(\S[^.!?]*:)\Z", re.DOTALL)
_NEGATIVE = re.compile(r"\b(?:don'?ts?|do not|never|avoid|not|forbidden|anti-?patterns?|bad|wrong)\b", re.IGNORECASE)

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


class MarkdownPiece(NamedTuple):
    """A part of a document that stands alone; `text` is nearly plain, `snippets` are the code it leads to."""

    headings: tuple[str, ...]
    text: str
    snippets: tuple[str, ...] = ()

    @property
    def section(self) -> str:
        """The headings as one line."""
        return " > ".join(self.headings)


def split_markdown(text: str) -> Iterator[MarkdownPiece]:
    """Return the pieces in order, without Holdfast's managed blocks, comments, and code that nothing introduces."""
    text = without_managed(text)
    lines = text.split("\n")
    splitter = _Splitter()
    for block in _blocks(_parser().parse(text), lines):
        splitter.take(block)
    return iter(splitter.pieces)


def without_managed(text: str) -> str:
    """Return the text with Holdfast's managed blocks emptied; an unclosed one reaches to the text's end."""
    return _MANAGED.sub(lambda match: "\n" * match[0].count("\n"), text)


def nearly_plain(text: str) -> str:
    """Return the text without emphasis, comments and the line breaks of wrapped prose.

    A link becomes its words and, if it leads to the web, its address.
    """
    text = _COMMENT.sub("", text)
    text = _LINK.sub(lambda m: f"{m[1]} ({m[2]})" if m[2] and m[2] != m[1] else m[1], text)
    return _WRAPPED.sub(" ", _BOLD.sub(r"\2", text)).strip()


class _Block(NamedTuple):
    """One top-level block: its kind, its source, and for a list its items' sources, for a heading its level."""

    kind: str
    text: str
    level: int = 0
    items: tuple[str, ...] = ()


class _Splitter:
    """Takes the blocks of a document in order and collects pieces."""

    def __init__(self) -> None:
        self.pieces: list[MarkdownPiece] = []
        self._headings: list[tuple[int, str]] = []
        self._before = ""
        """The kind of the block before this one."""

    def take(self, block: _Block) -> None:
        """Add the block's content."""
        if block.kind == "heading":
            self._headings = [heading for heading in self._headings if heading[0] < block.level]
            self._headings.append((block.level, nearly_plain(block.text)[:LEAD_LENGTH]))
        elif block.kind == "code":
            self._add_code(block.text[:SNIPPET_LENGTH])
        elif block.kind == "list":
            self._add_list(block)
        elif block.kind == "paragraph":
            self._add_paragraph(nearly_plain(block.text))
        else:
            self._add(self._with_lead(nearly_plain(block.text)))
        self._before = block.kind

    def _add(self, text: str) -> None:
        if text:
            self.pieces.append(MarkdownPiece(tuple(name for _, name in self._headings), text))

    def _add_paragraph(self, text: str) -> None:
        last = self.pieces[-1] if self.pieces and self._before == "paragraph" else None
        if last and not last.text.endswith(":") and len(last.text) + len(text) <= GROUP_LENGTH and text:
            self.pieces[-1] = last._replace(text=f"{last.text}\n\n{text}")
        else:
            self._add(text)

    def _add_code(self, code: str) -> None:
        """Add code to the words right before it."""
        if self.pieces and self._before in ("paragraph", "list", "code"):
            last = self.pieces[-1]
            self.pieces[-1] = last._replace(snippets=(*last.snippets, code))

    def _add_list(self, block: _Block) -> None:
        items = [plain for item in block.items if (plain := nearly_plain(item))]
        short = sum(_is_short(item) for item in items)
        if block.level or short * 2 >= len(items):
            marked = [f"{n}. {item}" if block.level else f"- {item}" for n, item in enumerate(items, 1)]
            self._add(self._with_lead("\n".join(marked), always=True))
            return
        lead = self._take_lead()
        for item in items:
            self._add(f"{lead} {item}" if 0 < len(lead) <= LEAD_LENGTH else item)

    def _with_lead(self, text: str, *, always: bool = False) -> str:
        """Return the text after its introduction: the sentence before it that ends in a colon, else the heading."""
        lead = self._take_lead()
        if not lead and always and self._headings:
            lead = f"{self._headings[-1][1]}:"
        return f"{lead}\n{text}" if lead and text else text

    def _take_lead(self) -> str:
        """Return what introduces the block: the paragraph before it, which is removed, or a heading that forbids."""
        if self._before == "paragraph" and self.pieces and self.pieces[-1].text.endswith(":"):
            last = self.pieces.pop()
            parted = _LAST_SENTENCE.match(last.text)
            if not parted:
                return last.text
            self.pieces.append(last._replace(text=parted[1]))
            return parted[2]
        heading = self._headings[-1][1] if self._headings else ""
        return f"{heading}:" if _NEGATIVE.search(heading) else ""


def _is_short(item: str) -> bool:
    """Return whether an item says little alone; words are counted only in ASCII text."""
    return len(item) < SHORT_ITEM or (item.isascii() and len(item.split()) < FEW_WORDS)


@cache
def _parser() -> MarkdownIt:
    # without "inline", which is not needed here and is slow for hostile text
    return MarkdownIt("commonmark", {"maxNesting": 40}).enable("table").disable("inline")


def _blocks(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[_Block]:
    for at, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        source = "\n".join(lines[token.map[0] : token.map[1]])
        if token.type == "heading_open":
            yield _Block("heading", tokens[at + 1].content, level=int(token.tag[1]))
        elif token.type == "paragraph_open":
            yield _Block("paragraph", source)
        elif token.type in ("fence", "code_block"):
            yield _Block("code", token.content.rstrip())
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            ordered = int(token.type == "ordered_list_open")
            yield _Block("list", source, level=ordered, items=tuple(_items(tokens[at:], token, lines)))
        elif token.type == "blockquote_open":
            yield _Block("quote", re.sub(r"(?m)^[ \t]*>[ \t]?", "", source))
        elif token.type == "table_open":
            yield _Block("table", source)


def _items(tokens: Sequence[Token], opened: Token, lines: Sequence[str]) -> Iterator[str]:
    """Yield the sources of a list's own items, without their marks and their indentation."""
    for token in tokens[1:]:
        if token.level == opened.level:
            return
        if token.type == "list_item_open" and token.level == opened.level + 1 and token.map:
            first, *rest = lines[token.map[0] : token.map[1]] or [""]
            mark = _MARKER.match(first)
            width = mark.end() if mark else 0
            yield "\n".join([first[width:], *(line[min(width, len(line) - len(line.lstrip())) :] for line in rest)])


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
