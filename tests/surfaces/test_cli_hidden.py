"""What a terminal is shown: no character that hides something or steers the display."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.bootstrap import Memory
from holdfast.surfaces.cli.screen import escaped, shown
from holdfast.text.hidden import is_hidden
from tests.codebase import Codebase
from tests.surfaces.terminal import run

BAD = "\u009b2J\u2066\u2069\U000e0041\u200b"


@pytest.fixture
def ref(code: Codebase, home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A lesson of before, which holds hidden characters."""
    monkeypatch.chdir(code.folder)
    with Memory(str(code.folder)) as memory:
        lesson = memory.remember("Seed the clock before the login tests")
        spoilt = replace(
            lesson, insight=f"Seed the {BAD}clock before the login tests", title=f"Seed {BAD}the clock",
            recorded_at=memory.services.clock.now(),
        )  # fmt: skip
        memory.services.store.put([spoilt], {lesson.id: lesson.recorded_at})
        return lesson.id[-8:]


@pytest.mark.parametrize("words", [["list"], ["show"], ["recall", "seed the clock"], ["why"], ["export"]])
def test_no_command_prints_a_hidden_character(ref: str, words: list[str]) -> None:
    result = run(*words, *([ref] if words[0] in ("show", "why") else []))
    assert result.exit_code == 0
    assert not [char for char in result.output if not char.isascii() and is_hidden(char)]


def test_json_keeps_the_value_and_escapes_what_is_hidden(ref: str) -> None:
    result = run("list", "--json")
    assert BAD in json.dumps(json.loads(result.stdout), ensure_ascii=False)
    assert not any(not char.isascii() and is_hidden(char) for char in result.stdout)


def test_colours_of_ours_stay_and_other_escapes_go() -> None:
    assert shown("\x1b[32mfresh\x1b[0m \x1b[8mgone\x1b[0m \x1b]0;t\x07") == "\x1b[32mfresh\x1b[0m [8mgone\x1b[0m ]0;t"


def test_an_escaped_text_is_the_same_json() -> None:
    value = {"a": f"x{BAD}y\u00e9"}
    assert json.loads(escaped(json.dumps(value, ensure_ascii=False))) == value
