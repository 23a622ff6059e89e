"""Recorded payloads and transcripts, and what the adapter makes of them."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast.domain.briefing import Briefing
from holdfast.lean.plain import to_plain
from holdfast.ports.host import Host
from holdfast.wiring import load_host

ROOT = Path(__file__).parents[1] / "golden" / "hosts"
OTHERS = Path(__file__).parents[2] / "packages" / "holdfast-hosts" / "tests" / "golden"
ROOTS = (ROOT, OTHERS) if importlib.util.find_spec("holdfast_hosts") else (ROOT,)
"""The recordings of the built-in hosts, and of the second distribution's where that is installed."""
AT = datetime(2026, 11, 21, 8, 45, 29, tzinfo=UTC)


def cases() -> list[Path]:
    """Every host's recorded cases: a folder each with a payload or a transcript."""
    return sorted({file.parent for name in ("payload.json", "transcript.*") for file in recorded(f"*/*/{name}")})


def recorded(pattern: str) -> list[Path]:
    """The files below the folders of the hosts that match."""
    return sorted(file for root in ROOTS for file in root.glob(pattern))


def folder_of(host: str) -> Path:
    """The folder with a host's recordings."""
    return next((root / host for root in ROOTS if (root / host).is_dir()), ROOT / host)


def ids() -> Callable[[], str]:
    """1, 2, 3, ... as ids."""
    numbers = itertools.count(1)
    return lambda: f"event-{next(numbers)}"


def expected(case: Path) -> Any:
    return json.loads((case / "expected.json").read_text("utf-8"))


def actual(case: Path) -> Any:
    host = load_host(case.parent.name.replace("_", "-"))
    for transcript in case.glob("transcript.*"):
        if not host.profile.grows_by_lines:
            return read_whole(host, transcript)
        with transcript.open(encoding="utf-8", newline="\n") as lines:
            return [to_plain(event) for event in host.parse_transcript(lines, "by-file-name", ids())]
    call = host.parse_hook(json.loads((case / "payload.json").read_text("utf-8")), AT, ids())
    answer = host.render(call, Briefing(text="what was learnt"))
    return {"call": to_plain(call), "answer": json.loads(answer) if answer.startswith("{") else answer}


def read_whole(host: Host, transcript: Path) -> Any:
    """The events of a file that is read whole, where the host keeps it.

    `place.txt` beside the recording says where that is, below a home; `transcript.sql` is a database's statements;
    other files of the case's `beside` folder lie in the home too.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        place = transcript.with_name("place.txt")
        target = home / (place.read_text("utf-8").strip() if place.exists() else transcript.name)
        beside = transcript.with_name("beside")
        if beside.is_dir():
            shutil.copytree(beside, home, dirs_exist_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        if transcript.suffix == ".sql":
            with closing(sqlite3.connect(target)) as sql:
                sql.executescript(transcript.read_text("utf-8"))
        else:
            shutil.copyfile(transcript, target)
        os.utime(target, (AT.timestamp(), AT.timestamp()))
        with utc():
            events = [to_plain(event) for event in host.read_transcript(str(target), ids())]
        return json.loads(json.dumps(events).replace(json.dumps(str(home))[1:-1], "~"))


@contextmanager
def utc() -> Iterator[None]:
    """Local time is UTC: Aider tells local times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        getattr(time, "tzset", lambda: None)()
        yield
    getattr(time, "tzset", lambda: None)()


def refresh(case: Path) -> bool:
    """Write what the adapter makes of the case now; whether that is news."""
    text = json.dumps(actual(case), ensure_ascii=False, indent=2) + "\n"
    file = case / "expected.json"
    if file.exists() and file.read_text("utf-8") == text:
        return False
    file.write_text(text, "utf-8")
    return True
