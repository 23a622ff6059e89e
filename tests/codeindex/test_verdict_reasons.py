"""A verdict's reason decides what is done with it; its words are only read by people."""

from __future__ import annotations

import pytest

from holdfast.codeindex import local
from holdfast.domain.lesson import Anchor
from holdfast.domain.project import Location, Project
from holdfast.domain.symbol import Verdict
from holdfast.domain.vocabulary import ProjectId
from holdfast.rendering.verdicts import REASONS, verdict_words
from tests.contract.memoryindex import MemoryIndexStore

ANCHOR = Anchor(path="src/store.py", symbol="Store.put", blob="git1:1", commit="c0ffee")
PLACE = Location(project=Project(id=ProjectId("p"), name="p", source="git"), root="/p", commit="c0ffee")
KEPT = {
    "same", "annotations", "layout", "body", "signature", "signature_and_body", "moved", "moved_and_changed",
    "file_changed", "deleted",
}  # fmt: skip
"""Reasons that hold while the file's content and HEAD stay; of an unverified anchor only two do."""


class Verdicts(MemoryIndexStore):
    """An index whose verdicts can be looked at and damaged."""

    @property
    def values(self) -> dict[str, str]:
        return self._verdicts


def is_kept(verdict: Verdict) -> bool:
    verdicts = Verdicts()
    local.keep_verdict(verdicts, PLACE, ANCHOR, "git1:2", verdict)  # type: ignore[arg-type]
    loaded = local.load_verdict(verdicts, None, PLACE, ANCHOR, "git1:2")  # type: ignore[arg-type]
    assert loaded in (None, verdict)
    return loaded == verdict


@pytest.mark.parametrize("reason", REASONS)
def test_only_verdicts_that_cannot_become_untrue_are_stored(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REASONS, reason, "quite other words {detail}")
    unverified = reason not in KEPT | {"gone", "file_gone", "deleted_here"}
    verdict = Verdict(freshness="unverified" if unverified else "drifted", reason=reason, detail="d", anchor=ANCHOR)
    assert is_kept(verdict) is (reason in KEPT | {"other_branch", "other_version"})


@pytest.mark.parametrize(
    ("hides", "expected"), [("body", True), ("deleted", True), ("gone", False), ("file_gone", False)]
)
def test_a_verdict_on_another_branchs_anchor_is_stored_by_what_it_hides(hides: str, expected: bool) -> None:
    assert is_kept(Verdict(freshness="unverified", reason="other_branch", hides=hides, anchor=ANCHOR)) is expected


def test_a_stored_verdict_that_is_damaged_is_queried_again() -> None:
    verdicts = Verdicts()
    local.keep_verdict(verdicts, PLACE, ANCHOR, "", Verdict(freshness="drifted", reason="body", anchor=ANCHOR))  # type: ignore[arg-type]
    for damaged in ("bodx", "drixted"):
        (key, value) = next(iter(verdicts.values.items()))
        broken = Verdicts()
        broken.values[key] = value.replace(damaged.replace("x", "y" if damaged == "bodx" else "f"), damaged)
        assert local.load_verdict(broken, None, PLACE, ANCHOR, "") is None  # type: ignore[arg-type]


def test_every_reason_has_words() -> None:
    for reason in REASONS:
        assert "{" not in verdict_words(Verdict(freshness="fresh", reason=reason, detail="D", anchor=ANCHOR))
    moved = Verdict(freshness="drifted", reason="body", where="moved to a.py", anchor=ANCHOR)
    assert verdict_words(moved) == "moved to a.py; body changed"
