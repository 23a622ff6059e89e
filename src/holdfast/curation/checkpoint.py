"""Checkpoints: the working state of a task, stored before an agent loses its context and restored afterwards.

They are append-only: the newest checkpoint of a (project, task) is the current one; closing a task adds a closed one.
An agent or a person saves one, a hook captures one before a compaction, and the learner leaves one for each branch that
a session worked on (`leave`). The last two rest on the session's events and never take the place of what was saved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.capture.sessionevents import EVENTS_A_READ, with_outcomes
from holdfast.curation.sessionstate import (
    SessionState,
    answers_where_left_off,
    branches_of,
    read_state,
)
from holdfast.curation.tuning import (
    CHECKPOINT_FILES,
    CHECKPOINT_ITEMS,
    CHECKPOINT_TEXT,
    OVER_LOOKED_AT,
    QUESTION_CHARACTERS,
    STATE_DAYS,
    STATE_EVENTS,
)
from holdfast.domain.event import Event
from holdfast.domain.project import Location
from holdfast.domain.records import Checkpoint, Delivery
from holdfast.domain.vocabulary import ProjectId, SessionId
from holdfast.errors import InvalidValueError, ProjectUnknownError
from holdfast.ports.services import Services, learned_position
from holdfast.ports.store import EventFilter, LogFilter
from holdfast.ranking.relevance import stem, stems_of
from holdfast.redaction import redact
from holdfast.rendering.lines import clean, count_tokens

if TYPE_CHECKING:
    from holdfast.ports.workspace import Branches

LEFT_OUT = "[left out: "
"""Beginning of a note that replaces words which look like an attack."""
CHECKPOINTS_FIRST = 8
"""Checkpoints read first to find the current one, which mostly is among them."""
CHECKPOINTS_READ = 200
"""Checkpoints read back to find the current one."""
CHECKPOINTS_SEARCHED = 2_000
"""Checkpoints searched for one who asks where a task was left off."""
STATE_TOKENS = 250
"""Tokens of a task's state that is told unasked."""
STATES_ANSWERED = 3
"""Most states in an answer."""

ASKING_WORDS = (
    "where what did do does we you i leave left off stop stopped remember still last time session were was working work"
    " doing done happened is left remains to be with the a an on about of in for at our my your please tell me us again"
    " pick up continue go lets let and then now know have has task tasks state from project repository repo here today"
    " yesterday week earlier before previous conversation can could exactly anything something this that it current"
)
"""Words of such a question that do not name what it is about."""


def save(
    services: Services,
    location: Location,
    goal: str,
    *,
    task: str = "",
    done: Sequence[str] = (),
    next: Sequence[str] = (),
    open_questions: Sequence[str] = (),
    files: Sequence[str] = (),
    session: SessionId = "",  # type: ignore[assignment]
) -> Checkpoint:
    """Store the state of a task and return it, redacted; a task without a name is called after the branch.

    A goal or an item that looks like an attack is replaced by a note with the reason.

    Raises InvalidValueError without a goal.
    """
    if not goal.strip():
        raise InvalidValueError("a checkpoint needs a goal", hint="say what the task is to reach")
    checkpoint = Checkpoint(
        id=services.clock.new_id(),
        at=services.clock.now(),
        project=location.project.id,
        session=session,
        task=_task(task.strip(), location.branch),
        goal=_kept(goal),
        done=_all_kept(done),
        next=_all_kept(next),
        open_questions=_all_kept(open_questions),
        files=tuple(dict.fromkeys(_kept(services.workspace.relative(location, path) or path) for path in files)),
        branch=location.branch,
    )
    services.store.record([checkpoint])
    return checkpoint


def finish(services: Services, location: Location, task: str = "") -> Checkpoint | None:
    """Close the current checkpoint of the task; return the closed one, or None when there was none."""
    checkpoint = current(services, location, task)
    if checkpoint is None:
        return None
    at = services.clock.now()
    closed = replace(checkpoint, id=services.clock.new_id(), at=at, closed=True, is_automatic=False)
    services.store.record([closed])
    return closed


def capture(services: Services, location: Location, session: SessionId) -> Checkpoint | None:
    """Store a checkpoint from a session's events before the agent loses its context. Return None without a goal.

    Nothing that the agent or a person saved meanwhile is lost: see `_compose`.
    """
    events = _events(services, location, session)
    state = read_state(events, location.branch)
    if state is None:
        return None
    records = saved(services, location, CHECKPOINTS_READ)
    composed = _compose(services, location, session, location.branch, state, records)
    if composed is not None:
        services.store.record([composed])
    return composed


def leave_waiting(services: Services) -> tuple[str, ...]:
    """Leave the states of every session with events that nobody has learnt from; return what failed.

    It comes before learning, which moves the position from which it reads: a killed learner leaves nothing out.
    """
    folders: dict[tuple[ProjectId, SessionId], str] = {}
    after = learned_position(services.store)
    while page := services.store.find_events(EventFilter(after=after, limit=EVENTS_A_READ)):
        after = page[-1][0]
        for _, event in page:
            folders.pop((event.project, event.session), None)
            folders[event.project, event.session] = event.cwd  # the session that ended last comes last
    failed: list[str] = []
    for (project, session), cwd in folders.items():
        try:
            location = services.workspace.locate(cwd)
            if location.project.id == project:
                leave(services, location, session)
        except (InvalidValueError, ProjectUnknownError):
            continue  # the folder is gone, and so is the task
        except Exception as exc:  # the other sessions still leave theirs
            failed.append(f"state of session {session}: {type(exc).__name__}: {exc}")
    return tuple(failed)


def leave(services: Services, location: Location, session: SessionId) -> tuple[Checkpoint, ...]:
    """Store the state that a session leaves on each branch it worked on; return what was stored.

    A finished task is stored as closed, so that it is not restored. Nothing is stored if nothing changed, or if the
    session is older than STATE_DAYS. A session that only asked questions leaves a state only where no other is open.
    """
    events = _events(services, location, session)
    return tuple(
        checkpoint
        for branch in branches_of(events)
        if (state := read_state(events, branch)) is not None
        for checkpoint in _leave_on(services, location, session, branch, state)
    )


def _leave_on(
    services: Services, location: Location, session: SessionId, branch: str, state: SessionState
) -> list[Checkpoint]:
    now = services.clock.now()
    records = saved(services, location, CHECKPOINTS_READ)
    others = [record for record in records if record.branch == branch and record.session != session]
    is_late = any(record.is_automatic and state.ended < record.at <= now for record in others)
    if is_late or now - state.ended > timedelta(days=STATE_DAYS) or _is_closed(session, branch, state, records):
        return []
    there = replace(location, branch=branch)
    composed = _compose(services, there, session, branch, state, records)
    if composed is None:
        return []
    authored = _authored(session, branch, state, records)
    if not (state.worked or authored):
        if any(record.session != session for record in [current(services, there)] if record is not None):
            return []
        composed = replace(composed, done=(), files=())
    dirty = services.workspace.dirty(location) if location.branch == branch else None
    own = [path for path in dirty or () if path in state.files]
    others_dirty = [path for path in dirty or () if path not in state.files] if state.worked else []
    composed = replace(
        composed,
        at=min(state.ended, now),
        uncommitted=_all_kept((*own, *others_dirty)[:CHECKPOINT_FILES]),
        closed=_is_finished(state, composed, bool(location.commit), own if dirty is not None else None),
    )
    before = next((record for record in records if _is_own(record, session, branch)), None)
    if before is not None and replace(composed, id=before.id, at=before.at) == before:
        return []
    over = _finished_with(composed, authored, _taken_up(services, session, branch, state, records), records)
    services.store.record([*(replace(record, id=services.clock.new_id(), closed=True) for record in over), composed])
    return [composed]


def _finished_with(
    composed: Checkpoint, authored: Checkpoint | None, taken_up: Checkpoint | None, records: Sequence[Checkpoint]
) -> list[Checkpoint]:
    """Return the open states that end with a finished one: what it rests on, and earlier states of the same goal."""
    if not composed.closed:
        return []
    latest: dict[tuple[str, str], Checkpoint] = {}
    for record in records:
        if record.branch == composed.branch and record.session != composed.session:
            latest.setdefault((record.session, record.task), record)
    same = [record for record in latest.values() if record.is_automatic and record.goal == composed.goal]
    over = [record for record in (authored, taken_up, *same) if record is not None and not record.closed]
    return list({record.id: record for record in over}.values())


def close_over(services: Services, location: Location) -> int:
    """Close the open states of branches that were merged or deleted here; return how many."""
    branches = services.workspace.branches(location)
    latest: dict[tuple[str, str], Checkpoint] = {}
    for record in saved(services, location, CHECKPOINTS_READ):
        latest.setdefault((record.session, record.branch), record)
    candidates = [
        record
        for record in latest.values()
        if record.is_automatic and not record.closed and record.branch and not branches.is_main(record.branch)
    ]
    closed = [
        replace(record, id=services.clock.new_id(), closed=True)
        for record in candidates[:OVER_LOOKED_AT]
        if _is_over(services, location, branches, record)
    ]
    if closed:
        services.store.record(closed)
    return len(closed)


def _is_over(services: Services, location: Location, branches: Branches, record: Checkpoint) -> bool:
    """Return whether the state's branch was deleted here, or has commits of its own that a main line contains."""
    tip = branches.tip(record.branch)
    if tip is None:
        return False
    if not tip:
        return bool(branches.last_tip(record.branch))
    first = services.store.find_events(EventFilter(project=location.project.id, session=record.session, limit=1))
    if record.uncommitted or not first or first[0][1].commit in ("", tip):
        return False
    lines = branches.main_commits() or []
    return any(branches.find_missing(line, [tip]) == frozenset() or branches.is_applied(line, tip) for line in lines)


def _events(services: Services, location: Location, session: SessionId) -> list[Event]:
    """Return the session's last events in order of time, without those of a transcript that a repository contains."""
    where = EventFilter(project=location.project.id, session=session, last=STATE_EVENTS)
    events = [event for _, event in services.store.find_events(where) if event.trust != "repository"]
    return sorted(with_outcomes(events), key=lambda event: event.at)


def _compose(
    services: Services,
    location: Location,
    session: SessionId,
    branch: str,
    state: SessionState,
    records: Sequence[Checkpoint],
) -> Checkpoint | None:
    """Return the state as an automatic checkpoint; None without a goal.

    What an agent or a person saved on this branch in this session, or since it began, wins field by field. A session
    that went on with an earlier one's task takes over what that one left.
    """
    authored = _authored(session, branch, state, records)
    earlier = None if state.goal else _taken_up(services, session, branch, state, records)
    bases = [record for record in (authored, earlier) if record is not None]
    goal = next((record.goal for record in bases if record.goal), "") or state.goal or state.asked
    if not goal:
        return None
    stated = state if authored is None else authored
    return Checkpoint(
        id=services.clock.new_id(),
        at=services.clock.now(),
        project=location.project.id,
        session=session,
        task=bases[0].task if bases else _task("", branch),
        goal=_kept(goal),
        done=_all_kept(_merged(_all_of(bases, "done"), state.done)[-CHECKPOINT_ITEMS:]),
        next=_all_kept(stated.next or state.next or (earlier.next if earlier else ())),
        open_questions=_all_of(bases, "open_questions"),
        files=_all_kept(_merged(_all_of(bases, "files"), state.files)[-CHECKPOINT_FILES:]),
        branch=branch,
        asked=_kept(state.asked),
        failure=_kept(state.failure),
        is_automatic=True,
    )


def _authored(session: SessionId, branch: str, state: SessionState, records: Sequence[Checkpoint]) -> Checkpoint | None:
    """Return the newest open checkpoint by an agent or a person on this branch, of this session or since it began."""
    for record in records:
        if record.is_automatic or record.branch != branch:
            continue
        if record.session == session or record.at >= state.began:
            return None if record.closed else record
    return None


def _taken_up(
    services: Services, session: SessionId, branch: str, state: SessionState, records: Sequence[Checkpoint]
) -> Checkpoint | None:
    """Return the newest open state of another session on this branch that this session was told and went on with.

    It did so if it stated no goal of its own, or edited a file of that task.
    """
    delivered = {delivery.lesson for delivery in services.store.find_records(Delivery, LogFilter(session=session))}
    for record in records:
        if record.branch == branch and record.session != session and record.id in delivered:
            goes_on = not state.goal or set(record.files).intersection(state.files)
            return record if goes_on and not record.closed else None
    return None


def _is_closed(session: SessionId, branch: str, state: SessionState, records: Sequence[Checkpoint]) -> bool:
    """Return whether an agent or a person closed the task, and nothing was edited since."""
    last = next((record for record in records if not record.is_automatic and record.branch == branch), None)
    if last is None or not last.closed or not (last.session == session or last.at >= state.began):
        return False
    return state.edited_last is None or last.at >= state.edited_last


def _is_own(record: Checkpoint, session: SessionId, branch: str) -> bool:
    return record.is_automatic and record.session == session and record.branch == branch


def _is_finished(state: SessionState, composed: Checkpoint, has_git: bool, dirty: Sequence[str] | None) -> bool:
    """Return whether the task is over: nothing fails, is open or not committed, and the reply or the user says so.

    Without git nothing shows that the work is complete, so only the user's word counts. `dirty` is None if the branch
    is no longer checked out; then a commit after the last edit counts.
    """
    if not state.worked or state.failure or state.next or (composed.next and not state.thanked):
        return False
    if not has_git:
        return state.thanked
    is_committed = state.is_committed if dirty is None else not dirty
    return is_committed and (state.says_done or state.thanked)


def _all_of(records: Sequence[Checkpoint], field: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for record in reversed(records) for item in getattr(record, field)))


def _merged(first: Sequence[str], then: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *then)))


def _task(task: str, branch: str) -> str:
    """Return the task's name, or a note if it or the branch's name is a sentence that looks like an attack."""
    names = (_kept(name) for name in (branch, task) if name)
    return next((name for name in names if name.startswith(LEFT_OUT)), redact(task) or branch or "main")


def _kept(text: str) -> str:
    """Return the text without secrets, cut to size, or a note if it looks like an attack."""
    from holdfast.lessons.statement import doubtful_name, suspicion
    from holdfast.text.orders import harm

    doubtful = suspicion(text) or doubtful_name([text]) or harm(text)
    if doubtful:
        return f"{LEFT_OUT}{doubtful}]"
    redacted = redact(text.strip())
    return redacted if len(redacted) <= CHECKPOINT_TEXT else redacted[: CHECKPOINT_TEXT - 1] + "…"


def _all_kept(items: Sequence[str]) -> tuple[str, ...]:
    return tuple(_kept(item) for item in items if item.strip())


# Reads checkpoints: the current one of a task, those that a question is about, and their lines


def current(services: Services, location: Location, task: str = "") -> Checkpoint | None:
    """Return the newest open checkpoint of the task, by default the latest of this branch; None if all are closed.

    A checkpoint that a person or an agent closed closes its task. A session's finished state closes only the states of
    that session: what another session left on the branch is still open.
    """
    seen: set[str] = set()
    finished: set[str] = set()
    for checkpoint in _newest_first(services, location):
        here = checkpoint.task == task if task else checkpoint.branch == location.branch
        if not here or checkpoint.task in seen or (checkpoint.session and checkpoint.session in finished):
            continue
        if checkpoint.closed and checkpoint.is_automatic:
            finished.add(checkpoint.session)
            continue
        seen.add(checkpoint.task)
        if not checkpoint.closed:
            return checkpoint
    return None


def _newest_first(services: Services, location: Location) -> Iterator[Checkpoint]:
    first = saved(services, location, CHECKPOINTS_FIRST)
    yield from first
    if len(first) == CHECKPOINTS_FIRST:
        yield from saved(services, location, CHECKPOINTS_READ)[CHECKPOINTS_FIRST:]


def saved(services: Services, location: Location, limit: int = 50) -> list[Checkpoint]:
    """Return the project's checkpoints, newest first, closed ones included."""
    return services.store.find_records(Checkpoint, LogFilter(project=location.project.id, limit=limit))


def is_work(checkpoint: Checkpoint) -> bool:
    """Return whether there is anything to go on with, and not only a question that was asked."""
    state = (
        checkpoint.done, checkpoint.next, checkpoint.open_questions, checkpoint.files, checkpoint.failure,
        checkpoint.uncommitted,
    )  # fmt: skip
    return not checkpoint.is_automatic or any(state)


def matching(services: Services, location: Location, question: str, session: str = "") -> list[Checkpoint]:
    """Return the states that the question is about, the best first; none if it does not ask where a task was left off.

    With words for a task ("… with the FastAPI migration?"), states that share most of them, on any branch, finished or
    not. Without, this branch's states, newest first, then other branches'. Each session's newest state of a branch
    counts; `session` is the one that asks, whose own state is no answer.
    """
    if not answers_where_left_off(question):
        return []
    latest: dict[tuple[str, str, str], Checkpoint] = {}
    for checkpoint in saved(services, location, CHECKPOINTS_SEARCHED):
        if not session or checkpoint.session != session:
            latest.setdefault((checkpoint.session, checkpoint.branch, checkpoint.task), checkpoint)
    states = sorted(latest.values(), key=lambda state: (state.branch != location.branch, not is_work(state)))
    wanted = _subject(question)
    if not wanted:
        return states
    shares = [(len(wanted & _stems(state)), state) for state in states]
    least = max(1, (len(wanted) + 1) // 2)
    return [state for share, state in sorted(shares, key=lambda pair: -pair[0]) if share >= least]


def _subject(question: str) -> frozenset[str]:
    """Return the stems of the words that name what the question is about."""
    return stems_of(question[:QUESTION_CHARACTERS]) - {stem(word) for word in ASKING_WORDS.split()}


def _stems(checkpoint: Checkpoint) -> frozenset[str]:
    items = (*checkpoint.next, *checkpoint.open_questions, *checkpoint.done, *checkpoint.files)
    return stems_of(
        "\n".join((checkpoint.goal, checkpoint.asked, checkpoint.task, checkpoint.branch, checkpoint.failure, *items))
    )


def answer_text(services: Services, location: Location, question: str, budget: int, session: str = "") -> str:
    """Return the states that answer a question such as `where did we leave off with X?`, within that many tokens.

    Empty if the text is no such question or nothing is known. The caller fences the text as data.
    """
    pieces: list[str] = []
    left = budget
    for checkpoint in matching(services, location, question, session)[:STATES_ANSWERED]:
        piece = render(checkpoint, min(left, STATE_TOKENS))
        if count_tokens(piece) > left:
            break
        left -= count_tokens(piece) + 1
        pieces.append(piece)
    return "\n".join(pieces)


def render(checkpoint: Checkpoint, budget_tokens: int = STATE_TOKENS) -> str:
    """Return the checkpoint as a few lines of at most that many tokens, the most important first.

    What does not fit is left out from the end; the goal is cut last. Stored words are data: the caller fences them.
    """
    shows_branch = checkpoint.branch not in ("", checkpoint.task) and not checkpoint.task.startswith(LEFT_OUT)
    branch = f", branch {clean(checkpoint.branch)}" if shows_branch else ""
    state = ", finished" if checkpoint.closed else ""
    head = f"State of task {clean(checkpoint.task)}, saved {checkpoint.at:%Y-%m-%d %H:%M} UTC{branch}{state}:"
    files = [] if checkpoint.uncommitted else checkpoint.files
    rows = [
        ("goal", [clean(checkpoint.goal)]),
        ("asked last", [clean(checkpoint.asked)] if checkpoint.asked not in ("", checkpoint.goal) else []),
        ("last failure", [clean(checkpoint.failure)] if checkpoint.failure else []),
        ("next", [clean(item) for item in checkpoint.next]),
        ("open", [clean(item) for item in checkpoint.open_questions]),
        ("not committed", [clean(item) for item in checkpoint.uncommitted]),
        ("done", [clean(item) for item in checkpoint.done][::-1]),
        ("files", [clean(item) for item in files][::-1]),
    ]
    lines = [head]
    left = budget_tokens - count_tokens(head)
    for name, items in rows:
        line = _row(name, items, left)
        lines += [line] if line else []
        left -= count_tokens(line)
    return "\n".join(lines)


def _row(name: str, items: Sequence[str], budget: int) -> str:
    """Return `name: item; item` with as many items as fit; cut the first one between words where it says enough."""
    fitting: list[str] = []
    for item in items:
        if count_tokens(f"{name}: {'; '.join([*fitting, item])}") > budget:
            break
        fitting.append(item)
    if not fitting and items and name in ("goal", "asked last", "last failure", "next"):
        words = items[0].split(" ")
        while words and count_tokens(f"{name}: {' '.join(words)}…") > budget:
            words = words[: len(words) * 3 // 4]
        fitting = [" ".join(words) + "…"] if words else []
    return f"{name}: {'; '.join(fitting)}" if fitting else ""
