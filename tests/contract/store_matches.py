"""The store's contract: which lessons match, and how."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.lesson import Triggers
from holdfast.domain.query import Query
from holdfast.domain.symbol import Neighbour
from holdfast.ports.store import Store
from holdfast.testing.builders import (
    PROJECT,
    make_lesson,
)
from holdfast.text.shell import command_target
from holdfast.text.signature import error_signature

from .store_questions import (
    every_method,
    found,
    minutes,
    reachable,
)


class WordsContract:
    """Texts, tokens and errors."""

    def test_one_word_in_common_is_enough(self, store: Store) -> None:
        lesson = make_lesson(insight="Sessions live in Redis, never in memory")
        store.put([lesson, make_lesson(insight="Pin the formatter")], {})
        assert found(store, "match_text", text="where do we keep redis things and many other words") == [lesson.id]

    def test_words_match_in_other_forms(self, store: Store) -> None:
        lesson = make_lesson(insight="Retry failed uploads")
        store.put([lesson], {})
        assert found(store, "match_text", text="retrying an upload") == [lesson.id]

    @pytest.mark.parametrize(
        "question", ["connection pool", "ConnectionPool", "connection_pool", "pool.connection", "get_connection_pool()"]
    )
    def test_identifiers_match_whole_and_in_parts(self, store: Store, question: str) -> None:
        lesson = make_lesson(insight="Close the ConnectionPool after use")
        store.put([lesson], {})
        assert found(store, "match_text", text=question) == [lesson.id]

    @pytest.mark.parametrize("column", ["title", "insight", "why", "how", "snippets", "tags", "path", "symbol"])
    def test_every_part_of_a_lesson_can_be_found_by_its_words(self, store: Store, column: str) -> None:
        value: Any = ("the zebra crossing",) if column in ("snippets", "tags") else "the zebra crossing"
        lesson = make_lesson(path="x.py", **{column: value}) if column == "symbol" else make_lesson(**{column: value})
        store.put([lesson, make_lesson()], {})
        assert found(store, "match_text", text="zebra") == [lesson.id]

    def test_the_title_says_more_than_the_reason(self, store: Store) -> None:
        low = make_lesson(title="other", why="walrus", recorded_at=minutes(2))
        high = make_lesson(title="walrus", why="other")
        store.put([high, low, *(make_lesson(recorded_at=minutes(3)) for _ in range(5))], {})
        assert found(store, "match_text", text="walrus") == [high.id, low.id]

    def test_chinese_japanese_and_korean_are_found_by_parts_of_a_run(self, store: Store) -> None:
        lessons = {
            "数据库": make_lesson(insight="请不要在测试里连接生产数据库服务器"),
            "キャッシュ": make_lesson(insight="テストの前にキャッシュを削除する"),
            "데이터": make_lesson(insight="운영데이터베이스에 접속하지 마세요"),
        }
        store.put(list(lessons.values()), {})
        for question, lesson in lessons.items():
            assert found(store, "match_text", text=question) == [lesson.id]

    @pytest.mark.parametrize(
        ("insight", "question"),
        [
            ("リリース前に鍵を回転する", "鍵"),
            ("先に起動する", "る"),
            ("使用pytest运行测试", "用"),
            ("使用pytest运行测试", "pytest"),
            ("数" * 300 + "据库", "据库"),
            ("اِقْرَأ الكِتاب أولا", "الكتاب"),
            ("שָׁלוֹם", "שלום"),
            ("Ship with 🚀 only on Mondays", "🚀"),
            ("\uff21\uff30\uff29 keys rotate", "api"),
        ],
    )
    def test_any_script_is_found_by_single_characters_and_plain_forms(
        self, store: Store, insight: str, question: str
    ) -> None:
        lesson = make_lesson(insight=insight)
        store.put([lesson, make_lesson()], {})
        assert found(store, "match_text", text=question) == [lesson.id]

    def test_a_common_word_does_not_hide_a_rare_one(self, store: Store) -> None:
        store.put([make_lesson(insight=f"module number {i}") for i in range(300)], {})
        rare = make_lesson(insight="module flamingo")
        store.put([rare], {})
        assert found(store, "match_text", text="module flamingo")[0] == rare.id
        assert len(found(store, "match_text", text="module")) == 10

    def test_a_question_of_200_kilobytes_is_answered(self, store: Store) -> None:
        lesson = reachable(store)
        text = "sqlalchemy " + "lorem ipsum dolor " * 12_000
        assert found(store, "match_text", text=text) == [lesson.id]
        for method in every_method(lesson):
            found(store, method, text=text, error=text, command=text)

    def test_an_equal_error_is_exact_whatever_its_numbers(self, store: Store) -> None:
        error = "Traceback (most recent call last):\nValueError: cannot reshape array of size 12 into shape (3,5)"
        lesson = make_lesson(error_signature=error_signature(error))
        store.put([lesson, make_lesson(error_signature="TypeError: something else entirely")], {})
        (match,) = store.match_tokens(Query(project=PROJECT, error=error.replace("12", "77")))
        assert (match.source, [id_ for _, id_ in match.lessons]) == ("error", [lesson.id])

    def test_signatures_that_share_rare_words_with_the_error_are_reported(self, store: Store) -> None:
        signature = "ConnectionError: broker refused login for queue service"
        lesson = make_lesson(error_signature=signature)
        store.put([lesson, make_lesson(error_signature="TypeError: nothing alike")], {})
        answer = store.match_errors(Query(project=PROJECT, error="ConnectionError: broker refused login queue"), 5)
        assert [(text, id_) for text, (_, id_) in answer.lessons][:1] == [(signature, lesson.id)]
        assert answer.signature == "ConnectionError: broker refused login queue"
        assert found(store, "match_errors", error="make: *** cannot resolve mirror address") == []

    def test_of_many_errors_alike_only_so_many_are_reported(self, store: Store) -> None:
        store.put(
            [make_lesson(error_signature=f"BrokerError: queue {name} refused") for name in ("a1", "b2", "c3")], {}
        )
        assert len(found(store, "match_errors", limit=2, error="BrokerError: queue d4 refused")) == 2

    def test_an_equal_command_is_exact_however_it_is_dressed(self, store: Store) -> None:
        lesson = make_lesson(command=command_target("pytest tests/test_login.py"))
        store.put([lesson, make_lesson(command=command_target("npm run build"))], {})
        command = "cd /srv/app && PYTHONPATH=. python -m pytest tests/test_login.py -q"
        assert found(store, "match_tokens", command=command) == [lesson.id]
        assert [match.source for match in store.match_tokens(Query(project=PROJECT, command=command))] == ["command"]

    @pytest.mark.parametrize(
        "question",
        [
            "why does Pool.acquire hang",
            "see src/net/pool.py please",
            "the error E0308 again",
            "run it with --no-cache",
            "MAX_RETRIES is too low",
            "net/pooling",
        ],
    )
    def test_names_in_a_question_are_exact(self, store: Store, question: str) -> None:
        lesson = make_lesson(
            insight="E0308 goes away with --no-cache; raise MAX_RETRIES", path="src/net/pool.py", symbol="Pool.acquire",
            topic_key="net/pooling",
        )  # fmt: skip
        store.put([lesson, make_lesson()], {})
        assert found(store, "match_tokens", text=question) == [lesson.id]

    def test_plain_words_are_not_exact(self, store: Store) -> None:
        store.put([make_lesson(insight="The server needs a restart. Don't panic.", path="src/server.py")], {})
        assert found(store, "match_tokens", text="restart the server. Don't panic, e.g. wait 1.5 s") == []

    @pytest.mark.parametrize(
        ("question", "source"),
        [
            ("net/pooling", "topic"), ("Pool.acquire", "symbol"), ("acquire", "part"), ("src/net/pool.py", "path"),
            ("pool.py", "file"), ("MAX_RETRIES", "mention"),
        ],
    )  # fmt: skip
    def test_a_token_says_what_of_the_lesson_it_is(self, store: Store, question: str, source: str) -> None:
        lesson = make_lesson(
            insight="Raise MAX_RETRIES before", path="src/net/pool.py", symbol="Pool.acquire", topic_key="net/pooling"
        )
        store.put([lesson], {})
        sources = {match.token: match.source for match in store.match_tokens(Query(project=PROJECT, text=question))}
        assert sources[question.casefold()] == source

    def test_a_token_of_several_sources_is_of_the_one_that_says_most(self, store: Store) -> None:
        store.put([make_lesson(insight="Pool.acquire hangs", path="a.py", symbol="Pool.acquire")], {})
        assert [m.source for m in store.match_tokens(Query(project=PROJECT, text="Pool.acquire"))] == ["symbol"]

    def test_a_token_tells_how_many_lessons_of_the_scope_share_it_whether_seen_or_not(self, store: Store) -> None:
        lessons = [make_lesson(insight=f"use the_config for case {i}") for i in range(40)]
        unseen = make_lesson(insight="the_config waits", state="candidate")
        store.put([*lessons, unseen, make_lesson(insight="the_config is far", project="elsewhere")], {})
        (match,) = store.match_tokens(Query(project=PROJECT, text="the_config"))
        assert (match.sharing, len(match.lessons)) == (41, 40)

    def test_a_file_is_no_symbol(self, store: Store) -> None:
        lesson = make_lesson(path="makefile", insight="Never indent the recipe by blanks")
        store.put([lesson], {})
        assert found(store, "match_symbols", symbols=("makefile",)) == []

    def test_symbols_of_a_query_are_exact(self, store: Store) -> None:
        lesson = make_lesson(path="a.py", symbol="Store.put_vectors")
        store.put([lesson, make_lesson()], {})
        assert found(store, "match_tokens", symbols=("Store.put_vectors",)) == [lesson.id]
        assert found(store, "match_tokens", symbols=("put_vectors",)) == [lesson.id]


class PathContract:
    """Paths, symbols, links, triggers and lists."""

    def test_a_place_is_recognised_by_what_it_is_to_the_path_queried_and_how_far_up(self, store: Store) -> None:
        places: dict[tuple[str, int], dict[str, Any]] = {
            ("file", 0): {"path": "src/api/users/view.py"}, ("glob", 0): {"globs": ("src/**/view.py",)},
            ("folder", 0): {"path": "src/api/users"}, ("folder", 1): {"path": "src/api"},
            ("beside", 0): {"path": "src/api/users/form.py"}, ("beside", 1): {"path": "src/api/urls.py"},
        }  # fmt: skip
        lessons = {place: make_lesson(**anchor) for place, anchor in places.items()}
        store.put([*lessons.values(), make_lesson(path="docs/index.md"), make_lesson(path="setup.py")], {})
        matches = store.match_paths(Query(project=PROJECT, paths=("src/api/users/view.py",)), 5)
        found_at: dict[tuple[str, int], set[str]] = {}
        for match in matches:
            assert match.path == "src/api/users/view.py"
            found_at.setdefault((match.relation, match.levels), set()).update(id_ for _, id_ in match.lessons)
        for place, lesson in lessons.items():
            assert lesson.id in found_at[place], place
        assert set().union(*found_at.values()) == {lesson.id for lesson in lessons.values()}

    def test_a_file_in_the_root_has_the_roots_files_beside_it(self, store: Store) -> None:
        root, deep = make_lesson(path="setup.py"), make_lesson(path="src/app.py")
        store.put([root, deep], {})
        assert found(store, "match_paths", paths=("tox.ini",)) == [root.id]
        assert found(store, "match_paths", paths=("docs/a.md",)) == []

    def test_a_lesson_of_several_files_stands_once_in_a_match(self, store: Store) -> None:
        lesson = make_lesson(paths=("a/x.py", "a/y.py"))
        store.put([lesson], {})
        (match,) = store.match_paths(Query(project=PROJECT, paths=("a/z.py",)), 5)
        assert [id_ for _, id_ in match.lessons] == [lesson.id]

    @pytest.mark.parametrize(
        ("glob", "path", "fits"),
        [
            ("*.py", "a/b/c.py", True),
            ("src/*.py", "src/a.py", True),
            ("src/*.py", "src/a/b.py", False),
            ("src/**/*.py", "src/b.py", True),
            ("src/**/*.py", "src/a/c/b.py", True),
            ("src/**", "src/a/b", True),
            ("**/test_?.py", "x/test_a.py", True),
            ("**/test_?.py", "x/test_ab.py", False),
            ("a*c*e", "abcde", True),
            ("a*c*e", "abcd", False),
        ],
    )
    def test_globs(self, store: Store, glob: str, path: str, fits: bool) -> None:
        lesson = make_lesson(globs=(glob,))
        store.put([lesson], {})
        assert (lesson.id in found(store, "match_paths", paths=(path,))) is fits

    def test_a_name_is_recognised_by_what_it_is_to_the_symbol_queried_in_the_files_queried(self, store: Store) -> None:
        symbols = ("Store.put", "put_all", "Store", "Store.put.retry", "Store.get", "Store.put#2")
        lessons = {symbol: make_lesson(path="db.py", symbol=symbol) for symbol in symbols}
        elsewhere = make_lesson(path="cache.py", symbol="Store.put")
        whole = make_lesson(path="db.py", insight="Nothing here is thread-safe")
        store.put([*lessons.values(), elsewhere, whole], {})
        matches = store.match_symbols(Query(project=PROJECT, paths=("db.py",), symbols=("Store.put",)), 9)
        lessons_told = {(id_, match.relation) for match in matches if match.is_anchor for _, id_ in match.lessons}
        assert {match.levels for match in matches} == {0}
        expected = {"Store.put": "same", "Store.put#2": "same", "Store": "around", "Store.put.retry": "inside"}
        assert lessons_told == {(lessons[symbol].id, relation) for symbol, relation in expected.items()}
        anywhere = {elsewhere.id, lessons["Store.put#2"].id, lessons["Store.put"].id}
        assert set(found(store, "match_symbols", symbols=("Store::Put",))) == anywhere
        (match,) = store.match_symbols(Query(project=PROJECT, symbols=("Store::Put",)), 9)
        assert (match.name, match.relation, match.levels, match.is_anchor) == ("store.put", "same", 0, True)

    def test_what_a_symbol_is_in_is_reported_with_how_far_around_it_is(self, store: Store) -> None:
        near, far = make_lesson(path="db.py", symbol="Base.Store"), make_lesson(path="db.py", symbol="Base")
        store.put([near, far], {})
        matches = store.match_symbols(Query(project=PROJECT, paths=("db.py",), symbols=("Base.Store.put",)), 9)
        around = {id_: match.levels for match in matches if match.relation == "around" for _, id_ in match.lessons}
        assert around == {near.id: 0, far.id: 1}

    def test_a_symbol_queried_without_what_it_is_in_is_found_by_its_last_part(self, store: Store) -> None:
        inside, alone = make_lesson(path="db.py", symbol="Store.flush"), make_lesson(path="db.py", symbol="flush")
        store.put([inside, alone], {})
        for symbol, relations in (("flush", {"same", "unqualified"}), ("Cache.flush", {"unqualified"})):
            matches = store.match_symbols(Query(project=PROJECT, paths=("db.py",), symbols=(symbol,)), 9)
            assert {match.relation for match in matches} == relations
            lessons_told = {id_: match.is_anchor for match in matches for _, id_ in match.lessons}
            assert lessons_told == {inside.id: False, alone.id: True}

    def test_linked_files_are_reported_with_the_files_queried(self, store: Store) -> None:
        near, far, other = make_lesson(path="a.py"), make_lesson(paths=("b.py", "c.py")), make_lesson(path="d.py")
        store.put([near, far, other], {})
        linked = tuple(
            Neighbour(path=path, relation="edited_together", weight=weight)
            for path, weight in (("c.py", 0.2), ("a.py", 0.7), ("b.py", 0.3), ("a.py", 0.1))
        )
        matches = store.match_linked(Query(project=PROJECT, linked=linked, paths=("d.py",)), 5)
        assert {match.path: [id_ for _, id_ in match.lessons] for match in matches} == {
            "a.py": [near.id], "b.py": [far.id], "c.py": [far.id], "d.py": [other.id],
        }  # fmt: skip
        assert found(store, "match_linked", paths=("d.py",)) == []

    def test_a_linked_file_is_reported_as_it_was_queried(self, store: Store) -> None:
        lesson = make_lesson(path="a\0.py")
        store.put([lesson], {})
        (match,) = store.match_linked(
            Query(project=PROJECT, linked=(Neighbour(path="a\0.py", relation="edited_together", weight=0.5),)), 5
        )
        assert (match.path, [id_ for _, id_ in match.lessons]) == ("a\0.py", [lesson.id])

    def test_a_trigger_is_recognised_by_its_kind(self, store: Store) -> None:
        lessons = {
            "literal": make_lesson(when=Triggers(literals=("create_engine(",))),
            "command": make_lesson(when=Triggers(commands=("gh pr diff",))),
            "path": make_lesson(when=Triggers(paths=("src/**/view.py",))),
            "symbol": make_lesson(when=Triggers(symbols=("Store.put",))),
        }
        store.put(list(lessons.values()), {})
        query = Query(
            project=PROJECT, code="x = create_engine(url)", command="cd a && gh pr diff 3", paths=("src/api/view.py",),
            symbols=("Cache.put",),
        )  # fmt: skip
        lessons_told = {match.kind: [id_ for _, id_ in match.lessons] for match in store.match_triggers(query, 5)}
        assert lessons_told == {kind: [lesson.id] for kind, lesson in lessons.items()}
        query = Query(project=PROJECT, code="recreate_engine", command="gh pr list", paths=("a.py",), symbols=("puts",))
        assert store.match_triggers(query, 5) == []

    def test_occasions_are_reported_oldest_first(self, store: Store) -> None:
        lessons = [make_lesson(when=Triggers(standing=True), recorded_at=minutes(-i)) for i in range(3)]
        store.put(lessons, {})
        assert found(store, "match_occasions", occasions=("standing",)) == [lesson.id for lesson in lessons]

    def test_recent_is_by_the_time_recorded(self, store: Store) -> None:
        old, new = make_lesson(recorded_at=minutes(1)), make_lesson(recorded_at=minutes(2))
        store.put([new, old], {})
        matches = store.list_recent(Query(project=PROJECT), 5)
        assert [(match.id, match.recorded_at) for match in matches] == [(new.id, minutes(2)), (old.id, minutes(1))]

    def test_recent_keeps_to_the_time_in_question_half_open(self, store: Store) -> None:
        lessons = [make_lesson(recorded_at=minutes(i), valid_from=minutes(i)) for i in range(4)]
        store.put(lessons, {})
        assert found(store, "list_recent", since=minutes(1), until=minutes(3)) == [lessons[2].id, lessons[1].id]

    def test_pinned_is_by_salience(self, store: Store) -> None:
        low, high = make_lesson(pinned=True, salience=0.1), make_lesson(pinned=True, salience=0.9)
        store.put([high, low, make_lesson(salience=1.0)], {})
        matches = store.list_pinned(Query(project=PROJECT), 5)
        assert [(match.id, match.salience) for match in matches] == [(high.id, 0.9), (low.id, 0.1)]
