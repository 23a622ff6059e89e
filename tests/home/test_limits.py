"""The edges of the home's files: what is just inside, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import StoreFullError
from holdfast.home.runfiles import leave_errand, take_errands
from holdfast.home.spool import ENDING, FOLDER, Spool, waiting
from holdfast.testing.builders import make_delivery, make_event


def call(session: str) -> HookCall:
    event = make_event(session=session, project="")
    return HookCall(host="codex", name="Stop", session=SessionId(session), cwd="/app", transcript="/t", events=(event,))


def test_a_transcript_is_begun_five_times(tmp_path: Path) -> None:
    """`runfiles.ATTEMPTS`."""
    leave_errand(str(tmp_path), call("s1"))
    assert [len(list(take_errands(str(tmp_path)))) for _ in range(7)] == [1, 1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("over", [0, 1])
def test_the_spool_takes_64_megabytes(tmp_path: Path, over: int) -> None:
    """`spool.BYTES_LIMIT`: a file's name tells its size."""
    spool = Spool(str(tmp_path), "codex")
    spool.keep_deliveries([make_delivery()])
    [first] = waiting(str(tmp_path))
    size = int(first.removesuffix(ENDING).rpartition("-")[2])
    (tmp_path / FOLDER / f"{0:020d}-1-{64_000_000 - 2 * size + over}{ENDING}").touch()
    delivery = make_delivery()
    if over:
        with pytest.raises(StoreFullError):
            spool.keep_deliveries([delivery])
    else:
        spool.keep_deliveries([delivery])
    assert len(waiting(str(tmp_path))) == 3 - over
