"""Constants of curation: limits, days and shares, each with its unit. ARCHITECTURE.md says how they are guarded."""

from __future__ import annotations

from holdfast.domain.vocabulary import Trust

# A new lesson

CONFIDENCE: dict[Trust, float] = {"person": 0.95, "verified": 0.85, "agent": 0.7, "repository": 0.5, "tool": 0.3}
"""How sure a statement is at first, by who made it."""
SALIENCE = 0.7
"""Importance of what somebody took the trouble to say: above the 0.5 of a lesson found by itself."""
SAID_SALIENCE = 0.5
"""Importance of what a tool or a repository's file says: nobody here took the trouble to say it."""
ACCEPTED_CONFIDENCE = 0.9
"""A lesson a person has read and accepted is at least this sure."""
LEAST_REASON = 3
"""Words from which an agent's `why` gives a cause."""
TRIGGERS_MOST = 20
"""Triggers of one kind that a lesson may have."""
TRIGGER_LENGTH = 200
"""Characters of one trigger."""
LONGEST_CONDITION = 300
"""Characters of a condition under which a lesson comes back."""
PASSAGE_KEY_DIGITS = 16
"""Digits of the digest that tells passages apart."""
PASSAGE_LIKE = 1 / 3
"""Share of words that an edited passage has in common with what it was, where the section holds several."""

# Conflicts

COMPARED_LESSONS = 2_000
"""Newest lessons of the project that are compared with each other."""
NEAR_LESSONS = 200
"""Lessons of the nearest words that one lesson is compared with when it is saved."""
COMMON_WORD = 60
"""Lessons that may share a word before it says too little to compare them for it alone."""

# What is worth a person's look

OLD_DAYS = 90
"""Days since a lesson was learnt, vouched for or told from which on it is old."""
NEVER_TOLD_DAYS = 30
"""Days after which a lesson that nobody was ever told is doubtful."""
LOW_CONFIDENCE = 0.5
"""Confidence below which a lesson is doubtful."""
DAILY = 5
"""Lessons that are shown in a day."""
KEPT_DAYS = 90
"""Days for which a lesson is not shown again after it was kept."""
LATER_DAYS = 7
"""Days for which it is not after it was put off."""
REASON_WEIGHTS: dict[str, float] = {
    "doubted": 5.0, "orphaned": 4.0, "duplicate": 3.0, "drifted": 2.0, "recurs": 2.0, "low confidence": 1.5,
    "never told": 1.0, "old": 1.0,
}  # fmt: skip
"""How much each reason makes a lesson worth a look; a lesson with several has their sum."""

# How much is read

AUDITED_MOST = 100_000
"""Lessons and log records that an audit reads."""
REVIVED_MOST = 100_000
"""Closed lessons that are looked through for one to bring back."""
CHANGES_READ = 10_000
"""Log records that are read for the history of a lesson or to find the last change."""
TOGETHER = 100
"""Lessons of one change among which a lesson's successor is looked for."""
LESSONS_A_PAGE = 1_000
"""Lessons that are read at a time."""
LESSONS_A_WRITE = 500
"""Lessons written in one transaction."""
LINE_LIMIT = 1_000_000
"""Characters of a line of an export; a longer one is not a lesson."""

# A checkpoint

CHECKPOINT_TEXT = 600
"""Characters kept of the goal and of each item."""
CHECKPOINT_FILES = 12
"""Most files in a captured checkpoint."""
FLOATED_DAYS = 14
"""Days after which an idea that never landed in a commit is retired."""
CLAIMS_READ, CLAIMS_FOLLOWED = 1_000, 20
"""Newest claims that are looked at after each session, and how many of them git is asked about: ideas first."""
NAMES_LOOKED_FOR = 2
"""Names of one claim that are looked for in the commits since."""
LEAST_NAME, LONGEST_NAME = 6, 80
"""Characters of a name that a commit does not hold by chance, and of one that git is asked for."""
CHECKPOINT_ITEMS = 12
"""Most items of one list in a captured checkpoint."""
SUBSTANTIAL_WORDS = 4
"""Words from which a prompt states a goal; `yes`, `go on` and `/compact` do not."""
ASKED_TEXT = 300
"""Characters of a request in a captured checkpoint: the goal, and what the user asked last."""
QUOTED_WORDS = 3
"""Words up to which quoted words in a request are a name, and not somebody else's text."""
FAILURE_TEXT = 240
"""Characters of a failing command and its error in a captured checkpoint."""
CLOSING_WORDS = 8
"""Words up to which a prompt with `thanks` or `merged` only closes a task."""
REPLY_END = 300
"""Characters at either end of the last reply in which it says that the work is done."""
STATE_DAYS = 14
"""Days since its last event after which a session leaves no state."""
STATE_EVENTS = 10_000
"""Last events of a session that its state rests on."""
OVER_LOOKED_AT = 20
"""Open states for which git is asked whether their branch is over."""
QUESTION_CHARACTERS = 200
"""Characters at the beginning of a prompt in which it may ask where a task was left off."""
