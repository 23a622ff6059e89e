"""`holdfast embedder`: choosing one is tried first, kept in config.toml, and embeds what is there."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.bootstrap import Memory
from holdfast.errors import EmbedderError, InvalidValueError
from holdfast.home.runfiles import EmbeddingLock, embed_in_turn
from holdfast.installing.configfile import with_table
from holdfast.ports.store import LessonFilter
from holdfast.settings import load_settings
from holdfast.surfaces.cli.main import cli
from holdfast.surfaces.hooks import learner
from holdfast.surfaces.mcp import render
from tests.embedders.endpoint import DIMENSION, EmbeddingServer

CONFIG = "# mine\nretention_days = 30\n\n[deliver]\nprompt = false\n"
HOURS = 7_200.0
PATIENCE_S = 120.0
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


def use(folder: Path, server: EmbeddingServer, *arguments: str, model: str = "m") -> Any:
    return run(folder, "use", "ollama", f"url={server.url}", f"model={model}", *arguments)


def state(folder: Path) -> Any:
    return json.loads(run(folder, "status", "--json").stdout)


def until(folder: Path, wanted: Callable[[Any], bool]) -> Any:
    """The state once it is as wanted."""
    deadline = time.monotonic() + PATIENCE_S
    while not wanted(status := state(folder)):
        if time.monotonic() > deadline:
            raise AssertionError(status)
        time.sleep(0.05)
    return status


def config(home: Path) -> dict[str, Any]:
    return tomllib.loads((home / "config.toml").read_text())


def listed(folder: Path) -> dict[str, Any]:
    return {row["name"]: row for row in json.loads(run(folder, "list", "--json").stdout)}


def test_the_embedders_there_are_can_be_listed_with_what_they_lack(folder: Path, server: EmbeddingServer) -> None:
    rows = listed(folder)
    assert rows["static"] == {"name": "static", "chosen": True, "usable": True, "why": ""}
    assert not rows["none"]["chosen"]
    assert (rows["ollama"]["usable"], "the embedder needs `model`" in rows["ollama"]["why"]) == (False, True)
    assert "the embedder needs `url`" in rows["openai-compatible"]["why"]
    assert "holdfast embedder pull" in rows["onnx"]["why"]
    use(folder, server, "--wait")
    assert listed(folder)["ollama"] == {"name": "ollama", "chosen": True, "usable": True, "why": ""}
    assert "*\tollama" in run(folder, "list").stdout


def test_using_one_tries_it_keeps_it_and_embeds_every_lesson(folder: Path, home: Path, server: EmbeddingServer) -> None:
    assert "3 lessons embedded" in use(folder, server, "--wait").stderr
    assert config(home)["embedder"] == {"name": "ollama", "url": server.url, "model": "m", "dimension": DIMENSION}
    assert {key: config(home)[key] for key in ("retention_days", "deliver")} == {
        "retention_days": 30,
        "deliver": {"prompt": False},
    }
    assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o600
    status = state(folder)
    assert (status["lessons"], status["embedded"], status["waiting"], status["answers"]) == (3, 3, 0, True)
    assert status["id"] == status["answering"] == f"m@127.0.0.1:{server.server_port}#{DIMENSION}"
    assert (status["dimension"], status["running"], status["failed"]) == (DIMENSION, False, "")
    assert "3 of 3 lessons have a vector" in run(folder, "status").stdout
    assert "every lesson has a vector" in use(folder, server).stderr


def test_lessons_are_embedded_in_the_background(folder: Path, server: EmbeddingServer) -> None:
    done = use(folder, server, "--json")
    assert "3 lessons to embed in the background" in done.stderr
    assert json.loads(done.stdout)["name"] == "ollama"
    status = until(folder, lambda status: status["waiting"] == 0 and not status["running"])
    assert (status["embedded"], status["failed"]) == (3, "")


@pytest.mark.nightly("waits for an endpoint that never answers")
def test_a_run_that_is_killed_is_gone_on_with(folder: Path, home: Path, server: EmbeddingServer) -> None:
    with Memory(str(folder)) as memory:
        for number in range(200):
            memory.remember(f"Rule number {number} about harbours")
    server.faults = [0.0, *[HOURS] * 9]  # the second batch is never answered: the run is killed while it waits
    (home / "config.toml").write_text(f'[embedder]\nname="ollama"\nurl="{server.url}"\nmodel="m"\ndimension=4\n')
    command = [sys.executable, "-P", "-m", "holdfast.installing.embedding"]
    with subprocess.Popen(command) as run_:
        status = until(folder, lambda status: status["embedded"] >= 64 and status["running"])
        run_.kill()
    assert 64 <= status["embedded"] < 203
    assert state(folder)["running"] is False
    server.faults = []
    before = len(server.asked)
    learner.embed_all(load_settings())
    status = state(folder)
    assert (status["embedded"], status["answering"]) == (203, status["id"])
    assert sum(len(request["input"]) for request in server.asked[before:]) < 203


def test_two_runs_at_once_embed_each_lesson_once(folder: Path, server: EmbeddingServer) -> None:
    with EmbeddingLock(load_settings().run_path) as ours:
        assert ours
        assert state(folder)["running"] is True
        assert use(folder, server).stderr.endswith("holdfast embedder status\n")
        with Memory(str(folder)) as memory:
            assert embed_in_turn(memory, memory.settings.run_path, 9) == 0
    until(folder, lambda status: status["waiting"] == 0)
    assert sum("Rule" in text for request in server.asked for text in request["input"]) == 3


def test_the_embedder_before_answers_until_the_new_one_has_seen_every_lesson(
    folder: Path, home: Path, server: EmbeddingServer
) -> None:
    use(folder, server, "--wait")
    with Memory(str(folder)) as memory, EmbeddingLock(load_settings().run_path):
        use(folder, server, model="other")  # its run has to wait for the turn
        assert config(home)["former_embedder"]["model"] == "m"
        assert memory.recall("tides").degraded == ""
        assert server.asked[-1]["model"] == "m"
        status = state(folder)
        assert (status["embedded"], status["answering"].partition("@")[0]) == (0, "m")
        assert "until then m@" in run(folder, "status").stdout
    until(folder, lambda status: status["waiting"] == 0 and status["answering"] == status["id"])
    with Memory(str(folder)) as memory:
        assert memory.recall("tides").degraded == ""
        old = LessonFilter(all_projects=True, without_vector=f"m@127.0.0.1:{server.server_port}#{DIMENSION}")
        assert len(memory.services.store.find(old)) == 3
    assert server.asked[-1]["model"] == "other"


def test_a_memory_that_is_open_follows_the_choice(folder: Path, server: EmbeddingServer) -> None:
    with Memory(str(folder)) as memory:
        memory.recall("tides")
        assert server.asked == []
        use(folder, server, "--wait")
        memory.recall("tides")
        assert server.asked[-1]["input"] == ["tides"]
        (Path(memory.settings.config_path)).write_text("half = [")
        memory.recall("harbours")
        assert server.asked[-1]["input"] == ["harbours"]


def test_a_store_with_vectors_of_an_embedder_that_is_gone_says_what_is_missing(
    folder: Path, home: Path, server: EmbeddingServer
) -> None:
    use(folder, server, "--wait")
    text = (home / "config.toml").read_text()
    (home / "config.toml").write_text(text.replace('"m"', '"edited by hand"'))
    done = CliRunner().invoke(cli, ["-C", str(folder), "recall", "Rule number 1", "--json"])
    briefing = json.loads(done.stdout)
    assert briefing["items"]
    assert "lessons without a vector of edited by hand@" in briefing["degraded"]


@pytest.mark.parametrize("command", [["recall", "Rule number 1"], ["recall", "Rule number 1", "--json"]])
def test_recall_answers_by_words_when_the_endpoint_is_dead(
    folder: Path, home: Path, server: EmbeddingServer, command: list[str]
) -> None:
    use(folder, server, "--wait")
    (home / "config.toml").write_text((home / "config.toml").read_text().replace(str(server.server_port), "9"))
    done = CliRunner().invoke(cli, ["-C", str(folder), *command])
    assert done.exit_code == 0
    assert "Rule number 1" in done.stdout
    assert "without vectors: 127.0.0.1:9 did not answer: the connection was refused" in done.output
    with Memory(str(folder)) as memory:
        text = render.briefing(memory.recall("Rule number 1"))
    assert "Rule number 1" in text
    assert "(without vectors: 127.0.0.1:9 did not answer" in text


def test_recall_asks_the_embedder_that_is_used(folder: Path, server: EmbeddingServer) -> None:
    use(folder, server, "--wait")
    before = len(server.asked)
    with Memory(str(folder)) as memory:
        assert memory.recall("tides").degraded == ""
        server.faults = [503]
        assert "without vectors" in memory.recall("tides and more").degraded
    assert len(server.asked) == before + 2


def test_a_question_with_a_secret_is_redacted_before_it_is_sent(folder: Path, server: EmbeddingServer) -> None:
    use(folder, server, "--wait")
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
    listing = run(folder, "list", code=1)
    assert "an API key must not be in a file" in listing.stderr
    assert SECRET not in listing.output


def test_one_that_does_not_answer_changes_nothing(folder: Path, home: Path, server: EmbeddingServer) -> None:
    use(folder, server, "--wait")
    before = (home / "config.toml").read_text()
    url = f"url={server.url}"
    assert "no model.onnx" in run(folder, "use", "onnx", "path=/nowhere", code=1).stderr
    assert "no embedders named" in run(folder, "use", "nothing", code=1).stderr.replace("embedder n", "embedders n")
    assert "4 numbers, not 5" in run(folder, "use", "ollama", url, "model=m", "dimension=5", code=1).stderr
    server.faults = [b"<html>"]
    assert "not JSON" in run(folder, "use", "ollama", url, "model=m", "batch=9", code=1).stderr
    assert (home / "config.toml").read_text() == before
    assert state(folder)["embedded"] == 3


def test_an_endpoint_that_went_away_is_reported_not_raised(folder: Path, server: EmbeddingServer) -> None:
    use(folder, server, "--wait")
    with Memory(str(folder)) as memory:
        memory.remember("Rule number 4 about tides")
        server.faults = [400]
        with pytest.raises(EmbedderError):
            memory.embed_pending()
    server.faults = [503]
    status = state(folder)
    assert (status["answers"], status["waiting"], status["lessons"]) == (False, 1, 4)
    assert "status 503" in status["error"]
    assert status["failed"].endswith(f"Z 127.0.0.1:{server.server_port} answered status 400")
    assert "last error: " in run(folder, "status").stdout


def test_going_back_to_none_leaves_only_that_in_the_file(folder: Path, home: Path, server: EmbeddingServer) -> None:
    use(folder, server, "--wait")
    run(folder, "use", "none")
    assert config(home) == {**tomllib.loads(CONFIG), "embedder": {"name": "none"}}
    assert "no embedder" in run(folder, "status").stdout


@pytest.mark.parametrize("option", ["model", "=m", "name=x", "a b=c"])
def test_what_is_no_option_is_a_usage_error(folder: Path, option: str) -> None:
    assert "is not an option" in run(folder, "use", "ollama", option, code=2).output


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
