"""A team's server under load, beside the raw SQL of the same recall, in the same run.

    python benchmarks/server_load.py [--lessons 100000] [--clients 64] [--seconds 20] [--rounds 3] [--json FILE]

A private PostgreSQL is filled with made-up lessons of one project (see `size_lessons`), with their vectors. Then take
turns, round by round:

- `pgbench` runs the statements that `recall` sends for 100 questions, with prepared statements and as many clients:
  what the database alone can do, with nothing ranked and no HTTP;
- `holdfast serve` answers as many clients in a closed loop: of 20 requests 15 are recalls, 3 briefs and 2 new lessons.

At the end clients come at a fixed rate, half of what the server answered, whether or not it has answered before: the
latency that people feel. Reported are requests a second, p50, p95 and p99 by kind, errors, each worker's memory, the
processor time of each part, and the ratio to raw SQL, by throughput and by processor time: where other programs keep
the machine busy, pgbench's 64 processes get a larger share of it than the server's. Nothing is asserted. `--url` and
`--token` use a database that is filled.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from secrets import token_bytes
from typing import Any

import psycopg
from psycopg import sql as literal

if not __package__:  # started as `python benchmarks/server_load.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.size_lessons import Project, Question, Words
from tests.postgresql import Clusters, find_binaries

from holdfast.bootstrap import Memory
from holdfast.domain import project as domain_project
from holdfast.domain.team import TeamProject
from holdfast.domain.vocabulary import ProjectId
from holdfast.recall.embed import embed_written
from holdfast.settings import load_settings
from holdfast.stores.postgresql import make
from holdfast.team.founding import bootstrap
from holdfast.wiring import RequestServices, SystemClock, open_backend

SEED = 7
PROJECT = ProjectId("shop")
BATCH = 500
QUESTIONS = 100
SETTINGS = ("-c", "shared_buffers=1GB", "-c", "max_connections=300")
"""Of the server; otherwise it is as it comes, and each commit is flushed."""
MIX = ("recall",) * 15 + ("brief",) * 3 + ("remember",) * 2


def fill(url: str, lessons: int) -> list[Question]:
    """Save the lessons with their vectors, and return questions about some of them."""
    serving = RequestServices(load_settings({"HOME": "/nonexistent"}))
    questions: list[Question] = []
    every = max(1, lessons // QUESTIONS)
    project = Project(f"{SEED} one {lessons}", PROJECT, lessons, Words(SEED))
    drawn = project.lessons()
    with make({"url": url}) as store:
        services = serving.over(store)
        saved = 0
        while batch := list(islice(drawn, BATCH)):
            store.put([lesson for lesson, _ in batch], {})
            embed_written(services, [lesson.id for lesson, _ in batch])
            questions += [question for n, (_, question) in enumerate(batch, saved) if n % every == every // 2]
            saved += len(batch)
            if saved % 10_000 == 0:
                print(f"  {saved} saved", file=sys.stderr, flush=True)
    return questions[:QUESTIONS]


def questions_of(lessons: int) -> list[Question]:
    """Return the questions that `fill` returned."""
    every = max(1, lessons // QUESTIONS)
    drawn = Project(f"{SEED} one {lessons}", PROJECT, lessons, Words(SEED)).lessons()
    return [question for n, (_, question) in enumerate(drawn) if n % every == every // 2][:QUESTIONS]


# What the database alone can do


class Recorder(psycopg.Cursor[Any]):
    """Notes the statements of a recall with their arguments."""

    statements: list[tuple[str, Sequence[Any]]] | None = None

    def execute(self, query: Any, params: Any = None, **more: Any) -> Any:
        if Recorder.statements is not None:
            Recorder.statements.append((str(query), list(params or ())))
        return super().execute(query, params, **more)


def record_recalls(url: str, questions: Sequence[Question]) -> list[list[tuple[str, Sequence[Any]]]]:
    """Return the statements of a recall of each question, in a process that has read the lessons before."""
    settings = load_settings({"HOME": "/nonexistent"})
    serving = RequestServices(settings)
    recorded = []
    store = make({"url": url})
    store.tenant.database.cursor_class = Recorder
    with store:
        memory = Memory.over(
            serving.over(store), domain_project.Project(id=PROJECT, name="shop", source="server"), settings
        )
        for question in questions:
            memory.recall(question.text)
        for question in questions:
            Recorder.statements = []
            memory.recall(question.text)
            recorded.append(Recorder.statements)
        Recorder.statements = None
    return recorded


def write_scripts(folder: Path, recalls: Sequence[Sequence[tuple[str, Sequence[Any]]]]) -> list[Path]:
    """Write a script for pgbench for each recall. A client prepares every statement before its first transaction."""
    names: dict[str, str] = {}
    for recall in recalls:
        for statement, arguments in recall:
            if arguments:
                names.setdefault(statement, f"s{len(names)}")
    prepared = [f"PREPARE {name} AS {numbered(statement)};" for statement, name in names.items()]
    scripts = []
    for n, recall in enumerate(recalls):
        lines = ["\\if :prepared = 0", *prepared, "\\set prepared 1", "\\endif"]
        for statement, arguments in recall:
            values = ", ".join(literal.Literal(argument).as_string(None) for argument in arguments)
            lines += (
                [f"EXECUTE {names[statement]}({values});"]
                if arguments
                else [f"{part.strip()};" for part in statement.split(";")]
            )
        scripts.append(folder / f"{n}.sql")
        scripts[-1].write_text("\n".join(lines) + "\n")
    return scripts


def numbered(statement: str) -> str:
    """Return the statement with `$1`, `$2`, ... in the place of `%s`."""
    pieces = statement.replace("%%", "%").split("%s")
    return " ".join("".join(f"{piece}${n}" for n, piece in enumerate(pieces[:-1], start=1)).split()) + pieces[-1]


def run_pgbench(scripts: Sequence[Path], url: str, clients: int, seconds: int) -> dict[str, float]:
    """Return transactions a second and the mean of their milliseconds."""
    files = [argument for script in scripts for argument in ("-f", str(script))]
    command = [
        str(find_binaries() / "pgbench"), "-n", "-c", str(clients), "-j", "2", "-T", str(seconds), "-D", "prepared=0",
        *files, url,
    ]  # fmt: skip
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rate = re.search(r"tps = ([0-9.]+)", printed)
    failed = re.search(r"number of failed transactions: (\d+)", printed)
    done = re.search(r"number of transactions actually processed: (\d+)", printed)
    assert rate, printed
    assert done, printed
    return {
        "a_second": round(float(rate[1]), 1), "transactions": int(done[1]), "errors": int(failed[1]) if failed else 0,
    }  # fmt: skip


# The server and its clients


@contextmanager
def serving(url: str, port: int, workers: int, home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run `holdfast serve` until the block ends."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "HOLDFAST", "PG"))
    }
    environment |= {"HOME": str(home), "HOLDFAST_HOME": str(home / "holdfast"), "HOLDFAST_STORE": url}
    command = [sys.executable, "-m", "holdfast", "serve", "--port", str(port), "--workers", str(workers)]
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=home)
        try:
            for _ in range(300):
                if process.poll() is not None:
                    raise RuntimeError((home / "log").read_text()[-2_000:])
                try:
                    asyncio.run(Client(port, "").ask("GET", "/v1/live"))
                    break
                except OSError:
                    time.sleep(0.1)
            yield process
        finally:
            process.terminate()
            process.wait(30)


class Client:
    """One connection that is kept open. It reads only as much of an answer as it must."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._token = token
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """Return the status and the body of the answer. Raises OSError where there is none."""
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nAuthorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(head.encode() + content)
        try:
            answer = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = re.search(rb"content-length: (\d+)", answer)
            text = await reader.readexactly(int(length[1]) if length else 0)
        except (OSError, EOFError, asyncio.IncompleteReadError) as exc:
            await self.close()
            raise OSError(str(exc)) from exc
        return int(answer[9:12]), text

    async def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class Load:
    """Requests of the mix, and what came of them."""

    def __init__(self, port: int, token: str, questions: Sequence[Question], words: Words, seed: int) -> None:
        self._port, self._token = port, token
        self._questions, self._words = questions, words
        self._rng = random.Random(seed)
        self.taken: dict[str, list[float]] = {}
        self.errors: dict[str, int] = {}

    async def closed(self, clients: int, seconds: float) -> float:
        """Let each client ask again as soon as it is answered; return requests answered a second."""
        end = time.perf_counter() + seconds
        began = time.perf_counter()

        async def work() -> None:
            client = Client(self._port, self._token)
            while time.perf_counter() < end:
                await self._one(client, time.perf_counter())
            await client.close()

        await asyncio.gather(*(work() for _ in range(clients)))
        return sum(map(len, self.taken.values())) / (time.perf_counter() - began)

    async def open(self, rate: float, seconds: float) -> None:
        """Begin a request every 1 / rate seconds, whether or not others wait; time counts from when it was due."""
        idle: list[Client] = []
        began = time.perf_counter()

        async def work(due: float) -> None:
            client = idle.pop() if idle else Client(self._port, self._token)
            await self._one(client, due)
            idle.append(client)

        tasks = []
        for n in range(int(rate * seconds)):
            due = began + n / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(asyncio.create_task(work(due)))
        await asyncio.gather(*tasks)
        for client in idle:
            await client.close()

    async def _one(self, client: Client, began: float) -> None:
        kind = self._rng.choice(MIX)
        question = self._rng.choice(self._questions)
        bodies: dict[str, Any] = {
            "recall": {"text": question.text},
            "brief": {},
            "remember": {"insight": " ".join(self._words.draw(self._rng, 17)), "files": [question.path]},
        }
        path = "lessons" if kind == "remember" else kind
        try:
            status, answer = await client.ask("POST", f"/v1/projects/{PROJECT}/{path}", bodies[kind])
        except OSError as exc:
            status, answer = 0, str(exc).encode()
        if status not in (200, 201):
            self.errors[f"{kind} {status} {answer[:120].decode(errors='replace')}"] = (
                self.errors.get(f"{kind} {status} {answer[:120].decode(errors='replace')}", 0) + 1
            )
            return
        self.taken.setdefault(kind, []).append(time.perf_counter() - began)

    def spread(self) -> dict[str, Any]:
        """Return p50, p95 and p99 in ms of each kind and of all, and the errors."""
        every = [took for times in self.taken.values() for took in times]
        kinds = {name: percentiles(times) for name, times in sorted({**self.taken, "all": every}.items()) if times}
        return {"ms": kinds, "answered": len(every), "errors": dict(self.errors)}


def percentiles(times: Sequence[float]) -> dict[str, float]:
    """Return p50, p95 and p99 in ms."""
    ordered = sorted(times)
    return {
        f"p{share}": round(ordered[min(len(ordered) - 1, len(ordered) * share // 100)] * 1000, 1)
        for share in (50, 95, 99)
    }


# Processes


def tree(pid: int) -> list[int]:
    """Return a process and those that it started; nothing of one that has just ended."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(below for child in children for below in tree(int(child)))]


def busy_s(pids: Sequence[int]) -> float:
    """Return the seconds of a processor that the processes have had, their ended children included."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def postmaster(url: str) -> int:
    """Return the process that started all processes of the database."""
    with psycopg.connect(url) as connection:
        (backend,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        return int(Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()[1])


def memory_mb(pid: int) -> float:
    """Return the memory that a process holds, shared pages counted in full."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = re.search(r"VmRSS:\s+(\d+) kB", status)
    return round(int(line[1]) / 1024, 1) if line else 0.0


def found_team(url: str) -> str:
    """Make the organisation with the project; return its admin's token."""
    with open_backend(load_settings({"HOME": "/nonexistent", "HOLDFAST_STORE": url})) as backend:
        clock = SystemClock()
        founded = bootstrap(backend, clock, token_bytes, name="Harbour", admin="Ada")
        stores = backend.open(founded.number)
        with stores.changing():
            stores.records.add(TeamProject(id=PROJECT, at=clock.now(), name="shop"))
    return founded.text


def measure(options: argparse.Namespace, url: str, token: str, questions: list[Question]) -> dict[str, Any]:
    """Return the figures of all rounds."""
    words = Words(SEED)
    rounds: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        scripts = write_scripts(folder, record_recalls(url, questions))
        plain = url.partition("&owner")[0]
        with serving(url, options.port, options.workers, folder) as process:
            asyncio.run(Load(options.port, token, questions, words, 0).closed(8, 10))  # it reads the lessons
            database = postmaster(plain)
            for n in range(options.rounds):
                before = busy_s(tree(database))
                raw = run_pgbench(scripts, plain, options.clients, options.seconds)
                raw["cpu_ms"] = round((busy_s(tree(database)) - before) * 1000 / raw["transactions"], 2)
                load = Load(options.port, token, questions, words, n + 1)
                before, before_database = busy_s(tree(process.pid)), busy_s(tree(database))
                rate = asyncio.run(load.closed(options.clients, options.seconds))
                spent, spent_database = busy_s(tree(process.pid)) - before, busy_s(tree(database)) - before_database
                figures = load.spread()
                figures |= {
                    "a_second": round(rate, 1),
                    "server_cpu_ms": round(spent * 1000 / figures["answered"], 2),
                    "database_cpu_ms": round(spent_database * 1000 / figures["answered"], 2),
                    "ratio": round(rate / raw["a_second"], 2),
                    "cpu_ratio": round(raw["cpu_ms"] * figures["answered"] / 1000 / (spent + spent_database), 2),
                }
                rounds.append({"raw": raw, "server": figures, "load_average": os.getloadavg()[0]})
                print(json.dumps(rounds[-1]), flush=True)
            rate = statistics.median(figures["server"]["a_second"] for figures in rounds)
            load = Load(options.port, token, questions, words, 99)
            asyncio.run(load.open(rate / 2, options.seconds))
            opened = {"rate": round(rate / 2, 1), **load.spread()}
            print(json.dumps(opened), flush=True)
            workers = [memory_mb(pid) for pid in tree(process.pid)]
    ratios = {
        name: round(statistics.median(figures["server"][name] for figures in rounds), 2)
        for name in ("ratio", "cpu_ratio")
    }
    return {"rounds": rounds, **ratios, "open": opened, "memory_mb": workers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lessons", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--port", type=int, default=7_499)
    parser.add_argument("--url", help="a database that is filled; its team is made if there is none")
    parser.add_argument("--token", help="the key of an admin of that team")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with ExitStack() as stack:
        url, token = options.url, options.token
        if url is None:
            database = stack.enter_context(Clusters()).start(SETTINGS).create_database("load")
            url = database.store_url()
        questions = questions_of(options.lessons) if options.url else fill(url, options.lessons)
        token = token or found_team(url)
        result = measure(options, url, token, questions)
    result = {"name": "server_load", "lessons": options.lessons, "clients": options.clients, **result}
    print(f"ratio to raw SQL {result['ratio']}, by processor time {result['cpu_ratio']}")
    print(f"memory of parent and workers: {result['memory_mb']} MB")
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
