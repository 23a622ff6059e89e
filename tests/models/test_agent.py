"""The model plug-in `agent`: real programs stand in for the user's agent."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from holdfast.errors import InvalidValueError, ModelError, ModelUnavailableError
from holdfast.models.agent import make
from holdfast.ports.plugins import LanguageModel

PATIENT_S = 120.0


def agent(code: str, *arguments: str, **options: str) -> LanguageModel:
    return make({"command": json.dumps([sys.executable, "-I", "-c", code, *arguments]), "id": "stand-in", **options})


def test_the_prompt_goes_to_stdin_and_stdout_is_the_answer() -> None:
    model = agent("import sys; print('heard ' + sys.stdin.read())")
    assert model.complete("häfen", PATIENT_S).text.strip() == "heard häfen"


def test_the_prompt_goes_where_the_arguments_say_and_the_answer_comes_from_the_named_file() -> None:
    model = agent("import sys; open(sys.argv[2], 'w').write(sys.argv[1].upper())", "{prompt}", "{answer}")
    assert model.complete("tide", PATIENT_S).text == "TIDE"


def test_json_output_gives_answer_tokens_and_cost() -> None:
    out = json.dumps({"result": "yes", "total_cost_usd": 0.01, "usage": {"input_tokens": 7, "output_tokens": 2}})
    completion = agent(f"print({out!r})", answer="result", cost="total_cost_usd").complete("?", PATIENT_S)
    assert (completion.text, completion.cost_usd, completion.input_tokens, completion.output_tokens) == (
        "yes",
        0.01,
        7,
        2,
    )


def test_it_runs_in_an_empty_folder_with_our_own_hooks_off() -> None:
    code = "import os; print(os.listdir('.'), os.environ['HOLDFAST_OFF'])"
    assert agent(code).complete("?", PATIENT_S).text.strip() == "[] 1"


@pytest.mark.parametrize(
    ("code", "options", "message"),
    [
        ("import sys; sys.exit(3)", {}, "ended with status 3"),
        ("import sys; sys.exit('Please run /login')", {}, "asks for a login"),
        ("print('x' * 2_000_000)", {}, "more than 1,000,000 bytes"),
        ("print('no json')", {"answer": "result"}, "not JSON"),
        ("print('[]')", {"answer": "result"}, "no text"),
        ("print('[' * 100_000)", {"answer": "result"}, "not JSON"),
    ],
)
def test_an_agent_that_fails_is_a_clear_error(code: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        agent(code, **options).complete("?", PATIENT_S)


def test_an_agent_that_never_answers_is_ended_with_what_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "child"
    child = f"import time, pathlib; pathlib.Path({str(mark)!r}).write_text('up'); time.sleep(600)"
    code = (
        f"import subprocess, sys, time, pathlib\nsubprocess.Popen([sys.executable, '-I', '-c', {child!r}])\n"
        f"while not pathlib.Path({str(mark)!r}).exists(): time.sleep(0.01)\ntime.sleep(600)"
    )
    with pytest.raises(ModelError, match="did not answer"):
        agent(code).complete("?", 2.0)


def test_a_program_that_is_not_there_is_a_clear_error() -> None:
    with pytest.raises(ModelError, match="cannot be started"):
        make({"command": json.dumps(["/nowhere/agent"])}).complete("?", PATIENT_S)


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("Invalid API key - Please run /login", "asks for a login"),
        ("API Error: Connection error (ECONNREFUSED)", "cannot reach its service"),
        ("Claude AI usage limit reached", "has reached the limit of its account"),
    ],
)
@pytest.mark.parametrize("status", [0, 1])
def test_a_program_that_cannot_answer_anything_says_so_whatever_its_status(
    output: str, reason: str, status: int
) -> None:
    out = json.dumps({"is_error": True, "result": output})
    model = agent(f"print({out!r}); raise SystemExit({status})", answer="result", error="is_error")
    with pytest.raises(ModelUnavailableError, match=reason):
        model.complete("?", PATIENT_S)


def test_it_does_not_see_that_a_host_started_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    seen = agent("import os; print([name for name in os.environ if name.startswith('CLAUDE')])")
    assert seen.complete("?", PATIENT_S).text.strip() == "[]"


@pytest.mark.parametrize("command", ["", "claude -p", "[]", "[1]", "{}"])
def test_a_command_that_is_no_list_of_words_is_refused(command: str) -> None:
    with pytest.raises(InvalidValueError):
        make({"command": command})
