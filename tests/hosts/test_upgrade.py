"""What an older version registered is replaced by setup and taken back by uninstall, with the manifest and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts.registered import LAUNCHER, registered, set_up_by_an_older_version
from tests.hosts.test_install import HOSTS, Machine, furnish, machine  # noqa: F401  the fixture

OLD_MARKS = ("holdfast/surfaces/hooks/entry.py", '"-m"', "- -m")


def texts(machine: Machine) -> str:  # noqa: F811
    return "\n".join(content.decode() for content in machine.files().values())


@pytest.mark.parametrize("host", HOSTS)
def test_setup_rewrites_what_an_older_version_registered(machine: Machine, home: Path, host: str) -> None:  # noqa: F811
    furnish(machine, host)
    before = machine.files()
    machine.run("setup", host)
    fresh = machine.files()
    machine.run("uninstall")
    assert machine.files() == before
    set_up_by_an_older_version(home, machine.home, host)
    assert host == "aider" or machine.files() not in (before, fresh)
    machine.run("setup", host)
    assert machine.files() == fresh
    machine.run("uninstall")
    assert machine.files() == before


@pytest.mark.parametrize("host", HOSTS)
def test_without_the_manifest_no_old_entry_stays_beside_the_new_one(
    machine: Machine, home: Path, host: str  # noqa: F811
) -> None:  # fmt: skip
    furnish(machine, host)
    set_up_by_an_older_version(home, machine.home, host)
    (home / "manifest.json").unlink()
    machine.run("setup", host)
    assert not any(mark in texts(machine) for mark in OLD_MARKS)
    assert host == "aider" or any(LAUNCHER in word for entry in registered(home) for word in entry.words)


@pytest.mark.parametrize("host", HOSTS)
def test_uninstall_takes_back_what_an_older_version_registered_and_no_manifest_tells_of(
    machine: Machine, home: Path, host: str  # noqa: F811
) -> None:  # fmt: skip
    furnish(machine, host)
    set_up_by_an_older_version(home, machine.home, host)
    (home / "manifest.json").unlink()
    machine.run("uninstall")
    assert not any(mark in texts(machine) for mark in (*OLD_MARKS, "holdfast.surfaces.mcp"))
