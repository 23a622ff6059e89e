"""Checkpoints: the working state of a task, stored before an agent loses its context and restored afterwards.

They are append-only: the newest checkpoint of a (project, task) is the current one; closing a task adds a closed one.
"""

from __future__ import annotations

from holdfast.capture.sessionevents import with_outcomes
from holdfast.curation.taskstate import LEFT_OUT, current
from holdfast.curation.tuning import CHECKPOINT_FILES, CHECKPOINT_ITEMS, CHECKPOINT_TEXT, SUBSTANTIAL_WORDS
from holdfast.domain.records import Checkpoint
from holdfast.errors import InvalidValueError
from holdfast.lean.records import replace
from holdfast.ports.filters import EventFilter
from holdfast.text.redaction import redact
from holdfast.text.signature import command_target
from holdfast.text.speech import spoken_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.event import Event
    from holdfast.domain.project import Location
    from holdfast.domain.vocabulary import SessionId
    from holdfast.ports.services import Services

SIGNS = {"[x] ": "done", "[>] ": "next", "[ ] ": "next"}
"""Signs of items in hosts' to-do lists, with the field of a checkpoint that takes them."""


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
    closed = replace(checkpoint, id=services.clock.new_id(), at=services.clock.now(), closed=True)
    services.store.record([closed])
    return closed


def capture(services: Services, location: Location, session: SessionId) -> Checkpoint | None:
    """Store a checkpoint from a session's events: its goal, what was done, what is next. Return None without a goal.

    Content saved earlier in this session stays, and the events add to it. Its goal holds until a later prompt states
    another.
    """
    numbered = services.store.find_events(EventFilter(project=location.project.id, session=session))
    events = [event for event in with_outcomes(event for _, event in numbered) if not event.agent]
    saved = current(services, location)
    earlier = saved if saved is not None and saved.session == session else None
    prompt = _goal(events)
    if earlier is None and prompt is None:
        return None
    stated = earlier.goal if earlier and not (prompt and prompt.at > earlier.at) else ""
    listed = _listed(events)
    return save(
        services,
        location,
        stated or (prompt.text if prompt else ""),
        task=earlier.task if earlier else "",
        done=_merged(earlier.done if earlier else (), listed["done"] or _worked(events))[-CHECKPOINT_ITEMS:],
        next=listed["next"] or (earlier.next if earlier else ()),
        open_questions=earlier.open_questions if earlier else (),
        files=_merged(earlier.files if earlier else (), _edited(events))[-CHECKPOINT_FILES:],
        session=session,
    )


def _goal(events: Sequence[Event]) -> Event | None:
    """Return the last substantial prompt, else the last one; None without any."""
    own = ((event, spoken_text(event.text).strip()) for event in events if event.kind == "prompt")
    prompts = [replace(event, text=words) for event, words in own if words]
    substantial = [
        prompt for prompt in prompts if len(prompt.text.split()) >= SUBSTANTIAL_WORDS and prompt.text[0] != "/"
    ]
    if not prompts:
        return None
    from holdfast.text.window import before_paste  # loads `re`, for which only a hook that writes a checkpoint pays

    goal = (substantial or prompts)[-1]
    return replace(goal, text=before_paste(goal.text))


def _listed(events: Sequence[Event]) -> dict[str, tuple[str, ...]]:
    """Return the items of the last to-do list, by field."""
    listed: dict[str, list[str]] = {"done": [], "next": []}
    lists = [event.text for event in events if event.kind == "tool_result" and event.text.startswith(tuple(SIGNS))]
    for line in lists[-1].splitlines() if lists else ():
        sign = SIGNS.get(line[:4])
        if sign:
            listed[sign].append(line[4:])
    return {
        sign: tuple(items[-CHECKPOINT_ITEMS:] if sign == "done" else items[:CHECKPOINT_ITEMS])
        for sign, items in listed.items()
    }


def _worked(events: Sequence[Event]) -> tuple[str, ...]:
    """Return what was done according to the events: files edited, and commands whose last run passed."""
    edited = [f"edited {path}" for path in _edited(events)]
    passed: dict[str, None] = {}
    for event in events:
        if event.command and event.kind == "tool_result" and event.exit_code == 0:
            target = command_target(event.command)
            passed.pop(target, None)
            passed[target] = None
        elif event.command and event.kind == "tool_failure":
            passed.pop(command_target(event.command), None)
    ran = [f"ran {target}" for target in passed if target]
    return (*edited[-CHECKPOINT_ITEMS // 2 :], *ran[-CHECKPOINT_ITEMS // 2 :])


def _edited(events: Sequence[Event]) -> tuple[str, ...]:
    """Return the files edited, the last one last."""
    paths: dict[str, None] = {}
    for event in events:
        for path in event.files if event.kind == "file_edit" else ():
            paths.pop(path, None)
            paths[path] = None
    return tuple(paths)


def _merged(first: Sequence[str], then: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *then)))


def _task(task: str, branch: str) -> str:
    """Return the task's name, or a note if it or the branch's name is a sentence that looks like an attack."""
    names = (_kept(name) for name in (branch, task) if name)
    return next((name for name in names if name.startswith(LEFT_OUT)), redact(task) or branch or "main")


def _kept(text: str) -> str:
    """Return the text without secrets, cut to size, or a note if it looks like an attack."""
    from holdfast.lessons.statement import doubtful_name
    from holdfast.lessons.suspicion import suspicion
    from holdfast.text.orders import harm

    doubtful = suspicion(text) or doubtful_name([text]) or harm(text)
    if doubtful:
        return f"{LEFT_OUT}{doubtful}]"
    redacted = redact(text.strip())
    return redacted if len(redacted) <= CHECKPOINT_TEXT else redacted[: CHECKPOINT_TEXT - 1] + "…"


def _all_kept(items: Sequence[str]) -> tuple[str, ...]:
    return tuple(_kept(item) for item in items if item.strip())
