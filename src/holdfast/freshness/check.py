"""Is what a lesson is about still as it was? Judged on reading: by git's blob ids, and by structure where they differ.

A file with the blob it was anchored at is fresh and costs one hash. Anything else is the code index's to tell; without
one, files are compared as a whole. Nothing here raises for the state of the disk, of git or of the index: what cannot
be told is `unverified`, with the reason. Lean: a hook judges what it is about to show.
"""

from __future__ import annotations

from holdfast.domain.symbol import Verdict
from holdfast.domain.vocabulary import FRESHNESSES, Freshness
from holdfast.errors import HoldfastError
from holdfast.freshness.tuning import (
    CAVEAT_LIMIT,
    HASTY_LOOKS,
    HASTY_S,
    WAIT_S,
)
from holdfast.lean.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.lesson import Anchor, Lesson
    from holdfast.domain.project import Place
    from holdfast.ports.parts import Parts

    Judged = tuple[Freshness, str]
    Look = tuple[Anchor, Verdict]


class FreshnessCheck:
    """Judges lessons against one work tree; an anchor is looked at once however many lessons have it.

    `within_s` is how long it may look closely, counted from now; less where a host waits.
    """

    def __init__(self, parts: Parts, place: Place, within_s: float = WAIT_S) -> None:
        self._parts = parts
        self._place = place
        self._blobs: dict[str, str] = {}
        self._verdicts: dict[Anchor, Verdict] = {}
        self._glanced: set[str] = set()
        """Ids of lessons that have only been glanced at."""
        self._until = parts.clock.elapsed_s() + (HASTY_S if parts.hasty else within_s)
        self._looks = HASTY_LOOKS
        self._folder_obstacle: str | None = None
        """Why the project's folder cannot be looked at, once somebody has asked; empty when it can."""

    def judge(self, lesson: Lesson) -> Judged:
        """The worst state over the lesson's anchors and what it means in words; unanchored without any."""
        return worst(self.looks(lesson))

    def share(self, lesson: Lesson) -> float:
        """How much of the code in the worst state changed, 0 to 1, as far as it was looked at; else 1."""
        seen = ((anchor, self._verdicts[anchor]) for anchor in lesson.anchors if anchor in self._verdicts)
        look = _worst_look(tuple(seen))
        return look[1].share if look else 1.0

    def looks(self, lesson: Lesson) -> tuple[Look, ...]:
        """Each anchor with its state, in the order of the lesson's anchors; those without a file are left out."""
        anchors = [anchor for anchor in lesson.anchors if anchor.path]
        if anchors and not self._is_ours(lesson):
            elsewhere = _unverified(anchors[0], "other_project")
            return ((anchors[0], elsewhere),)
        return tuple((anchor, self._look(anchor)) for anchor in anchors)

    def glance(self, lesson: Lesson) -> Judged:
        """`judge`; where a host waits only as far as blobs tell, and `next_look` says which to judge after all."""
        if not self._parts.hasty or self.is_untouched(lesson):
            return self.judge(lesson)
        self._glanced.add(lesson.id)
        changed = next(anchor for anchor in lesson.anchors if anchor.path and not self._is_same(anchor))
        return "unverified", caveat(changed, _unverified(changed, "file_changed"))

    def next_look(self, shown: Sequence[Lesson]) -> Lesson | None:
        """The first of the lessons that is to be judged closely now; None when all are, or there is no time."""
        lesson = next((lesson for lesson in shown if lesson.id in self._glanced), None)
        if lesson is None or not self._looks or self._is_late():
            return None
        self._looks -= 1
        self._glanced.discard(lesson.id)
        return lesson

    def is_untouched(self, lesson: Lesson) -> bool:
        """Whether every anchored file is byte for byte as it was, or the lesson is none of this project's."""
        return not self._is_ours(lesson) or all(self._is_same(anchor) for anchor in lesson.anchors if anchor.path)

    def _is_ours(self, lesson: Lesson) -> bool:
        return lesson.scope.project in ("", self._place.project.id)

    def _is_same(self, anchor: Anchor) -> bool:
        if anchor.path not in self._blobs:
            self._blobs[anchor.path] = self._parts.workspace.blob(self._place, anchor.path)
        return bool(anchor.blob) and self._blobs[anchor.path] == anchor.blob

    def _look(self, anchor: Anchor) -> Verdict:
        if anchor not in self._verdicts:
            self._verdicts[anchor] = (
                Verdict(freshness="fresh", anchor=anchor) if self._is_same(anchor) else self._look_closely(anchor)
            )
        return self._verdicts[anchor]

    def _look_closely(self, anchor: Anchor) -> Verdict:
        obstacle = self._obstacle(anchor)
        if obstacle:
            return _unverified(anchor, obstacle)
        if not (anchor.blob or anchor.body_hash or anchor.signature_hash):
            return _unverified(anchor, "not_recorded")
        if self._is_late():
            return _unverified(anchor, "no_time_to_compare")
        try:
            index = self._parts.codeindex()
            return index.verdict(self._place, anchor) if index else self._compare_files(anchor)
        except Exception as exc:  # a lesson that cannot be checked is still worth showing, and says so
            return _unverified(anchor, "not_compared", str(exc))

    def _is_late(self) -> bool:
        return self._parts.clock.elapsed_s() > self._until

    def _obstacle(self, anchor: Anchor) -> str:
        """The reason why there is nothing to compare with; empty when there is."""
        if self._blobs[anchor.path]:
            return ""
        workspace = self._parts.workspace
        if workspace.exists(self._place, anchor.path):
            return "unreadable"
        if self._folder_obstacle is None:  # located once, however many files have vanished
            try:
                workspace.locate(self._place.root)
                self._folder_obstacle = ""
            except HoldfastError:
                self._folder_obstacle = "no_folder"
        return self._folder_obstacle

    def _compare_files(self, anchor: Anchor) -> Verdict:
        """Without a code index: a file that differs has drifted, wherever in it the difference is."""
        now = self._blobs[anchor.path]
        if not now:
            return Verdict(freshness="orphaned", reason="file_gone", anchor=anchor)
        comparable = bool(anchor.blob) and now.partition(":")[0] == anchor.blob.partition(":")[0]
        if not comparable:
            return _unverified(anchor, "no_fingerprint")
        return Verdict(freshness="drifted", reason="file_changed", anchor=replace(anchor, blob=now))


def worst(looks: Sequence[Look]) -> Judged:
    """The worst state and the words of the first anchor in it; unanchored, without words, of none."""
    look = _worst_look(looks)
    return (look[1].freshness, caveat(*look)) if look else ("unanchored", "")


def _worst_look(looks: Sequence[Look]) -> Look | None:
    return max(looks, key=lambda look: FRESHNESSES.index(look[1].freshness), default=None)


def caveat(anchor: Anchor, verdict: Verdict) -> str:
    """What became of what was anchored, for whoever reads the lesson; empty when it is fresh.

    For example `Store.put signature: timeout added`, `put moved to src/wal.py`, `src/wal.py is gone`.
    """
    if verdict.freshness == "fresh":
        return ""
    words = verdict.words or verdict.freshness
    name = "" if _names(words, anchor) else anchor.symbol or anchor.path
    prefix = "not verified: " if verdict.freshness == "unverified" else ""
    text = f"{name} {prefix}{words}".strip()
    return text if len(text) <= CAVEAT_LIMIT else text[: CAVEAT_LIMIT - 1].rstrip() + "…"


def _names(words: str, anchor: Anchor) -> bool:
    """Whether the words say themselves what they are about."""
    return anchor.path in words or anchor.symbol in words.replace(",", " ").split()


def _unverified(anchor: Anchor, reason: str, detail: str = "") -> Verdict:
    return Verdict(freshness="unverified", reason=reason, detail=detail, anchor=anchor)
