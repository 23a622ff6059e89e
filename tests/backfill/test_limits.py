"""The edges of the backfill: what is just inside, and what is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.backfill.distilling import distil_waiting
from holdfast.backfill.run import load_hosts
from holdfast.backfill.transcripts import host_by_content
from holdfast.bootstrap import Memory
from holdfast.domain.vocabulary import SessionId
from holdfast.lean.plain import render_instant
from holdfast.settings import Settings, load_settings

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


@pytest.mark.parametrize(("ago", "is_due"), [(timedelta(minutes=59), False), (timedelta(hours=1), True)])
def test_a_session_that_failed_waits_an_hour(memory: Memory, ago: timedelta, is_due: bool) -> None:
    """`distilrecord.RETRY_AFTER`: one that is due is looked at, and here it has no events."""
    failed = {"failed": "ModelError", "at": render_instant(memory.services.clock.now() - ago)}
    record(memory.settings, {"queued": True, "folder": memory.folder}, failed)
    sending = distil_waiting(memory, memory.settings)
    assert [outcome.session for outcome in sending] == ([SESSION] if is_due else [])


# Transcripts


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
