"""Merges two revisions of one lesson's file, for git's merge driver."""

from __future__ import annotations

from holdfast.publishing.sharing.document import join
from holdfast.publishing.sharing.lessonfile import FileProblem, parse, render


def merge_files(path: str, base: bytes, ours: bytes, theirs: bytes) -> str | None:
    """Return the merged text; None if one of the two is no lesson file, or they are different lessons.

    If both changed the rule, one stays and the other is kept beside it as a rival. The next sync makes it a lesson that
    contradicts the first.
    """
    before = parse(path, base)
    stamps = None if isinstance(before, FileProblem) else before.document.stamps
    our_file, their_file = parse(path, ours, stamps), parse(path, theirs, stamps)
    if (
        isinstance(our_file, FileProblem)
        or isinstance(their_file, FileProblem)
        or our_file.document.id != their_file.document.id
    ):
        return None
    text = render(join(our_file.document, their_file.document))
    return None if isinstance(parse(path, text.encode()), FileProblem) else text
