"""Constants of the use cases' shared code, each with its unit. ARCHITECTURE.md says how they are guarded."""

from __future__ import annotations

from datetime import timedelta

ANCHORS_MOST = 8
"""Most anchors of one lesson."""
PRESENT_H = 24
"""Hours for which files outside git count as what a session saw."""
OUTPUT_LIMIT = 40_000
"""Characters of a failure's output that are searched for a traceback."""
SHORTEST_LINE = 12
"""Characters from which a line that occurs once tells where an edit is."""
CROSSING_MOST = 100_000
"""Lessons that are looked through across projects."""
TRIES = 5
"""How often a step is tried that loses a race each time: with three writers on one rule, two losses are common."""
KNOWN_CHARACTERS, KNOWN_OVERHEAD = 24_000_000, 1_800
"""Characters of the lessons that a process keeps read, and what a lesson counts besides its texts: 25 MB."""
STEMS_FACTOR = 3
"""What a lesson's text counts with its stems: a stem of six characters takes a pointer in each of two lists."""
ADMITTED_WHEN_FULL = 8
"""One in so many lessons that are read is kept in place of others once that is full."""
LESSONS_A_PAGE = 1_000
"""Lessons read at a time while sifting."""
SHORTEST_REF = 4
"""Characters of an id's end that one has to give at least."""
SHORT_ID = 8
"""Characters of an id that are printed."""
SHORTEST_QUOTE = 12
"""Characters from which words are a quote: shorter ones stand everywhere."""
NAME_LIMIT = 100
"""Characters up to which a name is repeated in a sentence of ours."""
COVERAGE = 0.7
"""Share of a rule's telling words that stand close together in a text for the rule to be the text's."""
LEAST_TERMS = 3
"""Telling words from which that can be said of a rule."""
OTHERS_LEAST = 2
"""Telling words of a rule, known from others' text alone, from which the rule is theirs."""
OTHERS_SHARE = 0.15
"""The same as a share of the rule's telling words."""
PERSONS_LEAST = 3
"""Telling words that a person's words share with a rule, from which they are about it."""
PERSONS_SHARE = 0.3
"""Share of a rule's telling words that does so with fewer words."""
SPAN_LINES = 3
"""Lines of a text that are read together."""
LINE_LIMIT = 200
"""Characters of a line that are read."""
FILES_READ = 40
"""Files of a session that are read."""
FILE_BYTES = 200_000
"""Bytes of one of them that are read."""
RECENT_EVENTS = 600
"""Events before the last learnt one that still count as the present sessions'."""
STAGED_AT_MOST = 2_000
"""Staged lessons of a project that are looked at."""
PATCHES_AT_MOST = 20
"""Staged lessons, the newest, whose commits' patches are looked for where HEAD has moved."""
RULES_FILES = 200
"""Rules files of one session that are noted; the first stay."""
MOMENTS_KEPT = 3
"""Moments that a lesson keeps of how it was learnt; the first stay."""
MOMENT_TEXT = 300
"""Characters of each of their texts."""
STATED_WITHIN = 10
"""Minutes after a session's last event in which a lesson that is stated without a quote belongs to that session."""

BACK = {
    "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1), "m": timedelta(days=30),
    "y": timedelta(days=365),
}  # fmt: skip
"""What the letter of a time back from now stands for."""
LONGEST_NUMBER = 3
"""Digits of a time back from now: a longer text may name a commit."""
