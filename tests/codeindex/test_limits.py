"""Each limit and weight of the code index, at its boundary; a number that decides something is written out."""

from __future__ import annotations

import os

import pytest

from holdfast.codeindex import gitstream, history, parsing, workers
from holdfast.codeindex.anchoring import innermost
from holdfast.codeindex.change import change_of
from holdfast.codeindex.changewords import signature_words
from holdfast.codeindex.definitions import Definition, title
from holdfast.codeindex.history import EPOCH_S, CommitFiles, heaviest, iter_commits, neighbours, together, weigh
from holdfast.codeindex.likeness import likeness
from holdfast.codeindex.namesearch import search
from holdfast.codeindex.refresh import Refresh, outline_for_index
from holdfast.codeindex.snapshots import ParsedFiles, SourceSnapshots
from holdfast.codeindex.source import ParsedSource, read_source
from holdfast.codeindex.trail import End, follow, follow_file
from holdfast.codeindex.walk import Tree
from holdfast.domain.symbol import Neighbour
from holdfast.stores.sqlite.indexfile import SqliteIndex
from tests.codeindex.conftest import WorkTree
from tests.codeindex.mutations import Ground


def parsed(text: str | bytes, path: str = "a.py") -> ParsedSource:
    source = read_source(path, text.encode() if isinstance(text, str) else text)
    assert source is not None
    return source


def part(text: str, path: str = "a.py") -> tuple[ParsedSource, Definition]:
    """A source and its first definition."""
    source = parsed(text, path)
    return source, source.definitions[0]


def commit(ground: Ground, **files: str | None) -> str:
    """Write or delete Python files and commit them, without an index."""
    for name, text in files.items():
        file = ground.folder / f"{name}.py"
        if text is None:
            file.unlink()
        else:
            file.write_text(text)
    return ground.commit()


def views_of(ground: Ground) -> SourceSnapshots:
    return SourceSnapshots(ground.workspace, ground.location, ParsedFiles())


def always() -> bool:
    return True


# Definitions and their heads


@pytest.mark.parametrize(("touched", "meant"), [(4, 4), (5, 0)], ids=["MAX_OVER_LINES", "one more"])
def test_lines_over_at_most_four_definitions_are_about_them(touched: int, meant: int) -> None:
    """`anchoring.MAX_OVER_LINES`."""
    source = parsed("".join(f"def f{number}(): pass\n" for number in range(touched)))
    assert len(innermost(source, 1, touched)) == meant


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("def f(a):\n    return a + a\n", "def f(b):\n    return b + b\n"),
        ("def f(a):\n    a()\n    f()\n", "def f(a):\n    f()\n    a()\n"),
    ],
    ids=["renamed", "in another order"],
)
def test_a_new_name_and_another_order_weigh_a_hundredth(then: str, now: str) -> None:
    """`change.RENAME_SHARE`."""
    assert change_of(part(then), part(now)).share == 0.01


@pytest.mark.parametrize(("stars", "words"), [(3, "signature: b added"), (4, "signature changed")])
def test_parameters_are_found_four_deep_in_a_head(stars: int, words: str) -> None:
    """`changewords.HEAD_DEPTH`."""
    then, now = (part(f"int {'*' * stars}f({names}) {{ return 0; }}\n", "a.c") for names in ("int a", "int a, int b"))
    assert signature_words(then, now) == words


@pytest.mark.parametrize("depth", [50, 51])
def test_definitions_are_told_apart_down_to_the_fiftieth_level(depth: int) -> None:
    """`definitions.DEEPEST`."""
    lines = [f"{' ' * number}def f{number}():\n" for number in range(depth)]
    source = parsed("".join(lines) + " " * depth + "pass\n")
    assert max(definition.name.count(".") for definition in source.definitions) == 49


def test_a_tests_title_is_a_name_of_at_most_120_characters() -> None:
    """`definitions.TITLE_LIMIT`."""
    assert title("x" * 120) == "x" * 120
    assert title("x" * 121) == "x" * 120


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


def test_a_signature_is_shown_to_its_three_hundredth_character() -> None:
    """`source.SIGNATURE_LIMIT`."""
    name = "f" * (300 - len("def (a)"))
    assert signature(f"def {name}(a): pass\n") == f"def {name}(a)"
    assert signature(f"def {name}f(a): pass\n") == f"def {name}f(a"


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


def test_the_place_of_a_definition_adds_to_its_likeness() -> None:
    """`likeness.PLACE_WORTH`."""
    then, now = listing("save", 20, 20, "a"), listing("store", 20, 20, "b")
    assert likeness(then, now, in_place=True) - likeness(then, now) == pytest.approx(0.15)


# Parsing


def test_patterns_beyond_the_limit_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """`parsing.MATCH_LIMIT`."""
    text = "static int *f(int a) { return 0; }\nint a = 1, b = 2;\ntypedef struct { int a; } q;\n" * 3
    whole = len(parsed(text, "a.c").definitions)
    monkeypatch.setattr(parsing, "MATCH_LIMIT", 1)
    assert len(parsed(text, "a.c").definitions) < whole


@pytest.mark.parametrize("byte", [0x80, 0xBF, 0xC0, 0xE9, 0xFF])
def test_a_byte_that_is_no_utf_8_counts_as_a_letter(byte: int) -> None:
    """`parsing._LETTERS`."""
    source = parsed(b"def f" + bytes([byte]) + b"g(): pass\nname = 'caf" + bytes([byte]) + b"'\n")
    assert [definition.own_name for definition in source.definitions] == [f"f{chr(ord('a') + byte % 26)}g"]


def test_three_megabytes_of_parsed_files_are_kept() -> None:
    """`views.KEPT_BYTES`: the file that was used longest ago goes first."""
    files = ParsedFiles()
    first = files.read("a.py", b"#" * 1_500_000)
    files.read("b.py", b"#" * 1_500_000)
    assert files.read("a.py", b"#" * 1_500_000) is first
    files.read("b.py", b"#" * 1_500_000)
    files.read("c.py", b"#")
    assert files.read("a.py", b"#" * 1_500_000) is not first


# Links between files


def linked(index: SqliteIndex, tree: WorkTree, path: str) -> dict[str, Neighbour]:
    return {neighbour.path: neighbour for neighbour in neighbours(index, str(tree.root), path, 200)}


@pytest.mark.parametrize("relation", ["edited_together", "read_before"])
def test_thirty_partners_of_a_file_are_looked_at(index: SqliteIndex, tree: WorkTree, relation: str) -> None:
    """`history.PARTNERS`."""
    partners = [f"p{number:02}" for number in range(31)]
    tree.write(dict.fromkeys(["a", *partners], "1"))
    pairs = {("a", "a"): 100.0} if relation == "edited_together" else {}
    index.put_pairs(relation, pairs | {("a", name): 90.0 - number for number, name in enumerate(partners)}, "")
    assert sorted(linked(index, tree, "a")) == partners[:30]


@pytest.mark.parametrize(("share", "is_linked"), [(0.0201, True), (0.0199, False)])
def test_a_link_below_a_fiftieth_is_too_faint(
    index: SqliteIndex, tree: WorkTree, share: float, is_linked: bool
) -> None:
    """`history.FAINT` and `history.PRIOR_COMMITS`: one commit of two files is added to those of the file."""
    tree.write({"a": "1", "b": "1"})
    own = 10.0
    prior = 2**-0.5
    index.put_pairs("edited_together", {("a", "a"): own, ("a", "b"): share * (own + prior)}, f"c@{EPOCH_S}")
    assert together(index, "a") == [("b", pytest.approx(share))]
    assert ("b" in linked(index, tree, "a")) is is_linked


@pytest.mark.parametrize(("files", "counts"), [(30, True), (31, False)])
def test_a_commit_of_more_than_thirty_files_is_a_sweep(files: int, counts: bool) -> None:
    """`history.MOST_FILES`."""
    swept = CommitFiles(id="c", at_s=EPOCH_S, files=tuple(f"{number}.py" for number in range(files)))
    assert bool(weigh([swept])) is counts


def test_the_newest_commits_are_read(repository: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    """`history.MOST_COMMITS`."""
    ids = [repository.commit({"a.py": str(number)}) for number in range(3)]
    monkeypatch.setattr(history, "MOST_COMMITS", 2)
    assert [made.id for made in iter_commits(str(repository.root), "HEAD")] == [ids[2], ids[1]]


def test_the_heaviest_pairs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """`history.MOST_PAIRS`."""
    pairs = {("a", str(number)): float(number) for number in range(5)}
    monkeypatch.setattr(history, "MOST_PAIRS", 3)
    assert heaviest(pairs) == {("a", "4"): 4.0, ("a", "3"): 3.0, ("a", "2"): 2.0}
    many = [CommitFiles(id="c", at_s=EPOCH_S, files=(f"{number}.py",)) for number in range(7)]
    assert len(weigh(many[:6])) == 6
    assert len(weigh(many)) == 3


@pytest.mark.parametrize("chunk", [1, 3, 262_144])
def test_records_are_whole_wherever_a_chunk_ends(
    repository: WorkTree, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    """`gitstream.CHUNK`."""
    repository.commit({"eins.py": "1", "zwei.py": "2"})
    monkeypatch.setattr(gitstream, "CHUNK", chunk)
    assert list(gitstream.iter_records(str(repository.root), ["ls-files", "-z"])) == ["eins.py", "zwei.py"]


# The refresh of an index


def test_a_hundred_skipped_files_are_told() -> None:
    """`walk.SKIPPED_TOLD`."""
    tree = Tree()
    for number in range(101):
        tree.skip(str(number), "binary")
    assert [path for path, _ in tree.skipped] == [str(number) for number in range(100)]


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


@pytest.mark.parametrize(("less", "parsed"), [(0, 2), (1, 3)])
def test_a_refresh_can_be_stopped_after_two_megabytes(
    index: SqliteIndex, tree: WorkTree, less: int, parsed: int
) -> None:
    """`refresh.BATCH_BYTES`."""
    tree.write({"a.txt": "a" * 1_000_000, "b.txt": "b" * (1_000_000 - less), "c.txt": "c"})
    report = Refresh(index, str(tree.root), stop=lambda: True).run()
    assert (report.files, report.parsed) == (3, parsed)


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


@pytest.mark.parametrize(("files", "count"), [(399, 0), (400, 2), (599, 2), (600, 3), (1600, 8), (9999, 8)])
def test_every_two_hundred_files_are_worth_a_worker_of_at_most_eight(
    monkeypatch: pytest.MonkeyPatch, files: int, count: int
) -> None:
    """`workers.FILES_EACH` and `workers.MOST`."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(16)), raising=False)
    monkeypatch.setattr(os, "posix_spawn", object(), raising=False)
    assert workers.worth(files) == count


# Following what has moved


def test_sixty_files_with_a_name_are_parsed(ground: Ground) -> None:
    """`namesearch.FILE_LIMIT`."""
    commit(ground, **{f"f{number:02}": "def tide(): pass\n" for number in range(61)})
    symbols = search(views_of(ground), "tide", always)
    assert sorted(symbol.path for symbol in symbols) == [f"f{number:02}.py" for number in range(60)]


TIDE = "def tide(moon, sun):\n    level = moon + sun\n    return level * 12.42\n"


@pytest.mark.parametrize(("moves", "end"), [(7, End(path="f7.py", name="tide")), (8, End())])
def test_seven_moves_of_a_definition_are_followed(ground: Ground, moves: int, end: End) -> None:
    """`trail.MAX_HOPS`: the eighth look finds it where it is."""
    since = commit(ground, f0=TIDE + "F0 = 0\n")
    for number in range(moves):
        commit(ground, **{f"f{number}": f"F{number} = 1\n", f"f{number + 1}": f"{TIDE}F{number + 1} = 0\n"})
    assert follow(views_of(ground), "f0.py", "tide", since, always) == end


@pytest.mark.parametrize(("moves", "end"), [(8, "f8.py"), (9, "")])
def test_eight_moves_of_a_file_are_followed(ground: Ground, moves: int, end: str) -> None:
    """`trail.MAX_HOPS`."""
    since = commit(ground, f0=TIDE)
    for number in range(moves):
        ground.git("mv", f"f{number}.py", f"f{number + 1}.py")
        commit(ground)
    assert follow_file(views_of(ground), "f0.py", since) == end


@pytest.mark.parametrize(("before", "end"), [(19, End(path="a.py", name="tide")), (20, End())])
def test_twenty_commits_are_looked_at_for_the_first_with_a_definition(ground: Ground, before: int, end: End) -> None:
    """`trail.FIRST_LOOKS`."""
    since = commit(ground, a="A = 0\n")
    for number in range(before):
        commit(ground, a=f"A = {number + 1}\n")
    commit(ground, a=TIDE)
    assert follow(views_of(ground), "a.py", "tide", since, always) == end


@pytest.mark.parametrize("others", [79, 80])
def test_eighty_files_of_a_commit_are_compared(ground: Ground, others: int) -> None:
    """`trail.MAX_FILES`."""
    since = commit(ground, a=TIDE + "A = 0\n")
    touched = {f"f{number:02}": "F = 1\n" for number in range(others)}
    moved = commit(ground, a="A = 1\n", z=TIDE, **touched)
    end = End(path="z.py", name="tide") if others < 80 else End(deleted_in=moved)
    assert follow(views_of(ground), "a.py", "tide", since, always) == end


@pytest.mark.parametrize(("later", "is_seen"), [(39, True), (40, False)])
def test_a_text_from_another_branch_is_looked_for_in_forty_commits(ground: Ground, later: int, is_seen: bool) -> None:
    """`verdict.SEEN_LOOKS`."""
    commit(ground, a="A = 0\n")
    ground.git("checkout", "-q", "-b", "side")
    aside = commit(ground, a=TIDE)
    ground.reindex()
    anchor = ground.anchor("a.py", "tide")
    ground.git("checkout", "-q", "main")
    merged = commit(ground, a=TIDE, b="B = 0\n")
    for number in range(later):
        commit(ground, a=f"def tide(moon):\n    return {number}\n")
    ground.reindex()
    assert anchor.commit == aside
    assert ground.verdict(anchor).anchor.commit == (merged if is_seen else aside)
