"""A server with a read replica."""

from __future__ import annotations

from pathlib import Path

import httpx2 as httpx
import pytest

from tests.postgresql import Cluster, Clusters
from tests.server.people import found
from tests.server.serving import WAIT_S, served


@pytest.fixture
def environment(cluster: Cluster, tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "HOLDFAST_HOME": str(tmp_path / ".holdfast"), "HOLDFAST_HOLDOUT": "0"}


def test_what_was_written_is_read_at_once_with_a_replica(clusters: Clusters, environment: dict[str, str]) -> None:
    primary = clusters.start()
    primary.create_database("team")
    replica = primary.standby()
    environment |= {"HOLDFAST_STORE": primary.url("team")}
    team = found(**environment)
    with served(["workers=2", f"replicas={replica.url('team')}"], **environment) as server:
        headers = {"authorization": f"Bearer {team.key}"}
        with httpx.Client(base_url=server.url, headers=headers, timeout=WAIT_S) as client:
            assert client.post("/v1/projects", json={"id": "p", "name": "p"}).is_success
            for number in range(10):
                saved = client.post("/v1/projects/p/lessons", json={"insight": f"Rule {number} holds for file{number}"})
                after = {"holdfast-after": saved.headers["holdfast-after"]}
                answer = client.post("/v1/projects/p/recall", json={"text": f"file{number}"}, headers=after).json()
                assert saved.json()["id"] in [item["lesson"]["id"] for item in answer["items"]]
        replica.stop()
        answer = httpx.get(f"{server.url}/v1/projects/p/lessons", headers=headers, timeout=WAIT_S)
        assert len(answer.json()["items"]) == 10
        assert server.get("/v1/ready").is_success
