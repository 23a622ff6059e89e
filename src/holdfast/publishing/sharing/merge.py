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
    one, other = parse(path, ours, stamps), parse(path, theirs, stamps)
    if isinstance(one, Problem) or isinstance(other, Problem) or one.document.id != other.document.id:
        return None
    text = render(join(one.document, other.document))
    return None if isinstance(parse(path, text.encode()), Problem) else text
