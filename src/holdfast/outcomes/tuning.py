"""Constants of outcomes: counts, shares and spans, each with its unit. ARCHITECTURE.md says how they are guarded."""

from __future__ import annotations

from datetime import timedelta

# Judging a delivery

HORIZON = 200
"""Events after a delivery by which it is judged."""
IDLE = timedelta(hours=12)
"""A session nothing was heard of for so long is over."""
NEAR_CALL = 3
"""Events on each side of a delivery among which the call is looked for that caused it."""
HABIT_EVENTS = 5_000
"""Newest events of a project in which an act is looked for that sessions do untold."""
HABIT_SESSIONS = 2
"""Sessions that did it untold, from which it is a habit and no sign of heeding."""
LEAST_EDITS = 3
"""Edits after a delivery, with nothing done that it says, from which an order counts as ignored."""
CLOSE_SEARCHES = 12
"""Events between a search and the file where it ended."""
LEAST_SHARE = 0.5
"""Share of a rule's weight from which a lesson says the same in other words."""
LEAST_WORDS = 3
"""Words of a rule from which it does."""
SHORTEST_NAME = 4
"""Characters from which a name in a lesson is looked for in what was done."""
LONGEST_NAME = 120
"""Characters up to which it is."""
MOST_NAMES = 24
"""Names of one lesson that are looked for; an imported page has hundreds."""
DENIAL_REACH = 14
"""Characters between a denial and the verb it denies: `do not ever use`."""
WORDS_LIMIT = 200
"""Characters of evidence that an outcome keeps."""

# How much is read

OPEN_MOST = 500
"""Sessions whose deliveries may wait for their judgement, the newest."""
KNOWN_MOST = 5_000
"""Lessons of a project that a session's needs are compared with, the newest."""
EVENTS_A_READ = 10_000
"""Events that are read at a time."""
SETTLED_MOST = 100_000
"""Deliveries and outcomes that one settlement reads."""
COUNTED_MOST = 1_000_000
"""Log records that the figures read."""

# What outcomes do to a lesson's place in the order

STATED = 3
"""What one statement by a person counts for, in inferred outcomes."""
STATED_BY_AGENT = 2
"""What one statement by an agent counts for."""
HURT_FACTOR = 0.25
"""The factor of a lesson that somebody reported as harmful: behind every other one."""
LEAST_FACTOR = 0.5
"""The least factor of every other lesson."""
MOST_FACTOR = 2.0
"""The most."""
LEAST_OUTCOMES = 3
"""Outcomes from which a factor is other than one: one need or two say almost nothing about the next."""
PRIOR_NEEDED = 1.0
"""Needs of the lesson nobody knows."""
PRIOR_NOT = 3.0
"""Showings of it that nobody needed: told four times, needed once."""
OVERRIDES_TO_DOUBT = 2
"""Overrides from which a person is asked to decide, where they are more than its needs."""
KEPT_LESSONS = 500
"""Lessons whose evidence is kept for the order: those in doubt, then those needed most."""

# Figures

DEVIATIONS = 2.2
"""Standard deviations on each side of an interval.

With this, an interval covers some 95 % of simulated truths (`benchmarks/outcomes.py`): few sessions tell less of their
own spread than two deviations suppose.
"""
PRIOR_SESSIONS = 0.5
"""Sessions of the opposite outcome that each side is given before it is counted."""
LEAST_WITHHELD = 10
"""Withheld lessons that were judged, from which a difference is given; fewer say nothing."""

# Threads: failures across sessions

OPEN_DAYS = 7
"""Days after its last failing run on which a failure counts as open; later nobody knows."""
THREAD_DAYS = 60
"""Days after its last failing run on which a thread is kept."""
SINGLE_DAYS = 14
"""The same for a command, no check of the code, that failed once."""
THREADS_MOST = 300
"""Threads of a project that are kept, the newest."""
NAMED_MOST = 20
"""Open threads of a project that a session's start chooses from, the newest."""
TRIES_MOST = 20
"""Sessions of one thread that are kept, the newest."""
CURES_MOST = 8
"""Cures of one thread that are kept, the newest."""
SCOPES_MOST = 6
"""Scopes in which one failure was seen that are kept, the newest."""
FAILING_NAMES = 6
"""Failing tests of one run that get a thread each; of more, the run itself is the failure."""
FILES_NAMED = 3
"""Files edited before a cure that are named, the newest."""
THREAD_TEXT = 160
"""Characters of a test's name, a command or an error that a thread keeps."""

# A session in numbers

PAUSE_S = 1_200
"""Seconds without an event that are a pause, in which nobody worked."""
BRANCHES_NOTED = 8
"""Branches of one session that its digest names, the last ones."""

# Trouble at files

FAILURE_TEXT = 6_000
"""Characters of a failed command's output, the last, in which files are looked for."""
FAILURE_NAMES = 40
"""Names of files in it that count."""
TROUBLED_NAMES = 60
"""Names of files that are stored of one session, those with the most trouble."""
SHORTEST_EDIT = 12
"""Characters from which an edit that was taken back counts: shorter ones correct slips."""
COUNTED_AT_ONCE = 50
"""Sessions of an earlier version that one learner reads to count them."""
LOOKED_AT = 2_000
"""Newest sessions among which they are looked for."""
