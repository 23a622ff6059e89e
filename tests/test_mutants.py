"""What the mutation run changes in a file, and what it leaves alone."""

from __future__ import annotations

from scripts.mutants import find_closed_sets, find_mutants

FOLLOWING = {"fresh": "stale", "stale": "fresh"}


def changes(source: str) -> set[tuple[str, str, str]]:
    places = find_mutants("a.py", source, FOLLOWING)
    return {(mutant.kind, mutant.before, mutant.after) for place in places for mutant in place}


def test_a_whole_number_is_doubled_moved_by_one_and_set_to_nothing_unless_it_has_a_name() -> None:
    source = "LIMIT = 3\n\n\ndef f(a):\n    return a[3]\n"
    assert changes(source) == {("constant", "3", f"({number})") for number in (6, 4, 2, 0)}


def test_a_word_of_a_closed_set_becomes_the_next_one_and_any_other_text_stays() -> None:
    source = 'def state(found: bool) -> str:\n    found = "prose"\n    return "fresh"\n'
    assert ("word", "'fresh'", "'stale'") in changes(source)
    assert not any(before == "'prose'" for _, before, _ in changes(source))
    assert find_closed_sets(['State = Literal["fresh", "stale"]']) == FOLLOWING


def test_each_comparison_of_a_chain_is_moved_by_itself() -> None:
    source = "def f(a, b, c):\n    x = a < b <= c\n"
    assert changes(source) == {
        ("comparison", "a < b <= c", "(a <= b <= c)"),
        ("comparison", "a < b <= c", "(a < b < c)"),
    }


def test_a_guard_is_dropped_and_a_filter_lets_everything_through() -> None:
    source = "def f(items):\n    if items:\n        return\n    x = [item for item in items if item]\n"
    assert changes(source) == {("guard", "items", "False"), ("guard", "item", "True")}


def test_a_returned_value_is_emptied_by_its_annotation() -> None:
    assert ("return", "names", "()") in changes("def f(names) -> tuple[str, ...]:\n    return names\n")
    assert ("return", "names", "None") in changes("def f(names) -> str | None:\n    return names\n")
    assert ("return", "a", "(not (a))") in changes("def f(a) -> bool:\n    return a\n")
    assert changes("def f(a) -> Thing:\n    return a\n") == set()


def test_words_types_and_representations_are_left_alone() -> None:
    source = (
        '"""fresh."""\n'
        "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from typing import Literal\n"
        "    State = Literal['fresh', 'stale']\n"
        "class A:\n    def __repr__(self):\n        return str(3)\n"
        "def f(a: Literal['fresh']):\n    log.debug('fresh', 3)\n    zip(a, a, strict=True)\n    raise ValueError(3)\n"
    )
    assert changes(source) == set()


def test_every_change_is_of_its_own_place_also_after_letters_of_more_bytes() -> None:
    source = 'NAMES, IS_ON = "äöü", True\n'
    [place] = find_mutants("a.py", source, FOLLOWING)
    assert place[0].applied(source.encode()).decode() == 'NAMES, IS_ON = "äöü", False\n'
    assert place[0].names == {"NAMES", "IS_ON"}


def test_a_default_value_is_reached_through_its_function() -> None:
    [place] = find_mutants("a.py", "def f(\n    limit=True,\n):\n    first()\n    second()\n", FOLLOWING)
    assert place[0].lines == (4, 5)
    assert not place[0].names
