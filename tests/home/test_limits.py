"""Each limit of the home's files at its boundary; a number that decides something is written out."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import StoreFullError
from holdfast.home.runfiles import RunLock, leave_errand, take_errands
from holdfast.home.spool import ENDING, FOLDER, Spool, waiting
from holdfast.lean.files import FileLock
from holdfast.testing.builders import make_delivery, make_event


def call(session: str) -> HookCall:
    event = make_event(session=session, project="")
    return HookCall(host="codex", name="Stop", session=SessionId(session), cwd="/app", transcript="/t", events=(event,))


def test_a_thousand_sessions_wait_for_their_transcript_to_be_read(tmp_path: Path) -> None:
    """`runfiles.ERRANDS_LIMIT`: a session that waits already may ask again."""
    for number in range(1000):
        leave_errand(str(tmp_path), call(f"s{number}"))
    with pytest.raises(OSError, match="more than 1,000 transcripts wait"):
        leave_errand(str(tmp_path), call("another"))
    leave_errand(str(tmp_path), call("s7"))


def test_a_transcript_is_begun_five_times(tmp_path: Path) -> None:
    """`runfiles.ATTEMPTS`."""
    leave_errand(str(tmp_path), call("s1"))
    assert [len(list(take_errands(str(tmp_path)))) for _ in range(7)] == [1, 1, 1, 1, 1, 0, 0]


def test_a_turn_is_asked_for_every_twentieth_of_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`runfiles.NAP_S`."""
    now, naps = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        now[0] += seconds

    holder = FileLock(str(tmp_path / "sharing.lock"))
    assert holder.take(0.0, 0.0)
    with monkeypatch.context() as patched:
        patched.setattr("time.monotonic", lambda: now[0])
        patched.setattr("time.sleep", sleep)
        with RunLock(str(tmp_path), "sharing", 1.0) as is_ours:
            assert not is_ours
    assert max(naps) == 0.05
    holder.close()


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
