"""`holdfast distil`: a model is chosen with consent, limits hold, a named session is read, the cost is recorded."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.backfill.distilrecord import enqueue, limit_reached, spent, waiting
from holdfast.bootstrap import Memory
from holdfast.settings import load_settings
from holdfast.surfaces.cli.main import cli
from holdfast.testing.builders import make_event

NOW = datetime(2026, 3, 1, tzinfo=UTC)
QUOTE = "never use floats for money"
ANSWER = {
    "lessons": [
        {"lesson": "Amounts of money are whole cents, never floats.", "kind": "constraint", "quote": QUOTE, "line": 0}
    ]
}


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    project = tmp_path / "app"
    project.mkdir()
    with Memory(str(project)) as memory:
        memory.append(
            [
                make_event(
                    session="s1",
                    project="",
                    key="p",
                    kind="prompt",
                    trust="person",
                    text=f"Please {QUOTE}.",
                    cwd=str(project),
                ),
                *[
                    make_event(
                        session="s1", project="", cwd=str(project), key=f"r{n}", kind="reply", text=f"Step {n} is done."
                    )
                    for n in range(3)
                ],
            ]
        )
    return project


def run(folder: Path, *arguments: str, code: int = 0) -> Any:
    done = CliRunner().invoke(cli, ["-C", str(folder), "distil", *arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def use(folder: Path, code: str, *more: str) -> None:
    words = json.dumps([sys.executable, "-I", "-c", code])
    run(folder, "use", "agent", f"command={words}", "id=stand-in", "--yes", *more)


def test_nothing_is_sent_before_a_model_was_chosen(folder: Path) -> None:
    done = run(folder, code=1)
    assert "no model is chosen, so nothing was sent" in done.output


def test_choosing_a_model_asks_first_and_says_what_is_sent(folder: Path, home: Path) -> None:
    words = json.dumps([sys.executable])
    done = CliRunner().invoke(cli, ["distil", "use", "agent", f"command={words}"], input="n\n")
    assert "one digest without secrets" in done.output
    assert done.exit_code == 130
    assert not (home / "config.toml").exists()


def test_a_session_is_distilled_and_its_cost_is_stored(folder: Path) -> None:
    use(folder, f"import json; print(json.dumps({ANSWER!r}))")
    assert "1 lesson active" in run(folder).output
    with Memory(str(folder)) as memory:
        assert [lesson.provenance.detector for lesson in memory.lessons()] == ["distil/2"]
    assert spent(load_settings(), datetime.now(UTC)).calls == 1


def test_the_digest_command_prints_what_would_be_sent_and_sends_nothing(folder: Path) -> None:
    assert QUOTE in run(folder, "digest").output
    assert spent(load_settings(), datetime.now(UTC)).calls == 0


def test_a_failing_model_is_an_error_and_the_session_is_tried_twice_more(folder: Path) -> None:
    settings = load_settings()
    enqueue(settings, "s1", str(folder), NOW)  # type: ignore[arg-type]
    enqueue(settings, "s1", str(folder), NOW)  # type: ignore[arg-type]
    assert len(waiting(settings)) == 1
    use(folder, "import sys; sys.exit(3)")
    for tries in (1, 2):
        assert "ended with status 3" in run(folder, "run", "s1", code=1).output
        assert [entry.tries for entry in waiting(settings)] == [tries]
    run(folder, "run", "s1", code=1)
    assert waiting(settings) == []


def test_the_limits_of_a_day_hold(folder: Path, home: Path) -> None:
    rows = [{"at": NOW.isoformat(), "session": f"s{n}", "model": "m", "cost_usd": 0.4} for n in range(3)]
    home.mkdir(exist_ok=True)
    (home / "distil.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "half a li")
    settings = load_settings()
    assert "dollars_a_day" in limit_reached(settings, NOW + timedelta(hours=1))
    assert limit_reached(settings, NOW + timedelta(hours=25)) == ""


def test_none_is_no_model_and_the_message_names_the_switch(folder: Path) -> None:
    use(folder, "pass")
    assert "hint: holdfast learn --off" in run(folder, "use", "none", code=1).output
    assert load_settings().distil_model == "agent"


def test_a_key_is_never_stored_in_the_file(folder: Path) -> None:
    assert (
        "must not be on a command line or in a file"
        in run(folder, "use", "anthropic", "model=m", "api_key=k", "--yes", code=1).output
    )


def test_models_lists_agents_and_endpoints(folder: Path) -> None:
    names = {row["name"] for row in json.loads(run(folder, "models", "--json").output)}
    assert {"claude-code", "codex", "anthropic", "ollama", "openai-compatible"} <= names


def test_a_session_that_only_began_is_not_the_latest(folder: Path) -> None:
    began = make_event(
        session="s2", key="b", kind="session_start", at=datetime.now(UTC), project="", cwd=str(folder), text="startup"
    )
    with Memory(str(folder)) as memory:
        memory.append([began])
    assert QUOTE in run(folder, "digest").output
