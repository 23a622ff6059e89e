"""The README's section on teams, followed literally: two people, two machines each, one server on PostgreSQL."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.conftest import PYTHON
from tests.postgresql import Database
from tests.server.serving import Server

README = Path(__file__).resolve().parents[2] / "README.md"
RULE = "Round ledger amounts half to even, never half up"
PROPOSED = "Amounts in ledger.py are whole cents, never floats"
PRIVATE = "Ada thinks the quarterly numbers of Zanzibar are invented"


def blocks() -> list[str]:
    """The shell blocks of the section, each as it stands, without its comments."""
    section = README.read_text(encoding="utf-8").partition("## Share it with a team")[2].partition("\n## ")[0]
    shell = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return [re.sub(r" +#.*", "", block) for block in shell]


class Computer:
    """A machine with a home of its own, on which commands are typed into a shell."""

    def __init__(self, folder: Path, name: str, origin: Path | None = None) -> None:
        self.home = folder / name
        self.home.mkdir()
        self.clone = self.home / "ledger"
        if origin:
            subprocess.run(["git", "clone", "-q", str(origin), str(self.clone)], check=True)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("HOLDFAST", "GIT", "PG"))}
        path = f"{Path(PYTHON).parent}{os.pathsep}{os.environ['PATH']}"
        self.env = environment | {
            "HOME": str(self.home),
            "PATH": path,
            "GIT_CONFIG_NOSYSTEM": "1",
            "HOLDFAST_SERVE_PORT": "0",
        }

    def type(self, commands: str, answer: str = "") -> str:
        """What the commands print on stdout; the first that fails ends the test."""
        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands], cwd=self.clone if self.clone.is_dir() else self.home,
            env=self.env, input=answer, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, f"{commands}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout

    @contextmanager
    def serve(self, commands: str) -> Iterator[Server]:
        """Run commands of which the last is a server, as long as the block lasts."""
        *before, last = commands.strip().splitlines()
        script = "\n".join([*before, f"exec {last}"])
        process = subprocess.Popen(
            ["bash", "-euc", script], cwd=self.home, env=self.env, stderr=subprocess.PIPE, text=True
        )
        server = Server(process)
        try:
            yield server
        finally:
            server.stop()
            server.close()


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A repository that everybody clones."""
    folder = tmp_path / "origin"
    folder.mkdir()
    (folder / "ledger.py").write_text("rate = 1\n")
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run(["git", *author, *command], cwd=folder, check=True)
    return folder


def test_the_section_works_as_it_is_written(tmp_path: Path, origin: Path, database: Database) -> None:
    install, join, grow = blocks()
    assert install.startswith("pip install 'holdfast-memory[server]'\n")
    steps_there = install.replace(
        "postgresql://holdfast@db.example.com/holdfast", f"'{database.cluster.url(database.name)}'"
    )
    *setting, bootstrap, serve = steps_there.splitlines()[1:]
    computer = Computer(tmp_path, "server")
    key = computer.type("\n".join([*setting, bootstrap])).split()[-1]
    with computer.serve("\n".join([*setting, serve])) as server:
        steps = join.replace("https://memory.example.com", server.url)
        invite, token = grow.splitlines()
        ada, adas_laptop = Computer(tmp_path, "ada", origin), Computer(tmp_path, "ada laptop", origin)
        grace, graces_laptop = Computer(tmp_path, "grace", origin), Computer(tmp_path, "grace laptop", origin)

        ada.type(f"holdfast remember '{RULE}' --kind constraint --file ledger.py")
        ada.type(f"holdfast remember '{PRIVATE}' --private")
        ada.type(steps, answer=key)
        adas_laptop.type(steps, answer=ada.type(token).splitlines()[0])
        link = ada.type(invite).splitlines()[0]
        grace.type(steps.replace(server.url, link))
        graces_laptop.type(steps, answer=grace.type(token).splitlines()[0])
        for machine in (ada, adas_laptop, grace, graces_laptop):
            assert RULE in machine.type("holdfast brief")

        grace.type(f"holdfast remember '{PROPOSED}' --kind constraint --file ledger.py\nholdfast sync")
        assert PROPOSED in graces_laptop.type("holdfast sync >/dev/null; holdfast brief")
        assert PROPOSED not in adas_laptop.type("holdfast sync >/dev/null; holdfast list")
        ada.type("holdfast sync")
        (waiting,) = json.loads(ada.type("holdfast review --list --json"))["lessons"]
        ada.type(f"holdfast review --accept {waiting['id'][-8:]}\nholdfast sync")
        assert PROPOSED in adas_laptop.type("holdfast sync >/dev/null; holdfast brief")
        for machine in (adas_laptop, grace, graces_laptop):
            assert "Zanzibar" not in machine.type("holdfast list --state all")
        with database.connect() as connection:
            tables = [
                row[0] for row in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            ]
            assert tables
            for table in tables:
                rows = connection.execute(f'SELECT count(*) FROM "{table}" t WHERE t::text LIKE %s', ["%Zanzibar%"])  # type: ignore[arg-type]
                assert rows.fetchone() == (0,), table
    assert "Zanzibar" not in server.text
