"""The start of a session syncs a linked project in the background; without a link nothing of that is started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from secrets import token_bytes

import pytest

from holdfast.domain.team import TeamCaller
from holdfast.home.handover import REMOTES, SYNCED
from holdfast.home.remotes import ProjectLink, Remote, change_remotes
from holdfast.ports.team import TeamServices
from holdfast.settings import load_settings
from holdfast.team import access, founding, projects
from holdfast.wiring import RequestServices, open_backend
from tests.server.serving import served
from tests.surfaces.hookcalls import Hooks, learners, short_folder, wait_for


@pytest.fixture
def hooks() -> Iterator[Hooks]:
    with short_folder() as machine:
        yield machine


@pytest.fixture
def linked(hooks: Hooks, tmp_path: Path) -> Iterator[str]:
    """A running server that the hooks' project is linked to; its address."""
    environment = {"HOLDFAST_HOME": str(tmp_path / "server"), "HOME": str(tmp_path), "HOLDFAST_STORE": ""}
    settings = load_settings(environment)
    clock = RequestServices(settings).clock
    with hooks.memory() as memory:
        project = memory.location.project
    with open_backend(settings) as backend:
        made = founding.bootstrap(backend, clock, token_bytes, name="Harbour", admin="Root")
        team = TeamServices(stores=backend.open(made.number), clock=clock, random_bytes=token_bytes)
        admin: TeamCaller = access.authenticate(backend, clock, made.text)
        projects.add_project(team, admin, project.id, name="Ledger")
    with served(**environment) as server:
        remote = Remote(name="hub", url=server.url, token=made.text)
        link = ProjectLink(project=project.id, remote="hub")
        change_remotes(hooks.settings.home, lambda remotes: remotes.with_remote(remote).with_link(link))
        yield server.url


def test_a_start_syncs_in_the_background(hooks: Hooks, linked: str) -> None:
    with hooks.memory() as memory:
        memory.remember("The rate is rounded half to even")
    hooks.call("SessionStart")

    def has_synced() -> bool:
        with hooks.memory() as memory:
            return bool(memory.last_exchange(Remote(name="hub", url=linked)))

    wait_for(has_synced, "the project was synced")
    wait_for(lambda: not learners(hooks), "the learner ended")
    assert hooks.log == ""


def test_a_start_without_a_network_says_nothing_and_breaks_nothing(hooks: Hooks) -> None:
    with hooks.memory() as memory:
        project = memory.location.project.id
        memory.remember("The rate is rounded half to even")
    remote = Remote(name="hub", url="http://127.0.0.1:9", token="hf_p")
    link = ProjectLink(project=project, remote="hub")
    change_remotes(hooks.settings.home, lambda remotes: remotes.with_remote(remote).with_link(link))
    assert "rounded half to even" in hooks.call("SessionStart")
    wait_for(lambda: not learners(hooks), "the learner ended")
    assert hooks.log == ""


def test_a_start_without_a_link_looks_for_none(hooks: Hooks) -> None:
    hooks.call("SessionStart")
    assert not Path(hooks.settings.home, REMOTES).exists()
    assert not Path(hooks.settings.run_path, SYNCED).exists()
