"""Merge: two revisions of one lesson's file become one, as git's merge driver asks for it."""

from __future__ import annotations

from holdfast.publishing.sharing.document import join
from holdfast.publishing.sharing.lessonfile import Problem, parse, render


def merge_files(path: str, base: bytes, ours: bytes, theirs: bytes) -> str | None:
    """The merged text; None where one of the two is no lesson's file, or they are two lessons.

    Of a rule that both changed, one stays and the other is kept beside it as a rival, which the next sync makes a
    lesson that contradicts the first.
    """
    before = parse(path, base)
    stamps = None if isinstance(before, Problem) else before.document.stamps
    our_file, their_file = parse(path, ours, stamps), parse(path, theirs, stamps)
    if (
        isinstance(our_file, Problem)
        or isinstance(their_file, Problem)
        or our_file.document.id != their_file.document.id
    ):
        return None
    text = render(join(our_file.document, their_file.document))
    return None if isinstance(parse(path, text.encode()), Problem) else text
