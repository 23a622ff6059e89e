"""Constants of the reports: counts and lengths, each with its unit."""

from __future__ import annotations

from datetime import timedelta

# The digest

DIGEST_ITEMS = {"learnt": 8, "changed": 5, "contradicted": 4, "resolved": 3, "stale": 5, "waits": 4}
"""Most lessons that each section of a digest shows: about 400 words in all, which are read in two minutes."""
REFERRED = 3
"""Most other lessons that an item names: those that it replaced, or that contradict it."""
GET_TOGETHER = 64
"""Lessons that are read in one call as they were then."""
CHANGED_FILES = 200
"""Most changed files whose lessons are looked up one file at a time; above, all lessons about code are checked."""
DIGEST_TITLE = 140
"""Longest title in a digest, in characters."""
DIGEST_MOST = 200
"""Most lessons of a section of a digest that is shown in full."""
PARAGRAPH_LIMIT, SENTENCES_MOST = 1_500, 5
"""Characters of a model's answer about a digest that are read, and sentences that are shown."""
MODEL_TIMEOUT_S = 60.0
"""Seconds that a person waits for it."""
QUICK_CHANGES = 1_000
"""Newest changes, and outcomes, that a page reads for a digest."""
QUICK_LESSONS = 300
"""Newest lessons that a page reads for what waits, and for what went stale where git does not say what changed."""
QUICK_CHECK_S = 0.3
"""Seconds for which a page checks closely which code has changed."""
FEED_ITEMS = 50
"""Most lessons of a section in a feed, which a reader shows one at a time."""

# The review queue

DELIVERIES_READ = 10_000
"""Newest deliveries of the project that say what sessions are told most."""
AUDITED_LESSONS = 5_000
"""Newest confirmed lessons that are looked at for stale code and doubts, beside all that sessions were told of late."""
KIND_MOST = 1_000
"""Items of one kind, the first ones, that a queue lists."""
QUICK_MOST = 200
"""Newest lessons that wait, which are listed before the memory was compared."""
QUOTES_SHOWN, QUOTE_SHOWN = 2, 400
"""Quotes of one lesson, and characters of one quote, that are shown."""
RULE_SHOWN, REASON_SHOWN = 500, 240
"""Characters of a rule, and of its reason or what to do, that are shown; its own page has the rest."""
DIFF_LINES = 16
"""Lines of changed code that are shown of one lesson."""
DIFF_LINE = 200
"""Characters of such a line that are shown."""
DIGITS = 16
"""Hexadecimal digits of a digest."""

# Differences of texts

CONTEXT_LINES = 3
"""Unchanged lines that are shown around a change."""
CONTEXT_WORDS = 12
"""Unchanged words that are shown around a change of a text."""
CHANGED_TOGETHER = 6
"""Lines of a long change of equally many lines that are shown before those that took their place."""
HEAD_LINES = 24
"""Lines of unchanged code that are shown where nothing changed."""
LINE_LIMIT = 240
"""Characters of a line of code that are shown."""
MARKED_LINES = 60
"""First lines of one change within which the words that differ are marked."""
MATCHED_LINES = 1_500
"""Lines on each side, between the first and the last difference, that are compared with each other."""
MATCHED_WORDS = 3_000
"""Words and signs on each side of a text that are compared with each other."""
LEAST_ALIKE = 0.5
"""Share of equal text from which two lines are one line that was changed."""

# A lesson's code

CHECKED_S = 2.0
"""Seconds from which on a page waits no longer for a lesson's places to be compared: the rest is not checked."""
SIDES_SHOWN = 3
"""Places of a lesson whose code is shown at first, the worst first."""
ROWS_SHOWN = 60
"""Rows of one place's code that are shown at first."""
ROWS_MOST = 2_000
"""Rows that are shown of it at all."""

# A lesson's story

TURN_SHOWN = 700
"""Characters of a turn of the conversation that are shown at first."""
TURN_MOST = 16_000
"""Characters of it that are shown at all."""
TEXT_SHOWN = 1_200
"""Characters of a changed text that are shown at first."""
VALUE_LENGTH = 24
"""Characters up to which a changed value is replaced as a whole, and not word by word."""
VERSIONS_SHOWN = 4
"""Newest versions that are shown at first."""
SESSIONS_SHOWN = 8
"""Newest sessions that were told it that are shown at first."""
TELLINGS_SHOWN = 3
"""Moments of one session that are shown at first."""
RELATED_SHOWN = 8
"""Lessons of one relation that are shown."""
NEAR_COMPARED = 60
"""Lessons of the nearest words among which those that contradict one are looked for."""
WAITING_READ = 120
"""Newest waiting lessons that are looked through for those that are about this one."""
UNDONE_TOGETHER = 5
"""Lessons that a change may concern to be undone from the page of one of them."""

# Topics

TOPICS_READ = 1_000
"""Newest active lessons among which topics are found."""
TOPICS_MOST = 36
"""Most topics: a few dozen names are looked through, more are searched."""
TOPICS_NAMED = 500
"""Most topics that are renamed or merged in a project."""
TOPIC_NAME = 40
"""Longest name of a topic, in characters."""
TOPIC_LEAST = 3
"""Lessons that a topic needs at least."""
TOPIC_SHARE = 0.01
"""Share of all lessons that a topic needs at least."""
TOPIC_WIDEST = 0.22
"""Share of all lessons from which a word says nothing: it is about the whole project."""
TOPIC_SMALL = 8
"""Lessons that a topic may have in any memory, however small that is."""
TOPIC_MAJORITY = 0.6
"""Share of the lessons that a topic may have in the smallest memory."""
TOPIC_ALIKE = 0.6
"""Share of the lessons of two topics that both have, from which they are one."""
TOPIC_INSIDE = 0.85
"""Share of a topic's lessons that another has, from which it is a part of it."""
NAMED_SHARE = 0.3
"""Share of a word's lessons that have it as a tag, a key or a folder, from which it is one."""
PAIR_SHARE = 0.6
"""Share of a word's lessons that have it in one pair, from which the pair is the topic."""
LEAST_GAIN = 0.5
"""What a topic adds at least, as a share of the lessons that it needs at least."""
PLACE_BONUS, TAG_BONUS, PAIR_BONUS, TITLE_BONUS = 0.4, 0.6, 0.7, 0.3
"""How much more a folder or file, a tag, a pair of words, and a word of titles says than a word of a text."""

# Map and graph

COUNTED_LESSONS = 10_000
"""Lessons of an area that are counted by file, the newest: to count 100,000 takes longer than a page may."""
COUNTED_FILES = 5_000
"""Files whose lessons are counted, those with the most."""
COUNTS_KEPT = 64
"""Counts over all lessons that a process keeps, of all projects."""
COUNTS_KEPT_S = 60.0
"""Seconds for which it keeps one, if memory does not change before."""
CHECKED_LESSONS = 200
"""Lessons of an area that are checked against the code, the newest."""
CHECKED_S = 0.08
"""Seconds for checks that need more than the hash of a file; lessons that were not checked by then count as such."""
MAP_LEVELS = 4
"""Levels of folders that a map goes down."""
LEAST_TROUBLE = 2
"""Failures and edits taken back from which a file without a lesson is named."""
NAMED_AREAS = 5
"""Files that are named for each question."""
PATH_TAILS = 12
"""Leading folders that a name may have above the project's root."""
GRAPH_LESSONS = 24
"""Lessons in a graph, the newest: more cannot be read at once."""
GRAPH_READ = 100
"""Lessons among which those about files are looked for, the newest."""
GRAPH_TOTAL = 1_000
"""Lessons of an area up to which a graph counts those that it leaves out."""
GRAPH_PLACES = 36
"""Files and symbols in it, those with the most lessons."""

# Telling and growth

WEEK = timedelta(days=7)
"""What growth and telling are counted by."""
TELLING_RECORDS = 2_500
"""Deliveries, and as many outcomes, that one report reads, the newest."""
KINDS_LESSONS = 400
"""Lessons whose kinds are looked up for it, those with the newest outcomes."""
LEAST_JUDGED = 20
"""Judged lessons from which a share is drawn for a kind or a host: with fewer the interval says nothing."""
# Recommendations

ADVICE_READ = 2_000
"""Newest active lessons among which recommendations are found."""
ADVICE_MOST = 5
"""Most recommendations of one sort: a few that are followed are better than many that are read."""
ADVICE_LESSONS, ADVICE_SESSIONS = 8, 5
"""Lessons and sessions that a recommendation names."""
ADVICE_LOG = 50_000
"""Newest deliveries and outcomes that are looked through."""
STATED_SESSIONS = 3
"""Sessions in which a rule was stated, from which it belongs into a rules file."""
ALIKE_BY_VECTOR, ALIKE_BY_WORDS = 0.62, 0.5
"""Cosine of two lessons' vectors, and share of their telling stems, from which they mean nearly the same."""
SENTENCE_WORDS = 5
"""Words of a rules file's line from which it may be a rule."""
SHARED_STEMS = 4
"""Words that a rule and a rules file's line have in common at least, if the line says the rule."""
COMMAND_BEGINNING = 3
"""Words of a command by which a rules file names it."""
TOLD_LEAST = 6
"""Sessions that were told a lesson at its place, from which it is told again and again."""
AGAINST_LEAST = 2
"""Times that a lesson was told in vain, from which it is told again and again in two sessions."""
CODE_USES = 10
"""Files that may have a piece of code which a lint rule forbids: where more have it, it is no rule."""
SAID_SHARE = 0.5
"""Share of a lesson's telling words in a few lines of its file, from which the file may say it already."""
DRIFT_SHARE = 0.15
"""Share of a definition's body that may have changed since a lesson about it was learnt."""
FILE_BYTES = 400_000
"""Bytes of a file that are searched for what a lesson says."""
TROUBLE_SESSIONS = 3
"""Sessions in which a file made trouble, from which it is worth a lesson."""

# The check of a branch

CHECK_S = 60.0
"""Seconds that `holdfast pr --check` may take to compare code closely, for each of the two states."""

# The timeline

OPENING_SHOWN = 160
"""Characters of a session's first prompt in its line."""
SESSIONS_A_READ = 200
"""Sessions that are read at a time where a person's are looked for."""
TAUGHT_READ = 200
"""Lessons of one session that are read, the newest."""

# A session's story

PROMPTS_SHOWN = 16
"""Prompts of a session that are shown at first: its first ones and its last ones."""
PROMPT_SHOWN = 500
"""Characters of one prompt that are shown at first."""
PROMPT_MOST = 6_000
"""Characters of it that are shown at all."""
ANSWER_SHOWN = 240
"""Characters of the last words before the next prompt that are shown."""
FILES_SHOWN = 15
"""Edited files that are shown at first, the most edited ones."""
COMMANDS_SHOWN = 12
"""Checks and other commands that mattered that are shown at first."""
FAILURES_SHOWN = 12
"""Failures that are shown at first."""
COMMITS_SHOWN = 20
"""Commits that are shown at first, the newest."""
LESSONS_SHOWN = 12
"""Lessons told, taught or missed that are shown at first."""
WHOLE_MOST = 400
"""Entries of one part that are shown at all."""
LINE_SHOWN = 160
"""Characters of a command, an error or a note that are shown."""

TEXT_WIDTH = 80
"""Columns of a line of text about sessions."""

# Threads

THREADS_SHOWN = 50
"""Threads on a page."""
THREAD_SESSIONS = 6
"""Sessions of one thread that are shown, the newest."""

# Search

RESULTS_SHOWN, ANSWERS_SHOWN, SCORED_SHOWN = 36, 26, 16
"""Lessons, or sessions, of a page; lessons of a page of answers; and where their scores are shown."""
RESULTS_COUNTED = 1_000
"""Lessons among which facets are counted, the newest that match; further ones are told by a plus."""
RESULTS_JUDGED, JUDGED_AT_ONCE = 400, 100
"""Lessons that a page of a list by freshness looks at, and how many it reads at a time."""
CODE_CHECK_S = 0.25
"""Seconds within which changed code is compared closely for a page; what is left after it is told as not checked."""
ANSWERS, WIDE = 60, 200
"""Lessons that a question is answered with; so many where they are narrowed down afterwards."""
FACET_VALUES = 8
"""Values that a facet shows."""
PERIODS = {"7d": 7, "30d": 30, "365d": 365}
"""Days of the periods by which results can be narrowed down."""
TURNS, TURNS_WIDE, TURNS_BESIDE = 30, 100, 3
"""Turns of sessions that are shown, that are narrowed down afterwards, and that are shown beside lessons."""
UNCOUNTED = -1
"""The count of a value that nobody counted."""
SESSIONS_COUNTED = 200
"""Newest sessions by which hosts and branches are counted."""
PAGE_TOKENS = 1_000_000
"""Budget of an answer on a page, which cuts nothing off."""
EXCERPT_SHOWN, EXCERPT_BEFORE = 280, 60
"""Characters of a long text that are shown, and those before the first word of the question."""
