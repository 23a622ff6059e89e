"""Every page over 100,000 lessons and 5,000 sessions: its bytes, and the time to its first byte.

    python -m benchmarks.page_speed --folder DIR [--lessons 100000] [--sessions 5000] [--rounds 20] [--json FILE]

The store (see `page_store`) is made in DIR and kept there for the next run: SQLite, as `holdfast ui` opens it. With
`--postgresql` a private PostgreSQL is filled in the same way, as a team's server has it; `--url` names a database that
is filled already, and `--token` its admin's key. Each page of the table is asked for ROUNDS times, pages in turn, first
through the ASGI application in this process, then through uvicorn on the loopback. `first` is the first answer after
the start, when nothing is cached; p50 and p95 are of the others: milliseconds until the first byte of the body, and
processor time of the process. Bytes are those of HTML, style sheets and script, as they are and gzipped. Nothing is
asserted; the aims are 100 ms and 60,000 bytes.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import re
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_bytes
from typing import Any
from urllib.parse import quote

from benchmarks.page_store import PageHome, embed, fill
from benchmarks.server_load import SETTINGS, found_team, percentiles
from starlette.types import ASGIApp, Message
from tests.browser import serving
from tests.postgresql import Clusters

from holdfast.bootstrap import Memory
from holdfast.domain.project import Project
from holdfast.domain.team import FIRST_ORGANISATION, Member
from holdfast.domain.vocabulary import ProjectId
from holdfast.pages.frame import static_files
from holdfast.pages.table import PAGES
from holdfast.ports.store import LessonFilter, SessionFilter, Store
from holdfast.ports.team import TeamServices
from holdfast.server.config import ServeSettings
from holdfast.server.website import ServedEntrance, served_pages
from holdfast.settings import load_settings
from holdfast.stores.postgresql import make
from holdfast.surfaces.rest.app import app as rest_app
from holdfast.surfaces.web.app import WebApp
from holdfast.surfaces.web.local import LocalEntrance, local_app
from holdfast.team import tokens
from holdfast.wiring import RequestServices, open_backend

AIM_MS, AIM_BYTES = 100, 60_000
SERVED_PROJECT = ProjectId("shop")
SEARCHES = {
    "words": {"q": "the {words}"}, "words and why": {"q": "{words}", "why": "true"},
    "area": {"area": "src/billing"}, "person, kind": {"person": "person-3", "kind": "fix"},
    "three facets": {"area": "src/login", "tag": "ci", "kind": "fix"}, "code": {"freshness": "fresh"},
    "sessions": {"place": "sessions"}, "words in sessions": {"place": "sessions", "q": "{words}"},
}  # fmt: skip
_ASSET = re.compile(r'(?:href|src)="(/static/[^"]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The pages of one store: the application, who asks, and the addresses by name."""

    name: str
    application: ASGIApp
    cookie: str
    addresses: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAnswer:
    """An answer, the seconds until its first byte, and the processor's seconds of the process until its end."""

    status: int
    body: bytes
    first_byte_s: float
    cpu_s: float


async def ask(target: Target, address: str) -> PageAnswer:
    """Ask the application in this process."""
    path, _, query = address.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(b"host", b"localhost"), (b"accept", b"text/html"), (b"cookie", target.cookie.encode())],
        "client": ("127.0.0.1", 1), "server": ("localhost", 80),
    }  # fmt: skip
    scope["path"] = path
    status, body, first = 0, b"", 0.0
    began, cpu = time.perf_counter(), time.process_time()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status, body, first
        if message["type"] == "http.response.start":
            status = message["status"]
        elif message["type"] == "http.response.body":
            first = first or time.perf_counter() - began
            body += message.get("body", b"")

    await target.application(scope, receive, send)
    return PageAnswer(status=status, body=body, first_byte_s=first, cpu_s=time.process_time() - cpu)


def ask_over_http(url: str, target: Target, address: str) -> float:
    """Ask uvicorn on a new connection; return the seconds until the first byte of the body."""
    host, _, port = url.removeprefix("http://").partition(":")
    head = f"GET {address} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nCookie: {target.cookie}\r\n"
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        began = time.perf_counter()
        connection.sendall(f"{head}Connection: close\r\n\r\n".encode())
        read = b""
        while b"\r\n\r\n" not in read or not read.partition(b"\r\n\r\n")[2]:
            part = connection.recv(65_536)
            if not part:
                break
            read += part
        took = time.perf_counter() - began
        while connection.recv(65_536):
            pass
    return took


def measure(target: Target, rounds: int) -> dict[str, Any]:
    """Return the figures of each page."""
    figures: dict[str, Any] = {}
    inside: dict[str, list[PageAnswer]] = {name: [] for name in target.addresses}
    outside: dict[str, list[float]] = {name: [] for name in target.addresses}

    async def ask_all() -> None:
        for number in range(rounds):
            for name, address in target.addresses.items():
                inside[name].append(await ask(target, address))
            print(f"  {target.name}: round {number + 1}", file=sys.stderr, flush=True)

    asyncio.run(ask_all())
    with serving(target.application) as url:
        for _ in range(rounds):
            for name, address in target.addresses.items():
                outside[name].append(ask_over_http(url, target, address))
    for name, answers in inside.items():
        warm = answers[1:] or answers
        last = answers[-1]
        assets = [static_files()[each].content for each in dict.fromkeys(_ASSET.findall(last.body.decode()))]
        figures[name] = {
            "address": target.addresses[name], "status": last.status,
            "html": len(last.body), "bytes": len(last.body) + sum(map(len, assets)),
            "gzipped": sum(len(gzip.compress(part)) for part in (last.body, *assets)),
            "first_ms": round(answers[0].first_byte_s * 1000, 1),
            "asgi_ms": percentiles([answer.first_byte_s for answer in warm]),
            "cpu_ms": percentiles([answer.cpu_s for answer in warm]),
            "uvicorn_ms": percentiles(outside[name]),
        }  # fmt: skip
    return figures


def addresses_of(store: Store, project: ProjectId, *, is_served: bool) -> dict[str, str]:
    """Return the address of every page, and of some searches, with a lesson and a session of the store."""
    where = LessonFilter(project=project, states=("active",), area="src", limit=50)
    lesson = store.find(where)[-1]
    session = store.list_sessions(SessionFilter(project=project, limit=50))[-1].session
    values = {"project": project, "lesson": lesson.id, "session": session}
    addresses = {}
    for row in PAGES:
        if not row.is_served_only or is_served:
            addresses[row.name] = row.path.format(**{name: quote(value, safe="") for name, value in values.items()})
    words = " ".join(lesson.insight.strip(".").split()[2:6])
    base = addresses["search"]
    for name, query in SEARCHES.items():
        pairs = (f"{key}={quote(value.format(words=words), safe='')}" for key, value in query.items())
        addresses[f"search by {name}" if name != "sessions" else "search, sessions"] = f"{base}?{'&'.join(pairs)}"
    return addresses


@contextmanager
def on_sqlite(folder: Path, lessons: int, sessions: int) -> Iterator[Target]:
    """Open the pages as `holdfast ui` does."""
    home = PageHome(folder)
    home.build(lessons, sessions)
    with home.memory() as memory:
        entrance = LocalEntrance(memory)
        yield Target(
            name="sqlite", application=local_app(entrance), cookie=f"{entrance.cookie}={entrance.secret}",
            addresses=addresses_of(memory.services.store, memory.location.project.id, is_served=False),
        )  # fmt: skip


@contextmanager
def on_postgresql(url: str, token: str) -> Iterator[Target]:
    """Open the pages as a team's server does, for its admin, who signed in with the browser."""
    settings = load_settings({"HOME": "/nonexistent", "HOLDFAST_STORE": url})
    requests = RequestServices(settings)
    with open_backend(settings) as backend:
        stores = backend.open(FIRST_ORGANISATION)
        team = TeamServices(stores=stores, clock=requests.clock, random_bytes=token_bytes)
        with stores.changing():
            admin = next(member for member in stores.records.find(Member, {"role": "admin"}) if member.active)
            text = tokens.make_session(team, admin)[1]
        rest = rest_app(backend, settings, requests=requests)
        entrance = ServedEntrance(ServeSettings(common=settings), backend, requests, rest)
        yield Target(
            name="postgresql", application=served_pages(WebApp(entrance), rest), cookie=f"holdfast={text}",
            addresses=addresses_of(stores.store, SERVED_PROJECT, is_served=True),
        )  # fmt: skip
        entrance.close()


def fill_postgresql(url: str, lessons: int, sessions: int) -> str:
    """Fill the database and found its team; return the admin's key."""
    serving_ = RequestServices(load_settings({"HOME": "/nonexistent"}))
    settings = load_settings({"HOME": "/nonexistent"})
    with make({"url": url}) as store:
        project = Project(id=SERVED_PROJECT, name="shop", source="server")
        ids = fill(store, SERVED_PROJECT, lessons, sessions)
        embed(Memory.over(serving_.over(store), project, settings), ids)
    return found_team(url)


def table(figures: dict[str, Any]) -> str:
    """Return the figures as a table of Markdown; what misses an aim is bold."""
    lines = [
        "| page | bytes, gzipped | first | p50, p95 | processor, p50 | uvicorn, p50, p95 |",
        "|---|---|---|---|---|---|",
    ]

    def shown(value: float, aim: float) -> str:
        return f"**{value:,.0f}**" if value > aim else f"{value:,.0f}"

    for name, row in figures.items():
        ms, http = row["asgi_ms"], row["uvicorn_ms"]
        lines.append(
            f"| {name} | {shown(row['bytes'], AIM_BYTES)}, {row['gzipped']:,} | {row['first_ms']:,.0f} |"
            f" {shown(ms['p50'], AIM_MS)}, {shown(ms['p95'], AIM_MS)} | {shown(row['cpu_ms']['p50'], AIM_MS)} |"
            f" {shown(http['p50'], AIM_MS)}, {shown(http['p95'], AIM_MS)} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where the SQLite store is, or is made")
    parser.add_argument("--lessons", type=int, default=100_000)
    parser.add_argument("--sessions", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--postgresql", action="store_true", help="fill a private PostgreSQL, too")
    parser.add_argument("--url", default="", help="a PostgreSQL that is filled and has its team")
    parser.add_argument("--token", default="", help="the key of its admin")
    parser.add_argument("--only", default="", help="pages whose name has this text")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    results: dict[str, Any] = {"lessons": options.lessons, "sessions": options.sessions, "load": os.getloadavg()[0]}
    with ExitStack() as stack:
        targets = []
        if options.folder:
            options.folder.mkdir(parents=True, exist_ok=True)
            targets.append(stack.enter_context(on_sqlite(options.folder, options.lessons, options.sessions)))
        if options.postgresql:
            cluster = stack.enter_context(Clusters()).start(SETTINGS)
            options.url = cluster.create_database("pages").store_url(1)
            options.token = fill_postgresql(options.url, options.lessons, options.sessions)
        if options.url:
            targets.append(stack.enter_context(on_postgresql(options.url, options.token)))
        for target in targets:
            chosen = {name: path for name, path in target.addresses.items() if options.only in name}
            results[target.name] = measure(replace(target, addresses=chosen), options.rounds)
            print(f"{target.name}, load {os.getloadavg()[0]:.1f}\n\n{table(results[target.name])}\n", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
