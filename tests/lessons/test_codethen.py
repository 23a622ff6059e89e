"""A lesson of the past is anchored to the code of its time, and unverified where nobody knows that code."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.event import Event
from holdfast.domain.lesson import Anchor, Lesson
from holdfast.lessons.anchoring import CodeThen, Subject
from holdfast.ports.plugins import Passage
from holdfast.ports.store import EventFilter
from holdfast.testing.builders import make_event
from tests.codebase import Codebase

DAY = timedelta(days=1)
BEGUN = datetime(2026, 1, 5, 9, tzinfo=UTC)
PUT = Subject(files=("src/store.py",), words="`Store.put` keeps a value", guessed=True)


@pytest.fixture
def old(home: Path, tmp_path: Path) -> Codebase:
    """A project whose history begins on 5 January 2026; this clone of it was made today."""
    made = Codebase(tmp_path / "harbour", git=False)
    made.git("init", "-q", "-b", "main")
    made.commit("begin", at=BEGUN)
    shutil.rmtree(made.folder / ".git" / "logs")
    return made


@pytest.fixture
def memory(old: Codebase) -> Iterator[Memory]:
    with Memory(str(old.folder)) as opened:
        yield opened


def seen(memory: Memory, at: datetime, subject: Subject = PUT, *session: Event, **event: str) -> tuple[Anchor, ...]:
    behind = make_event(at=at, cwd=memory.folder, **event)
    here = memory.at(memory.folder)
    return CodeThen(here.services, here.location).anchors(subject, [behind], [*session, behind])


def verdict(memory: Memory, anchor: Anchor) -> str:
    here = memory.at(memory.folder)
    index = here.services.codeindex()
    assert index is not None
    return index.verdict(here.location, anchor).freshness


def test_code_that_has_changed_since_the_event_has_drifted(old: Codebase, memory: Memory) -> None:
    begun = old.git("rev-parse", "HEAD")
    old.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    old.commit("lists", at=BEGUN + 10 * DAY)
    (before,) = seen(memory, BEGUN + DAY)
    assert (before.symbol, before.commit, verdict(memory, before)) == ("Store.put", begun, "drifted")
    (after,) = seen(memory, BEGUN + 11 * DAY)
    assert (after.symbol, verdict(memory, after)) == ("Store.put", "fresh")


def test_code_that_is_gone_is_orphaned_and_code_that_is_unchanged_is_fresh(old: Codebase, memory: Memory) -> None:
    old.edit("src/store.py", "    def get(self, key):\n        return self.rows.get(key)\n", "")
    old.commit("no get", at=BEGUN + 10 * DAY)
    (gone,) = seen(memory, BEGUN + DAY, replace(PUT, words="`Store.get` misses"))
    (unchanged,) = seen(memory, BEGUN + DAY)
    assert (gone.symbol, verdict(memory, gone)) == ("Store.get", "orphaned")
    assert (unchanged.symbol, verdict(memory, unchanged)) == ("Store.put", "fresh")


def test_the_sessions_branch_counts_also_when_it_was_merged_and_deleted(old: Codebase, memory: Memory) -> None:
    old.git("switch", "-q", "-c", "ada/queue")
    old.write("src/queue.py", "def push(row):\n    return [row]\n")
    pushed = old.commit("a queue", at=BEGUN + DAY)
    subject = Subject(files=("src/queue.py",), words="`push` copies", guessed=True)
    old.git("switch", "-q", "main")
    (open_branch,) = seen(memory, BEGUN + 2 * DAY, subject, branch="ada/queue")
    old.git(
        "merge", "-q", "--no-ff", "-m", "Merge pull request #7 from harbour/ada/queue", "ada/queue", at=BEGUN + 9 * DAY
    )
    old.git("branch", "-q", "-D", "ada/queue")
    shutil.rmtree(old.folder / ".git" / "logs")
    (merged,) = seen(memory, BEGUN + 2 * DAY, subject, branch="ada/queue")
    assert open_branch.commit == merged.commit == pushed
    assert merged.branch == "ada/queue"


def test_a_branch_that_nobody_knows_any_more_falls_back_to_the_main_branch(old: Codebase, memory: Memory) -> None:
    begun = old.git("rev-parse", "HEAD")
    old.write("src/later.py", "LATER = 1\n")
    old.commit("later", at=BEGUN + 5 * DAY)
    (anchor,) = seen(memory, BEGUN + DAY, branch="ada/gone")
    assert anchor.commit == begun


def test_a_file_that_the_session_had_edited_is_read_from_the_next_commit(old: Codebase, memory: Memory) -> None:
    old.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    lists = old.commit("lists", at=BEGUN + 2 * DAY)
    old.write("README.md", "# the harbour\n")
    old.commit("words", at=BEGUN + 9 * DAY)
    edit = make_event(kind="file_edit", at=BEGUN + DAY, files=("src/store.py",), new="self.rows[key] = [value]")
    (edited,) = seen(memory, BEGUN + DAY + timedelta(hours=1), PUT, edit)
    assert edited.commit == lists
    (unedited,) = seen(memory, BEGUN + DAY - timedelta(hours=1), PUT, edit)
    assert unedited.commit != lists


def test_a_definition_that_the_next_commit_brought_is_found_in_it(old: Codebase, memory: Memory) -> None:
    old.write("src/queue.py", "def push(row):\n    return [row]\n")
    pushed = old.commit("a queue", at=BEGUN + 2 * DAY)
    (anchor,) = seen(memory, BEGUN + DAY, Subject(files=("src/queue.py",), words="`push` copies", guessed=True))
    assert (anchor.symbol, anchor.commit) == ("push", pushed)


def test_before_the_first_known_commit_nothing_is_verified(old: Codebase, memory: Memory) -> None:
    (anchor,) = seen(memory, BEGUN - DAY)
    assert (anchor.path, anchor.symbol) == ("src/store.py", "Store.put")
    assert (anchor.blob, anchor.body_hash, anchor.commit) == ("", "", "")
    assert verdict(memory, anchor) == "unverified"


def test_a_shallow_clone_knows_nothing_of_the_commits_that_it_lacks(
    old: Codebase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    old.commit("lists", at=BEGUN + 5 * DAY)
    shallow = tmp_path / "shallow"
    clone = ["git", "clone", "-q", "--depth", "1", f"file://{old.folder}", str(shallow)]
    subprocess.run(clone, check=True, capture_output=True)
    with Memory(str(shallow)) as memory:
        (anchor,) = seen(memory, BEGUN + DAY)
        assert (anchor.symbol, verdict(memory, anchor)) == ("Store.put", "unverified")


def test_without_git_only_the_last_day_is_present(home: Path, tmp_path: Path) -> None:
    plain = Codebase(tmp_path / "plain", git=False)
    with Memory(str(plain.folder)) as memory:
        now = memory.services.clock.now()
        (recent,), (past,) = seen(memory, now - timedelta(hours=20)), seen(memory, now - 2 * DAY)
        assert (recent.symbol, verdict(memory, recent)) == ("Store.put", "fresh")
        assert (past.symbol, verdict(memory, past)) == ("Store.put", "unverified")


def test_while_nothing_was_committed_since_the_work_tree_is_read(old: Codebase, memory: Memory) -> None:
    old.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    head = old.git("rev-parse", "HEAD")
    (here,) = seen(memory, BEGUN + DAY, branch="main")
    (recorded,) = seen(memory, BEGUN + DAY, branch="main", commit=head)
    assert here == recorded
    assert here.blob == memory.services.workspace.blob(memory.location, "src/store.py")


def test_the_commit_that_a_hook_recorded_comes_first(old: Codebase, memory: Memory) -> None:
    begun = old.git("rev-parse", "HEAD")
    old.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    lists = old.commit("lists", at=BEGUN + 2 * DAY)
    assert seen(memory, BEGUN + 3 * DAY, commit=begun)[0].commit == begun
    # a commit that is younger than the event was noted by a back-fill, not by a hook
    old.write("README.md", "# the harbour\n")
    late = old.commit("words", at=BEGUN + 9 * DAY)
    assert seen(memory, BEGUN + 3 * DAY, commit=late)[0].commit == lists
    assert seen(memory, BEGUN + 3 * DAY, commit="f" * 40)[0].commit == lists


def test_the_reflog_knows_a_branch_that_was_squashed(old: Codebase, memory: Memory) -> None:
    old.git("switch", "-q", "-c", "ada/queue", at=BEGUN + DAY)
    old.write("src/queue.py", "def push(row):\n    return [row]\n")
    pushed = old.commit("a queue", at=BEGUN + 2 * DAY)
    old.git("switch", "-q", "main", at=BEGUN + 4 * DAY)
    old.git("merge", "-q", "--squash", "ada/queue")
    old.commit("a queue (#7)", at=BEGUN + 5 * DAY)
    old.git("branch", "-q", "-D", "ada/queue")
    subject = Subject(files=("src/queue.py",), words="`push` copies", guessed=True)
    (anchor,) = seen(memory, BEGUN + 3 * DAY, subject, branch="ada/queue")
    assert anchor.commit == pushed
    assert verdict(memory, anchor) == "fresh"  # the squashed commit has the same text
    old.edit("src/queue.py", "[row]", "[row, row]")
    old.commit("twice", at=BEGUN + 6 * DAY)
    assert verdict(memory, anchor) == "drifted"


def test_an_event_of_a_transcript_is_not_stamped_with_what_is_checked_out_now(memory: Memory) -> None:
    now = memory.services.clock.now()
    events = [make_event(at=at, project="", cwd=memory.folder) for at in (now, now - DAY)]
    memory.append(events)
    where = EventFilter(project=memory.location.project.id)
    stored = {event.at: event for _, event in memory.services.store.find_events(where)}
    assert (stored[now].commit, stored[now].branch) == (memory.location.commit, "main")
    assert (stored[now - DAY].commit, stored[now - DAY].branch) == ("", "")


def test_an_imported_passage_is_anchored_to_the_code_of_its_day(old: Codebase, memory: Memory) -> None:
    from holdfast.curation.adopt import Adopting, SourceContents, adopt

    begun = old.git("rev-parse", "HEAD")
    old.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    lists = old.commit("lists", at=BEGUN + 5 * DAY)
    fields = {"files": ("src/store.py",), "insight": "Callers of `Store.put` get the value back"}
    parts = (
        Passage(section="by its day", said_at=BEGUN + DAY, **fields),  # type: ignore[arg-type]
        Passage(
            section="by its commit", said_at=BEGUN, commit=lists, **{**fields, "insight": "`Store.put` makes lists"}
        ),  # type: ignore[arg-type]
    )
    here = memory.at(memory.folder)
    adopt(here.services, here.location, [SourceContents(label="notes", importer="notes/1", parts=parts)], Adopting())
    lessons: dict[str, Lesson] = {lesson.insight: lesson for lesson in here.inbox()}
    assert lessons["Callers of `Store.put` get the value back"].anchors[0].commit == begun
    assert lessons["`Store.put` makes lists"].anchors[0].commit == lists


def test_a_session_of_january_teaches_a_lesson_of_januarys_code(old: Codebase, memory: Memory) -> None:
    begun = old.git("rev-parse", "HEAD")
    old.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    old.commit("lists", at=BEGUN + 10 * DAY)
    here = memory.at(memory.folder)
    text = "Remember: never call `Store.put` in src/store.py without the lock"
    prompt = make_event(text=text, trust="person", project="", cwd=here.folder, at=BEGUN + DAY, branch="main")
    here.append([prompt])
    assert here.learn(prompt.session).active
    (lesson,) = here.lessons()
    (anchor,) = lesson.anchors
    assert (anchor.symbol, anchor.commit) == ("Store.put", begun)
    assert here.verdicts([lesson])[0][0] == "drifted"
