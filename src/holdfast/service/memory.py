"""Memory: the facade of all use cases, for one folder.

Methods import their use case when they are called, so that a hook that only observes does not pay for learning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Self

from holdfast.capture.heartbeat import is_from_hook, last_events
from holdfast.capture.observe import observe
from holdfast.capture.retention import drop_old_texts
from holdfast.curation.adopt import Adopting, PassageOutcome, SourceContents, adopt
from holdfast.curation.agentwords import Stated, state
from holdfast.curation.audit import Finding, audit, keep, left_today, note_decided, put_off
from holdfast.curation.checkpoint import finish, save
from holdfast.curation.conflicts import Conflict, conflicts_of, find_conflicts, keep_both
from holdfast.curation.edit import edit
from holdfast.curation.explain import Explanation, explain, find_surrounding
from holdfast.curation.forget import forget, purge, words_of
from holdfast.curation.lineage import Blamed, Version, blame, lineage
from holdfast.curation.remember import remember
from holdfast.curation.review import accept, confirm, feedback, inbox, reject
from holdfast.curation.revise import revise
from holdfast.curation.revival import Woken, set_revival, settle_condition, wake_retired
from holdfast.curation.taskstate import current, saved
from holdfast.curation.transfer import ImportReport, export_lessons, import_lessons
from holdfast.curation.undo import undo
from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson, Triggers
from holdfast.domain.project import Location
from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
from holdfast.domain.vocabulary import Freshness, LessonId, LessonKind, ScopeLevel, SessionId, State, Trust, Verdict
from holdfast.errors import InvalidValueError
from holdfast.freshness.check import FreshnessCheck
from holdfast.freshness.compare import Comparison, compare
from holdfast.freshness.verify import VerifyReport, follow_moves, verify
from holdfast.freshness.watch import Watch
from holdfast.learning.gitbackfill import GitBackfill, GitReport, backfill_git, take_back
from holdfast.learning.learn import LearnReport, count_barren, learn, learn_pending
from holdfast.lessons.crossing import close_project, closed_lessons, closed_projects, open_project, promote, unseen_from
from holdfast.lessons.lookup import (
    LessonCounts,
    LessonHistory,
    LessonSelection,
    changes,
    count_lessons,
    deliveries,
    history,
    list_lessons,
    named_instant,
    resolve,
)
from holdfast.lessons.staged import hidden_here, seen_here
from holdfast.lessons.staging import Staged, find_staged, list_staged, rescue
from holdfast.outcomes.settle import SettleReport, for_review, settle_pending
from holdfast.outcomes.stats import SessionSums, Stats, session_sums, stats_of, withheld_lines
from holdfast.publishing.sync import Syncing, SyncReport, find_shareable, sync
from holdfast.recall.ask import ask
from holdfast.recall.brief import prepare
from holdfast.recall.embed import embed_pending
from holdfast.recall.inject import inject, log_recall, preview
from holdfast.recall.question import question
from holdfast.recall.sessions import ask_across, only_turns, with_turns
from holdfast.service.hook import answer
from holdfast.service.location import LocationMemory

NO_SESSION = SessionId("")


class Memory(LocationMemory):
    """The memory of the project of one folder, and of the user."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def at(self, folder: str) -> Memory:
        """Return the same memory for another folder."""
        return Memory(self.services, folder)

    # Capture

    def watch(self) -> Watch:
        """Return a watch of the files that the project's active lessons are about; the caller repeats its looks."""
        return Watch(self.services, self.folder)

    def append(self, events: Sequence[Event]) -> int:
        """Store events from anywhere (a transcript), redacted; return how many were new."""
        return observe(self.services, self.location, events)

    def learn(self, session: SessionId) -> LearnReport:
        """Run the detectors over a session's events and admit their candidates. Idempotent."""
        return learn(self.services, self.location, session)

    def learn_pending(self) -> LearnReport:
        """Learn from every session, of any project, with events stored since the last call. Idempotent."""
        return learn_pending(self.services)

    def embed_pending(self, limit: int = 1_000) -> int:
        """Embed lessons, of any project, that have no vector of the configured embedder; return how many got one.

        Return 0 without an embedder. Raises EmbedderError; the vectors stored before it stay.
        """
        if self.services.embedder() is None:
            return 0
        return embed_pending(self.services, limit)

    def drop_old_texts(self) -> int:
        """Drop raw texts older than the retention window, at most once a day; return how many events had one."""
        return drop_old_texts(self.services)

    # Delivery

    def answer_hook(self, host: str, payload: dict[str, Any]) -> str:
        """Answer a hook: store its events, deliver lessons for its moment, and return the host's stdout text."""
        return answer(self, host, payload)

    def inject(self, call: HookCall, until_s: float | None = None, budget_tokens: int = 0) -> Briefing:
        """Return what to hand to the host at the call's moment, logged as delivered; empty when nothing qualifies.

        After `until_s` of the clock's elapsed seconds nobody waits: nothing is delivered or logged. `budget_tokens` is
        for a host that accepts less than the moment's budget.
        """
        return inject(self.services, self.location, call, until_s, budget_tokens)

    def prepare_brief(self, session: SessionId = NO_SESSION) -> int:
        """Store the lines that the next session's start may tell; return how many there are.

        What the rules files say that the host gave to that session is left out.
        """
        return prepare(self.services, self.location, session)

    def brief(self, *, prompt: str = "", file: str = "", command: str = "", host: str = "") -> list[Briefing]:
        """Return what a new session here is told: at its start, then for the prompt, file and command that are given.

        Nothing is logged. `host` limits the start to what that host accepts; an unknown one raises PluginNotFoundError.
        """
        if host:
            self.services.host(host)
        start = HookCall(host=host, name="brief", session=SessionId("brief"), cwd=self.folder, moment="session_start")
        calls = [start]
        if prompt:
            calls.append(replace(start, moment="prompt", prompt=prompt))
        if file:
            calls.append(replace(start, moment="before_file", paths=(file,)))
        if command:
            calls.append(replace(start, moment="before_command", command=command))
        return preview(self.services, self.location, calls)

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
            query = replace(query, exclude=closed_lessons(self.services.store, query.project))
        if across and not all_projects:
            briefing = ask_across(
                self.services, self.location, query, limit=limit, budget_tokens=budget_tokens, unconfirmed=unconfirmed
            )
        else:
            briefing = ask(
                self.services, self.location, query, limit=limit, budget_tokens=budget_tokens, unconfirmed=unconfirmed
            )
        return briefing if states or kinds else with_turns(self.services, query, briefing)

    def note_recall(self, briefing: Briefing, call: HookCall) -> None:
        """Log what a recall showed to an agent; `call` has its host, session and question (as the prompt)."""
        log_recall(self.services, self.location, call, briefing)

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
        revival = settle_condition(self.services, self.location, revive_when) if revive_when else ""
        return remember(
            self.services, self.location, insight=insight, kind=kind, title=title, why=why, how=how,
            snippets=snippets, files=files, symbols=symbols, tags=tags, topic_key=topic_key, scope=scope,
            pinned=pinned, private=private, author=author, quote=quote, trust=trust, when=when,
            revival=revival,
        )  # fmt: skip

    def state(
        self, statements: Sequence[Mapping[str, Any]], *, session: SessionId, author: str = "agent"
    ) -> list[Stated]:
        """Store the lessons that an agent states in a session, each checked against it; see `curation.agentwords`."""
        return state(self.services, self.location, statements, session, author)

    def rivals(self, lesson: Lesson) -> list[Lesson]:
        """Return active lessons that contradict this one and were not closed, newest first, at most five."""
        return [conflict.other(lesson.id) for conflict in conflicts_of(self.services, self.location, lesson)][:5]

    def conflicts(self) -> list[Conflict]:
        """Return pairs of lessons that cannot hold together, the better one of each first; the newest pair first."""
        return find_conflicts(self.services, self.location)

    def settle(self, ref: str, *, over: Sequence[str] = (), author: str = "") -> Lesson:
        """Keep that lesson of a conflict and close those named in `over`, by default all that contradict it."""
        from holdfast.curation.conflicts import settle

        return settle(self.services, self.location, ref, over, author=author)

    def keep_both(self, ref: str, other: str, *, author: str = "") -> Lesson:
        """Record that two lessons hold beside each other, which ends their conflict."""
        return keep_both(self.services, self.location, ref, other, author=author)

    def surrounding(self, lesson: Lesson) -> list[Event]:
        """Return the prompts and replies around the lesson's first evidence, in order; empty if they are not known."""
        return find_surrounding(self.services, self.location, lesson)

    def get(self, ref: str, as_of: datetime | None = None) -> Lesson:
        """Return a lesson by its id or the end of it. Raises LessonNotFoundError or AmbiguousIdError."""
        return resolve(self.services, self.location, ref, as_of)

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
        choice = LessonSelection(tag=tag, host=host, trust=trust, since=since)
        lessons = list_lessons(self.services, self.location, states, kinds, path, all_projects, as_of, limit, choice)
        if all_projects:
            unseen = unseen_from(self.services.store, self.location.project.id)
            return [lesson for lesson in lessons if lesson.scope.project not in unseen]
        return lessons

    def counts(self) -> LessonCounts:
        """Return how many confirmed and unconfirmed lessons the project and the user have here."""
        return count_lessons(self.services, self.location)

    def barren_sessions(self) -> int:
        """Return how many sessions with real work have passed since one taught a lesson."""
        return count_barren(self.services, self.location)

    def verdicts(self, lessons: Sequence[Lesson]) -> list[tuple[Freshness, str]]:
        """Return each lesson's freshness against the present code, and what changed, in words."""
        check = FreshnessCheck(self.services, self.location)
        return [check.judge(lesson) for lesson in lessons]

    def history(self, lesson: LessonId) -> LessonHistory:
        """Return a lesson's changes, deliveries and outcomes, each newest first."""
        return history(self.services, lesson)

    def lineage(self, ref: str) -> tuple[Version, ...]:
        """Return every version of a lesson, of its predecessors and of its successors, oldest first."""
        return lineage(self.services, self.location, ref)

    def blame(self, path: str, lines: tuple[int, int] | None = None) -> tuple[Blamed, ...]:
        """Return the active lessons about a file, or about some of its lines, given as first and last from 1."""
        return blame(self.services, self.location, path, lines)

    def instant(self, text: str) -> datetime:
        """Return the instant of a time, of words such as `3 days ago`, or of a commit. Raises InvalidValueError."""
        try:
            return named_instant(text, self.services.clock.now())
        except InvalidValueError:
            points = self.services.workspace.history(self.location).points(text, text)
            if not points:
                raise
            return points[-1].at

    def verify(
        self, *, waiting: bool = False, actor: str = "", progress: Callable[[int, int], None] | None = None
    ) -> VerifyReport:
        """Check every lesson about this project's code, and record where moved code is now."""
        return verify(self.services, self.location, waiting=waiting, actor=actor, progress=progress)

    def follow_moves(self) -> Change | None:
        """Record where the code of active lessons has moved to; return None when nothing has."""
        return follow_moves(self.services, self.location)

    def explain(self, ref: str) -> Explanation:
        """Explain why a lesson is believed: provenance, anchors and their verdicts, deliveries and outcomes."""
        return explain(self.services, self.location, ref)

    def compare(self, ref: str) -> tuple[Lesson, tuple[Comparison, ...]]:
        """Return a lesson and the code that it is about, then and now."""
        return compare(self.services, self.location, ref)

    def confirm(self, ref: str, *, author: str = "") -> Lesson:
        """Confirm that a lesson holds for the present code, and renew its anchors."""
        return confirm(self.services, self.location, ref, author=author)

    def revise(self, ref: str, *, author: str = "", trust: Trust = "person", **changes: Any) -> Lesson:
        """Close the lesson and add a successor with those fields changed; return the successor."""
        return revise(self.services, self.location, ref, changes, author=author, trust=trust)

    def edit(self, ref: str, *, author: str = "", **changes: Any) -> Lesson:
        """Change the title, or when a lesson is told: paths, symbols, literals, commands, work, standing.

        Omitted fields stay.
        """
        return edit(self.services, self.location, ref, changes, author=author)

    def revive_when(self, ref: str, condition: str, *, retire: bool = False, author: str = "") -> Lesson:
        """Set the condition that wakes a retired lesson, e.g. `numpy` for another version; `retire` retires it now."""
        return set_revival(self.services, self.location, ref, condition, retire=retire, author=author)

    def wake_retired(self) -> list[Woken]:
        """Let retired lessons whose condition holds wait for a person; return them with reasons."""
        return wake_retired(self.services, self.location)

    def forget(self, ref: str, *, author: str = "") -> Lesson:
        """Leave a tombstone. The lesson is never shown again; `undo` brings it back, and `revise` can restate it."""
        return forget(self.services, self.location, ref, author=author)

    def purge(self, ref: str) -> dict[str, int]:
        """Erase the lesson and everything derived from it; return the number of rows erased by table."""
        return purge(self.services, self.location, ref)

    def words_of(self, ref: str) -> tuple[str, ...]:
        """Return titles and rules of every version of the lesson, to search for copies of them."""
        return words_of(self.services, self.location, ref)

    def undo(self, *, author: str = "", past_purges: bool = False) -> Change:
        """Take back the last change of this project's memory.

        Raises InvalidValueError when there is none, or when it is a purge; `past_purges` skips purges.
        """
        return undo(self.services, self.location, author=author, past_purges=past_purges)

    # The inbox

    def inbox(self) -> list[Lesson]:
        """Return the candidates and quarantined lessons that wait for a person, best first."""
        return inbox(self.services, self.location)

    def accept(self, ref: str, *, author: str = "") -> Lesson:
        """Make a waiting lesson active."""
        return accept(self.services, self.location, ref, author=author)

    def reject(self, ref: str, *, author: str = "") -> Lesson:
        """Retire a waiting lesson; the same statement will not come back."""
        return reject(self.services, self.location, ref, author=author)

    # Hygiene

    def audit(self) -> list[Finding]:
        """Return lessons that a person should review, weightiest first."""
        return audit(self.services, self.location)

    def left_today(self) -> int:
        """Return how many of a day's audited lessons are still to be decided."""
        return left_today(self.services, self.location)

    def keep(self, ref: str, *, author: str = "") -> Lesson:
        """Confirm an audited lesson as it is, and hide it from the audit for `curation.tuning.KEPT_DAYS`."""
        return keep(self.services, self.location, ref, author=author)

    def put_off(self, ref: str) -> Lesson:
        """Leave an audited lesson as it is, and hide it from the audit for some days."""
        return put_off(self.services, self.location, ref)

    def note_decided(self) -> None:
        """Count an audited lesson that was revised, forgotten or promoted among today's decisions."""
        note_decided(self.services, self.location)

    # Other projects

    def promote(self, ref: str, *, author: str = "") -> Lesson:
        """Make a lesson of this project one for every project; it supersedes the original and its twins elsewhere."""
        return promote(self.services, self.location, ref, author=author)

    def close_project(self) -> None:
        """Hide this project's lessons from other projects."""
        close_project(self.services, self.location)

    def open_project(self) -> None:
        """Show this project's lessons to other projects, where a person asks for them."""
        open_project(self.services, self.location)

    @property
    def is_closed(self) -> bool:
        """Whether this project's lessons are hidden from other projects."""
        return self.location.project.id in closed_projects(self.services.store)

    # What happened

    def feedback(
        self, ref: str, verdict: Verdict, note: str = "", session: SessionId = NO_SESSION, *, judge: str = ""
    ) -> Outcome:
        """Record somebody's verdict on a lesson that was shown; `judge` is `agent` for an agent's word."""
        return feedback(self.services, self.location, ref, verdict, note, session, judge)

    def settle_pending(self) -> SettleReport:
        """Judge deliveries of all projects by what followed; the outcomes move the order. Idempotent."""
        return settle_pending(self.services)

    def for_review(self) -> list[tuple[Lesson, str]]:
        """Return lessons that outcomes contradict and a person should decide on, each with the reason."""
        return for_review(self.services, self.location)

    def session_sums(self, session: SessionId = NO_SESSION) -> SessionSums | None:
        """Return what a session was told, missed and taught, by default the project's latest; None if there is none."""
        return session_sums(self.services, self.location, session)

    def withheld(self, *, session: SessionId = "", lesson: LessonId = "", limit: int = 50) -> list[Outcome]:  # type: ignore[assignment]
        """Return the lines that chance withheld from briefs of this project, newest first."""
        return withheld_lines(self.services, self.location, session, lesson, limit)

    def stats(self, *, all_projects: bool = False) -> list[Stats]:
        """Return the outcomes of deliveries: of this project, or of all projects together and then of each."""
        return stats_of(self.services, self.location, all_projects)

    def log(self, *, session: SessionId = "", lesson: LessonId = "", limit: int = 50) -> list[Delivery]:  # type: ignore[assignment]
        """Return deliveries in this project, newest first."""
        return deliveries(self.services, self.location, session, lesson, limit)

    def changes(self, limit: int = 50) -> list[Change]:
        """Return changes of this project's memory, newest first."""
        return changes(self.services, self.location, limit)

    def heartbeat(self) -> list[Event]:
        """Return the newest event of each host and kind that a hook reported on this machine, newest first."""
        return [event for event in self.newest_events() if is_from_hook(event)]

    def newest_events(self) -> list[Event]:
        """Return the newest event of each host and kind, from hooks and transcripts, newest first."""
        return last_events(self.services.store)

    # Checkpoints

    def save_checkpoint(self, goal: str, **state: Any) -> Checkpoint:
        """Store the working state of a task: done, next, open_questions, files, task, session."""
        return save(self.services, self.location, goal, **state)

    def checkpoint(self, task: str = "") -> Checkpoint | None:
        """Return the current checkpoint of a task (default: the latest of this branch), or None."""
        return current(self.services, self.location, task)

    def checkpoints(self, limit: int = 50) -> list[Checkpoint]:
        """Return every saved state of this project's tasks, newest first, closed ones included."""
        return saved(self.services, self.location, limit)

    def close_checkpoint(self, task: str = "") -> Checkpoint | None:
        """Mark the task as finished, so that its checkpoint is no longer restored."""
        return finish(self.services, self.location, task)

    # The project

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

    # In bulk

    def import_lessons(
        self,
        lines: Iterable[str],
        *,
        accept: bool = False,
        origin: str = "JSON lines",
        progress: Callable[[int], None] | None = None,
        dry: bool = False,
    ) -> ImportReport:
        """Import whole lessons from JSON lines; idempotent. A bad line is reported with its number, others are stored.

        Lines that this home exported come back unchanged. Others wait in the inbox as repository text, unless a person
        vouches for them with `accept`.
        """
        return import_lessons(
            self.services, self.location, lines, accept=accept, origin=origin, progress=progress, dry=dry
        )

    def staged(self) -> list[Staged]:
        """Return the lessons staged on branches, by branch, and whether each is visible here."""
        return list_staged(self.services, self.location)

    def staged_elsewhere(self) -> int:
        """Count the lessons that are staged on branches and invisible here."""
        return len(hidden_here(self.services, self.location))

    def rescue(self, refs: Sequence[str] = (), *, branch: str = "", author: str = "") -> list[Lesson]:
        """Unstage the named lessons, or all of a branch, so that they are visible everywhere; return them."""

        def wanted() -> list[Lesson]:
            if branch:
                return [x for x in find_staged(self.services, self.location) if x.scope.branch == branch]
            return [self.get(ref) for ref in refs]

        return rescue(self.services, self.location, wanted, author=author)

    def settle_branches(self) -> Change | None:
        """Unstage lessons once the main branch has what they are about; return the change.

        It also updates which staged lessons are visible here, so that hooks find the answer.
        """
        from holdfast.lessons.staging import settle

        change = settle(self.services, self.location)
        seen_here(self.services, self.location)
        return change

    def sync(self, how: Syncing) -> SyncReport:
        """Synchronise the lessons' files of the work tree with the store; return a step for each lesson. Idempotent."""
        return sync(self.services, self.location, self.services.lesson_files(self.location), how)

    def shareable(self) -> list[Lesson]:
        """Return active lessons of the project that may be in its repository."""
        return find_shareable(self.services, self.location)

    def adopt(
        self, readings: Sequence[SourceContents], how: Adopting, progress: Callable[[int], None] | None = None
    ) -> tuple[PassageOutcome, ...]:
        """Adopt what importers read in other tools' files; return a step for each passage. Idempotent."""
        return adopt(self.services, self.location, readings, how, progress)

    def backfill_git(self, how: GitBackfill, progress: Callable[[int], None] | None = None) -> GitReport:
        """Learn lessons from the commits of the project's repository; return a report. Idempotent."""
        return backfill_git(self.services, self.location, how, progress)

    def take_back_git(self, *, author: str = "") -> int:
        """Retire the lessons from commits that nobody has accepted; return how many."""
        return take_back(self.services, self.location, author=author)

    def export_lessons(self, *, states: Sequence[State] = ("active",), all_projects: bool = False) -> Iterator[str]:
        """Yield lessons as JSON lines, redacted again, without private ones."""
        return export_lessons(self.services, self.location, states=states, all_projects=all_projects)
