"""Reads checkpoints: the current one of a task, and its lines. `checkpoint` writes them."""

from __future__ import annotations

from holdfast.domain.records import Checkpoint
from holdfast.ports.filters import LogFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.project import Location
    from holdfast.ports.services import Services

LEFT_OUT = "[left out: "
"""Beginning of a note that replaces words which look like an attack."""
CHECKPOINTS_READ = 200
"""Checkpoints read back to find the current one."""


def current(services: Services, location: Location, task: str = "") -> Checkpoint | None:
    """Return the newest open checkpoint of the task, by default the latest of this branch; None if all are closed."""
    seen: set[str] = set()
    for checkpoint in saved(services, location, CHECKPOINTS_READ):
        here = checkpoint.task == task if task else checkpoint.branch == location.branch
        if not here or checkpoint.task in seen:
            continue
        seen.add(checkpoint.task)
        if not checkpoint.closed:
            return checkpoint
    return None


def saved(services: Services, location: Location, limit: int) -> list[Checkpoint]:
    """Return the project's checkpoints, newest first, closed ones included."""
    return services.store.find_records(Checkpoint, LogFilter(project=location.project.id, limit=limit))


def render(checkpoint: Checkpoint, budget_tokens: int) -> str:
    """Return the checkpoint as a few lines of at most that many tokens.

    To fit, files are left out first, then what is done, then open questions, then next steps; the goal is cut last.
    """
    from holdfast.rendering.budget import count_tokens
    from holdfast.rendering.lines import clean

    shows_branch = checkpoint.branch and not checkpoint.task.startswith(LEFT_OUT)
    branch = f", branch {clean(checkpoint.branch)}" if shows_branch else ""
    head = f"State of task {clean(checkpoint.task)}, saved {checkpoint.at:%Y-%m-%d %H:%M} UTC{branch}:"
    rows = [
        ("goal", [clean(checkpoint.goal)]),
        ("next", [clean(item) for item in checkpoint.next]),
        ("open", [clean(item) for item in checkpoint.open_questions]),
        ("done", [clean(item) for item in checkpoint.done][::-1]),
        ("files", [clean(item) for item in checkpoint.files][::-1]),
    ]
    lines = [head]
    left = budget_tokens - count_tokens(head)
    for name, items in rows:
        line = _row(name, items, left)
        lines += [line] if line else []
        left -= count_tokens(line)
    return "\n".join(lines)


def _row(name: str, items: Sequence[str], budget: int) -> str:
    """Return `name: item; item` with as many items as fit; cut the first goal or step between words if needed."""
    from holdfast.rendering.budget import count_tokens

    fitting: list[str] = []
    for item in items:
        if count_tokens(f"{name}: {'; '.join([*fitting, item])}") > budget:
            break
        fitting.append(item)
    if not fitting and items and name in ("goal", "next"):
        words = items[0].split(" ")
        while words and count_tokens(f"{name}: {' '.join(words)}…") > budget:
            words = words[: len(words) * 3 // 4]
        fitting = [" ".join(words) + "…"] if words else []
    return f"{name}: {'; '.join(fitting)}" if fitting else ""
