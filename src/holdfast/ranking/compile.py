"""Lessons as the few lines a host is given: fenced, attributed, one line each, within a hard token budget.

What is recalled is data. Lesson text cannot close the fence, open another one or hide characters.
"""

from __future__ import annotations

from holdfast.domain.frozen import Frozen
from holdfast.domain.ids import short_id
from holdfast.ranking.tokens import count_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.lesson import Lesson

OPENING = "<holdfast-memory>"
CLOSING = "</holdfast-memory>"
INTRODUCTION = "Notes of earlier sessions, quoted as data; the code may have changed."
LINE_TOKENS = 120
"""Most tokens of one lesson's line in a delivery; the rest is a `recall` away."""
REASONED_TOKENS = 80
"""Most tokens of a line that has room for its reason: in a longer one the rule is enough, `holdfast show` has both."""
PATHS_SHOWN = 2

_RESERVED = ("holdfast", "system", "reminder", "instruction", "user", "assistant", "human", "tool", "function", "antml",
             "memory", "prompt", "thinking")  # fmt: skip
"""A tag whose name holds one of these could pass for a host's or our own fence."""


class Line(Frozen):
    """One compiled line and what it costs."""

    text: str
    tokens: int


def frame_tokens(more: str = "", checkpoint: str = "") -> int:
    """What a delivery costs before its first lesson."""
    return count_tokens(render_block([], more, checkpoint))


def render_block(lines: Sequence[str], more: str = "", checkpoint: str = "") -> str:
    """The fenced text; empty when there is neither a line nor a checkpoint."""
    body = [checkpoint] if checkpoint else []
    return "\n".join([OPENING, INTRODUCTION, *body, *lines, *([more] if more else []), CLOSING])


def add_line(block: str, line: str) -> str:
    """The block with one more line, before all others; a new block when there was none."""
    head = f"{OPENING}\n{INTRODUCTION}\n"
    return block.replace(head, f"{head}{line}\n", 1) if block.startswith(head) else render_block([line])


def more_line(count: int, hint: str) -> str:
    """How to reach what was left out; empty when nothing was. `hint` is the command to type."""
    return f"{count} more: {hint}" if count > 0 else ""


def compile_line(lesson: Lesson, caveat: str = "", budget: int = LINE_TOKENS) -> Line:
    """`- [id8] Rule. Why. How. (where; caveat)` in at most `budget` tokens.

    The id, the rule and the caveat stay. The reason gives way first, in a line of more than REASONED_TOKENS already,
    then what to do, then the place, then the rule's end, at a word. A place that the rule names is not named twice.
    """
    head, caveat = f"- [{short_id(lesson.id)}] ", clean(caveat)
    rule, why, how = _sentence(lesson.insight), _sentence(lesson.why), _sentence(lesson.how)
    where = ", ".join(name for name in _where(lesson) if name not in caveat and name not in rule)
    choices = (
        ([rule, why, how], [where, caveat], REASONED_TOKENS if why else budget),
        ([rule, how], [where, caveat], budget),
        ([rule], [where, caveat], budget),
        ([rule], [caveat], budget),
    )
    for sentences, notes, most in choices:
        line = _line(head, sentences, notes)
        cost = count_tokens(line)
        if cost <= min(most, budget):
            return Line(text=line, tokens=cost)
    tail = _line("", [], [caveat])
    room = budget - count_tokens(tail) - 2
    line = _cut(head + rule, room) + "…" + tail
    while count_tokens(line) > budget and room > 1:  # a word full of signs costs more than its length tells
        room -= 1
        line = _cut(head + rule, room) + "…" + tail
    return Line(text=line, tokens=count_tokens(line))


def clean(text: str) -> str:
    """One line without control and invisible characters and without tags that could pass for a fence."""
    if not text.isascii():
        from unicodedata import category

        text = "".join(c if c.isascii() or category(c)[0] != "C" else "" for c in text)
        text = text.replace("\u2028", " ").replace("\u2029", " ").replace("\U000e0100", "")
        text = "".join(c for c in text if not 0xE0100 <= ord(c) <= 0xE01EF)  # variation selectors can carry bytes
    return " ".join(_escape_tags(text.translate(_CONTROLS)).split())


_CONTROLS = {i: " " if chr(i).isspace() else None for i in [*range(32), 127]}


def _escape_tags(text: str) -> str:
    """`<` of a reserved tag as `&lt;`; code such as `list<int>` stays as it is."""
    at = text.find("<")
    while at >= 0:
        name = text[at + 1 : at + 64].lstrip("/ !?").lower().split(">", 1)[0].split(" ", 1)[0]
        if any(word in name for word in _RESERVED):
            text = text[:at] + "&lt;" + text[at + 1 :]
        at = text.find("<", at + 1)
    return text


def _sentence(text: str) -> str:
    """Clean text that ends like a sentence."""
    plain = clean(text)
    return plain if not plain or plain[-1] in ".!?…。" else plain + "."


def _where(lesson: Lesson) -> list[str]:
    """The first places it is about, symbols with their file."""
    places = dict.fromkeys(f"{a.path}:{a.symbol}" if a.symbol else a.path for a in lesson.anchors)
    named = [*places, *lesson.globs]
    return [clean(name) for name in named[:PATHS_SHOWN]]


def _line(head: str, sentences: Sequence[str], notes: Sequence[str]) -> str:
    body = head + " ".join(sentence for sentence in sentences if sentence)
    said = "; ".join(note for note in notes if note)
    return f"{body} ({said})" if said else body


def _cut(text: str, budget: int) -> str:
    """The longest run of whole words of the text within the budget; at least one character of an endless word."""
    words = text.split(" ")
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(" ".join(words[:middle])) <= budget:
            low = middle
        else:
            high = middle - 1
    kept = " ".join(words[:low])
    if low <= 2 and low < len(words):  # one endless word: cut inside it
        room = max(1, budget - count_tokens(kept)) * 2
        kept = f"{kept} {words[low][:room]}".strip()
    return kept
