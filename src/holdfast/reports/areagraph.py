"""Graph: the newest lessons of one area, the files and symbols that they are about, and the links between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import FRESHNESSES, Freshness, LessonId, LessonKind
from holdfast.freshness.check import FreshnessCheck, worst
from holdfast.lessons.staging import hidden_here
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.reports.tuning import CHECKED_S, GRAPH_LESSONS, GRAPH_PLACES, GRAPH_READ, GRAPH_TOTAL


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLink:
    """The code that a lesson is about, by its number among the places, and the verdict on it."""

    place: int
    freshness: Freshness


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLesson:
    """A lesson of the graph, with the worst verdict on all of its anchors."""

    id: LessonId
    title: str
    kind: LessonKind
    freshness: Freshness
    caveat: str = ""
    links: tuple[GraphLink, ...] = ()
    """The files and symbols of the graph that it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPlace:
    """A file, or a symbol in it, and how many of the graph's lessons are about it."""

    path: str
    symbol: str = ""
    lessons: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaGraph:
    """The lessons and the code of one area, and what was left out."""

    area: str
    has_code: bool
    lessons: tuple[GraphLesson, ...] = ()
    places: tuple[GraphPlace, ...] = ()
    total: int = 0
    """Confirmed lessons of the area, counted up to a limit; in the whole project some of them are about no file."""
    read: int = 0
    """The newest of them, among which those about files were looked for."""
    about_code: int = 0
    """How many of these are about files."""
    left_out_places: int = 0


def graph_of(
    services: Services, location: Location, area: str = "", sees: Callable[[Lesson], bool] = lambda lesson: True
) -> AreaGraph:
    """Return the graph of a folder or a file, or of the whole project; of lessons that `sees` allows."""
    area = area.strip("/")
    where = LessonFilter(project=location.project.id, states=("active",))
    inside, exact = replace(where, area=area), replace(where, path=area)
    newest = services.store.find(replace(inside, limit=GRAPH_READ))
    if area and not newest:
        inside, newest = exact, services.store.find(replace(exact, limit=GRAPH_READ))
    total = sum(services.store.count_by(replace(inside, limit=GRAPH_TOTAL), "state", 1).values())
    hidden = hidden_here(services, location)
    about_code = [lesson for lesson in newest if lesson.paths and lesson.id not in hidden and sees(lesson)]
    lessons = about_code[:GRAPH_LESSONS]
    counts = Counter(place for lesson in lessons for place in _places(lesson, area))
    shown = sorted(counts, key=lambda place: (-counts[place], place))[:GRAPH_PLACES]
    numbers = {place: number for number, place in enumerate(sorted(shown))}
    check = FreshnessCheck(services, location, within_s=CHECKED_S)
    return AreaGraph(
        area=area,
        has_code=location.has_work_tree,
        lessons=tuple(_lesson(lesson, check, numbers) for lesson in lessons),
        places=tuple(GraphPlace(path=path, symbol=symbol, lessons=counts[path, symbol]) for path, symbol in numbers),
        total=total,
        read=len(newest),
        about_code=len(about_code),
        left_out_places=len(counts) - len(shown),
    )


def _places(lesson: Lesson, area: str) -> list[tuple[str, str]]:
    """Return the (path, symbol) pairs of the lesson in the area, each once."""
    pairs = ((anchor.path, anchor.symbol) for anchor in lesson.anchors if anchor.path)
    inside = f"{area}/"
    return list(dict.fromkeys(pair for pair in pairs if not area or pair[0] == area or pair[0].startswith(inside)))


def _lesson(lesson: Lesson, check: FreshnessCheck, numbers: dict[tuple[str, str], int]) -> GraphLesson:
    verdicts = check.anchor_verdicts(lesson)
    freshness, caveat = worst(verdicts)
    states: dict[int, Freshness] = {}
    for anchor, verdict in verdicts:
        number = numbers.get((anchor.path, anchor.symbol))
        if number is not None:
            states[number] = max(states.get(number, "fresh"), verdict.freshness, key=FRESHNESSES.index)
    links = tuple(GraphLink(place=number, freshness=state) for number, state in sorted(states.items()))
    return GraphLesson(
        id=lesson.id, title=lesson.title, kind=lesson.kind, freshness=freshness, caveat=caveat, links=links
    )
