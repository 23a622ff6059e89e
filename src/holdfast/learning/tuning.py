"""Holds the numbers of learning: shares, limits and lengths, each with its unit. ARCHITECTURE.md says how tests guard
them.
"""

from __future__ import annotations

from datetime import timedelta

# Admission of candidates

LIKELY = 0.75
"""Calibrated probability of worth from which a find is active, unless it rests on its words alone."""
PROBABLE = 0.4
"""Calibrated probability of worth from which a find is on probation."""
LEAST_WORTH = 0.2
"""Probability below which a find is no lesson; its event stays and is read again when the judge gets better."""
SURE = 0.6
"""Confidence from which a trusted source's word is active at once."""
RECURRENCE = 2
"""Sessions that make a waiting lesson active."""
INBOX_A_SESSION = 5
"""Finds by words alone that one session may leave waiting or on probation, the likeliest."""
WRITTEN_A_SESSION = 8
"""The same of finds whose words were written to be kept; they are on probation, for less likely ones are no finds."""
SESSIONS_KEPT = 50
"""Sessions a lesson remembers having been seen in, the newest."""
EVIDENCE_KEPT = 12
"""Quoted spans a lesson keeps."""
FILES_KEPT = 8
"""Files a lesson keeps for its scope."""
NEIGHBOURS = 1_000
"""Newest lessons of the project that a candidate is compared with, beside those of equal words."""
SESSIONS_ASKED = 3
"""Earlier sessions whose events are asked whether a rule's words were read there."""
LEAST_NAMED = 3
"""Telling words from which a sentence that names something of the code is not one that agents say everywhere."""
DISTINCTIVE = 6
"""Telling words from which a sentence without such a name is not one that agents say everywhere."""
SHARED_WORDS = 0.4
"""Least share of words in common before two rules are compared closely."""

# One session

EVENTS_A_READ = 10_000
"""Events or log records that are read at a time."""
ATTEMPTS = 2
"""Begun learnings of a session that did not end, after which it is set aside."""
SET_ASIDE_MOST = 100
"""Sessions set aside that are remembered, the newest."""
LOOKED_BACK = 10
"""Different files before an edit, the last ones first, that are tied to the edited one."""

# Claims that are taken back

RETRACTION_SPAN = 80
"""Events behind a claim in which words may take it back."""
RUN_SPAN = 60
"""Events around a claim in which the runs are looked at."""
LEAST_SHARED = 3
"""Telling words that a retraction has in common with the claim, a shared name of the code counting once more."""
SHORT_WORD = 3
"""Letters up to which a word is too short to be compared."""
BARE_WORDS = 9
"""Words of a person's answer up to which it is about the last thing said as a whole."""
RETRACTION_READ = 6_000
"""Characters of a reply or prompt in which a retraction is looked for."""
SHORTEST_CORRECTION = 30
"""Characters from which what a retraction says instead can be a lesson."""

# Command cards

SIGHTED_SESSIONS_KEPT = 60
"""Sessions whose runs a project's counts remember, the newest."""
COMMANDS_KEPT = 120
"""Commands that a project's counts hold, those that passed most recently."""
LEAST_PASSES = 2
"""Passes from which a command is a project's way."""
START_SESSIONS = 2
"""Sessions in which a start command must have passed: starting parts of a program is everyday work on it."""
OTHERS = 3
"""Further commands of one purpose that its line names."""
OTHERS_SHARE = 0.05
"""Least share of the first one's passes that a further command has."""
NAMED = 2.0
"""How much more a command that the project's people name counts."""
AIMED = 0.2
"""How much a run of a part counts, against one of the whole."""
CARD_WORTH = 0.85
"""Estimated share of cards worth keeping (read by eye, five repositories)."""
CARD_SALIENCE = 0.6
"""Importance of a card, from 0 to 1."""
FORMS_KEPT = 6
"""Spellings of one command that are kept, for its triggers."""
SIGHTINGS_KEPT = 50
"""Sessions that one card names as seen."""

# Distillation by a model

LEAST_TURNS = 2
"""Replies of the agent below which a session is not worth a call."""
KNOWN_POOL = 500
"""Newest lessons of a project among which those are sought that a session is about."""
MODEL_TIMEOUT_S = 180.0
"""Seconds that a model may take for one session."""
DIGEST_TOKENS = 6_000
"""Tokens of the digest of a session that a model reads."""
DIGEST_LINES = {"USER": 1_500, "AGENT": 900, "FAILED": 420, "PASSED": 200, "COMMIT": 900, "EDIT": 160, "SUMMARY": 4_000}
"""Characters of one line of a digest, by its label."""
DIGEST_SCALES = (4, 2, 1)
"""Short sessions are shown in longer lines: the limits grow by the first factor that fits everything in."""
ANSWER_LIMIT = 200_000
"""Characters of an answer that are read."""
MOST_LESSONS = 12
"""Lessons of one answer that are read."""
LESSON_LIMIT = 400
"""Characters of a lesson's statement in an answer."""
WHY_LIMIT = 300
"""Characters of a lesson's reason in an answer."""
QUOTE_LIMIT = 400
"""Characters of a quote that are looked for in the session."""
LIST_LIMIT = 8
"""Files, symbols or triggers of one lesson in an answer."""
ITEM_LIMIT = 120
"""Characters of one of them."""
SHORTEST_LITERAL = 3
"""Characters from which a literal can be a trigger."""
KNOWN_LIMIT = 12
"""Known lessons that the model is shown."""
USER_CONFIDENCE = 0.8
"""Confidence of a lesson that rests on a person's words."""
AGENT_CONFIDENCE = 0.6
"""Confidence of a lesson that rests on the agent's words."""

# A repository's history

HISTORY_LEAST_WORTH = 0.5
"""Probability from which a find is kept; below it one in three was worth telling, above it two."""
MOST_KEPT = 100
"""Lessons of commits that a project has at a time."""
MOST_WAITING = 20
"""Those that may wait of a repository the user only reads."""
COMMITS_A_PAGE = 250
"""Commits that git is asked for at a time."""
MESSAGE_LINES = 400
"""Lines of a message that are read."""
HISTORY_SHARED_WORDS = 0.4
"""Share of the shorter one's words from which two finds of one file say the same."""
SWEEP = 30
"""Files of a commit up to which its message is about them; one of more is a sweep."""
COMMIT_FILES_KEPT = 4
"""Files of a commit that its lesson keeps."""
LONGEST_REASON = 420
"""Characters of a reason that is kept; a part of a sentence never is."""
SHORTEST_REASON = 50
"""Characters from which a sentence can be a reason."""
MENDS_WITHIN = timedelta(days=14)
"""How long after a commit another one that changes its lines mends it."""
MENDED_LOOKED_AT = 3
"""Earlier commits of a file that are compared with a fix."""
SAME_LINES = 1
"""Lines that two commits share, from which one is about the other."""
LEAST_LINE = 6
"""Characters of a line that two commits do not share by chance."""
AGED = ((1460, 0.15), (730, 0.07), (365, 0.03))
"""Days before the newest commit, and what they take from the worth."""
SOURCE_WORTH: dict[str, float] = {"cause": 0.45, "reason": 0.35, "revert": 0.4, "mended": 0.45}
"""Share of a source's finds that are worth telling, before their wording is looked at."""
