"""Observe: nothing secret, ignored or outside of the project is kept; what is kept is stamped and cut to size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture.observe import observe
from holdfast.domain.event import TEXT_LIMIT, Event
from holdfast.domain.project import Location
from holdfast.ports.services import Services
from holdfast.ports.store import EventFilter
from holdfast.stores.sqlite import make
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import FixedClock, make_event
from holdfast.workspace.local import LocalWorkspace
from tests import credentials

KEY = "gh" + "p_" + "a1B2" * 9


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    (folder / "src").mkdir(parents=True)
    return folder


@pytest.fixture
def services(store: SqliteStore) -> Services:
    clock = FixedClock()
    return Services(
        store=store,
        workspace=LocalWorkspace(store, clock),
        clock=clock,
        host=_no_host,
        detectors=tuple,
        embedder=lambda: None,
    )


@pytest.fixture
def location(services: Services, root: Path) -> Location:
    return services.workspace.locate(str(root))


def _no_host(name: str) -> Any:
    raise AssertionError(f"no host {name} is needed to observe")


def stored(services: Services, location: Location, **over: Any) -> Event:
    assert observe(services, location, [make_event(**{"cwd": location.root, "project": "", **over})]) == 1
    return services.store.find_events(EventFilter())[-1][1]


def test_an_event_is_stamped_with_where_it_happened(services: Services, location: Location) -> None:
    here = replace(location, branch="main", commit="c0ffee")
    event = stored(services, here, cwd="")
    assert (event.project, event.cwd, event.branch, event.commit) == (
        location.project.id,
        location.root,
        "main",
        "c0ffee",
    )


def test_what_the_host_stated_about_the_place_stays(services: Services, location: Location) -> None:
    event = stored(services, replace(location, branch="main"), branch="feature", commit="abc", project="project-z")
    assert (event.project, event.branch, event.commit) == ("project-z", "feature", "abc")


def test_files_become_relative_to_the_root(services: Services, location: Location) -> None:
    files = (f"{location.root}/src/app.py", "src/other.py", "./src/app.py")
    assert stored(services, location, files=files).files == ("src/app.py", "src/other.py")


def test_a_relative_file_is_taken_from_the_events_own_folder(services: Services, location: Location) -> None:
    assert stored(services, location, files=("app.py",), cwd=f"{location.root}/src").files == ("src/app.py",)


def test_files_outside_of_the_project_are_dropped_but_the_text_stays(services: Services, location: Location) -> None:
    event = stored(services, location, files=("/usr/lib/python3/os.py",), text="import abc")
    assert (event.files, event.text) == ((), "import abc")


def test_a_file_of_another_machine_is_relative_to_that_machines_folder(services: Services, location: Location) -> None:
    there = {"cwd": "/Users/ann/app", "files": ("/Users/ann/app/src/app.py", "/Users/ann/other/x.py")}
    assert stored(services, location, **there).files == ("src/app.py",)
    assert stored(services, location, cwd="C:\\Users\\ann\\app", files=("C:\\Users\\ann\\app\\src\\b.py",)).files == (
        "src/b.py",
    )


@pytest.mark.parametrize("name", [".env", "deploy/.env.production", "keys/id_rsa", "server.key", ".aws/credentials"])
def test_an_event_about_a_file_of_secrets_keeps_no_text(services: Services, location: Location, name: str) -> None:
    event = stored(
        services,
        location,
        kind="file_edit",
        tool="Edit",
        files=(f"{location.root}/{name}",),
        text="unspoken",
        old="unspoken",
        new="unspoken",
    )
    assert (event.kind, event.tool, event.files) == ("file_edit", "Edit", ())
    assert (event.text, event.old, event.new) == ("", "", "")


def test_the_output_of_a_command_that_reads_a_file_of_secrets_is_not_stored(
    services: Services, location: Location
) -> None:
    event = stored(
        services, location, kind="tool_result", tool="Bash", command="cat ./config/.env | sort", text="unspoken"
    )
    assert (event.command, event.text) == ("cat ./config/.env | sort", "")
    assert stored(services, location, command="cat .env.example", text="spoken").text == "spoken"


def test_paths_the_user_ignores_leave_no_trace(services: Services, location: Location) -> None:
    strict = replace(services, ignore=("private/**", "*.sql"))
    event = stored(strict, location, files=("private/plan.md", "a/dump.sql"), text="unspoken")
    assert (event.files, event.text) == ((), "")
    mixed = stored(strict, location, files=("private/plan.md", "src/app.py"), text="spoken")
    assert (mixed.files, mixed.text) == (("src/app.py",), "spoken")


def test_a_long_text_is_cut_and_its_length_recorded(services: Services, location: Location) -> None:
    text = "line of output\n" * 10_000
    event = stored(services, location, text=text, text_length=0, old=text, new=text)
    assert event.text_length == len(text)
    assert all(len(part) <= TEXT_LIMIT + 60 for part in (event.text, event.old, event.new))
    assert event.text.endswith("line of output\n")


def test_nul_characters_are_left_out(services: Services, location: Location) -> None:
    event = stored(services, location, text="a\0b", command="c\0d", files=("src/a\0.py",))
    assert (event.text, event.command, event.files) == ("ab", "cd", ("src/a.py",))


def test_nothing_is_stored_when_capture_is_off(services: Services, location: Location) -> None:
    assert observe(replace(services, capture=False), location, [make_event()]) == 0
    assert services.store.find_events(EventFilter()) == []


def test_an_event_seen_twice_is_stored_once(services: Services, location: Location) -> None:
    event = make_event(key="one")
    assert observe(services, location, [event]) == 1
    assert observe(services, location, [event, replace(event, id="other")]) == 0


def test_no_secret_reaches_the_disk(tmp_path: Path, root: Path) -> None:
    planted = [
        (text, secret)
        for name, text, secret in [*credentials.iter_keys(7, 3), *credentials.iter_assigned(7, 3)]
        if not name.startswith("random")
    ]
    url = f"sqlite://{tmp_path}/kept/memory.db"
    with make({"url": url}) as store:
        clock = FixedClock()
        workspace = LocalWorkspace(store, clock)
        services = Services(
            store=store, workspace=workspace, clock=clock, host=_no_host, detectors=tuple, embedder=lambda: None
        )
        location = workspace.locate(str(root))
        events = [
            make_event(
                kind="file_edit", tool="Edit", text=text, command=text, old=text, new=text, branch=text,
                cwd=location.root,
                files=(f"{location.root}/src/{KEY}.py",), project="",
            )
            for text, _ in planted
        ]  # fmt: skip
        assert observe(services, location, events) == len(events)
        disk = b"".join(path.read_bytes() for path in (tmp_path / "kept").iterdir())
        assert b"[redacted:" in disk
        assert [secret for _, secret in [*planted, ("", KEY)] if secret.encode() in disk] == []
    disk = b"".join(path.read_bytes() for path in (tmp_path / "kept").iterdir())
    assert [secret for _, secret in planted if secret.encode() in disk] == []


def test_a_relative_file_of_another_machine_is_taken_from_that_machines_folder(
    services: Services, location: Location
) -> None:
    assert stored(services, location, cwd="/Users/ann/app", files=("src/app.py", "../x.py")).files == ("src/app.py",)
