"""Is what a lesson is about still as it was? Judged on reading, file by file, by git's blob ids.

This version compares whole files: a file that differs is `drifted`, wherever in it the difference is.
"""

from __future__ import annotations

from holdfast.domain.vocabulary import FRESHNESSES, Freshness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.lesson import Anchor, Lesson
    from holdfast.domain.project import Place
    from holdfast.service.parts import Parts

    Verdict = tuple[Freshness, str]


class FreshnessCheck:
    """Judges lessons against one work tree; a file is read once however many lessons are about it."""

    def __init__(self, parts: Parts, place: Place) -> None:
        self._workspace = parts.workspace
        self._place = place
        self._blobs: dict[str, str] = {}

    def judge(self, lesson: Lesson) -> Verdict:
        """The worst state over the lesson's anchors and what it means in words; fresh without any anchor."""
        if lesson.anchors and lesson.scope.project and lesson.scope.project != self._place.project.id:
            return "unverified", "recorded in another project"
        verdicts = [self._judge_anchor(anchor) for anchor in lesson.anchors if anchor.path]
        return max(verdicts, key=lambda verdict: FRESHNESSES.index(verdict[0]), default=("fresh", ""))

    def _judge_anchor(self, anchor: Anchor) -> Verdict:
        now = self._blob(anchor.path)
        if now and now == anchor.blob:
            return "fresh", ""
        if now and _comparable(now, anchor.blob):
            return "drifted", f"{anchor.path} changed since"
        if not now and not self._workspace.exists(self._place, anchor.path):
            return "orphaned", f"{anchor.path} is gone"
        return "unverified", f"{anchor.path} not verified"

    def _blob(self, path: str) -> str:
        if path not in self._blobs:
            self._blobs[path] = self._workspace.blob(self._place, path)
        return self._blobs[path]


def _comparable(one: str, other: str) -> bool:
    """Whether both are blob ids of the same kind (`git1:`)."""
    return bool(other) and one.partition(":")[0] == other.partition(":")[0]
