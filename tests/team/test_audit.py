from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from holdfast.domain.team import AuditEntry
from holdfast.errors import InvalidValueError
from holdfast.team import audit
from holdfast.team.tokens import issue
from tests.team.office import Office


@pytest.fixture
def log(office: Office) -> audit.AuditLog:
    """A log of some twelve entries."""
    while office.team.stores.audit.last().seq < 12:
        issue(office.team, office.admin, name="x")
    return office.team.stores.audit


def as_owner(office: Office, *statements: str) -> None:
    """Change the log as whoever owns the database can."""
    with office.team.stores.store.connection.writing() as sql:
        sql.execute("DROP TRIGGER audit_log_stays")
        sql.execute("DROP TRIGGER audit_log_unchanged")
        for statement in statements:
            sql.execute(statement)


def faults(office: Office, *statements: str) -> tuple[str, ...]:
    as_owner(office, *statements)
    return audit.verify(office.team.stores.audit).faults


def test_a_log_that_nobody_touched_is_whole(office: Office, log: audit.AuditLog) -> None:
    verification = audit.verify(log)
    assert verification.faults == ()
    assert (verification.entries, verification.head) == (12, audit.head(log))
    assert [entry.previous for entry in log.read()][1:] == [entry.hash for entry in log.read()][:-1]


def test_an_empty_log_is_whole(empty_office: Office) -> None:
    log = empty_office.team.stores.audit
    assert audit.verify(log) == audit.Verification(entries=0, head=audit.Head())
    assert audit.head(log).render() == "0:"


@pytest.mark.parametrize(
    "change",
    [
        "json_set(doc, '$.actor', 'eve')",
        "json_set(doc, '$.target', 'other')",
        "json_set(doc, '$.details.role', 'reader')",
        "json_set(doc, '$.details.more', 'x')",
        "json_set(doc, '$.at', '2026-01-01T00:00:00.000000Z')",
        "json_set(doc, '$.action', 'token.revoke')",
        "'{'",
    ],
)
def test_a_changed_entry_is_named(office: Office, log: audit.AuditLog, change: str) -> None:
    assert faults(office, f"UPDATE audit_log SET doc = {change} WHERE seq = 5") == ("entry 5 was changed",)


def test_a_removed_entry_is_named(office: Office, log: audit.AuditLog) -> None:
    assert faults(office, "DELETE FROM audit_log WHERE seq = 5") == ("entry 5 is missing",)


def test_removed_entries_are_named(office: Office, log: audit.AuditLog) -> None:
    assert faults(office, "DELETE FROM audit_log WHERE seq IN (1, 2, 7)") == (
        "entries 1 to 2 are missing", "entry 7 is missing",
    )  # fmt: skip


def test_the_last_entries_are_missed(office: Office, log: audit.AuditLog) -> None:
    assert faults(office, "DELETE FROM audit_log WHERE seq > 10") == ("entries 11 to 12 are missing",)


def test_swapped_entries_are_named(office: Office, log: audit.AuditLog) -> None:
    named = faults(
        office,
        "UPDATE audit_log SET seq = -5 WHERE seq = 5",
        "UPDATE audit_log SET seq = 5 WHERE seq = 8",
        "UPDATE audit_log SET seq = 8 WHERE seq = -5",
    )
    assert named[:2] == ("entry 8 stands at position 5", "entry 5 stands at position 8")


def test_an_entry_that_was_put_in_at_the_end_is_named(office: Office, log: audit.AuditLog) -> None:
    assert faults(office, "INSERT INTO audit_log SELECT 13, doc FROM audit_log WHERE seq = 12") == (
        "entry 13 was changed", "entry 13 was added by somebody else: the last one written is 12",
    )  # fmt: skip


def rewrite(office: Office, first: int, **changes: object) -> None:
    """Change an entry and make the chain after it whole again, as an owner of the database can who knows how."""
    stores = office.team.stores
    entries = stores.audit.read()
    as_owner(office, "DELETE FROM audit_log", "DELETE FROM audit_head")
    previous = ""
    for entry in entries:
        fields = changes if entry.seq == first else {}
        entry = replace(entry, **fields, previous=previous)
        entry = replace(entry, hash=audit.hash_of(entry))
        previous = entry.hash
        stores.audit.append([entry])


def test_a_rewritten_log_is_found_by_a_head_that_was_noted_elsewhere(office: Office, log: audit.AuditLog) -> None:
    noted = audit.head(log)
    for _ in range(3):
        issue(office.team, office.admin, name="later")
    assert audit.verify(log, audit.parse_head(noted.render())).faults == ()
    rewrite(office, 5, actor="eve")
    assert audit.verify(log).faults == ()  # without the head nobody can tell
    assert audit.verify(log, noted).faults == (
        "entry 12 is not the one whose hash was noted: the log was rewritten",
    )  # fmt: skip


def test_a_log_that_was_emptied_is_found_by_a_noted_head(office: Office, log: audit.AuditLog) -> None:
    noted = audit.head(log)
    as_owner(office, "DELETE FROM audit_log", "DELETE FROM audit_head")
    assert audit.verify(log).faults == ()
    assert audit.verify(log, noted).faults == ("entries 1 to 12 are missing",)


def test_a_chain_that_was_rewritten_up_to_the_middle_breaks_there(office: Office, log: audit.AuditLog) -> None:
    entry = log.read(after=4, limit=1)[0]
    forged = replace(entry, actor="eve")
    forged = replace(forged, hash=audit.hash_of(forged))
    assert faults(
        office,
        f"UPDATE audit_log SET doc = json_set(doc, '$.actor', 'eve', '$.hash', '{forged.hash}') WHERE seq = 5",
    ) == ("entry 6 does not follow entry 5",)


def test_a_long_log_is_read_in_pages(office: Office, monkeypatch: pytest.MonkeyPatch, log: audit.AuditLog) -> None:
    monkeypatch.setattr(audit, "PAGE", 5)
    assert audit.verify(log).entries == 12
    assert faults(office, "DELETE FROM audit_log WHERE seq IN (5, 6)") == ("entries 5 to 6 are missing",)


def test_of_a_log_that_was_changed_everywhere_the_first_faults_are_named(office: Office, log: audit.AuditLog) -> None:
    while office.team.stores.audit.last().seq < 30:
        issue(office.team, office.admin, name="x")
    named = faults(office, "UPDATE audit_log SET doc = json_set(doc, '$.actor', 'eve')")
    assert named == tuple(f"entry {seq} was changed" for seq in range(1, 21))


def test_an_undone_act_is_not_in_the_log(office: Office, log: audit.AuditLog) -> None:
    with suppress(ZeroDivisionError), office.team.stores.changing():
        audit.record(office.team, "ada", "token.issue")
        raise ZeroDivisionError
    assert audit.verify(log).entries == 12
    assert audit.verify(log).faults == ()


def test_the_log_takes_ids_and_no_words(office: Office) -> None:
    for wrong in (
        {"action": "deleted"}, {"action": "a.b.c"}, {"target": "two words"}, {"details": {"note": "I like it"}},
        {"details": {"x": "a\nb"}}, {"details": {"x": "y" * 301}}, {"actor": "Ada Lovelace"},
    ):  # fmt: skip
        with pytest.raises(InvalidValueError) as caught:
            AuditEntry(**{"seq": 1, "at": office.clock.now(), "actor": "a", "action": "a.b", **wrong})
        assert "I like it" not in str(caught.value)


def test_a_head_is_a_number_and_a_hash() -> None:
    assert audit.parse_head(f" 12:{'a' * 64}\n") == audit.Head(seq=12, hash="a" * 64)
    assert audit.parse_head("0:") == audit.Head()
    for wrong in ("", "12", "x:" + "a" * 64, "12:abc", "-1:" + "a" * 64):
        with pytest.raises(InvalidValueError):
            audit.parse_head(wrong)
