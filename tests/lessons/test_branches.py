"""Where a lesson that was learnt on a branch is seen: real repositories, and every way in which a branch ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.candidate import Candidate
from holdfast.domain.lesson import Evidence, Lesson
from holdfast.domain.statefamilies import StateFamily
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import StoreReadOnlyError
from holdfast.learning.learn import admit, admit_from
from holdfast.ports.store import LessonFilter
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import make_event
from holdfast.workspace.gitrun import Git
from tests.codebase import Codebase

RULE = "Rows are kept as lists"


@pytest.fixture
def memory(code: Codebase) -> Iterator[Memory]:
    with Memory(str(code.folder)) as opened:
        yield opened


def seen(memory: Memory, words: str = RULE) -> bool:
    """Whether recall and the list have the lesson, asked anew; both have to agree."""
    now = memory.at(memory.folder)
    recalled = any(ranked.lesson.insight == words for ranked in now.recall(words).items)
    listed = any(lesson.insight == words for lesson in now.lessons())
    assert recalled == listed
    return recalled


def begin(code: Codebase, branch: str = "feature/lists") -> None:
    code.git("checkout", "-q", "-b", branch)
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")


def remember(memory: Memory, words: str = RULE, **fields: Any) -> Lesson:
    return memory.at(memory.folder).remember(words, files=["src/store.py::Store.put"], **fields)


@pytest.fixture
def staged(memory: Memory, code: Codebase) -> Lesson:
    """A lesson about code that a branch has changed and committed; that branch is checked out."""
    begin(code)
    code.commit("lists")
    return remember(memory)


# What is staged


def test_a_lesson_about_changed_code_is_seen_on_its_branch_alone(
    memory: Memory, code: Codebase, staged: Lesson
) -> None:
    assert staged.scope.branch == "feature/lists"
    assert seen(memory)
    code.git("checkout", "-q", "main")
    assert not seen(memory)
    code.git("checkout", "-q", "feature/lists")
    assert seen(memory)


def test_so_is_one_about_a_change_that_is_not_committed_yet(memory: Memory, code: Codebase) -> None:
    begin(code)
    remember(memory)
    assert seen(memory)
    code.commit("lists")
    assert seen(memory)
    code.git("checkout", "-q", "main")
    assert not seen(memory)


def test_a_lesson_about_code_that_the_main_line_has_too_is_seen_everywhere(memory: Memory, code: Codebase) -> None:
    code.git("checkout", "-q", "-b", "feature/x")
    code.edit("src/store.py", "return total * 2", "return total * 3")
    assert remember(memory).scope.branch == ""
    code.git("stash", "-q")
    code.git("checkout", "-q", "main")
    assert seen(memory)


def test_a_rule_about_the_project_in_general_is_seen_everywhere(memory: Memory, code: Codebase) -> None:
    begin(code)
    assert memory.at(memory.folder).remember(RULE).scope.branch == ""


def test_nothing_is_staged_on_the_main_line(memory: Memory, code: Codebase) -> None:
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    assert remember(memory).scope.branch == ""


def test_nothing_is_staged_where_there_is_no_main_line(memory: Memory, code: Codebase) -> None:
    begin(code)
    code.git("branch", "-m", "main", "odd-name")
    assert remember(memory).scope.branch == ""


def test_a_decision_that_an_agent_took_on_a_branch_is_staged(memory: Memory, code: Codebase) -> None:
    code.git("checkout", "-q", "-b", "feature/queue")
    here = memory.at(memory.folder)
    words = {
        "decision": "Jobs wait in a Redis list, which survives a restart",
        "tooling": "Start the server with make up",
    }
    for kind, insight in words.items():
        candidate = Candidate(kind=kind, insight=insight, evidence=(), detector="test/1")  # type: ignore[arg-type]
        admit(here.services, here.location, [candidate], SessionId("s1"), "claude-code")
    lessons = here.lessons(states=("candidate", "active"))
    assert {lesson.kind: lesson.scope.branch for lesson in lessons} == {"decision": "feature/queue", "tooling": ""}


def test_a_session_is_learnt_from_on_the_branch_that_it_was_on(memory: Memory, code: Codebase) -> None:
    code.git("checkout", "-q", "-b", "feature/queue")
    code.write("src/queue.py", "BACKEND = 'redis'\n")
    tip = code.commit("queue")
    code.git("checkout", "-q", "main")
    here = memory.at(memory.folder)
    for branch, insight in (
        ("feature/queue", "Jobs wait in a Redis list"),
        ("long-gone", "Cards are drawn as one image"),
    ):
        event = make_event(id=branch, branch=branch, project=here.location.project.id, text=insight)
        evidence = (Evidence(event=event.id, quote=insight),)
        candidate = Candidate(kind="decision", insight=insight, evidence=evidence, detector="test/1")
        admit_from(here.services, here.location, [candidate], SessionId("s1"), [event])
    lessons = here.services.store.find(LessonFilter(project=here.location.project.id))
    scopes = {lesson.insight: (lesson.scope.branch, lesson.scope.commit) for lesson in lessons}
    assert scopes == {"Jobs wait in a Redis list": ("feature/queue", tip), "Cards are drawn as one image": ("", "")}


def test_what_is_stated_on_another_branch_too_is_staged_no_more(memory: Memory, code: Codebase, staged: Lesson) -> None:
    code.git("checkout", "-q", "main")
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value, None]")
    again = remember(memory)
    assert (again.id, again.scope.branch) == (staged.id, "")
    assert seen(memory)


def test_a_successor_is_seen_where_the_lesson_was_that_it_replaces(memory: Memory, code: Codebase) -> None:
    memory.remember("Rows are kept as they are", topic_key="rows")
    begin(code)
    lesson = remember(memory, topic_key="rows")
    assert lesson.scope.branch == ""
    code.git("stash", "-q")
    code.git("checkout", "-q", "main")
    assert seen(memory)


# How a branch ends


def test_a_merged_lesson_is_seen_everywhere(memory: Memory, code: Codebase, staged: Lesson) -> None:
    code.git("branch", "older")
    code.git("branch", "-f", "older", "main")
    code.git("checkout", "-q", "main")
    code.git("merge", "-q", "--no-ff", "--no-edit", "feature/lists")
    assert seen(memory)
    code.git("branch", "-D", "feature/lists")
    memory.at(memory.folder).settle_branches()
    assert memory.get(staged.id).scope.branch == ""
    code.git("checkout", "-q", "older")
    assert seen(memory)


def test_a_fast_forward_is_a_merge(memory: Memory, code: Codebase) -> None:
    begin(code)
    remember(memory)
    code.commit("lists")
    code.git("checkout", "-q", "main")
    code.git("merge", "-q", "--ff-only", "feature/lists")
    code.git("branch", "-d", "feature/lists")
    assert seen(memory)


def test_a_squash_merge_is_a_merge(memory: Memory, code: Codebase, staged: Lesson) -> None:
    code.write("src/more.py", "MORE = 1\n")
    code.commit("more")
    code.git("checkout", "-q", "main")
    code.edit("README.md", "# harbour", "# Harbour")
    code.commit("meanwhile")
    code.git("merge", "-q", "--squash", "feature/lists")
    code.commit("lists (#1)")
    code.git("branch", "-D", "feature/lists")
    memory.at(memory.folder).settle_branches()
    assert memory.get(staged.id).scope.branch == ""


def test_a_decision_is_merged_by_a_squash_that_later_commits_changed(memory: Memory, code: Codebase) -> None:
    code.git("checkout", "-q", "-b", "feature/queue")
    code.write("src/queue.py", "BACKEND = 'redis'\n")
    code.commit("queue")
    decision = memory.at(memory.folder).remember("The queue is in Redis", kind="decision", trust="agent")
    assert decision.scope.branch == "feature/queue"
    code.write("src/queue.py", "BACKEND = 'redis'\nPORT = 6379\n")
    code.commit("port")
    code.git("checkout", "-q", "main")
    memory.at(memory.folder).settle_branches()
    assert not seen(memory, "The queue is in Redis")
    code.git("merge", "-q", "--squash", "feature/queue")
    code.commit("queue (#2)")
    code.write("src/queue.py", "BACKEND = 'rabbit'\n")
    code.commit("changed since")
    code.git("branch", "-D", "feature/queue")
    memory.at(memory.folder).settle_branches()
    assert seen(memory, "The queue is in Redis")


def test_a_rebased_branch_keeps_its_lessons(memory: Memory, code: Codebase, staged: Lesson) -> None:
    code.git("checkout", "-q", "main")
    code.edit("README.md", "# harbour", "# Harbour")
    code.commit("meanwhile")
    code.git("checkout", "-q", "feature/lists")
    code.git("rebase", "-q", "main")
    assert seen(memory)
    code.git("checkout", "-q", "main")
    assert not seen(memory)
    code.git("merge", "-q", "--ff-only", "feature/lists")
    code.edit("src/store.py", "self.rows[key] = [value]", "self.rows[key] = (value,)")
    code.commit("changed since")
    code.git("branch", "-D", "feature/lists")
    memory.at(memory.folder).settle_branches()
    assert memory.get(staged.id).scope.branch == ""


def test_a_cherry_pick_brings_the_lesson_to_that_branch(memory: Memory, code: Codebase, staged: Lesson) -> None:
    commit = code.git("rev-parse", "HEAD")
    code.git("checkout", "-q", "-b", "release/1", "main")
    assert not seen(memory)
    code.edit("README.md", "# harbour", "# Harbour")
    code.commit("meanwhile")
    code.git("cherry-pick", commit)
    assert seen(memory)
    code.git("checkout", "-q", "main")
    assert not seen(memory)


def test_a_branch_that_grows_from_it_sees_the_lesson(memory: Memory, code: Codebase, staged: Lesson) -> None:
    code.git("checkout", "-q", "-b", "feature/lists-2")
    code.edit("src/store.py", "self.rows[key] = [value]", "self.rows[key] = [value, value]")
    code.commit("twice")
    assert seen(memory)


def test_a_dead_branchs_lesson_is_dropped_from_view_and_can_be_rescued(
    memory: Memory, code: Codebase, staged: Lesson
) -> None:
    code.git("checkout", "-q", "main")
    code.git("branch", "-D", "feature/lists")
    memory.at(memory.folder).settle_branches()
    assert not seen(memory)
    (row,) = memory.at(memory.folder).staged()
    assert (row.lesson.id, row.is_seen, row.fate) == (staged.id, False, "gone")
    assert [lesson.id for lesson in memory.rescue([staged.id])] == [staged.id]
    assert seen(memory)
    assert memory.rescue([staged.id]) == []


def test_a_new_branch_of_a_dead_ones_name_is_another_branch(memory: Memory, code: Codebase, staged: Lesson) -> None:
    code.git("checkout", "-q", "main")
    code.git("branch", "-D", "feature/lists")
    code.git("checkout", "-q", "-b", "feature/lists")
    assert not seen(memory)


def test_where_the_main_line_changed_the_same_file_a_gone_branchs_lesson_is_seen(
    memory: Memory, code: Codebase, staged: Lesson
) -> None:
    code.git("checkout", "-q", "main")
    code.git("branch", "-D", "feature/lists")
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value][:]  # as reviewed")
    code.commit("squashed by hand, in another form")
    memory.at(memory.folder).settle_branches()
    assert seen(memory)


# What is checked out


def test_a_detached_head_sees_what_its_commit_has(memory: Memory, code: Codebase, staged: Lesson) -> None:
    code.git("checkout", "-q", "--detach", "HEAD")
    assert seen(memory)
    code.git("checkout", "-q", "--detach", "main")
    assert not seen(memory)


def test_a_lesson_of_a_detached_head_is_seen_everywhere(memory: Memory, code: Codebase) -> None:
    code.git("checkout", "-q", "--detach")
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    assert remember(memory).scope.branch == ""


def test_each_work_tree_sees_what_it_has_checked_out(memory: Memory, code: Codebase, staged: Lesson) -> None:
    code.git("checkout", "-q", "main")
    other = code.folder.parent / "other-tree"
    code.git("worktree", "add", "-q", str(other), "feature/lists")
    assert not seen(memory)
    there = memory.at(str(other))
    assert there.location.project == memory.location.project
    assert any(ranked.lesson.id == staged.id for ranked in there.recall(RULE).items)


def test_a_remote_that_merged_counts_before_the_local_main_line_follows(
    memory: Memory, code: Codebase, staged: Lesson
) -> None:
    code.git("checkout", "-q", "main")
    code.git("update-ref", "refs/remotes/origin/main", "feature/lists")
    code.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    memory.at(memory.folder).settle_branches()
    assert seen(memory)


def test_git_is_queried_once_a_commit_and_not_at_all_where_nothing_is_staged(
    memory: Memory, code: Codebase, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions: list[object] = []
    ask = Git.ask

    def note(git: Git, *words: Any, **more: Any) -> bytes | None:
        questions.append(words)
        return ask(git, *words, **more)

    monkeypatch.setattr(Git, "ask", note)
    memory.recall(RULE)
    questions.clear()
    memory.at(memory.folder).recall(RULE)
    assert questions == []
    begin(code)
    remember(memory)
    code.git("checkout", "-q", "main")
    assert not seen(memory)
    questions.clear()
    assert not seen(memory)
    assert questions == []


def test_a_hook_sees_the_same_with_fewer_looks(memory: Memory, code: Codebase, staged: Lesson) -> None:
    def shows_lesson(opened: Any) -> bool:
        return any(ranked.lesson.id == staged.id for ranked in opened.recall(RULE).items)

    for branch, is_told in (("feature/lists", True), ("main", False), ("feature/lists", True)):
        code.git("checkout", "-q", branch)
        with Memory(str(code.folder)).for_hooks() as hook:
            assert shows_lesson(hook) == is_told
        assert shows_lesson(memory.at(memory.folder)) == is_told


def test_where_git_does_not_answer_every_lesson_is_seen_and_nothing_is_stored(
    memory: Memory, code: Codebase, staged: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    code.git("checkout", "-q", "main")
    here = memory.at(memory.folder)
    assert here.location.branch == "main"
    with monkeypatch.context() as silent:
        silent.setattr(Git, "ask", lambda *words, **more: None)
        assert any(ranked.lesson.id == staged.id for ranked in here.recall(RULE).items)
        with Memory(str(code.folder)).for_hooks() as hook:  # it does not ask again before HEAD moves
            assert any(ranked.lesson.id == staged.id for ranked in hook.recall(RULE).items)
    memory.at(memory.folder).settle_branches()
    with Memory(str(code.folder)).for_hooks() as hook:
        assert hook.recall(RULE).items == ()
    assert not seen(memory)


def test_a_lesson_from_before_the_first_commit_of_a_branch_is_dated_by_it(memory: Memory, code: Codebase) -> None:
    begin(code)
    lesson = remember(memory)
    assert lesson.scope.commit == lesson.scope.base
    tip = code.commit("lists")
    memory.at(memory.folder).settle_branches()
    assert memory.get(lesson.id).scope.commit == tip
    code.git("checkout", "-q", "-b", "release/1", "main")
    assert not seen(memory)
    code.git("merge", "-q", "--no-ff", "--no-edit", "feature/lists")
    code.edit("src/store.py", "self.rows[key] = [value]", "self.rows[key] = (value,)")
    code.commit("changed since")
    assert seen(memory)


def test_a_clone_without_the_branch_does_not_end_its_lessons(memory: Memory, code: Codebase) -> None:
    code.git("config", "remote.origin.url", "https://example.org/harbour.git")
    begin(code)
    code.commit("lists")
    staged = remember(memory)
    code.git("checkout", "-q", "main")
    other = code.folder.parent / "second-clone"
    code.git("clone", "-q", "--single-branch", str(code.folder), str(other))
    code.git("-C", str(other), "config", "remote.origin.url", "https://example.org/harbour.git")
    there = memory.at(str(other))
    assert there.location.project.id == staged.scope.project
    there.settle_branches()
    assert memory.get(staged.id).scope.branch == "feature/lists"
    assert not any(ranked.lesson.id == staged.id for ranked in there.recall(RULE).items)
    code.git("checkout", "-q", "feature/lists")
    assert seen(memory)


def test_a_store_that_can_only_be_read_answers_too(
    memory: Memory, code: Codebase, staged: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(store: SqliteStore, family: StateFamily, owner: str, value: str) -> None:
        raise StoreReadOnlyError("only read")

    monkeypatch.setattr(SqliteStore, "set_state", refuse)
    assert any(ranked.lesson.id == staged.id for ranked in memory.at(memory.folder).recall(RULE).items)
    code.git("checkout", "-q", "main")
    assert memory.at(memory.folder).recall(RULE).items == ()
