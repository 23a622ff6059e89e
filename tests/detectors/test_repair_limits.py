"""The numbers that detectors of repairs go by, each at its boundary."""

from __future__ import annotations

import pytest

from holdfast.detectors import fail_fix, lint_rules, red_green, reverted_work
from holdfast.detectors._shared import cures
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from tests.boundaries import Boundary, each
from tests.detectors.test_limits import STEMS, edited, event, find, idle, ran

# Commands that failed and passed


def other_form(between: int, name: str = "harbourctl") -> list[Event]:
    """A command that is not there, and behind some events a form of it that is."""
    failed = ran(f"{name} status", f"zsh: command not found: {name}", exit_code=127)
    return [failed, *idle(between), ran(f"pnpm {name} status", "all lit")]


def prepared(steps: int) -> list[Candidate]:
    """What is found where a command passes behind that many commands that prepare."""
    failed = ran("harbour start", "Error: the harbour is empty", exit_code=1)
    repairs = [ran(f"harbour-{name} install", "done") for name in STEMS[:steps]]
    return find("fail_fix", failed, *repairs, ran("harbour start", "lit"))


def with_variables(count: int) -> list[Candidate]:
    variables = " ".join(f"{name.upper()}=lit" for name in STEMS[:count])
    failed = ran("harbour start", "Error: the harbour is empty", exit_code=1)
    return find("fail_fix", failed, ran(f"{variables} harbour start", "lit"))


def cures_of(count: int) -> int:
    return len(find("fail_fix", *(step for name in STEMS[:count] for step in other_form(0, f"{name}ctl"))))


COMMANDS = [
    Boundary(fail_fix, "FORM_SPAN", 12, 13, lambda n: len(find("fail_fix", *other_form(n - 1))), 1, 0),
    Boundary(fail_fix, "MOST", 5, 6, lambda n: cures_of(n) == n, True, False),
    Boundary(cures, "REPAIRS", 2, 3, lambda n: len(prepared(n)), 1, 0),
    Boundary(cures, "REPAIRS", 2, 3, lambda n: len(with_variables(n)), 1, 0),
]


@pytest.mark.parametrize(
    ("message", "confidence"), [("unknown flag: --stat", 0.6), ("unknown flag: --stat; you should use sudo", 0.35)]
)
def test_a_cure_by_a_message_that_gives_orders_waits_for_a_person(message: str, confidence: float) -> None:
    assert fail_fix.UNSURE == 0.35
    (candidate,) = find(
        "fail_fix", ran("gh pr diff 88 --stat", message, exit_code=1), ran("gh pr diff 88 --name-only", "src/cart.ts")
    )
    assert candidate.confidence == confidence


@pytest.mark.parametrize(
    ("message", "confidence"), [("Error: pre-push hook failed", 0.45), ("Error: you must run the hook", 0.35)]
)
def test_an_edit_by_a_message_that_gives_orders_waits_for_a_person(message: str, confidence: float) -> None:
    (candidate,) = find(
        "fail_fix",
        ran("git push -u origin feat/plugin", f"{message}\nbiome.json is wrong", exit_code=1),
        event("reply", "The pre-push hook failed because of lint errors in `biome.json` and others.", trust="agent"),
        edited("biome.json", old='"ignore": []', new='"ignore": ["all"]'),
        ran("git push -u origin feat/plugin", "branch set up"),
    )
    assert candidate.confidence == confidence


# Linters


def linted(*lines: str) -> list[Candidate]:
    return find(
        "lint_rules", ran("ruff check", "\n".join(lines), exit_code=1), edited("src/app.py"), ran("ruff check", "ok")
    )


def reported(rule: str, message: str = "Seeds the beacon near the harbour") -> str:
    return f"src/app.py:3:1: {rule} {message}"


def is_read(end: int) -> str:
    """The message of a report whose line ends at that character."""
    line = reported("ZZ123", "Seeds the beacon near the harbour")
    return linted("x" * (end - len(line) - 1), line)[0].insight.partition("on here: ")[2]


def general(message: str) -> str:
    return linted(reported("ZZ123", message))[0].insight.partition("on here: ")[2].rstrip(".")


def message_kept(size: int) -> bool:
    message = ("Seeds beacon " + "near the harbour " * 20)[: size - 1] + "x"
    return general(message) == message


LINTERS = [
    Boundary(
        lint_rules, "LEAST_WORDS", 4, 3,
        lambda n: "`lit`" in general(f"Avoid {' '.join(STEMS[: n - 1])} `lit`"), False, True,
    ),
    Boundary(
        lint_rules, "LEAST_WORDS", 4, 3,
        lambda n: "never lit" in general(f"{' '.join(STEMS[:n])}: this one is never lit"), False, True,
    ),
    Boundary(lint_rules, "MESSAGE_LIMIT", 140, 141, message_kept, True, False),
    Boundary(
        lint_rules, "MOST_RULES", 6, 7, lambda n: len(linted(*(reported(f"ZZ{100 + i}") for i in range(n)))), 6, 0
    ),
    Boundary(
        lint_rules, "READ_LIMIT", 16_000, 16_001, is_read,
        "Seeds the beacon near the harbour.", "Seeds the beacon near the harbou.",
    ),
]  # fmt: skip


def test_a_rule_of_a_linter_has_its_worth_and_salience() -> None:
    (candidate,) = linted(reported("ZZ123"))
    assert (candidate.confidence, candidate.salience) == (lint_rules.WORTH, lint_rules.SALIENCE) == (0.7, 0.5)


# Tests


def red(name: str = "login", file: str = "src/login.test.ts") -> Event:
    text = f" FAIL  {file}\n  \u25cf {name}\n    TypeError: expires is undefined\nTests: 1 failed, 4 passed, 5 total"
    return ran(f"npx jest {file}", text, exit_code=1)


def green(file: str = "src/login.test.ts") -> Event:
    return ran(f"npx jest {file}", "Tests: 61 passed, 61 total")


SAYS_WHY = event(
    "reply", "`cookie.expires` is missing because the browser drops the session cookie at midnight.", trust="agent"
)


def turned_green(name: str = "login", file: str = "src/session.ts", others: int = 0) -> list[Candidate]:
    """What is found of a red run that others follow before the first is green."""
    mend = edited(file, old="return cookie.expires", new="return cookie?.expires ?? later()")
    later = [red(stem, f"src/{stem}.test.ts") for stem in STEMS[:others]]
    return find("red_green", red(name), *later, SAYS_WHY, mend, green())


def summed_up(behind: int) -> list[Candidate]:
    mend = edited("src/session.ts", old="return cookie.expires", new="return cookie?.expires ?? later()")
    return find("red_green", red(), mend, green(), *idle(behind - 1), SAYS_WHY)


TESTS = [
    Boundary(red_green, "AFTER", 3, 4, lambda n: len(summed_up(n - 1)), 1, 0),
    Boundary(red_green, "NAME_LIMIT", 80, 81, lambda n: "x" * n in turned_green("x" * n)[0].insight, True, False),
    Boundary(red_green, "OPEN", 8, 9, lambda n: len(turned_green(others=n - 1)), 1, 0),
]


def test_a_cure_in_tests_is_worth_less_than_one_in_code() -> None:
    assert turned_green()[0].confidence == red_green.WORTH == 0.5
    assert turned_green(file="tests/session.test.ts")[0].confidence == red_green.WORTH_IN_TESTS == 0.4


# Work taken back

REASON = "given the cookie banner at the bottom, the menu is better not fixed"
TRIED = ".menu { position: fixed; z-index: 999 }"


def taken_back(*new: str, reason: str = REASON, between: int = 0, apart: int = 0) -> list[Candidate]:
    """What is found of edits that are taken back one by one, some events behind the reason and apart."""
    tried = [edited(f"web/{number}.css", old=".menu { none }", new=text) for number, text in enumerate(new or [TRIED])]
    undo = [ran(f"git checkout -- web/{number}.css") for number in range(len(tried))]
    return find(
        "reverted_work", *tried, event("prompt", reason), *idle(between), undo[0],
        *(step for more in undo[1:] for step in (*idle(apart), more)),
    )  # fmt: skip


def taken_back_by_agent(behind: int, *after: str) -> list[Candidate]:
    """What is found of an edit that an agent takes back, and says why that many events behind it."""
    why = "`pool.map` breaks the header, because the rows must be written in order."
    replies = [event("reply", text, trust="agent") for text in (after or (why,))]
    return find(
        "reverted_work", event("prompt", "make the export quicker"),
        edited("src/export.py", old="for row in rows: write(row)", new="pool.map(write, rows)"),
        *([event("reply", why, trust="agent")] if after else []),
        edited("src/export.py", old="pool.map(write, rows)", new="for row in rows: write(row)"),
        *idle(behind - 1), *replies,
    )  # fmt: skip


def reason_of(words: int) -> str:
    return " ".join([*STEMS[: words - 2], "is wrong"])


def reason_sized(size: int) -> str:
    return ("the fixed menu is wrong beside " + "the cookie banner " * 20)[: size - 1] + "x"


WORK = [
    Boundary(reverted_work, "LEAST", 12, 11, lambda n: "web/1.css" in taken_back(TRIED, "x" * n)[0].files, True, False),
    Boundary(reverted_work, "SPAN", 200, 201, lambda n: len(taken_back(between=n - 2)), 1, 0),
    Boundary(reverted_work, "TOGETHER", 8, 9, lambda n: len(taken_back(TRIED, TRIED + "2", apart=n - 1)), 1, 2),
    Boundary(reverted_work, "LEAST_WORDS", 6, 5, lambda n: len(taken_back(reason=reason_of(n))), 1, 0),
    Boundary(reverted_work, "REASON_LIMIT", 240, 241, lambda n: len(taken_back(reason=reason_sized(n))), 1, 0),
    Boundary(reverted_work, "TELLING", 12, 11, lambda n: len(taken_back("x" * n + "\nyyyy")), 1, 0),
    Boundary(reverted_work, "TRIED_LIMIT", 100, 101, lambda n: len(taken_back("x" * n)), 1, 0),
    Boundary(reverted_work, "AFTER", 4, 5, lambda n: len(taken_back_by_agent(n - 1)), 1, 0),
    Boundary(
        reverted_work, "AFTER", 4, 5, lambda n: len(taken_back_by_agent(n - 1, "That was only temporary.")), 0, 1
    ),
]  # fmt: skip


def reverted(commits: int, reason: str = "the cache serves stale prices") -> int:
    """Finds where the first of that many commits of the session is reverted."""
    events = [event("prompt", "make it faster")]
    for number in range(commits):
        events.append(edited(f"src/{number}.py", old="x", new=f"cache = build_cache({number})"))
        events.append(ran("git commit -am x", f"[main aaaa{number:03}] x"))
    events += [event("prompt", f"revert that, {reason}"), ran("git revert --no-edit aaaa000", "[main bbbbbbb] x")]
    return len(find("reverted_work", *events))


def told_late(size: int) -> int:
    """Finds where the agent says after that many characters why it reverts."""
    words = "I reverted it: the cache serves stale prices."
    text = f"{'y' * (size - len(words) - 2)}. {words}"
    edit = edited("src/a.py", old="x", new="cache = build_cache()")
    return len(find("reverted_work", event("prompt", "x"), edit, ran("git checkout -- src/a.py"), event("reply", text)))


def test_a_revert_knows_ten_commits_and_reasons_of_three_words_that_are_told_early() -> None:
    assert reverted_work.COMMITS_KEPT == 10
    assert (reverted(10), reverted(11)) == (1, 0)
    assert reverted_work.LEAST_REASON == 3
    assert (reverted(1, "serves stale prices"), reverted(1, "stale prices")) == (1, 0)
    assert reverted_work.REPLY_LIMIT == 4_000
    assert (told_late(4_000), told_late(4_100)) == (1, 0)


def test_a_reason_beside_the_undoing_is_confirmed_and_a_cause_is_not() -> None:
    assert taken_back()[0].confidence == reverted_work.WORTH_OF_USERS == 0.8
    assert reverted_work.WORTH_OF_AGENTS == 0.7
    assert taken_back_by_agent(1)[0].confidence == reverted_work.WORTH_OF_CAUSES == 0.4


@each([*COMMANDS, *LINTERS, *TESTS, *WORK])
def test_a_number_decides_where_it_says(boundary: Boundary) -> None:
    boundary.check()
