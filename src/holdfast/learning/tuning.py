"""Holds the numbers of learning: shares, limits and lengths, each with its unit. ARCHITECTURE.md says how tests guard
them.
"""

from __future__ import annotations

from datetime import timedelta

# Admission of candidates

SURE = 0.7
"""Confidence from which a proof, a person's correction or an agent's saved word is active at once."""
RECURRENCE = 2
"""Sessions that make a waiting lesson active."""
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
KNOWN_POOL = 1_000
"""Newest lessons of a project among which those are sought that a session is about."""
LEAST_SHARED_STEMS = 2
"""Stems that a known lesson shares with a digest to be shown beside it."""
MODEL_TIMEOUT_S = 180.0
"""Seconds that a model may take for one session."""
DIGEST_TOKENS = 5_800
"""Tokens of the digest of a session; with the instructions and the known titles the prompt stays below 8,000."""
DIGEST_LINES = {
    "USER": 1_200, "AGENT": 600, "FAILED": 600, "PASSED": 200, "COMMIT": 700, "EDIT": 160, "SUMMARY": 600,
    "RAN": 160,
}  # fmt: skip
"""Characters of one line of a digest, by its label; of the agent's, those of one sentence."""
WORTH = {
    "USER": 9.0, "COMMIT": 6.0, "FAILED": 4.0, "PASSED": 3.5, "EDIT": 0.3, "RAN": 0.3, "AGENT": 0.0, "SUMMARY": -1.5,
}  # fmt: skip
"""What a line of a digest is worth, by its label; for the last two what a sentence gains to its own rating."""
REFERRED = 1.0
"""What a sentence gains that the user's short answer may refer to: "yes, do 1"."""
MARKED = {
    "cause": 1.0, "norm": 0.8, "negation": 0.9, "contrast": 0.9, "condition": 0.4, "failure": 0.3, "code": 0.6,
    "announcement": -1.0, "status": -0.8, "heading": -1.5, "table or question": -0.8, "short": -0.8, "long": 0.5,
}  # fmt: skip
"""What each mark adds to the rating of a sentence; readers of development sessions quoted sentences with the positive
ones two to three times as often as others, those with the negative ones half as often."""
SHORT_SENTENCE, LONG_SENTENCE = 50, 160
"""Characters below which a sentence says little, and above which it explains."""
SHORT_ANSWER = 120
"""Characters of a person's words up to which they may refer to the reply before them."""
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
KNOWN_LIMIT = 40
"""Known lessons whose titles the model is shown."""
USER_CONFIDENCE = 0.8
"""Confidence of a lesson that rests on a person's words."""
GREAT = 3
"""The grade that a model gives a lesson that would prevent a real mistake or a long search."""
SALIENCE, GREAT_SALIENCE = 0.6, 0.8
"""Importance, from 0 to 1, of a lesson that the model grades as useful, and of one that prevents a real mistake."""
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
SOURCE_WORTH: dict[str, float] = {"cause": 0.45, "reason": 0.35, "revert": 0.6, "mended": 0.45}
"""Share of a source's finds that are worth telling, before their wording is looked at."""
CALLS_OF_WORK = 5
"""Calls of tools from which a session counts as work from which something could be learnt."""
BARREN_KEPT = 50
"""Sessions without a lesson that are counted."""
