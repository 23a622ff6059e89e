"""What callers see when the server, the network, a lock or the disk fails, and that no message tells a secret."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolClosed, PoolTimeout
from tests.contract.store_questions import minutes
from tests.postgresql import Clusters, Database

from holdfast import plugins
from holdfast.domain.event import Event, spoken_prefix
from holdfast.domain.lesson import Evidence, Lesson, Provenance
from holdfast.domain.query import Query
from holdfast.domain.records import Change
from holdfast.domain.statefamilies import LEARNING_MOMENTS, PLACE, SYNCED_LESSONS, TIDIED
from holdfast.errors import (
    InvalidValueError,
    StaleWriteError,
    StoreCorruptError,
    StoreDeadlockError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreUnavailableError,
)
from holdfast.ports.store import EventFilter, LessonFilter, LogFilter
from holdfast.stores.postgresql import make, turns
from holdfast.stores.postgresql.address import address_of
from holdfast.stores.postgresql.failures import translate
from holdfast.stores.postgresql.store import PostgresStore
from holdfast.stores.postgresql.tenant import Sql
from holdfast.testing.builders import PROJECT, SESSION, make_change, make_event, make_lesson, next_version

SECRET = "hunter2"
WITH_PASSWORD = f"postgresql://ada:{SECRET}@db.example.org:5433/memory?org=3"


@pytest.fixture
def store(database: Database, organisation: int) -> Iterator[PostgresStore]:
    with make({"url": database.store_url(organisation), "timeout_s": "2"}) as opened:
        yield opened


def end_connections(database: Database) -> None:
    """End every connection to the database, as a restart of the server does."""
    with database.connect() as sql:
        sql.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.mark.parametrize(
    ("exc", "kind"),
    [
        (errors.DeadlockDetected(), StoreDeadlockError),
        (errors.SerializationFailure(), StoreLockedError),
        (errors.LockNotAvailable(), StoreLockedError),
        (errors.QueryCanceled(), StoreLockedError),
        (errors.ReadOnlySqlTransaction(), StoreReadOnlyError),
        (errors.InsufficientPrivilege(), StoreReadOnlyError),
        (errors.DiskFull(), StoreFullError),
        (errors.IoError(), StoreFullError),
        (errors.TooManyConnections(), StoreUnavailableError),
        (errors.OutOfMemory(), StoreUnavailableError),
        (errors.AdminShutdown(), StoreUnavailableError),
        (errors.IdleInTransactionSessionTimeout(), StoreUnavailableError),
        (errors.CrashShutdown(), StoreUnavailableError),
        (errors.CannotConnectNow(), StoreUnavailableError),
        (errors.ConnectionFailure(), StoreUnavailableError),
        (errors.InvalidPassword(), StoreUnavailableError),
        (errors.InvalidCatalogName(), StoreUnavailableError),
        (errors.DataCorrupted(), StoreCorruptError),
        (errors.IndexCorrupted(), StoreCorruptError),
        (errors.UndefinedFile(), StoreCorruptError),
        (psycopg.OperationalError("the connection is lost"), StoreUnavailableError),
        (psycopg.InterfaceError("the connection is closed"), StoreUnavailableError),
        (PoolTimeout("couldn't get a connection after 30.00 sec"), StoreUnavailableError),
        (PoolClosed("the pool is closed"), StoreError),
        (errors.UndefinedTable(), StoreError),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_each_failure_becomes_what_the_caller_can_do_about_it(exc: Exception, kind: type[StoreError]) -> None:
    error = translate(exc, "PostgreSQL at db, database memory")
    assert type(error) is kind
    assert error.hint
    assert str(error).startswith("PostgreSQL at db, database memory")


def test_no_message_repeats_a_password_a_role_or_a_row() -> None:
    exc = psycopg.OperationalError(f'connection to "db" failed: password authentication failed for "ada" {SECRET}')
    error = translate(exc, address_of(WITH_PASSWORD).where)
    assert "password authentication failed" in str(error)
    assert SECRET not in str(error)
    assert "ada" not in str(error)
    row = errors.UniqueViolation("Key (org, id)=(1, the secret rule) already exists")
    assert "rule" not in str(translate(row, "here"))


def test_neither_an_address_nor_a_store_shows_who_connects() -> None:
    address = address_of(WITH_PASSWORD)
    shown = [repr(address), address.where, repr(make({"url": WITH_PASSWORD})), str(vars(make({"url": WITH_PASSWORD})))]
    for text in shown:
        assert SECRET not in text
        assert "ada" not in text
    assert address.where == "PostgreSQL at db.example.org:5433, database memory"
    assert (address.org, address.pool_size, address.partitions) == (3, 8, 16)
    assert SECRET in address.conninfo


def test_a_network_that_swallows_packets_is_noticed_and_a_url_may_say_otherwise() -> None:
    ours = conninfo_to_dict(address_of("postgresql://h/x", 30.0).conninfo)
    assert (ours["connect_timeout"], ours["keepalives_idle"], ours["tcp_user_timeout"]) == ("10", "30", "60000")
    assert conninfo_to_dict(address_of("postgresql://h/x", 0.5).conninfo)["connect_timeout"] == "2"
    own = conninfo_to_dict(address_of("postgresql://h/x?connect_timeout=3&tcp_user_timeout=1", 30.0).conninfo)
    assert (own["connect_timeout"], own["tcp_user_timeout"]) == ("3", "1")


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ada:{SECRET}@host:port/x", f"postgresql://ada:{SECRET}@h/x?org=0", f"mysql://ada:{SECRET}@h/x",
        f"postgresql://ada:{SECRET}@h/x?pool=many", f"postgresql://ada:{SECRET}@h/x?nonsense=1",
        f"postgresql://ada:{SECRET}@h/x?partitions=9999999", f"postgresql:ada:{SECRET}", f"postgresql://[ada:{SECRET}",
        f"postgresql://ada:{SECRET}@h/x?org=1;2", f"postgresql://ada:{SECRET}@h/x?org=²", "",
    ],
)  # fmt: skip
def test_a_url_that_cannot_be_read_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(InvalidValueError) as raised:
        make({"url": url})
    assert SECRET not in f"{raised.value} {raised.value.hint} {raised.value.__cause__} {raised.value.__context__}"


def test_a_server_that_is_not_there_is_named_without_the_role() -> None:
    url = f"postgresql://ada:{SECRET}@127.0.0.1:1/memory?connect_timeout=2"
    with pytest.raises(StoreUnavailableError) as raised:
        make({"url": url}).__enter__()
    assert str(raised.value) == "PostgreSQL at 127.0.0.1:1, database memory: the connection failed: Connection refused"
    assert SECRET not in str(raised.value.__cause__)


def test_the_plugin_loader_finds_the_store_by_its_scheme() -> None:
    assert isinstance(plugins.load("stores", "postgresql", {"url": WITH_PASSWORD}), PostgresStore)


@pytest.mark.parametrize("module", ["psycopg", "psycopg_pool"])
def test_a_missing_driver_is_named_with_what_to_install(module: str) -> None:
    code = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from holdfast import plugins\n"
        "from holdfast.errors import PluginNotFoundError\n"
        "try:\n    plugins.load('stores', 'postgresql', {'url': 'postgresql://h/x'})\n"
        "except PluginNotFoundError as exc:\n    print(exc, exc.hint)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"needs the package {module}" in done.stdout
    assert "pip install 'holdfast-memory[server]'" in done.stdout


def test_a_store_that_is_not_open_says_so() -> None:
    store = make({"url": WITH_PASSWORD})
    with pytest.raises(StoreError, match="not open"):
        store.find(LessonFilter())
    with pytest.raises(InvalidValueError):
        make({"url": WITH_PASSWORD, "timeout_s": "soon"})


def test_a_call_goes_on_after_the_server_ended_its_connections(store: PostgresStore, database: Database) -> None:
    lesson = make_lesson()
    for call in (
        lambda: store.put([lesson], {}),
        lambda: store.find(LessonFilter()),
        lambda: store.append_events([make_event()]),
    ):
        end_connections(database)
        call()
    assert store.get([lesson.id]) == [lesson]
    assert len(store.find_events(EventFilter())) == 1


def test_a_write_whose_connection_is_lost_before_its_commit_is_written_once(
    store: PostgresStore, database: Database
) -> None:
    calls = []

    def edit(value: str) -> str:
        calls.append(value)
        if len(calls) == 1:
            end_connections(database)
        return value + "x"

    assert store.edit_state(TIDIED, "", edit) == "x"
    assert calls == ["", ""]
    assert store.get_state(TIDIED) == "x"


def test_a_connection_lost_at_the_commit_is_reported_and_nothing_is_repeated(
    store: PostgresStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute, commits = psycopg.Connection.execute, []

    def lose_at_commit(connection: Any, statement: Any, *args: Any, **options: Any) -> Any:
        if statement == "COMMIT" and not commits:
            commits.append(1)
            end_connections(database)
        return execute(connection, statement, *args, **options)

    monkeypatch.setattr(psycopg.Connection, "execute", lose_at_commit)
    with pytest.raises(StoreError, match="while the change was stored") as raised:
        store.append_events([make_event()])
    assert not isinstance(raised.value, StoreUnavailableError), "its repetition must be somebody's decision"
    assert store.find_events(EventFilter()) == []


def test_in_one_transaction_a_lost_connection_takes_all_of_it_back(store: PostgresStore, database: Database) -> None:
    first, second = make_lesson(), make_lesson()

    def write() -> None:
        with store.changing():
            store.put([first], {})
            end_connections(database)
            store.put([second], {})

    with pytest.raises(StoreUnavailableError):
        write()
    assert store.find(LessonFilter(project=PROJECT)) == []
    with store.changing():
        store.put([first, second], {})
    assert len(store.find(LessonFilter(project=PROJECT))) == 2


def test_a_reading_goes_on_after_its_connection_was_lost(store: PostgresStore, database: Database) -> None:
    with store.reading():
        assert store.find(LessonFilter()) == []
        end_connections(database)
        with pytest.raises(StoreUnavailableError):
            store.find(LessonFilter())
        assert store.find(LessonFilter()) == []
    assert store.find(LessonFilter()) == []


def test_no_free_connection_is_reported_after_the_time_to_wait(database: Database, organisation: int) -> None:
    url = database.store_url(organisation, pool=1)
    with make({"url": url, "timeout_s": "0.3"}) as store, store.changing():
        store.set_state(PLACE, "a", "1")
        with ThreadPoolExecutor(1) as thread:
            failed = thread.submit(store.find, LessonFilter()).exception()
    assert isinstance(failed, StoreUnavailableError)
    assert "every connection of this process is in use" in str(failed)
    assert "pool=" in failed.hint


def test_two_views_of_one_organisation_share_a_threads_transaction(database: Database, organisation: int) -> None:
    """Else a server whose threads all change something would wait for connections that they hold themselves."""
    with make({"url": database.store_url(organisation, pool=1), "timeout_s": "1"}) as store:
        view = PostgresStore(store.tenant.database, organisation)
        with store.changing():
            store.set_state(PLACE, "a", "1")
            assert view.get_state(PLACE, "a") == "1"
            with view.changing():
                view.set_state(PLACE, "a", "2")
        assert store.get_state(PLACE, "a") == "2"


def test_a_server_that_is_gone_is_reported_as_such_and_the_next_call_goes_on(clusters: Clusters) -> None:
    cluster = clusters.start()
    with make({"url": cluster.create_database("memory").store_url(), "timeout_s": "600"}) as store:
        store.append_events([make_event()])
        cluster.stop()
        for call in (lambda: store.find(LessonFilter()), lambda: store.append_events([make_event()])):
            with pytest.raises(StoreUnavailableError, match="the connection failed: No such file or directory"):
                call()
        cluster.start()
        assert store.append_events([make_event()]) == 1
    cluster.stop()


def test_a_lock_that_somebody_holds_is_reported_after_the_time_to_wait(database: Database, organisation: int) -> None:
    url = database.store_url(organisation)
    with make({"url": url}) as holder, make({"url": url, "timeout_s": "0.2"}) as store, holder.changing():
        holder.append_events([make_event()])
        with pytest.raises(StoreLockedError):
            store.append_events([make_event()])


def test_two_that_wait_for_each_other_both_end(store: PostgresStore) -> None:
    """The victim of a deadlock inside `changing` is told; its caller may do it again."""
    both = threading.Barrier(2, timeout=10)

    def write(first: str, second: str) -> str:
        try:
            with store.changing():
                store.set_state(PLACE, first, first)
                both.wait()
                store.set_state(PLACE, second, first)
        except StoreLockedError:
            return "victim"
        return "done"

    with ThreadPoolExecutor(2) as threads:
        results = [threads.submit(write, *pair) for pair in (("a", "b"), ("b", "a"))]
        assert sorted(result.result() for result in results) == ["done", "victim"]
    assert store.get_state(PLACE, "a") == store.get_state(PLACE, "b") != ""


def test_statements_need_not_be_prepared(database: Database, organisation: int) -> None:
    with make({"url": database.store_url(organisation, prepare="no")}) as store:
        for _ in range(8):
            store.put([make_lesson()], {})
        with store.tenant.database.connection() as connection:
            assert connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone() == (0,)


def test_a_standby_refuses_writes_and_answers_reads(clusters: Clusters) -> None:
    primary = clusters.start()
    database = primary.create_database("memory")
    lesson = make_lesson()
    with make({"url": database.store_url()}) as store:
        store.put([lesson], {})
        copy = primary.standby()
        url = f"{copy.url('memory', 'holdfast')}&org=1"
        with make({"url": url}) as replica:
            assert replica.get([lesson.id]) == [lesson]
            with pytest.raises(StoreReadOnlyError):
                replica.put([make_lesson()], {})
            with pytest.raises(StoreReadOnlyError):
                replica.set_state(PLACE, "a", "1")
    copy.stop()
    primary.stop()


def test_writers_of_one_lesson_and_of_one_rule_are_told(store: PostgresStore) -> None:
    lesson, rule = make_lesson(), "Never call commit twice"
    store.put([lesson], {})

    def revise(number: int) -> bool:
        try:
            store.put([next_version(lesson, number + 1, insight=f"by {number}")], {lesson.id: lesson.recorded_at})
        except StaleWriteError:
            return False
        return True

    def add(number: int) -> bool:
        try:
            store.put([make_lesson(insight=rule, recorded_at=minutes(number))], {}, make_change())
        except StaleWriteError:
            return False
        return True

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(revise, range(6))) == 1
        assert sum(threads.map(add, range(6))) == 1
    assert len(store.find(LessonFilter(project=PROJECT))) == 2
    assert len(store.find_records(Change, LogFilter())) == 1


def test_new_lessons_with_one_id_are_added_once(store: PostgresStore) -> None:
    lesson = make_lesson()

    def add(number: int) -> bool:
        try:
            store.put([next_version(lesson, number, insight=f"rule {number}")], {})
        except StaleWriteError:
            return False
        return True

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(add, range(6))) == 1
    assert store.extent().versions == 1
    assert store.check() == []


def test_edits_of_one_value_at_once_are_all_there(store: PostgresStore) -> None:
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda number: store.edit_state(TIDIED, "", lambda value: f"{value}{number}"), range(6)))
        list(threads.map(lambda number: store.set_rows(SYNCED_LESSONS, "p", {str(number): "1"}), range(6)))
    assert sorted(store.get_state(TIDIED)) == [*"012345"]
    assert store.get_rows(SYNCED_LESSONS, "p") == dict.fromkeys("012345", "1")


def test_a_purge_and_a_revision_at_once_leave_nothing_or_all(store: PostgresStore) -> None:
    """Whichever comes first: no version and no derived row stays alone."""
    lessons = [make_lesson(insight=f"Berth {number} is for pilots") for number in range(8)]
    store.put(lessons, {})

    def revise(lesson: Lesson) -> bool:
        try:
            store.put([next_version(lesson, why="measured")], {lesson.id: lesson.recorded_at})
        except StaleWriteError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        revised = [threads.submit(revise, lesson) for lesson in lessons]
        purged = [threads.submit(store.purge, [lesson.id]) for lesson in lessons]
        outcomes = [(first.result(), second.result()) for first, second in zip(revised, purged, strict=True)]
    assert all(erased["lessons"] == (2 if was_revised else 1) for was_revised, erased in outcomes)
    assert store.find(LessonFilter(project=PROJECT)) == []
    assert store.check() == []


def test_an_edit_does_not_bring_back_what_a_purge_erased_meanwhile(store: PostgresStore) -> None:
    lesson = make_lesson(insight="Pier 9 is closed.", provenance=Provenance(session=SESSION))
    store.put([lesson], {})
    moment = f'{{"event":"e2","session":"{SESSION}","kind":"prompt","text":"As pier 9 is closed, use the quay"}}'
    stays = f'{{"event":"e3","session":"{SESSION}","kind":"file","text":"quay.py"}}'
    store.set_state(LEARNING_MOMENTS, "other", f"[{moment}]")
    with ThreadPoolExecutor(1) as threads:
        purges: list[Future[dict[str, int]]] = []

        def edit(value: str) -> str:
            purges.append(threads.submit(store.purge, [lesson.id]))
            wait(purges, 0.5)  # it has to wait for this edit
            return f"[{moment},{stays}]"

        store.edit_state(LEARNING_MOMENTS, "other", edit)
        assert purges[0].result()["state"] == 1
    assert store.get_state(LEARNING_MOMENTS, "other") == f"[{stays}]"


def test_a_search_of_turns_does_not_bring_back_what_a_purge_erased_meanwhile(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = make_event(kind="prompt", key=spoken_prefix("prompt") + "1", text="Remember that pier 9 is closed")
    store.append_events([event])
    lesson = make_lesson(
        insight="Pier 9 is closed.",
        provenance=Provenance(session=SESSION, evidence=(Evidence(event=event.id, quote="pier 9 is closed"),)),
    )
    store.put([lesson], {})
    query = Query(project=PROJECT, text="pier 9 closed")
    with ThreadPoolExecutor(1) as threads:
        purges: list[Future[dict[str, int]]] = []
        spoken = turns._spoken

        def read_then_purge(sql: Sql, session: str) -> list[Event]:
            events = list(spoken(sql, session))
            if not purges:
                purges.append(threads.submit(store.purge, [lesson.id]))
                wait(purges, 0.5)  # it has to wait until these events are indexed
            return events

        monkeypatch.setattr(turns, "_spoken", read_then_purge)
        store.search_turns(query, 5)
        assert purges[0].result()["event_texts"] == 1
    assert store.search_turns(query, 5).matches == ()
