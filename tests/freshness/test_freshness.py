from __future__ import annotations

from pathlib import Path

from holdfast import Memory
from holdfast.domain.lesson import Anchor
from holdfast.freshness.check import FreshnessCheck
from holdfast.testing.builders import make_lesson


def judge(memory: Memory, *anchors: Anchor, **fields: object) -> tuple[str, str]:
    lesson = make_lesson(project=memory.location.project.id, anchors=anchors, **fields)
    return FreshnessCheck(memory.services, memory.location).judge(lesson)


def anchor(memory: Memory, path: str = "src/tides.py") -> Anchor:
    return Anchor(path=path, blob=memory.services.workspace.blob(memory.location, path))


def test_an_untouched_file_is_fresh(memory: Memory) -> None:
    assert judge(memory, anchor(memory)) == ("fresh", "")


def test_a_changed_file_has_drifted_and_says_so(memory: Memory, project: Path) -> None:
    anchored = anchor(memory)
    (project / "src" / "tides.py").write_text("HIGH = 5\n")
    assert judge(memory, anchored) == ("drifted", "src/tides.py changed since")


def test_a_removed_file_leaves_an_orphan(memory: Memory, project: Path) -> None:
    anchored = anchor(memory)
    (project / "src" / "tides.py").unlink()
    assert judge(memory, anchored) == ("orphaned", "src/tides.py is gone")


def test_a_file_without_a_known_fingerprint_is_not_called_stale(memory: Memory) -> None:
    assert judge(memory, Anchor(path="src/tides.py"))[0] == "unverified"
    assert judge(memory, Anchor(path="src/tides.py", blob="sha512:abc"))[0] == "unverified"
    assert judge(memory, Anchor(path="src", blob="git1:abc"))[0] == "unverified"


def test_the_worst_anchor_decides(memory: Memory, project: Path) -> None:
    anchors = anchor(memory), anchor(memory, "README.md")
    (project / "README.md").unlink()
    assert judge(memory, *anchors)[0] == "orphaned"
    assert judge(memory, anchors[0], Anchor(path="README.md"))[0] == "unverified"


def test_a_lesson_about_no_file_is_unanchored(memory: Memory) -> None:
    assert judge(memory) == ("unanchored", "")


def test_a_lesson_of_another_project_is_never_compared_with_this_one(memory: Memory) -> None:
    lesson = make_lesson(project="elsewhere", anchors=(anchor(memory),))
    assert FreshnessCheck(memory.services, memory.location).judge(lesson)[0] == "unverified"
