"""What a check decides about each anchor, and how often it asks the disk and the code index for that."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Anchor, Lesson
from holdfast.domain.symbol import Verdict
from holdfast.errors import InvalidValueError
from holdfast.freshness.check import FreshnessCheck, caveat
from holdfast.testing.builders import FixedClock, make_lesson

ELSEWHERE = "git1:" + "0" * 40
"""The blob of a file that is not as it was."""


class Index:
    """A code index that answers with one verdict for each file and counts how often it is asked."""

    def __init__(self, **verdicts: dict[str, Any]) -> None:
        self.verdicts = verdicts
        self.questions: Counter[str] = Counter()

    def verdict(self, place: object, anchor: Anchor) -> Verdict:
        self.questions[anchor.path] += 1
        fields = self.verdicts.get(anchor.path, {"freshness": "changed", "reason": "body"})
        return Verdict(anchor=anchor, **fields)


class Disk:
    """A workspace that counts how often each question is asked; `locate` fails when the folder is gone."""

    def __init__(self, workspace: Any, folder_is_there: bool = True) -> None:
        self.workspace, self.folder_is_there = workspace, folder_is_there
        self.questions: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.workspace, name)

    def blob(self, place: Any, path: str) -> str:
        self.questions[f"blob {path}"] += 1
        blob: str = self.workspace.blob(place, path)
        return blob

    def locate(self, folder: str) -> Any:
        self.questions["locate"] += 1
        if not self.folder_is_there:
            raise InvalidValueError("no folder")
        return self.workspace.locate(folder)


def lesson_of(memory: Memory, *anchors: Anchor, **fields: Any) -> Lesson:
    return make_lesson(**{"project": memory.location.project.id, "anchors": anchors, **fields})


def fresh_anchor(memory: Memory, path: str) -> Anchor:
    return Anchor(path=path, blob=memory.services.workspace.blob(memory.location, path))


def check_with(memory: Memory, **parts: Any) -> FreshnessCheck:
    return FreshnessCheck(replace(memory.services, **parts), memory.location)


TIDES, README = Anchor(path="src/tides.py", blob=ELSEWHERE), Anchor(path="README.md", blob=ELSEWHERE)


# Which anchors are looked at


def test_an_anchor_without_a_file_is_not_looked_at(memory: Memory) -> None:
    nowhere, tides = Anchor(path="", symbol="high"), fresh_anchor(memory, "src/tides.py")
    check = FreshnessCheck(memory.services, memory.location)
    lesson = lesson_of(memory, nowhere, tides)
    assert [(anchor, verdict.freshness) for anchor, verdict in check.anchor_verdicts(lesson)] == [(tides, "fresh")]
    assert check.anchor_verdicts(lesson_of(memory, nowhere)) == ()
    assert check.is_untouched(lesson)


def test_of_another_projects_lesson_one_anchor_is_delivered_and_none_is_looked_at(memory: Memory) -> None:
    disk = Disk(memory.services.workspace)
    check = check_with(memory, workspace=disk)
    lesson = lesson_of(memory, Anchor(path=""), TIDES, README, project="elsewhere")
    [(anchor, verdict)] = check.anchor_verdicts(lesson)
    assert (anchor, verdict.freshness, verdict.reason) == (TIDES, "unverified", "other_project")
    assert check.anchor_verdicts(lesson_of(memory, project="elsewhere")) == ()
    assert check.is_untouched(lesson)
    assert disk.questions == {}


def test_the_users_own_lesson_is_compared_with_the_project_at_hand(memory: Memory) -> None:
    check = check_with(memory, codeindex=Index)
    lesson = lesson_of(memory, TIDES, project="", level="user")
    assert check.judge(lesson)[0] == "changed"
    assert not check.is_untouched(lesson)


def test_a_lesson_is_untouched_when_every_file_is_byte_for_byte_as_it_was(memory: Memory) -> None:
    check = FreshnessCheck(memory.services, memory.location)
    tides, readme = fresh_anchor(memory, "src/tides.py"), fresh_anchor(memory, "README.md")
    assert check.is_untouched(lesson_of(memory, tides, readme))
    assert check.is_untouched(lesson_of(memory))
    assert not check.is_untouched(lesson_of(memory, tides, README))
    assert not check.is_untouched(lesson_of(memory, Anchor(path="src/none.py")))


def test_each_file_is_read_once_and_each_anchor_compared_once_however_many_lessons_have_it(memory: Memory) -> None:
    index, disk = Index(), Disk(memory.services.workspace)
    check = check_with(memory, workspace=disk, codeindex=lambda: index)
    whole, symbol = TIDES, replace(TIDES, symbol="high")
    for anchors in ((whole, symbol), (symbol,), (whole,)):
        lesson = lesson_of(memory, *anchors)
        assert not check.is_untouched(lesson)
        assert {verdict.freshness for _, verdict in check.anchor_verdicts(lesson)} == {"changed"}
    assert index.questions == {"src/tides.py": 2}
    assert disk.questions == {"blob src/tides.py": 1}


# How much changed


def test_the_share_of_change_is_that_of_the_worst_anchor_looked_at(memory: Memory) -> None:
    verdicts = {
        "src/tides.py": {"freshness": "changed", "reason": "body", "share": 0.25},
        "README.md": {"freshness": "drifted", "reason": "body", "share": 0.75},
    }
    check = check_with(memory, codeindex=lambda: Index(**verdicts))
    both = lesson_of(memory, README, TIDES)
    assert check.share(both) == 1.0, "nothing was looked at"
    check.judge(lesson_of(memory, README))
    assert check.share(both) == 0.75, "one of two was looked at"
    check.judge(both)
    assert check.share(both) == 0.25
    assert check.share(lesson_of(memory)) == 1.0


# Where a host waits


def test_a_glance_tells_what_a_close_look_does_where_nobody_waits_or_nothing_changed(memory: Memory) -> None:
    tides = lesson_of(memory, TIDES)
    patient = check_with(memory, codeindex=Index)
    assert patient.quick_check(tides)[0] == "changed"
    assert patient.next_to_verify([tides]) is None
    low_latency = check_with(memory, codeindex=Index, low_latency=True)
    untouched = lesson_of(memory, fresh_anchor(memory, "src/tides.py"))
    assert low_latency.quick_check(untouched) == ("fresh", "")
    assert low_latency.next_to_verify([untouched]) is None


def test_a_glance_passes_anchors_without_a_file_and_names_the_one_that_differs(memory: Memory) -> None:
    check = check_with(memory, codeindex=Index, low_latency=True)
    lesson = lesson_of(memory, Anchor(path="", symbol="x"), fresh_anchor(memory, "README.md"), TIDES)
    assert check.quick_check(lesson) == ("unverified", "not verified: src/tides.py changed since")


def test_only_what_was_glanced_at_is_looked_at_again_once_and_in_the_order_shown(memory: Memory) -> None:
    check = check_with(memory, codeindex=Index, low_latency=True)
    judged, first, second = (lesson_of(memory, TIDES) for _ in range(3))
    check.judge(judged)
    for lesson in (second, first):
        check.quick_check(lesson)
    shown = [judged, first, second]
    assert [check.next_to_verify(shown) for _ in range(3)] == [first, second, None]


def test_no_lesson_is_looked_at_again_when_the_time_is_over(memory: Memory) -> None:
    clock = FixedClock()
    check = check_with(memory, codeindex=Index, low_latency=True, clock=clock)
    lesson = lesson_of(memory, TIDES)
    check.quick_check(lesson)
    clock.advance(0.13)
    assert check.next_to_verify([lesson]) is None


# What an anchor can be compared by


@pytest.mark.parametrize(
    ("fields", "freshness", "reason"),
    [
        ({}, "unverified", "not_recorded"),
        ({"blob": ELSEWHERE}, "changed", "body"),
        ({"body_hash": "b1:1"}, "changed", "body"),
        ({"signature_hash": "s1:1"}, "changed", "body"),
        ({"commit": "c1"}, "unverified", "not_recorded"),
    ],
)
def test_the_index_is_requested_whatever_fingerprint_there_is(
    memory: Memory, fields: dict[str, str], freshness: str, reason: str
) -> None:
    check = check_with(memory, codeindex=Index)
    [(_, verdict)] = check.anchor_verdicts(lesson_of(memory, Anchor(path="src/tides.py", **fields)))
    assert (verdict.freshness, verdict.reason) == (freshness, reason)


def test_without_an_index_only_blobs_of_one_kind_are_compared(memory: Memory) -> None:
    check = check_with(memory, codeindex=lambda: None)
    now = memory.services.workspace.blob(memory.location, "src/tides.py")

    def verdict_of(**fields: str) -> Verdict:
        [(_, verdict)] = check.anchor_verdicts(lesson_of(memory, Anchor(path="src/tides.py", **fields)))
        return verdict

    drifted = verdict_of(blob=ELSEWHERE)
    assert (drifted.freshness, drifted.reason, drifted.anchor.blob) == ("drifted", "file_changed", now)
    assert verdict_of(body_hash="b1:1").reason == "no_fingerprint"
    assert verdict_of(blob="git2:1").reason == "no_fingerprint"


def test_the_folder_is_located_once_however_many_files_have_vanished(memory: Memory) -> None:
    gone = lesson_of(memory, *(Anchor(path=f"src/gone{number}.py", blob=ELSEWHERE) for number in range(3)))
    for is_there, state, reason in ((True, "orphaned", "file_gone"), (False, "unverified", "no_folder")):
        disk = Disk(memory.services.workspace, is_there)
        check = check_with(memory, workspace=disk, codeindex=lambda: None)
        assert {(verdict.freshness, verdict.reason) for _, verdict in check.anchor_verdicts(gone)} == {(state, reason)}
        assert disk.questions["locate"] == 1


def test_a_folder_is_not_located_for_files_that_are_there(memory: Memory, project: Path) -> None:
    disk = Disk(memory.services.workspace)
    check = check_with(memory, workspace=disk, codeindex=Index)
    assert check.judge(lesson_of(memory, TIDES))[0] == "changed"
    (project / "src" / "tides.py").unlink()
    (project / "src" / "tides.py").mkdir()
    check = check_with(memory, workspace=disk, codeindex=Index)
    assert check.judge(lesson_of(memory, TIDES)) == (
        "unverified", "not verified: src/tides.py cannot be read as a file"
    )  # fmt: skip
    assert disk.questions["locate"] == 0


# Words


@pytest.mark.parametrize(
    ("symbol", "detail", "words"),
    [
        ("put", "", "put body changed"),
        ("", "", "src/a.py body changed"),
        ("put", ", as put says", "body changed, as put says"),
        ("put", " (put, get)", "put body changed (put, get)"),
        ("put", " by get, put, pop", "body changed by get, put, pop"),
        ("put", " by output", "put body changed by output"),
        ("", " of put", "src/a.py body changed of put"),
    ],
)
def test_a_caveat_names_what_changed_unless_its_words_do(symbol: str, detail: str, words: str) -> None:
    anchor = Anchor(path="src/a.py", symbol=symbol)
    assert caveat(anchor, Verdict(freshness="changed", reason="body", detail=detail, anchor=anchor)) == words


def test_a_state_without_words_is_its_own_word() -> None:
    anchor = Anchor(path="src/a.py")
    assert caveat(anchor, Verdict(freshness="moved", reason="moved", anchor=anchor)) == "src/a.py moved"


def test_a_caveat_is_not_cut_behind_a_space() -> None:
    anchor = Anchor(path="src/a.py", symbol="put")
    detail = "x" * (158 - len("put body changed")) + " " + "y" * 20
    words = caveat(anchor, Verdict(freshness="changed", reason="body", detail=detail, anchor=anchor))
    assert words == f"put body changed{detail[: 158 - len('put body changed')]}…"
