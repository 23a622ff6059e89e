"""The map sums lessons, freshness and trouble by file and folder, and says what it does not know."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.project import Location, Project
from holdfast.domain.statefamilies import SESSION_TROUBLE
from holdfast.lean.texts import dumps
from holdfast.reports.areagraph import graph_of
from holdfast.reports.map import CodeMap, MapArea, map_of
from holdfast.reports.tuning import CHECKED_LESSONS, GRAPH_LESSONS
from holdfast.workspace.bare import server_location
from tests.codebase import Codebase


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A code base with some folders."""
    codebase = Codebase(tmp_path / "harbour")
    codebase.write("src/rows/read.py", "def read(path):\n    return open(path).read()\n")
    codebase.write("src/rows/write.py", "def write(path, text):\n    open(path, 'w').write(text)\n" * 4)
    codebase.write("deep/only/one/a.py", "A = 1\n")
    codebase.write("deep/only/one/b.py", "B = 1\n")
    codebase.write("photo.png", "not really")
    codebase.commit()
    return codebase.folder


def trouble(memory: Memory, **files: list[int]) -> None:
    named = {name.replace("__", "/") + ".py": counts for name, counts in files.items()}
    value = dumps({"at": "2026-01-05T00:00:00+00:00", "files": named})
    memory.services.store.set_rows(SESSION_TROUBLE, memory.location.project.id, {f"s{value}": value})


def made(memory: Memory, area: str = "") -> CodeMap:
    return map_of(memory.services, memory.location, area)


def inside(area: MapArea) -> dict[str, MapArea]:
    return {each.path: each for each in area.inner}


def test_sizes_are_those_of_the_code(memory: Memory) -> None:
    areas = inside(made(memory).whole)
    assert set(areas) == {"src", "deep/only/one", "README.md"}
    assert areas["README.md"].size == len("# harbour\n")
    assert areas["src"].size == sum(each.size for each in areas["src"].inner)
    assert made(memory).has_code


def test_a_folder_with_one_folder_is_out_of_the_way(memory: Memory) -> None:
    areas = inside(made(memory).whole)
    assert areas["deep/only/one"].is_folder
    assert set(inside(areas["deep/only/one"])) == {"deep/only/one/a.py", "deep/only/one/b.py"}


def test_lessons_count_at_each_file_and_once_in_all(memory: Memory) -> None:
    memory.remember("Read rows only once.", files=["src/rows/read.py", "src/rows/write.py"])
    memory.remember("Write rows with a newline.", files=["src/rows/write.py"])
    memory.remember("Keep the harbour clean.")
    report = made(memory, "src")
    assert (report.lessons, report.known_files, report.whole.lessons) == (2, 2, 3)
    assert [(area.path, area.lessons) for area in report.best_known] == [
        ("src/rows/write.py", 2), ("src/rows/read.py", 1),
    ]  # fmt: skip
    assert inside(report.whole)["src/rows"].lessons == 3


def test_a_lesson_whose_code_changed_is_stale(memory: Memory, project: Path) -> None:
    memory.remember("Read rows only once.", files=["src/rows/read.py"], symbols=["read"])
    memory.remember("Write rows with a newline.", files=["src/rows/write.py"])
    assert made(memory).stale == ()
    (project / "src/rows/read.py").write_text("def read(path):\n    return path.read_bytes().decode()\n")
    report = made(memory)
    assert [area.path for area in report.stale] == ["src/rows/read.py"]
    assert (report.stale_lessons, report.checked, report.read, report.whole.stale) == (1, 2, 2, 1)


def test_lessons_about_files_that_are_gone_stay_on_the_map(memory: Memory, project: Path) -> None:
    memory.remember("Read rows only once.", files=["src/rows/read.py"])
    (project / "src/rows/read.py").unlink()
    Codebase.git(_at(project), "rm", "-q", "--cached", "src/rows/read.py")
    report = made(memory)
    assert report.gone == 1
    assert [(area.path, area.size) for area in report.stale] == [("src/rows/read.py", 0)]


def _at(folder: Path) -> Codebase:
    codebase = Codebase.__new__(Codebase)
    codebase.folder = folder
    return codebase


def test_trouble_without_a_lesson_is_named_first(memory: Memory) -> None:
    memory.remember("Write rows with a newline.", files=["src/rows/write.py"])
    trouble(memory, src__rows__write=[9, 9, 0], src__rows__read=[1, 1, 0], src__store=[1, 0, 5])
    report = made(memory)
    assert [(area.path, area.failures, area.reverted) for area in report.gaps] == [("src/rows/read.py", 1, 1)]
    assert (report.whole.gaps, report.whole.failures, report.whole.missed) == (1, 11, 5)
    assert report.since is not None
    assert report.sessions == 1


def test_names_of_other_machines_and_bare_names_find_their_file(memory: Memory) -> None:
    value = dumps({"at": "2026-01-05T00:00:00+00:00", "files": {
        "/home/ann/elsewhere/src/rows/read.py": [1, 0, 0], "read.py": [1, 0, 0], "src/rows/read.py": [1, 0, 0],
        "/usr/lib/python3/README.md": [7, 0, 0], "lib/read.py": [7, 0, 0], "nothing.py": [7, 0, 0],
    }})  # fmt: skip
    memory.services.store.set_rows(SESSION_TROUBLE, memory.location.project.id, {"s": value})
    report = made(memory)
    assert [(area.path, area.failures) for area in report.gaps] == [("src/rows/read.py", 3)]
    assert report.whole.failures == 3


def test_a_bare_name_that_two_files_have_means_neither(memory: Memory, project: Path) -> None:
    (project / "deep/read.py").write_text("")
    value = dumps({"at": "2026-01-05T00:00:00+00:00", "files": {"read.py": [5, 0, 0]}})
    memory.services.store.set_rows(SESSION_TROUBLE, memory.location.project.id, {"s": value})
    assert made(memory).gaps == ()


def test_an_area_holds_nothing_of_its_neighbours(memory: Memory, project: Path) -> None:
    (project / "src2").mkdir()
    (project / "src2/a.py").write_text("A = 1\n")
    assert all(path.startswith("src/") for path in inside(made(memory, "src").whole))
    assert made(memory, "nowhere").whole.files == 0
    assert made(memory, "/src/").whole.path == "src"


def test_only_so_many_lessons_are_checked_and_the_report_says_so(memory: Memory) -> None:
    for number in range(CHECKED_LESSONS + 5):
        memory.remember(f"Rule number {number} of rows: read {number} at once.", files=["src/rows/read.py"])
    report = made(memory)
    assert (report.read, report.lessons, report.counted) == (CHECKED_LESSONS, CHECKED_LESSONS + 5, CHECKED_LESSONS + 5)
    assert inside(inside(report.whole)["src"])["src/rows"].lessons == CHECKED_LESSONS + 5


def test_a_count_that_is_kept_is_made_anew_when_memory_changes(memory: Memory) -> None:
    assert made(memory).lessons == 0
    memory.remember("Read rows only once.", files=["src/rows/read.py"])
    assert made(memory).lessons == 1
    lesson = memory.remember("Write rows with a newline.", files=["src/rows/write.py"])
    assert made(memory).lessons == 2
    memory.forget(lesson.id)
    assert made(memory).lessons == 1


def test_more_lessons_than_fit_are_counted_from_the_newest(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.reports.map.COUNTED_LESSONS", 2)
    for name in ("read", "write", "read"):
        memory.remember(f"Rule {name} {memory.services.clock.new_id()}.", files=[f"src/rows/{name}.py"])
    report = made(memory)
    assert (report.lessons, report.counted) == (3, 2)
    assert [(area.path, area.lessons) for area in report.best_known] == [
        ("src/rows/read.py", 1), ("src/rows/write.py", 1),
    ]  # fmt: skip


def test_a_map_for_anybody_counts_only_what_is_for_them(memory: Memory) -> None:
    public = memory.remember("Read rows only once.", files=["src/rows/read.py"])
    memory.remember("Write rows with a newline.", files=["src/rows/write.py"], private=True)
    trouble(memory, src__store=[5, 5, 0])
    report = map_of(memory.services, memory.location, "", lambda lesson: lesson.id == public.id)
    assert (report.lessons, report.known_files, report.whole.lessons, report.read) == (1, 1, 1, 1)
    assert [area.path for area in report.best_known] == ["src/rows/read.py"]
    assert (report.gaps, report.sessions, report.whole.failures) == ((), 0, 0)


def test_without_a_work_tree_nothing_is_said_about_code(memory: Memory) -> None:
    memory.remember("Read rows only once.", files=["src/rows/read.py"])
    location = server_location(memory.location.project)
    report = map_of(memory.services, location)
    assert not report.has_code
    assert (report.lessons, report.read, report.stale, report.gone) == (1, 0, (), 0)
    assert [area.path for area in report.whole.inner] == ["src/rows"]


def test_what_is_kept_unconfirmed_is_not_on_the_map(memory: Memory) -> None:
    lesson = memory.remember("Read rows only once.", files=["src/rows/read.py"])
    memory.forget(lesson.id)
    assert made(memory).lessons == 0


def test_a_folder_that_is_no_project_has_no_sizes(memory: Memory) -> None:
    index = memory.services.codeindex()
    assert index is not None
    everything = Location(project=Project(id=memory.location.project.id, name="x", source="path"), root="/")
    assert index.sizes(everything) == {}


def test_sizes_are_listed_anew_when_the_index_of_git_changes(memory: Memory, project: Path) -> None:
    index = memory.services.codeindex()
    assert index is not None
    assert "photo.png" not in index.sizes(memory.location)
    (project / "src/new.py").write_text("NEW = 1\n")
    _at(project).commit()
    assert index.sizes(memory.location)["src/new.py"] == 8


# The graph of an area


def test_the_graph_links_lessons_with_files_and_symbols(memory: Memory, project: Path) -> None:
    memory.remember("Read rows only once.", files=["src/rows/read.py"], symbols=["read"])
    memory.remember("Stores have a limit.", files=["src/store.py"])
    (project / "src/rows/read.py").write_text("def read(path):\n    return path.read_bytes().decode()\n")
    graph = graph_of(memory.services, memory.location, "src/rows")
    assert [(place.path, place.symbol) for place in graph.places] == [("src/rows/read.py", "read")]
    (lesson,) = graph.lessons
    assert [(link.place, link.freshness) for link in lesson.links] == [(0, lesson.freshness)]
    assert lesson.freshness == "drifted"
    assert "read" in lesson.caveat
    assert len(graph_of(memory.services, memory.location).lessons) == 2


def test_a_file_is_an_area_of_the_graph(memory: Memory) -> None:
    memory.remember("Read rows only once.", files=["src/rows/read.py", "src/rows/write.py"])
    graph = graph_of(memory.services, memory.location, "src/rows/read.py")
    assert graph.total == 1
    assert [place.path for place in graph.places] == ["src/rows/read.py"]


def test_the_graph_says_what_it_leaves_out(memory: Memory) -> None:
    for number in range(GRAPH_LESSONS + 3):
        memory.remember(f"Rule number {number} of rows: read {number} at once.", files=["src/rows/read.py"])
    graph = graph_of(memory.services, memory.location, "src")
    assert (len(graph.lessons), graph.about_code, graph.total) == (GRAPH_LESSONS, GRAPH_LESSONS + 3, GRAPH_LESSONS + 3)


def test_lessons_about_no_file_are_neither_drawn_nor_compared(memory: Memory) -> None:
    memory.remember("Read rows only once.", files=["src/rows/read.py"])
    memory.remember("Keep the harbour clean.")
    graph = graph_of(memory.services, memory.location)
    assert (len(graph.lessons), graph.about_code, graph.read, graph.total) == (1, 1, 2, 2)
    assert (made(memory).read, made(memory).checked, made(memory).lessons) == (1, 1, 2)


def test_the_graph_shows_what_its_reader_may_see(memory: Memory) -> None:
    memory.remember("Read rows only once.", files=["src/rows/read.py"])
    assert graph_of(memory.services, memory.location, "src", lambda lesson: False).lessons == ()


def test_lessons_of_an_area_are_not_hidden_by_a_name_that_begins_alike(memory: Memory, project: Path) -> None:
    (project / "src/rows.py").write_text("ROWS = 1\n")
    memory.remember("Rows are few.", files=["src/rows.py"])
    memory.remember("Read rows only once.", files=["src/rows/read.py"])
    assert [lesson.title for lesson in graph_of(memory.services, memory.location, "src/rows").lessons] == [
        "Read rows only once"
    ]
    assert replace(made(memory, "src/rows").whole, inner=()).lessons == 1
