"""What is told before a file: triggers, lessons about the file, linters' cards, and the reasons."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Triggers
from holdfast.domain.query import Query
from holdfast.recall.moments.files import matched, matched_place
from holdfast.testing.builders import PROJECT, START, make_lesson
from tests.recall.test_moments import ERRCHECK, WRAPCHECK, deliver, edit, keep, shown
from tests.recall.test_turn import told_before

LINTING = {"kind": "tooling", "trust": "verified"}
GO = Triggers(paths=("**/*.go",))


@pytest.mark.parametrize(
    ("lesson", "query", "old", "trigger"),
    [
        ({"when": Triggers(literals=("open(", "close("))}, {"code": "x = close(y)"}, "", "close("),
        ({"when": Triggers(literals=("open(", "close("))}, {"code": "open(y); close(y)"}, "open(z)", "close("),
        ({"when": Triggers(literals=("open(",))}, {"code": "open(y)"}, "open(z)", ""),
        ({"when": Triggers(commands=("gh pr", "git push"))}, {"command": "cd x && git push -f"}, "", "git push"),
        ({"when": Triggers(commands=("git push",))}, {"command": "git pull"}, "", ""),
        ({"globs": ("src/*.py", "docs/**")}, {"paths": ("docs/a/b.md",)}, "", "docs/**"),
        ({"globs": ("src/*.py",)}, {"paths": ("docs/a.md",)}, "", ""),
        ({"insight": ERRCHECK, "kind": "tooling", "globs": ("**/*.go",)}, {"paths": ("main.go",)}, "", ""),
        ({"insight": ERRCHECK, "kind": "tooling", "globs": ("cmd/*.go",)}, {"paths": ("cmd/main.go",)}, "", "cmd/*.go"),
        ({"globs": ("**/*.go",)}, {"paths": ("main.go",)}, "", "**/*.go"),
        (
            {"insight": ERRCHECK, "kind": "tooling", "globs": ("**/*.go",), "when": Triggers(edited=True)},
            {"paths": ("main.go",)}, "", "**/*.go",
        ),
        ({"when": Triggers(paths=("src/**",), edited=True)}, {"paths": ("src/a.py",)}, "", "src/**"),
        ({"when": Triggers(paths=("src/**",))}, {"paths": ("src/a.py",)}, "", ""),
    ],
)  # fmt: skip
def test_a_trigger_fits_by_what_is_written_run_or_named(
    lesson: dict[str, Any], query: dict[str, Any], old: str, trigger: str
) -> None:
    assert matched(make_lesson(**lesson), Query(project=PROJECT, **query), old) == trigger


@pytest.mark.parametrize(
    ("lesson", "query", "place"),
    [
        ({"when": Triggers(paths=("docs/**", "src/**"))}, {"paths": ("README.md", "src/a.py")}, "src/**"),
        ({"when": Triggers(paths=("docs/**",))}, {"paths": ("src/a.py",)}, ""),
        ({"when": Triggers(symbols=("Tides.high", "Basin"))}, {"symbols": ("harbour.basin",)}, "Basin"),
        ({"when": Triggers(symbols=("Tides.high",))}, {"symbols": ("HIGH",)}, "Tides.high"),
        ({"when": Triggers(symbols=("Tides.high",))}, {"symbols": ("Tides",)}, ""),
        ({"insight": ERRCHECK, "kind": "tooling", "when": GO}, {"paths": ("main.go",)}, ""),
        ({"insight": ERRCHECK, "kind": "tooling", "when": Triggers(paths=("cmd/*.go",))}, {"paths": ("cmd/a.go",)},
         "cmd/*.go"),
        ({"insight": "Close rows.", "when": GO}, {"paths": ("main.go",)}, "**/*.go"),
        ({"insight": ERRCHECK, "kind": "tooling", "when": Triggers(paths=GO.paths, edited=True)}, {"paths": ("a.go",)},
         "**/*.go"),
    ],
)  # fmt: skip
def test_a_place_of_a_trigger_is_a_path_or_the_last_part_of_a_symbol(
    lesson: dict[str, Any], query: dict[str, Any], place: str
) -> None:
    assert matched_place(make_lesson(**lesson), Query(project=PROJECT, **query)) == place


def test_a_file_that_has_no_language_has_no_card(memory: Memory) -> None:
    keep(memory, "govet reports shadowed names here.", **LINTING)
    assert edit(memory, "Makefile", new="_ = f()").items == ()
    assert shown(edit(memory, "main.go")) == ["govet reports shadowed names here."]


def test_the_first_file_of_an_edit_tells_its_language(memory: Memory) -> None:
    keep(memory, "govet reports shadowed names here.", **LINTING)
    root = memory.location.root
    both = {"edits": True, "writes": ("x",)}
    assert deliver(memory, "before_file", paths=(f"{root}/a.py", f"{root}/main.go"), **both).items == ()
    assert deliver(memory, "before_file", paths=(f"{root}/main.go", f"{root}/a.py"), **both).items != ()
    assert deliver(memory, "before_file", session="s2", paths=("/etc/main.go",), **both).items == ()


def test_a_card_tells_pinned_rules_first_then_what_bit_most_sessions_then_the_oldest(memory: Memory) -> None:
    rules = ("govet reports shadowed names here.", "staticcheck is run with every check on.",
             "gocritic is run with its style checks.")  # fmt: skip
    for day, rule in enumerate(rules):
        keep(memory, rule, recorded_at=START + timedelta(days=day), **LINTING)
    assert shown(edit(memory, "main.go", session="s1")) == [rules[0], rules[1]]
    keep(
        memory, "Here gocritic reads tests, too.", sessions_seen=("a", "b"), recorded_at=START + timedelta(days=5),
        **LINTING,
    )  # fmt: skip
    assert shown(edit(memory, "main.go", session="s2")) == [rules[2], rules[0]]
    pinned = keep(memory, "govet prints what it reads.", pinned=True, recorded_at=START + timedelta(days=6), **LINTING)
    assert shown(edit(memory, "main.go", session="s3")) == [pinned.insight, rules[2]]


def test_an_alarmed_linter_is_told_with_what_it_looks_at_and_at_most_thrice(memory: Memory) -> None:
    keep(memory, ERRCHECK, **LINTING)
    keep(memory, WRAPCHECK, recorded_at=START + timedelta(days=1), **LINTING)
    both = "_ = f()\nif err != nil {\n\treturn nil, err\n}"
    assert shown(edit(memory, "main.go", new=both)) == [ERRCHECK, WRAPCHECK]
    assert {row.reason.partition(":")[0] for row in memory.log()} == {"a linter looks at"}
    for number, reason in enumerate(("a linter looks at: x",) * 3):
        told_before(memory, f"l{number}", number, reason=reason, session="s2", moment="before_file")
    assert shown(edit(memory, "main.go", new="_ = f()", session="s2")) == []
    for number in range(2):
        told_before(memory, f"m{number}", number, reason="a linter looks at: x", session="s3", moment="before_file")
    assert shown(edit(memory, "main.go", new="_ = f()", session="s3")) == [ERRCHECK]


def test_triggers_stop_after_four_lines_and_lessons_about_the_file_then_come(memory: Memory) -> None:
    keep(memory, "Do not call it.", kind="constraint", when=Triggers(literals=("call(",)))
    for number in range(3):
        told_before(memory, f"l{number}", number, reason="trigger: x", moment="before_file")
    told_before(memory, "l4", 4, reason="trigger: x", moment="before_file", session="s2")
    assert shown(edit(memory, "a.py", new="call(x)")) == ["Do not call it."]
    told_before(memory, "l3", 4, reason="trigger: x", moment="before_file", session="s3")
    for number in range(4):
        told_before(memory, f"n{number}", number, reason="trigger: x", moment="before_file", session="s3")
    assert shown(edit(memory, "a.py", new="call(x)", session="s3")) == []


def test_a_lesson_about_the_file_says_which_words_agree(memory: Memory, project: Path) -> None:
    for number in range(12):
        keep(memory, f"Berth {number} is for vessels of class {number}.", kind="constraint", path=f"src/b{number}.py")
    about = keep(
        memory,
        "Of soundings: plotter fathoms datum swell squall barometer lantern.",
        kind="constraint",
        path="src/tides.py",
    )
    briefing = edit(memory, "src/tides.py", new="soundings plotter fathoms datum swell squall barometer lantern")
    assert shown(briefing) == [about.insight]
    reason = briefing.items[0].why.words
    assert reason.startswith("about this file; shares ")
    assert reason.count(",") == 2
