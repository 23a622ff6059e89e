"""The private clusters of tests/postgresql.py."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from tests.postgresql import APPLICATION, OWNER, SUPERUSER, Cluster, Clusters, Database, is_alive


def test_a_database_has_vectors_and_the_roles_have_no_privileges(database: Database) -> None:
    for url in (database.url, database.owner_url):
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT '[1,2]'::halfvec <=> '[1,2]'::halfvec").fetchone() == (0.0,)
            role = "SELECT rolsuper, rolbypassrls, rolcreatedb FROM pg_roles WHERE rolname = current_user"
            assert connection.execute(role).fetchone() == (False, False, False)
    with database.connect(OWNER) as owner, database.connect(APPLICATION) as program:
        owner.execute("CREATE TABLE walls (org int)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            program.execute("SELECT * FROM walls")


def test_no_server_listens_on_a_port(cluster: Cluster) -> None:
    with cluster.connect() as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


def test_a_killed_server_has_what_it_acknowledged(clusters: Clusters) -> None:
    cluster = clusters.start()
    with cluster.connect() as connection:
        connection.execute("CREATE TABLE rows (number int)")
        connection.execute("INSERT INTO rows SELECT generate_series(1, 1000)")
        cluster.kill()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    cluster.start()
    with cluster.connect() as connection:
        assert connection.execute("SELECT count(*) FROM rows").fetchone() == (1000,)
    cluster.restart()
    with cluster.connect() as connection:
        assert connection.execute("SELECT count(*) FROM rows").fetchone() == (1000,)
    cluster.stop()


def test_a_standby_follows_refuses_writes_and_takes_over(clusters: Clusters) -> None:
    primary = clusters.start()
    standby = primary.standby()
    with primary.connect() as connection, standby.connect() as copy:
        connection.execute("CREATE TABLE rows (number int)")
        connection.execute("INSERT INTO rows VALUES (7)")
        position = connection.execute("SELECT pg_current_wal_lsn()").fetchone()
        assert position is not None
        while copy.execute("SELECT pg_last_wal_replay_lsn() >= %s", position).fetchone() != (True,):
            time.sleep(0.01)
        assert copy.execute("SELECT number FROM rows").fetchone() == (7,)
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            copy.execute("INSERT INTO rows VALUES (8)")
    primary.kill()
    standby.promote()
    with standby.connect() as copy:
        copy.execute("INSERT INTO rows VALUES (8)")
    standby.stop()


KILLED = """
import os, signal, sys
from tests.postgresql import Clusters
clusters = Clusters()
cluster = clusters.start()
print(cluster.folder, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_test_run_leaves_nothing_behind(how: signal.Signals) -> None:
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as run:  # fmt: skip
        assert run.stdout is not None
        folder = Path(run.stdout.readline().strip())
        server = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        assert is_alive(server)
        run.send_signal(how)
        run.wait()
        while folder.parent.exists():
            time.sleep(0.05)
    assert not is_alive(server)


def test_a_template_is_made_once(clusters: Clusters, cluster: Cluster) -> None:
    made: list[str] = []

    def prepare(database: Database) -> None:
        made.append(database.name)
        with database.connect(OWNER) as connection:
            connection.execute("CREATE TABLE rows AS SELECT 5 AS number")

    for name in ("copy_1", "copy_2"):
        template = clusters.make_template(cluster, "five", prepare)
        with cluster.create_database(name, template).connect(SUPERUSER) as connection:
            assert connection.execute("SELECT number FROM rows").fetchone() == (5,)
        cluster.drop_database(name)
    assert made == ["five"]
