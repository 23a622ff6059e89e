"""`python -m tests.hosts.refresh`: rewrite the expected results; a person reviews the difference."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.hosts.golden import cases, refresh
from tests.hosts.ruled import HOSTS, golden, made

if __name__ == "__main__":
    for case in cases():
        if refresh(case):
            print(case)
    for host in HOSTS:
        with TemporaryDirectory() as folder:
            text = made(host, Path(folder).resolve()).encode()
        if not golden(host).exists() or golden(host).read_bytes() != text:
            golden(host).write_bytes(text)
            print(golden(host))
