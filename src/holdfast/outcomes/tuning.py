"""Constants of outcomes: counts, shares and spans, each with its unit. ARCHITECTURE.md says how they are guarded."""

from __future__ import annotations

from datetime import timedelta

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

# Judging a delivery

HORIZON = 200
"""Events after a delivery by which it is judged."""
IDLE = timedelta(hours=12)
"""A session nothing was heard of for so long is over."""
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
BILLED_MOST = 100_000
"""Log records that a bill reads."""
COUNTED_MOST = 1_000_000
"""Log records that the figures read."""

# What outcomes do to a lesson

STATED = 3
"""What one statement by a person counts for, in inferred outcomes."""
STATED_BY_AGENT = 2
"""What one statement by an agent counts for."""
HEEDED_TO_CONFIRM = 2
"""Heeded uses, without an override, that make a lesson on probation active."""
HARM_TO_RETIRE = 2
"""Overrides that retire a lesson, where they are more than its heeded uses."""
IGNORED_TO_RETIRE = 5
"""Showings ignored one after another that retire a lesson."""

# What outcomes do to scores

LEAST_FACTOR = 0.5
"""The least that a lesson's score is multiplied by."""
MOST_FACTOR = 2.0
"""The most that it is."""
LEAST_OUTCOMES = 3
"""Outcomes from which a factor is other than one: one need or two say almost nothing about the next."""
PRIOR_NEEDED = 1.0
"""Needs of the lesson nobody knows."""
PRIOR_NOT = 3.0
"""Showings of it that nobody needed: told four times, needed once."""
STATED_COUNT = 3
"""What a statement counts for in a factor, in inferred outcomes."""
LEAST_SHIFT = 0.9
"""The least that a moment's threshold is multiplied by."""
MOST_SHIFT = 1.1
"""The most that it is."""
SHIFT_OUTCOMES = 20
"""Outcomes of a project at a moment from which its threshold shifts."""
KEPT_LESSONS = 500
"""Lessons whose factors are kept, those furthest from one."""

# Figures

DRAWS = 1_000
"""Samples that an interval is drawn from."""
DRAWN_LEVEL = 0.975
"""Share of the draws that an interval holds.

With this, an interval covers some 95 % of simulated truths (`benchmarks/outcomes.py`): few sessions tell less of their
own spread than the draws suppose.
"""
PRIOR_SESSIONS = 0.5
"""Sessions of the opposite outcome that each side is given before it is counted."""
LEAST_WITHHELD = 10
"""Withheld lessons that were judged, from which the estimate of minutes leaves out what is done without telling."""
