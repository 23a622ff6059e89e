"""The edges of the code index: what is just inside, and what is not."""

from __future__ import annotations

import os

import pytest

from holdfast.codeindex import walk
from holdfast.codeindex.definitions import Definition
from holdfast.codeindex.refresh import Refresh, outline_for_index
from holdfast.codeindex.source import ParsedSource, read_source
from holdfast.codeindex.trail import likeness
from holdfast.stores.sqlite.indexfile import SqliteIndex
from tests.codeindex.conftest import WorkTree


def parsed(text: str | bytes, path: str = "a.py") -> ParsedSource:
    source = read_source(path, text.encode() if isinstance(text, str) else text)
    assert source is not None
    return source


def part(text: str, path: str = "a.py") -> tuple[ParsedSource, Definition]:
    """A source and its first definition."""
    source = parsed(text, path)
    return source, source.definitions[0]


# Definitions and their heads


def test_an_interface_keeps_its_annotations_however_deeply_they_are_nested() -> None:
    """`fingerprint.TYPED`: outside of an interface an annotation within another is no part of the fingerprint."""
    nested = "(back: (x: (y: %s) => number) => string): void"
    interfaces = [parsed(f"interface A {{ run{nested % kind}; }}\n", "a.ts") for kind in ("number", "bigint")]
    functions = [parsed(f"function run{nested % kind} {{ }}\n", "a.ts") for kind in ("number", "bigint")]
    assert len({tuple(source.own_texts(source.by_name["A.run"][0])) for source in interfaces}) == 2
    assert len({tuple(source.own_texts(source.definitions[0])) for source in functions}) == 1


def signature(text: str) -> str:
    source, definition = part(text)
    return source.signature_line(definition)


def test_three_thousand_characters_of_a_head_are_read_for_its_signature() -> None:
    """`source.SIGNATURE_READ`: what follows a run of blanks is shown up to there; a secret at the cut is seen whole."""
    start = "def f(a,"
    assert signature(f"{start}{' ' * (3000 - len(start) - 1)}b): pass\n") == "def f(a, b"
    assert signature(f"{start}{' ' * (3000 - len(start))}b): pass\n") == "def f(a,"
    secret = "Hq7fT2xWz9LmN4pR8sVy"
    shown = signature(f"def {'f' * 270}(password='{secret}'): pass\n")
    assert not any(secret[:length] in shown for length in range(3, len(secret)))


# Likeness


def listing(name: str, shared: int, words: int, own: str) -> tuple[ParsedSource, Definition]:
    """A function of that many words, of which the first are shared."""
    names = [f"w{number}x" for number in range(shared)] + [f"{own}{number}y" for number in range(words - shared)]
    return part(f"def {name}():\n    return [{', '.join(names)}]\n")


@pytest.mark.parametrize(
    ("name", "words", "least"),
    [
        ("save", 3, 3), ("save", 6, 5), ("save", 10, 6), ("save", 20, 10), ("save", 40, 17),
        ("store", 6, 6), ("store", 10, 10), ("store", 20, 16), ("store", 40, 25),
    ],
)  # fmt: skip
def test_few_words_must_be_shared_more_and_a_namesake_needs_fewer(name: str, words: int, least: int) -> None:
    """`likeness.SAME_NAME_FLOOR` and `likeness.OTHER_NAME_FLOOR`."""
    then = listing("save", words, words, "a")
    assert likeness(then, listing(name, least, words, "b")) > 0
    assert likeness(then, listing(name, least - 1, words, "b")) == 0


# Parsing


@pytest.mark.parametrize("byte", [0x80, 0xBF, 0xC0, 0xE9, 0xFF])
def test_a_byte_that_is_no_utf_8_counts_as_a_letter(byte: int) -> None:
    """`parsing._LETTERS`."""
    source = parsed(b"def f" + bytes([byte]) + b"g(): pass\nname = 'caf" + bytes([byte]) + b"'\n")
    assert [definition.own_name for definition in source.definitions] == [f"f{chr(ord('a') + byte % 26)}g"]


# Links between files


@pytest.mark.parametrize("chunk", [1, 3, 262_144])
def test_records_are_whole_wherever_a_chunk_ends(
    repository: WorkTree, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    """`walk.CHUNK`."""
    repository.commit({"eins.py": "1", "zwei.py": "2"})
    monkeypatch.setattr(walk, "CHUNK", chunk)
    assert list(walk.iter_records(str(repository.root), ["ls-files", "-z"])) == ["eins.py", "zwei.py"]


# The refresh of an index


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (b" " * 8191 + b"\0", "binary"),
        (b" " * 8192 + b"\0", ""),
        (b"#" * (1000 - len(b"@generated")) + b"@generated", "generated"),
        (b"#" * (1001 - len(b"@generated")) + b"@generated", ""),
    ],
    ids=["BINARY_HEAD", "behind it", "GENERATED_HEAD", "behind that"],
)
def test_the_head_of_a_file_says_that_it_is_binary_or_generated(content: bytes, note: str) -> None:
    """`refresh.BINARY_HEAD` and `refresh.GENERATED_HEAD`."""
    assert outline_for_index("a.txt", content, "git1:1").note == note


@pytest.mark.parametrize(("age_ns", "is_sure"), [(2_000_000_001, True), (2_000_000_000, False)])
def test_a_file_changed_within_two_seconds_may_change_unseen(
    index: SqliteIndex, tree: WorkTree, monkeypatch: pytest.MonkeyPatch, age_ns: int, is_sure: bool
) -> None:
    """`refresh.UNSURE_NS`."""
    now_ns = 1_800_000_000_000_000_000
    tree.write({"a.py": "a = 1\n"})
    os.utime(tree.root / "a.py", ns=(now_ns - age_ns, now_ns - age_ns))
    with monkeypatch.context() as patched:
        patched.setattr("time.time_ns", lambda: now_ns)
        Refresh(index, str(tree.root)).run()
    assert index.files(str(tree.root))["a.py"].mtime_ns == (now_ns - age_ns if is_sure else 0)
