"""An organisation moves between two PostgreSQL clusters while the server serves its clients, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx2 as httpx
import psycopg
import pytest

from tests.postgresql import Clusters
from tests.server.ledger import Ledger
from tests.server.people import Founded, found
from tests.server.serving import WAIT_S, served

PROJECT = "g1-harbour"
BATCH = 25
"""Acknowledged writes between two moves."""


@pytest.fixture
def urls(clusters: Clusters) -> dict[str, str]:
    """A database on each of two clusters."""
    made = {name: clusters.start() for name in ("home", "east")}
    for cluster in made.values():
        cluster.create_database("team")
    return {name: cluster.url("team") for name, cluster in made.items()}


@pytest.fixture
def team(urls: dict[str, str], tmp_path: Path) -> Founded:
    return found(
        HOME=str(tmp_path), HOLDFAST_HOME=str(tmp_path / ".holdfast"), HOLDFAST_HOLDOUT="0",
        HOLDFAST_STORE=urls["home"], HOLDFAST_SERVE_PLACES=f"east={urls['east']}",
    )  # fmt: skip


def move(team: Founded, place: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "serve", "move", str(team.number), place], env=dict(team.environment),
        capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows_at(url: str) -> int:
    with psycopg.connect(url) as connection:
        return sum(
            (connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() or (0,))[0]
            for table in ("lessons", "postings", "documents", "team_records", "audit_log")
        )


def test_clients_go_on_while_their_organisation_moves(team: Founded, urls: dict[str, str]) -> None:
    with served(["workers=2"], **team.environment) as server:
        headers = {"authorization": f"Bearer {team.key}"}
        made = httpx.post(
            f"{server.url}/v1/projects", json={"id": PROJECT, "name": PROJECT}, headers=headers, timeout=WAIT_S
        )
        assert made.is_success, made.text
        ledger = Ledger(server.url, team.key, PROJECT)
        with ledger.load():
            for number, place in enumerate(("east", "home", "east"), start=1):
                ledger.wait_for(BATCH * number)
                assert f"is in {place}" in move(team, place)
            ledger.wait_for(BATCH * 4)
        ledger.check()
        assert (rows_at(urls["home"]), rows_at(urls["east"]) > 0) == (0, True)
        audit = httpx.get(f"{server.url}/v1/audit/verify", headers=headers, timeout=WAIT_S)
        assert audit.is_success, audit.text
        assert urls["east"] not in server.text
