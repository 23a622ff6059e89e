"""An error as a person reads it: what its signature masks, in its own words where they are the same each time."""

from __future__ import annotations

from holdfast.ranking.signature import error_signature

READ = 20_000
"""Characters of an output that are searched."""
LONGEST = 160
_VARYING = ("<n>", "<hex>", "<time>")
_MASKS = (*_VARYING, "<value>")


def error_line(text: str, signature: str) -> str:
    """The line that the signature was made from, with its quoted words; else the signature with `…` for its masks.

    Numbers, addresses and times stay masked: they differ from run to run, and two sightings of one problem have to
    read the same. So does a line with an absolute path, which is of one machine.
    """
    if any(mark in signature for mark in _VARYING) or "<value>" not in signature:
        return _without_masks(signature)
    for line in text[:READ].splitlines():
        if error_signature(line) == signature:
            # What stands before the signature's first word is a place or a runner's mark: `E   `, `a.ts(8,3): `.
            raw = line[max(0, line.find(signature.split(" ", 1)[0])) :].strip(" .,;:")
            return raw if _is_shareable(raw) else _without_masks(signature)
    return _without_masks(signature)


def _without_masks(signature: str) -> str:
    for mask in _MASKS:
        signature = signature.replace(mask, "…")
    return signature


def _is_shareable(line: str) -> bool:
    words = [word.strip("'\"`()[]{},;:") for word in line.split()]
    one_machine = any(word.startswith(("/", "~", "\\")) or word[1:3] == ":\\" for word in words)
    return len(line) <= LONGEST and not one_machine
