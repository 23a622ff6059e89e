"""Which code a lesson is tied to: what is named, edited or failed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast import Memory
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import Anchor, Evidence, Lesson
from holdfast.domain.vocabulary import SessionId
from holdfast.learning.admission import Admission, SourceSession
from holdfast.lessons.anchoring import (
    FileReference,
    Frame,
    Subject,
    anchor_subject,
    anchored_words,
    frames_in,
    lines_of,
    parse_named,
    renew,
)
from holdfast.testing.builders import make_event
from tests.codebase import Codebase


@pytest.fixture
def memory(code: Codebase) -> Iterator[Memory]:
    with Memory(str(code.folder)) as opened:
        yield opened


def places(anchors: tuple[Anchor, ...] | Lesson) -> list[tuple[str, str]]:
    listed = anchors.anchors if isinstance(anchors, Lesson) else anchors
    return [(anchor.path, anchor.symbol) for anchor in listed]


def test_a_definition_named_in_the_words_is_the_subject(memory: Memory) -> None:
    lesson = memory.remember("Call `Store.put` under the lock", files=["src/store.py"])
    assert places(lesson) == [("src/store.py", "Store.put")]
    anchor = lesson.anchors[0]
    assert anchor.signature_hash.startswith("s1:")
    assert anchor.body_hash.startswith("b1:")
    assert (anchor.commit, anchor.branch) == (memory.location.commit, "main")


def test_a_file_named_in_the_words_is_the_subject_when_no_other_is_given(memory: Memory) -> None:
    assert places(memory.remember("In src/store.py values are kept by reference")) == [("src/store.py", "")]
    assert places(memory.remember("In src/nowhere.py values are copied")) == []


def test_a_lesson_of_every_project_is_tied_to_no_file(memory: Memory) -> None:
    assert memory.remember("Never edit src/store.py by hand", scope="user").anchors == ()


def test_a_person_names_a_line_or_a_definition(memory: Memory) -> None:
    assert places(memory.remember("Keys are text", files=["src/store.py:12"])) == [("src/store.py", "Store.get")]
    assert places(memory.remember("Rows are shared", files=["src/store.py:8-10"])) == [("src/store.py", "Store.put")]
    assert places(memory.remember("Sums are doubled", files=["src/store.py::doubled"])) == [("src/store.py", "doubled")]
    assert places(memory.remember("Lines between", files=["src/store.py:1"])) == [("src/store.py", "")]


def test_a_file_with_a_colon_in_its_name_is_meant_before_a_line(memory: Memory, code: Codebase) -> None:
    code.write("notes:12", "odd\n")
    assert parse_named(memory.services, memory.location, "notes:12", "") == FileReference(path="notes:12")
    assert parse_named(memory.services, memory.location, "notes:13", "") == FileReference(path="notes", lines=(13, 13))
    assert parse_named(memory.services, memory.location, "a.rs::Store::put", "") == FileReference(
        path="a.rs", symbol="Store.put"
    )


def test_a_symbol_without_a_file_is_found_in_the_project_when_only_one_has_that_name(
    memory: Memory, code: Codebase
) -> None:
    code.write("src/other.py", "class Cache:\n    def get(self):\n        return 1\n")
    index = memory.services.codeindex()
    assert index is not None
    index.refresh(memory.location)
    assert places(memory.remember("Sums are doubled", symbols=["doubled"])) == [("src/store.py", "doubled")]
    assert places(memory.remember("Reading never fails", symbols=["get"])) == [("", "get")]
    assert places(memory.remember("The helper `Store.put` takes any value")) == [("src/store.py", "Store.put")]


def test_a_dotted_name_is_found_before_any_index(memory: Memory, code: Codebase) -> None:
    code.write("src/shop/cart.py", "def total(rows):\n    return sum(rows)\n\n\nclass Cart:\n    size = 3\n")
    code.write("src/bank/sums.py", "def total(rows):\n    return 0\n")
    code.write("src/late.py", "from shop.cart import total\n")
    for name in ("shop.cart.total", "shop.cart:total", "shop.total", "src.shop.cart.total"):
        assert places(memory.remember(f"Rows of {name} are summed", symbols=[name])) == [("src/shop/cart.py", "total")]
    assert places(memory.remember("Carts are small", symbols=["Cart.size"])) == [("src/shop/cart.py", "Cart.size")]
    assert places(memory.remember("Totals differ", symbols=["total"])) == [("", "total")]


def test_output_names_what_a_lesson_is_anchored_to(memory: Memory, code: Codebase) -> None:
    code.write("src/two.py", "def run(a): return 1\n\n\ndef run(a, b): return 2\n")
    lesson = memory.remember("Runs are long", files=["src/two.py::run", "src/store.py::Store.put", "README.md"])
    assert anchored_words(lesson.anchors) == (
        "run (all of that name) in src/two.py, Store.put in src/store.py, all of README.md"
    )


def test_a_member_that_cannot_be_anchored_stands_for_its_class(memory: Memory, code: Codebase) -> None:
    code.write("src/pod.py", "class Pod:\n    def __init__(self):\n        self.name = 1\n")
    assert places(memory.remember("Names are numbers", files=["src/pod.py"], symbols=["Pod.name"])) == [
        ("src/pod.py", "Pod")
    ]


def test_a_name_that_could_be_two_things_is_not_guessed(memory: Memory, code: Codebase) -> None:
    code.write("src/two.py", "class A:\n    def run(self): return 1\n\n\nclass B:\n    def run(self): return 2\n")
    assert places(memory.remember("Call run() once", files=["src/two.py"])) == [("src/two.py", "")]
    assert places(memory.remember("Call `B.run` once", files=["src/two.py"])) == [("src/two.py", "B.run")]


def test_a_name_somebody_gave_on_purpose_stays_even_if_nothing_has_it(memory: Memory) -> None:
    lesson = memory.remember("Rows are flushed", files=["src/store.py"], symbols=["Store.flush"])
    assert places(lesson) == [("src/store.py", "Store.flush")]
    assert lesson.anchors[0].blob


def admitted(memory: Memory, events: list[Event], **fields: object) -> Lesson:
    """The lesson made of a detector's find that rests on these events."""
    evidence = tuple(Evidence(event=event.id, quote=event.text[:40] or "edit") for event in events)
    plain = {"kind": "fix", "insight": "It failed; an edit made it pass.", "detector": "test/1", **fields}
    source = SourceSession(session=SessionId("s"), host="claude-code", events={event.id: event for event in events})
    admission = Admission(memory.services, memory.location, source)
    admission.take([Candidate(evidence=evidence, **plain)])  # type: ignore[arg-type]
    return next(iter(admission.changed.values()))


def test_a_fix_is_about_the_definition_that_was_edited(memory: Memory) -> None:
    edit = make_event(kind="file_edit", files=("src/store.py",), new="        return self.rows.get(key)", text="")
    lesson = admitted(memory, [edit], files=("src/store.py",))
    assert places(lesson) == [("src/store.py", "Store.get")]


def test_files_a_turn_touched_give_way_to_what_was_edited(memory: Memory, code: Codebase) -> None:
    code.write("src/other.py", "RATE = 1\n")
    edit = make_event(kind="file_edit", files=("src/store.py",), new="    total = a + b\n    return total * 2", text="")
    lesson = admitted(memory, [edit], files=("src/other.py", "src/store.py"))
    assert places(lesson) == [("src/store.py", "doubled")]
    both = admitted(
        memory, [edit], files=("src/other.py", "src/store.py"), insight="`RATE` of src/other.py goes with it."
    )
    assert places(both) == [("src/other.py", "RATE"), ("src/store.py", "doubled")]


def test_a_traceback_tells_which_definition_failed(memory: Memory, code: Codebase) -> None:
    trace = f"""Traceback (most recent call last):
  File "/usr/lib/python3.11/runpy.py", line 86, in _run_code
  File "{code.folder}/src/store.py", line 13, in get
KeyError: 'rate'
"""
    failed = make_event(kind="tool_failure", text=trace, exit_code=1)
    assert places(admitted(memory, [failed], files=("src/store.py",))) == [("src/store.py", "Store.get")]
    assert places(admitted(memory, [failed])) == [("src/store.py", "Store.get")]


def test_frames_of_several_languages_are_read() -> None:
    assert frames_in('  File "/a/b.py", line 3, in f\n') == [Frame(path="/a/b.py", line=3, function="f")]
    assert frames_in("tests/test_a.py:12: AssertionError") == [Frame(path="tests/test_a.py", line=12)]
    assert frames_in("    at Store.put (/a/store.js:10:5)") == [
        Frame(path="/a/store.js", line=10, function="Store.put")
    ]
    assert frames_in("thread 'main' panicked at src/main.rs:4:5:") == [Frame(path="src/main.rs", line=4)]
    assert frames_in("\t/a/main.go:12 +0x1d") == [Frame(path="/a/main.go", line=12)]
    assert frames_in("it took from 12:30 to 13:45") == []


def test_what_was_written_is_found_again_after_another_edit_of_it() -> None:
    text = "one\n\ndef f():\n    return compute(1)\n\ndef g():\n    return 2\n"
    assert lines_of(text, "def g():\n    return 2\n") == (6, 7)
    assert lines_of(text, "def f():\n    return compute(1)\n    # more") == (4, 4)
    assert lines_of(text, "nothing of that is there") is None
    assert lines_of(text, "") is None
    assert lines_of("x = 1\nx = 1\n", "x = 1") is None


def test_an_anchor_made_anew_follows_its_definition_or_falls_back_to_the_file(memory: Memory, code: Codebase) -> None:
    anchor = memory.remember("Sums are doubled", files=["src/store.py::doubled"]).anchors[0]
    code.edit("src/store.py", "return total * 2", "return total * 3")
    now = renew(memory.services, memory.location, anchor)
    assert now is not None
    assert now.symbol == "doubled"
    assert now.body_hash != anchor.body_hash
    code.edit("src/store.py", "def doubled(a, b):\n    total = a + b\n    return total * 3\n", "")
    gone = renew(memory.services, memory.location, anchor)
    assert gone is not None
    assert (gone.path, gone.symbol) == ("src/store.py", "")
    (code.folder / "src" / "store.py").unlink()
    assert renew(memory.services, memory.location, anchor) is None


@pytest.mark.parametrize("path", ["src", "gone.py", "../outside.py", "a\0b", ""])
def test_a_subject_that_is_no_file_never_raises(memory: Memory, path: str) -> None:
    anchors = anchor_subject(memory.services, memory.location, Subject(files=(path,), words="see Store.put"))
    assert [anchor.symbol for anchor in anchors] == [""]


def test_a_whole_file_gives_way_to_a_definition_in_it_when_it_is_stated_again(memory: Memory) -> None:
    memory.remember("Values are kept by reference", files=["src/store.py"])
    again = memory.remember("Values are kept by reference", files=["src/store.py::Store.put", "README.md"])
    assert places(again) == [("src/store.py", "Store.put"), ("README.md", "")]
