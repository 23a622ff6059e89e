"""Every number that ranking uses, with its unit. `tests/ranking/test_tuning.py` tests each of them.

For fitted numbers the sentence or heading names what fitted them; docs/explanation/measurements.md has the figures. A
score is from 0 to 1 unless its sentence says otherwise; a cosine is from -1 to 1.
"""

from __future__ import annotations

from holdfast.domain.vocabulary import Freshness, Trust
from holdfast.ports.store import NameRelation, PathRelation, TokenSource, TriggerKind

# Retrievers: what a fact is worth (`retrievers`)

TOKEN_WORTH: dict[TokenSource, float] = {
    "error": 1.0, "command": 1.0, "topic": 1.0, "symbol": 0.9, "path": 0.8, "file": 0.6, "mention": 0.5, "part": 0.4,
}  # fmt: skip
"""Score of a lesson that has an exact token asked, by what of the lesson the token is."""
SURE_SOURCES: tuple[TokenSource, ...] = ("error", "command", "topic")
"""Sources whose tokens are worth the same however many lessons share them."""
SHARING_SCALE = 4
"""Other tokens' worth is divided by 1 + log2(lessons that share it) / SHARING_SCALE."""
EXACT_LEAST = 0.33
"""Least score of an exact match: a name that many lessons share points at none of them."""
NEAR_ERROR_LEAST = 0.6
"""Least share of common words (Jaccard) for two error signatures to be nearly the same."""
NEAR_ERROR_WORTH = 0.9
"""Score of an error signature with all words of the one asked about; with fewer it falls with their share."""
NEAR_ERROR_WORDS = 3
"""Least words of a signature for another one to be nearly the same."""

TEXT_COLUMN_WEIGHTS = 5.0, 3.0, 2.0, 2.0, 3.0
"""How often a word of the title, the rule, the reason, the names and the error counts in a lesson's text score."""
TERM_MOST = 2.2
"""What a term adds to a BM25 at most, times its idf: k1 + 1 with a k1 of 1.2."""
IDF_LEAST = 0.1
"""Least idf, so that a word which most of a small store's lessons have still counts as something asked."""
FAMILIAR, FAMILIAR_ENOUGH = 100, 300
"""Lessons that have the question's most common word: up to the first a text score counts once, from the second on
FAMILIAR_MOST times, and between them it grows with the logarithm, so that no score jumps when a lesson is added. A
question that uses the words of this store is about what it holds; one about something else rarely has any of them."""
FAMILIAR_MOST = 2.0
"""What a text score is multiplied by at most for familiar words."""
NEARBY_HITS = 60
"""Text hits, best first, that give something to what was learnt beside them."""
AFTER_SHARE, SESSION_SHARE = 0.3, 0.2
"""Shares of a text hit's score: for the lesson learnt next in its session, for all found ones of its session."""
SESSION_HITS = 3
"""How many of a session's text hits count for all of it: its best."""

PATH_WORTH: dict[PathRelation, float] = {"file": 1.0, "glob": 0.8, "folder": 0.6, "beside": 0.4}
"""Score of a lesson by what its anchor is to a path asked, at the nearest level."""
LEVEL_FACTORS: dict[PathRelation, float] = {"file": 1.0, "glob": 1.0, "folder": 0.7, "beside": 0.5}
"""What each further level up multiplies it by."""
NAME_WORTH: dict[NameRelation, float] = {"same": 1.0, "unqualified": 0.9, "around": 0.8, "inside": 0.6}
"""Score of a lesson by what its name is to a symbol asked."""
AROUND_FACTOR = 0.9
"""What each further level around multiplies it by."""
NAMED_ONLY = 0.75
"""What it is multiplied by where the lesson's words name it, or an anchor's last part, and no anchor does."""
ASKED_LINK = 1.0
"""Weight of a file asked about among linked files, so that links never put another one above it."""
TRIGGER_WORTH: dict[TriggerKind, float] = {"literal": 1.0, "command": 0.95, "path": 0.9, "symbol": 0.9}
"""Score of a lesson by which of its triggers fits."""

# Fusion: what a retriever's score is worth (`fuse`), fitted on the development sets of benchmarks/recall

RETRIEVER_WEIGHTS: dict[str, float] = {
    "vector": 1.0, "text": 0.4, "path": 0.35, "symbol": 0.15, "exact": 0.2, "graph": 0.1,
}  # fmt: skip
"""What a score of 1 of each retriever adds. Other retrievers (pinned, recent, one that this version does not know)
only settle ties."""
TEXT_POWER, TEXT_MOST = 1.3, 3.0
"""Power of a text score: a lesson that has most of what the question tells gains more than one that has a little; and
the score from which more of it counts no more."""
TIE, RRF_K = 0.2, 60
"""What a retriever adds for the rank: TIE / (RRF_K + rank), reciprocal rank fusion with its usual constant (Cormack,
Clarke & Buettcher, SIGIR 2009), small enough to only settle ties."""
RETRIEVERS_AT_MOST = 12
"""More retrievers than there will be, for the bound of the floor."""
EXACT_THRESHOLD, SURE_EXACT = 0.4, 0.8
"""Scores of the exact retriever: from which a hit is enough to be delivered, below the name is one that many lessons
have; and from which it is the very thing asked for: the same error, command or topic, a symbol or a path that few have.
Names that a lesson only mentions are weighed, not put first: first they cost a tenth of recall where names abound."""

# Thresholds (`threshold`), fitted by benchmarks/calibrate_threshold.py

PUSHED_THRESHOLD = {
    "weighted_overlap": 0.22, "meaning": 0.24, "weight": 1.2, "coverage": 0.2, "short_weight": 0.9,
    "short_coverage": 0.3,
    "weight_alone": 3.5,
}  # fmt: skip
"""What is asked of a lesson that is delivered unasked; the fields are explained at `threshold.Threshold`."""
ASKED_THRESHOLD = {
    "weighted_overlap": 0.13, "meaning": 0.19, "weight": 0.9, "coverage": 0.12, "short_weight": 0.6,
    "short_coverage": 0.2,
    "weight_alone": 1.8,
}  # fmt: skip
"""What is asked of a lesson that answers a question."""
MEANING_STEP = 0.068
"""What the least cosine grows by for each e-fold of lessons."""
MEANING_ALONE = 0.05
"""What is asked of the cosine besides, of a lesson that shares no telling word with the question."""
EXACT_WORTH = 0.7
"""What a score of 1 of the exact retriever adds to the product of the shared words' weight and the text score."""
FEW_LESSONS, MANY = 10, 4_000
"""Fewer lessons count as so many, and more too: a threshold for less and for more was not measured."""
FEW_STEMS = 1_500
"""Lessons times words of one of them, up to which fixed weights are good enough."""
DECISIVE_SCORES = {"exact": EXACT_THRESHOLD, "path": 0.6, "symbol": 0.6, "vector": 0.6}
"""Scores of retrievers that are a reason by themselves: an exact name that few lessons have; the file itself, a glob of
it or its folder as an anchor (not a neighbour); the symbol or what it is in; a cosine of two texts about the same
thing, whatever their words."""
LINK_LEAST = 0.1
"""Weight of a link that is enough by itself: for who asks about a file and says no more, and before an edit."""

# What is told unasked (`pushing`)

BM25_UNIT = 30.0
"""BM25 that weighs as much as a cosine of 1."""
TELLING_WEIGHT = 2.0
"""Weight of shared words that is enough in any prompt: two telling words."""
TELLING_COVERAGE, ALONE_COVERAGE = 0.3, 0.5
"""Share of a prompt that one telling word and another word must be; and one telling word, or everyday words, alone."""
MEANING_LEAST = 0.3
"""Cosine, before MEANING_STEP, from which prompt and lesson have a meaning in common."""

# Words (`relevance`), names (`names`) and aims (`aim`)

NAME_WEIGHT, WORD_WEIGHT, PAIR_WEIGHT, EVERYDAY_WEIGHT = 1.2, 1.0, 0.6, 0.3
"""Weight of a term with a digit or a joiner in it, of another word, of a pair of CJK characters (half a word, mostly),
of a word of `relevance.EVERYDAY`."""
COMMON_SHARE, COMMON_LEAST = 0.08, 40
"""Share of a store's lessons from which a word is an everyday word there (`git` in a tool for git), and the fewest
lessons that say so."""
KNOWN_CHUNKS = 20_000
"""Chunks of texts whose stems a process keeps: 4 MB."""
WEIGHED_TERMS = 120
"""Terms of a question that are weighed; a pasted log has thousands."""
NAME_WORDS = 4
"""Most words of a name."""
NAME_CHARACTERS = 2_000
"""Characters of a question that are looked at for names."""
SLIP_LEAST = 5
"""Letters of the shortest name that is recognised with a slip in it."""
SLIPS_AMONG = 40
"""Words of the longest question in which slips are looked for: a pasted log has too many look-alikes."""
AIM_CHARACTERS = 400
"""Characters of a question that are looked at for a task: people say first what they want."""

# Passages of earlier turns (`passages`), set on DevMemBench and 25 questions to real sessions

TURN_PROMPT_WEIGHT = 2.0
"""How often a word of a turn's prompt counts in its BM25; a word of the replies counts once."""
TURN_LEAST = 0.1
"""Share of the question's information that a turn must have, its words weighed by how few turns have them."""
TURN_WEIGHT, TURN_COVERAGE = 0.6, 0.1
"""Weight of the question's words (`relevance`) in a turn, and share of their weight, of which it must have one: two
everyday words, or half of a question that has few others."""
PASSAGE_WEIGHT, TURN_VECTOR_WEIGHT = 0.5, 0.5
"""What a passage with all of the question's information adds to its turn's score, and what a cosine of 1 adds."""
PASSAGE_WORDS = 60
"""Most words of a passage, unless a line or a sentence has more."""
PASSAGE_LEAST_WORDS = 5
"""Fewest words of a passage."""
SHORT_WORDS, SHORT_FACTOR = 10, 0.8
"""Fewer words than that say little: their share of the question counts so much."""
ASKING_FACTOR, PROMPT_FACTOR = 0.7, 0.9
"""What a share counts in a passage that only asks, and in a prompt."""
SAME_SESSION_FACTOR = 0.7
"""What the score of a turn is multiplied by for each turn of its session that was chosen before it."""
PASSAGE_COPY = 0.6
"""Share of the smaller passage's stems from which two passages say the same."""

# Multipliers (`multipliers`)

RANGES: dict[str, tuple[float, float]] = {
    "freshness": (0.6, 1.0),
    "trust": (0.92, 1.04),
    "confidence": (0.95, 1.05),
    "salience": (0.95, 1.05),
    "recency": (0.94, 1.0),
    "time": (1.0, 1.3),
    "task": (1.0, 1.05),
}
"""Least and most of each multiplier of a fused score."""
FRESHNESS: dict[Freshness, float] = {
    "unanchored": 1.0, "fresh": 1.0, "moved": 1.0, "unverified": 0.95, "drifted": 0.8, "changed": 0.7, "orphaned": 0.6,
}  # fmt: skip
"""Multiplier by the state of the code; of code that changed, when half of it or more did. Nothing counts against
unanchored."""
MILD: dict[Freshness, float] = {"drifted": 0.95, "changed": 0.9}
"""Multiplier when next to nothing of it changed; in between it falls evenly with the share of its tokens."""
REWRITTEN = 0.5
"""The share of changed tokens from which on it is the least."""
TRUST: dict[Trust, float] = {"person": 1.04, "verified": 1.03, "agent": 1.0, "repository": 0.96, "tool": 0.92}
"""Multiplier by who said it."""

# Diversity (`diversify`)

MMR_LAMBDA = 0.7
"""Share of relevance against novelty (Carbonell & Goldstein, SIGIR 1998)."""
SAME_SESSION = 0.15
"""Likeness that two lessons of one session have before any word is compared."""
NEAR_COPY = 0.8
"""Likeness from which a lesson says nothing that the chosen one does not: it comes after all that do."""
WORTH_LEAST = 0.01
"""Least worth of a lesson that passed the threshold, however alike to another."""

# The learned ranker (`ranker`), fitted by benchmarks/fit_ranker.py

WITH_VECTORS: tuple[float, ...] = (11.98, 16.09, 3.95, 3.43, 1.81, 4.72, 1.21, 0.24, 1.45, 0.54, -0.88)
"""Weights of `ranker.FEATURES`, where an embedder answered."""
WORDS_ALONE: tuple[float, ...] = (16.2, 0.0, 4.14, 4.51, 1.91, 4.73, 1.45, 0.0, 1.44, 0.44, -0.89)
"""Those where no embedder answered."""
WORDS_WITHOUT_PLACE: tuple[float, ...] = (16.2, 0.0, 4.14, 4.51, 1.91, 2.36, 4.0, 0.0, 1.44, 0.44, -0.44)
"""Those of a question by words that names no place: the text score counts more, coverage and age half.

Set by hand. With the weights above, a lesson of any age among 100,000 made-up ones is less often among the first
three (.69) than in the fused order (.74); with these .73, and citing commits of pytest find theirs as often or more
(title .50 instead of .48, task .46 instead of .44). With a file in play age and coverage are worth what was fitted.
"""
RANKED_LESSONS = 500
"""Fewest lessons for the ranker to be used. Among few a file has hardly more than one, and the place decides: there
the ranker lost a third of what the fused order finds."""
RANKED_ANCHORED = 0.5
"""Least share of candidates with an anchor for the ranker to be used."""
RANK_OFFSET = 10
"""A rank counts as 1 / (RANK_OFFSET + rank)."""
SOFTNESS = 3.0
"""By how much a score has to be lower to be worth a third: so gentle that novelty and freshness still count."""
HEAD_CHARACTERS = 200
"""Characters of a rule that stand for its subject."""
AGE_SCALE = 24
"""A lesson's age is counted in this part of its kind's half-life: a month for a decision."""
