"""Every host's rules files: written as the host reads them, unchanged by a second sync, and every byte given back.

`tests/golden/hosts/<host>/rules.txt` holds the files, refreshed with the other recordings.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from holdfast.wiring import load_host
from tests.hosts.ruled import HOSTS, Ruled, golden, titles


@pytest.mark.parametrize("host", HOSTS)
def test_the_files_are_those_recorded_stay_and_go(host: str, tmp_path: Path) -> None:
    ruled = Ruled(tmp_path)
    before = ruled.files()
    ruled.run("rules", "sync", "--host", host)
    after = ruled.files()
    assert ruled.written(before) == golden(host).read_bytes().decode()
    output = ruled.run("rules", "sync")
    assert {line.split()[0] for line in output.splitlines()} == {"unchanged"}
    assert ruled.files() == after
    ruled.run("rules", "remove")
    assert ruled.files() == before
    assert not list(ruled.code.folder.glob(".*/rules"))


@pytest.mark.parametrize("host", HOSTS)
def test_front_matter_is_what_a_yaml_reader_understands(host: str) -> None:
    for part in golden(host).read_text("utf-8").split("==> ")[1:]:
        text = part.partition("<==\n")[2]
        if text.startswith("---\n"):
            assert isinstance(yaml.safe_load(text.split("---\n")[1]), dict)


def test_a_host_that_tells_paths_apart_has_a_file_a_folder() -> None:
    for host in HOSTS:
        target = next((candidate for candidate in load_host(host).profile.rules if "{slug}" in candidate.file), None)
        if target and "{globs}" in target.front_matter:
            names = [target.file.replace("{slug}", slug) for slug in ("always", "src", "web")]
            assert titles(golden(host).read_text("utf-8")) == names


def test_every_host_that_takes_whole_files_says_how_rules_always_hold() -> None:
    scoped = [target for host in HOSTS for target in load_host(host).profile.rules if "{globs}" in target.front_matter]
    assert all(target.always or target.front_matter.startswith("---\npaths:") for target in scoped)
    assert all(
        target.file in target.first_of for host in HOSTS for target in load_host(host).profile.rules if target.first_of
    )
