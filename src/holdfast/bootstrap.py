"""`Memory`: the front of all use cases, for one folder; and the few things that surfaces open without one.

`wiring` opens what a memory works with. A use case is a function over the services and a location; as a method of
`Memory` it has the memory's own (`_here`), and its docstring.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import partial, wraps
from json import dumps
from shutil import which
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

# isort: off
from holdfast import plugins
from holdfast.capture import sessionevents as _sessionevents
from holdfast.capture.observe import drop_old_texts as _drop_old_texts, observe as _observe
from holdfast.curation import (
    adopt as _adopt,
    agentwords as _agentwords,
    audit as _audit,
    checkpoint as _checkpoint,
    conflicts as _conflicts,
    explain as _explain,
    forget as _forget,
    remember as _remember,
    review as _review,
    revise as _revise,
    revival as _revival,
    transfer as _transfer,
)
from holdfast.client.session import HOST as SDK_HOST, Calls, Session
from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson, Triggers
from holdfast.domain.project import SERVER, Location, Project
from holdfast.domain.records import Change
from holdfast.domain.statefamilies import StateFamily
from holdfast.domain.vocabulary import (
    Freshness, LessonId, LessonKind, ProjectId, ScopeLevel, SessionId, State, Trust,
)  # fmt: skip
from holdfast.errors import (
    AlreadyRunningError, HoldfastError, InvalidValueError, ModelError, NotFoundError, StoreError,
)  # fmt: skip
from holdfast.freshness import compare as _compare, verify as _verify
from holdfast.freshness.check import FreshnessCheck
from holdfast.freshness.watch import Watch
from holdfast.home import witness
from holdfast.home.runfiles import RunLock
from holdfast.learning import gitbackfill as _gitbackfill, learn as _learn
from holdfast.lessons import crossing as _crossing, lookup as _lookup, staging as _staging
from holdfast.lessons.lookup import LessonHistory
from holdfast.lessons.staging import hidden_here, seen_here
from holdfast.outcomes import settle as _settle, stats as _stats
from holdfast.ports.host import Host
from holdfast.ports.plugins import LanguageModel
from holdfast.ports.services import Services
from holdfast.ports.store import Store
from holdfast.publishing import okf as _okf
from holdfast.publishing import sync as _sync
from holdfast.publishing.sync import Syncing, SyncReport
from holdfast.recall import brief as _brief, deliver as _deliver, servedbrief as _servedbrief
from holdfast.recall.ask import ask
from holdfast.recall.embed import embed_pending, embed_written
from holdfast.recall.question import question
from holdfast.recall.sessions import ask_across, only_turns, with_turns
from holdfast.reports import changecheck as _changecheck
from holdfast.service import hook
from holdfast.settings import Settings, child_environment, load_settings, read_secret
from holdfast.wiring import TIMEOUT_SCALE, Opened, SystemClock, first_folder, load_host
from holdfast.workspace import authorship as _authorship
from holdfast.workspace.bare import BareWorkspace, server_location
from holdfast.workspace.gitrun import Git
from holdfast.workspace.identity import Claims
from holdfast.workspace.local import LocalWorkspace

# isort: on

if TYPE_CHECKING:
    from holdfast.home.remotes import Remote
    from holdfast.publishing.remote.exchange import ExchangeReport, Progress
    from holdfast.reports.digest import Audience, MemoryDigest
    from holdfast.reports.recommendations import Recommendation
    from holdfast.reports.sessionstory import Part, SessionStory
    from holdfast.reports.threads import ThreadChoice, Threads
    from holdfast.reports.timeline import SessionChoice, Timeline
    from holdfast.reports.topics import TopicList

P = ParamSpec("P")
SYNC_LOCK = "sharing"
"""The lock of whoever syncs lessons, with files or with a server."""
SYNC_WAIT_S = 10.0
"""Seconds to wait for another process that syncs."""
R = TypeVar("R")


def _here(use_case: Callable[Concatenate[Services, Location, P], R]) -> Callable[Concatenate[Memory, P], R]:
    """Return a use case as a method of `Memory`, which has the services and the location."""

    @wraps(use_case)
    def method(memory: Memory, /, *arguments: P.args, **named: P.kwargs) -> R:
        return use_case(memory.services, memory.location, *arguments, **named)

    return method


def _version(ref: str | Lesson) -> tuple[str, datetime | None]:
    """Return the id, and of a lesson that was read when its version was recorded."""
    return (ref.id, ref.recorded_at) if isinstance(ref, Lesson) else (ref, None)


def _everywhere(use_case: Callable[Concatenate[Services, P], R]) -> Callable[Concatenate[Memory, P], R]:
    """Return a use case for all projects as a method of `Memory`, which has the services."""

    @wraps(use_case)
    def method(memory: Memory, /, *arguments: P.args, **named: P.kwargs) -> R:
        return use_case(memory.services, *arguments, **named)

    return method


class Memory:
    """The memory of a folder's project on this machine: `with Memory() as memory: memory.recall("…")`."""

    def __init__(
        self, folder: str = "", *, settings: Settings | None = None, brief: bool = False, wait_s: float | None = None
    ) -> None:
        """Open the configured store, which is created on first use. Raises StoreError or InvalidValueError.

        `brief` is for a command that ends soon: a store that cannot be written, because the disk is full or
        permissions are missing, is opened for reading. `wait_s` is how long a call may wait for another process's
        lock; by default the store decides.
        """
        self.settings = settings or load_settings()
        opened = Opened(folder or os.getcwd(), self.settings, brief=brief, wait_s=wait_s)
        self._opened: Opened | None = opened
        self.services = opened.services
        self.folder = opened.folder
        self._location: Location | None = None

    @classmethod
    def over(cls, services: Services, project: Project, settings: Settings) -> Self:
        """Return the memory of a project on a server, over services whose store somebody else opens and closes."""
        memory = cls.__new__(cls)
        memory.settings, memory.services = settings, services
        memory._opened = None
        memory._location = server_location(project)
        memory.folder = memory._location.root
        return memory

    def __repr__(self) -> str:
        return f"Memory({self.folder!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store, and the code index if one was opened."""
        if self._opened is None:
            return
        with suppress(
            StoreError
        ):  # already closed, damaged or locked: the next process that closes it keeps the witness
            witness.keep(self.settings.home, self.settings.store, self.services.store.extent())
        self._opened.close()

    def at(self, folder: str) -> Memory:
        """Return the same memory for another folder."""
        there = copy(self)
        there.folder, there._location = folder, None
        return there

    def of_project(self, id: ProjectId) -> Memory:
        """Return the same memory for another project of the store, in the folder of its first session.

        Where that folder is gone, or is another project's by now, the project is known without its code, as on a
        server. Raises NotFoundError for a project of which the store has nothing.
        """
        store = self.services.store
        if id not in store.list_projects():
            raise NotFoundError("there is no such project in this memory")
        folder = first_folder(store, id)
        if folder and os.path.isdir(folder):
            there = self.at(folder)
            with suppress(HoldfastError):
                if there.location.project.id == id:
                    return there
        named = Project(id=id, name=self.name_of(id), source=SERVER)
        person = self.services.workspace.person(self.location)
        elsewhere = self.with_services(replace(self.services, workspace=BareWorkspace(person, named)))
        elsewhere._location = server_location(named)
        elsewhere.folder = elsewhere._location.root
        return elsewhere

    def name_of(self, id: ProjectId) -> str:
        """Return what people call a project of the store: its name, that of its first folder, or its id's end."""
        name = _crossing.name_of(self.services.store, id)
        if not name.endswith(id[-8:]):
            return name
        return os.path.basename(first_folder(self.services.store, id) or "") or name

    def for_hooks(self) -> Memory:
        """Return the same memory for one answer that a host waits for; it checks few lessons closely, and briefly."""
        return self if self._opened is None else self.with_services(self._opened.for_hooks())

    def with_services(self, services: Services) -> Memory:
        """Return the same memory over other services, which this memory closes."""
        other = self.at(self.folder)
        other.services = services
        return other

    @property
    def location(self) -> Location:
        """The project and work tree of the folder. Raises ProjectUnknownError or InvalidValueError."""
        if self._location is None:
            self._location = self.services.workspace.locate(self.folder)
        return self._location

    def find_loss(self) -> witness.Loss | None:
        """Return what the store has lost since it was last closed, or None. Raises StoreError."""
        return witness.find_loss(self.settings.home, self.settings.store, self.services.store.extent())

    # Capture and learning

    def watch(self) -> Watch:
        """Return a watch of the files that the project's active lessons are about; the caller repeats its looks."""
        return Watch(self.services, self.folder)

    append = _here(_observe)
    learn = _here(_learn.learn)
    learn_pending = _everywhere(_learn.learn_pending)
    barren_sessions = _here(_learn.count_barren)
    drop_old_texts = _everywhere(_drop_old_texts)
    embed_pending = _everywhere(embed_pending)
    embed_written = _everywhere(embed_written)

    # Delivery

    inject = _here(_deliver.inject)
    note_recall = _here(_deliver.log_recall)
    prepare_brief = _here(_brief.prepare)

    def observe(self, call: HookCall) -> int:
        """Store the call's events, redacted; return how many were new."""
        return _observe(self.services, self.location, call.events)

    def answer_hook(self, host: str, payload: dict[str, Any]) -> str:
        """Answer a hook: store its events, deliver lessons for its moment, and return the host's stdout text."""
        return hook.answer(self, host, payload)

    def brief(self, *, prompt: str = "", file: str = "", command: str = "", host: str = "") -> list[Briefing]:
        """Return what a new session here is told: at its start, then for the prompt, file and command that are given.

        Nothing is logged. `host` limits the start to what that host accepts; an unknown one raises PluginNotFoundError.
        """
        if host:
            self.services.host(host)
        start = HookCall(host=host, name="brief", session=SessionId("brief"), cwd=self.folder, moment="session_start")
        if self.services.serves_team and not (prompt or file or command or host):
            preview = partial(_deliver.preview, self.services, self.location, [start])
            return [_servedbrief.served_brief(self.services, self.location, lambda: preview()[0])]
        calls = [start]
        if prompt:
            calls.append(replace(start, moment="prompt", prompt=prompt))
        if file:
            calls.append(replace(start, moment="before_file", paths=(file,)))
        if command:
            calls.append(replace(start, moment="before_command", command=command))
        return _deliver.preview(self.services, self.location, calls)

    def recall(
        self,
        text: str = "",
        *,
        paths: Sequence[str] = (),
        symbols: Sequence[str] = (),
        command: str = "",
        error: str = "",
        limit: int = 3,
        budget_tokens: int = 2000,
        as_of: datetime | None = None,
        states: Sequence[State] = (),
        kinds: Sequence[LessonKind] = (),
        unconfirmed: Sequence[State] = (),
        all_projects: bool = False,
        across: bool = False,
        sessions: bool = False,
    ) -> Briefing:
        """Return the lessons that matter to the question, best first, within the budget, checked against the code now.

        Lessons in the `unconfirmed` states compete with the active ones and are marked. They wait for a person, so an
        agent does not get them. `states` restricts the answer to lessons in these states. With `across`, lessons
        of sibling projects follow the project's own, each with its project's name as the caveat.

        Where no lesson answers well, the briefing's `turns` are the turns of earlier sessions that do. With `sessions`,
        only these are searched.
        """
        question_text = error if text == "" else text
        query = question(
            self.services, self.location, question_text, paths, symbols, command, error, as_of, states or ("active",),
            kinds,
            all_projects,
        )  # fmt: skip
        if sessions:
            return only_turns(self.services, query)
        unconfirmed = () if states else tuple(unconfirmed)
        if all_projects:
            query = replace(query, exclude=_crossing.closed_lessons(self.services.store, query.project))
        if across and not all_projects:
            briefing = ask_across(
                self.services, self.location, query, limit=limit, budget_tokens=budget_tokens, unconfirmed=unconfirmed
            )
        else:
            briefing = ask(
                self.services, self.location, query, limit=limit, budget_tokens=budget_tokens, unconfirmed=unconfirmed
            )
        return briefing if states or kinds else with_turns(self.services, query, briefing)

    def session(self, id: str = "", *, model: str = "") -> Session:
        """Return a session of an agent written in Python, for a `with` block; its methods say what to report.

        A session that goes on later has the same `id`; without one it gets a new id. `model` is the model's name.
        """
        calls = Calls(id or self.services.clock.new_id(), self.folder, model)
        return Session(lambda call: self.answer_hook(SDK_HOST, call), self._learn_from, calls)

    def _learn_from(self, session: str) -> None:
        self.learn(SessionId(session))
        self.settle_pending()
        self.embed_pending()
        self.prepare_brief(SessionId(session))

    # Lessons

    def remember(
        self,
        insight: str,
        *,
        kind: LessonKind = "convention",
        title: str = "",
        why: str = "",
        how: str = "",
        snippets: Sequence[str] = (),
        files: Sequence[str] = (),
        symbols: Sequence[str] = (),
        tags: Sequence[str] = (),
        topic_key: str = "",
        scope: ScopeLevel = "project",
        pinned: bool = False,
        private: bool = False,
        author: str = "",
        quote: str = "",
        trust: Trust = "person",
        when: Triggers | None = None,
        revive_when: str = "",
    ) -> Lesson:
        """Store a lesson that somebody states; one with an existing topic_key revises that lesson.

        `when` adds triggers to those derived from its words. `revive_when` is a condition, such as `numpy>=2`, that
        wakes the lesson once it is retired.
        """
        revival = _revival.settle_condition(self.services, self.location, revive_when) if revive_when else ""
        return _remember.remember(
            self.services, self.location, insight=insight, kind=kind, title=title, why=why, how=how,
            snippets=snippets, files=files, symbols=symbols, tags=tags, topic_key=topic_key, scope=scope,
            pinned=pinned, private=private, author=author, quote=quote, trust=trust, when=when,
            revival=revival,
        )  # fmt: skip

    def revise(
        self,
        ref: str | Lesson,
        *,
        author: str = "",
        trust: Trust = "person",
        when: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> Lesson:
        """Close the lesson and add a successor with those fields changed; return the successor.

        `when` are triggers that change with it, as `edit` takes them. Raises StaleWriteError if somebody has changed
        the lesson since a given `Lesson` was read.
        """
        id_, expected = _version(ref)
        return _revise.revise(
            self.services, self.location, id_, changes, author=author, trust=trust, when=when, expected=expected
        )

    def retire(self, ref: str, revive_when: str = "", *, author: str = "") -> Lesson:
        """Retire the lesson, until a condition such as `numpy>=2` holds, or for good."""
        return self.revive_when(ref, revive_when, retire=True, author=author)

    def edit(self, ref: str | Lesson, *, author: str = "", **changes: Any) -> Lesson:
        """Change the title, or when a lesson is told: paths, symbols, literals, commands, work, needs, standing.

        Omitted fields stay. Raises StaleWriteError as `revise` does.
        """
        id_, expected = _version(ref)
        return _revise.edit(self.services, self.location, id_, changes, author=author, expected=expected)

    def forget(self, ref: str | Lesson, *, author: str = "") -> Lesson:
        """Take the lesson out of use for good and return its tombstone. Raises StaleWriteError as `revise` does."""
        id_, expected = _version(ref)
        return _forget.forget(self.services, self.location, id_, author=author, expected=expected)

    state = _here(_agentwords.state)
    get = _here(_lookup.resolve)
    counts = _here(_lookup.count_lessons)
    lineage = _here(_explain.lineage)
    blame = _here(_explain.blame)
    explain = _here(_explain.explain)
    surrounding = _here(_explain.find_surrounding)
    compare = _here(_compare.compare)
    verify = _here(_verify.verify)
    follow_moves = _here(_verify.follow_moves)
    confirm = _here(_review.confirm)
    revive_when = _here(_revival.set_revival)
    wake_retired = _here(_revival.wake_retired)
    purge = _here(_forget.purge)
    words_of = _here(_forget.words_of)
    undo = _here(_forget.undo)
    conflicts = _here(_conflicts.find_conflicts)
    settle = _here(_conflicts.settle)
    keep_both = _here(_conflicts.keep_both)

    def rivals(self, lesson: Lesson) -> list[Lesson]:
        """Return active lessons that contradict this one and were not closed, newest first, at most five."""
        conflicts = _conflicts.conflicts_of(self.services, self.location, lesson)
        return [conflict.other(lesson.id) for conflict in conflicts][:5]

    def lessons(
        self,
        *,
        states: Sequence[State] = ("active",),
        kinds: Sequence[LessonKind] = (),
        path: str = "",
        all_projects: bool = False,
        as_of: datetime | None = None,
        limit: int = 1000,
        tag: str = "",
        host: str = "",
        trust: Trust | None = None,
        since: datetime | None = None,
    ) -> list[Lesson]:
        """Return lessons of the project and the user, newest first; all given conditions hold together.

        `host` selects lessons learnt in a session of that host, `since` those valid since then or later.
        """
        choice = _lookup.LessonSelection(tag=tag, host=host, trust=trust, since=since)
        lessons = _lookup.list_lessons(
            self.services, self.location, states, kinds, path, all_projects, as_of, limit, choice
        )
        if all_projects:
            unseen = _crossing.unseen_from(self.services.store, self.location.project.id)
            return [lesson for lesson in lessons if lesson.scope.project not in unseen]
        return lessons

    def verdicts(self, lessons: Sequence[Lesson]) -> list[tuple[Freshness, str]]:
        """Return each lesson's freshness against the present code, and what changed, in words."""
        check = FreshnessCheck(self.services, self.location)
        return [check.judge(lesson) for lesson in lessons]

    def history(self, lesson: LessonId) -> LessonHistory:
        """Return a lesson's changes, deliveries and outcomes, each newest first."""
        return _lookup.history(self.services, lesson)

    def instant(self, text: str) -> datetime:
        """Return the instant of a time, of words such as `3 days ago`, or of a commit. Raises InvalidValueError."""
        try:
            return _lookup.named_instant(text, self.services.clock.now())
        except InvalidValueError:
            points = self.services.workspace.history(self.location).list_points(text, text)
            if not points:
                raise
            return points[-1].at

    # Review

    inbox = _here(_review.inbox)
    accept = _here(_review.accept)
    reject = _here(_review.reject)
    feedback = _here(_review.feedback)
    flag = _here(_review.flag)
    withdraw = _here(_review.withdraw)
    flags = _here(_review.flags)
    audit = _here(_audit.audit)
    left_today = _here(_audit.left_today)
    keep = _here(_audit.keep)
    put_off = _here(_audit.put_off)
    bring_back = _here(_audit.bring_back)
    note_decided = _here(_audit.note_decided)

    # What happened

    settle_pending = _everywhere(_settle.settle_pending)
    for_review = _here(_settle.for_review)
    session_sums = _here(_stats.session_sums)
    withheld = _here(_stats.withheld_lines)
    stats = _here(_stats.stats_of)
    log = _here(_lookup.deliveries)
    changes = _here(_lookup.changes)

    def newest_events(self) -> list[Event]:
        """Return the newest event of each host and kind, from hooks and transcripts, newest first."""
        return _sessionevents.last_events(self.services.store)

    def heartbeat(self) -> list[Event]:
        """Return the newest event of each host and kind that a hook reported on this machine, newest first."""
        return [event for event in self.newest_events() if _sessionevents.is_from_hook(event)]

    # Reports

    check_change = _here(_changecheck.check_change)

    def sessions(self, choice: SessionChoice) -> Timeline:
        """Return the project's sessions that match, by day, newest first."""
        from holdfast.reports.timeline import timeline  # late, like the other reports on sessions: few commands need it

        return timeline(self.services, self.location, choice)

    def session_story(self, session: str, *, whole: Part = "") -> SessionStory:
        """Return the story of a session, with one part of it whole. Raises NotFoundError for an unknown session."""
        from holdfast.reports.sessionstory import tell_session

        return tell_session(self.services, self.location, SessionId(session), whole=whole)

    def threads(self, choice: ThreadChoice | None = None) -> Threads:
        """Return failures with their tries and cures across sessions, the open ones first."""
        from holdfast.reports.threads import ThreadChoice, threads

        return threads(self.services, self.location, choice or ThreadChoice())

    def digest(
        self,
        *,
        since: datetime,
        until: datetime | None = None,
        audience: Audience = "me",
        sees: Callable[[Lesson], bool] | None = None,
        limit: int = 0,
        quick: bool = False,
    ) -> MemoryDigest:
        """Return what was learnt, changed, contradicted and resolved in a period, what went stale and what waits."""
        from holdfast.reports.digest import make_digest  # late, as above

        return make_digest(
            self.services, self.location, since=since, until=until, audience=audience, sees=sees, limit=limit,
            quick=quick,
        )  # fmt: skip

    def topics(self, *, sees: Callable[[Lesson], bool] | None = None) -> TopicList:
        """Return the topics of the newest active lessons of the project, which the reader may see."""
        from holdfast.reports.topics import find_topics

        return find_topics(self.services, self.location, sees=sees)

    def rename_topic(self, name: str, new: str, *, sees: Callable[[Lesson], bool] | None = None) -> TopicList:
        """Give a topic another name, and return the topics."""
        from holdfast.reports.topics import rename_topic

        return rename_topic(self.services, self.location, name, new, sees=sees)

    def merge_topics(self, name: str, into: str, *, sees: Callable[[Lesson], bool] | None = None) -> TopicList:
        """Make two topics one, under the name of the second, and return the topics."""
        from holdfast.reports.topics import merge_topics

        return merge_topics(self.services, self.location, name, into, sees=sees)

    def split_topic(self, name: str, *, sees: Callable[[Lesson], bool] | None = None) -> TopicList:
        """Take back the name of a topic, and every merge into it; return the topics."""
        from holdfast.reports.topics import split_topic

        return split_topic(self.services, self.location, name, sees=sees)

    def recommendations(self, *, dismissed: bool = False, limit: int = 0, fresh: bool = True) -> list[Recommendation]:
        """Return a few things that a person could do so that a lesson need not be told again."""
        from holdfast.reports.recommendations import recommend

        return recommend(self.services, self.location, dismissed=dismissed, limit=limit, fresh=fresh)

    def dismiss_recommendation(self, key: str) -> Recommendation:
        """Do not show the recommendation again, whoever looks; return it."""
        from holdfast.reports.recommendations import dismiss

        return dismiss(self.services, self.location, key)

    def restore_recommendation(self, key: str) -> Recommendation:
        """Show a dismissed recommendation again; return it."""
        from holdfast.reports.recommendations import restore

        return restore(self.services, self.location, key)

    # Checkpoints

    save_checkpoint = _here(_checkpoint.save)
    checkpoint = _here(_checkpoint.current)
    checkpoints = _here(_checkpoint.saved)
    close_checkpoint = _here(_checkpoint.finish)
    left_off = _here(_checkpoint.answer_text)

    # Projects and branches

    promote = _here(_crossing.promote)
    close_project = _here(_crossing.close_project)
    open_project = _here(_crossing.open_project)
    staged = _here(_staging.list_staged)

    @property
    def is_closed(self) -> bool:
        """Whether this project's lessons are hidden from other projects."""
        return self.location.project.id in _crossing.closed_projects(self.services.store)

    def accept_project(self) -> Location:
        """Accept the id that the folder's `.holdfast/project.toml` declares; return the resulting location.

        Raises InvalidValueError where no such id waits.
        """
        self._location = self.services.workspace.accept_claim(self.folder)
        return self._location

    def release_project(self) -> Location:
        """Stop accepting the id that the folder's `.holdfast/project.toml` declares; return the resulting location.

        Raises InvalidValueError where no declared id is accepted.
        """
        self._location = self.services.workspace.release_claim(self.folder)
        return self._location

    def staged_elsewhere(self) -> int:
        """Count the lessons that are staged on branches and invisible here."""
        return len(hidden_here(self.services, self.location))

    def rescue(self, refs: Sequence[str] = (), *, branch: str = "", author: str = "") -> list[Lesson]:
        """Unstage the named lessons, or all of a branch, so that they are visible everywhere; return them."""

        def wanted() -> list[Lesson]:
            if branch:
                return [x for x in _staging.find_staged(self.services, self.location) if x.scope.branch == branch]
            return [self.get(ref) for ref in refs]

        return _staging.rescue(self.services, self.location, wanted, author=author)

    def settle_branches(self) -> Change | None:
        """Unstage lessons once the main branch has what they are about; return the change.

        It also updates which staged lessons are visible here, so that hooks find the answer.
        """
        change = _staging.settle(self.services, self.location)
        seen_here(self.services, self.location)
        return change

    # In bulk

    import_lessons = _here(_transfer.import_lessons)
    export_lessons = _here(_transfer.export_lessons)
    export_okf = _here(_okf.export_bundle)
    shareable = _here(_sync.find_shareable)
    adopt = _here(_adopt.adopt)
    backfill_git = _here(_gitbackfill.backfill_git)
    take_back_git = _here(_gitbackfill.take_back)

    def sync(self, how: Syncing) -> SyncReport:
        """Synchronise the lessons' files of the work tree with the store; return a step for each lesson. Idempotent."""
        return _sync.sync(self.services, self.location, self.services.lesson_files(self.location), how)

    def exchange(
        self, *, share: Sequence[Lesson] = (), accept: bool = False, dry: bool = False, progress: Progress | None = None
    ) -> ExchangeReport | None:
        """Sync the project with the server that it is linked to, and private lessons if there is a key for them.

        Returns None for a project that is not linked. Raises HoldfastError; what was done until then stays, and the
        next call goes on from there.
        """
        with RunLock(self.settings.run_path, SYNC_LOCK, SYNC_WAIT_S) as is_ours:
            if not is_ours:
                raise AlreadyRunningError("another holdfast process is syncing lessons", hint="try again in a moment")
            return self._exchange(tuple(share), accept=accept, dry=dry, progress=progress)

    def _exchange(
        self, share: tuple[Lesson, ...], *, accept: bool, dry: bool, progress: Progress | None
    ) -> ExchangeReport | None:
        from holdfast.client.documents import DocumentClient  # late: HTTP takes 150 ms
        from holdfast.client.transport import Transport
        from holdfast.home.remotes import load_remotes
        from holdfast.publishing.remote.exchange import Peer, exchange, no_progress
        from holdfast.publishing.remote.sealed import exchange_sealed
        from holdfast.publishing.remote.sealing import make_seal

        remotes = load_remotes(self.settings.home)
        link, remote = remotes.link_of(self.location.project.id), remotes.remote_of(self.location.project.id)
        if link is None or remote is None:
            return None
        show = progress or no_progress
        with closing(DocumentClient(Transport(remote.url, remote.token))) as client:
            report = exchange(
                self.services, self.location, client, Peer(name=remote.url, share_new=not link.chosen_only),
                share=share, accept=accept, dry=dry, progress=show,
            )  # fmt: skip
            if not remote.private_key:
                return report
            private = exchange_sealed(
                self.services, self.location, client, remote.url, make_seal(remote.private_key), dry=dry, progress=show
            )
            return replace(report, private=private)

    def last_exchange(self, remote: Remote) -> dict[str, Any]:
        """Return `at` and `after` of the project's last sync with that server; empty before the first."""
        from holdfast.publishing.remote.exchange import last_exchange  # late: as above

        return last_exchange(self.services, self.location.project.id, remote.url)


def open_memory(folder: str = "", *, home: str = "") -> Memory:
    """Open the memory of a folder's project, by default the current folder's; use `with`, or call `close`.

    `home` is the folder with the store and the settings, by default `HOLDFAST_HOME` or `~/.holdfast`. Raises StoreError
    if the store cannot be opened, and InvalidValueError for settings that cannot be read.
    """
    environment = child_environment(HOLDFAST_HOME=os.path.abspath(os.path.expanduser(home))) if home else None
    return Memory(folder, settings=load_settings(environment))


def find_place(store: Store, settings: Settings, folder: str = "") -> Location:
    """Return the location of the folder as a session there sees it, without writing. Raises as `Workspace.locate`."""
    states = _Unwritten(store)
    claims = Claims(states, lambda project: first_folder(store, project))
    workspace = LocalWorkspace(states, SystemClock(), TIMEOUT_SCALE, lambda: claims)
    return workspace.locate(os.path.abspath(folder or os.getcwd()))


class _Unwritten:
    """The states of a store with values set on top of them, which are not written to the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._set: dict[tuple[str, str], str] = {}

    def get_state(self, family: StateFamily, owner: str = "") -> str:
        """Return the value set here, else the store's."""
        key = family.name, owner
        return self._set[key] if key in self._set else self._store.get_state(family, owner)

    def set_state(self, family: StateFamily, owner: str, value: str) -> None:
        """Set a value in this object only."""
        self._set[family.name, owner] = value


def repository_texts(paths: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return, by path, why a repository may have brought the file along, and the root of its work tree or ""."""
    return _authorship.repository_texts(Git(SystemClock(), TIMEOUT_SCALE), paths)


def load_model(name: str, options: Mapping[str, str]) -> LanguageModel:
    """Make the model of the plug-in of that name, or of the host of that name, which runs as a headless agent.

    The variable that `api_key_env` names is read here and nowhere else. Raises PluginNotFoundError, InvalidValueError
    or ModelError.
    """
    resolved = dict(options)
    if resolved.get("api_key_env"):
        resolved["api_key"] = read_secret(resolved["api_key_env"])
    if name.replace("-", "_") not in plugins.names("models"):
        resolved = {**agent_options(name), **resolved}
        name = "agent"
    model: LanguageModel = plugins.load("models", name, resolved)
    return model


def agent_options(host: str) -> dict[str, str]:
    """Return the options of the model plug-in `agent` for the host. Raises PluginNotFoundError or ModelError."""
    headless = load_host(host).profile.headless
    if headless is None:
        raise ModelError(f"{host} cannot run without a terminal", hint="holdfast distil models")
    program = which(headless.program)
    if program is None:
        raise ModelError(f"{headless.program} is not on the PATH", hint="holdfast distil models")
    chosen = [headless.model_option, headless.model] if headless.model else []
    words = [program, *headless.arguments]
    at = words.index(MODEL_HERE) if MODEL_HERE in words else len(words)
    command = [*words[:at], *chosen, *words[at + 1 :]]
    return {
        "command": dumps(command),
        "answer": headless.answer,
        "cost": headless.cost,
        "error": headless.error,
        "id": f"{headless.model}@{host}" if headless.model else host,
    }


MODEL_HERE = "{model}"
"""Placeholder in a host's arguments for the options that choose the model."""


def all_hosts(settings: Settings) -> list[Host]:
    """Return every host that setup supports, by name, without hosts of which only transcripts are read."""
    hosts = [load_host(name.replace("_", "-"), settings) for name in plugins.names("hosts")]
    return [host for host in hosts if host.profile.mcp or host.profile.hooks or host.profile.rules]
