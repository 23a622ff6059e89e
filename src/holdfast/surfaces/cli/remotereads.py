"""`holdfast --remote`: what commands read comes from a team's server; whether it is fresh, the folder's code says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, NoReturn, Self, cast

from holdfast.bootstrap import Memory
from holdfast.client.client import Client
from holdfast.curation.conflicts import Conflict
from holdfast.curation.explain import Explanation, FieldChange, Version, explain_lesson
from holdfast.domain.briefing import Briefing, Ranked
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
from holdfast.domain.vocabulary import Freshness, LessonId
from holdfast.errors import InvalidValueError, NotFoundError
from holdfast.freshness.compare import Comparison, compare_lesson
from holdfast.home.remotes import load_remotes
from holdfast.lean.plain import from_plain, parse_instant
from holdfast.lessons.lookup import LessonHistory
from holdfast.outcomes.standing import since_of, standing_of
from holdfast.outcomes.stats import Difference, Share, Stats
from holdfast.reports.digest import Audience, MemoryDigest, digest_of
from holdfast.reports.topics import LessonTopic, TopicKind, TopicList

MOST_RECALLED = 50
"""The most lessons that a server answers one question with."""
A_PAGE = 200
HERE_ONLY = "leave out --remote: this is read from the memory of this machine"


class RemoteMemory:
    """The methods of `Memory` that commands read with, answered by a server. What it cannot answer is refused."""

    def __init__(self, local: Memory, name: str) -> None:
        """Raises InvalidValueError where no server of that name is known."""
        self._local = local
        self.services = local.services
        self.settings = local.settings
        self.folder = local.folder
        self.location = local.location
        remote = load_remotes(local.settings.home).named(name)
        self._client = Client(remote.url, remote.token, project=self.location.project.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._client.close()
        self._local.close()

    def __getattr__(self, name: str) -> NoReturn:
        raise InvalidValueError("a server does not answer this", hint=HERE_ONLY)

    def instant(self, text: str) -> datetime:
        """Return the instant of a time, of words such as `3 days ago`, or of a commit of the folder."""
        return self._local.instant(text)

    def verdicts(self, lessons: Sequence[Lesson]) -> list[tuple[Freshness, str]]:
        """Return each lesson's freshness against the folder's code."""
        return self._local.verdicts(lessons)

    def get(self, ref: str, as_of: datetime | None = None) -> Lesson:
        """Return the lesson with that id, or with an id that ends like this."""
        _refuse(as_of=as_of)
        return self._client.get(ref)

    def lessons(
        self, *, limit: int = 1000, host: str = "", all_projects: bool = False, **conditions: Any
    ) -> list[Lesson]:
        """Return lessons of the project on the server, newest first."""
        _refuse(host=host, all_projects=all_projects)
        pages = self._client.every(self._client.lessons, limit=min(limit, A_PAGE), **conditions)
        return list(islice(pages, limit))

    def recall(
        self,
        text: str = "",
        *,
        limit: int = 3,
        unconfirmed: object = (),
        all_projects: bool = False,
        across: bool = False,
        **conditions: Any,
    ) -> Briefing:
        """Return the lessons that matter to the question, checked against the folder's code."""
        _refuse(all_projects=all_projects, across=across)
        briefing = self._client.recall(text, limit=min(limit, MOST_RECALLED), **conditions)
        return replace(briefing, items=self._checked(briefing.items), near=self._checked(briefing.near))

    def _checked(self, items: Sequence[Ranked]) -> tuple[Ranked, ...]:
        verdicts = self.verdicts([item.lesson for item in items])
        return tuple(
            replace(item, freshness=freshness, caveat=caveat)
            for item, (freshness, caveat) in zip(items, verdicts, strict=True)
        )

    def left_off(self, question: str, budget: int) -> str:
        """Return nothing: a server is asked for lessons."""
        return ""

    def brief(self, *, host: str = "", **moments: str) -> list[Briefing]:
        """Return what a new session of a machine without a memory of its own would be told."""
        _refuse(host=host)
        return self._client.brief(**moments)

    def lineage(self, ref: str) -> tuple[Version, ...]:
        """Return the versions of the lesson, its predecessors and its successors, oldest first."""
        return tuple(
            Version(
                lesson=version.lesson, verb=version.verb, actor=version.actor, why=version.why,
                differences=tuple(from_plain(FieldChange, each) for each in version.differences),
            )
            for version in self._client.lineage(ref)
        )  # fmt: skip

    def history(self, lesson: LessonId) -> LessonHistory:
        """Return a lesson's changes, deliveries and outcomes, each newest first."""
        log = self._client.explain(lesson)
        return LessonHistory(
            changes=tuple(from_plain(Change, each) for each in log["changes"]),
            deliveries=tuple(from_plain(Delivery, each) for each in log["deliveries"]),
            outcomes=tuple(from_plain(Outcome, each) for each in log["outcomes"]),
        )

    def explain(self, ref: str) -> Explanation:
        """Return why the lesson is believed."""
        lesson = self.get(ref)
        log = self.history(lesson.id)
        standing = standing_of(log.outcomes, since_of(log.changes))
        return explain_lesson(self.services, self.location, lesson, log, standing)

    def compare(self, ref: str) -> tuple[Lesson, tuple[Comparison, ...]]:
        """Return the lesson and its anchors' code then and now, as the folder's history has it."""
        lesson = self.get(ref)
        return lesson, compare_lesson(self.services, self.location, lesson)

    def conflicts(self) -> list[Conflict]:
        """Return pairs of lessons that cannot hold together."""
        return [
            Conflict(
                better=pair.better, worse=pair.worse, slot=pair.slot, values=(pair.values[0], pair.values[1]),
                reason=pair.reason, is_sure=pair.sure,
            )
            for pair in self._client.conflicts()
        ]  # fmt: skip

    def checkpoint(self, task: str = "") -> Checkpoint | None:
        """Return the present state of a task; None without one."""
        try:
            return self._client.checkpoint(task)
        except NotFoundError:
            return None

    def checkpoints(self, limit: int) -> list[Checkpoint]:
        """Return the states of tasks, newest first."""
        return list(self._client.checkpoints(limit=min(limit, A_PAGE)))

    def stats(self, *, all_projects: bool = False) -> list[Stats]:
        """Return what came of deliveries in the project."""
        _refuse(all_projects=all_projects)
        plain = self._client.stats()
        for name, value in plain.items():
            if isinstance(value, dict):
                plain[name] = from_plain(Share if "of" in value else Difference, value)
        return [Stats(**{name: value for name, value in plain.items() if name in Stats.__dataclass_fields__})]

    def digest(
        self, *, since: datetime, until: datetime | None = None, audience: Audience = "me", limit: int = 0
    ) -> MemoryDigest:
        """Return what happened to the project's memory on the server; `limit` is the server's own."""
        return digest_of(self._client.digest(since=since, until=until, audience=audience))

    def topics(self) -> TopicList:
        """Return the topics of the server's lessons."""
        topics = [
            LessonTopic(name=each.name, kind=cast("TopicKind", each.kind), lessons=each.lessons,
                        newest=parse_instant(each.newest), also=each.also)
            for each in self._client.topics()
        ]  # fmt: skip
        return TopicList(topics=tuple(topics))

    def for_review(self) -> list[tuple[Lesson, str]]:
        """Return nothing: `holdfast review` is for the memory of this machine."""
        return []

    def staged_elsewhere(self) -> int:
        """Return 0: lessons that are staged on a branch are not shared."""
        return 0


def _refuse(**conditions: object) -> None:
    """Raise InvalidValueError for a condition that a server does not take."""
    names = [name.replace("_", "-") for name, value in conditions.items() if value]
    if names:
        raise InvalidValueError(f"a server does not answer --{names[0]}", hint=HERE_ONLY)
