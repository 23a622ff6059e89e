"""Constants of recall: limits, shares and lengths, each with its unit. ARCHITECTURE.md says how they are guarded.

Scores and thresholds are in `ranking`.
"""

from __future__ import annotations

# Retrieval

RETRIEVER_DEPTH = 30
"""How many each retriever is asked for at least."""
PLACE_DEPTH = 100
"""How many the retrievers of places are asked for where words choose among them.

What the words find must not lose its place because newer lessons are about the same file.
"""
ERRORS_COMPARED = 20
"""Lessons whose error signatures are compared word by word."""
POOL = 12
"""Lessons that are read and weighed for a delivery of a few."""
POOL_LIMIT = 400
"""Most that are, however many are wanted."""
TEXT_LIMIT = 6_000
"""Characters of a question that are looked at: its head and its tail, half each."""
LOOKED_AT = 4
"""Of the best, those whose freshness is looked at closely where a host waits: the few that are shown."""
ON_DEMAND_LINE_TOKENS = 300
"""Tokens of a lesson's line for one who asked."""
LINKS_FOLLOWED = 3
"""Links that are followed from a lesson that the question names."""
NEAR_MEANING = 0.2
"""Least cosine of what is named as the nearest, where nothing was near enough to be delivered."""
SIBLING_FACTOR = 0.5
"""What a sibling project's lesson's score is multiplied by."""
FILES_LIMIT = 3
"""Files whose links are followed for a question."""
LINKED_LIMIT = 40
"""Linked files that a question goes by."""
SYMBOLS_LIMIT = 24
"""Symbols that a question goes by."""

# Answers on demand

ASKED_POOL = 60
"""Lessons that are read, ordered by the ranker and held to the threshold, whatever the limit."""
FOREMOST = 20
"""One of the best so many has to pass the threshold, or none does: among many some pass by chance."""
NEAR_SHOWN = 3
"""How many are named where nothing passes the threshold."""
LEAD, LEADER_COVERAGE = 1.25, 0.4
"""How many times the second's score, and which share of the question's words, a lesson below the threshold needs to be
the answer all the same."""
SIMILAR = 0.6
"""Least share of common stems (Jaccard) of two rules that are compared for a contradiction."""
WITH_OPPONENTS = 12
"""How many of the best are compared with all others: each comparison costs a tenth of a millisecond."""
BISECTION_TOKENS = 2_000
"""Tokens of the answer to what changed since something worked."""
FIELD_LIMIT = 4_000
"""Characters of one field: a whole lesson stays below the 10,000 tokens at which hosts begin to cut results."""
PLACES_SHOWN = 20
"""Places and links of one lesson that are shown."""
CHECKPOINT_TOKENS = 1_500
"""Tokens of a checkpoint that is shown whole."""

# Embedding

EMBEDDED_AT_ONCE = 64
"""Lessons that are embedded at a time."""
EMBEDDED_QUESTION = 2_000
"""Characters of a question that are embedded."""
REST_S = 30.0
"""Seconds for which an embedder that failed a question is not asked another."""

# What a hook looks at

HEAD_CHARACTERS = 48_000
"""Characters at the beginning of a prompt, command or error that are looked at: a host may send megabytes."""
TAIL_CHARACTERS = 16_000
"""Characters at its end."""
TRIGGER_LIMIT = 120
"""Characters of what fired that a delivery's record keeps."""
EDITS_READ = 400
"""Events of a session that are looked at for what it edited: the last."""
EDIT_CHARACTERS = 3_000
"""Characters of an edit that say what it is about."""
LONG_PROMPT = 600
"""Characters from which a prompt may hold what nobody typed: to tell costs a hook some milliseconds."""
STRONG_WORDS = 2.0
"""Strength from which words alone link a lesson to a failure; the exception's type does not count."""

# How much a session is told

SESSION_LIMIT = 10
"""Lines that an agent is told in a session."""
FRAME_TOKENS = 60
"""Tokens of the fence and its introduction, with room to spare."""
STANDING_LINES = 4
"""Rules told at a session's start."""
FIRST_LINES = 2
"""Standing rules with the first prompt, in a host that is told nothing at a session's start."""
RESTORED_LINES = 1
"""Lessons about a task's files that are told with its state."""
COUNTED = 100
"""How far further lessons are counted."""
PROMPT_LINES = 1
"""Lessons for a prompt, besides one that is plainly about it too."""
SESSION_PROMPT_LINES = 6
"""Lessons for all prompts of a session."""
FILE_LINES = 1
"""Lessons about a file for one call."""
SESSION_FILE_LINES = 4
"""Lessons about files for a session."""
CARD_LINES = 2
"""Lines of a lint card: one a linter."""
BAIT_LINES = 2
"""Lessons on linters that one edit would alarm."""
SESSION_BAITS = 3
"""The same for a session."""
TRIGGERS_READ = 10
"""Lessons whose triggers fit that are read, the best."""
TRIGGER_LINES = 4
"""Lessons for triggers in a session."""
COMMAND_LINES = 1
"""Lessons about one command."""
SESSION_COMMAND_LINES = 4
"""Lessons about all commands of a session."""
FAILURE_LINES = 2
"""Lessons about one failure."""

# What a session goes by

CHECKPOINT_DAYS = 14
"""Days after which a checkpoint is not restored by itself."""
OCCASION_DEPTH = 80
"""Lessons of an occasion that are read, the oldest."""
SUBJECT_CHARACTERS = 2_000
"""Characters of each prompt and reply that tell what a session is about."""
SUBJECT_WORDS = 24
"""Telling words of each of them that do."""
PROVEN_SESSIONS = 3
"""Sessions that needed a lesson, from which that says something about the next one."""
OUTCOMES_READ = 2_000
"""Newest outcomes that are looked at for proven need."""
LEAST_PROMPTS = 2
"""Prompts of a person from which a session was real work."""
LEAST_FILES = 3
"""Edited files from which a session was real work."""
WRAPUP_EVENTS = 2_000
"""Newest events of a session that are looked at for that."""

# What the session has read already

SAID_SHARE = 0.8
"""Share of a rule's telling words that stand together in a prompt or reply for it to be said."""
WRITTEN_SHARE = 0.85
"""The same for a rules file."""
SAID_LEAST_WORDS = 4
"""Telling words of a rule, from which that says something."""
SAID_TEXTS = 4
"""Prompts, and replies, of the session that are looked at: the last."""
SAID_SPAN = 3
"""Lines that are read together."""
RULES_FILE_BYTES = 60_000
"""Bytes of a rules file that are read."""
OPENING_WORDS = 12
"""Words of a prompt up to which it may only say `go on`."""
SUBJECT_SHARED = 3
"""Telling words in common that make two subjects one."""

# Search of the sessions

TURN_DEPTH = 40
"""Turns whose passages are ranked, the best by words."""
PASSAGES_COMPARED = 200
"""Passages whose vectors are compared with the question's, the best by words: 30 ms with the static embedder."""
TURNS_SHOWN = 3
"""Turns that are shown."""
PASSAGE_SHOWN = 80
"""Words of a passage that are shown."""
ASKED_CHARACTERS = 120
"""Characters of a turn's prompt that are shown beside its passage."""
STRONG_COVERAGE = 0.75
"""Share of the question's words in a confirmed best lesson from which the sessions are not searched besides."""
