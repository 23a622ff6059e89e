"""The clients and `--remote` against a real server on a socket."""

from __future__ import annotations

import asyncio
import doctest
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_bytes
from threading import Thread

import httpx
import pytest
import uvicorn
from click.testing import CliRunner

from holdfast.client import AsyncClient, Client
from holdfast.domain.event import Event
from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.errors import (
    ForbiddenError,
    InvalidValueError,
    NotFoundError,
    NotSignedInError,
    StaleWriteError,
    TakenError,
)
from holdfast.home.remotes import Remote, change_remotes
from holdfast.ports.team import TeamServices
from holdfast.settings import load_settings
from holdfast.surfaces.cli.main import cli
from holdfast.surfaces.rest.app import app
from holdfast.team import founding, members, tokens
from holdfast.wiring import RequestServices, open_backend
from tests.codebase import Codebase
from tests.surfaces.hookcalls import wait_for

RULE = "Round ledger amounts half to even, never half up"


@dataclass
class Served:
    url: str
    token: str
    other_token: str
    """Of another member, a reader."""
    project: str = "shop"

    def client(self, project: str = "shop") -> Client:
        return Client(self.url, self.token, project=project)

    def colleague(self) -> Client:
        return Client(self.url, self.other_token, project="shop")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    settings = load_settings({"HOLDFAST_HOME": str(tmp_path / "server"), "HOME": str(tmp_path)})
    requests = RequestServices(settings)
    with open_backend(settings) as backend:
        founded = founding.bootstrap(backend, requests.clock, token_bytes, name="Acme", admin="Ada")
        team = TeamServices(stores=backend.open(founded.number), clock=requests.clock, random_bytes=token_bytes)
        with team.stores.changing():
            grace = members.add_member(team, "system", name="Grace", role="reader")
            _, other = tokens.make_token(
                team, "system", kind="personal", name="own", role="reader", member=grace.id, projects=(), verbs=(),
                expires_at=None,
            )  # fmt: skip
        application = app(backend, settings, requests=requests)
        server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="warning", lifespan="off"))
        thread = Thread(target=server.run)
        thread.start()
        wait_for(lambda: server.started, "the server started")
        port = server.servers[0].sockets[0].getsockname()[1]
        served = Served(url=f"http://127.0.0.1:{port}", token=founded.text, other_token=other)
        with served.client() as client:
            client.add_project("shop", "Shop")
        yield served
        server.should_exit = True
        thread.join()


def test_what_is_remembered_is_recalled_listed_explained_and_forgotten(served: Served) -> None:
    with served.client() as memory:
        lesson = memory.remember(RULE, kind="constraint", why="a rounded share loses a cent", files=["ledger.py"])
        assert (lesson.insight, lesson.state, lesson.paths) == (RULE, "active", ("ledger.py",))
        assert memory.get(lesson.id[-8:]) == lesson
        briefing = memory.recall("how are ledger amounts rounded")
        assert [item.lesson.id for item in briefing] == [lesson.id]
        assert briefing.items[0].why.multipliers
        assert RULE in briefing.text
        (start, *_) = memory.brief(file="ledger.py")
        assert RULE in start.text
        assert list(memory.lessons(kinds=["constraint"])) == [lesson]
        better = memory.revise(lesson, insight="Round ledger amounts half to even; report odd cents")
        assert better.links[0].target == lesson.id
        with pytest.raises(StaleWriteError):
            memory.revise(lesson, insight="Round ledger amounts up")
        assert [version.verb for version in memory.lineage(better.id)][-1] == "revise"
        assert memory.explain(better.id)["provenance"]
        assert memory.forget(better.id).state == "forgotten"
        assert memory.undo().verb == "undo"
        assert memory.get(better.id).state == "active"


def test_judging_reviewing_and_outcomes(served: Served) -> None:
    with served.client() as memory:
        lesson = memory.remember(RULE)
        flagged = memory.flag(lesson.id, "stale", note="since version 2")
        assert [flag.reason for flag in flagged.flags] == ["stale"]
        assert [flag.note for flag in memory.inbox().flags] == ["since version 2"]
        assert memory.withdraw(lesson.id).flags == ()
        with pytest.raises(ForbiddenError, match="others have to confirm"):
            memory.confirm(lesson.id)
        with served.colleague() as grace:
            assert len(grace.confirm(lesson.id).confirmations) == 1
        assert len(memory.confirmations(lesson.id)) == 1
        assert memory.feedback(lesson.id, "helped").verdict == "helped"
        assert [outcome.verdict for outcome in memory.outcomes(lesson=lesson.id)] == ["helped"]
        assert memory.stats()["helped"] == 1


def test_lists_are_read_to_their_end(served: Served) -> None:
    with served.client() as memory:
        for number in range(7):
            memory.remember(f"Rule {number}: the limit of queue {number} is {number + 10}")
        page = memory.lessons(limit=3)
        assert (len(page), bool(page.next)) == (3, True)
        assert len({lesson.id for lesson in memory.every(memory.lessons, limit=3)}) == 7
        assert len(memory.export_lessons()) == 7


def test_accounts(served: Served) -> None:
    with served.client("") as admin:
        assert admin.me().role == "admin"
        assert admin.organisation().name == "Acme"
        issued = admin.add_token("ci", service=True, role="reader", days=1)
        assert issued.text.startswith("hf_s")
        with Client(served.url, issued.text, project="shop") as reader:
            assert list(reader.lessons()) == []
            with pytest.raises(ForbiddenError):
                reader.remember(RULE)
        admin.revoke_token(issued.token.id)
        with Client(served.url, issued.text, project="shop") as reader, pytest.raises(NotSignedInError):
            reader.lessons()
        invited = admin.invite(role="writer", name="Grace")
        assert invited.invitation.role == "writer"
        actions = [entry.action for entry in admin.audit()]
        assert {"token.issue", "token.revoke"} & set(actions)
        assert admin.verify_audit().faults == ()


def test_errors_are_those_of_the_store(served: Served) -> None:
    with served.client() as memory, served.client("nowhere") as nowhere:
        with pytest.raises(NotFoundError):
            memory.get("ffff0000")
        with pytest.raises(NotFoundError):
            nowhere.lessons()
        with pytest.raises(InvalidValueError, match=r"body\.kind"):
            memory.remember(RULE, kind="poem")  # type: ignore[arg-type]
        memory.add_team("Payments")
        with pytest.raises(TakenError):
            memory.add_team("Payments")


def test_an_agent_elsewhere_reports_its_session(served: Served) -> None:
    with served.client() as memory:
        memory.remember(RULE, kind="constraint")
        with memory.session(model="a-model") as session:
            assert RULE in session.start
            session.prompt("Remember that reports are sorted by date, newest first.")
            session.command("pytest -q", "1 failed\nKeyError: 'rate'", exit_code=1)
            session.reply("I will.")
        assert {"prompt", "tool_failure", "session_end"} <= {event.kind for event in memory.session_events(session.id)}
        waiting = [*memory.inbox().waiting, *memory.lessons()]
        assert any("sorted by date" in lesson.insight for lesson in waiting)


def test_events_are_stored_once(served: Served) -> None:
    event = Event(
        id=EventId("e1"), session=SessionId("s1"), host="own-agent", kind="prompt", key="prompt:1", text="Fix it",
        at=datetime(2026, 11, 28, 12, tzinfo=UTC),
    )  # fmt: skip
    with served.client() as memory:
        assert (memory.append([event]).stored, memory.append([event]).stored) == (1, 0)
        assert [summary.session for summary in memory.sessions()] == ["s1"]


def test_the_awaited_client_does_the_same(served: Served) -> None:
    async def run() -> tuple[str, int, bool]:
        async with AsyncClient(served.url, served.token, project="shop") as memory:
            lesson = await memory.remember(RULE, kind="constraint")
            briefing = await memory.recall("how are ledger amounts rounded")
            async with memory.session() as session:
                knew = RULE in session.start
                await session.prompt("Round the ledger")
            count = len([item async for item in memory.every(memory.lessons, limit=1)])
            better = await memory.revise(lesson.id, why="a rounded share loses a cent")
            await memory.forget(better)
            return briefing.items[0].lesson.id, count, knew and briefing.items[0].lesson.id == lesson.id

    _, count, is_same = asyncio.run(run())
    assert (count, is_same) == (1, True)


@pytest.fixture
def linked(served: Served, home: Path, code: Codebase, monkeypatch: pytest.MonkeyPatch) -> Served:
    """A machine whose home knows the server, in a clone whose project is there."""
    monkeypatch.chdir(code.folder)
    change_remotes(str(home), lambda known: known.with_remote(Remote(name="acme", url=served.url, token=served.token)))
    (shown,) = [json.loads(run("project", "show", "--json"))]
    project = str(shown["id"])
    with served.client("") as client:
        client.add_project(project, "Ledger")
    served.project = project
    return served


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == code, result.output
    return result.output


def test_commands_read_from_a_server(linked: Served) -> None:
    with linked.client(linked.project) as memory:
        lesson = memory.remember(RULE, kind="constraint", why="a rounded share loses a cent")
        memory.save_checkpoint("make rounding exact", next=["write a test"])
    assert RULE not in run("list")
    short = lesson.id[-8:]
    for command in (
        ["list"], ["recall", "how are ledger amounts rounded"], ["brief"], ["show", short], ["why", short],
        ["history", short], ["list", "--json"], ["recall", "rounded ledger amounts", "--json"],
        ["digest"], ["digest", "--json"], ["digest", "--since", "1y", "--for", "team", "--format", "atom"],
    ):  # fmt: skip
        assert "half to even" in run("--remote", "acme", *command)
    assert "make rounding exact" in run("--remote", "acme", "checkpoint", "show")
    assert "not about code" in run("--remote", "acme", "diff", short)
    run("--remote", "acme", "stats")
    assert "0 topics" in run("--remote", "acme", "topics")
    assert "--remote is for commands that read" in run("--remote", "acme", "topics", "rename", "a", "b", code=2)
    run("--remote", "acme", "list", "--conflicts")


def test_what_a_server_cannot_do_is_said(linked: Served) -> None:
    assert "no server 'other'" in run("--remote", "other", "list", code=1)
    assert "--remote is for commands that read lessons" in run("--remote", "acme", "remember", "x y z", code=2)
    assert "--all-projects" in run("--remote", "acme", "list", "--all-projects", code=1)


PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "client.md"


def test_the_examples_of_the_page_print_what_it_says(served: Served) -> None:
    text = PAGE.read_text(encoding="utf-8").replace("```", "")
    known = {"url": served.url, "token": served.token, "grace": served.colleague()}
    examples = doctest.DocTestParser().get_doctest(text, known, PAGE.name, str(PAGE), 0)
    printed: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(examples, out=printed.append)
    assert outcome.attempted > 10
    known["grace"].close()
    assert not outcome.failed, "".join(printed)


def test_a_newcomer_joins_by_a_link_and_logs_in_elsewhere_with_a_token(linked: Served, tmp_path: Path) -> None:
    link = json.loads(run("remote", "invite", "--name", "Grace", "--role", "reviewer", "--json"))["link"]
    with pytest.MonkeyPatch.context() as machine:
        machine.setenv("HOLDFAST_HOME", str(tmp_path / "graces"))
        assert "as Grace Hopper, reviewer" in run("login", link, "--as", "Grace Hopper", "--name", "acme")
        assert "does not hold" in run("login", link, code=77)
        issued = json.loads(run("remote", "token", "laptop", "--read-only", "--json"))["token"]
        machine.setenv("HOLDFAST_HOME", str(tmp_path / "laptop"))
        machine.setenv("HOLDFAST_TOKEN", issued)
        assert "as Grace Hopper, reader" in run("login", linked.url, "--name", "acme")
        machine.delenv("HOLDFAST_TOKEN")
        assert RULE not in run("--remote", "acme", "list")
        assert "admin" in run("remote", "invite", code=77)


def test_an_address_with_a_path_is_not_a_server(linked: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_TOKEN", linked.token)
    assert "without a path" in run("login", f"{linked.url}/app", "--name", "other", code=1)
    answer = httpx.get(f"{linked.url}/v1/lesons", headers={"Authorization": f"Bearer {linked.token}"})
    assert (answer.status_code, answer.json()["hint"]) == (404, "the page /v1 lists the addresses")


def test_members_judge_from_the_terminal(linked: Served) -> None:
    run("remote", "add", "acme")
    with linked.client(linked.project) as memory:
        lesson = memory.remember(RULE, kind="constraint")
    short = lesson.id[-8:]
    refused = run("remote", "confirm", short, code=77)
    assert ("others have to confirm" in refused, "ask another member" in refused) == (True, True)
    assert "1 flag" in run("remote", "flag", short, "stale", "--note", "since 2.0")
    assert "since 2.0" in run("remote", "review")
    local = run("remember", "Reports are sorted by date, newest first").split()[0]
    run("sync")
    assert "1 flag" in run("remote", "flag", local, "duplicate", "--of", lesson.id)
    assert "holdfast remote review" in run("remote", "flag", "ffff0000", "stale", code=1)
    assert json.loads(run("remote", "review", "--json"))["waiting"] == []


def test_the_review_says_who_proposed_a_lesson(linked: Served, tmp_path: Path) -> None:
    run("remote", "add", "acme")
    link = json.loads(run("remote", "invite", "--name", "Grace", "--json"))["link"]
    with pytest.MonkeyPatch.context() as machine:
        machine.setenv("HOLDFAST_HOME", str(tmp_path / "graces"))
        run("login", link, "--name", "acme")
        run("remote", "add", "acme")
        run("remember", "Deploys go to the canary first")
        run("sync")
    listed = run("remote", "review")
    assert "Deploys go to the canary first\tGrace" in listed
    assert "its author's machines take it back" in run("remote", "reject", listed.split()[0])


def test_doctor_asks_linked_servers_and_its_report_does_not_name_them(linked: Served, home: Path) -> None:
    def rows() -> list[dict[str, str]]:
        result = CliRunner().invoke(cli, ["doctor", "--json"])
        return [row for row in json.loads(result.stdout)["findings"] if row["name"] == "team server"]

    assert rows() == []
    assert "acme" not in run("status")
    run("remote", "add", "acme")
    assert "acme, not synced yet" in run("status")
    run("sync")
    assert "acme, synced 20" in run("status")
    (row,) = rows()
    assert (row["status"], "answers Ada, admin; 1 project linked" in row["what"]) == ("ok", True)
    report = CliRunner().invoke(cli, ["doctor", "--report"]).output
    assert "team server" in report
    assert "acme" not in report
    assert linked.url.removeprefix("http://") not in report
    change_remotes(str(home), lambda known: known.with_remote(Remote(name="acme", url=linked.url, token="hf_wrong")))
    (row,) = rows()
    assert (row["status"], row["mend"]) == ("bad", f"holdfast login {linked.url}")
    gone = "http://127.0.0.1:9"
    change_remotes(str(home), lambda known: known.with_remote(Remote(name="acme", url=gone, token="hf_wrong")))
    (row,) = rows()
    assert row["status"] == "note"


def test_a_local_change_to_a_rule_of_the_organisation_is_said_to_stay_here(linked: Served) -> None:
    with linked.client("organisation") as memory:
        memory.remember("Every service logs in UTC", kind="convention")
    run("remote", "add", "acme")
    run("sync")
    rule = next(row for row in json.loads(run("list", "--json"))["lessons"] if "UTC" in row["insight"])
    assert "stays on this machine" not in run("sync", "--json")
    run("revise", rule["id"], "--insight", "Every service logs in local time")
    assert "stays on this machine" in run("sync", code=1)
