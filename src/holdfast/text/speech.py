"""Speech: which parts of a text that stands in the user's place a person wrote.

Hosts, editors and the user put other people's text into a prompt: files, selections, messages of programs, logs. What
stands inside a tag, a code fence or a quoted line has no known author, whatever the tag is called, so no list of tags
is needed. Hooks and detectors ask the same functions. Standard library without `re`: every hook imports this.
"""

from __future__ import annotations

MASK = "\0"
"""Stands for each character that is nobody's word. Events hold no NUL of their own."""

INTERRUPT = "[Request interrupted by user"
"""Opening of the line a host leaves where the user pressed escape."""

MACHINE_OPENINGS = (
    "[Request interrupted", "Caveat: The messages below", "This session is being continued", "Another Claude session",
    "Base directory for this skill", "Operation stopped by hook", "Stop hook feedback", "PreToolUse:", "PostToolUse:",
    "API Error",
)  # fmt: skip
"""How prompts begin that a program wrote as a whole and did not put into a tag."""

TAG_LIMIT = 2_000
"""Characters of an opening tag with its attributes."""

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NAME = _LETTERS | frozenset("0123456789_-.:")
_SMALL = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
"""Unlike `lower`, it keeps every character at its place."""


def is_spoken(text: str) -> bool:
    """Whether a person wrote any part of a text that stands in the user's place."""
    return bool(spoken_text(text).strip())


def spoken_text(text: str) -> str:
    """The person's words without what is nobody's."""
    return own_words(text).replace(MASK, "")


def own_words(text: str) -> str:
    """The text with `MASK` for every character that no person wrote, so that offsets stay as they are.

    Line ends stay, and a block over several lines ends with one: what follows is a sentence of its own.
    """
    if text.lstrip().startswith(MACHINE_OPENINGS):
        return MASK * len(text)
    if "<" not in text and "```" not in text and "~~~" not in text and ">" not in text:
        return text
    pieces: list[str] = []
    done = 0
    for start, end in _joined([*_tag_blocks(text), *_fenced(text, "```"), *_fenced(text, "~~~"), *_quoted(text)]):
        block = text[start:end]
        pieces += [text[done:start], *(c if c == "\n" else MASK for c in block)]
        if "\n" in block and pieces[-1] == MASK:
            pieces[-1] = "\n"
        done = end
    return "".join([*pieces, text[done:]])


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, overlapping ones as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _tag_blocks(text: str) -> list[tuple[int, int]]:
    """`<tag ...>` to the last `</tag>`; to the end of the text where a line begins with a tag that is never closed.

    The last closing tag counts, not the first: the text inside may hold a closing tag of its own to break out.
    """
    lowered = text.translate(_SMALL)
    spans: list[tuple[int, int]] = []
    closings: dict[str, int] = {}
    at = text.find("<")
    while at >= 0:
        name = _tag_name(lowered, at)
        end = 0
        if name:
            if name not in closings:
                closings[name] = _last_closing(lowered, name)
            closing = closings[name]
            if closing > at:
                end = closing
            elif not text[text.rfind("\n", 0, at) + 1 : at].strip() and not _closes_itself(text, at):
                end = len(text)
        if end:
            spans.append((at, end))
        at = text.find("<", end or at + 1)
    return spans


def _tag_name(lowered: str, at: int) -> str:
    """The name of the tag that opens at `<`; empty for a comparison, a closing tag or a tag without its `>`."""
    if lowered[at + 1 : at + 2] not in _LETTERS:
        return ""
    end = at + 1
    while lowered[end : end + 1] in _NAME and end < len(lowered):
        end += 1
    if lowered[end : end + 1] not in (">", " ", "\t", "\n", "/"):
        return ""
    return lowered[at + 1 : end] if ">" in lowered[end : end + TAG_LIMIT] else ""


def _last_closing(lowered: str, name: str) -> int:
    """Where the last `</name>` ends; 0 without any."""
    at = len(lowered)
    while (at := lowered.rfind(f"</{name}", 0, at)) >= 0:
        rest = lowered[at + 2 + len(name) : at + 2 + len(name) + TAG_LIMIT]
        if rest[:1] == ">" or (rest[:1] in (" ", "\t", "\n") and rest.lstrip()[:1] == ">"):
            return at + 2 + len(name) + rest.index(">") + 1
    return 0


def _closes_itself(text: str, at: int) -> bool:
    return text[at : text.find(">", at)].endswith("/")


def _fenced(text: str, sign: str) -> list[tuple[int, int]]:
    """Spans of fenced code.

    A fence inside an open one that names a language, or a fence without a partner, shows that fences were nested or
    cut: then all from the first to the last one counts as code, because nobody can tell which one closes which.
    """
    spans: list[tuple[int, int]] = []
    opened, nested, at, last = -1, False, text.find(sign), 0
    while at >= 0:
        end = at + len(sign)
        while text[end : end + 1] == sign[0]:
            end += 1
        rest = text[end : _line_end(text, end)]
        if opened < 0:
            opened = at
        elif "\n" not in text[opened:at] or not _names_language(text, at, rest):
            spans.append((opened, end))
            opened = -1
        else:
            nested = True
        last = end
        at = text.find(sign, end)
    if opened >= 0:
        last = len(text)
        spans.append((opened, last))
    return [(spans[0][0], last)] if spans and (nested or opened >= 0) else spans


def _names_language(text: str, at: int, rest: str) -> bool:
    """Whether the fence at `at` opens a block: it begins its line, and one word such as `python` follows."""
    alone = not text[text.rfind("\n", 0, at) + 1 : at].strip()
    return alone and bool(rest.strip()) and " " not in rest.strip()


def _quoted(text: str) -> list[tuple[int, int]]:
    """Lines that begin with `>`: how people quote others."""
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = _line_end(text, start)
        if text[start:end].lstrip().startswith(">"):
            spans.append((start, end))
        start = end + 1
    return spans


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return end if end >= 0 else len(text)
