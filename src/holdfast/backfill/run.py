"""One back-fill of transcripts: whose they are, which may be anybody's, one host after another, and what came of it."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING

from holdfast import plugins
from holdfast.backfill.loading import Backfilling, Places, Tally
from holdfast.backfill.transcriptfiles import at_paths, in_projects, on_this_machine, work_tree
from holdfast.bootstrap import repository_texts
from holdfast.domain.statefamilies import BACKFILLED_ROOTS
from holdfast.errors import InvalidValueError
from holdfast.wiring import load_host

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from holdfast.backfill.transcriptfiles import Files
    from holdfast.ports.host import Host
    from holdfast.settings import Settings

    Progress = Callable[[Sequence[str]], AbstractContextManager[Callable[[int], None]]]
    """Opened with the paths to read, it gives what is told of every stretch of bytes that was read."""

ROOTS_LIMIT = 1_000
"""Projects of earlier runs that are kept, those of this run first."""
ANYBODYS = "so anybody may have written it (name it to let it wait in the inbox; --accept: it is yours)"


def load_hosts(settings: Settings, name: str = "") -> list[Host]:
    """The host of that name, or every one that keeps transcripts that can be read.

    Raises PluginNotFoundError, or InvalidValueError for a host that keeps none.
    """
    if name:
        host = load_host(name, settings)
        if not host.profile.transcripts:
            raise InvalidValueError(f"{host.name} keeps no transcripts that can be read", hint="holdfast setup --list")
        return [host]
    every = [load_host(each.replace("_", "-"), settings) for each in plugins.names("hosts")]
    return [host for host in every if host.profile.transcripts]


def silent(paths: Sequence[str]) -> AbstractContextManager[Callable[[int], None]]:
    """Progress that is told to nobody."""
    return nullcontext(lambda done: None)


class TranscriptRun:
    """One host's transcripts after another's; `accept`: the user vouches for what a repository brought along."""

    def __init__(
        self,
        hosts: Sequence[Host],
        places: Places,
        since: datetime | None = None,
        accept: bool = False,
        progress: Progress = silent,
    ) -> None:
        self.hosts = hosts
        self.places = places
        self.since = since
        self.accept = accept
        self.progress = progress
        self.tallies: dict[str, Tally] = {}
        """By host, for those of which there was something."""
        self.unread: list[tuple[str, str]] = []
        """(path, reason) of what the user named and no host's reader can read."""
        self.passed_over = 0
        """Files below the named folders that are no transcripts as far as can be told."""

    def at(
        self, paths: Sequence[str], home: str, on_guess: Callable[[str, str], None] = lambda path, host: None
    ) -> bool:
        """Read what is at the paths; False when the user interrupted. `on_guess` hears path and host of a guess."""
        named = at_paths(paths, self.hosts)
        self.unread, self.passed_over = named.unread, named.passed_over
        for path, host in named.guessed:
            on_guess(path, host)
        kept_for_user = {os.path.realpath(path) for path in _paths(on_this_machine(self.hosts, home))}
        others = [path for path in _paths(named.files) if os.path.realpath(path) not in kept_for_user]
        return self._read(named.files, {path: root for path, (_, root) in self._repository_texts(others).items()})

    def everywhere(self, home: str, folder: str) -> bool:
        """Read what the hosts keep under the user's home, then inside the projects that are known by then.

        What a repository may have brought along is left out, and counted. False when the user interrupted.
        """
        if not self._read(on_this_machine(self.hosts, home)):
            return False
        files = in_projects(self.hosts, [self.places.project or folder, *self._roots()])
        texts = self._repository_texts(list(_paths(files)))
        for host, paths in files:
            for path in filter(texts.__contains__, paths):
                self._tally(host).skipped[f"transcripts: {texts[path][0]}, {ANYBODYS}"] += 1
        return self._read([(host, [path for path in paths if path not in texts]) for host, paths in files])

    def total(self) -> Tally:
        """All hosts together."""
        sum_of_all = Tally()
        for tally in self.tallies.values():
            sum_of_all.add(tally)
        return sum_of_all

    def _repository_texts(self, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        """By path, for what a repository may have brought along: why, and the root of its work tree."""
        return {} if self.accept or not paths else repository_texts(paths)

    def _tally(self, host: Host) -> Tally:
        return self.tallies.setdefault(host.name, Tally())

    def _read(self, files: Files, repositories: Mapping[str, str] | None = None) -> bool:
        """Read the files; `repositories` gives the work tree's root of those that are a repository's text."""
        with self.progress(list(_paths(files))) as advance:
            try:
                for host, paths in files:
                    run = Backfilling(host, self.places, self.since)
                    if paths:
                        run.tally = self._tally(host)
                    for path in paths:
                        run.read(path, advance, (repositories or {}).get(path))
            except KeyboardInterrupt:
                return False
        return True

    def _roots(self) -> list[str]:
        """The projects of this run and of earlier ones, which are kept for the next one."""
        roots = sorted({work_tree(folder) for folder in self.places.folders})
        memory = self.places.memory
        if memory is None:
            return roots
        known = dict.fromkeys([*roots, *memory.parts.store.get_state(BACKFILLED_ROOTS).split("\n")])
        roots = [root for root in known if root and os.path.isdir(root)][:ROOTS_LIMIT]
        memory.parts.store.set_state(BACKFILLED_ROOTS, "", "\n".join(roots))
        return roots


def _paths(files: Files) -> Iterator[str]:
    return (path for _, paths in files for path in paths)
