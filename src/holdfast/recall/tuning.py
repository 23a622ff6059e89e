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

TRIGGER_LIMIT = 120
"""Characters of what fired that a delivery's record keeps."""
END_EVENTS = 400
"""Events of a session that are looked at before the end for what it did: the last."""
LONG_PROMPT = 600
"""Characters from which a prompt may hold what nobody typed: to tell costs a hook some milliseconds."""
STRONG_WORDS = 2.0
"""Strength from which words alone link a lesson to a failure; the exception's type does not count."""

# The brief, fitted on development sessions by benchmarks/replay

COLLECTED = 600
"""Lessons that the lines of a brief are made of: the newest, besides pinned ones and rules."""
KEPT_LINES = 250
"""Lines that are prepared: the best, and at most as many again of the same branches."""
ID_ROOM = 12
"""Characters of a title's line besides its words and its source."""
COLLECTED_IN_A_HOOK = 200
"""The same in a hook for which the learner prepared nothing yet."""
SERVED_S, SERVED_KEPT = 30.0, 200
"""Seconds for which a server tells a brief again while its lessons are as they were, and how many briefs it keeps."""
CHANGES_BEFORE_PREPARED = 40
"""Changed lessons from which a server prepares the lines anew: each is read for every brief that is made until then."""
CHANGES_READ = 100
"""Newest lessons that are looked at for those that changed since the lines were prepared."""
COUNTED = 10_000
"""How far further lessons are counted."""
PINNED_READ = 40
"""Pinned lessons that are read."""
NEWNESS_WORTH, NEWNESS_LESSONS = 1.0, 60
"""What the newest lesson is worth, and after how many lessons that has fallen to 1/e."""
BRANCH_WORTH = 0.5
"""What a lesson is worth more on the branch on which it was learnt."""
PERSON_WORTH = 0.15
"""What a person's word is worth more, and a preference."""
GENERAL_WORTH = 0.3
"""What a lesson is worth more that is about no file: it may concern any work."""
OTHERS_WORTH = 0.3
"""What the preference of another person is worth less."""
RULE_LIKE_WORTH = 0.3
"""What a kind that says what to do is worth more than one that records."""
STALE_WORTH = 0.2
"""What a lesson is worth less whose code is no longer as it was."""
OUTCOME_WORTH = 0.5
"""What each doubling of the factor of outcomes is worth."""
COMMAND_LINES = 8
"""Commands of the project that come first."""
RULE_LINES, RULES_TOKENS, RULE_TOKENS = 8, 240, 60
"""Rules in full words, the tokens of all of them, and of one; further rules are told by their titles."""
SUB_AGENT_TOKENS = 800
"""Tokens of a sub-agent's brief."""
EQUAL_TITLES, EQUAL_WORDS = 0.75, 3
"""Share of common stems (Jaccard) of two titles that say the same, and the least telling words for that."""
LEAST_ID = 5
"""Characters of an id in a brief, unless two lessons share them."""
LEFT_OUT_SHOWN = 40
"""Lines left out that are named to a person who asks why."""

# Full words

FRAME_TOKENS = 60
"""Tokens of the fence and its introduction, with room to spare."""
PROMPT_POOL = 40
"""Lessons that are read and weighed for a prompt."""
PROMPT_LINES = 20
"""Most lines for a prompt; the budget usually ends before."""
FULL_LINES = 4
"""The nearest lessons that a first prompt brings in full words; others come as titles, unless they were told."""
LATER_PROMPT_TOKENS, LATER_PROMPT_NEAREST = 100, 10
"""Tokens for a later prompt, and how many of the nearest lessons it may bring."""
CLEARLY_NEAREST = 1.25
"""How many times as near as the next the lesson must be that a later prompt brings in full words."""
SAME_BRANCH = 0.1
"""What being learnt on the same branch adds to nearness, on the scale of a cosine."""
ACT_LINES, FILE_LINES, KIND_LINES = 4, 8, 3
"""Most lines before a command or after a failure, before a file, and for a kind of command."""
SEARCH_LINES, SEARCH_COVERAGE = 1, 0.5
"""Most lines for a search, and the share of its pattern that a lesson must have."""
ABOUT_FILE_LINES, ACT_TITLES = 1, 4
"""Most lines about a file itself in full words, before an edit; and most titles that were not told yet."""
ACT_POOL = 40
"""Lessons about a place that are read."""
TRIGGERS_READ = 20
"""Lessons whose triggers fit that are read, the best."""

# What a session goes by

DELIVERIES_READ = 1_000
"""Deliveries of a session that are read: the newest."""
CHECKPOINT_DAYS = 14
"""Days after which a checkpoint is not restored by itself."""
OCCASION_DEPTH = 80
"""Lessons of an occasion that are read, the oldest."""
LONG_PROMPTS = 5
"""Prompts from which a session with an edit is long, and so real work."""
LONG_ACTS = 40
"""Tool calls from which it is."""

# What rules files say already

WRITTEN_SHARE = 0.85
"""Share of a rule's telling words that stand together in a rules file for it to be said there."""
WRITTEN_LEAST_WORDS = 4
"""Telling words of a rule, from which that says something."""
WRITTEN_SPAN = 3
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

# What earlier sessions left failing

FAILURES_TOLD = 2
"""Failures that one session's start names."""
FAILURE_CHARACTERS = 100
"""Characters of a failure's name, and of its words, in that line."""
