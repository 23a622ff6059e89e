"""Faults of the machine: locks, a full disk, a read-only home, damaged and missing files, wrong clocks, odd names.

Each fault works in a home of its own that knows some lessons. A row tells of the hooks that ran into the fault: how
many exited other than 0, answered unreadably, how long the longest took and how many events were lost for good; and
what the commands of a person did.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import random
import shutil
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.hostile._machine import Machine, Run, counted
from benchmarks.hostile._preload import build_shifted_clock
from benchmarks.hostile._report import Row, Tables

SEED = 11
DAY_S = 86_400
TAUGHT = 12


def run(folder: Path, quick: bool, python: str) -> Tables:
    ground = Ground(folder, quick, python)
    faults: tuple[Callable[[Ground], list[Row]], ...] = (
        locked, full_disk, read_only, side_files, lost_file, damaged, truncated, clocks, odd_names, newer_schema,
        older_schema,
    )  # fmt: skip
    rows = []
    for fault in faults:
        rows += fault(ground)
    return {"Faults": rows}


class Ground:
    """Where machines are made."""

    def __init__(self, folder: Path, quick: bool, python: str) -> None:
        self.folder = folder
        self.quick = quick
        self.python = python
        self._made = 0

    def machine(self, home: str = "home", repository: str = "shop", lessons: int = TAUGHT) -> Machine:
        """A new one that knows some lessons."""
        self._made += 1
        machine = Machine(self.folder / str(self._made), self.python, home, repository)
        if lessons:
            machine.teach([rule(number) for number in range(lessons)])
        return machine

    def pick(self, quick: int, full: int) -> int:
        return quick if self.quick else full


def rule(number: int) -> str:
    return f"Amounts of account t{number}x are rounded half to even."


class Trial:
    """Hooks that run into a fault on one machine, and what became of their events."""

    _numbers = itertools.count(1)

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.runs: list[Run] = []
        self.words: list[str] = []
        self._prefix = f"p{next(self._numbers)}n"  # no word is another trial's: two may work on one machine
        self._lock = threading.Lock()

    def prompt(self) -> Run:
        """Fire one hook."""
        with self._lock:
            word = f"{self._prefix}{len(self.words)}x"
            self.words.append(word)
        done = self.machine.hook(self.machine.prompt(word, f"s-{word}"))
        with self._lock:
            self.runs.append(done)
        return done

    def row(self, fault: str, what: str, settle: bool = True) -> Row:
        """The fault's row; events are looked for after the fault is over, once everything has settled."""
        if settle:
            self.machine.settle()
        counts = counted(self.words, self.machine.event_texts())
        return {
            "fault": fault, "hooks": len(self.runs), "exit not 0": sum(done.code != 0 for done in self.runs),
            "unreadable": sum(not done.is_valid_answer for done in self.runs),
            "longest s": round(max((done.took_s for done in self.runs), default=0.0), 2),
            "lost": sum(counts[word] == 0 for word in self.words), "what": what,
        }  # fmt: skip


# Locks


def locked(ground: Ground) -> list[Row]:
    rows = []
    for how in ("by SQLite", "by the lock file"):
        for held_s in (0.1, 0.25, 1.0) if ground.quick else (0.1, 0.25, 1.0, 10.0):
            machine = ground.machine()
            trial = Trial(machine)
            rounds = ground.pick(2, 6) if held_s < 1 else 1
            command = "not tried"
            for _ in range(rounds):
                holder = threading.Thread(target=_hold, args=(machine, how, held_s, ready := threading.Event()))
                holder.start()
                ready.wait()
                began = time.perf_counter()
                trial.prompt()
                while held_s >= 1 and time.perf_counter() - began < held_s - 0.6 and len(trial.runs) < 8:
                    trial.prompt()
                if held_s >= 1:
                    done = machine.cli("remember", "Amounts of the locked account are cents.")
                    command = f"exit {done.code} after {done.took_s:.1f} s"
                holder.join()
            rows.append(trial.row(f"locked {how} for {held_s:g} s", f"remember: {command}"))
    return rows


def _hold(machine: Machine, how: str, held_s: float, ready: threading.Event) -> None:
    if how == "by SQLite":
        connection = sqlite3.connect(machine.database, isolation_level=None, timeout=30)
        connection.execute("BEGIN IMMEDIATE")
        ready.set()
        time.sleep(held_s)
        connection.close()
        return
    handle_number = os.open(f"{machine.database}.lock", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(handle_number, fcntl.LOCK_EX)
    ready.set()
    time.sleep(held_s)
    os.close(handle_number)


# The disk


def full_disk(ground: Ground) -> list[Row]:
    fault = "disk full"
    place = ground.folder / "small disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", str(place)], capture_output=True, check=False
    )
    if os.geteuid() != 0 or mounted.returncode:
        return [skipped(fault, "needs a superuser who may mount")]
    try:
        machine = ground.machine(lessons=0)
        machine.env["HOLDFAST_HOME"] = str(place / "memory")
        machine.cli("setup", "claude-code", "--yes")
        machine.cli("remember", rule(0))
        before = Trial(machine)
        for _ in range(ground.pick(4, 20)):
            before.prompt()
        rows = [before.row("disk before it is full", "")]
        filler = place / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as stream:
            while stream.write(b"x" * 4096):
                pass
        full = Trial(machine)
        for _ in range(4):
            full.prompt()
        recall, remember = machine.cli("recall", "how are amounts rounded"), machine.cli("remember", rule(1))
        what = f"recall {_told(recall)}, remember {_told(remember)}"
        filler.unlink()
        row = full.row(fault, "")
        again = machine.cli("remember", rule(2))
        what += f"; once freed: remember {_told(again)}, integrity {machine.integrity()}, doctor {machine.doctor()}"
        return [*rows, {**row, "what": what}]
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def read_only(ground: Ground) -> list[Row]:
    fault = "home read-only"
    prefix = unprivileged()
    if prefix is None:
        return [skipped(fault, "the superuser may write everywhere, and setpriv is not there")]
    machine = ground.machine()
    machine.hook(machine.prompt("first"))
    control = machine.hook(_start(machine, "control"))
    machine.settle()  # no learner may write meanwhile
    trial = Trial(machine)
    with without_writing(machine, prefix):
        starts = [machine.hook(_start(machine, f"r{number}")) for number in range(4)]
        for _ in range(2):
            trial.prompt()
        recall, listed = machine.cli("recall", "how are amounts rounded"), machine.cli("list")
        remember = machine.cli("remember", rule(99))
    trial.runs += starts
    delivered = sum("rounded half" in start.out for start in starts)
    what = f"delivered {delivered} of 4 (writable: {'rounded half' in control.out}), "
    return [trial.row(fault, what + f"recall {_told(recall)}, list {_told(listed)}, remember {_told(remember)}")]


@contextmanager
def without_writing(machine: Machine, prefix: tuple[str, ...]) -> Iterator[None]:
    """The memory's files and folders are read-only, also for what the machine starts."""
    modes = {path: path.stat().st_mode for path in (machine.memory_home, *machine.memory_home.rglob("*"))}
    try:
        for path, mode in modes.items():
            path.chmod(mode & ~0o222)
        machine.prefix = prefix
        yield
    finally:
        machine.prefix = ()
        for path, mode in modes.items():
            path.chmod(mode)


def unprivileged() -> tuple[str, ...] | None:
    """A prefix for commands that have no superuser's rights; None where there is none."""
    if os.geteuid() != 0:
        return ()
    setpriv = shutil.which("setpriv")
    return (setpriv, "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs") if setpriv else None


def _start(machine: Machine, session: str) -> dict[str, object]:
    return machine.payload("SessionStart", session, source="startup")


# Files


def side_files(ground: Ground) -> list[Row]:
    rows = []
    for suffix in ("-wal", "-shm", ".lock"):
        machine = ground.machine()
        for number in range(3):  # in the log alone: a hook leaves without closing
            machine.hook(machine.prompt(f"log{number}x", f"s{number}"))
        there = (path := Path(f"{machine.database}{suffix}")).exists()
        path.unlink(missing_ok=True)
        trial = Trial(machine)
        for _ in range(3):
            trial.prompt()
        row = trial.row(f"{suffix} deleted" if there else f"no {suffix} there", "")
        lost = sum(f"log{n}x" not in " ".join(machine.event_texts()) for n in range(3))
        what = f"events of before lost: {lost} of 3, lessons {len(machine.lessons())} of {TAUGHT}, "
        rows.append({**row, "what": what + f"integrity {machine.integrity()}, doctor {machine.doctor()}"})
    return rows


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def lost_file(ground: Ground) -> list[Row]:
    changes: dict[str, Callable[[Path], object]] = {
        "file deleted": lambda path: path.unlink(),
        "file emptied": lambda path: path.write_bytes(b""),
        "file replaced by noise": lambda path: path.write_bytes(random.Random(SEED).randbytes(60_000)),
        "file replaced by text": lambda path: path.write_text("not a database\n" * 4_000),
        "file replaced by a folder": replace_by_folder,
    }
    rows = []
    for fault, change in changes.items():
        machine = ground.machine()
        at_rest(machine)
        change(machine.database)
        left = machine.database.read_bytes() if machine.database.is_file() else b""
        trial = Trial(machine)
        for _ in range(3):
            trial.prompt()
        recall, doctor = machine.cli("recall", "how are amounts rounded"), machine.doctor()
        what = f"recall {_told(recall)}, doctor {doctor}"
        if left and machine.database.read_bytes() != left:
            what += ", OVERWRITTEN"
        if left or machine.database.is_dir():  # nothing can be put into it: what waits goes into a new file
            machine.database.rename(machine.database.with_name("useless"))
            what += f", once it is moved away: {_told(machine.cli('status'))}"
        rows.append(trial.row(fault, what))
    return rows


def at_rest(machine: Machine) -> None:
    """Everything in the one file, as after the last process has closed it."""
    machine.settle()
    connection = sqlite3.connect(machine.database)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{machine.database}{suffix}").unlink(missing_ok=True)


def damaged(ground: Ground) -> list[Row]:
    """Some bits of the file flipped, one copy after another."""
    chance = random.Random(SEED)

    def flip(whole: bytes) -> bytes:
        spoilt = bytearray(whole)
        for _ in range(chance.choice((1, 1, 3, 10, 30))):
            spoilt[chance.randrange(100, len(spoilt))] ^= 1 << chance.randrange(8)
        return bytes(spoilt)

    return [_spoil(ground, f"bits flipped in {(count := ground.pick(8, 100))} files", [flip] * count)]


def truncated(ground: Ground) -> list[Row]:
    chance = random.Random(SEED)
    cuts = [chance.random() for _ in range(ground.pick(4, 20))]

    def cut_at(share: float) -> Callable[[bytes], bytes]:
        return lambda whole: whole[: max(1, int(len(whole) * share))]

    return [_spoil(ground, f"{len(cuts)} files cut", [cut_at(share) for share in cuts])]


def _spoil(ground: Ground, fault: str, changes: Sequence[Callable[[bytes], bytes]]) -> Row:
    """What two hooks, `recall` and `doctor` do with each spoilt copy of one file."""
    machine = ground.machine(lessons=60)
    at_rest(machine)
    whole = machine.database.read_bytes()
    right = set(_insights(machine.cli("recall", "account t7x rounded", "--json").out))
    trial, outcomes = Trial(machine), dict.fromkeys(("right", "less", "error", "traceback", "silent doctor"), 0)
    for change in changes:
        for suffix in ("-wal", "-shm"):
            Path(f"{machine.database}{suffix}").unlink(missing_ok=True)
        machine.database.write_bytes(change(whole))
        sound = machine.integrity() == "ok"
        doctor = machine.doctor()
        outcomes["silent doctor"] += not sound and doctor == "ok"
        recall = machine.cli("recall", "account t7x rounded", "--json")
        outcomes[_kind_of(recall, right)] += 1
        for _ in range(2):
            trial.prompt()
    row = trial.row(fault, "recall " + ", ".join(f"{name} {count}" for name, count in outcomes.items()), settle=False)
    return {**row, "lost": ""}  # each copy takes its events with it


def _kind_of(recall: Run, right: set[str]) -> str:
    if recall.is_traceback:
        return "traceback"
    if recall.code:
        return "error"
    return "right" if set(_insights(recall.out)) == right else "less"


def _insights(out: str) -> Iterator[str]:
    for number in range(60):
        if rule(number) in out:
            yield rule(number)


# Clocks


def clocks(ground: Ground) -> list[Row]:
    library = build_shifted_clock(ground.folder)
    if library is None:
        return [skipped("clock set back or forward", "needs Linux and a C compiler")]
    shifts = {
        "clock back a day": -DAY_S, "clock back 10 years": -3_650 * DAY_S, "clock at 1970": 60 - int(time.time()),
        "clock forward 20 years": 7_300 * DAY_S,
    }  # fmt: skip
    rows = []
    for fault, shift_s in shifts.items():
        machine = ground.machine()
        machine.cli("remember", "Amounts are cents.", "--topic", "unit")
        first, second = (lesson["id"][-8:] for lesson in machine.lessons()[1:3])
        machine.env |= {"LD_PRELOAD": str(library), "SHIFTED_CLOCK_S": str(shift_s)}
        trial = Trial(machine)
        for _ in range(2):
            trial.prompt()
        commands = {
            "recall": machine.cli("recall", "how are amounts rounded"),
            "remember": machine.cli("remember", "Fees are rounded up."),
            "remember --topic": machine.cli("remember", "Amounts are tenths of cents.", "--topic", "unit"),
            "revise": machine.cli("revise", first, "--insight", "Amounts are rounded half to odd."),
            "forget": machine.cli("forget", second),
        }
        row = trial.row(fault, ", ".join(f"{name} {_told(done)}" for name, done in commands.items()))
        rows.append(row)
    return rows


# Names


ODD_NAMES = (
    "with blank", "it's \"quoted\"", "$HOME `id`", "a;b&c|d", "100% #1?", "дом 家", "crab 🦀", "l" * 120,
)  # fmt: skip


def odd_names(ground: Ground) -> list[Row]:
    failures = []
    hooks: list[Run] = []
    for name in ODD_NAMES if not ground.quick else ODD_NAMES[1:3]:
        machine = ground.machine(home=f"home {name}", repository=f"shop {name}", lessons=0)
        trial = Trial(machine)
        steps = {"setup": machine.setup, "remember": machine.cli("remember", rule(1), "--file", "ledger.py")}
        if machine.setup.code == 0:
            trial.prompt()
            with machine.serve() as server:
                if not (server.open() and server.call("recall", query="how are amounts rounded")):
                    failures.append(f"{name}: server")
        steps["recall"] = machine.cli("recall", "how are amounts rounded")
        steps["uninstall"] = machine.cli("uninstall")
        failures += [f"{name}: {step} exit {done.code}" for step, done in steps.items() if done.code]
        if trial.row("", "")["lost"]:
            failures.append(f"{name}: event lost")
        hooks += trial.runs
    return [{
        "fault": "odd names of home and repository", "hooks": len(hooks),
        "exit not 0": sum(done.code != 0 for done in hooks),
        "unreadable": sum(not done.is_valid_answer for done in hooks),
        "longest s": round(max(done.took_s for done in hooks), 2),
        "lost": sum("event lost" in failure for failure in failures), "what": "; ".join(failures) or "all work",
    }]  # fmt: skip


# Schemas


def newer_schema(ground: Ground) -> list[Row]:
    machine = ground.machine()
    at_rest(machine)
    known = machine.query("PRAGMA user_version")[0][0]
    _set_version(machine, 99)
    trial = Trial(machine)
    for _ in range(3):
        trial.prompt()
    recall = machine.cli("recall", "how are amounts rounded")
    complaint = "".join(recall.err.splitlines()[:1]).replace(str(machine.database), "memory.db")
    _set_version(machine, known)
    return [
        trial.row("newer schema", f"recall {_told(recall)}: {complaint.replace(str(machine.database), 'memory.db')}")
    ]


def _set_version(machine: Machine, version: int) -> None:
    connection = sqlite3.connect(machine.database)
    connection.execute(f"PRAGMA user_version={version}")
    connection.close()


def older_schema(ground: Ground) -> list[Row]:
    rows = []
    for lessons in (300,) if ground.quick else (300, 4_000):
        machine = ground.machine(lessons=lessons)
        at_rest(machine)
        make_older(machine)
        trial = Trial(machine)
        for _ in range(6):
            trial.prompt()
        version = machine.query("PRAGMA user_version")[0][0]
        event_count = len(counted(trial.words, machine.event_texts()))
        row = trial.row(f"schema 1 with {lessons} lessons", "")
        what = f"after 6 hooks schema {version} and {event_count} events, in the end schema "
        what += f"{machine.query('PRAGMA user_version')[0][0]}, lessons {len(machine.lessons())} of {lessons}"
        rows.append({**row, "what": what + f", integrity {machine.integrity()}"})
    return rows


def make_older(machine: Machine) -> None:
    """Put the rows into a new file with the schema of the first migration: the later ones derive what they add."""
    scripts = subprocess.run(
        [machine.python, "-c", "import holdfast.stores.sqlite as room; print(room.__path__[0])"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    script = (Path(scripts) / "migrations" / "0001_start.sql").read_text(encoding="utf-8")
    older = machine.database.with_name("older.db")
    connection = sqlite3.connect(older)
    connection.executescript(script)
    connection.execute("ATTACH ? AS newer", (str(machine.database),))
    for (table,) in connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall():
        if table.startswith(("sqlite_", "lesson_text", "migrations")):
            continue
        shared = [row[1] for row in connection.execute(f"PRAGMA newer.table_info({table})")]
        wanted = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})") if row[1] in shared]
        if wanted:
            columns = ", ".join(f'"{column}"' for column in wanted)
            connection.execute(f'INSERT INTO main."{table}" ({columns}) SELECT {columns} FROM newer."{table}"')
    connection.execute("INSERT INTO migrations VALUES (1, '0001_start')")
    connection.commit()
    connection.execute("DETACH newer")
    connection.execute("PRAGMA user_version=1")
    connection.close()
    os.chmod(older, 0o600)
    os.replace(older, machine.database)


# Words


def skipped(fault: str, why: str) -> Row:
    return {"fault": fault, "what": f"skipped: {why}"}


def _told(done: Run) -> str:
    if done.is_traceback:
        return f"TRACEBACK, exit {done.code}"
    return "works" if done.code == 0 else f"exit {done.code}"
