"""Which lesson belongs to which file: the cases that the random histories found, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.domain.candidate import Candidate, CommandRuns
from holdfast.domain.lesson import Evidence
from holdfast.domain.statefamilies import SYNCED_FILES, SYNCED_LESSONS
from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.learning.commandcard import update_cards
from holdfast.publishing.lessonfile import LessonFile, parse
from holdfast.publishing.syncrecord import owner_of, shared_lessons
from tests.publishing.test_sharing_machines import Machine

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Machine, Machine]]:
    """Ada's and Ben's machine, each with a clone of one project."""
    project = tmp_path / "harbour"
    (project / ".holdfast").mkdir(parents=True)
    (project / ".holdfast" / "project.toml").write_text('id = "harbour"\n')
    made = []
    for name in ("ada", "ben"):
        monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / name))
        made.append(Machine(tmp_path / name, project))
    yield made[0], made[1]
    for machine in made:
        machine.memory.close()


def share_one(ada: Machine, ben: Machine, rule: str = "Retries are capped at 3") -> None:
    """Both have the lesson, and the same file."""
    ada.sync(share=(ada.memory.remember(rule),))
    ben.folder.pull(ada.folder)
    ben.sync(accept=True)


def states(machine: Machine) -> dict[str, str]:
    """The rules that live on a machine, and in which state."""
    return {lesson.insight: lesson.state for lesson in machine.memory.lessons(states=("active", "candidate"))}


def file_states(machine: Machine) -> dict[str, str]:
    documents = [parse(path, content) for path, content in machine.folder.files.items()]
    return {d.document.values["insight"]: d.document.values["state"] for d in documents if isinstance(d, LessonFile)}


def test_each_author_keeps_the_own_wording_and_is_asked_about_the_other(machines: tuple[Machine, Machine]) -> None:
    ada, ben = machines
    share_one(ada, ben)
    ada.memory.revise(ada.living()[0].id, insight="Retries are capped at 5")
    ben.memory.revise(ben.living()[0].id, insight="Retries are capped at 9")
    for machine, other in ((ada, ben), (ben, ada), (ada, ben)):
        machine.sync()
        machine.folder.pull(other.folder)
        machine.sync()
    assert states(ada) == {"Retries are capped at 5": "active", "Retries are capped at 9": "candidate"}
    assert states(ben) == {"Retries are capped at 9": "active", "Retries are capped at 5": "candidate"}
    (conflict,) = ada.memory.conflicts()
    assert {conflict.better.insight, conflict.worse.insight} == {*states(ada)}
    winner = ada.living()[0]
    ada.memory.settle(winner.id)
    assert states(ada) == {"Retries are capped at 5": "active"}, "settled in one step"


def test_accepting_everything_keeps_both_wordings_on_both_machines(machines: tuple[Machine, Machine]) -> None:
    ada, ben = machines
    share_one(ada, ben)
    ada.memory.revise(ada.living()[0].id, insight="Retries are capped at 5")
    ben.memory.revise(ben.living()[0].id, insight="Retries are capped at 9")
    for machine, other in ((ada, ben), (ben, ada), (ada, ben)):
        machine.folder.pull(other.folder)
        machine.sync(accept=True)
    assert states(ada) == states(ben) == {"Retries are capped at 5": "active", "Retries are capped at 9": "active"}
    assert all(len(machine.memory.conflicts()) == 1 for machine in machines)


def test_two_files_of_one_rule_are_one_lesson_and_the_second_comes_in_when_the_rule_is_free(
    machines: tuple[Machine, Machine],
) -> None:
    ada, ben = machines
    share_one(ada, ben, "Ids have a check digit")
    ada.memory.revise(ada.living()[0].id, insight="Tides are in metres")
    ada.sync()
    ben.sync(share=(ben.memory.remember("Tides are in metres", kind=ada.living()[0].kind),))
    ada.folder.pull(ben.folder)
    assert ada.sync(accept=True).count("added") == 0
    assert states(ada) == {"Tides are in metres": "active"}
    assert len(ada.folder.files) == 2
    ada.memory.revise(ada.living()[0].id, insight="Tides are in feet")
    assert ada.sync().count("added") == 1
    assert states(ada) == {"Tides are in feet": "active", "Tides are in metres": "candidate"}


def test_taking_a_revision_back_takes_it_back_in_the_file(machines: tuple[Machine, Machine]) -> None:
    ada, _ = machines
    ada.sync(share=(ada.memory.remember("Retries are capped at 3"),))
    ada.memory.revise(ada.living()[0].id, insight="Retries are capped at 5")
    ada.sync()
    ada.memory.undo()
    ada.sync()
    assert file_states(ada) == {"Retries are capped at 3": "active"}
    ada.memory.revise(ada.living()[0].id, insight="Retries are capped at 7")
    ada.sync()
    assert file_states(ada) == {"Retries are capped at 7": "active"}


def test_a_lesson_revised_and_forgotten_between_two_syncs_leaves_a_tombstone(machines: tuple[Machine, Machine]) -> None:
    ada, _ = machines
    ada.sync(share=(ada.memory.remember("Retries are capped at 3"),))
    ada.memory.forget(ada.memory.revise(ada.living()[0].id, insight="Retries are capped at 5").id)
    assert ada.sync().count("forgotten") == 1
    assert file_states(ada) == {"": "forgotten"}


def test_a_forgotten_rule_that_somebody_states_anew_can_be_shared(machines: tuple[Machine, Machine]) -> None:
    ada, ben = machines
    share_one(ada, ben)
    ada.memory.forget(ada.living()[0].id)
    ada.sync()
    report = ada.sync(share=(ada.memory.remember("Retries are capped at 3"),))
    assert report.count("refused") == 0
    ben.folder.pull(ada.folder)
    ben.sync(accept=True)
    assert states(ben) == {"Retries are capped at 3": "active"}


def test_a_link_to_a_lesson_that_is_not_here_stays_and_appears_with_it(machines: tuple[Machine, Machine]) -> None:
    ada, ben = machines
    ada.sync(share=(ada.memory.remember("Retries are capped at 3"),))
    old = ada.living()[0]
    new = ada.memory.revise(ada.memory.remember("Calls time out after 5 s").id, how="set it in client.py")
    ada.memory.forget(old.id)
    rule = ada.memory.remember("Retries are capped at 9")
    ada.sync(share=(rule, new))
    documents = dict(ada.folder.files)
    linked = next(path for path, content in documents.items() if b"\nCalls time out" in content)
    target = next(path for path, content in documents.items() if content.endswith(b"capped at 9\n"))
    target_id = documents[target].split(b"\n")[1].removeprefix(b"id: ")
    links = b"links:\n- kind: relates_to\n  target: " + target_id + b"\nprovenance:"
    ben.folder.files = {linked: documents[linked].replace(b"provenance:", links, 1)}
    ben.sync(accept=True)
    (lesson,) = ben.living()
    ben.memory.revise(lesson.id, tags=["net"])
    ben.sync()
    assert target_id in ben.folder.files[linked], "an edit of another field keeps it"
    ben.folder.files[target] = documents[target]
    ben.sync(accept=True)
    by_rule = {lesson.insight: lesson for lesson in ben.living()}
    links_here = {link.target for link in by_rule["Calls time out after 5 s"].links if link.kind == "relates_to"}
    assert links_here == {by_rule["Retries are capped at 9"].id}
    assert ben.sync().steps == ()


def test_two_projects_of_one_machine_may_have_the_same_file(
    machines: tuple[Machine, Machine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, ben = machines
    share_one(ada, ben)
    other = tmp_path / "quay"
    (other / ".holdfast").mkdir(parents=True)
    (other / ".holdfast" / "project.toml").write_text('id = "quay"\n')
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "ben"))
    second = Machine(tmp_path / "ben", other)
    try:
        second.folder.pull(ada.folder)
        second.sync(accept=True)
        assert [lesson.insight for lesson in second.living()] == ["Retries are capped at 3"]
        assert second.living()[0].id != ben.living()[0].id
        assert second.sync(accept=True).steps == ()
    finally:
        second.memory.close()


def test_a_sync_writes_the_rows_that_changed_and_no_others(machines: tuple[Machine, Machine]) -> None:
    ada, _ = machines
    store, owner = ada.memory.services.store, owner_of(ada.memory.location.project.id)
    ada.sync(share=tuple(ada.memory.remember(f"Pier {number} is closed on day {number}") for number in range(30)))
    assert len(shared_lessons(store, owner)) == len(ada.folder.files) == 30
    written: list[tuple[str, int]] = []
    ada.memory.revise(ada.living()[3].id, why="the crane is broken")
    whole = type(store).set_rows

    def noting(self: object, family: object, owner: str, values: dict[str, str]) -> int:
        count = whole(self, family, owner, values)  # type: ignore[arg-type]
        written.append((family.name, count))  # type: ignore[attr-defined]
        return count

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(store), "set_rows", noting)
        ada.sync()
        assert sorted(written) == [(SYNCED_FILES.name, 1), (SYNCED_LESSONS.name, 1)]
        written.clear()
        ada.sync()
        assert written == []


def run_tests(machine: Machine, session: str, *lines: str, passed: int = 2) -> None:
    """Let the machine learn from a session in which these commands passed."""
    candidates = [
        Candidate(
            kind="tooling", insight=line, detector="commands/1", topic_key="commands/test",
            evidence=(Evidence(event=EventId(f"{session} {line}"), quote="x"),),
            runs=CommandRuns(purpose="test", line=line, passed=passed),
        )
        for line in lines
    ]  # fmt: skip
    update_cards(machine.memory.services, machine.memory.location, SessionId(session), candidates)


def test_two_people_share_one_file_of_how_tests_run(machines: tuple[Machine, Machine]) -> None:
    ada, ben = machines
    run_tests(ada, "a1", "pytest -q")
    run_tests(ben, "b1", "pytest -q", "tox", passed=9)
    run_tests(ben, "b2", "tox", "pytest -q", passed=30)
    assert ada.living()[0].insight != ben.living()[0].insight, "they have run different commands"
    ada.sync(share=tuple(ada.memory.shareable()))
    ben.sync(share=tuple(ben.memory.shareable()))
    for machine, other in ((ada, ben), (ben, ada)):
        machine.folder.pull(other.folder)
        machine.sync(accept=True)
    assert len(ada.folder.files) == len(ben.folder.files) == 1
    assert [lesson.topic_key for lesson in ada.living()] == ["commands/test"]
    assert ada.living()[0].insight == ben.living()[0].insight


def test_a_further_session_rewrites_no_shared_file(machines: tuple[Machine, Machine]) -> None:
    ada, ben = machines
    run_tests(ada, "a1", "pytest -q", "tox")
    run_tests(ada, "a2", "pytest -q", "tox")
    ada.sync(share=tuple(ada.memory.shareable()))
    ben.folder.pull(ada.folder)
    ben.sync(accept=True)
    files = dict(ada.folder.files)
    for number in range(3, 6):
        run_tests(ada, f"a{number}", "tox", "pytest -q", passed=number)
        run_tests(ben, f"b{number}", "make check", passed=number)
    for machine in machines:
        assert machine.sync(accept=True).steps == ()
        assert machine.folder.files == files


def test_a_lesson_of_the_team_is_shared_by_sync_alone_and_is_the_teams_everywhere(
    machines: tuple[Machine, Machine],
) -> None:
    ada, ben = machines
    ada.memory.remember("Retries are capped at 3", scope="team")
    ada.memory.remember("Tides are in metres")
    ada.memory.remember("The pager is mine", scope="team", private=True)
    assert ada.sync().count("written") == 1
    ben.folder.pull(ada.folder)
    ben.sync(accept=True)
    assert {lesson.insight: lesson.scope.level for lesson in ben.living()} == {"Retries are capped at 3": "team"}
    assert ben.memory.remember("Retries are capped at 3", scope="team").id == ben.living()[0].id
    ben.memory.revise(ben.living()[0].id, insight="Retries are capped at 5")
    ben.sync()
    ada.folder.pull(ben.folder)
    ada.sync(accept=True)
    levels = {lesson.insight: lesson.scope.level for lesson in ada.living()}
    assert levels["Retries are capped at 5"] == "team"
    assert ada.sync().steps == ben.sync().steps == ()


def test_who_accepts_a_lesson_and_rewords_it_at_once_rewords_the_file(machines: tuple[Machine, Machine]) -> None:
    ada, ben = machines
    ada.sync(share=(ada.memory.remember("Retries are capped at 3"),))
    ben.folder.pull(ada.folder)
    ben.sync()
    (waiting,) = ben.memory.inbox()
    ben.memory.revise(ben.memory.accept(waiting.id).id, insight="Retries are capped at 5")
    ben.sync()
    assert file_states(ben) == {"Retries are capped at 5": "active"}
