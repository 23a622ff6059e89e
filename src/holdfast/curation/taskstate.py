"""Reads checkpoints: the current one of a task, those that a question is about, and their lines.

`checkpoint` writes them. Hooks load this module, so it imports nothing else of its room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.domain.project import Location
from holdfast.domain.records import Checkpoint
from holdfast.ports.services import Services
from holdfast.ports.store import LogFilter
from holdfast.ranking.relevance import stem, stems_of
from holdfast.rendering.lines import clean, count_tokens

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
QUESTION_CHARACTERS = 200
"""Characters at the beginning of a prompt in which it may ask where a task was left off."""
STATES_ANSWERED = 3
"""Most states in an answer."""

GOING_ON = ("continue", "resume", "go on with", "carry on", "pick up where", "where we left")
"""Phrases with which a user goes on with an earlier task."""
ASKING = (
    "where did we leave", "where did i leave", "where did you leave", "where we left", "where i left", "where you left",
    "where did we stop", "where did i stop", "where did you stop", "where we stopped", "where were we",
    "what do you remember", "what do you still remember", "do you remember what we", "do you remember where we",
    "what did we do last", "what did i do last", "what did you do last", "what have we done last",
    "what happened last time", "what happened in the last session", "what was done last", "what were we doing",
    "what were we working", "what was i working", "what were you working", "what are we working on",
    "what is left to do", "what's left to do", "what remains to be done", "the last session left",
)  # fmt: skip
"""Phrases that ask for the state of a task."""
ASKING_WORDS = (
    "where what did do does we you i leave left off stop stopped remember still last time session were was working work"
    " doing done happened is left remains to be with the a an on about of in for at our my your please tell me us again"
    " pick up continue go lets let and then now know have has task tasks state from project repository repo here today"
    " yesterday week earlier before previous conversation can could exactly anything something this that it current"
)
"""Words of such a question that do not name what it is about."""


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


def answers_where_left_off(text: str) -> bool:
    """Return whether the text asks where a task was left off, or what happened last time."""
    low = text[:QUESTION_CHARACTERS].lower().replace("\u2019", "'")
    words = " ".join(low.split())
    return any(phrase in words for phrase in ASKING)


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
