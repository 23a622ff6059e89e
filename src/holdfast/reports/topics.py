"""Topics: a few dozen names under which a person finds the lessons of a project.

They are derived from tags and topic keys, from folders and files that lessons are about, and from words and pairs of
words that several lessons share. Each next topic is the one that covers most lessons not covered yet, where folders,
tags, pairs and words of titles count more. Only what a person decides is stored: the name of a topic, and which topics
are one (ADR 52). A topic that a person named stays one as long as a lesson has it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from typing import Literal

from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import TOPIC_NAMES
from holdfast.domain.vocabulary import FLOATED, SHIPPED, LessonId
from holdfast.errors import InvalidValueError, NotFoundError
from holdfast.lean.plain import clean
from holdfast.lean.texts import dumps, loads
from holdfast.lessons.staging import hidden_here
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.ranking.relevance import EVERYDAY, stem
from holdfast.reports.keptcounts import kept_count
from holdfast.reports.tuning import (
    LEAST_GAIN,
    NAMED_SHARE,
    PAIR_BONUS,
    PAIR_SHARE,
    PLACE_BONUS,
    TAG_BONUS,
    TITLE_BONUS,
    TOPIC_ALIKE,
    TOPIC_INSIDE,
    TOPIC_LEAST,
    TOPIC_MAJORITY,
    TOPIC_NAME,
    TOPIC_SHARE,
    TOPIC_SMALL,
    TOPIC_WIDEST,
    TOPICS_MOST,
    TOPICS_NAMED,
    TOPICS_READ,
)
from holdfast.text.occasions import CARDS
from holdfast.text.phrases import NO_SUBJECTS, pairs_in, says_something, words_in
from holdfast.text.verbs import NOUNS_TOO, VERBS

TopicKind = Literal["tag", "topic", "area", "term"]
TOPIC_KINDS: tuple[TopicKind, ...] = ("tag", "topic", "area", "term")
"""Where a topic comes from: a tag, a topic key, a folder, or words; the first that holds."""
Sees = Callable[[Lesson], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonTopic:
    """A topic and how many lessons it has."""

    name: str
    kind: TopicKind
    lessons: int
    newest: datetime
    """When one of its lessons was recorded last."""
    ids: tuple[LessonId, ...] = ()
    """Its lessons, newest first."""
    also: tuple[str, ...] = ()
    """Names of the topics that a person merged into it, or its own before it was renamed."""
    keys: tuple[str, ...] = ()
    """What a name is stored for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicList:
    """The topics of a project, those with most lessons first."""

    topics: tuple[LessonTopic, ...] = ()
    lessons: int = 0
    """How many lessons were looked at, the newest."""
    without: int = 0
    """How many of them have no topic."""

    def named(self, name: str) -> LessonTopic:
        """Return the topic of that name. Raises NotFoundError, with the names that are most like it."""
        wanted = _folded(name)
        for topic in self.topics:
            if _folded(topic.name) == wanted:
                return topic
        near = get_close_matches(wanted, [_folded(topic.name) for topic in self.topics], 3)
        hint = f"did you mean {', '.join(near)}?" if near else "holdfast topics lists them"
        raise NotFoundError(f"there is no topic {clean(name)[:TOPIC_NAME]!r}", hint=hint)


def find_topics(services: Services, location: Location, *, sees: Sees | None = None) -> TopicList:
    """Return the topics of the newest active lessons of the project, which the reader may see."""
    names = _load_names(services, location)

    def derive() -> tuple[list[Lesson], TopicList]:
        lessons = _lessons(services, location)
        return lessons, _derive(lessons, names, location.project.name)

    lessons, topics = kept_count(services, location, ("topics", location.commit, tuple(names.items())), derive)
    seen = lessons if sees is None else [lesson for lesson in lessons if sees(lesson)]
    return topics if len(seen) == len(lessons) else _derive(seen, names, location.project.name)


def rename_topic(services: Services, location: Location, name: str, new: str, *, sees: Sees | None = None) -> TopicList:
    """Give the topic another name, and return the topics.

    Raises NotFoundError for an unknown topic, and InvalidValueError for a name that is not possible or that another
    topic has.
    """
    topics = find_topics(services, location, sees=sees)
    topic, new = topics.named(name), _checked(new)
    if any(_folded(other.name) == _folded(new) and other.name != topic.name for other in topics.topics):
        raise InvalidValueError(f"another topic is named {new!r}", hint=f"holdfast topics merge '{topic.name}' '{new}'")
    return _store_names(services, location, dict.fromkeys(topic.keys, new), sees)


def merge_topics(
    services: Services, location: Location, name: str, into: str, *, sees: Sees | None = None
) -> TopicList:
    """Make two topics one, under the name of the second, and return the topics.

    Raises NotFoundError for an unknown topic, and InvalidValueError for a topic and itself.
    """
    topics = find_topics(services, location, sees=sees)
    topic, other = topics.named(name), topics.named(into)
    if topic.name == other.name:
        raise InvalidValueError("a topic cannot be merged with itself")
    return _store_names(services, location, dict.fromkeys((*topic.keys, *other.keys), other.name), sees)


def split_topic(services: Services, location: Location, name: str, *, sees: Sees | None = None) -> TopicList:
    """Take back the name of a topic, and every merge into it; return the topics.

    Raises NotFoundError for an unknown topic, and InvalidValueError for one that no person named.
    """
    topic = find_topics(services, location, sees=sees).named(name)
    if not topic.keys or not set(topic.keys) & set(_load_names(services, location)):
        raise InvalidValueError(f"nobody renamed the topic {topic.name!r} or merged another into it")
    return _store_names(services, location, dict.fromkeys(topic.keys, ""), sees)


# Names that persons gave


def _load_names(services: Services, location: Location) -> dict[str, str]:
    return _parse_names(services.store.get_state(TOPIC_NAMES, location.project.id))


def _parse_names(text: str) -> dict[str, str]:
    """Return the name of each topic's key; none where they cannot be read."""
    try:
        plain = loads(text or "{}")
    except InvalidValueError:
        return {}
    return {str(key): str(name) for key, name in plain.items()} if isinstance(plain, dict) else {}


def _store_names(services: Services, location: Location, names: Mapping[str, str], sees: Sees | None) -> TopicList:
    def edit(text: str) -> str:
        known = {key: name for key, name in (_parse_names(text) | dict(names)).items() if name}
        if len(known) > TOPICS_NAMED:
            raise InvalidValueError(
                f"at most {TOPICS_NAMED} topics are renamed or merged", hint="holdfast topics split"
            )
        return dumps(known) if known else ""

    services.store.edit_state(TOPIC_NAMES, location.project.id, edit)
    return find_topics(services, location, sees=sees)


def _checked(name: str) -> str:
    """Return a name that a person gives to a topic. Raises InvalidValueError."""
    plain = " ".join(clean(name).split())
    if not 0 < len(plain) <= TOPIC_NAME:
        raise InvalidValueError(f"the name of a topic has 1 to {TOPIC_NAME} characters")
    return plain


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


# Deriving


def _lessons(services: Services, location: Location) -> list[Lesson]:
    where = LessonFilter(project=location.project.id, states=("active",), limit=TOPICS_READ)
    hidden = hidden_here(services, location)
    return [
        lesson
        for lesson in services.store.find(where)
        if lesson.id not in hidden and not profile_of(lesson.kind).is_working_state
    ]


@dataclass(slots=True)
class _Term:
    """What may become a topic: the lessons that have it, how it is written, and where it comes from."""

    lessons: set[int] = field(default_factory=set)
    written: Counter[str] = field(default_factory=Counter)
    kinds: set[TopicKind] = field(default_factory=set)
    named: set[int] = field(default_factory=set)
    """Lessons of which it is a tag, a key or a folder."""
    titled: int = 0
    """Lessons whose title has it."""
    is_file: bool = False
    """A file is named so."""

    @property
    def name(self) -> str:
        """How it is written most often; in small letters where both are usual."""
        (best, count), *_ = sorted(self.written.items(), key=lambda pair: (-pair[1], pair[0].lower(), pair[0]))
        small = best.lower()
        return small if self.written[small] * 3 >= count else best

    @property
    def is_named(self) -> bool:
        """Whether it is a tag, a key or a folder of many of its lessons."""
        return len(self.named) >= NAMED_SHARE * len(self.lessons)

    def worth(self, is_pair: bool) -> float:
        """How much more it says to a person than a word of the lessons' texts."""
        place = self.is_file or (self.is_named and "area" in self.kinds)
        tag = self.is_named and bool(self.kinds & {"tag", "topic"})
        return (
            1
            + PLACE_BONUS * place
            + TAG_BONUS * tag
            + PAIR_BONUS * is_pair
            + TITLE_BONUS * self.titled / len(self.lessons)
        )


def _derive(lessons: Sequence[Lesson], names: Mapping[str, str], project: str) -> TopicList:
    terms = _terms(lessons)
    groups: dict[str, list[str]] = {}
    for key, name in names.items():
        if key in terms:
            groups.setdefault(name, []).append(key)
    groups |= _free_groups(terms, set(names), len(lessons), {stem(word.lower()) for word in words_in(project)}, groups)
    topics = sorted(
        (_topic(name, keys, terms, lessons, names) for name, keys in groups.items()),
        key=lambda topic: (-topic.lessons, _folded(topic.name)),
    )
    covered = {id_ for topic in topics for id_ in topic.ids}
    return TopicList(topics=tuple(topics), lessons=len(lessons), without=len(lessons) - len(covered))


def _free_groups(
    terms: Mapping[str, _Term], settled: set[str], total: int, own: set[str], groups: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    """Return the topics that nobody named, each under a name that no other has."""
    chosen = [frozenset().union(*(terms[key].lessons for key in keys)) for keys in groups.values()]
    free = {key: term for key, term in terms.items() if key not in settled and _may_name(key, term, total, own)}
    taken = {_folded(name) for name in groups}
    for key in [key for key in free if _is_half(key, free)]:
        del free[key]
    named: dict[str, list[str]] = {}
    for key in _choose(free, chosen, max(TOPIC_LEAST, total * TOPIC_SHARE)):
        name = terms[key].name
        if _folded(name) not in taken:
            taken.add(_folded(name))
            named[name] = [key]
    return named


def _terms(lessons: Sequence[Lesson]) -> dict[str, _Term]:
    terms: dict[str, _Term] = defaultdict(_Term)
    for number, lesson in enumerate(lessons):
        for key, written, kind in _mentions(lesson):
            term = terms[key]
            if kind != "term" or number not in term.lessons:
                term.written[written] += 1
            term.lessons.add(number)
            term.kinds.add(kind)
            if kind != "term":
                term.named.add(number)
        for key in _keys_of(words_in(lesson.title)):
            terms[key].titled += key in terms
        for path in lesson.paths:
            for key in _keys_of(words_in(path.rpartition("/")[2].partition(".")[0])):
                if key in terms:
                    terms[key].is_file = True
    return {key: term for key, term in terms.items() if term.lessons}


def _mentions(lesson: Lesson) -> Iterator[tuple[str, str, TopicKind]]:
    """Yield the key, the spelling and the source of what the lesson is about."""
    for tag in lesson.tags:
        if tag not in (FLOATED, SHIPPED):
            yield from _named(tag, "tag")
    if lesson.topic_key and not lesson.topic_key.startswith(CARDS):
        yield from _named(lesson.topic_key.partition("/")[0], "topic")
    for path in lesson.paths:
        for folder in path.split("/")[:-1]:
            yield from _named(folder, "area")
    words = words_in(f"{lesson.title} . {lesson.insight}")
    yield from ((_key(word), word, "term") for word in words if says_something(word) and len(word) > 2)
    yield from ((_key(*pair), " ".join(pair), "term") for pair in pairs_in(words))


def _named(name: str, kind: TopicKind) -> Iterator[tuple[str, str, TopicKind]]:
    words = [word for word in words_in(name) if word]
    if words and all(map(says_something, words)):
        yield _key(*words), " ".join(words), kind


def _keys_of(words: list[str]) -> set[str]:
    return {_key(word) for word in words if says_something(word)} | {_key(*pair) for pair in pairs_in(words)}


def _key(*words: str) -> str:
    return " ".join(stem(word.lower()) for word in words)


def _may_name(key: str, term: _Term, total: int, own: set[str]) -> bool:
    """Return whether a person would recognise a subject in it, and neither too few nor too many lessons have it."""
    least, most = max(TOPIC_LEAST, total * TOPIC_SHARE), max(TOPIC_SMALL, total * TOPIC_WIDEST)
    if not least <= len(term.lessons) <= min(most, total * TOPIC_MAJORITY):
        return False
    words = [word.lower() for word in term.name.split()]
    if any(word in NO_SUBJECTS for word in words) or any(part in own for part in key.split()):
        return False
    is_verb = any(word in VERBS and word not in NOUNS_TOO for word in words)
    if not term.is_named and (is_verb or words[-1].endswith("ed")):
        return False
    return len(words) > 1 or key not in EVERYDAY or term.is_named


def _is_half(key: str, terms: Mapping[str, _Term]) -> bool:
    """Return whether most lessons that have the word have it within one pair: `shadow` in `shadow branch`."""
    if " " in key:
        return False
    wholes = (term for other, term in terms.items() if " " in other and key in other.split(" "))
    return any(len(whole.lessons & terms[key].lessons) >= PAIR_SHARE * len(terms[key].lessons) for whole in wholes)


def _choose(terms: Mapping[str, _Term], chosen: Iterable[frozenset[int]], least: float) -> Iterator[str]:
    """Yield keys: always the one that adds most, by how often its lessons are covered already."""
    taken = [*chosen]
    covered = Counter(number for lessons in taken for number in lessons)
    left = dict(terms)
    while left and len(taken) < TOPICS_MOST:
        gains = {key: sum((1 + covered[number]) ** -0.5 for number in term.lessons) for key, term in left.items()}
        key = max(left, key=lambda each: (gains[each] * left[each].worth(" " in each), each))
        lessons = frozenset(left.pop(key).lessons)
        if gains[key] < least * LEAST_GAIN:
            return
        if any(_is_covered(lessons, other) for other in taken):
            continue
        taken.append(lessons)
        covered.update(lessons)
        yield key


def _is_covered(lessons: frozenset[int], other: frozenset[int]) -> bool:
    shared = len(lessons & other)
    return shared >= TOPIC_ALIKE * len(lessons | other) or shared >= TOPIC_INSIDE * len(lessons)


def _topic(
    name: str, keys: Sequence[str], terms: Mapping[str, _Term], lessons: Sequence[Lesson], names: Mapping[str, str]
) -> LessonTopic:
    numbers = sorted(set().union(*(terms[key].lessons for key in keys)))
    kinds = set().union(*(terms[key].kinds if terms[key].is_named else {"term"} for key in keys))
    former = dict.fromkeys(terms[key].name for key in keys if key in names)
    return LessonTopic(
        name=name,
        kind=next(kind for kind in TOPIC_KINDS if kind in kinds),
        lessons=len(numbers),
        newest=max(lessons[number].recorded_at for number in numbers),
        ids=tuple(lessons[number].id for number in numbers),
        also=tuple(each for each in former if _folded(each) != _folded(name)),
        keys=tuple(keys),
    )
