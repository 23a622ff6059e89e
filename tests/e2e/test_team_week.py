"""A week of a team played through the real server: two people, two machines each, and what each is told each day.

Every machine has a home, a clone and a memory of its own; commands are those that people type. After each step the test
looks at what the next session on a machine would be told (`holdfast brief`).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from secrets import token_bytes
from typing import Any

import httpx2 as httpx
import psycopg
import pytest

from holdfast.domain.team import Role
from holdfast.home.remotes import load_remotes
from holdfast.ports.team import TeamServices
from holdfast.settings import load_settings
from holdfast.team import founding, members, tokens
from holdfast.wiring import RequestServices, open_backend
from tests.postgresql import APPLICATION, SUPERUSER, Database
from tests.server.serving import Server, served
from tests.surfaces.terminal import run, told, told_json

PEOPLE: dict[str, Role] = {"ada": "reviewer", "bob": "writer"}
RETRIES = "Retries of the tide service are capped at 3"
DIGITS = "Berth ids end with a check digit"
NUMBERS = count(1)
METRES = "Tides are stored in metres, never in feet"
SECRET = "Ada thinks the quarterly numbers of Zanzibar are invented"


@dataclass
class Team:
    """The running server, a token for each person, and the folder in which the server keeps everything."""

    server: Server
    tokens: dict[str, str]
    folder: Path
    store: str = ""
    """Of a server over PostgreSQL."""

    def rest(self, method: str, path: str, person: str, **body: Any) -> Any:
        """Answer of a request as that person; it must succeed."""
        headers = {"Authorization": f"Bearer {self.tokens[person]}"}
        response = httpx.request(method, f"{self.server.url}/v1{path}", headers=headers, json=body or None)
        assert response.status_code < 300, response.text
        return response.json()

    def content(self) -> str:
        """Everything that the server has stored, and its log."""
        files = [path.read_bytes() for path in self.folder.rglob("*") if path.is_file()]
        return self.server.text + "".join(content.decode("utf-8", "replace") for content in files) + self._rows()

    def _rows(self) -> str:
        """Every row of every table of the database."""
        if not self.store:
            return ""
        with psycopg.connect(self.store.partition("&owner=")[0].replace(APPLICATION, SUPERUSER)) as connection:
            names = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
            tables = [row[0] for row in connection.execute(names)]
            assert "documents" in tables
            return str([connection.execute(f'SELECT * FROM "{table}"').fetchall() for table in tables])


class Machine:
    """One machine of a person: a clone, a home and a git identity."""

    def __init__(self, person: str, name: str, origin: Path, scratch: Path, patch: pytest.MonkeyPatch) -> None:
        self.person = person
        self.folder = scratch / name
        self._home = scratch / f"{name}-home"
        self._config = scratch / f"{person}.gitconfig"
        self._config.write_text(f"[user]\n\tname = {person}\n\temail = {person}@example.org\n")
        self._patch = patch
        self._enter()
        subprocess.run(["git", "clone", "-q", str(origin), str(self.folder)], check=True)

    def _enter(self) -> None:
        self._patch.setenv("HOLDFAST_HOME", str(self._home))
        self._patch.setenv("GIT_CONFIG_GLOBAL", str(self._config))

    def says(self, *arguments: str, typed: str | None = None) -> str:
        """What a command prints in this clone; it must succeed."""
        self._enter()
        result = run("-C", str(self.folder), *arguments, typed=typed)
        assert result.exit_code == 0, result.output
        return result.output

    def fails(self, *arguments: str, typed: str | None = None) -> tuple[int, str]:
        """Exit code and output of a command that has to fail."""
        self._enter()
        result = run("-C", str(self.folder), *arguments, typed=typed)
        assert result.exit_code, result.output
        return result.exit_code, result.output

    def brief(self) -> str:
        """What the next session here is told at its start."""
        self._enter()
        return told("-C", str(self.folder), "brief")

    def id_of(self, words: str, *states: str) -> str:
        """The id of the lesson with these words."""
        self._enter()
        chosen = [argument for state in states or ("active",) for argument in ("--state", state)]
        rows = told_json("-C", str(self.folder), "list", *chosen)["lessons"]
        return str(next(row["id"] for row in rows if words in row["insight"]))

    @property
    def remotes(self) -> Any:
        """What this home knows of servers."""
        return load_remotes(str(self._home))


def accept_all(team: Team, project: str) -> None:
    """Let Ada accept, on the server, whatever waits there."""
    for row in team.rest("GET", f"/projects/{project}/review", "ada")["waiting"]:
        team.rest("POST", f"/projects/{project}/lessons/{row['id']}/accept", "ada")


@pytest.fixture
def team(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Team]:
    """A server over a file or over PostgreSQL, with a reviewer, Ada, and a writer, Bob."""
    folder, store = tmp_path / "server", ""
    if getattr(request, "param", "") == "postgresql":
        name = f"week{next(NUMBERS)}"
        cluster = request.getfixturevalue("cluster")
        cluster.create_database(name)
        store = Database(cluster, name).store_url()
        store = store.replace("&org=1", "")
    environment = {"HOLDFAST_HOME": str(folder), "HOME": str(tmp_path), "HOLDFAST_STORE": store}
    settings = load_settings(environment)
    requests = RequestServices(settings)
    backend = open_backend(settings)
    with backend:
        made = founding.bootstrap(backend, requests.clock, token_bytes, name="Harbour", admin="Root")
        services = TeamServices(stores=backend.open(made.number), clock=requests.clock, random_bytes=token_bytes)
        secrets = {"root": made.text}
        for person, role in PEOPLE.items():
            with services.stores.changing():
                member = members.add_member(services, "root", name=person.title(), role=role)
                _, secrets[person] = tokens.make_token(
                    services, "root", kind="personal", name="laptop", role=role, member=member.id, projects=(),
                    verbs=(), expires_at=None,
                )  # fmt: skip
    with served(**environment) as server:
        yield Team(server=server, tokens=secrets, folder=folder, store=store)


@pytest.fixture
def machines(team: Team, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Machine]:
    """Two machines of each person, logged in and linked."""
    origin = tmp_path / "harbour.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(origin)], check=True)
    seed = tmp_path / "seed"
    subprocess.run(["git", "clone", "-q", str(origin), str(seed)], check=True)
    (seed / "tides.py").write_text("def tide():\n    return 3\n")
    who = ["-c", "user.name=seed", "-c", "user.email=seed@example.org"]
    subprocess.run(["git", "-C", str(seed), "add", "-A"], check=True)
    subprocess.run(["git", "-C", str(seed), *who, "commit", "-q", "-m", "Begin"], check=True)
    subprocess.run(["git", "-C", str(seed), "push", "-q", "origin", "HEAD:main"], check=True)
    scratch = tmp_path / "work"
    scratch.mkdir()
    made = {}
    for person in PEOPLE:
        for number in (1, 2):
            name = f"{person}-{number}"
            machine = made[name] = Machine(person, name, origin, scratch, monkeypatch)
            answer = machine.says("login", team.server.url, typed=team.tokens[person] + "\n")
            assert f"as {person.title()}, {PEOPLE[person]}" in answer
            machine.says("remote", "add")
    return made


@pytest.mark.parametrize("team", ["sqlite", "postgresql"], indirect=True)
def test_a_week_of_two_people_with_two_machines_each(team: Team, machines: dict[str, Machine]) -> None:
    ada, ada2, bob, bob2 = (machines[name] for name in ("ada-1", "ada-2", "bob-1", "bob-2"))
    project = ada.remotes.links[0].project
    assert project == bob.remotes.links[0].project, "both clones are one project"

    # Monday: what a reviewer states reaches everybody, what a writer states waits for one
    ada.says("remember", RETRIES, "--why", "the gateway bans us")
    ada.says("sync")
    bob.says("remember", DIGITS, "--file", "tides.py")
    assert "1 of them for review" in bob.says("sync")
    assert RETRIES in bob.brief()
    for machine in (ada, ada2, bob2):
        machine.says("sync")
    assert RETRIES in ada2.brief()
    assert DIGITS in bob2.brief(), "Bob's own words are his on both machines"
    assert DIGITS not in ada.brief()
    ada.says("review", "--accept", ada.id_of(DIGITS, "candidate")[-8:])
    ada.says("sync")
    ada2.says("sync")
    assert DIGITS in ada2.brief()
    assert DIGITS in ada.brief()

    # Tuesday: both revise one lesson on two machines; nobody's words are lost, and the conflict shows
    ada.says("revise", ada.id_of(RETRIES)[-8:], "--insight", "Retries of the tide service are capped at 5")
    bob.says("revise", bob.id_of(RETRIES)[-8:], "--insight", "Retries of the tide service are capped at 7")
    ada.says("sync")
    bob.says("sync")
    waiting = team.rest("GET", f"/projects/{project}/review", "ada")
    ada2.says("sync")
    assert "capped at 5" in ada2.brief()
    assert "capped at 7" not in ada2.brief(), "what Bob made of it waits"
    assert [row["insight"] for row in waiting["waiting"]] == ["Retries of the tide service are capped at 7"]
    accept_all(team, project)
    for machine in (ada, ada2, bob, bob2):
        machine.says("sync")
        assert "capped at 7" in machine.brief()
    accept_all(team, project)  # Bob's machine kept Ada's words beside his own, so they wait as a lesson of their own
    for machine in (ada, ada2, bob, bob2):
        machine.says("sync")
        conflicts = machine.says("list", "--conflicts")
        assert "capped at 5" in conflicts
        assert "capped at 7" in conflicts

    # Wednesday: Bob flags a lesson, Ada forgets it, and it is gone everywhere
    rows = team.rest("GET", f"/projects/{project}/lessons", "bob")["items"]
    wrong = next(row for row in rows if "capped at 7" in row["insight"])
    team.rest("POST", f"/projects/{project}/lessons/{wrong['id']}/flags", "bob", reason="incorrect")
    ada.says("forget", ada.id_of("capped at 7")[-8:])
    ada.says("sync")
    for machine in (ada2, bob, bob2):
        machine.says("sync")
        assert "capped at 7" not in machine.brief()
        assert "capped at 5" in machine.brief()
    bob.says("forget", bob.id_of(DIGITS)[-8:])
    code, refusal = bob.fails("sync")
    assert code == 1
    assert "only a reviewer ends a lesson that the team has accepted" in refusal
    ada.says("sync")
    assert DIGITS in ada.brief(), "a writer takes an accepted lesson from nobody else"

    # Thursday: a rule of the organisation reaches every linked project, and stays the organisation's
    team.rest(
        "POST", "/projects/organisation/lessons", "root", insight="Customers are never named in code", kind="convention"
    )
    for machine in (ada, ada2, bob):
        machine.says("sync")
        assert "Customers are never named in code" in machine.brief()
    code, refusal = ada.fails("share", ada.id_of("Customers are never named")[-8:])
    assert (code, "it is a rule of the organisation" in refusal) == (1, True)

    # Private lessons go to a person's other machine and to nobody else, and not with another key
    ada.says("remember", SECRET, "--private")
    ada.says("remote", "private", "on")
    key = ada.says("remote", "private", "key").strip()
    code, refusal = ada2.fails("remote", "private", "on")
    assert (code, "does not open what your other machines sealed" in refusal) == (1, True)
    code, refusal = ada2.fails("remote", "private", "on", "--key", typed=key[:-1] + "A\n")
    assert (code, "a letter of it is wrong" in refusal) == (1, True)
    ada2.says("remote", "private", "on", "--key", typed=key + "\n")
    ada.says("sync")
    assert "1 private lesson synced, sealed" in ada2.says("sync")
    assert SECRET in ada2.brief()
    for machine in (bob, ada):
        machine.says("sync")
    assert SECRET not in bob.brief()
    ada2.says("forget", ada2.id_of("Zanzibar")[-8:])
    ada2.says("sync")
    ada.says("sync")
    assert SECRET not in ada.brief()

    # Friday: Bob's second machine has been away since Wednesday, and the server is away too
    team.server.stop()
    bob2.says("remember", METRES)
    code, trouble = bob2.fails("sync")
    assert (code, "no answer from" in trouble) == (75, True)
    assert METRES in bob2.brief()
    content = team.content()
    for word in ("Zanzibar", "quarterly numbers", key, key.replace("-", "")):
        assert word not in content


def test_a_machine_that_was_away_catches_up(team: Team, machines: dict[str, Machine]) -> None:
    ada, bob2 = machines["ada-1"], machines["bob-2"]
    bob2.says("remember", METRES)
    for number in range(3):
        ada.says("remember", f"Rule {number} of the harbour holds on pier {number}")
        ada.says("sync")
    ada.says("revise", ada.id_of("Rule 1")[-8:], "--insight", "Rule 1 of the harbour holds on every pier")
    ada.says("forget", ada.id_of("Rule 2")[-8:])
    ada.says("sync")
    plain = told_json("-C", str(bob2.folder), "sync") if bob2.says("remote", "status") else {}
    assert plain["server"]["received"] == 3
    brief = bob2.brief()
    assert "Rule 0 of the harbour" in brief
    assert "Rule 1 of the harbour holds on every pier" in brief
    assert "Rule 2" not in brief
    assert METRES in brief


def test_a_revoked_token_says_so_and_loses_nothing(team: Team, machines: dict[str, Machine]) -> None:
    bob = machines["bob-1"]
    [token] = team.rest("GET", "/tokens", "bob")["items"]
    headers = {"Authorization": f"Bearer {team.tokens['bob']}"}
    assert httpx.delete(f"{team.server.url}/v1/tokens/{token['id']}", headers=headers).status_code < 300
    bob.says("remember", METRES)
    code, trouble = bob.fails("sync")
    assert code == 77
    assert "holdfast login" in trouble
    assert METRES in bob.brief()
    assert os.path.exists(bob.folder)


def test_a_session_syncs_by_itself_after_it_and_before_the_next(team: Team, machines: dict[str, Machine]) -> None:
    """The learner does it, which hooks start, and `holdfast` never waits for."""
    from holdfast.domain.hookcall import HookCall, render_errand
    from holdfast.domain.vocabulary import SessionId
    from holdfast.home.handover import SYNC, is_sync_due
    from holdfast.surfaces.hooks import learner

    ada, bob = machines["ada-1"], machines["bob-1"]
    ada.says("remember", RETRIES)
    ended = HookCall(host="", name="end", session=SessionId("s1"), cwd=str(ada.folder))
    learner.main([render_errand(ended)])
    bob.says("status")
    starting = HookCall(host="", name="start", session=SessionId("s2"), cwd=str(bob.folder))
    settings = load_settings()
    assert is_sync_due(settings.home, settings.run_path)
    assert not is_sync_due(settings.home, settings.run_path), "not at every start"
    learner.main([render_errand(starting), SYNC])
    assert RETRIES in bob.brief()
