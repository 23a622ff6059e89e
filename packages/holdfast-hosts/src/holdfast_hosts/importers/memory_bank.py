"""Importer `memory_bank`: a Cline memory bank (memory-bank/*.md), and other agents' banks of the same form.

Text about the current work is no lesson: in `activeContext` and `progress` only sections about decisions, patterns,
preferences, learnings and known issues are read.

Source: docs.cline.bot, Memory Bank, September 2026; the form compared with banks read in public repositories, none of
which was imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from holdfast.domain.vocabulary import LessonKind
from holdfast.importers.sdk.markdown import Voice, from_piece, split_markdown
from holdfast.importers.sdk.texts import load_markdown, split_front
from holdfast.ports.plugins import CERTAIN, NO, Passage, Skipped, Source

FOLDERS = ("memory-bank/", "memory_bank/", "memorybank/")
KINDS: dict[str, LessonKind] = {"systempatterns": "convention", "techcontext": "convention", "decisionlog": "decision"}
PASSING = ("activecontext", "progress", "tasks")
"""Files about the current work."""

_LASTING = re.compile(r"\b(?:decisions?|patterns?|preferences?|learn\w*|insights?|known issues|considerations)\b", re.I)


class MemoryBank:
    """Reads one file of a memory bank."""

    id = "memory_bank/1"

    def sureness(self, source: Source) -> int:
        """Judge by the folder."""
        inside = any(f"/{folder}" in "/" + source.label.lower() for folder in FOLDERS)
        return CERTAIN if inside and source.name.endswith(".md") and source.name != "readme.md" else NO

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield its passages, without those about the progress of work."""
        _, text = split_front(load_markdown(source))
        stem = re.sub(r"\W|_", "", re.sub(r"^\d+[-_]", "", source.name.removesuffix(".md")))
        passing = stem in PASSING
        voice = Voice(KINDS.get(stem, "convention"), Passage(section="", trust="agent"))
        left_out = 0
        for piece in split_markdown(text):
            if passing and not any(_LASTING.search(name) for name in piece.headings[1:]):
                left_out += 1
            else:
                yield from from_piece(piece, voice)
        if left_out:
            yield Skipped(section="", reason=f"{left_out} passages only report the progress of work")


def make(options: Mapping[str, str]) -> MemoryBank:
    """Return the importer; it has no options."""
    return MemoryBank()
