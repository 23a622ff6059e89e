"""What is told before a file: by triggers, about the symbol and the file, and a linter's rules."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Triggers
from holdfast.domain.query import Query
from holdfast.recall.moments import matched
from holdfast.testing.builders import PROJECT, START, make_lesson
from tests.recall.test_moments import ERRCHECK, deliver, edit, happened, keep, shown

LINTING = {"kind": "tooling", "trust": "verified"}


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
        ({"when": Triggers(paths=("docs/**", "src/**"))}, {"paths": ("README.md", "src/a.py")}, "", "src/**"),
        ({"when": Triggers(paths=("docs/**",))}, {"paths": ("src/a.py",)}, "", ""),
        ({"when": Triggers(symbols=("Tides.high", "Basin"))}, {"symbols": ("harbour.basin",)}, "", "Basin"),
        ({"when": Triggers(symbols=("Tides.high",))}, {"symbols": ("HIGH",)}, "", "Tides.high"),
        ({"when": Triggers(symbols=("Tides::high",))}, {"symbols": ("Tides.high",)}, "", "Tides::high"),
        ({"when": Triggers(symbols=("Tides.high",))}, {"symbols": ("Tides",)}, "", ""),
    ],
)  # fmt: skip
def test_a_trigger_fits_by_what_is_written_run_or_named(
    lesson: dict[str, Any], query: dict[str, Any], old: str, trigger: str
) -> None:
    assert matched(make_lesson(**lesson), Query(project=PROJECT, **query), old) == trigger


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


def test_a_linters_rules_are_pinned_ones_then_a_persons_then_the_newest(memory: Memory) -> None:
    rules = ("govet reports shadowed names here.", "staticcheck is run with every check on.",
             "gocritic is run with its style checks.", "goconst wants a comment on each name.")  # fmt: skip
    for day, rule in enumerate(rules):
        keep(memory, rule, valid_from=START + timedelta(days=day), **LINTING)
    assert shown(edit(memory, "main.go", session="s1")) == [rules[3], rules[2], rules[1]]
    keep(memory, "ineffassign is switched off here.", kind="tooling", trust="person", valid_from=START)
    assert shown(edit(memory, "main.go", session="s2"))[0] == "ineffassign is switched off here."
    keep(memory, "nolintlint reads comments, too.", pinned=True, valid_from=START, **LINTING)
    assert shown(edit(memory, "main.go", session="s3"))[0] == "nolintlint reads comments, too."


def about_basins(memory: Memory, project: Path) -> str:
    """Write a file of two functions, and eight lessons on it: two on `fill`, the others on the file."""
    fill, drain = "def fill(basin):\n    return basin + 1\n", "def drain(basin):\n    return basin - 1\n"
    (project / "src" / "basins.py").write_text(f"{fill}\n\n{drain}")
    for word in ("once", "twice"):
        place = {"path": "src/basins.py", "symbol": "fill"}
        keep(memory, f"A basin is filled {word}.", kind="exploration", trust="agent", **place)
    for number in range(6):
        rule = f"Basins of quay {number} are charted by crew {number}."
        day = START + timedelta(days=number)
        keep(memory, rule, kind="exploration", trust="agent", path="src/basins.py", valid_from=day)
    for number in range(30):
        keep(
            memory, f"Ferry {number} moors at pier {number}.", kind="decision", trust="agent", path=f"src/f{number}.py"
        )
    return fill


def test_among_many_lessons_on_a_file_those_on_the_edited_function_come_in_full(memory: Memory, project: Path) -> None:
    fill = about_basins(memory, project)
    deliver(memory, "session_start")
    briefing = edit(memory, "src/basins.py", new=fill.replace("1", "2"), old=fill)
    assert sorted(shown(briefing)) == ["A basin is filled once.", "A basin is filled twice."]
    assert {item.why.words for item in briefing.items} == {"about this symbol"}
    assert edit(memory, "src/basins.py", new=fill, old=fill).items == ()


def test_lessons_on_a_file_come_once_for_each_file_whatever_was_typed_before(memory: Memory, project: Path) -> None:
    about_basins(memory, project)
    happened(memory, "prompt", text="Paint the lighthouse.")
    briefing = edit(memory, "src/basins.py", new="QUAYS = 3", old="QUAYS = 2")
    assert len(shown(briefing)) == 4
    assert {item.why.words for item in briefing.items} == {"title; about this file"}
    assert edit(memory, "src/basins.py", new="QUAYS = 4", old="QUAYS = 3").items == ()
    assert len(edit(memory, "src/f7.py").items) == 1


def test_of_lessons_on_a_file_a_title_is_enough_but_a_rule_comes_in_full(memory: Memory) -> None:
    keep(memory, "The gauge stood here in spring.", kind="exploration", trust="agent", path="src/tides.py")
    keep(memory, "Read the gauge at noon.", kind="constraint", trust="agent", path="src/tides.py")
    assert len(deliver(memory, "session_start").entries) == 2
    assert shown(edit(memory, "src/tides.py")) == ["Read the gauge at noon."]
