"""Finds the parts of a text in the user's place that a person wrote.

Hosts, editors and users put other people's text into a prompt: files, selections, messages of programs, logs. The
author of text inside a tag, a code fence or a quoted line is unknown, whatever the tag's name, so no list of tags is
needed. Hooks and detectors use the same functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from holdfast.domain.event import Event
from holdfast.ports.store import SpokenTurn

MASK = "\0"
"""Replaces each character that no person wrote. Events hold no NUL of their own."""
FENCE = "<holdfast-memory>", "</holdfast-memory>"
"""Opening and closing of what Holdfast delivers."""
INTERRUPT = "[Request interrupted by user"
"""Opening of the line that a host writes when the user presses escape."""
MACHINE_OPENINGS = (
    "[Request interrupted", "Caveat: The messages below", "This session is being continued", "Another Claude session",
    "Base directory for this skill", "Operation stopped by hook", "Stop hook feedback", "PreToolUse:", "PostToolUse:",
    "API Error",
)  # fmt: skip
"""Openings of prompts that a program wrote completely and without a tag."""
TAG_LIMIT = 2_000
"""Characters of an opening tag with its attributes."""
_TAG = re.compile(rf"<(?P<name>[a-zA-Z][\w.:-]*)(?=[> \t\n/])(?=[^>]{{0,{TAG_LIMIT - 1}}}>)", re.ASCII)
"""A tag that opens; no comparison, no closing tag and no tag without `>`."""
_FENCES = re.compile("`{3,}"), re.compile("~{3,}")
_QUOTED_LINE = re.compile(r"^[^\S\n]*>.*", re.MULTILINE)
TURN_LIMIT = 30_000
"""Characters of replies in one turn; the replies after them are a further turn with the same prompt."""


def is_spoken(text: str) -> bool:
    """Return whether a person wrote any part of a text that stands in the user's place."""
    return bool(spoken_text(text).strip())


def spoken_text(text: str) -> str:
    """Return the person's words alone."""
    return own_words(text).replace(MASK, "")


def own_words(text: str) -> str:
    """Return the text with `MASK` for every character that no person wrote; offsets stay the same.

    Line ends stay, and a block over several lines ends with one: what follows is a sentence of its own.
    """
    if text.lstrip().startswith(MACHINE_OPENINGS):
        return MASK * len(text)
    if "<" not in text and "```" not in text and "~~~" not in text and ">" not in text:
        return text
    pieces: list[str] = []
    done = 0
    quoted = (line.span() for line in _QUOTED_LINE.finditer(text))
    for start, end in _joined([*_tag_blocks(text), *_fenced(text, _FENCES[0]), *_fenced(text, _FENCES[1]), *quoted]):
        block = text[start:end]
        pieces += [text[done:start], *(c if c == "\n" else MASK for c in block)]
        if "\n" in block and pieces[-1] == MASK:
            pieces[-1] = "\n"
        done = end
    return "".join([*pieces, text[done:]])


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order, with overlapping spans merged."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _tag_blocks(text: str) -> list[tuple[int, int]]:
    """Return the spans from `<tag ...>` to the last `</tag>`; to the end of the text if it is never closed.

    An unclosed tag counts only at a line's beginning. The last closing tag counts, not the first: the text inside may
    hold a closing tag of its own to break out.
    """
    spans: list[tuple[int, int]] = []
    closings: dict[str, int] = {}
    done = 0
    for tag in _TAG.finditer(text):
        at, name = tag.start(), tag["name"].lower()
        if at < done:
            continue
        if name not in closings:
            closing = re.compile(rf"</{re.escape(name)}(?:[ \t\n]\s*)?>", re.IGNORECASE | re.ASCII)
            closings[name] = max((match.end() for match in closing.finditer(text)), default=0)
        if closings[name] > at:
            done = closings[name]
        elif not text[text.rfind("\n", 0, at) + 1 : at].strip() and not text[at : text.find(">", at)].endswith("/"):
            done = len(text)
        else:
            continue
        spans.append((at, done))
    return spans


def _fenced(text: str, fence: re.Pattern[str]) -> list[tuple[int, int]]:
    """Return the spans of fenced code.

    If a fence inside an open one names a language, or a fence has no partner, fences were nested or cut. Then
    everything from the first to the last fence counts as code, because their pairs cannot be told.
    """
    spans: list[tuple[int, int]] = []
    opened, nested, last = -1, False, 0
    for match in fence.finditer(text):
        if opened < 0:
            opened = match.start()
        elif "\n" not in text[opened : match.start()] or not _names_language(text, match):
            spans.append((opened, match.end()))
            opened = -1
        else:
            nested = True
        last = match.end()
    if opened >= 0:
        last = len(text)
        spans.append((opened, last))
    return [(spans[0][0], last)] if spans and (nested or opened >= 0) else spans


def _names_language(text: str, fence: re.Match[str]) -> bool:
    """Return whether the fence opens a block: it begins its line, and one word such as `python` follows."""
    line_end = text.find("\n", fence.end())
    rest = text[fence.end() : line_end if line_end >= 0 else None].strip()
    is_alone = not text[text.rfind("\n", 0, fence.start()) + 1 : fence.start()].strip()
    return is_alone and bool(rest) and " " not in rest


def turns_of(events: Iterable[Event]) -> list[SpokenTurn]:
    """Return the turns of one session's events, in order of time. Sub-agents' prompts and replies are left out."""
    turns: list[SpokenTurn] = []
    spoken = (event for event in events if event.kind in ("prompt", "reply") and not event.agent)
    for event in sorted(spoken, key=lambda event: event.at):
        text = without_deliveries(event.text).strip()
        is_prompt = event.kind == "prompt"
        text = spoken_text(text).strip() if is_prompt else text
        if not text:
            continue
        last = turns[-1] if turns and turns[-1].project == event.project else None
        if is_prompt or last is None or len(last.reply) + len(text) > TURN_LIMIT:
            prompt = text if is_prompt else last.prompt if last is not None else ""
            turns.append(
                SpokenTurn(
                    project=event.project, session=event.session, host=event.host, branch=event.branch, at=event.at,
                    prompt=prompt,
                )
            )  # fmt: skip
        if not is_prompt:
            turns[-1] = replace(turns[-1], reply=f"{turns[-1].reply}\n\n{text}".lstrip())
    return turns


def without_deliveries(text: str) -> str:
    """Return the text without the blocks that Holdfast delivered."""
    opening, closing = FENCE
    while (start := text.find(opening)) >= 0:
        end = text.find(closing, start)
        text = text[:start] + (text[end + len(closing) :] if end >= 0 else "")
    return text
