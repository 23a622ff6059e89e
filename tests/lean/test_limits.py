"""The edges of what hooks load first: what is just inside, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.lean import deadline, files, texts
from holdfast.lean.deadline import Deadline
from holdfast.lean.files import FileLock
from holdfast.testing.builders import make_id


class Naps:
    """A clock that stands but for the naps that are taken by it."""

    def __init__(self) -> None:
        self.now, self.taken = 100.0, list[float]()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.taken.append(seconds)
        self.now += seconds


def test_a_lock_is_requested_again_after_naps_that_double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    naps = Naps()
    monkeypatch.setattr(files, "time", naps)
    holder, waiting = FileLock(str(tmp_path / "lock")), FileLock(str(tmp_path / "lock"))
    assert holder.take(0, 1.0)
    assert not waiting.take(0.01, 0.001)
    assert naps.taken[:5] == [files.FIRST_NAP_S, 0.000_4, 0.000_8, 0.001, 0.001]
    assert files.FIRST_NAP_S == 0.000_2
    holder.close()
    waiting.close()


@pytest.mark.parametrize(
    ("limit", "usual", "patient"),
    [
        ("answer_by", 100.42, 101.92), ("late_by", 102.0, 108.0), ("keep_by", 107.0, 113.0), ("server_s", 0.2, 0.8),
        ("deliver_s", 0.16, 0.64), ("store_s", 0.3, 1.2),
    ],
)  # fmt: skip
def test_each_limit_is_counted_from_the_hooks_start_and_its_answers_time(
    limit: str, usual: float, patient: float
) -> None:
    assert getattr(Deadline(100.0), limit) == pytest.approx(usual)
    assert getattr(Deadline(100.0, 2.0), limit) == pytest.approx(patient)


def test_a_server_answers_before_a_hook_stops_waiting_and_a_hook_before_its_answer_is_due() -> None:
    hook = Deadline(0.0)
    assert 0 < hook.deliver_s < hook.server_s < hook.store_s < hook.answer_by < hook.late_by < hook.keep_by
    assert hook.keep_by < deadline.STOP_S


def test_a_short_id_is_the_last_eight_characters_where_ids_of_one_moment_differ() -> None:
    ids = [make_id() for _ in range(50)]
    assert all(full.endswith(texts.short_id(full)) and len(texts.short_id(full)) == 8 == texts.SHORT for full in ids)
    assert len(set(map(texts.short_id, ids))) == 50
