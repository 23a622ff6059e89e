"""Constants of freshness: times, counts and lengths, each with its unit. ARCHITECTURE.md says how they are guarded."""

from __future__ import annotations

from datetime import timedelta

# Checking before lessons are shown

LOW_LATENCY_COMPARISONS = 4
"""Lessons a hook looks at closely: those it is about to show, and one that gives way."""
LOW_LATENCY_S = 0.12
"""Seconds from which on a hook looks no closer: a quarter of its deadline."""
WAIT_S = 5.0
"""Seconds from which on an answer that somebody waits for looks no closer; `verify` takes what it needs."""
CAVEAT_LIMIT = 160
"""Characters of a caveat: it stands in a line of at most 120 tokens."""
COMPARED_COMMITS = 40
"""Commits of a file that are looked through for the one that changed a definition."""
LINES_AROUND = 3
"""Lines of the file on each side of a definition that are shown with it."""

# Telling a session what its edits broke

SAME_EDIT = timedelta(seconds=30)
"""How long a watcher's find may precede the hook that knows whose edit it was."""
STATES_KEPT = 500
"""Most states that are kept for a work tree, the newest."""
LESSONS_A_FILE = 20
"""Most lessons of an edited file that are judged."""
JUDGED_S = 0.25
"""Seconds from which on lessons of an edited file stay unverified until the session's next call: half of a deadline."""
SESSION_NOTICES = 2
"""Most notices in a session: an agent that rewrites a file knows that it changes."""
NOTICES_TRIED = 3
"""Most lessons that are judged to find one to tell of."""

# Verifying all

EVERY_LESSON = 1_000_000
"""More lessons than a store holds: a read without a limit."""
PLACES_KEPT = 4
"""Other places of an anchor that are kept."""
SUMMARY_LIMIT = 300
"""Characters of a change's summary."""

# Watching

LOOK_S = 0.4
"""Seconds between two looks while nothing happens."""
SETTLE_S = 0.15
"""Seconds for which files must stand still before they are judged: a checkout writes file by file."""
WAITS = 20
"""Pauses after which they are judged even if they never stand still."""
LOOKS_SHARE = 25
"""Looks take at most one part in so many of the time: with thousands of files they become rarer."""
