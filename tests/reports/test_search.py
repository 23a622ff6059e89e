"""Search: by words, newest first, by facets, in sessions, and what each reader may see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.event import spoken_prefix
from holdfast.domain.lesson import Lesson, Provenance
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.errors import InvalidValueError
from holdfast.ports.store import Store
from holdfast.reports import search as searching
from holdfast.reports.search import FacetList, Searcher, SearchRequest, search_lessons, search_sessions
from holdfast.reports.tuning import UNCOUNTED
from holdfast.settings import load_settings
from holdfast.testing.builders import START, make_event, make_lesson

NOW = START + timedelta(days=100)


@pytest.fixture
def searcher(tmp_path: Path) -> Iterator[Searcher]:
    (tmp_path / "code").mkdir()
    env = {"HOME": str(tmp_path), "HOLDFAST_HOME": str(tmp_path / "home")}
    with Memory(str(tmp_path / "code"), settings=load_settings(env)) as memory:
        yield Searcher(services=memory.services, location=memory.location, now=NOW)


def store_of(searcher: Searcher) -> Store:
    return searcher.services.store


def save(searcher: Searcher, insight: str, day: int = 0, person: str = "", **over: Any) -> Lesson:
    provenance = Provenance(person=person, person_name=person.title())
    lesson = make_lesson(
        project=searcher.location.project.id, insight=insight, provenance=provenance,
        recorded_at=START + timedelta(days=day), **over,
    )  # fmt: skip
    store_of(searcher).put([lesson], {})
    return lesson


def save_many(searcher: Searcher) -> list[LessonId]:
    """Save lessons that differ in every facet; return their ids, oldest first."""
    lessons = [
        save(searcher, "Retries to the carrier are capped at 5.", 0, "ann", path="src/app/a.py", tags=("net",)),
        save(searcher, "Retries of the queue wait a second.", 10, "bob", path="src/queue/b.py", kind="constraint"),
        save(searcher, "Tests never open a connection.", 95, "ann", path="tests/c.py", state="candidate", tags=("ci",)),
        save(searcher, "Deploy on Fridays is fine.", 99, path="ops/d.py", state="retired"),
    ]
    return [lesson.id for lesson in lessons]


def ids(searcher: Searcher, **choice: Any) -> list[LessonId]:
    return [each.lesson.id for each in search_lessons(searcher, SearchRequest(**choice)).lessons]


def facet(facets: tuple[FacetList, ...], name: str) -> dict[str, int]:
    return {each.value: each.count for part in facets if part.name == name for each in part.values}


def test_without_words_lessons_come_newest_first_with_their_facets(searcher: Searcher) -> None:
    saved = save_many(searcher)
    answer = search_lessons(searcher, SearchRequest())
    assert [each.lesson.id for each in answer.lessons] == saved[::-1]
    assert (answer.count, answer.is_least, answer.next) == (4, False, "")
    assert facet(answer.facets, "state") == {"active": 2, "candidate": 1, "retired": 1}
    assert facet(answer.facets, "area") == {"ops": 1, "src/app": 1, "src/queue": 1, "tests": 1}
    assert facet(answer.facets, "person") == {"ann": 2, "bob": 1}
    assert facet(answer.facets, "time") == {"7d": UNCOUNTED, "30d": UNCOUNTED, "365d": UNCOUNTED}
    assert facet(answer.facets, "tag") == {"ci": 1, "net": 1}
    assert list(facet(answer.facets, "month")) == ["2026-06", "2026-03"]
    names = {each.value: each.words for part in answer.facets if part.name == "person" for each in part.values}
    assert names == {"ann": "Ann", "bob": "Bob"}


@pytest.mark.parametrize("text", ["", "retries tests deploy connection carrier queue"])
@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"state": "candidate"}, [2]), ({"kind": "constraint"}, [1]), ({"area": "src"}, [0, 1]),
        ({"area": "src/app/"}, [0]), ({"path": "src/app/a.py"}, [0]), ({"person": "ann"}, [0, 2]), ({"tag": "ci"}, [2]),
        ({"time": "7d"}, [2, 3]), ({"month": "2026-03"}, [0, 1]), ({"person": "ann", "state": "active"}, [0]),
        ({"trust": "person"}, []), ({"freshness": "fresh"}, []),
    ],
)  # fmt: skip
def test_each_facet_narrows_down_with_and_without_words(
    searcher: Searcher, text: str, choice: dict[str, Any], expected: list[int]
) -> None:
    saved = save_many(searcher)
    assert sorted(ids(searcher, q=text, **choice)) == sorted(saved[number] for number in expected)


def test_a_chosen_facet_is_told_and_can_be_taken_back(searcher: Searcher) -> None:
    save_many(searcher)
    chosen = {
        part.name: part.chosen_words
        for part in search_lessons(searcher, SearchRequest(month="2026-03", time="365d")).facets
        if part.chosen
    }
    assert chosen == {"month": "March 2026", "time": "the last 365 days"}


def test_words_find_answers_first_and_then_lessons_with_some_of_the_words(searcher: Searcher) -> None:
    saved = save_many(searcher)
    answer = search_lessons(searcher, SearchRequest(q="carrier retries"))
    assert answer.lessons[0].lesson.id == saved[0]
    assert answer.lessons[0].answers
    assert answer.lessons[0].why is not None
    assert saved[1] in [each.lesson.id for each in answer.lessons]
    assert [each.answers for each in answer.lessons] == sorted((each.answers for each in answer.lessons), reverse=True)
    assert ids(searcher, q="zzzz") == []


def test_pages_follow_one_another(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = save_many(searcher)
    monkeypatch.setattr(searching, "RESULTS_SHOWN", 2)
    first = search_lessons(searcher, SearchRequest())
    second = search_lessons(searcher, SearchRequest(after=first.next))
    assert [each.lesson.id for each in (*first.lessons, *second.lessons)] == saved[::-1]
    assert (bool(first.next), second.next) == (True, "")
    assert second.count == 4


def test_answers_come_in_pages(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    save_many(searcher)
    words = "retries carrier queue tests connection"
    every = ids(searcher, q=words)
    assert len(every) == 3
    monkeypatch.setattr(searching, "ANSWERS_SHOWN", 2)
    first = search_lessons(searcher, SearchRequest(q=words))
    second = search_lessons(searcher, SearchRequest(q=words, after=first.next))
    assert [each.lesson.id for each in (*first.lessons, *second.lessons)] == every
    assert (first.count, second.count, second.next) == (3, 3, "")


def test_a_list_by_freshness_says_how_many_it_looked_at_and_goes_on(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = [save(searcher, f"No code, rule {number}", number) for number in range(5)]
    gone = save(searcher, "About a file that is gone", 9, path="gone.py")
    for name, value in (("RESULTS_JUDGED", 2), ("JUDGED_AT_ONCE", 2)):
        monkeypatch.setattr(searching, name, value)
    page = search_lessons(searcher, SearchRequest(freshness="unanchored"))
    assert [each.lesson.id for each in page.lessons] == [plain[4].id]
    assert (page.looked_at, page.count, page.is_least) == (2, 1, True)
    rest: list[LessonId] = []
    while page.next:
        page = search_lessons(searcher, SearchRequest(freshness="unanchored", after=page.next))
        rest += [each.lesson.id for each in page.lessons]
    assert rest == [lesson.id for lesson in plain[3::-1]]
    assert ids(replace(searcher), freshness="orphaned") in ([gone.id], [])


def test_who_may_not_see_what_waits_neither_finds_nor_counts_it(searcher: Searcher) -> None:
    saved = save_many(searcher)
    reader = replace(searcher, sees=lambda lesson: lesson.state != "candidate", sees_waiting=False, has_code=False)
    for text in ("", "tests connection retries"):
        answer = search_lessons(reader, SearchRequest(q=text))
        assert saved[2] not in [each.lesson.id for each in answer.lessons]
        assert "candidate" not in facet(answer.facets, "state")
        assert "ci" not in facet(answer.facets, "tag")
        assert facet(answer.facets, "freshness") == {}
    assert search_lessons(reader, SearchRequest(state="candidate")).count == 0


def test_sessions_are_found_by_their_words_and_listed_newest_first(searcher: Searcher) -> None:
    project = searcher.location.project.id
    spoken = (("s1", "main", "Where is the harbour log?", 0), ("s2", "fix", "Rename the harbour of the ferry", 5))
    for session, branch, text, day in spoken:
        key = f"{spoken_prefix('prompt')}1"
        at = START + timedelta(days=day)
        store_of(searcher).append_events([
            make_event(session=SessionId(session), branch=branch, project=project, key=key, text=text, at=at)
        ])  # fmt: skip
    newest = search_sessions(searcher, SearchRequest())
    assert [row.session for row in newest.sessions] == ["s2", "s1"]
    assert facet(newest.facets, "branch") == {"fix": 1, "main": 1}
    assert [row.session for row in search_sessions(searcher, SearchRequest(branch="main")).sessions] == ["s1"]
    turns = search_sessions(searcher, SearchRequest(q="harbour"))
    assert {turn.session for turn in turns.turns} == {"s1", "s2"}
    assert [turn.session for turn in search_sessions(searcher, SearchRequest(q="harbour", branch="fix")).turns] == [
        "s2"
    ]
    assert search_sessions(searcher, SearchRequest(q="zzzz")).turns == ()


@pytest.mark.parametrize("choice", [{"month": "2026-13"}, {"month": "x"}, {"after": "x"}, {"after": "9" * 400}])
def test_a_month_or_a_page_that_cannot_be_is_an_error(searcher: Searcher, choice: dict[str, str]) -> None:
    for text in ("", "word"):
        with pytest.raises(InvalidValueError):
            search_lessons(searcher, SearchRequest(q=text, **choice))  # type: ignore[arg-type]
