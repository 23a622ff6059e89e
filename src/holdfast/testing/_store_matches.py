"""The store's contract: what matches in the text, exact, path, symbol, graph, recent and pinned lanes."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.query import LANES, Query
from holdfast.domain.symbol import Neighbour
from holdfast.ports.store import Store
from holdfast.testing._store_questions import (
    found,
    minutes,
    reachable,
)
from holdfast.testing.builders import (
    PROJECT,
    make_lesson,
)


class WordsContract:
    """The text and exact lanes."""

    def test_one_word_in_common_is_enough(self, store: Store) -> None:
        lesson = make_lesson(insight="Sessions live in Redis, never in memory")
        store.put([lesson, make_lesson(insight="Pin the formatter")], {})
        assert found(store, "text", text="where do we keep redis things and many other words") == [lesson.id]

    def test_words_match_in_other_forms(self, store: Store) -> None:
        lesson = make_lesson(insight="Retry failed uploads")
        store.put([lesson], {})
        assert found(store, "text", text="retrying an upload") == [lesson.id]

    @pytest.mark.parametrize(
        "asked", ["connection pool", "ConnectionPool", "connection_pool", "pool.connection", "get_connection_pool()"]
    )
    def test_identifiers_match_whole_and_in_parts(self, store: Store, asked: str) -> None:
        lesson = make_lesson(insight="Close the ConnectionPool after use")
        store.put([lesson], {})
        assert found(store, "text", text=asked) == [lesson.id]

    @pytest.mark.parametrize("column", ["title", "insight", "why", "how", "snippets", "tags", "path", "symbol"])
    def test_every_part_of_a_lesson_can_be_found_by_its_words(self, store: Store, column: str) -> None:
        value: Any = ("the zebra crossing",) if column in ("snippets", "tags") else "the zebra crossing"
        lesson = make_lesson(path="x.py", **{column: value}) if column == "symbol" else make_lesson(**{column: value})
        store.put([lesson, make_lesson()], {})
        assert found(store, "text", text="zebra") == [lesson.id]

    def test_the_title_says_more_than_the_reason(self, store: Store) -> None:
        low = make_lesson(title="other", why="walrus", recorded_at=minutes(2))
        high = make_lesson(title="walrus", why="other")
        store.put([high, low, *(make_lesson(recorded_at=minutes(3)) for _ in range(5))], {})
        assert found(store, "text", text="walrus") == [high.id, low.id]

    def test_chinese_japanese_and_korean_are_found_by_parts_of_a_run(self, store: Store) -> None:
        lessons = {
            "数据库": make_lesson(insight="请不要在测试里连接生产数据库服务器"),
            "キャッシュ": make_lesson(insight="テストの前にキャッシュを削除する"),
            "데이터": make_lesson(insight="운영데이터베이스에 접속하지 마세요"),
        }
        store.put(list(lessons.values()), {})
        for asked, lesson in lessons.items():
            assert found(store, "text", text=asked) == [lesson.id]

    @pytest.mark.parametrize(
        ("insight", "asked"),
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
        self, store: Store, insight: str, asked: str
    ) -> None:
        lesson = make_lesson(insight=insight)
        store.put([lesson, make_lesson()], {})
        assert found(store, "text", text=asked) == [lesson.id]

    def test_a_common_word_does_not_hide_a_rare_one(self, store: Store) -> None:
        store.put([make_lesson(insight=f"module number {i}") for i in range(300)], {})
        rare = make_lesson(insight="module flamingo")
        store.put([rare], {})
        assert found(store, "text", text="module flamingo")[0] == rare.id
        assert len(found(store, "text", text="module")) == 10

    def test_a_question_of_200_kilobytes_is_answered(self, store: Store) -> None:
        lesson = reachable(store)
        text = "sqlalchemy " + "lorem ipsum dolor " * 12_000
        assert found(store, "text", text=text) == [lesson.id]
        for lane in LANES:
            found(store, lane, text=text, error=text, command=text)

    def test_an_equal_error_is_exact_whatever_its_numbers(self, store: Store) -> None:
        from holdfast.text.signature import error_signature

        error = "Traceback (most recent call last):\nValueError: cannot reshape array of size 12 into shape (3,5)"
        lesson = make_lesson(error_signature=error_signature(error))
        store.put([lesson, make_lesson(error_signature="TypeError: something else entirely")], {})
        hits = store.search("exact", Query(project=PROJECT, error=error.replace("12", "77")), 5)
        assert [(hit.id, hit.score) for hit in hits] == [(lesson.id, 1.0)]

    def test_an_error_of_nearly_the_same_words_is_found(self, store: Store) -> None:
        lesson = make_lesson(error_signature="ConnectionError: broker refused login for queue service")
        store.put([lesson], {})
        hits = store.search("exact", Query(project=PROJECT, error="ConnectionError: broker refused login queue"), 5)
        assert [hit.id for hit in hits] == [lesson.id]
        assert 0.5 < hits[0].score < 1
        assert found(store, "exact", error="ConnectionError: cannot resolve mirror address") == []

    def test_an_equal_command_is_exact_however_it_is_dressed(self, store: Store) -> None:
        from holdfast.text.signature import command_target

        lesson = make_lesson(command=command_target("pytest tests/test_login.py"))
        store.put([lesson, make_lesson(command=command_target("npm run build"))], {})
        asked = "cd /srv/app && PYTHONPATH=. python -m pytest tests/test_login.py -q"
        assert found(store, "exact", command=asked) == [lesson.id]

    @pytest.mark.parametrize(
        "asked",
        [
            "why does Pool.acquire hang",
            "see src/net/pool.py please",
            "the error E0308 again",
            "run it with --no-cache",
            "MAX_RETRIES is too low",
            "net/pooling",
        ],
    )
    def test_names_in_a_question_are_exact(self, store: Store, asked: str) -> None:
        lesson = make_lesson(
            insight="E0308 goes away with --no-cache; raise MAX_RETRIES", path="src/net/pool.py", symbol="Pool.acquire",
            topic_key="net/pooling",
        )  # fmt: skip
        store.put([lesson, make_lesson()], {})
        assert found(store, "exact", text=asked) == [lesson.id]

    def test_plain_words_are_not_exact(self, store: Store) -> None:
        store.put([make_lesson(insight="The server needs a restart. Don't panic.", path="src/server.py")], {})
        assert found(store, "exact", text="restart the server. Don't panic, e.g. wait 1.5 s") == []

    def test_a_name_that_many_lessons_share_points_at_none(self, store: Store) -> None:
        store.put([make_lesson(insight=f"use the_config for case {i}") for i in range(40)], {})
        assert found(store, "exact", text="the_config") == []

    def test_symbols_of_a_query_are_exact(self, store: Store) -> None:
        lesson = make_lesson(path="a.py", symbol="Store.put_vectors")
        store.put([lesson, make_lesson()], {})
        assert found(store, "exact", symbols=("Store.put_vectors",)) == [lesson.id]
        assert found(store, "exact", symbols=("put_vectors",)) == [lesson.id]


class PathContract:
    """The path, recent and pinned lanes."""

    def test_nearer_places_come_first(self, store: Store) -> None:
        places: list[dict[str, Any]] = [
            {"path": "src/api/users/view.py"}, {"globs": ("src/**/view.py",)}, {"path": "src/api/users"},
            {"path": "src/api/users/form.py"}, {"path": "src/api/urls.py"}, {"path": "docs/index.md"},
        ]  # fmt: skip
        lessons = [make_lesson(**place) for place in places]
        store.put(lessons, {})
        expected = [lesson.id for lesson in lessons[:5]]
        assert found(store, "path", paths=("src/api/users/view.py",)) == expected

    def test_a_file_in_the_root_has_the_roots_files_beside_it(self, store: Store) -> None:
        root, deep = make_lesson(path="setup.py"), make_lesson(path="src/app.py")
        store.put([root, deep], {})
        assert found(store, "path", paths=("tox.ini",)) == [root.id]
        assert found(store, "path", paths=("docs/a.md",)) == []

    def test_a_lesson_of_several_files_is_answered_once(self, store: Store) -> None:
        lesson = make_lesson(paths=("a/x.py", "a/y.py"))
        store.put([lesson], {})
        hits = store.search("path", Query(project=PROJECT, paths=("a/y.py", "a/x.py", "a/z.py")), 5)
        assert [(hit.id, hit.score) for hit in hits] == [(lesson.id, 1.0)]

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
        assert (lesson.id in found(store, "path", paths=(path,))) is fits

    def test_symbols_are_of_the_files_asked_the_same_first_then_what_is_around_it_and_in_it(self, store: Store) -> None:
        symbols = ("Store.put", "put_all", "Store", "Store.put.retry", "Store.get", "Store.put#2")
        lessons = {symbol: make_lesson(path="db.py", symbol=symbol) for symbol in symbols}
        elsewhere = make_lesson(path="cache.py", symbol="Store.put")
        whole = make_lesson(path="db.py", insight="Nothing here is thread-safe")
        store.put([*lessons.values(), elsewhere, whole], {})
        hits = store.search("symbol", Query(project=PROJECT, paths=("db.py",), symbols=("Store.put",)), 9)
        scores = {hit.id: round(hit.score, 2) for hit in hits}
        expected = {"Store.put": 1.0, "Store.put#2": 1.0, "Store": 0.8, "Store.put.retry": 0.6}
        assert scores == {lessons[symbol].id: score for symbol, score in expected.items()}
        anywhere = [elsewhere.id, lessons["Store.put#2"].id, lessons["Store.put"].id]
        assert found(store, "symbol", symbols=("Store::Put",)) == anywhere

    def test_a_symbol_asked_without_what_it_is_in_is_found_by_its_last_part(self, store: Store) -> None:
        inside, alone = make_lesson(path="db.py", symbol="Store.flush"), make_lesson(path="db.py", symbol="flush")
        store.put([inside, alone], {})
        assert found(store, "symbol", paths=("db.py",), symbols=("flush",)) == [alone.id, inside.id]
        assert found(store, "symbol", paths=("db.py",), symbols=("Cache.flush",)) == [alone.id, inside.id]

    def test_linked_files_answer_by_their_weight(self, store: Store) -> None:
        near, far, other = make_lesson(path="a.py"), make_lesson(paths=("b.py", "c.py")), make_lesson(path="d.py")
        store.put([near, far, other], {})
        linked = tuple(
            Neighbour(path=path, relation="imports", weight=weight)
            for path, weight in (("c.py", 0.2), ("a.py", 0.7), ("b.py", 0.3), ("a.py", 0.1))
        )
        hits = store.search("graph", Query(project=PROJECT, linked=linked), 5)
        assert [(hit.id, hit.score) for hit in hits] == [(near.id, 0.7), (far.id, 0.3)]
        assert found(store, "graph", linked=linked, paths=("d.py",)) == [other.id, near.id, far.id]

    def test_recent_is_by_the_time_recorded(self, store: Store) -> None:
        old, new = make_lesson(recorded_at=minutes(1)), make_lesson(recorded_at=minutes(2))
        store.put([new, old], {})
        assert found(store, "recent") == [new.id, old.id]

    def test_pinned_is_by_salience(self, store: Store) -> None:
        low, high = make_lesson(pinned=True, salience=0.1), make_lesson(pinned=True, salience=0.9)
        store.put([high, low, make_lesson(salience=1.0)], {})
        assert found(store, "pinned") == [high.id, low.id]
