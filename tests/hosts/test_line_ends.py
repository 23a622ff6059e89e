"""Files as Windows' editors write them, with CRLF and perhaps a byte order mark: set up and given back all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts.test_install import HOSTS, Machine, furnish


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "marked"])
@pytest.mark.parametrize("host", HOSTS)
def test_files_with_crlf_keep_it_and_are_given_back(home: Path, host: str, mark: bytes) -> None:
    machine = Machine(home.parent)
    furnish(machine, host)
    for path in [path for path in machine.home.rglob("*") if path.is_file()]:
        path.write_bytes(mark + path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    before = machine.files()
    machine.run("setup", host)
    after = machine.files()
    changed = [name for name in before if after[name] != before[name] and b"\r\n" in before[name]]
    assert [name for name in changed if after[name].replace(b"\r\n", b"").count(b"\n")] == []
    assert all(after[name].startswith(mark) for name in before)
    machine.run("setup", host)
    assert machine.files() == after
    machine.run("uninstall", host)
    assert machine.files() == before
