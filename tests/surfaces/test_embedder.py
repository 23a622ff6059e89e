"""`holdfast embedder`: choosing one is tried first, kept in config.toml, and embeds what is there."""

from __future__ import annotations

import json
import stat
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.bootstrap import Memory
from holdfast.domain.errors import InvalidValueError
from holdfast.surfaces.cli._configfile import with_table
from holdfast.surfaces.cli.main import cli
from tests.embedders.endpoint import DIMENSION, EmbeddingServer

CONFIG = "# mine\nretention_days = 30\n\n[deliver]\nprompt = false\n"
SECRET = "kept" + "-to-ourselves"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as opened:
        thread = threading.Thread(target=opened.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield opened
        opened.shutdown()
        thread.join()


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    project = tmp_path / "app"
    project.mkdir()
    home.mkdir()
    (home / "config.toml").write_text(CONFIG)
    with Memory(str(project)) as memory:
        for number in range(3):
            memory.remember(f"Rule number {number} about tides")
    return project


def run(folder: Path, *arguments: str, code: int = 0) -> Any:
    done = CliRunner().invoke(cli, ["-C", str(folder), "embedder", *arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def config(home: Path) -> dict[str, Any]:
    return tomllib.loads((home / "config.toml").read_text())


def test_the_embedders_there_are_can_be_listed(folder: Path) -> None:
    assert run(folder, "list").stdout.split() == ["*", "none", "ollama", "onnx", "openai-compatible"]
    assert json.loads(run(folder, "list", "--json").stdout)[0] == {"name": "none", "chosen": True}


def test_using_one_tries_it_keeps_it_and_embeds_every_lesson(folder: Path, home: Path, server: EmbeddingServer) -> None:
    run(folder, "use", "ollama", f"url={server.url}", "model=m")
    assert config(home)["embedder"] == {"name": "ollama", "url": server.url, "model": "m", "dimension": DIMENSION}
    assert {key: config(home)[key] for key in ("retention_days", "deliver")} == {
        "retention_days": 30,
        "deliver": {"prompt": False},
    }
    assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o600
    told = json.loads(run(folder, "status", "--json").stdout)
    assert (told["lessons"], told["waiting"], told["answers"]) == (3, 0, True)
    assert "3 of 3 lessons have a vector" in run(folder, "status").stdout


def test_recall_asks_the_embedder_that_is_used(folder: Path, server: EmbeddingServer) -> None:
    run(folder, "use", "ollama", f"url={server.url}", "model=m")
    before = len(server.asked)
    with Memory(str(folder)) as memory:
        assert memory.recall("tides").degraded == ""
        server.faults = [503]
        assert "without vectors" in memory.recall("tides and more").degraded
    assert len(server.asked) == before + 2


def test_a_question_with_a_secret_is_redacted_before_it_is_sent(folder: Path, server: EmbeddingServer) -> None:
    run(folder, "use", "ollama", f"url={server.url}", "model=m")
    with Memory(str(folder)) as memory:
        memory.recall("why does gh" + "p_" + "a1B2" * 9 + " fail?")
    assert server.asked[-1]["input"] == ["why does [redacted:github] fail?"]


def test_a_key_is_read_from_the_variable_that_is_named(
    folder: Path, home: Path, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = [f"url={server.url}/v1", "model=m", "api_key_env=MY_EMBEDDING_KEY"]
    failed = run(folder, "use", "openai-compatible", *options, code=1)
    assert "MY_EMBEDDING_KEY is not set" in failed.stderr
    monkeypatch.setenv("MY_EMBEDDING_KEY", SECRET)
    run(folder, "use", "openai-compatible", *options)
    assert server.headers[-1]["Authorization"] == f"Bearer {SECRET}"
    assert SECRET not in (home / "config.toml").read_text()


def test_a_key_on_the_command_line_or_in_the_file_is_refused(folder: Path, home: Path, server: EmbeddingServer) -> None:
    refused = run(folder, "use", "ollama", f"url={server.url}", "model=m", f"api_key={SECRET}", code=1)
    assert "api_key_env" in refused.stderr
    (home / "config.toml").write_text(f'[embedder]\nname = "ollama"\napi_key = "{SECRET}"\n')
    told = run(folder, "list", code=1)
    assert "a key does not belong in a file" in told.stderr
    assert SECRET not in told.output


def test_one_that_does_not_answer_is_not_kept(folder: Path, home: Path) -> None:
    failed = run(folder, "use", "onnx", "path=/nowhere", code=1)
    assert "no model.onnx" in failed.stderr
    assert (home / "config.toml").read_text() == CONFIG


def test_an_endpoint_that_went_away_is_reported_not_raised(folder: Path, server: EmbeddingServer) -> None:
    run(folder, "use", "ollama", f"url={server.url}", "model=m", "--later")
    server.faults = [503, 503]
    told = json.loads(run(folder, "status", "--json").stdout)
    assert (told["answers"], told["waiting"], told["lessons"]) == (False, 3, 3)
    assert "status 503" in told["error"]


def test_going_back_to_none_restores_the_file(folder: Path, home: Path, server: EmbeddingServer) -> None:
    run(folder, "use", "ollama", f"url={server.url}", "model=m", "--later")
    run(folder, "use", "none")
    assert config(home) == tomllib.loads(CONFIG)
    assert "no embedder" in run(folder, "status").stdout


@pytest.mark.parametrize("option", ["model", "=m", "name=x", "a b=c"])
def test_what_is_no_option_is_a_usage_error(folder: Path, option: str) -> None:
    assert "is no option" in run(folder, "use", "ollama", option, code=2).output


@pytest.mark.parametrize(
    "text",
    [
        "",
        CONFIG,
        '[embedder]\nname = "x"\n',
        '[embedder] # mine\nname = "x"\n\n[deliver]\nprompt = true\n',
        "capture = true",
    ],
)
def test_a_table_is_set_and_taken_out_without_touching_others(text: str) -> None:
    edited = with_table(text, "embedder", {"name": 'a "quoted" name', "dimension": 4})
    assert tomllib.loads(edited)["embedder"] == {"name": 'a "quoted" name', "dimension": 4}
    others = {key: value for key, value in tomllib.loads(text).items() if key != "embedder"}
    assert {key: value for key, value in tomllib.loads(edited).items() if key != "embedder"} == others
    assert tomllib.loads(with_table(edited, "embedder", {})) == others


def test_a_file_that_cannot_be_edited_safely_is_left_alone() -> None:
    with pytest.raises(InvalidValueError):
        with_table("not toml", "embedder", {"name": "x"})
    with pytest.raises(InvalidValueError):
        with_table('embedder = { name = "x" }\n', "embedder", {"name": "y"})
