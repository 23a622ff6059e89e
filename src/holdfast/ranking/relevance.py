"""Lexical overlap of a lesson with a question: the measure behind the relevance threshold.

Each of a question's terms has a weight: names and identifiers the largest, everyday words of programming (`test`,
`file`, `error`, ...) a small one, because any two texts about code share them. Words are compared by a light stem.
The weights are fixed and not counted in the store, so they work in a store of 20 lessons. The text retriever's score
says how rare a word is among many lessons; `threshold` uses both.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.lesson import Lesson
from holdfast.ranking.tuning import EVERYDAY_WEIGHT, KNOWN_CHUNKS, NAME_WEIGHT, PAIR_WEIGHT, WEIGHED_TERMS, WORD_WEIGHT
from holdfast.text.searchkeys import named_places
from holdfast.text.words import WORD_LIMIT, chunks, is_begun, terms, terms_of, word_set


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTerms:
    """A question's stems, each with its weight and its word, and the sum of the weights."""

    stems: tuple[tuple[str, float, str], ...] = ()
    weight: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalOverlap:
    """Overlap of a lesson: `weight`, the weight of the question's terms in it; `coverage`, their share (0 to 1)."""

    weight: float = 0.0
    coverage: float = 0.0
    matched: tuple[str, ...] = ()
    """The question's words that it has, largest weight first."""


def weigh(text: str, common: frozenset[str] = frozenset()) -> QueryTerms:
    """Return the weighted stems; an identifier counts whole and in parts, a short number as an everyday word.

    So does a stem of `common`: in this memory it is an everyday word.
    """
    weighed: dict[str, tuple[str, float, str]] = {}
    for term in terms(text)[:WEIGHED_TERMS]:
        root = stem(term)
        if root in EVERYDAY or root in common or (term.isdigit() and len(term) < 4):
            weighed[root] = root, EVERYDAY_WEIGHT, term
        elif len(term) < 3 and not term.isascii():
            weighed[root] = root, PAIR_WEIGHT, term
        elif term.isalpha():
            weighed[root] = root, WORD_WEIGHT, term
        else:
            weighed[root] = root, NAME_WEIGHT, term
    return QueryTerms(stems=tuple(weighed.values()), weight=sum(weight for _, weight, _ in weighed.values()))


def overlap_of(question: QueryTerms, stems: frozenset[str]) -> LexicalOverlap:
    """Return the lexical overlap of a question with a lesson that has those stems."""
    matched = [(weight, word) for root, weight, word in question.stems if root in stems or _begins_any(root, stems)]
    weight_shared = sum(weight for weight, _ in matched)
    return LexicalOverlap(
        weight=weight_shared,
        coverage=weight_shared / question.weight if question.weight else 0.0,
        matched=tuple(word for _, word in sorted(matched, key=lambda pair: -pair[0])),
    )


def _begins_any(root: str, stems: frozenset[str]) -> bool:
    """Return whether a single character of a script without spaces is part of any pair in the stems."""
    return is_begun(root) and any(root in stem for stem in stems)


def lesson_stems(lesson: Lesson) -> frozenset[str]:
    """Return the stems of a lesson's words, tags and places."""
    title = "" if lesson.insight.startswith(lesson.title) else lesson.title
    texts = (title, lesson.insight, lesson.why, lesson.how, lesson.command, *lesson.tags, lesson.topic_key)
    about = named_places(lesson)
    return stems_of("\n".join(filter(None, (*texts, *about))))


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of a text's terms."""
    return frozenset().union(*map(_KNOWN.__getitem__, chunks(text)))


class _Known(dict[str, "tuple[str, ...]"]):
    """A cache of the stems of text chunks.

    Lessons of one store share most of their words; without it a long-running process spends a fifth of a recall on
    splitting words.
    """

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        stems = tuple(map(stem, terms_of(chunk)))
        if len(chunk) <= WORD_LIMIT:
            if len(self) >= KNOWN_CHUNKS:
                self.clear()
            self[chunk] = stems
        return stems


_KNOWN = _Known()


def stem(word: str) -> str:
    """Return the word without common English endings: plural, -ing, -ed, doubled consonant, final e. Not Porter's."""
    if not word.isalpha() or len(word) < 4:
        return word
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]
    if word.endswith("ing") and len(word) > 5:
        word = word[:-3]
    elif word.endswith("ed") and len(word) > 4:
        word = word[:-2]
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word[-1] == "e" else word


EVERYDAY = frozenset(
    stem(word)
    for word in word_set(
        """
        src py js ts tsx jsx go rs compare
        git github branch readme helper block context unknown cli md kept many touch integration checkout clone tag npm
        able above accept across action actual actually add address agent allow almost already always answer anything
        app appear application apply approach argument around array ask assume attempt available avoid away back bad
        base basic become begin behavior behaviour being belong below best better between big bit bool break bring
        broken bug build bunch button call cannot care case catch cause certain change check choose class clean clear
        click client close code column come command comment commit common complete condition config configuration
        configure confirm connect connection consider contain content continue convert copy core correct correctly
        count crash create current currently custom data database day db debug default define delete depend dependency
        deploy describe description design detail dev developer diff different directly directory display doc docs
        document documentation double down drop early easy edit effect element else empty enable end ensure entire
        entry env environment error even ever everything exact exactly example except exception execute exist existing
        expect explain export expose extra fail failed failing failure fallback false far fast feature fetch field
        file final find fine finish first fix flag flow folder follow follow-up form format found full fully
        function further general generate global good great group guide handle handler happen hard high hold http
        idea ignore image implement implementation import improve include incorrect index info information initial
        input inside install instance instead int internal invalid issue item java javascript job json key kind large
        last later latest layer lead least leave left length less level lib library light likely limit line link
        list little live load local locally log logging logic long look loop lost lot low machine main maintain make
        manage manual manually map mark match maybe mean mention merge message method middle migrate mind minor miss
        missing mode model module month move multiple name native nearly necessary never new next nice node none normal
        note nothing number object old open option order original otherwise output outside overall package page param
        parameter parse part pass past patch path pattern people perform person pick pipeline place plain plan point
        possible pr prepare present prevent previous print problem proceed process produce production program project
        proper properly property provide public pull push python quick quickly raise random rather reach read ready real
        really reason receive recent record refactor reference reject related release remain remote remove rename
        replace repo report repository request require resolve response rest result return review rewrite right root
        row rule run runtime rust safe save say scope script search second section see seem select send sense sentence
        separate server service session set setting setup several shape share short show side sign similar simple
        simply single size skip small smart solution solve somehow sort source space spec specific specify split sql
        stage standard start state statement status stay step stick stop store story strange string structure stuff
        suggest suite summary support sure switch system table target task team tell term test text thing think third
        ticket time today tool top total track translate true turn two type typescript understand unexpected unit
        unless update upgrade user util valid validate value variable verify version view visible wait walk warning
        watch web week weird whole wide width window word work worker working workflow world worth write wrong yaml
        year yesterday zero
        """
    )
)
"""Stems of words that any two texts about code may share."""
