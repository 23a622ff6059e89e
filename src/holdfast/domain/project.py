"""Project and Location: the code base to which a folder belongs. A folder's name never identifies it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.vocabulary import ProjectId

ORGANISATION = ProjectId("organisation")
"""The project of an organisation's own lessons, which have the level `team` and reach all its projects."""
PERSONAL = "~"
"""Begins the name under which a server stores what a member keeps to themselves; no project's id begins with it."""
SERVER = "server"
"""The source of a project that a server knows by its id alone: there is no work tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A code base's identity. `source` names its basis: file, git, path or server."""

    id: ProjectId
    name: str
    """For people only; never compared."""
    source: str
    remote: str = ""
    root_commit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who works in a folder, by git's configuration there."""

    id: str = ""
    """16 hexadecimal characters: a digest of the e-mail address, or of the name without one. Empty: not known."""
    name: str = ""
    """For people only; never compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A folder as seen from its project: the work tree's root, the position below it, and what is checked out."""

    project: Project
    root: str
    """Absolute path of the work tree's root."""
    prefix: str = ""
    """The folder relative to the root, forward slashes; empty at the root."""
    branch: str = ""
    commit: str = ""
    tree: str = ""
    """The commit whose files are read in place of the work tree's; empty: the work tree as it is."""
    claim: str = ""
    """The id that `.holdfast/project.toml` declares here but that is not accepted (ADR 18); else empty."""
    claim_owner: str = ""
    """Remote or root commit of the repository in which that id is accepted; empty when it is not known."""

    @property
    def has_work_tree(self) -> bool:
        """Whether there may be code to look at; a server has none."""
        return self.project.source != SERVER


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
