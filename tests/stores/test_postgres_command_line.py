"""The command line on a memory in PostgreSQL: it does what it does on a file, and shows no password."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.postgresql import APPLICATION, Cluster, Database

SECRET = "hunter2"


@pytest.fixture
def url(database: Database, organisation: int) -> str:
    """A URL with a password, which a trusting server does not ask for."""
    url = database.store_url(organisation)
    return url.replace(f"{APPLICATION}@", f"{APPLICATION}:{SECRET}@", 1)


def run(project: Path, url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOLDFAST_STORE": url, "HOME": str(project.parent)}
    environment["HOLDFAST_HOME"] = str(project.parent / ".holdfast")
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *arguments], cwd=project, env=environment, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip


def test_a_memory_on_a_server_is_used_backed_up_and_restored(project: Path, url: str) -> None:
    backup = str(project.parent / "backup.zip")
    runs = [
        run(project, url, *arguments)
        for arguments in (
            ("remember", "Always run the tide tables before a release"), ("recall", "tide tables"), ("status",),
            ("backup", backup), ("remember", "Never sail without a lamp"), ("restore", backup, "--yes"), ("list",),
        )
    ]  # fmt: skip
    for done in runs:
        assert done.returncode == 0, done.stderr
        assert SECRET not in done.stdout + done.stderr
    assert "tide tables" in runs[1].stdout
    assert "postgresql://" in runs[2].stdout
    assert "tide tables" in runs[-1].stdout
    assert "lamp" not in runs[-1].stdout
    for file in (project.parent / ".holdfast").rglob("*"):
        if file.is_file():
            assert SECRET.encode() not in file.read_bytes(), file


def test_the_doctor_says_what_is_wrong_and_shows_no_password(project: Path, url: str, cluster: Cluster) -> None:
    sound = run(project, url, "doctor")
    assert "the postgresql store opens" in sound.stdout
    away = run(project, f"postgresql://ada:{SECRET}@127.0.0.1:1/memory", "doctor")
    assert "PostgreSQL at 127.0.0.1:1, database memory: the connection failed" in away.stdout
    assert away.returncode == 1
    for done in (sound, away, run(project, f"postgresql://ada:{SECRET}@h:x/memory", "doctor")):
        assert SECRET not in done.stdout + done.stderr


def test_the_doctor_names_the_missing_extension_and_its_package(project: Path, cluster: Cluster) -> None:
    with cluster.connect() as sql:
        if sql.info.server_version < 180_000:
            pytest.skip("the server cannot be told to look for extensions elsewhere")
    cluster.execute("CREATE DATABASE bare TEMPLATE template0")
    cluster.execute("ALTER DATABASE bare SET extension_control_path = '/nowhere'")
    done = run(project, cluster.url("bare"), "doctor")
    assert "the extension `vector` (pgvector) is not installed on the database server" in done.stdout
    assert "apt install postgresql-18-pgvector" in done.stdout
    assert done.returncode == 1
    cluster.drop_database("bare")
