"""Shell completion of values: ids of lessons and names of hosts."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from holdfast import plugins
from holdfast.bootstrap import Memory
from holdfast.errors import HoldfastError
from holdfast.lean.texts import short_id
from holdfast.surfaces.cli.call import Call

OFFERED = 40
"""Most ids that are offered."""
NEWEST = 2_000
"""Lessons looked through."""


def lesson_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return short ids of this folder's newest lessons that start with the typed text, with titles; [] on an error."""
    try:
        with Memory(ctx.ensure_object(Call).folder, brief=True) as memory:
            lessons = memory.lessons(states=(), limit=NEWEST)
    except (HoldfastError, OSError):
        return []
    fitting = [lesson for lesson in lessons if short_id(lesson.id).startswith(incomplete.lower())]
    return [CompletionItem(short_id(lesson.id), help=lesson.title) for lesson in fitting[:OFFERED]]


def host_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the names of hosts that start with the typed text."""
    names = (name.replace("_", "-") for name in plugins.names("hosts"))
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
