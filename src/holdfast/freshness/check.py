"""Checks, when a lesson is read, whether its code is unchanged: by git's blob ids, then by structure.

A file with the blob of the anchor is fresh and costs one hash. Otherwise the code index decides; without one, whole
files are compared. Nothing here raises for the state of the disk, of git or of the index: what cannot be decided is
`unverified`, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.domain.lesson import Anchor, Lesson
from holdfast.domain.project import Location
from holdfast.domain.symbol import Verdict
from holdfast.domain.vocabulary import FRESHNESSES, Freshness
from holdfast.errors import HoldfastError
from holdfast.freshness.tuning import (
    CAVEAT_LIMIT,
    LOW_LATENCY_COMPARISONS,
    LOW_LATENCY_S,
    WAIT_S,
)
from holdfast.ports.services import Services
from holdfast.rendering.verdicts import verdict_words

Judged = tuple[Freshness, str]
AnchorVerdict = tuple[Anchor, Verdict]


class FreshnessCheck:
    """Checks lessons against one work tree; each anchor is checked once, however many lessons have it.

    `within_s` limits the time for close checks, counted from now; where a host waits, the limit is shorter.
    """

    def __init__(self, services: Services, location: Location, within_s: float = WAIT_S) -> None:
        self._services = services
        self._location = location
        self._blobs: dict[str, str] = {}
        self._verdicts: dict[Anchor, Verdict] = {}
        self._quick_checked: set[str] = set()
        """Ids of lessons that were only compared by blob."""
        self._until = services.clock.elapsed_s() + (LOW_LATENCY_S if services.low_latency else within_s)
        # Close checks that `next_to_verify` may still hand out; the number shrinks with each one.
        self._comparisons_left = LOW_LATENCY_COMPARISONS
        self._folder_obstacle: str | None = None
        """Why the project's folder cannot be read, once it was checked; empty when it can."""

    def judge(self, lesson: Lesson) -> Judged:
        """Return the worst state of the lesson's anchors and its caveat; unanchored without anchors."""
        return worst(self.anchor_verdicts(lesson))

    def share(self, lesson: Lesson) -> float:
        """Return how much of the code in the worst state changed, 0 to 1, as far as it was checked; else 1."""
        seen = ((anchor, self._verdicts[anchor]) for anchor in lesson.anchors if anchor in self._verdicts)
        look = _worst_verdict(tuple(seen))
        return look[1].share if look else 1.0

    def anchor_verdicts(self, lesson: Lesson) -> tuple[AnchorVerdict, ...]:
        """Return each anchor with its verdict, in the order of the lesson's anchors; skip anchors without a file."""
        anchors = [anchor for anchor in lesson.anchors if anchor.path]
        if anchors and not self._is_ours(lesson):
            elsewhere = _unverified(anchors[0], "other_project")
            return ((anchors[0], elsewhere),)
        return tuple((anchor, self._verdict(anchor)) for anchor in anchors)

    def quick_check(self, lesson: Lesson) -> Judged:
        """Return `judge`'s answer; where a host waits, one by blobs only, until `next_to_verify` picks the lesson."""
        if not self._services.low_latency or self.is_untouched(lesson):
            return self.judge(lesson)
        self._quick_checked.add(lesson.id)
        changed = next(anchor for anchor in lesson.anchors if anchor.path and not self._is_same(anchor))
        return "unverified", caveat(changed, _unverified(changed, "file_changed"))

    def next_to_verify(self, shown: Sequence[Lesson]) -> Lesson | None:
        """Return the first of the lessons to check closely now; None when all are, or time is up."""
        lesson = next((lesson for lesson in shown if lesson.id in self._quick_checked), None)
        if lesson is None or not self._comparisons_left or self._is_late():
            return None
        self._comparisons_left -= 1
        self._quick_checked.discard(lesson.id)
        return lesson

    def is_untouched(self, lesson: Lesson) -> bool:
        """Return whether every anchored file is byte for byte as it was, or the lesson belongs to another project."""
        return not self._is_ours(lesson) or all(self._is_same(anchor) for anchor in lesson.anchors if anchor.path)

    def _is_ours(self, lesson: Lesson) -> bool:
        return lesson.scope.project in ("", self._location.project.id)

    def _is_same(self, anchor: Anchor) -> bool:
        if anchor.path not in self._blobs:
            self._blobs[anchor.path] = self._services.workspace.blob(self._location, anchor.path)
        return bool(anchor.blob) and self._blobs[anchor.path] == anchor.blob

    def _verdict(self, anchor: Anchor) -> Verdict:
        if anchor not in self._verdicts:
            self._verdicts[anchor] = (
                Verdict(freshness="fresh", anchor=anchor) if self._is_same(anchor) else self._compare(anchor)
            )
        return self._verdicts[anchor]

    def _compare(self, anchor: Anchor) -> Verdict:
        obstacle = self._obstacle(anchor)
        if obstacle:
            return _unverified(anchor, obstacle)
        if not (anchor.blob or anchor.body_hash or anchor.signature_hash):
            return _unverified(anchor, "not_recorded")
        if self._is_late():
            return _unverified(anchor, "no_time_to_compare")
        try:
            index = self._services.codeindex()
            return index.verdict(self._location, anchor) if index else self._compare_files(anchor)
        except Exception as exc:  # a lesson that cannot be checked is still shown, with the reason
            return _unverified(anchor, "not_compared", str(exc))

    def _is_late(self) -> bool:
        return self._services.clock.elapsed_s() > self._until

    def _obstacle(self, anchor: Anchor) -> str:
        """Return the reason why there is nothing to compare with; empty when there is."""
        if not self._location.has_work_tree:
            return "no_clone"
        if self._blobs[anchor.path]:
            return ""
        workspace = self._services.workspace
        if workspace.exists(self._location, anchor.path):
            return "unreadable"
        if self._folder_obstacle is None:  # located once, however many files are missing
            try:
                workspace.locate(self._location.root)
                self._folder_obstacle = ""
            except HoldfastError:
                self._folder_obstacle = "no_folder"
        return self._folder_obstacle

    def _compare_files(self, anchor: Anchor) -> Verdict:
        """Compare whole files without a code index: a file that differs anywhere has drifted."""
        now = self._blobs[anchor.path]
        if not now:
            return Verdict(freshness="orphaned", reason="file_gone", anchor=anchor)
        comparable = bool(anchor.blob) and now.partition(":")[0] == anchor.blob.partition(":")[0]
        if not comparable:
            return _unverified(anchor, "no_fingerprint")
        return Verdict(freshness="drifted", reason="file_changed", anchor=replace(anchor, blob=now))


def worst(anchor_verdicts: Sequence[AnchorVerdict]) -> Judged:
    """Return the worst state and the caveat of the first anchor in it; unanchored, without words, if there are none."""
    look = _worst_verdict(anchor_verdicts)
    return (look[1].freshness, caveat(*look)) if look else ("unanchored", "")


def _worst_verdict(anchor_verdicts: Sequence[AnchorVerdict]) -> AnchorVerdict | None:
    return max(anchor_verdicts, key=lambda look: FRESHNESSES.index(look[1].freshness), default=None)


def caveat(anchor: Anchor, verdict: Verdict) -> str:
    """Describe for a reader what changed in the anchored code; empty when it is fresh.

    For example `Store.put signature: timeout added`, `put moved to src/wal.py`, `src/wal.py is gone`.
    """
    if verdict.freshness == "fresh":
        return ""
    words = verdict_words(verdict) or verdict.freshness
    name = "" if _names(words, anchor) else anchor.symbol or anchor.path
    prefix = "not verified: " if verdict.freshness == "unverified" else ""
    text = f"{name} {prefix}{words}".strip()
    return text if len(text) <= CAVEAT_LIMIT else text[: CAVEAT_LIMIT - 1].rstrip() + "…"


def _names(words: str, anchor: Anchor) -> bool:
    """Return whether the words already name the anchored file or symbol."""
    return anchor.path in words or anchor.symbol in words.replace(",", " ").split()


def _unverified(anchor: Anchor, reason: str, detail: str = "") -> Verdict:
    return Verdict(freshness="unverified", reason=reason, detail=detail, anchor=anchor)
