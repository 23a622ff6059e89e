"""`holdfast login`, `logout`, `remote` and `sync` where there is no server, or not the right one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.domain.vocabulary import LessonId, ProjectId
from holdfast.home.remotes import ProjectLink, Remote, change_remotes, load_remotes
from holdfast.publishing.remote.exchange import ExchangeReport
from holdfast.publishing.sync import SyncOutcome
from holdfast.settings import load_settings
from holdfast.surfaces.cli.remote import tell_exchange
from tests.surfaces.terminal import run, told, told_json

NOWHERE = "http://127.0.0.1:9"
TOKEN = "hf_p_of_nobody"


@pytest.fixture
def project(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "harbour"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def log_in(name: str = "hub", url: str = NOWHERE) -> None:
    remote = Remote(name=name, url=url, token=TOKEN)
    change_remotes(load_settings().home, lambda remotes: remotes.with_remote(remote))


def link(name: str = "hub") -> None:
    project = ProjectId(told_json("project", "show")["id"])
    made = ProjectLink(project=project, remote=name)
    change_remotes(load_settings().home, lambda remotes: remotes.with_link(made))


def test_a_login_that_no_server_answers_stores_nothing(project: Path) -> None:
    result = run("login", NOWHERE, typed=TOKEN + "\n")
    assert result.exit_code == 75
    assert "no answer from 127.0.0.1:9" in result.output
    assert TOKEN not in result.output
    assert load_remotes(load_settings().home).remotes == ()


def test_a_token_can_come_from_the_environment(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_TOKEN", TOKEN)
    assert run("login", NOWHERE, typed="").exit_code == 75, "it got as far as the server"


@pytest.mark.parametrize("typed", ["\n", "two words\n", "\x1b[31m\n", "x" * 501 + "\n"])
def test_what_is_no_token_is_refused_before_it_is_sent(project: Path, typed: str) -> None:
    result = run("login", NOWHERE, typed=typed)
    assert result.exit_code == 1
    assert "token" in result.output


def test_a_token_is_not_sent_to_another_machine_in_the_clear(project: Path) -> None:
    result = run("login", "http://memory.example.com", typed=TOKEN + "\n")
    assert result.exit_code == 1
    assert "in the clear" in result.output


def test_without_a_login_every_command_says_what_to_do(project: Path) -> None:
    for arguments in (["logout"], ["remote", "add"], ["remote", "private", "on"]):
        result = run(*arguments)
        assert (result.exit_code, "holdfast login URL" in result.output) == (1, True), arguments
    for arguments in (["remote", "remove"], ["remote", "status"]):
        result = run(*arguments)
        assert (result.exit_code, "holdfast remote add" in result.output) == (1, True), arguments
    assert told_json("remote", "list") == {"servers": []}
    lesson = told_json("remember", "Retries are capped at 3")
    result = run("share", lesson["id"][-8:], "--server")
    assert (result.exit_code, "not linked to a server" in result.output) == (1, True)


def test_servers_are_listed_without_their_tokens_and_logged_out_of(project: Path) -> None:
    log_in()
    log_in("other", "https://memory.example.com")
    listed = told("remote", "list", "--json")
    assert TOKEN not in listed
    assert [row["name"] for row in json.loads(listed)["servers"]] == ["hub", "other"]
    link()
    assert run("logout").exit_code == 1, "there are two"
    assert told_json("logout", "hub")["unlinked"] != []
    assert [remote.name for remote in load_remotes(load_settings().home).remotes] == ["other"]


def test_a_sync_without_a_network_syncs_files_and_exits_with_75(project: Path) -> None:
    log_in()
    link()
    lesson = told_json("remember", "Retries are capped at 3")
    told("share", lesson["id"][-8:])
    result = run("sync")
    assert (result.exit_code, "1 shared lesson" in result.output) == (75, True)
    assert "no answer from 127.0.0.1:9" in result.output
    status = told_json("remote", "status")
    assert (status["synced_at"], "no answer" in status["trouble"]) == ("", True)


def test_errors_of_a_server_are_json_where_json_was_asked_for(project: Path) -> None:
    log_in()
    link()
    result = run("sync", "--json")
    assert result.exit_code == 75
    assert json.loads(result.stdout)["server"] is None
    assert json.loads(result.stderr)["exit_code"] == 75


def test_a_lesson_that_was_accepted_during_a_sync_is_not_said_to_wait(capsys: pytest.CaptureFixture[str]) -> None:
    added = SyncOutcome(verb="added", path="", title="Sort by date", lesson=LessonId("1f0c9a2b"), reason="candidate")
    tell_exchange(ExchangeReport(steps=(added,)), dry=False)
    assert "holdfast review" in capsys.readouterr().err
    tell_exchange(ExchangeReport(steps=(added, replace(added, verb="changed", reason=""))), dry=False)
    assert "holdfast review" not in capsys.readouterr().err


def test_a_project_that_is_not_linked_syncs_its_files_as_ever(project: Path) -> None:
    log_in()
    assert told_json("sync")["server"] is None


def test_a_mistyped_key_is_refused_before_anything_is_stored(project: Path) -> None:
    log_in()
    result = run("remote", "private", "on", "--key", typed="AAAA-BBBB\n")
    assert (result.exit_code, "a letter of it is wrong" in result.output) == (1, True)
    assert run("remote", "private", "key").exit_code == 1
    assert load_remotes(load_settings().home).remotes[0].private_key == ""


def test_a_damaged_file_of_servers_breaks_no_other_command(project: Path) -> None:
    log_in()
    Path(load_settings().home, "remotes.json").write_text("{")
    told("remember", "Retries are capped at 3")
    assert "capped at 3" in told("brief")
    result = run("sync")
    assert (result.exit_code, "remotes.json cannot be read" in result.output) == (1, True)
