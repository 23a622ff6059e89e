"""A workspace without a work tree: a server knows projects, and none of their files.

Every answer is the one that the port has for a missing file or for a missing git, so that lessons are `unverified`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from posixpath import normpath

from holdfast.domain.project import SERVER, Commit, CommitPoint, Location, Person, Project
from holdfast.errors import InvalidValueError, ProjectUnknownError
from holdfast.ports.workspace import Stamps


def server_location(project: Project) -> Location:
    """Return the location that stands for the project on a server; its root is a name, not a folder."""
    at_server = Project(id=project.id, name=project.name, source=SERVER)
    return Location(project=at_server, root=f"/{project.id}")


class BareWorkspace:
    """A project's workspace on a server; `person` is whose request it serves, `project` what every folder is of."""

    def __init__(self, person: Person, project: Project | None = None) -> None:
        self._person = person
        self._project = project
        self._past = NoPast()

    def locate(self, folder: str) -> Location:
        """Return the project's location, whatever folder a client works in; ProjectUnknownError without a project."""
        if self._project is None:
            raise ProjectUnknownError(f"a server has no folder {folder}")
        return server_location(self._project)

    def accept_claim(self, folder: str) -> Location:
        """Raise InvalidValueError: nothing is declared on a server."""
        raise InvalidValueError(f"a server has no folder {folder}")

    def release_claim(self, folder: str) -> Location:
        """Raise InvalidValueError: nothing is declared on a server."""
        raise InvalidValueError(f"a server has no folder {folder}")

    def relative(self, location: Location, path: str, cwd: str = "") -> str:
        """Return a relative path in its shortest form; empty for one that is absolute or leads out of the project."""
        plain = path.replace("\\", "/").removeprefix(f"{location.root}/")
        folder = cwd.replace("\\", "/").rstrip("/")
        plain = plain.removeprefix(f"{folder}/") if folder else plain
        short = normpath(plain) if plain else ""
        return "" if short in ("", ".", "..") or short.startswith(("/", "../")) or short[1:3] == ":/" else short

    def count_lesson_files(self, location: Location) -> int:
        """Return 0: there are no files."""
        return 0

    def blob(self, location: Location, path: str) -> str:
        """Return nothing: there are no files."""
        return ""

    def read(self, location: Location, path: str) -> bytes | None:
        """Return None: there are no files."""
        return None

    def history(self, location: Location) -> NoPast:
        """Return a history that knows nothing."""
        return self._past

    def branches(self, location: Location) -> NoBranches:
        """Return branches that know nothing."""
        return NoBranches()

    def person(self, location: Location) -> Person:
        """Return whose request it is."""
        return self._person

    def exists(self, location: Location, path: str) -> bool:
        """Return False: there are no files."""
        return False

    def foresee_dirty(self, location: Location) -> None:
        """Do nothing."""

    def dirty(self, location: Location) -> Sequence[str]:
        """Return nothing: there are no files."""
        return ()

    def mentioning(self, location: Location, word: str) -> Sequence[str]:
        """Return nothing: there are no files."""
        return ()

    def stamps(self, location: Location, paths: Sequence[str]) -> Stamps:
        """Return stamps that never change."""
        return Stamps(files=((),) * len(paths))


class NoPast:
    """The history of a project whose git is elsewhere."""

    def blob(self, blob: str) -> bytes | None:
        """Return None."""
        return None

    def file(self, commit: str, path: str) -> bytes | None:
        """Return None."""
        return None

    def contains(self, commit: str) -> bool | None:
        """Return None: it cannot tell."""
        return None

    def list_touching(self, path: str, since: str, text: str = "") -> Sequence[str]:
        """Return nothing."""
        return ()

    def list_changed(self, commit: str) -> Sequence[str]:
        """Return nothing."""
        return ()

    def find_new_name(self, commit: str, path: str) -> str:
        """Return nothing."""
        return ""

    def commits(self, revisions: str, skip: int, most: int) -> Sequence[Commit] | None:
        """Return None: it cannot tell."""
        return None

    def list_points(self, since: str, until: str) -> Sequence[CommitPoint] | None:
        """Return None: it cannot tell."""
        return None

    def read_changed_lines(self, commit: str, path: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return nothing."""
        return frozenset(), frozenset()

    def own_address(self) -> str:
        """Return nothing."""
        return ""

    def is_main_line(self) -> bool:
        """Return False: it cannot tell."""
        return False


class NoBranches:
    """The branches of a project whose git is elsewhere: nothing is known of any."""

    def resolve(self, revision: str) -> str:
        """Return nothing."""
        return ""

    def time(self, commit: str) -> datetime | None:
        """Return None."""
        return None

    def is_main(self, branch: str) -> bool:
        """Return False."""
        return False

    def main_commits(self) -> Sequence[str] | None:
        """Return None: git is not there."""
        return None

    def tip(self, branch: str) -> str | None:
        """Return None."""
        return None

    def last_tip(self, branch: str) -> str:
        """Return nothing."""
        return ""

    def read_created(self, branch: str) -> datetime | None:
        """Return None."""
        return None

    def find_checked_out(self, at: datetime) -> tuple[str, str]:
        """Return nothing."""
        return "", ""

    def was_at(self, branch: str, commit: str) -> bool | None:
        """Return None."""
        return None

    def find_missing(self, line: str, commits: Sequence[str]) -> frozenset[str] | None:
        """Return None."""
        return None

    def find_fork(self, line: str, commit: str) -> str | None:
        """Return None."""
        return None

    def is_applied(self, line: str, commit: str) -> bool | None:
        """Return None."""
        return None

    def blobs(self, commit: str, paths: Sequence[str]) -> Mapping[str, str] | None:
        """Return None."""
        return None

    def list_below(self, commit: str, folder: str) -> frozenset[str] | None:
        """Return None."""
        return None

    def list_changed(self, base: str, commit: str) -> Sequence[str] | None:
        """Return None."""
        return None

    def file(self, commit: str, path: str) -> bytes | None:
        """Return None."""
        return None
