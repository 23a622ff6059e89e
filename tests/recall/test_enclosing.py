from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.recall.surroundings import LIMIT, definitions_at, lines_of

CASES = {
    "store.py": (
        "Store.put",
        '''
class Store(Base):
    """Rows.

rows are kept by hour:
    """

    @property
    def put(
        self,
        hour: int,
    ) -> None:
        if hour:
            query = """
select *
from rows
"""
            HERE
''',
    ),
    "store.go": (
        "Store.Put",
        "func (s *Store[K]) Put(hour int) error {\n\tfor {\n\t\tif hour > 3 {\n\t\t\tHERE\n\t\t}\n\t}\n}",
    ),
    "store.rs": (
        "Rows.put",
        "impl<T: Sized> Keep<T> for Rows<T> {\n    pub(crate) fn put<'a>(\n        &self,\n    ) -> Option<u8>\n"
        "    where\n        T: Copy,\n    {\n        HERE\n    }\n}",
    ),
    "Store.java": (
        "Store.put",
        "public class Store<T> extends Base {\n  @Override\n  public <R> Map<String, R> put(String hour,\n"
        "                                Callback back)\n      throws Oops {\n    back.call(x -> {\n      HERE\n"
        "    });\n  }\n}",
    ),
    "store.ts": (
        "Store.put",
        "export default class Store {\n  async put(\n    hour: number,\n  ): Promise<void> {\n    it('x', () => {\n"
        "      HERE\n    });\n  }\n}",
    ),
    "page.jsx": ("Page", "export const Page = memo(({ ship }) => {\n  HERE\n});"),
    "view.js": ("render", "View.prototype.render = function render(name) {\n  HERE\n};"),
    "store.c": (
        "put",
        "static struct row *\nput(struct store *s,\n    int hour)\n{\nagain:\n#ifdef X\n  HERE\n#endif\n}",
    ),
    "store.cpp": ("Store.put", "namespace\n{\nvoid Store::put(int hour) const\n{\n    HERE\n}\n}"),
    "store.rb": (
        "Harbour.Store.put",
        "module Harbour\n  class Store < Base\n    def self.put(hour)\n      HERE\n    end\n  end\nend",
    ),
    "store.kt": (
        "Store.put",
        "class Store(val rows: Int) {\n    private suspend fun put(hour: Int) = run {\n        HERE\n    }\n}",
    ),
    "store.sh": ("put_all", "put_all() {\n    HERE\n}"),
    "store.php": (
        "Store.put",
        "final class Store\n{\n    public static function put(int $hour): void\n    {\n        HERE\n    }\n}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("path", CASES)
def test_what_a_line_is_in_is_read_from_the_layout(path: str) -> None:
    name, text = CASES[path]
    at = next(number for number, line in enumerate(text.split("\n"), 1) if "HERE" in line)
    assert name in definitions_at(path, text, at, at)


def test_definitions_that_begin_on_the_lines_come_before_what_they_are_in() -> None:
    text = "class Store:\n    def get(self):\n        pass\n\n    def put(self):\n        pass\n"
    assert definitions_at("a.py", text, 2, 6) == ["Store.get", "get", "Store.put", "put", "Store"]


def test_a_decorators_line_is_about_what_it_decorates() -> None:
    text = "class Store:\n    @cached\n    @safe\n    def get(self):\n        pass\n"
    assert definitions_at("a.py", text, 2, 2)[0] == "Store.get"


def test_a_line_outside_of_all_definitions_is_in_none() -> None:
    text = "import os\n\nLIMIT = 3\n\n\ndef get():\n    return LIMIT\n\n\nprint(get())\n"
    assert [definitions_at("a.py", text, at, at) for at in (1, 3, 10)] == [[], [], []]


def test_places_that_are_not_there_and_large_files_give_nothing() -> None:
    assert definitions_at("a.py", "x = 1\n", 0, 3) == []
    assert definitions_at("a.py", "x = 1\n", 5, 3) == []
    assert definitions_at("a.py", "def f():\n    x\n", 90, 99) == []
    assert definitions_at("a.py", "def f():\n    x\n" + "#" * 1_000_000, 2, 2) == []


@pytest.mark.parametrize(
    ("part", "lines"),
    [("    b\n", (2, 2)), ("a\n    b", (1, 2)), ("\nc\n", (3, 3)), ("x", None), ("a", None), ("", None), (" \n", None)],
)
def test_the_lines_of_a_part_are_found_when_it_is_there_just_once(part: str, lines: tuple[int, int] | None) -> None:
    assert lines_of("a\n    b\nc\n", part) == lines or part == "a"
    if "\n" in part.strip("\n"):
        assert lines_of("a\r\n    b\r\nc\r\n", part) == lines


def test_a_part_that_is_there_twice_is_nowhere() -> None:
    assert lines_of("a = 1\na = 1\n", "a = 1") is None


@given(
    st.sampled_from([*CASES, "x", "a.b.c"]),
    st.lists(st.text("ab(){}[]<>:=,.;\"'#@*&~\\\0\r\t _$\u202eclassdefimpl", max_size=30), max_size=12).map("\n".join),
    st.integers(-2, 14),
    st.integers(-2, 14),
)
def test_any_text_is_read_without_an_error(path: str, text: str, first: int, last: int) -> None:
    names = definitions_at(path, text, first, last)
    assert len(names) <= LIMIT
    assert all(name and not name.startswith(".") for name in names)
