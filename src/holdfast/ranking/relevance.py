"""Lexical overlap of a lesson with a question: the measure behind the relevance threshold.

Each of a question's terms has a weight: names and identifiers the largest, everyday words of programming (`test`,
`file`, `error`, ...) a small one, because any two texts about code share them. Words are compared by a light stem.
The weights are fixed and not counted in the store, so they work in a store of 20 lessons. The text retriever's score
says how rare a word is among many lessons; `threshold` uses both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.domain.lesson import Lesson
from holdfast.ranking.tuning import (
    EVERYDAY_WEIGHT,
    KNOWN_CHUNKS,
    NAME_CHARACTERS,
    NAME_WEIGHT,
    NAME_WORDS,
    PAIR_WEIGHT,
    SLIP_LEAST,
    SLIPS_AMONG,
    WEIGHED_TERMS,
    WORD_WEIGHT,
)
from holdfast.text import words
from holdfast.text.searchkeys import named_places
from holdfast.text.words import WORD_LIMIT, chunks, is_begun, terms, terms_of, word_set

TELLING, EVERYDAY_NAME, UNNAMED = 2, 1, 0


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
    matched = [
        (weight, word)
        for root, weight, word in question.stems
        if root in stems or (len(root) == 1 and _begins_any(root, stems))
    ]
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


def forget_words() -> None:
    """Empty the caches of words: a word of a purged lesson must not stay in memory."""
    _KNOWN.clear()
    words.forget_words()


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


EVERYDAY = word_set(
    """
    able abov accept across action actual actually add address agent allow almost already alway answer anyth app
    appear application apply approach argument around array ask assum attempt availabl avoid away back bad base
    basic becom begin behavior behaviour being belong below best better between big bit block bool branch break
    bring broken bug build bunch button call cannot care case catch caus certain chang check checkout choos class
    clean clear cli click client clon clos code column come command comment commit common compar complet condition
    config configur configuration confirm connect connection consider contain content context continu convert copy
    core correct correctly count crash creat current currently custom data databas day db debug default defin delet
    depend dependency deploy describ description design detail dev developer diff different directly directory
    display doc document documentation doubl down drop early easy edit effect element else empty enabl end ensur
    entir entry env environment error even ever everyth exact exactly exampl except exception execut exist expect
    explain export expos extra fail failur fallback fals far fast featur fetch field file final find fine finish
    first fix flag flow folder follow follow-up form format found full fully function further general generat git
    github global go good great group guid handl handler happen hard helper high hold http idea ignor imag implement
    implementation import improv includ incorrect index info information initial input insid install instanc instead
    int integration internal invalid issu item java javascript job js json jsx kept key kind larg last later latest
    layer lead least leav left length less level lib library light likely limit line link list littl live load local
    locally log logg logic long look loop lost lot low machin main maintain make manag manual manually many map mark
    match mayb md mean mention merg messag method middl migrat mind minor miss mode model modul month move multipl
    name nativ nearly necessary never new next nice node none normal note noth npm number object old open option
    order original otherwis output outsid overall packag page param parameter pars part pass past patch path pattern
    peopl perform person pick pipelin plac plain plan point possibl pr prepar present prevent previous print problem
    proc process produc production program project proper properly property provid public pull push py python quick
    quickly rais random rather reach read readm ready real really reason receiv recent record refactor referenc
    reject relat releas remain remot remov renam replac repo report repository request requir resolv respons rest
    result return review rewrit right root row rs rule run runtim rust safe save say scop script search second
    section see seem select send sens sentenc separat server servic session set sett setup several shap shar short
    show side sign similar simpl simply singl size skip small smart solution solv somehow sort sourc spac spec
    specific specify split sql src stag standard start stat statement status stay step stick stop stor story str
    strang structur stuf suggest suit summary support sure switch system tabl tag target task team tell term test
    text thing think third ticket time today tool top total touch track translat true ts tsx turn two type
    typescript understand unexpect unit unknown unless updat upgrad user util valid validat valu variabl verify
    version view visibl wait walk warn watch web week weird whol wide width window word work worker workflow world
    worth writ wrong yaml year yesterday zero
    """
)
"""Stems of words that any two texts about code may share, as `stem` makes them."""


# The names of a lesson: its topic key and its tags. A question that contains one of them is about that lesson


def runs_of(text: str) -> dict[str, bool]:
    """Return every run of 1 to NAME_WORDS stemmed words of a question, and whether it may match with a slip."""
    stems = _stems(text[:NAME_CHARACTERS])
    short = len(stems) <= SLIPS_AMONG
    runs: dict[str, bool] = {}
    for at in range(len(stems)):
        for size in range(1, min(NAME_WORDS, len(stems) - at) + 1):
            run = stems[at : at + size]
            runs[" ".join(run)] = short and not all(word in EVERYDAY for word in run)
    return runs


def naming(lesson: Lesson, runs: dict[str, bool]) -> int:
    """Return TELLING if the question has a name of the lesson, EVERYDAY_NAME for one everyday word, else UNNAMED."""
    best = UNNAMED
    for name in filter(None, (lesson.topic_key, *lesson.tags)) if runs else ():
        stems = _stems(name)
        if len(stems) > NAME_WORDS:
            continue
        joined = " ".join(stems)
        if joined in EVERYDAY:
            best = EVERYDAY_NAME if joined in runs else best
        elif joined in runs or _has_slip(joined, runs):
            return TELLING
    return best


def _has_slip(name: str, runs: dict[str, bool]) -> bool:
    return len(name) >= SLIP_LEAST and any(near and _is_slip(run, name) for run, near in runs.items())


def _is_slip(word: str, other: str) -> bool:
    """Return whether the words differ by one extra, missing or swapped letter; the first letter must be equal."""
    if word[0] != other[0] or abs(len(word) - len(other)) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), len(word))
    if len(word) == len(other):
        return word[at : at + 2] == other[at : at + 2][::-1] and word[at + 2 :] == other[at + 2 :]
    shorter, longer = sorted((word, other), key=len)
    return shorter[at:] == longer[at + 1 :]


def _stems(text: str) -> Sequence[str]:
    return [stem(word) for word in "".join(c if c.isalnum() else " " for c in text.lower()).split()]
