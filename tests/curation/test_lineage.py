"""What became of a lesson, and which lessons are about a file's lines."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Link, in_state
from holdfast.errors import InvalidValueError
from holdfast.testing.builders import make_lesson
from tests.codebase import Codebase

DAY = timedelta(days=1)
BEGUN = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def about(code: Codebase) -> Iterator[Memory]:
    """The memory of the code base."""
    with Memory(str(code.folder)) as opened:
        yield opened


def story(memory: Memory, ref: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Insight, verb and changed fields of each version."""
    versions = memory.lineage(ref)
    return [(v.lesson.insight, v.verb, tuple(d.field for d in v.differences)) for v in versions]


def test_a_history_goes_through_predecessors_and_successors_from_any_of_them(about: Memory) -> None:
    first = about.remember("Retry at most 3 times.", author="ada")
    second = about.revise(first.id, insight="Retry at most 4 times.", author="bob")
    third = about.remember("Retry at most 5 times.")
    history = story(about, first.id)
    assert history == story(about, second.id) == story(about, third.id)
    assert history == [
        ("Retry at most 3 times.", "remember", ()),
        ("Retry at most 3 times.", "revise", ("state",)),
        ("Retry at most 4 times.", "revise", ("title", "insight")),
        ("Retry at most 5 times.", "remember", ()),
        ("Retry at most 4 times.", "settle", ("state",)),
        ("Retry at most 5 times.", "settle", ("links",)),
    ]
    versions = about.lineage(third.id)
    assert versions[0].actor == "ada"
    assert "a person" not in versions[0].why
    settled = [v for v in versions if v.verb == "settle"]
    assert all("number; is newer" in v.why for v in settled)


def test_an_undone_change_is_part_of_the_history(about: Memory) -> None:
    lesson = about.remember("Retry at most 3 times.")
    about.forget(lesson.id)
    about.undo()
    assert [(v.lesson.state, v.verb) for v in about.lineage(lesson.id)] == [
        ("active", "remember"), ("forgotten", "forget"), ("active", "undo"),
    ]  # fmt: skip


def test_blame_follows_definitions_to_where_they_are_now(about: Memory, code: Codebase) -> None:
    put = about.remember("Puts are idempotent", files=["src/store.py"], symbols=["Store.put"])
    whole = about.remember("Rows are keyed by hand", files=["src/store.py"])
    glob = about.remember("Sources have no prints", files=["src/**"])
    about.remember("The readme is short", files=["README.md"])
    text = code.folder.joinpath("src/store.py").read_text()
    start = text.splitlines().index("    def put(self, key, value):") + 1
    (entry,) = [blamed for blamed in about.blame("src/store.py") if blamed.lesson.id == put.id]
    assert (entry.start, entry.symbol, entry.freshness) == (start, "Store.put", "fresh")
    assert {blamed.lesson.id for blamed in about.blame("src/store.py")} == {put.id, whole.id, glob.id}
    code.write("src/store.py", "# one\n# two\n# three\n" + text)
    (moved,) = [blamed for blamed in about.blame("src/store.py") if blamed.lesson.id == put.id]
    assert (moved.start, moved.end - moved.start) == (start + 3, entry.end - entry.start)
    assert put.id in {blamed.lesson.id for blamed in about.blame("src/store.py", (start + 4, start + 4))}
    assert put.id not in {blamed.lesson.id for blamed in about.blame("src/store.py", (1, 2))}
    assert whole.id in {blamed.lesson.id for blamed in about.blame("src/store.py", (1, 2))}


def test_blame_refuses_lines_that_are_none_and_paths_outside(about: Memory) -> None:
    for lines in ((0, 3), (5, 4)):
        with pytest.raises(InvalidValueError, match="no such lines"):
            about.blame("src/store.py", lines)
    with pytest.raises(InvalidValueError, match="outside"):
        about.blame("../elsewhere.py")
    assert about.blame("src/not-there.py") == ()


def commit_at(code: Codebase, at: datetime, message: str) -> str:
    """A commit of that time; its id."""
    code.write("notes.txt", message)
    code.git("add", "-A")
    when = at.isoformat()
    subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=a@example.com", "commit", "-q", "-m", message],
        cwd=code.folder, check=True,
        env={**os.environ, "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when, "GIT_CONFIG_GLOBAL": os.devnull},
    )  # fmt: skip
    return code.git("rev-parse", "HEAD")


@pytest.fixture
def years(about: Memory, code: Codebase) -> dict[str, Any]:
    """Ten commits, a day apart; memory says 3 from the third day on, 5 from the seventh."""
    code.git("update-ref", "-d", "HEAD")
    commits = [commit_at(code, BEGUN + n * DAY, f"day {n}") for n in range(10)]
    code.git("tag", "v1", commits[1])
    project = about.location.project.id
    old = make_lesson(
        project=project, insight="Retry at most 3 times.", recorded_at=BEGUN + 2.5 * DAY, valid_from=BEGUN + 2.5 * DAY
    )
    at = BEGUN + 6.5 * DAY
    new = make_lesson(project=project, insight="Retry at most 5 times.", recorded_at=at, valid_from=at)
    about.services.store.put([old], {old.id: None})
    closed = in_state(old, "superseded", at=at)
    linked = replace(new, links=(Link(kind="supersedes", target=old.id),))
    about.services.store.put([closed, linked], {old.id: old.recorded_at, new.id: None})
    return {"commits": commits, "old": old, "new": new}


def test_a_commits_name_is_a_time_to_ask_about(about: Memory, years: dict[str, Any]) -> None:
    assert about.instant("v1") == BEGUN + DAY
    assert about.instant(years["commits"][4][:10]) == BEGUN + 4 * DAY
    with pytest.raises(InvalidValueError):
        about.instant("--output=/tmp/x")
    briefing = about.recall("retry times", as_of=about.instant("HEAD~4"))
    assert [item.lesson.insight for item in briefing.items] == ["Retry at most 3 times."]
    briefing = about.recall("retry times")
    assert [item.lesson.insight for item in briefing.items] == ["Retry at most 5 times."]


def test_by_the_log_alone_successors_are_found_but_not_what_restates_a_retired_lesson(about: Memory) -> None:
    first = about.remember("Retry at most 3 times.")
    second = about.revise(first.id, insight="Retry at most 4 times.")
    about.revise(second.id, insight="Retry at most 5 times.")
    for ref in (first.id, second.id):
        assert about.lineage(ref, by_log=True) == about.lineage(ref)
    retired = about.remember("Pin numpy below 2.")
    about.retire(retired.id)
    about.revise(retired.id, insight="Pin numpy below 3.")
    assert len({version.lesson.id for version in about.lineage(retired.id)}) == 2
    assert {version.lesson.id for version in about.lineage(retired.id, by_log=True)} == {retired.id}


def test_a_changed_trigger_is_told(about: Memory) -> None:
    lesson = about.remember("Retry at most 3 times.")
    about.edit(lesson.id, commands=["make retry", "make again"])
    [change] = about.lineage(lesson.id)[-1].differences
    assert (change.field, change.before, change.after) == ("when commands", "", "make retry, make again")
