"""Embedding what waits: batch by batch, resumable, never with a stale text, never with a secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from holdfast.domain.query import Query
from holdfast.domain.statefamilies import EMBEDDER_COVERING, EMBEDDER_RESTING, LESSONS_CHANGED
from holdfast.errors import EmbedderError
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.recall.embed import (
    Coverage,
    EmbeddedQuestion,
    coverage,
    embed_pending,
    embed_question,
    embed_written,
    embedding_text,
    probe,
)
from holdfast.recall.question import with_vector
from holdfast.recall.tuning import EMBEDDED_AT_ONCE, REST_S
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import FixedClock, make_lesson, next_version

KEY = "gh" + "p_" + "a1B2" * 9


class LetterEmbedder:
    """Places a text by its share of vowels; fails at the calls it is told to, and runs `before` each."""

    def __init__(self, name: str = "letters#2", fail_at: Sequence[int] = ()) -> None:
        self.id = name
        self.dimension = 2
        self.texts: list[str] = []
        self.calls = 0
        self._fail_at = fail_at
        self.before: Any = None

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        self.calls += 1
        if self.before:
            self.before()
        if self.calls in self._fail_at:
            raise EmbedderError("the endpoint went away")
        self.texts += texts
        return [self._place(text) for text in texts]

    def _place(self, text: str) -> list[float]:
        share = sum(char in "aeiou" for char in text) / max(1, len(text))
        return [share, (1 - share**2) ** 0.5]


def parts_with(
    store: SqliteStore, embedder: LetterEmbedder | None, former: LetterEmbedder | None = None, clock: Any = None
) -> Services:
    unused: Any = None
    return Services(
        store=store, workspace=unused, clock=clock or FixedClock(), host=unused, detectors=tuple,
        embedder=lambda: embedder, former=lambda id_: former if former and former.id == id_ else None,
    )  # fmt: skip


def put(store: SqliteStore, count: int) -> None:
    lessons = [
        make_lesson(insight=f"Rule number {number} about tides", project=f"p{number % 3}") for number in range(count)
    ]
    store.put(lessons, {lesson.id: None for lesson in lessons})


def waiting(store: SqliteStore, embedder: LetterEmbedder) -> int:
    return len(store.find(LessonFilter(all_projects=True, without_vector=embedder.id)))


def test_every_lesson_of_every_project_gets_a_vector_once(store: SqliteStore) -> None:
    put(store, 2 * EMBEDDED_AT_ONCE + 5)
    embedder = LetterEmbedder()
    services = parts_with(store, embedder)
    seen: list[int] = []
    assert embed_pending(services, on_batch=seen.append) == 2 * EMBEDDED_AT_ONCE + 5
    assert seen == [EMBEDDED_AT_ONCE, EMBEDDED_AT_ONCE, 5]
    assert embed_pending(services) == 0
    assert embedder.calls == 3


def test_a_lesson_alone_is_embedded_once_and_not_as_a_question(store: SqliteStore) -> None:
    put(store, 1)
    embedder = LetterEmbedder()
    embedder.embed_query = None  # type: ignore[method-assign, assignment]
    assert embed_pending(parts_with(store, embedder)) == 1
    assert len(embedder.texts) == 1


def test_no_more_than_the_limit_is_embedded_at_once(store: SqliteStore) -> None:
    put(store, 10)
    services = parts_with(store, LetterEmbedder())
    assert [embed_pending(services, 4), embed_pending(services, 4), embed_pending(services, 4)] == [4, 4, 2]


def test_without_an_embedder_nothing_happens(store: SqliteStore) -> None:
    put(store, 2)
    services = parts_with(store, None)
    assert embed_pending(services) == 0
    assert embed_question(services, "tides") == EmbeddedQuestion()
    assert coverage(services) == Coverage(lessons=2)
    assert probe(services) is None


def test_what_was_embedded_before_a_failure_stays(store: SqliteStore) -> None:
    put(store, EMBEDDED_AT_ONCE + 3)
    embedder = LetterEmbedder(fail_at=[2])
    services = parts_with(store, embedder)
    with pytest.raises(EmbedderError):
        embed_pending(services)
    assert waiting(store, embedder) == 3
    assert embed_pending(services) == 3


def vectors_of(store: SqliteStore, embedder: LetterEmbedder) -> int:
    return store.count_without_vector("") - store.count_without_vector(embedder.id)


def test_the_old_embedder_answers_until_every_lesson_has_its_new_vector(store: SqliteStore) -> None:
    put(store, 3)
    old, new = LetterEmbedder("old#2"), LetterEmbedder("new#2")
    embed_pending(parts_with(store, old))
    services = parts_with(store, new, old)
    assert embed_pending(services, 2) == 2
    placed = embed_question(services, "tides")
    assert (placed.embedder_id, placed.missing, vectors_of(store, old)) == ("old#2", "", 3)
    assert coverage(services) == Coverage(lessons=3, embedded=2, answering="old#2")
    assert embed_pending(services, 2) == 1
    assert embed_question(services, "tides").embedder_id == "new#2"
    assert (vectors_of(store, old), vectors_of(store, new)) == (0, 3)


def test_where_the_old_embedder_is_gone_what_is_embedded_answers_and_the_rest_is_reported(store: SqliteStore) -> None:
    put(store, 3)
    new = LetterEmbedder("new#2")
    embed_pending(parts_with(store, LetterEmbedder("old#2")))
    for former in (None, LetterEmbedder("old#2", fail_at=[1])):
        placed = embed_question(parts_with(store, new, former), "tides")
        assert (placed.embedder_id, placed.missing) == ("new#2", "lessons without a vector of new#2 yet: 3")


def test_going_back_to_the_old_embedder_drops_what_the_new_one_did(store: SqliteStore) -> None:
    put(store, 3)
    old, new = LetterEmbedder("old#2"), LetterEmbedder("new#2")
    embed_pending(parts_with(store, old))
    embed_pending(parts_with(store, new, old), 2)
    assert embed_pending(parts_with(store, old, new)) == 0
    assert (vectors_of(store, old), vectors_of(store, new)) == (3, 0)


def test_old_vectors_left_by_a_run_that_was_killed_are_erased_by_the_next(store: SqliteStore) -> None:
    put(store, 2)
    old, new = LetterEmbedder("old#2"), LetterEmbedder("new#2")
    embed_pending(parts_with(store, old))
    services = parts_with(store, new, old)
    embed_pending(services, 2)
    store.set_state(EMBEDDER_COVERING, "", new.id)
    assert embed_question(services, "tides").embedder_id == new.id
    assert embed_pending(services) == 0
    assert vectors_of(store, old) == 0


def test_an_empty_store_is_covered_at_once(store: SqliteStore) -> None:
    services = parts_with(store, LetterEmbedder())
    assert embed_question(services, "tides").missing == ""
    assert embed_pending(services) == 0
    assert coverage(services) == Coverage(answering="letters#2")


def test_an_embedder_that_failed_a_question_is_left_alone_for_a_while(store: SqliteStore) -> None:
    embedder, clock = LetterEmbedder(fail_at=[1, 2]), FixedClock()
    services = parts_with(store, embedder, clock=clock)
    for _ in range(3):
        with pytest.raises(EmbedderError, match="went away"):
            embed_question(services, "tides")
    assert embedder.calls == 1
    clock.advance(REST_S + 1)
    with pytest.raises(EmbedderError):
        embed_question(services, "tides")
    assert embedder.calls == 2
    assert probe(services) is embedder
    assert embed_question(services, "tides").embedder_id == embedder.id


def test_a_clock_set_back_does_not_keep_an_embedder_resting(store: SqliteStore) -> None:
    embedder = LetterEmbedder(fail_at=[1])
    services = parts_with(store, embedder)
    with pytest.raises(EmbedderError):
        embed_question(services, "tides")
    store.set_state(EMBEDDER_RESTING, "letters#2", "2999-01-01T00:00:00Z the endpoint went away")
    assert embed_question(services, "tides").embedder_id == embedder.id


def test_what_failed_last_is_delivered_until_it_goes_well(store: SqliteStore) -> None:
    put(store, 2)
    services = parts_with(store, LetterEmbedder(fail_at=[1]))
    with pytest.raises(EmbedderError):
        embed_pending(services)
    assert coverage(services).failed.endswith("Z the endpoint went away")
    embed_pending(services)
    assert coverage(services).failed == ""


def test_a_lesson_revised_while_the_endpoint_thinks_does_not_get_the_old_vector(store: SqliteStore) -> None:
    lesson = make_lesson(insight="Old words")
    store.put([lesson], {lesson.id: None})
    embedder = LetterEmbedder()

    def revise() -> None:
        embedder.before = None
        store.put([next_version(lesson, insight="New words")], {lesson.id: lesson.recorded_at})

    embedder.before = revise
    services = parts_with(store, embedder)
    assert embed_pending(services) == 0
    assert embed_pending(services) == 1
    assert "New words" in embedder.texts[-1]


def test_a_lesson_purged_while_the_endpoint_thinks_is_left_out(store: SqliteStore) -> None:
    put(store, 2)
    embedder = LetterEmbedder()

    def purge() -> None:
        store.purge([store.find(LessonFilter(all_projects=True))[0].id])

    embedder.before = purge
    assert embed_pending(parts_with(store, embedder)) == 1


def test_a_lesson_is_embedded_by_its_rule_reason_remedy_and_paths() -> None:
    lesson = make_lesson(
        title="Login tests", insight="Seed the clock", why="midnight", how="freeze it", path="src/app.py"
    )
    assert embedding_text(lesson) == "Login tests\nSeed the clock\nmidnight\nfreeze it\nsrc/app.py"


def test_a_title_made_of_the_insight_is_not_stated_twice() -> None:
    assert embedding_text(make_lesson(insight="Seed the clock")) == "Seed the clock"
    assert embedding_text(make_lesson(insight="word " * 40)).count("word") == 40


def test_no_secret_is_sent_to_an_embedder(store: SqliteStore) -> None:
    lesson = make_lesson(insight=f"Use {KEY}")
    store.put([lesson], {lesson.id: None})
    embedder = LetterEmbedder()
    services = parts_with(store, embedder)
    embed_pending(services)
    query, _ = with_vector(services, Query(text=f"what is {KEY}?"))
    assert (len(query.vector), query.embedder_id) == (2, "letters#2")
    assert not any(KEY in text for text in embedder.texts)
    assert embed_question(services, "  ") == EmbeddedQuestion()


class LocalEmbedder(LetterEmbedder):
    is_local = True


def test_one_of_this_machine_sees_a_batch_of_what_waits_before_it_answers(store: SqliteStore) -> None:
    put(store, EMBEDDED_AT_ONCE + 3)
    services = parts_with(store, LocalEmbedder())
    assert embed_question(services, "tides").missing.endswith(": 3")
    assert embed_question(services, "tides").missing == ""
    assert waiting(store, LocalEmbedder()) == 0


def test_where_a_host_waits_it_only_answers(store: SqliteStore) -> None:
    put(store, 3)
    services = replace(parts_with(store, LocalEmbedder()), low_latency=True)
    assert embed_question(services, "tides").missing.endswith(": 3")


# When it is done, and who answers


def test_as_many_as_the_limit_leave_it_open_whether_more_wait(store: SqliteStore) -> None:
    embedder = LetterEmbedder()
    put(store, 2)
    assert embed_pending(parts_with(store, embedder), limit=2) == 2
    assert store.get_state(EMBEDDER_COVERING) == ""
    assert store.get_state(LESSONS_CHANGED) == "yes"
    assert embed_pending(parts_with(store, embedder), limit=2) == 0
    assert store.get_state(EMBEDDER_COVERING) == embedder.id
    assert store.get_state(LESSONS_CHANGED) == ""


def test_a_lesson_that_comes_while_others_are_embedded_keeps_the_old_embedder_answering(store: SqliteStore) -> None:
    embedder = LetterEmbedder()
    put(store, 1)

    def another() -> None:
        embedder.before = None
        late = make_lesson(insight="A late rule.")
        store.put([late], {late.id: None})

    embedder.before = another
    embed_pending(parts_with(store, embedder))
    assert store.get_state(EMBEDDER_COVERING) == ""
    assert waiting(store, embedder) == 1


def test_the_embedder_that_covers_everything_answers_itself(store: SqliteStore) -> None:
    embedder, twin = LetterEmbedder(), LetterEmbedder()
    put(store, 1)
    services = parts_with(store, embedder, former=twin)
    embed_pending(services)
    assert embed_question(services, "tides").embedder_id == embedder.id
    assert twin.calls == 0
    assert coverage(services) == Coverage(lessons=1, embedded=1, answering=embedder.id)
    assert Coverage() == Coverage(lessons=0, embedded=0, answering="", failed="")


def test_what_is_embedded_by_now_and_who_answers_is_delivered(store: SqliteStore) -> None:
    old, new = LetterEmbedder("old#2"), LetterEmbedder("new#2")
    put(store, 3)
    embed_pending(parts_with(store, old))
    services = parts_with(store, new, former=old)
    embed_pending(services, limit=1)
    assert coverage(services) == Coverage(lessons=3, embedded=1, answering="old#2")
    assert coverage(parts_with(store, None)) == Coverage(lessons=3)


def test_a_question_of_blanks_is_not_embedded(store: SqliteStore) -> None:
    embedder = LetterEmbedder()
    assert embed_question(parts_with(store, embedder), " \n ") == EmbeddedQuestion()
    assert embedder.calls == 0


@pytest.mark.parametrize(("is_local", "is_caught_up"), [(True, True), (False, False)])
def test_only_an_embedder_of_this_machine_catches_up_with_a_question(
    store: SqliteStore, is_local: bool, is_caught_up: bool
) -> None:
    embedder = LocalEmbedder() if is_local else LetterEmbedder()
    put(store, 2)
    services = parts_with(store, embedder)
    embed_question(services, "tides")
    assert (waiting(store, embedder) == 0) is is_caught_up


def test_an_embedder_that_has_seen_everything_does_not_look_for_more(store: SqliteStore) -> None:
    anchor_verdicts: list[object] = []
    real = store.find

    class Watched:
        """The real store, which notes each look for lessons."""

        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

        def find(self, where: LessonFilter) -> Any:
            anchor_verdicts.append(where)
            return real(where)

    put(store, 2)
    services = parts_with(Watched(), LocalEmbedder())  # type: ignore[arg-type]
    embed_question(services, "tides")
    assert len(anchor_verdicts) == 1
    embed_question(services, "tides")
    assert len(anchor_verdicts) == 1
    store.set_state(LESSONS_CHANGED, "", "yes")
    embed_question(services, "tides")
    assert len(anchor_verdicts) == 2


def test_on_a_server_a_lesson_is_embedded_where_it_is_written_and_never_by_a_question(store: SqliteStore) -> None:
    put(store, EMBEDDED_AT_ONCE + 5)
    embedder = LocalEmbedder()
    services = replace(parts_with(store, embedder), serves_team=True)
    store.set_state(LESSONS_CHANGED, "", "yes")
    assert embed_question(services, "tides") == EmbeddedQuestion(
        vector=tuple(embedder.embed_query("tides")), embedder_id=embedder.id
    )
    assert waiting(store, embedder) == EMBEDDED_AT_ONCE + 5
    lessons = store.find(LessonFilter(all_projects=True))
    written = [lesson.id for lesson in lessons[:2]]
    assert embed_written(services, [*written, make_lesson().id]) == 2
    assert waiting(store, embedder) == EMBEDDED_AT_ONCE + 3
    assert embed_written(services, []) == 0


def test_an_embedder_elsewhere_is_not_asked_while_a_lesson_is_written(store: SqliteStore) -> None:
    put(store, 2)
    embedder = LetterEmbedder()
    services = replace(parts_with(store, embedder), serves_team=True)
    assert embed_written(services, [lesson.id for lesson in store.find(LessonFilter(all_projects=True))]) == 0
    assert embedder.calls == 0
    assert embed_written(parts_with(store, None), [make_lesson().id]) == 0
