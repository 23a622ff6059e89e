"""The numbers that reading of text goes by, each at its boundary."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import islice, product

import pytest

from holdfast.compare import claims, contradiction, sameness
from holdfast.detectors import host_memory
from holdfast.detectors._shared import cures, wording
from holdfast.domain.query import Query
from holdfast.recall import enclosing, failure
from holdfast.testing.builders import make_event, make_lesson
from holdfast.text import (
    attempts,
    causes,
    hidden,
    named,
    occasions,
    orders,
    purging,
    searchkeys,
    shell,
    signature,
    speech,
    timespan,
    triggers,
    words,
)
from tests.boundaries import Boundary, each

STEMS = ["".join(sounds) for sounds in islice(product("bdfgkmnprtvz", "aiou", "bdfgkmnpr", "aou", "lmnr"), 400)]
"""Words of no language: none is empty, light, a name or another one's form."""


NOW = datetime(2026, 3, 15, 9, 0, tzinfo=UTC)


def share_of(share: float) -> tuple[int, int]:
    """The two small numbers that a share is the quotient of."""
    fraction = Fraction(share).limit_denominator(20)
    return fraction.numerator, fraction.denominator


def sentence_of(size: int, opening: str = "The deploy fails because the clock is") -> str:
    return f"{opening} {'x' * (size - len(opening) - 1)}"


# attempts


@pytest.mark.parametrize("exit_code", attempts.SIGNALS)
def test_a_run_that_a_signal_ended_is_no_failure(exit_code: int) -> None:
    assert attempts.SIGNALS == (124, 130, 137, 143)
    run = make_event(kind="tool_failure", tool="Bash", command="make test", exit_code=exit_code, text="")
    assert attempts.attempts([run]) == []


@pytest.mark.parametrize("exit_code", [1, 2, 123, 125, 129, 131, 136, 138, 142, 144])
def test_a_run_that_ended_by_itself_is_a_failure(exit_code: int) -> None:
    run = make_event(kind="tool_failure", tool="Bash", command="make test", exit_code=exit_code, text="")
    assert [attempt.passed for attempt in attempts.attempts([run])] == [False]


# causes


def is_cause_read(end: int) -> bool:
    """Whether a cause is read whole that ends at that character."""
    cause = "The deploy fails because the clock is never seeded."
    filler = "word " * 2_000
    text = filler[: end - len(cause) - 1] + "\n" + cause + "\n" + filler
    window = [make_event(text="deploy"), make_event(kind="reply", text=text)]
    stated = causes.stated_cause(window, 0, 2, "deploy fails because clock never seeded")
    return stated is not None and stated[0] == cause


CAUSES = [
    Boundary(causes, "SHORTEST", 40, 39, lambda n: bool(causes.standing(sentence_of(n))), True, False),
    Boundary(causes, "LONGEST", 300, 301, lambda n: bool(causes.standing(sentence_of(n))), True, False),
    Boundary(causes, "READ_LIMIT", 6_000, 6_001, is_cause_read, True, False),
]

# claims, clues, mentions


def is_remembered(texts: int) -> bool:
    """Whether the first of that many texts need not be read again."""
    claims.read_claim.cache_clear()
    first, *_ = [claims.read_claim(f"x{number}") for number in range(texts)]
    is_same = claims.read_claim("x0") is first
    claims.read_claim.cache_clear()
    return is_same


def are_all_clues(number: int, form: str) -> bool:
    clues = named.clues_in(" ".join(form.format(i) for i in range(number)))
    return len(clues.paths) + len(clues.symbols) == number


MENTIONS = [
    Boundary(claims, "READ_KEPT", 4_096, 4_097, is_remembered, True, False),
    Boundary(named, "PATHS", 5, 6, lambda n: are_all_clues(n, "src/{}.py"), True, False),
    Boundary(named, "SYMBOLS", 12, 13, lambda n: are_all_clues(n, "set_clock_{}"), True, False),
    Boundary(
        host_memory, "MOST_SYMBOLS", 8, 9,
        lambda n: len(host_memory.symbols_named(" ".join(f"set_clock_{i}" for i in range(n)))) == n, True, False,
    ),
]  # fmt: skip

# contradiction


def kind_at_likeness(share: float) -> str:
    """How a rule is related to one that says the same in that share of its words."""
    common, every = share_of(share)
    return contradiction.relation(" ".join(STEMS[:every]), " ".join(STEMS[:common])).kind


def kind_at_containment(share: float) -> str:
    """How a rule is related to a longer one that has that share of its words."""
    common, own = share_of(share)
    return contradiction.relation(
        " ".join(STEMS[:own]), " ".join(STEMS[:common] + STEMS[100 : 100 + own])
    ).kind  # fmt: skip


def kind_at_denial(share: float, named: str = "", opening: str = "") -> str:
    """How a denial is related to a rule that affirms what it denies, in that share of its words."""
    common, every = share_of(share)
    if common < 4:
        common, every = 4 * common, 4 * every
    denied = [named, *STEMS[: common - 1]] if named else STEMS[:common]
    affirmed = [*STEMS[200 : 200 + every - common], *denied]
    denial = f"never {' '.join(denied)}. {' '.join(STEMS[300:320])}"
    return contradiction.relation(denial, f"{opening} {' '.join(affirmed)}".strip()).kind


def is_sure_at(likeness: float, ends: bool) -> bool:
    return contradiction.Relation(
        kind="contradicts", slot="polarity", ends=(ends, False), likeness=likeness
    ).is_sure  # fmt: skip


def kind_behind_frame(telling: int, tail: str = "") -> str:
    frame = " ".join(STEMS[:telling])
    return contradiction.relation(f"{frame} is walnut {tail}", f"{frame} is cherry {tail}").kind


def kind_of_values(size: int) -> str:
    frame = "harbour beacon"
    left, right = (f"{frame} is {' '.join(STEMS[start : start + size])}" for start in (0, 100))
    return contradiction.relation(left, right).kind


CONTRADICTIONS = [
    Boundary(contradiction, "ALIKE", 0.8, 7 / 9, kind_at_likeness, "same", "refines"),
    Boundary(contradiction, "CONTAINED", 0.9, 8 / 9, kind_at_containment, "refines", "unrelated"),
    Boundary(contradiction, "SURE", 0.6, 0.599, lambda share: is_sure_at(share, ends=False), True, False),
    Boundary(contradiction, "SURE_END", 0.35, 0.349, lambda share: is_sure_at(share, ends=True), True, False),
    Boundary(contradiction, "HALF", 0.5, 4 / 9, kind_at_denial, "contradicts", "unrelated"),
    Boundary(
        contradiction, "NAMED_SHARE", 0.25, 4 / 17,
        lambda share: kind_at_denial(share, named="set_clock"), "contradicts", "unrelated",
    ),
    Boundary(
        contradiction, "NAMED_TOLD_SHARE", 0.6, 7 / 12,
        lambda share: kind_at_denial(share, named="set_clock", opening="the"), "contradicts", "unrelated",
    ),
    Boundary(contradiction, "FRAME", 2, 1, kind_behind_frame, "contradicts", "unrelated"),
    Boundary(
        contradiction, "FRAME", 2, 1,
        lambda n: kind_behind_frame(n, f"with {STEMS[9]}"), "contradicts", "unrelated",
    ),
    Boundary(contradiction, "LONGEST_VALUE", 3, 4, kind_of_values, "contradicts", "unrelated"),
]  # fmt: skip


# cures


def tried(line: str, text: str = "", exit_code: int = 1, tests: bool = False) -> attempts.Attempt:
    event = make_event(kind="tool_failure", tool="Bash", command=line, text=text, exit_code=exit_code)
    return attempts.Attempt(at=0, event=event, target=line, line=line, passed=exit_code == 0, tests=tests)


def cure_at_status(status: int) -> str:
    """How a command is cured that passes behind another one, had it ended with that status and said nothing."""
    cure = cures.form_cure(tried("tsc build", exit_code=status), tried("npx tsc build", exit_code=0))
    return cure.sort if cure else ""


def cure_with_prefix(count: int) -> str:
    prefix = " ".join(["npx", *STEMS[: count - 1]])
    cure = cures.form_cure(tried("tsc build", exit_code=127), tried(f"{prefix} tsc build", exit_code=0))
    return cure.sort if cure else ""


def is_runner_rule(size: int) -> bool:
    """Whether a rule of that size is told about a form of a test runner's command that runs no tests."""
    wrong = "npm test unit"
    right = "npm test " + "x" * (size - len(f"`npm test ` runs the tests; `{wrong}` runs none"))
    failed, passed = tried(wrong, tests=True), tried(right, text="5 passed in 0.1s", exit_code=0, tests=True)
    cure = cures.form_cure(failed, passed)
    return cure is not None and len(cure.rule) == size


CURES = [
    Boundary(cures, "ABSENT_STATUS", 127, 126, cure_at_status, "absent", ""),
    Boundary(cures, "ABSENT_STATUS", 127, 128, cure_at_status, "absent", ""),
    Boundary(cures, "MOST_WORDS", 4, 5, cure_with_prefix, "absent", ""),
    Boundary(cures, "RULE_LIMIT", 160, 161, is_runner_rule, True, False),
]

# enclosing


def names_begun(lines: int) -> list[str]:
    """What begins that many lines below the first line of a place."""
    return enclosing.definitions_at("a.py", "\n" * lines + "def run():\n    pass\n", 1, 5_000)


def names_around(lines: int) -> list[str]:
    """What a line is in whose head stands that many lines above it."""
    text = "def run():\n" + "    step()\n" * lines
    return enclosing.definitions_at("a.py", text, lines + 1, lines + 1)


def names_below_marks(count: int) -> list[str]:
    return enclosing.definitions_at("a.py", "@mark\n" * count + "def run():\n    pass\n", 1, 1)


ENCLOSING = [
    Boundary(enclosing, "BEGUN", 200, 201, names_begun, ["run"], []),
    Boundary(enclosing, "LINES_UP", 3_000, 3_001, names_around, ["run"], []),
    Boundary(enclosing, "MARKS", 8, 9, names_below_marks, ["run"], []),
]

# failure, cures, occasions, orders


def kind_read(lines: int) -> str:
    """The class of a failure that is named in that line from the end."""
    return failure.read_failure("the peer said connection refused\n" + "then nothing\n" * (lines - 1)).kind


def kind_read_of_long_lines(lines: int) -> str:
    """The class of a failure that begins an output of the characters of that many of the longest lines."""
    first = "connection refused\n"
    return failure.read_failure(first + "x" * (lines * failure.LINE_LIMIT - len(first))).kind


def is_general(size: int) -> bool:
    words_of_ten = "zzzzzzzzz " * 20
    return bool(cures.general_line(f"make {words_of_ten}"[: size - 1] + "z"))


def are_all_general(program: str, count: int) -> bool:
    line = " ".join([program, *STEMS[: count - 1]])
    return cures.general_line(line) == line


def habit_at(number: int) -> str:
    """The habit of a rule whose last telling word is the one of that number."""
    return occasions.habit_of(" ".join(["a failing test", *STEMS[: number - 4], "first"]))


def waits_at(number: int) -> tuple[str, ...]:
    """The commands for which a standing rule waits that names them in its word of that number."""
    insight = " ".join([*STEMS[: number - 1], "commit"])
    return occasions.occasions(make_lesson(insight=insight, trust="person", kind="preference"))


READINGS = [
    Boundary(failure, "TAIL_LINES", 60, 61, kind_read, "connection", ""),
    Boundary(failure, "TAIL_LINES", 60, 61, kind_read_of_long_lines, "connection", ""),
    Boundary(cures, "LINE_LIMIT", 120, 121, is_general, True, False),
    Boundary(cures, "_GIT_DEPTH", 2, 3, lambda n: are_all_general("git", n), True, False),
    Boundary(cures, "_GH_DEPTH", 3, 4, lambda n: are_all_general("gh", n), True, False),
    Boundary(occasions, "_HABIT_WORDS", 24, 25, habit_at, "failing test first", ""),
    Boundary(occasions, "_HABIT_WORDS", 24, 25, waits_at, ("commit",), ("standing",)),
    Boundary(
        orders, "LONG_NAME", 4, 3,
        lambda n: orders.is_order("_".join(["test", "always", *STEMS[: n - 1]])), True, False,
    ),
]  # fmt: skip

# purging, sameness


def is_purged(size: int) -> bool:
    """Whether a rule of that size is taken out of what others say."""
    rule = ("Seed the clock first." * 2)[: size - 1] + "."
    return purging.PURGED in purging.Purging([make_lesson(insight=rule)]).checkpoint({"note": f"We {rule}"})["note"]


def is_beginning_purged(size: int) -> bool:
    """Whether a note is taken out that is the beginning of a rule, in that many characters."""
    rule = "Seed the clock before login tests."
    return purging.Purging([make_lesson(insight=rule)]).mention({"note": rule[:size]}, "note")["note"] == "[purged]"


def is_pair_found(rank: int) -> bool:
    """Whether two rules are compared when their rarest common word is the longer one's word of that rank."""
    lessons = [make_lesson(insight=" ".join(STEMS[:count])) for count in (10, 10 + rank - 1)]
    return any(sameness.find_pairs(lessons))


def is_found_behind(others: int) -> bool:
    """Whether a rule is compared with the same one that far back among rules of the same words."""
    lessons = [make_lesson(insight=" ".join(STEMS[:5])) for _ in range(others + 1)]
    return (lessons[0], lessons[-1]) in list(sameness.find_pairs(lessons))


def are_same(share: float) -> bool:
    shorter, longer = share_of(share)
    return sameness.same(" ".join(STEMS[:shorter]), " ".join(STEMS[:longer]))


def are_opposed(share: float) -> bool:
    common, size = share_of(share)
    denied, own = " ".join(STEMS[:size]), " ".join(STEMS[:common] + STEMS[100 : 100 + size - common])
    return sameness.opposed(f"never {denied}", own)


COMPARISONS = [
    Boundary(purging, "SHORTEST_SENTENCE", 12, 11, is_purged, True, False),
    Boundary(purging, "SHORTEST_SENTENCE", 12, 11, is_beginning_purged, True, False),
    Boundary(sameness, "RAREST", 3, 4, is_pair_found, True, False),
    Boundary(sameness, "CROWD", 60, 61, is_found_behind, True, False),
    Boundary(sameness, "SHORTEST", 0.7, 2 / 3, are_same, True, False),
    Boundary(sameness, "OVERLAP", 0.6, 4 / 7, are_opposed, True, False),
]

# searchkeys, shell, signature


def tokens_kept(count: int) -> bool:
    names = [f"set_clock_{number}" for number in range(count)]
    return searchkeys.asked_tokens(Query(text=" ".join(names)))[-1:] == names[-1:]


def terms_kept(count: int) -> bool:
    return len(searchkeys.asked_terms(" ".join(STEMS[:count]))) == count


def is_program_read(end: int) -> str:
    """What is run by a command whose name ends at that character of the line."""
    return shell.parse_command(f"cd {'x' * (end - 11)} && make")


def are_targets_kept(count: int, program: str) -> bool:
    line = " ".join([program, *STEMS[:count]])
    return shell.parse_command(line) == line


LINE = "ValueError: bad harbour"


def signature_in_head(end: int) -> str:
    """The signature of an output in which the error's line ends at that character, and much follows."""
    return signature.error_signature("x" * (end - len(LINE) - 1) + "\n" + LINE + "\n" + "fine\n" * 9_000)


def signature_in_tail(size: int) -> str:
    """The signature of an output whose last characters of that number begin with the error's line."""
    return signature.error_signature("fine\n" * 9_000 + LINE + "\n" + "x" * (size - len(LINE) - 1))


def signature_at_cut(size: int) -> str:
    """The signature of an output of that size whose error stands where a longer one is cut."""
    text = "x" * 7_994 + "\n" + LINE + "\n"
    return signature.error_signature(text + "y" * (size - len(text)))


def are_alike(share: float) -> bool:
    common, every = share_of(share)
    every_word = STEMS[: every - 1]
    return signature.alike(*(" ".join(["Error:", *some]) for some in (every_word, every_word[: common - 1])))


SEARCHES = [
    Boundary(searchkeys, "ASKED_LIMIT", 64, 65, tokens_kept, True, False),
    Boundary(searchkeys, "ASKED_LIMIT", 64, 65, lambda n: terms_kept(2 * n), True, False),
    Boundary(searchkeys, "TEXT_LIMIT", 8_000, 8_001, lambda n: searchkeys.shorten("x" * n) == "x" * n, True, False),
    Boundary(searchkeys, "SYMBOL_LIMIT", 24, 25, lambda n: len(searchkeys.asked_names(STEMS[:n])) == n, True, False),
    Boundary(shell, "COMMAND_LIMIT", 4_000, 4_001, is_program_read, "make", "mak"),
    Boundary(
        shell, "COMMAND_LIMIT", 4_000, 4_001,
        lambda n: shell.simple_commands(f"cd {'x' * (n - 11)} && make")[-1], ["make"], ["mak"],
    ),
    Boundary(shell, "TARGET_LIMIT", 200, 201, lambda n: len(shell.parse_command("x" * n)) == n, True, False),
    Boundary(shell, "TARGETS", 4, 5, lambda n: are_targets_kept(n, "pytest"), True, False),
    Boundary(shell, "TARGETS", 4, 5, lambda n: are_targets_kept(n + 1, "make"), True, False),
    Boundary(signature, "HEAD_LIMIT", 8_000, 8_001, signature_in_head, LINE, "ValueError: bad harbou"),
    Boundary(signature, "TAIL_LIMIT", 24_000, 24_001, signature_in_tail, LINE, ""),
    Boundary(signature, "ALIKE", 0.6, 4 / 7, are_alike, True, False),
]  # fmt: skip


def test_of_a_long_text_both_ends_are_looked_at() -> None:
    text = "x" * 5_000 + "y" * 5_000
    assert searchkeys.shorten(text) == f"{'x' * 4_000} {'y' * 4_000}"


def test_an_output_is_read_whole_up_to_head_and_tail_together() -> None:
    size = signature.HEAD_LIMIT + signature.TAIL_LIMIT
    assert size == 32_000
    assert signature_at_cut(size) == LINE
    assert signature_at_cut(size + 1) != LINE


# speech, triggers, wording


def is_tag_masked(size: int) -> bool:
    """Whether an opening tag is one that has that many characters behind its name."""
    return "secret" not in speech.own_words(f"I say <note {'x' * (size - 2)}>secret</note>")


def is_end_masked(size: int) -> bool:
    """Whether a closing tag is one that has that many characters behind its name."""
    return "secret" not in speech.own_words(f"I say <note>secret</note{' ' * (size - 1)}>")


def are_triggers_kept(count: int, form: str, name: str) -> bool:
    insight = " ".join(form.format(stem) for stem in STEMS[:count])
    return len(getattr(triggers.derive_triggers("convention", "person", insight), name)) == count


def literals_of(piece: str) -> tuple[str, ...]:
    return triggers.derive_triggers("convention", "person", f"Never write {piece}.").literals


def is_with_before(before: int) -> bool:
    """Whether a sentence that leans stands with one before it of that length."""
    return bool(wording.stand_alone("It drifts otherwise.", sentence_of(before - 1, "We seed the clock") + ".").text)


def stands_with(size: int) -> bool:
    """Whether two sentences stand together that have that many characters."""
    before = sentence_of(149, "We seed the clock") + "."
    return bool(wording.stand_alone(sentence_of(size - len(before), "It drifts"), before).text)


def stands_by_clause(size: int) -> bool:
    """Whether the main clause of that size stands for a sentence that leans."""
    return bool(wording.stand_alone("It drifts, so " + sentence_of(size, "always seed")).text)


def leans_at(number: int) -> bool:
    """Whether a sentence leans on another one whose pronoun is its word of that number."""
    return not wording.stand_alone(" ".join([*STEMS[: number - 1], "it breaks midnight"])).text


SPEECHES = [
    Boundary(speech, "TAG_LIMIT", 2_000, 2_001, is_tag_masked, True, False),
    Boundary(speech, "TAG_LIMIT", 2_000, 2_001, is_end_masked, True, False),
    Boundary(triggers, "LITERALS", 6, 7, lambda n: are_triggers_kept(n, "Never call `{}()`.", "literals"), True, False),
    Boundary(triggers, "COMMANDS", 6, 7, lambda n: are_triggers_kept(n, "Run `make {}`.", "commands"), True, False),
    Boundary(triggers, "LEAST", 4, 3, lambda n: bool(literals_of(f"`{'x' * (n - 1)}=`")), True, False),
    Boundary(triggers, "LEAST", 4, 3, lambda n: bool(literals_of(f'"{"X" * n}"')), True, False),
    Boundary(triggers, "LEAST", 4, 3, lambda n: bool(literals_of(f"--{'x' * (n - 1)}")), True, False),
    Boundary(triggers, "MOST", 60, 61, lambda n: bool(literals_of(f"`{'x' * (n - 1)}=`")), True, False),
    Boundary(triggers, "MOST", 60, 61, lambda n: bool(literals_of(f'"{"X" * n}"')), True, False),
    Boundary(
        triggers, "WORDS_OF_A_COMMAND", 4, 5,
        lambda n: len(triggers.beginning_of(" ".join(["git", *STEMS[: n - 1]])).split()) == n, True, False,
    ),
    Boundary(wording, "BEFORE_LENGTH", 200, 201, is_with_before, True, False),
    Boundary(wording, "CLAUSE_LEAST", 20, 19, stands_by_clause, True, False),
    Boundary(wording, "EARLY", 5, 6, leans_at, True, False),
    Boundary(wording, "LENGTH", 300, 299, stands_with, False, True),
]  # fmt: skip


@each([
    *CAUSES, *MENTIONS, *CONTRADICTIONS, *CURES, *ENCLOSING, *READINGS, *COMPARISONS, *SEARCHES, *SPEECHES,
])  # fmt: skip
def test_a_number_decides_where_it_says(boundary: Boundary) -> None:
    boundary.check()


# Tables


@pytest.mark.parametrize("code", [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180F, 0x2800, 0x3164, 0xFFA0])
def test_letters_and_marks_that_show_nothing_are_hidden(code: int) -> None:
    assert chr(code) in hidden._INVISIBLE
    assert hidden.is_hidden(chr(code))
    assert not hidden.is_hidden(chr(code + 1)) or chr(code + 1) in hidden._INVISIBLE or code == 0x180F


def test_the_variation_selectors_are_hidden_and_nothing_beside_them() -> None:
    assert [code for code in range(0xFDF0, 0xFE20) if hidden.is_hidden(chr(code))] == [*range(0xFE00, 0xFE10)]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("January", 1), ("Feb", 2), ("March", 3), ("Apr", 4), ("May", 5), ("June", 6), ("Jul", 7), ("August", 8),
        ("Sept", 9), ("October", 10), ("Nov", 11), ("December", 12),
    ],
)  # fmt: skip
def test_a_month_is_known_by_its_name(name: str, number: int) -> None:
    """By the table `timespan.MONTHS`."""
    begun, ended = timespan.span_in(f"what broke in {name} 2024?", NOW) or (None, None)
    assert begun == datetime(2024, number, 1, tzinfo=UTC)
    assert ended == datetime(2024 + number // 12, number % 12 + 1, 1, tzinfo=UTC)
    assert {timespan.MONTHS[word] for word in (name.lower(), name[:3].lower())} == {number}


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("a", 1), ("an", 1), ("one", 1), ("two", 2), ("three", 3), ("four", 4), ("five", 5), ("six", 6), ("couple", 2),
        ("few", 4),
    ],
)  # fmt: skip
def test_a_number_is_known_by_its_word(word: str, number: int) -> None:
    assert word in timespan._NUMBERS
    assert timespan.span_in(f"what broke {word} days ago?", NOW) == (
        NOW - timedelta(days=number + 1), NOW - timedelta(days=number - 1)
    )  # fmt: skip


def test_each_number_word_is_tried() -> None:
    assert set(timespan._NUMBERS) == {"a", "an", "one", "two", "three", "four", "five", "six", "couple", "few"}


@pytest.mark.parametrize(("unit", "days"), [("hour", 1 / 24), ("day", 1), ("week", 7), ("month", 30), ("year", 365)])
def test_a_unit_of_time_has_its_days(unit: str, days: float) -> None:
    assert unit in timespan._UNITS
    size = timedelta(days=days)
    assert timespan.span_in(f"what broke 3 {unit}s ago?", NOW) == (NOW - 4 * size, NOW - 2 * size)


@pytest.mark.parametrize(
    "code",
    [0x0591, 0x05BD, 0x05BF, 0x05C1, 0x05C2, 0x05C4, 0x05C5, 0x05C7, 0x0640, 0x064B, 0x0652, 0x0670, 0xFE00, 0xFE0F],
)
def test_vowel_signs_and_stretching_make_no_other_word(code: int) -> None:
    """By the table `words._SIGNS`."""
    assert words.terms(f"\u05e9\u05dc{chr(code)}\u05d5\u05dd") == words.terms("\u05e9\u05dc\u05d5\u05dd")


@pytest.mark.parametrize(
    "code",
    [0x0590, 0x05BE, 0x05C0, 0x05C3, 0x05C6, 0x05C8, 0x063F, 0x0641, 0x064A, 0x0653, 0x066F, 0x0671, 0xFDFF, 0xFE10],
)
def test_what_stands_beside_the_signs_is_no_sign(code: int) -> None:
    assert words.terms(f"\u05e9\u05dc{chr(code)}\u05d5\u05dd") != words.terms("\u05e9\u05dc\u05d5\u05dd")
