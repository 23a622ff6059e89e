"""Commit: one commit of a repository's history as git records it. Its author can write anything into any field."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit without its changes."""

    id: str
    author: str
    email: str
    """The author's address as stated in the commit; git does not check it."""
    at: datetime
    """When the author wrote it, UTC."""
    message: str
    files: tuple[str, ...] = ()
    """The files it added, changed or deleted, relative to the repository's root."""

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.strip().partition("\n")[0].strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitPoint:
    """A commit as a point in time: when it entered the repository, not when its change was first written."""

    id: str
    at: datetime
    """When it was committed, UTC. A rebase or a squash merge makes this later."""
    subject: str = ""
