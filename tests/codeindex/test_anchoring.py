"""Which definitions a name or a span of lines means."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.codeindex.mutations import Ground, environment

SOURCE = '''\
import os

LIMIT = 10


class Store:
    """A store."""

    size = 1

    def put(self, key):
        self.last = key

        def undo():
            return key

        return undo

    def get(self, key):
        return key

    @property
    def name(self):
        return "store"


class Cache(Store):
    def get(self, key):
        return None

    def put_all(self): ...


def overload(a): ...


def overload(a, b): ...


def last():
    return os.name
'''


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "ground").mkdir()
    ground = Ground(tmp_path / "ground")
    ground.write({"a.py": SOURCE, "b.py": "def broken(:\n", "c.txt": "text\n"})
    ground.commit()
    return ground


def line(text: str) -> int:
    return SOURCE[: SOURCE.index(text)].count("\n") + 1


def meant(ground: Ground, *names: str, lines: tuple[int, int] | None = None, path: str = "a.py") -> list[str]:
    return [anchor.symbol for anchor in ground.code.anchors(ground.location, path, names, lines)]


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("Store.put", "Store.put"),
        ("put", "Store.put"),
        ("Store::put", "Store.put"),
        ("put()", "Store.put"),
        ("Store", "Store"),
        ("undo", "Store.put.undo"),
        ("put.undo", "Store.put.undo"),
        ("LIMIT", "LIMIT"),
        ("overload#2", "overload#2"),
        ("get", ""),
        ("overload", "overload"),
        ("nothing", ""),
        ("ut", ""),
        ("", ""),
        (".", ""),
    ],
)
def test_a_name_is_resolved_in_its_file_and_never_guessed(shop: Ground, name: str, symbol: str) -> None:
    assert meant(shop, name) == [symbol]


@pytest.mark.parametrize(
    ("first", "last", "symbols"),
    [
        ("self.last = key", "self.last = key", ["Store.put"]),
        ("return key\n\n        return", "return key\n\n        return", ["Store.put.undo"]),
        ("@property", "def name", ["Store.name"]),
        ("size = 1", "size = 1", ["Store.size"]),
        ("class Store", "class Store", ["Store"]),
        ("size = 1", "self.last = key", ["Store.put", "Store.size"]),
        ("return undo", "def get(self, key):\n        return key", ["Store.put", "Store.get"]),
        ("import os", "import os", [""]),
        ("LIMIT", "LIMIT", ["LIMIT"]),
        ("def last", "return os.name", ["last"]),
    ],
)
def test_lines_mean_the_innermost_definitions_over_them(
    shop: Ground, first: str, last: str, symbols: list[str]
) -> None:
    assert meant(shop, lines=(line(first), line(last))) == symbols


def test_a_span_over_most_of_a_file_is_about_the_file(shop: Ground) -> None:
    shop.write({"many.py": "\n".join(f"def f{number}(): ...\n" for number in range(9))})
    assert meant(shop, path="many.py", lines=(1, 18)) == [""]


def test_names_go_before_lines(shop: Ground) -> None:
    assert meant(shop, "last", lines=(line("size = 1"), line("size = 1"))) == ["last"]


def test_names_that_are_not_found_leave_it_to_the_lines(shop: Ground) -> None:
    assert meant(shop, "nothing", lines=(line("size = 1"), line("size = 1"))) == ["Store.size"]


def test_several_names_are_several_anchors_each_once(shop: Ground) -> None:
    assert meant(shop, "last", "Store.put", "put", "nothing") == ["last", "Store.put"]


def test_without_anything_the_file_itself_is_meant(shop: Ground) -> None:
    anchor = shop.anchor("a.py")
    assert (anchor.symbol, anchor.body_hash, anchor.signature_hash) == ("", "", "")
    assert anchor.blob.startswith("git1:")
    assert anchor.commit == shop.git("rev-parse", "HEAD")
    assert anchor.branch == "main"


def test_a_file_that_is_not_there_has_no_anchor(shop: Ground) -> None:
    assert shop.code.anchors(shop.location, "missing.py", ["f"], None) == []
    assert shop.code.anchors(shop.location, "../a.py", [], None) == []


def test_files_without_a_language_and_broken_definitions_are_anchored_as_a_whole(shop: Ground) -> None:
    assert meant(shop, "text", path="c.txt", lines=(1, 1)) == [""]
    assert meant(shop, "broken", path="b.py", lines=(1, 1)) == [""]


def test_lines_beyond_the_file_mean_the_file(shop: Ground) -> None:
    assert meant(shop, lines=(5000, 6000)) == [""]
    assert meant(shop, lines=(0, 0)) == [""]
