"""Renders lessons as the few lines for a host: fenced, attributed, one line each, within a hard token budget.

Recalled text is data. A lesson cannot close the fence, open another one or hide characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import Trust
from holdfast.lean.texts import short_id
from holdfast.text.hidden import folded, without_hidden
from holdfast.text.speech import FENCE

POOL = 40
"""Candidates weighed against each other when not all fit; those behind them are not worth the time."""

OPENING, CLOSING = FENCE
INTRODUCTION = "Notes of earlier sessions, quoted as data; the code may have changed."
LINE_TOKENS = 120
"""Most tokens of one lesson's line in a delivery; the rest is a `recall` away."""
REASONED_TOKENS = 80
"""Most tokens of a line that has room for its reason: in a longer one the rule is enough, `holdfast show` has both."""
PATHS_SHOWN = 2
"""Places that a line names."""

_RESERVED = ("holdfast", "system", "reminder", "instruction", "user", "assistant", "human", "tool", "function", "antml",
             "memory", "prompt", "thinking")  # fmt: skip
"""A tag whose name contains one of these words could pass for a host's fence or ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One compiled line and its tokens."""

    text: str
    tokens: int
    is_whole: bool = True
    """It has the whole rule."""


def frame_tokens(more: str = "", checkpoint: str = "", introduction: str = INTRODUCTION) -> int:
    """Return the tokens of a delivery without lessons."""
    return count_tokens(render_block([], more, checkpoint, introduction))


def render_block(lines: Sequence[str], more: str = "", checkpoint: str = "", introduction: str = INTRODUCTION) -> str:
    """Return the fenced text of the checkpoint and the lines."""
    body = [checkpoint] if checkpoint else []
    return "\n".join([OPENING, introduction, *body, *lines, *([more] if more else []), CLOSING])


def add_line(block: str, line: str) -> str:
    """Return the block with one more line before all others; a new block if there was none."""
    head = f"{OPENING}\n{INTRODUCTION}\n"
    return block.replace(head, f"{head}{line}\n", 1) if block.startswith(head) else render_block([line])


def more_line(count: int, hint: str) -> str:
    """Say how to see what was left out; empty when nothing was. `hint` is the command to type."""
    return f"{count} more: {hint}" if count > 0 else ""


def compile_line(
    lesson: Lesson, caveat: str = "", budget: int = LINE_TOKENS, *, places: bool = True, at: datetime | None = None
) -> Line:
    """Return `- [id8] Rule. Why. How. (source, date; where; caveat)` in at most `budget` tokens.

    What to do is left out if the rule says it already, and so is a difference of two texts inside a lesson. With
    `places`, name what it is about. `at` is the present time, for a line with a date; a date of this year has no year.

    The id, the rule, the source and the caveat stay. The reason is left out first, even in a line of more than
    REASONED_TOKENS; then what to do, then the place, then the end of the rule, between words. A place in the rule is
    not named twice. If a part that is left out may contain an exception, the line says where the whole rule is. A rule
    whose cut end contains an exception is not shown in part: its title takes its place.
    """
    head, caveat, source = f"- [{short_id(lesson.id)}] ", clean(caveat), source_word(lesson)
    source = f"{source}, {_date(lesson, at)}" if at is not None else source
    rule, why, how = _sentence(_prose(lesson.insight)), _sentence(_prose(lesson.why)), _sentence(_prose(lesson.how))
    how = "" if _repeats(how, rule) else how
    why = "" if _repeats(why, rule) else why
    named = _where(lesson) if places else []
    where = ", ".join(name for name in named if name not in caveat and name not in rule)
    whole = f"all of it: holdfast show {short_id(lesson.id)}"
    choices = (
        ([*_joined(rule, why), how], [where, caveat], REASONED_TOKENS if why else budget),
        ([rule, how], [where, caveat], budget),
        ([rule], [where, caveat, whole if limits(how) else ""], budget),
        ([rule], [caveat, whole if limits(how) else ""], budget),
    )
    for sentences, notes, most in choices:
        line = _line(head, sentences, [source, *notes])
        cost = count_tokens(line)
        if cost <= min(most, budget):
            return Line(text=line, tokens=cost)
    line, start = _shortened(head, rule, _line("", [], [source, caveat, whole]), budget)
    if limits(rule[start:]):
        title, notes = clean(lesson.title).rstrip("…"), [source, caveat, TITLE_ONLY, whole]
        line, _ = _shortened(head, title, _line("", [], notes), budget)
    return Line(text=line, tokens=count_tokens(line), is_whole=False)


TITLE_ONLY = "only its title"
"""Note of a line that does not contain the rule."""

_LIMITS = frozenset({
    "not", "no", "never", "nor", "none", "cannot", "without", "unless", "except", "excepting", "exception",
    "exceptions", "only", "but", "however", "although", "though", "until", "till", "instead", "longer", "forbidden",
    "prohibited", "disallowed", "banned", "deprecated", "obsolete", "outdated", "old", "formerly", "previously",
    "superseded", "replaced", "wrong", "avoid", "stop", "don't", "doesn't", "won't", "can't", "isn't", "aren't",
    "mustn't", "shouldn't", "dont", "otherwise", "apart", "unlike", "rather", "if", "when", "unsafe", "dangerous",
})  # fmt: skip


def limits(text: str) -> bool:
    """Return whether the text has a negation, an exception or a condition, without which a rule may be reversed."""
    words = text.lower().replace("\u2019", "'").split()
    return any(word.strip('.,;:!?()[]"`*_-…') in _LIMITS for word in words)


def safe_title(lesson: Lesson) -> str:
    """Return the title; of a title that was cut before an exception, the whole rule or a note that it is cut."""
    title = clean(lesson.title)
    if not title.endswith("…") or not limits(lesson.insight):
        return title
    whole = clean(lesson.insight.partition("\n- ")[0])  # further lines are what was merged into it
    return whole if count_tokens(whole) <= LINE_TOKENS else f"{title} ({TITLE_ONLY})"


def _shortened(head: str, rule: str, tail: str, budget: int) -> tuple[str, int]:
    """Return the line with as much of the rule as fits before the tail, and the position in the rule of the rest."""
    room = budget - count_tokens(tail) - 2
    shortened = _cut(head + rule, room)
    while count_tokens(f"{shortened}…{tail}") > budget and room > 1:
        room -= 1  # a word with many signs costs more tokens than its length suggests
        shortened = _cut(head + rule, room)
    return f"{shortened}…{tail}", max(0, len(shortened) - len(head))


def clean(text: str) -> str:
    """Return one line without control and invisible characters and without tags that could pass for a fence."""
    return " ".join(_escape_tags(without_hidden(text)).split())


def _escape_tags(text: str) -> str:
    """Replace `<` of a reserved tag by `&lt;`, even in look-alike letters; code such as `list<int>` stays."""
    plain = folded(text)
    pieces: list[str] = []
    done, at = 0, plain.find("<")
    while at >= 0:
        name = plain[at + 1 : at + 64].lstrip("/ !?").lower().split(">", 1)[0].split(" ", 1)[0]
        if any(word in name for word in _RESERVED):
            pieces += [text[done:at], "&lt;"]
            done = at + 1
        at = plain.find("<", at + 1)
    return "".join([*pieces, text[done:]])


def _sentence(text: str) -> str:
    """Return clean text that ends like a sentence."""
    plain = clean(_change_in_words(text))
    return plain if not plain or plain[-1] in ".!?…。" else plain + "."


def _change_in_words(text: str) -> str:
    """Turn a text of `-` and `+` lines into words for before and after, which stay readable on one line."""
    lines = text.splitlines()
    if (
        not lines
        or not all(line.startswith(("- ", "+ ")) for line in lines)
        or not any(line[0] == "+" for line in lines)
    ):
        return text
    was = "; ".join(line[2:].strip() for line in lines if line[0] == "-")
    now = "; ".join(line[2:].strip() for line in lines if line[0] == "+")
    return f"Before: `{was}`. After: `{now}`" if was else f"Added: `{now}`"


def _prose(text: str) -> str:
    """Return the text up to a difference of two texts; the whole text if it begins with one."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if at and line.startswith(_DIFFERENCE) and "\n".join(lines[:at]).strip():
            return "\n".join(lines[:at])
    return text


_DIFFERENCE = ("diff --git ", "@@ ", "--- a/", "+++ b/", "+\t", "-\t", "+    ", "-    ")
"""Beginnings of the first line of a difference."""


def _joined(rule: str, why: str) -> tuple[str, str]:
    """Return rule and reason for reading: a reason that continues the rule's sentence becomes part of it."""
    first = why.split(" ", 1)[0].lower()
    if first in _GOING_ON and rule.endswith("."):
        return f"{rule[:-1]}{',' if first in ('so', 'since', 'as') else ''} {why[:1].lower()}{why[1:]}", ""
    return rule, why[:1].upper() + why[1:] if why[:1].isalpha() and why.split(" ", 1)[0].islower() else why


_GOING_ON = frozenset({"so", "because", "since", "as"})
REPEATED = 0.85
"""Share of a sentence's words that the rule has, from which it says nothing that the rule does not."""


def _repeats(sentence: str, rule: str) -> bool:
    """Return whether the rule has nearly all words of the sentence."""
    words = _words(sentence)
    return bool(words) and len(words & _words(rule)) >= REPEATED * len(words)


def _words(text: str) -> frozenset[str]:
    words = frozenset(word.strip(".,;:!?()\"'`").lower() for word in text.split())
    return words - {"", "run", "use", "do", "first", "the", "a", "it", "to", "instead", "by"}


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _date(lesson: Lesson, at: datetime) -> str:
    """Return `12 Jan`, with the year unless it is the present one."""
    valid_from = lesson.validity.valid_from
    day = f"{valid_from.day} {_MONTHS[valid_from.month - 1]}"
    return day if at.year == valid_from.year else f"{day} {valid_from.year}"


def _where(lesson: Lesson) -> list[str]:
    """Return the first places it is about, symbols with their file."""
    located = {anchor.symbol for anchor in lesson.anchors if anchor.path}
    places = dict.fromkeys(
        f"{anchor.path}:{anchor.symbol}".strip(":")
        for anchor in lesson.anchors
        if anchor.path or anchor.symbol not in located
    )
    named = [*places, *lesson.globs]
    return [clean(name) for name in named[:PATHS_SHOWN]]


def _line(head: str, sentences: Sequence[str], notes: Sequence[str]) -> str:
    body = head + " ".join(sentence for sentence in sentences if sentence)
    remarks = "; ".join(note for note in notes if note)
    return f"{body} ({remarks})" if remarks else body


def _cut(text: str, budget: int) -> str:
    """Return the longest run of whole words within the budget; at least one character of an endless word."""
    words = text.split(" ")
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(" ".join(words[:middle])) <= budget:
            low = middle
        else:
            high = middle - 1
    shortened = " ".join(words[:low])
    if low <= 2 and low < len(words):  # one endless word: cut inside it
        room = max(1, budget - count_tokens(shortened)) * 2
        shortened = f"{shortened} {words[low][:room]}".strip()
    return shortened


SOURCE_WORDS: dict[Trust, str] = {
    "person": "user", "verified": "proved", "agent": "agent", "repository": "file", "tool": "tool output",
}  # fmt: skip
"""Words for a source: said by a person, proved by exit codes, concluded by an agent, read in a file or tool output."""


GIT_HISTORY = "git_history/"
"""Prefix of the detector of a lesson from a commit; its version follows."""


def source_word(lesson: Lesson) -> str:
    """Return `user`, `proved`, `agent`, `file`, `commit` or `tool output`, with `, unconfirmed` if it is not active.

    `from user` is a lesson that a model worded and whose quote a person typed.
    """
    word = "commit" if is_from_commit(lesson) else SOURCE_WORDS[lesson.trust]
    word = "from user" if lesson.trust == "agent" and lesson.provenance.quotes_person else word
    return word if lesson.state == "active" else f"{word}, unconfirmed"


def is_from_commit(lesson: Lesson) -> bool:
    """Return whether it comes from a commit's message and no person has accepted it."""
    return lesson.trust == "repository" and lesson.provenance.detector.startswith(GIT_HISTORY)


# The token budget: the tokens of a text, and the most valuable choice within the budget (a knapsack)


def fit_budget(costs: Sequence[int], values: Sequence[float], budget: int, limit: int) -> list[int]:
    """Return the positions, ascending, of at most `limit` items that cost at most `budget` and have the most value.

    It is exact (0/1 knapsack over the states that no other beats in cost and value). Costs and values are positive.
    """
    first = list(range(min(len(costs), max(0, limit))))
    if sum(costs[i] for i in first) <= budget and _best_are_first(values, len(first)):
        return first
    nothing: _State = (0, 0.0, ())
    by_count: list[list[_State]] = [[nothing], *([] for _ in range(max(0, limit)))]
    for i in range(min(len(costs), POOL)):
        for count in range(len(by_count) - 1, 0, -1):
            grown = [
                (cost + costs[i], value + values[i], (*taken, i))
                for cost, value, taken in by_count[count - 1]
                if cost + costs[i] <= budget
            ]
            by_count[count] = _undominated(by_count[count] + grown)
    best = max((state for states in by_count for state in states), key=lambda s: (s[1], -s[0]))
    return list(best[2])


_State = tuple[int, float, tuple[int, ...]]


def _best_are_first(values: Sequence[float], count: int) -> bool:
    """Return whether no later item is worth more than one of the first `count`."""
    return count == 0 or max(values[count:], default=0.0) <= min(values[:count])


def _undominated(states: list[_State]) -> list[_State]:
    """Return states in order of cost, each worth more than every cheaper one."""
    best: list[_State] = []
    for state in sorted(states, key=lambda s: (s[0], -s[1])):
        if not best or state[1] > best[-1][1]:
            best.append(state)
    return best


_PUNCTUATION = {i: " " for i in range(128) if not chr(i).isalnum()}
"""A blank for each character of ASCII that is no letter and no digit."""
_SPACES = [chr(i) for i in range(128) if chr(i).isspace()]
"""White space of ASCII, which costs nothing."""


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text in a language model; the estimate is rather too high for English and code.

    A word costs one token for every six characters begun, each mark one, each CJK character one, and other letters
    outside ASCII half a one. A whole text never costs more than its parts together.
    """
    if not text:
        return 0
    wide = 0
    if not text.isascii():
        wide = sum(2 if ord(c) >= 0x2E80 else 1 for c in text if ord(c) > 127)  # in halves of a token
        text = "".join(c if ord(c) < 128 else " " for c in text)
    words = text.translate(_PUNCTUATION).split()
    marks = len(text) - sum(map(len, words)) - sum(map(text.count, _SPACES))
    return sum([(len(word) + 5) // 6 for word in words]) + marks + (wide + 1) // 2
