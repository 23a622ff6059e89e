"""The server answers a client from a standby that has what the client has seen, and else from the primary."""

from __future__ import annotations

from pathlib import Path

import httpx2 as httpx
import pytest

from holdfast.client import Client
from tests.postgresql import Cluster, Clusters
from tests.server.people import Founded, found
from tests.server.serving import WAIT_S, served

PROJECT = "g1-harbour"
RULE = "The harbour closes its gates at a tide of 4 metres"


@pytest.fixture
def primary(clusters: Clusters) -> Cluster:
    made = clusters.start()
    made.create_database("team")
    return made


@pytest.fixture
def team(primary: Cluster, tmp_path: Path) -> Founded:
    return found(
        HOME=str(tmp_path), HOLDFAST_HOME=str(tmp_path / ".holdfast"), HOLDFAST_HOLDOUT="0",
        HOLDFAST_STORE=primary.url("team"),
    )  # fmt: skip


def test_a_client_reads_what_it_wrote_although_the_standby_lags(team: Founded, primary: Cluster) -> None:
    headers = {"authorization": f"Bearer {team.key}"}
    with served(**team.environment) as server:
        made = httpx.post(
            f"{server.url}/v1/projects", json={"id": PROJECT, "name": PROJECT}, headers=headers, timeout=WAIT_S
        )
        assert made.is_success, made.text
    standby = primary.standby()
    with served(**{**team.environment, "HOLDFAST_SERVE_REPLICAS": standby.url("team")}) as server:

        def recalled(**more: str) -> int:
            answer = httpx.post(
                f"{server.url}/v1/projects/{PROJECT}/recall", json={"text": RULE}, headers={**headers, **more},
                timeout=WAIT_S,
            )  # fmt: skip
            assert answer.is_success, answer.text
            return len(answer.json()["items"])

        with standby.connect() as connection:
            connection.execute("SELECT pg_wal_replay_pause()")
        with Client(server.url, team.key, project=PROJECT) as client:
            client.remember(RULE)
            assert len(client.recall(RULE).items) == 1
        assert recalled() == 1  # who says nothing reads from the primary
        assert recalled(**{"Holdfast-After": "0"}) == 0
        with standby.connect() as connection:
            connection.execute("SELECT pg_wal_replay_resume()")
        while not recalled(**{"Holdfast-After": "0"}):
            pass
