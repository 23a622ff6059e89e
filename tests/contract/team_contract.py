"""The contract of a server's backend. A backend's tests inherit `TeamContract` and provide two fixtures.

class TestMyBackend(TeamContract):
    @pytest.fixture
    def backend(self, tmp_path): ...  # an open TeamBackend
    @pytest.fixture
    def stores(self, backend): ...  # the TeamStores of an organisation without any rows
"""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from holdfast.domain.statefamilies import LEARNED_POSITION
from holdfast.domain.team import (
    AuditEntry,
    Confirmation,
    Flag,
    IdempotentAnswer,
    Member,
    MemberId,
    Organisation,
    OrganisationId,
    ProposedLesson,
    StoredDocument,
    Team,
    TeamProject,
)
from holdfast.domain.vocabulary import LessonId, ProjectId
from holdfast.errors import InvalidValueError, NotFoundError, StaleWriteError, TakenError
from holdfast.ports.store import LessonFilter
from holdfast.ports.team import TeamBackend, TeamStores
from holdfast.testing.builders import PROJECT, make_lesson

AT = datetime(2026, 11, 28, 9, tzinfo=UTC)
HARBOUR, QUAY = ProjectId("harbour"), ProjectId("quay")


def member(id_: str, **fields: object) -> Member:
    return Member(**{"id": id_, "at": AT, "name": id_.title(), "role": "writer", **fields})


def proposal(id_: str, **fields: object) -> ProposedLesson:
    return ProposedLesson(**{"id": id_, "at": AT, "project": HARBOUR, "actor": "ada", **fields})


def document(name: str, **fields: object) -> StoredDocument:
    values = {"id": name, "lesson": LessonId(f"of {name}"), "accepted": True, "at": AT, "body": f'{{"{name}":1}}'}
    return StoredDocument(**{**values, **fields})


def entry(seq: int, **fields: object) -> AuditEntry:
    return AuditEntry(**{"seq": seq, "at": AT, "actor": "ada", "action": "token.issue", "hash": f"h{seq}", **fields})


def in_threads(count: int, work) -> list[BaseException]:
    """Call `work(number)` in that many threads at once; return their errors."""
    barrier, errors = threading.Barrier(count), []

    def run(number: int) -> None:
        barrier.wait()
        try:
            work(number)
        except Exception as exc:
            errors.append(exc)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


class RecordsContract:
    def test_a_record_comes_back_whole(self, stores: TeamStores) -> None:
        records = [
            member("ada", email="ada@acme.org", handles=("ada", "adal")),
            Organisation(id="organisation", at=AT, name="Acme 海"),
            TeamProject(id="harbour", at=AT, name="Harbour", codeowners="* @ada\n" * 1_000, teams=("t1", "t2")),
            IdempotentAnswer(id="k", at=AT, digest="d", status=201, headers=(("ETag", '"1"'),), keep_until=AT),
        ]
        for record in records:
            stores.records.put(record)
            assert stores.records.get(type(record), record.id) == record

    def test_an_unknown_id_is_none(self, stores: TeamStores) -> None:
        stores.records.put(member("ada"))
        assert stores.records.get(Member, "bob") is None
        assert stores.records.get(Team, "ada") is None

    def test_adding_an_id_twice_is_refused_and_changes_nothing(self, stores: TeamStores) -> None:
        stores.records.add(member("ada"))
        with pytest.raises(TakenError):
            stores.records.add(member("ada", name="Another", email="new@acme.org"))
        assert stores.records.get(Member, "ada") == member("ada")
        assert stores.records.find(Member, {"email": "new@acme.org"}) == []

    def test_adding_what_is_missing(self, stores: TeamStores) -> None:
        stores.records.add(proposal("b", project=QUAY))
        assert sorted(stores.records.add_missing([proposal("a"), proposal("b"), proposal("c")])) == ["a", "c"]
        assert stores.records.get(ProposedLesson, "b") == proposal("b", project=QUAY)
        assert [each.id for each in stores.records.find(ProposedLesson, {"project": HARBOUR})] == ["a", "c"]
        assert stores.records.add_missing([]) == []
        assert stores.records.add_missing([proposal("a")]) == []

    def test_adding_what_is_missing_at_once_adds_each_once(self, stores: TeamStores) -> None:
        added: list[str] = []

        def add(number: int) -> None:
            added.extend(stores.records.add_missing([proposal(f"p{each}") for each in range(20)]))

        assert in_threads(4, add) == []
        assert sorted(added) == sorted(f"p{each}" for each in range(20))

    def test_a_unique_value_belongs_to_one_record(self, stores: TeamStores) -> None:
        stores.records.add(member("ada", email="ada@acme.org"))
        with pytest.raises(TakenError, match="email"):
            stores.records.add(member("bob", email="ada@acme.org"))
        assert stores.records.get(Member, "bob") is None
        stores.records.add(member("bob", email="bob@acme.org"))
        with pytest.raises(TakenError, match="email"):
            stores.records.put(member("bob", email="ada@acme.org"))
        assert stores.records.get(Member, "bob") == member("bob", email="bob@acme.org")
        stores.records.put(member("ada", email="ada@acme.org", name="Ada again"))
        stores.records.put(member("ada", email="lovelace@acme.org"))
        stores.records.put(member("bob", email="ada@acme.org"))

    def test_an_empty_unique_value_is_nobodys(self, stores: TeamStores) -> None:
        stores.records.add(member("ada"))
        stores.records.add(member("bob"))
        assert stores.records.find(Member, {"email": ""}) == []

    def test_records_are_found_by_a_text_and_by_an_item_of_a_tuple(self, stores: TeamStores) -> None:
        for name, members in (("tide", ("ada", "bob")), ("quay", ("bob",)), ("dune", ())):
            stores.records.put(Team(id=name, at=AT, name=name, members=tuple(map(MemberId, members))))
        assert [team.id for team in stores.records.find(Team, {"members": "bob"})] == ["quay", "tide"]
        assert [team.id for team in stores.records.find(Team, {"name": "dune"})] == ["dune"]
        stores.records.put(Team(id="tide", at=AT, name="tide", members=(MemberId("ada"),)))
        assert [team.id for team in stores.records.find(Team, {"members": "bob"})] == ["quay"]

    def test_only_listed_fields_are_asked_for(self, stores: TeamStores) -> None:
        with pytest.raises(InvalidValueError, match="name"):
            stores.records.find(Member, {"name": "Ada"})

    def test_pages_follow_the_ids(self, stores: TeamStores) -> None:
        names = [f"m{number:03}" for number in range(25)]
        for name in reversed(names):
            stores.records.put(member(name, role="admin" if name < "m010" else "reader"))
        seen, after = [], ""
        while page := stores.records.find(Member, after=after, limit=10):
            assert len(page) <= 10
            seen += [record.id for record in page]
            after = seen[-1]
        assert seen == names
        assert [each.id for each in stores.records.find(Member, {"role": "admin"}, after="m003", limit=3)] == names[4:7]
        assert stores.records.find(Member, limit=0) == []

    def test_counts(self, stores: TeamStores) -> None:
        for name in "abc":
            stores.records.put(member(name, role="admin" if name == "a" else "reader"))
        assert stores.records.count(Member) == 3
        assert stores.records.count(Member, {"role": "reader"}) == 2
        assert stores.records.count(Member, {"role": "writer"}) == 0
        assert stores.records.count(Team) == 0

    def test_removing(self, stores: TeamStores) -> None:
        stores.records.put(member("ada", email="ada@acme.org"))
        assert stores.records.remove(Member, "ada")
        assert not stores.records.remove(Member, "ada")
        assert stores.records.get(Member, "ada") is None
        assert stores.records.find(Member, {"email": "ada@acme.org"}) == []
        stores.records.add(member("bob", email="ada@acme.org"))

    def test_removing_all_of_a_question(self, stores: TeamStores) -> None:
        for lesson, who in (("l1", "ada"), ("l1", "bob"), ("l2", "ada")):
            stores.records.put(
                Confirmation(
                    id=f"{lesson}:{who}", at=AT, lesson=LessonId(lesson), member=MemberId(who), project=HARBOUR
                )
            )
        assert stores.records.remove_all(Confirmation, {"lesson": "l1"}) == 2
        assert [each.id for each in stores.records.find(Confirmation)] == ["l2:ada"]
        assert stores.records.remove_all(Confirmation) == 1
        assert stores.records.count(Confirmation) == 0

    def test_what_has_expired_goes(self, stores: TeamStores) -> None:
        stores.records.put(member("ada"))
        stores.records.put(member("bob", keep_until=AT, email="bob@acme.org"))
        stores.records.put(member("cleo", keep_until=AT + timedelta(seconds=1)))
        stores.records.add_up("a", 1, AT)
        stores.records.add_up("b", 1)
        assert stores.records.expire(AT) == 2
        assert [each.id for each in stores.records.find(Member)] == ["ada", "cleo"]
        assert stores.records.find(Member, {"email": "bob@acme.org"}) == []
        assert (stores.records.add_up("a", 0), stores.records.add_up("b", 0)) == (0, 1)

    def test_counters(self, stores: TeamStores) -> None:
        assert stores.records.add_up("lessons", 0) == 0
        assert stores.records.add_up("lessons", 3) == 3
        assert stores.records.add_up("lessons", -1) == 2
        assert stores.records.add_up("events", 5) == 5
        assert stores.records.add_up("lessons", 0) == 2

    def test_counting_at_once_counts_each(self, stores: TeamStores) -> None:
        assert in_threads(8, lambda number: [stores.records.add_up("x", 1) for _ in range(5)]) == []
        assert stores.records.add_up("x", 0) == 40

    def test_who_holds_a_name_decides_alone(self, stores: TeamStores) -> None:
        def take(number: int) -> None:
            with stores.changing():
                stores.records.hold("seats")
                if stores.records.count(Member) < 3:
                    stores.records.add(member(f"m{number}"))

        assert in_threads(6, take) == []
        assert stores.records.count(Member) == 3

    def test_two_who_take_a_unique_value_at_once_do_not_both_get_it(self, stores: TeamStores) -> None:
        errors = in_threads(6, lambda number: stores.records.add(member(f"m{number}", email="same@acme.org")))
        assert [type(error) for error in errors] == [TakenError] * 5
        assert len(stores.records.find(Member, {"email": "same@acme.org"})) == 1

    def test_any_text_can_be_stored_and_found(self, stores: TeamStores) -> None:
        odd = "a\0b\ud800" + "é" * 4_000
        stores.records.put(TeamProject(id="p" + "é" * 900, at=AT, name=odd, teams=(odd,)))
        (project,) = stores.records.find(TeamProject, {"teams": odd})
        assert project.name.startswith("a\ufffdb\ufffdé")
        assert stores.records.get(TeamProject, "p" + "é" * 900) == project
        assert stores.records.find(TeamProject, after="p" + "é" * 900) == []
        assert stores.records.remove(TeamProject, project.id)


class AuditContract:
    def test_entries_come_back_in_order(self, stores: TeamStores) -> None:
        assert stores.audit.last() is None
        assert stores.audit.read() == []
        entries = [entry(1), entry(2, target="t", details={"role": "admin", "n": "3"}, previous="h1"), entry(3)]
        for each in entries:
            stores.audit.append([each])
        assert stores.audit.read() == entries
        assert stores.audit.read(after=1, limit=1) == entries[1:2]
        assert stores.audit.read(newest_first=True, limit=2) == entries[:0:-1]
        assert stores.audit.read(newest_first=True, after=3) == entries[1::-1]
        assert stores.audit.last() == entries[-1]

    def test_several_entries_are_appended_together(self, stores: TeamStores) -> None:
        stores.audit.append([])
        stores.audit.append([entry(1), entry(2)])
        stores.audit.append([entry(3)])
        with pytest.raises(StaleWriteError):
            stores.audit.append([entry(4), entry(6)])
        assert stores.audit.read() == [entry(1), entry(2), entry(3)]
        assert stores.audit.last() == entry(3)

    def test_only_the_next_entry_is_appended(self, stores: TeamStores) -> None:
        stores.audit.append([entry(1)])
        for seq in (0, 1, 3):
            with pytest.raises(StaleWriteError):
                stores.audit.append([entry(seq)])
        assert stores.audit.read() == [entry(1)]

    def test_who_append_at_once_stand_one_after_the_other(self, stores: TeamStores) -> None:
        def append(number: int) -> None:
            for _ in range(4):
                with stores.changing():
                    last = stores.audit.hold_last()
                    stores.audit.append([entry(last.seq + 1 if last else 1, actor=str(number))])

        assert in_threads(5, append) == []
        assert [each.seq for each in stores.audit.read()] == list(range(1, 21))

    def test_an_entry_of_an_undone_change_is_not_there(self, stores: TeamStores) -> None:
        stores.audit.append([entry(1)])
        with suppress(ZeroDivisionError), stores.changing():
            stores.audit.append([entry(2)])
            raise ZeroDivisionError
        assert stores.audit.last() == entry(1)
        stores.audit.append([entry(2)])
        assert [each.seq for each in stores.audit.read()] == [1, 2]


class DocumentsContract:
    def test_documents_get_positions_without_gaps(self, stores: TeamStores) -> None:
        first = stores.documents.write(HARBOUR, [document("a"), document("b")])
        assert [each.seq for each in first] == [1, 2]
        assert stores.documents.write(QUAY, [document("a", body="other")])[0].seq == 1
        (third,) = stores.documents.write(HARBOUR, [document("a", seq=99, accepted=False)])
        assert third == document("a", seq=3, accepted=False)
        assert stores.documents.write(HARBOUR, []) == []
        assert stores.documents.after(HARBOUR, 0) == [first[1], third]
        assert stores.documents.after(HARBOUR, 2) == [third]
        assert stores.documents.after(HARBOUR, 0, 1) == [first[1]]
        assert stores.documents.last_seqs([HARBOUR, QUAY, PROJECT]) == {HARBOUR: 3, QUAY: 1, PROJECT: 0}

    def test_documents_are_found_by_id_and_by_lesson(self, stores: TeamStores) -> None:
        a, b = stores.documents.write(HARBOUR, [document("a"), document("b")])
        stores.documents.write(QUAY, [document("c")])
        assert stores.documents.get(HARBOUR, ["a", "c", "a", "none"]) == {"a": a}
        assert stores.documents.of_lessons(HARBOUR, [LessonId("of b"), LessonId("of c")]) == {"of b": b}
        assert stores.documents.get(HARBOUR, []) == {}
        with stores.changing():
            assert stores.documents.hold(HARBOUR, ["b", "z"]) == {"b": b}
        many = [f"d{number}" for number in range(1_200)]
        stores.documents.write(QUAY, [document(name) for name in many])
        assert set(stores.documents.get(QUAY, many)) == set(many)

    def test_writers_at_once_leave_no_gap_and_no_position_twice(self, stores: TeamStores) -> None:
        def write(number: int) -> None:
            for turn in range(5):
                with stores.changing():
                    stores.documents.hold(HARBOUR, ["shared"])
                    stores.documents.write(HARBOUR, [document(f"{number}-{turn}"), document("shared")])

        assert in_threads(5, write) == []
        seqs = [each.seq for each in stores.documents.after(HARBOUR, 0)]
        assert len(seqs) == 26
        assert seqs[-1] == 50
        assert stores.documents.last_seqs([HARBOUR]) == {HARBOUR: 50}

    def test_who_holds_documents_reads_what_the_next_one_changes_only_afterwards(self, stores: TeamStores) -> None:
        def add(number: int) -> None:
            with stores.changing():
                row = stores.documents.hold(HARBOUR, ["sum"]).get("sum") or document("sum", body="0")
                stores.documents.write(HARBOUR, [replace(row, body=str(int(row.body) + 1))])

        assert in_threads(6, add) == []
        assert stores.documents.get(HARBOUR, ["sum"])["sum"].body == "6"

    def test_removing_a_project_keeps_its_positions(self, stores: TeamStores) -> None:
        stores.documents.write(HARBOUR, [document("a"), document("b")])
        stores.documents.write(QUAY, [document("c")])
        assert stores.documents.remove_project(HARBOUR) == 2
        assert stores.documents.after(HARBOUR, 0) == []
        assert stores.documents.write(HARBOUR, [document("a")])[0].seq == 3
        assert [each.id for each in stores.documents.after(QUAY, 0)] == ["c"]

    def test_any_text_can_be_a_document(self, stores: TeamStores) -> None:
        odd = document("x" * 3_000, body="a\0\ud800" + "é" * 200_000, lesson=LessonId("é" * 2_000))
        (written,) = stores.documents.write(HARBOUR, [odd])
        assert stores.documents.get(HARBOUR, [odd.id]) == {odd.id: written}
        assert stores.documents.of_lessons(HARBOUR, [odd.lesson]) == {odd.lesson: written}
        assert written.body.startswith("a\ufffd\ufffdé")


class ChangingContract:
    def test_lessons_records_documents_and_log_are_one_transaction(self, stores: TeamStores) -> None:
        lesson = make_lesson()
        with suppress(ZeroDivisionError), stores.changing():
            stores.store.put([lesson], {lesson.id: None})
            stores.records.add(member("ada"))
            stores.documents.write(HARBOUR, [document("a")])
            stores.audit.append([entry(1)])
            stores.records.add_up("lessons", 1)
            assert stores.store.get([lesson.id]) == [lesson]
            assert stores.records.get(Member, "ada") is not None
            raise ZeroDivisionError
        assert stores.store.find(LessonFilter(all_projects=True)) == []
        assert stores.records.get(Member, "ada") is None
        assert stores.documents.last_seqs([HARBOUR]) == {HARBOUR: 0}
        assert stores.audit.last() is None
        assert stores.records.add_up("lessons", 0) == 0
        with stores.changing():
            stores.store.put([lesson], {lesson.id: None})
            stores.records.add(member("ada"))
        assert stores.store.get([lesson.id]) == [lesson]
        assert stores.records.get(Member, "ada") is not None

    def test_an_error_that_is_caught_inside_takes_back_its_own_part_only(self, stores: TeamStores) -> None:
        lesson = make_lesson()
        with stores.changing():
            stores.records.add(member("ada"))
            with pytest.raises(TakenError):
                stores.records.add(member("ada"))
            with pytest.raises(StaleWriteError):
                stores.store.put([lesson], {lesson.id: AT})
            with suppress(ZeroDivisionError), stores.changing():
                stores.records.add(member("bob"))
                raise ZeroDivisionError
            stores.records.add(member("cleo"))
        assert [each.id for each in stores.records.find(Member)] == ["ada", "cleo"]

    def test_a_block_inside_belongs_to_the_one_around_it(self, stores: TeamStores) -> None:
        with suppress(ZeroDivisionError), stores.changing():
            with stores.changing():
                stores.records.add(member("ada"))
            raise ZeroDivisionError
        assert stores.records.get(Member, "ada") is None

    def test_others_do_not_see_an_open_change(self, stores: TeamStores) -> None:
        begun, looked = threading.Event(), []

        def look(_number: int) -> None:
            begun.wait()
            looked.append(stores.records.count(Member))

        def change(_number: int) -> None:
            with stores.changing():
                stores.records.add(member("ada"))
                begun.set()
                stores.records.add(member("bob"))

        assert in_threads(2, lambda number: (look if number else change)(number)) == []
        assert looked[0] in (0, 2)

    def test_reads_inside_reading_see_one_instant(self, stores: TeamStores) -> None:
        with stores.reading():
            assert stores.records.get(Member, "ada") is None
            assert stores.store.get_state(LEARNED_POSITION) == ""
        stores.records.add(member("ada"))
        assert stores.records.get(Member, "ada") is not None

    def test_a_change_within_reading_is_seen_there(self, stores: TeamStores) -> None:
        with stores.store.reading():
            assert stores.records.count(Member) == 0
            with stores.changing():
                stores.records.add(member("ada"))
            assert stores.records.count(Member) == 1
            with stores.changing(), stores.store.reading():
                assert stores.records.count(Member) == 1
                stores.records.add(member("bob"))
                assert stores.records.count(Member) == 2

    def test_purging_a_lesson_erases_what_the_server_stores_about_it(self, stores: TeamStores) -> None:
        lesson, other = make_lesson(), make_lesson()
        stores.store.put([lesson, other], {})
        for each in (lesson, other):
            stores.records.put(
                Confirmation(id=f"{each.id}:ada", at=AT, lesson=each.id, member=MemberId("ada"), project=HARBOUR)
            )
            stores.records.put(
                Flag(
                    id=f"{each.id}:bob", at=AT, lesson=each.id, member=MemberId("bob"), project=HARBOUR,
                    reason="incorrect", note=each.insight,
                )
            )  # fmt: skip
        stores.records.put(IdempotentAnswer(id="k", at=AT, digest="d", status=200, body=lesson.insight))
        stores.documents.write(
            HARBOUR, [document("a", lesson=lesson.id, body=lesson.insight), document("b", lesson=other.id)]
        )
        stores.documents.write(QUAY, [document("a", lesson=lesson.id, body=lesson.insight)])
        erased = stores.store.purge([lesson.id])
        assert (erased["team_records"], erased["documents"]) == (3, 2)
        assert [each.id for each in stores.records.find(Flag)] == [f"{other.id}:bob"]
        assert [each.id for each in stores.records.find(Confirmation)] == [f"{other.id}:ada"]
        assert stores.records.find(Flag, {"lesson": lesson.id}) == []
        assert stores.records.count(IdempotentAnswer) == 0
        assert [(each.id, each.seq, each.body) for each in stores.documents.after(HARBOUR, 0)] == [
            ("b", 2, '{"b":1}'), ("a", 3, ""),
        ]  # fmt: skip
        assert [(each.id, each.seq, each.body) for each in stores.documents.after(QUAY, 0)] == [("a", 2, "")]
        assert stores.documents.last_seqs([HARBOUR, QUAY]) == {HARBOUR: 3, QUAY: 2}
        assert "documents" not in stores.store.purge([lesson.id])

    def test_purging_inside_a_change_erases_the_words(self, stores: TeamStores) -> None:
        lesson = make_lesson(insight="Buoys are painted in vermilion.")
        stores.store.put([lesson], {lesson.id: None})
        with stores.changing():
            stores.store.purge([lesson.id])
            stores.records.add(member("ada"))
        assert stores.store.find(LessonFilter(all_projects=True)) == []
        assert stores.records.count(Member) == 1


class BackendContract:
    def test_the_backend_answers(self, backend: TeamBackend, stores: TeamStores) -> None:
        backend.check()
        assert stores.organisation >= 1

    def test_an_organisation_that_nobody_made_has_nothing(self, backend: TeamBackend) -> None:
        try:
            stores = backend.open(OrganisationId(999_999_999))
        except NotFoundError:
            return
        assert stores.records.get(Organisation, "organisation") is None
        assert stores.records.count(Member) == 0


class TeamContract(RecordsContract, AuditContract, DocumentsContract, ChangingContract, BackendContract):
    """The whole contract of a server's backend."""
