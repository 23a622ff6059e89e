"""Constants of the reports: counts and lengths, each with its unit."""

from __future__ import annotations

# The digest

DIGEST_ITEMS = {"learnt": 8, "changed": 5, "contradicted": 4, "resolved": 3, "stale": 5, "waits": 4}
"""Most lessons that each section of a digest shows: about 400 words in all, which are read in two minutes."""
REFERRED = 3
"""Most other lessons that an item names: those that it replaced, or that contradict it."""
CHANGES_READ = 500
"""Changes that are read at first to find those of a period; the number doubles until the period is covered."""
GET_TOGETHER = 64
"""Lessons that are read in one call as they were then."""
CHANGED_FILES = 200
"""Most changed files whose lessons are looked up one file at a time; above, all lessons about code are checked."""

# The review queue

DELIVERIES_READ = 10_000
"""Newest deliveries of the project that say what sessions are told most."""
QUICK_MOST = 200
"""Newest lessons that wait, which are listed before the memory was compared."""
QUOTES_SHOWN, QUOTE_SHOWN = 2, 400
"""Quotes of one lesson, and characters of one quote, that are shown."""
DIFF_LINES = 16
"""Lines of changed code that are shown of one lesson."""
DIGITS = 16
"""Hexadecimal digits of a digest."""
