"""Each limit of the backfill at its boundary; a number that decides something is written out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from holdfast.backfill import sources
from holdfast.backfill.distilling import distil_waiting
from holdfast.backfill.distilrecord import is_settled, spent, usual, waiting
from holdfast.backfill.estimating import estimate_cost
from holdfast.backfill.importing import TextLines
from holdfast.backfill.loading import SessionLocations
from holdfast.backfill.run import TranscriptRun, load_hosts
from holdfast.backfill.sources import find_sources
from holdfast.backfill.transcriptfiles import at_paths
from holdfast.backfill.transcripts import host_by_content, keep_turn
from holdfast.bootstrap import Memory
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.statefamilies import BACKFILLED_ROOTS
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import HostConfigError
from holdfast.lean.plain import render_instant
from holdfast.ports.host import Host
from holdfast.ports.importer import Passage
from holdfast.ports.store import EventFilter
from holdfast.settings import Settings, load_settings
from holdfast.testing.builders import make_event
from tests.hosts.golden import ROOT as GOLDEN

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SESSION = SessionId("s1")


@pytest.fixture
def settings(home: Path) -> Settings:
    return load_settings()


@pytest.fixture
def memory(home: Path, tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "app").mkdir()
    with Memory(str(tmp_path / "app")) as opened:
        yield opened


def record(settings: Settings, *rows: dict[str, Any]) -> None:
    """Write the record of distillations; what a row leaves out is that it is about one session, now."""
    lines = (json.dumps({"at": render_instant(NOW), "session": SESSION} | row) for row in rows)
    Path(settings.distil_path).parent.mkdir(exist_ok=True)
    Path(settings.distil_path).write_text("".join(f"{line}\n" for line in lines))


# Distilling


@pytest.mark.parametrize(("failures", "waits"), [(2, True), (3, False)])
def test_a_session_is_sent_three_times_at_most(settings: Settings, failures: int, waits: bool) -> None:
    """`distilrecord.TRIES`."""
    record(settings, {"queued": True, "folder": "/app"}, *[{"failed": "ModelError"}] * failures)
    assert [entry.session for entry in waiting(settings)] == ([SESSION] if waits else [])
    assert is_settled(settings)(SESSION) is not waits


@pytest.mark.parametrize(("ago", "is_due"), [(timedelta(minutes=59), False), (timedelta(hours=1), True)])
def test_a_session_that_failed_waits_an_hour(memory: Memory, ago: timedelta, is_due: bool) -> None:
    """`distilrecord.RETRY_AFTER`: one that is due is looked at, and here it has no events."""
    failed = {"failed": "ModelError", "at": render_instant(memory.services.clock.now() - ago)}
    record(memory.settings, {"queued": True, "folder": memory.folder}, failed)
    sending = distil_waiting(memory, memory.settings)
    assert [outcome.session for outcome in sending] == ([SESSION] if is_due else [])


def test_the_last_fifty_calls_tell_what_a_session_needs(settings: Settings) -> None:
    """`distilrecord.USUAL_CALLS`."""
    row = {"model": "m", "lessons": 1, "input_tokens": 1_000, "output_tokens": 10, "cost_usd": 0.5}
    large = row | {"input_tokens": 6_000}
    record(settings, large, *[row] * 50)
    assert usual(settings, "m") == (1_000, 10, 0.5)
    record(settings, large, *[row] * 49)
    assert usual(settings, "m") == (1_100, 10, 0.5)


@pytest.mark.parametrize(("ago", "calls"), [(timedelta(hours=24, microseconds=-1), 1), (timedelta(hours=24), 0)])
def test_what_was_spent_counts_for_a_day(settings: Settings, ago: timedelta, calls: int) -> None:
    """`distilrecord.DAY`."""
    record(settings, {"model": "m", "lessons": 1, "at": render_instant(NOW - ago)})
    assert spent(settings, NOW).calls == calls


def test_a_model_that_was_never_called_is_estimated_at_the_most_it_can_need(memory: Memory) -> None:
    """`estimating.DIGEST_TOKENS`, `estimating.FRAME_TOKENS` and `estimating.ANSWER_TOKENS`."""
    estimate = estimate_cost(memory, "m", 2)
    assert (estimate.input_tokens, estimate.output_tokens, estimate.measured) == (2 * (6_000 + 2_500), 2 * 1_500, False)


# Imports


@pytest.mark.parametrize(
    ("length", "read_bytes"), [(3_999_999, 4_000_000), (4_000_000, 4_000_000), (9_000_000, 4_000_000)]
)
def test_four_megabytes_of_a_line_are_read_and_its_end(length: int, read_bytes: int) -> None:
    """`importing.LINE_BYTES`."""
    first, second = TextLines(io.BytesIO(b"x" * length + b"\nnext\n"))
    assert (len(first), first[-2:], second) == (read_bytes, "x\n", "next\n")


@pytest.mark.parametrize(("files", "cut"), [(3, False), (4, True)])
def test_so_many_files_under_a_path_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int, cut: bool
) -> None:
    """`sources.ENTRIES`."""
    monkeypatch.setattr(sources, "ENTRIES", 3)
    for number in range(files):
        (tmp_path / f"{number}.txt").write_text("text")
    assert find_sources(str(tmp_path), str(tmp_path), "").cut is cut


# Transcripts


@pytest.mark.parametrize(("between", "commands"), [(1_048_576, ["make"]), (1_048_577, [])])
def test_a_megabyte_before_the_mark_is_read_again(
    memory: Memory, home: Path, between: int, commands: list[str]
) -> None:
    """`loading.OVERLAP`: a call that begins there is joined to its result behind the mark."""
    common = {"sessionId": "one", "cwd": memory.folder, "timestamp": "2026-03-02T09:01:00Z"}

    def line(kind: str, **content: Any) -> bytes:
        message = {"id": "m", "content": [content]}
        return json.dumps({**common, "type": kind, "message": message}).encode() + b"\n"

    call = line("assistant", type="tool_use", id="u1", name="Bash", input={"command": "make"})
    file = home.parent / ".claude" / "projects" / "-app" / "one.jsonl"
    file.parent.mkdir(parents=True)
    run = TranscriptRun(load_hosts(memory.settings, "claude-code"), SessionLocations(memory), accept=True)
    prompt = json.dumps({**common, "type": "user", "message": {"role": "user", "content": "make it"}}).encode() + b"\n"
    file.write_bytes(prompt + call + b" " * (between - len(call) - 1) + b"\n")
    assert run.at([str(file)], str(home.parent))
    with file.open("ab") as stream:
        stream.write(line("user", type="tool_result", tool_use_id="u1", content="ok"))
    assert run.at([str(file)], str(home.parent))
    events = [event for _, event in memory.services.store.find_events(EventFilter())]
    assert [event.command for event in events if event.tool == "Bash"] == commands


def test_a_thousand_projects_are_kept_for_the_next_run(memory: Memory, home: Path, tmp_path: Path) -> None:
    """`run.ROOTS_LIMIT`."""
    roots = [tmp_path / "projects" / f"{number:04}" for number in range(1001)]
    for root in roots:
        root.mkdir(parents=True)
    store = memory.services.store
    store.set_state(BACKFILLED_ROOTS, "", "\n".join(map(str, roots)))
    assert TranscriptRun([], SessionLocations(memory)).everywhere(str(home.parent), memory.folder)
    assert store.get_state(BACKFILLED_ROOTS).split("\n") == [str(root) for root in roots[:1000]]


class Reader:
    """A host whose reader finds a number of events in every file, then fails."""

    name = "reader"
    profile = SimpleNamespace(transcripts="~", transcript_files=(), transcript_marks=(), grows_by_lines=False)

    def __init__(self, events: int) -> None:
        self.events = events

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        for _ in range(self.events):
            yield make_event()
        raise HostConfigError("broken")


def read_by(path: Path, *hosts: object) -> list[str]:
    """The names of the hosts that the file is given to."""
    named = at_paths([str(path)], cast("Sequence[Host]", hosts))
    return [host.name for host, paths in named.files if paths]


@pytest.mark.parametrize(("events", "fits"), [(49, False), (50, True)])
def test_a_reader_fits_that_finds_fifty_events(tmp_path: Path, events: int, fits: bool) -> None:
    """`transcriptfiles.TRIED_EVENTS`: what it cannot read behind them it tells when it reads."""
    (tmp_path / "file.txt").write_text("text")
    assert read_by(tmp_path / "file.txt", Reader(events)) == (["reader"] if fits else [])


@pytest.mark.parametrize(("size", "fits"), [(64_000_000, True), (64_000_001, False)])
def test_every_reader_tries_a_file_of_64_megabytes(tmp_path: Path, size: int, fits: bool) -> None:
    """`transcriptfiles.TRIED_SIZE`."""
    with (tmp_path / "file.txt").open("wb") as stream:
        stream.truncate(size)
    assert read_by(tmp_path / "file.txt", Reader(99)) == (["reader"] if fits else [])


@pytest.mark.parametrize(("before", "fits"), [(4_999, True), (5_000, False)])
def test_five_thousand_lines_are_tried(settings: Settings, tmp_path: Path, before: int, fits: bool) -> None:
    """`transcriptfiles.TRIED_LINES`."""
    user = {"type": "user", "sessionId": "s", "cwd": "/app", "timestamp": "2026-03-02T09:00:00Z",
            "message": {"role": "user", "content": "hello"}}  # fmt: skip
    (tmp_path / "file.txt").write_text("{}\n" * before + json.dumps(user) + "\n")
    hosts = load_hosts(settings, "claude-code")
    assert read_by(tmp_path / "file.txt", *hosts) == (["claude-code"] if fits else [])


MARK = '{"type":"session_meta","payload":{"id":"cx"}}\n'


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("{}\n" * 19 + MARK, "codex"),
        ("{}\n" * 20 + MARK, ""),
        ("{}\n{}" + " " * (65_536 - len("{}\n{}") - len(MARK)) + "\n" + MARK, "codex"),
        ("{}\n{}" + " " * 65_536 + "\n" + MARK, ""),
    ],
    ids=["HEAD_LINES", "a line more", "HEAD_BYTES", "behind them"],
)
def test_the_head_of_a_transcript_tells_whose_it_is(settings: Settings, tmp_path: Path, text: str, name: str) -> None:
    """`transcripts.HEAD_LINES` and `transcripts.HEAD_BYTES`."""
    (tmp_path / "file.jsonl").write_text(text)
    assert host_by_content(str(tmp_path / "file.jsonl"), load_hosts(settings)) == name


@pytest.mark.parametrize(("size", "is_read"), [(8 * 2**20, True), (8 * 2**20 + 1, False)])
def test_a_transcript_of_eight_megabytes_is_read_whole_after_a_turn(
    memory: Memory, tmp_path: Path, size: int, is_read: bool
) -> None:
    """`transcripts.WHOLE_LIMIT`."""
    file = tmp_path / "session-1.json"
    golden = GOLDEN / "gemini_cli" / "transcript_of_the_older_form" / "transcript.json"
    file.write_bytes(golden.read_bytes().ljust(size))
    call = HookCall(
        host="gemini-cli", name="AfterAgent", session=SessionId("g0"), cwd=memory.folder, transcript=str(file)
    )
    assert (keep_turn(memory, call) > 0) is is_read


@pytest.mark.parametrize(("worth", "kind"), [(0.39, "convention"), (0.4, "constraint")])
def test_the_words_of_a_passage_tell_its_kind_from_forty_percent(
    monkeypatch: pytest.MonkeyPatch, worth: float, kind: str
) -> None:
    """`sources.TELLING`."""
    passage_find = SimpleNamespace(kind="constraint", confidence=worth)
    monkeypatch.setattr(sources, "_statements", lambda: SimpleNamespace(detect=lambda events: [passage_find]))
    assert sources._with_kind(Passage(section="a", insight="Tides must be whole hours")).kind == kind
