"""The numbers that detectors go by, each at its boundary."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, product
from typing import Any

from holdfast import plugins
from holdfast.detectors import (
    correction,
    explicit,
    host_memory,
)
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.testing.builders import make_event
from tests.boundaries import Boundary, each

STEMS = ["".join(sounds) for sounds in islice(product("bdfgkmnprtvz", "aiou", "bdfgkmnpr", "aou", "lmnr"), 900)]
"""Words of no language."""


def find(detector: str, *events: Event) -> list[Candidate]:
    return plugins.load("detectors", detector).detect(events)


def event(kind: str, text: str = "", **fields: Any) -> Event:
    trust = fields.pop("trust", "person" if kind == "prompt" else "tool")
    return make_event(kind=kind, text=text, trust=trust, **fields)


def ran(command: str, text: str = "", exit_code: int = 0) -> Event:
    kind = "tool_failure" if exit_code else "tool_result"
    return event(kind, text, tool="Bash", command=command, exit_code=exit_code)


def edited(file: str, old: str = "return 1", new: str = "return 2", tool: str = "Edit") -> Event:
    return event("file_edit", tool=tool, files=(file,), old=old, new=new)


def idle(count: int) -> list[Event]:
    """Events that mean nothing to any detector."""
    return [event("tool_result", "fine", tool="Read", files=("notes.md",)) for _ in range(count)]


def statement(number: int) -> str:
    """A statement with a reason that shares few words with those of other numbers."""
    first, *rest = STEMS[number * 9 : number * 9 + 9]
    last = f"{rest[6]} {rest[7]} breaks at {rest[7]}{rest[6]}"
    return f"{first.capitalize()} {' '.join(rest[:5])} must never {rest[5]} because {last}."


def statements(count: int, first: int = 0) -> list[str]:
    return [statement(number) for number in range(first, first + count)]


def words_of(size: int) -> str:
    """Seven words and more in that many characters."""
    return ("the beacon near this harbour was lit " + "seed " * 200)[: size - 1] + "x"


# Written texts


def last_piece_read(end: int) -> str:
    return host_memory.read_pieces("x" * (end - 12) + "\n\nalpha beta")[-1].text


def heading_read(size: int) -> bool:
    return len(host_memory.read_pieces(f"# {'x' * (size - 2)}\n\nalpha beta")[0].above[0]) == size - 2


def quoted(size: int) -> bool:
    return len(host_memory.evidence_of(event("reply"), "x" * 900, 0, size).quote) == size


def are_alike(share: float) -> bool:
    fraction = Fraction(share).limit_denominator(20)
    own = STEMS[100 : 100 + fraction.denominator - fraction.numerator]
    every = STEMS[: fraction.denominator]
    return host_memory.alike(" ".join(every), " ".join([*every[: fraction.numerator], *own]))


WRITING = [
    Boundary(host_memory, "READ_LIMIT", 16_000, 16_001, last_piece_read, "alpha beta", "alpha bet"),
    Boundary(host_memory, "HEADING_LIMIT", 300, 301, heading_read, True, False),
    Boundary(host_memory, "SHORTEST", 40, 39, lambda n: host_memory.is_whole(words_of(n)), True, False),
    Boundary(host_memory, "LONGEST", 420, 421, lambda n: host_memory.is_whole(words_of(n)), True, False),
    Boundary(host_memory, "LEAST_WORDS", 7, 6, lambda n: host_memory.is_whole("harbour " * n), True, False),
    Boundary(host_memory, "QUOTE_LIMIT", 400, 401, quoted, True, False),
    Boundary(host_memory, "ALIKE", 0.7, 2 / 3, are_alike, True, False),
]


# Texts that agents write


def memorised(*counts: int) -> int:
    texts = statements(sum(counts))
    events = [
        event("tool_result", "save_memory\n" + "\n\n".join(texts.pop() for _ in range(count)), tool="memory")
        for count in counts
    ]
    return len(find("host_memory", *events))


TEXTS = [
    Boundary(host_memory, "MOST", 4, 5, lambda n: memorised(n) == n, True, False),
    Boundary(host_memory, "MOST_PER_SESSION", 12, 13, lambda n: memorised(3, 3, 3, n - 11, 2) == n, True, False),
]


def test_what_an_agent_saved_is_worth_confirming() -> None:
    (fact,) = find("host_memory", event("tool_result", f"save_memory\n{statement(0)}", tool="memory"))
    assert fact.confidence == host_memory.CONFIDENCE == 0.7


# What people say


def corrected(prompt: str) -> int:
    return len(find("correction", event("prompt", "commit it"), ran("git commit -am wip"), event("prompt", prompt)))


RULE = "never commit to main directly in this repo"


def corrected_in_sentence(number: int) -> int:
    return corrected("The harbour is dark. " * (number - 1) + f"No, {RULE}.")


EXTRA = "The beacon stays lit. "


def asked_for(prompt: str, *before: Event) -> list[Candidate]:
    return find("explicit", *before, event("prompt", prompt))


def padded(size: int) -> str:
    """A prompt of that many characters with a rule in it."""
    text = "From now on run `make fmt` before every commit. "
    return text + (EXTRA * 200)[: size - len(text) - 1] + "x"


def standing_in(size: int) -> int:
    text = "Always run `make fmt` before every commit. "
    return len(asked_for(text + (EXTRA * 200)[: size - len(text) - 1] + "x"))


def rule_of(size: int) -> str:
    return ("run `make fmt` before every commit of the harbour " + "and also the beacon " * 60)[: size - 1] + "x"


def with_exception(size: int) -> int:
    """How many rules are found whose text has that many characters with its exception."""
    exception = "Except on Fridays."
    return len(asked_for(f"From now on {rule_of(size - len(exception) - 1)}. {exception}"))


def turn_files(count: int) -> int:
    edits = [edited(f"src/{number}.py") for number in range(count)]
    names = " ".join(f"{number}.py" for number in range(count))
    return len(asked_for(f"From now on run `make fmt` before every commit of {names}", *edits)[0].files)


SPOKEN = [
    Boundary(
        correction, "PROMPT_LIMIT", 1_500, 1_501,
        lambda n: corrected((f"No, {RULE}. " + EXTRA * 90)[: n - 1] + "x"), 1, 0,
    ),
    Boundary(correction, "LINE_LIMIT", 14, 15, lambda n: corrected(f"No, {RULE}." + "\nand so on" * n), 1, 0),
    Boundary(correction, "LOOKED_AT", 4, 5, corrected_in_sentence, 1, 0),
    Boundary(
        correction, "SENTENCE_LIMIT", 280, 281,
        lambda n: corrected((f"No, {RULE} " + "or its harbour branch " * 20)[: n - 1] + "x"), 1, 0,
    ),
    Boundary(correction, "LEAST_TERMS", 3, 2, lambda n: corrected("No, never " + " ".join(STEMS[: n - 1])), 1, 0),
    Boundary(explicit, "PROMPT_LIMIT", 2_500, 2_501, lambda n: len(asked_for(padded(n))), 1, 0),
    Boundary(explicit, "STANDING_LIMIT", 400, 401, standing_in, 1, 0),
    Boundary(explicit, "RULE_LIMIT", 500, 501, lambda n: len(asked_for(f"From now on {rule_of(n)}")), 1, 0),
    Boundary(explicit, "RULE_LIMIT", 500, 501, with_exception, 1, 0),
    Boundary(
        explicit, "LEAST_TERMS", 2, 1, lambda n: len(asked_for(f"From now on {' '.join(STEMS[:n])}")), 1, 0
    ),
    Boundary(explicit, "TURN_FILES", 3, 4, lambda n: turn_files(n) == n, True, False),
]  # fmt: skip


def test_a_form_that_is_also_used_for_the_task_counts_where_its_words_state_a_fact_or_a_duty() -> None:
    assert not asked_for("keep in mind: the beacon of this project is lit before sunset")
    assert asked_for("keep in mind: the beacon token expires after 30 minutes")
    assert asked_for("keep in mind: the beacon must never be dark")


@each([*WRITING, *TEXTS, *SPOKEN])
def test_a_number_decides_where_it_says(boundary: Boundary) -> None:
    boundary.check()
