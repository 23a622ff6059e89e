"""Runs one back-fill of transcripts: finds the files and their hosts, leaves out those that may be someone else's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime

from holdfast import plugins
from holdfast.backfill.loading import Backfilling, SessionLocations, Tally
from holdfast.backfill.transcriptfiles import Files, at_paths, in_projects, on_this_machine, work_tree
from holdfast.bootstrap import repository_texts
from holdfast.domain.statefamilies import BACKFILLED_ROOTS
from holdfast.errors import InvalidValueError
from holdfast.ports.host import Host
from holdfast.settings import Settings
from holdfast.wiring import load_host

Progress = Callable[[Sequence[str]], AbstractContextManager[Callable[[int], None]]]
"""Called with the paths to read, it opens a function that is called with the number of bytes just read."""


ROOTS_LIMIT = 1_000
"""Projects of earlier runs that are kept, those of this run first."""
ANYBODYS = "so anyone may have written it (name it, and its lessons wait in the inbox; --accept: it is yours)"


def load_hosts(settings: Settings, name: str = "") -> list[Host]:
    """Return the host of that name, or every host with readable transcripts.

    Raises PluginNotFoundError, or InvalidValueError for a host without readable transcripts.
    """
    if name:
        host = load_host(name, settings)
        if not host.profile.transcripts:
            raise InvalidValueError(f"{host.name} has no transcripts that can be read", hint="holdfast setup --list")
        return [host]
    every = [load_host(each.replace("_", "-"), settings) for each in plugins.names("hosts")]
    return [host for host in every if host.profile.transcripts]


def silent(paths: Sequence[str]) -> AbstractContextManager[Callable[[int], None]]:
    """Return a progress function that does nothing."""
    return nullcontext(lambda done: None)


class TranscriptRun:
    """A run over the transcripts of several hosts; `accept` says that the user vouches for a repository's files."""

    def __init__(
        self,
        hosts: Sequence[Host],
        locations: SessionLocations,
        since: datetime | None = None,
        accept: bool = False,
        progress: Progress = silent,
    ) -> None:
        self.hosts = hosts
        self.locations = locations
        self.since = since
        self.accept = accept
        self.progress = progress
        self.tallies: dict[str, Tally] = {}
        """Counts by host, for hosts with transcripts."""
        self.unread: list[tuple[str, str]] = []
        """(path, reason) for each path that the user named and no host's reader can read."""
        self.passed_over = 0
        """Number of files below the named folders that were not recognised as transcripts."""

    def at(
        self, paths: Sequence[str], home: str, on_guess: Callable[[str, str], None] = lambda path, host: None
    ) -> bool:
        """Read the transcripts at the paths; return False if the user interrupted.

        `on_guess` is called with path and host of each file whose host was found by trying.
        """
        named = at_paths(paths, self.hosts)
        self.unread, self.passed_over = named.unread, named.passed_over
        for path, host in named.guessed:
            on_guess(path, host)
        kept_for_user = {os.path.realpath(path) for path in _paths(on_this_machine(self.hosts, home))}
        others = [path for path in _paths(named.files) if os.path.realpath(path) not in kept_for_user]
        return self._read(named.files, {path: root for path, (_, root) in self._repository_texts(others).items()})

    def everywhere(self, home: str, folder: str) -> bool:
        """Read the hosts' transcripts in the user's home, then those inside the projects that are known by then.

        Files that may have come with a repository are left out and counted. Returns False if the user interrupted.
        """
        if not self._read(on_this_machine(self.hosts, home)):
            return False
        files = in_projects(self.hosts, [self.locations.project or folder, *self._roots()])
        texts = self._repository_texts(list(_paths(files)))
        for host, paths in files:
            for path in filter(texts.__contains__, paths):
                self._tally(host).skipped[f"transcripts: {texts[path][0]}, {ANYBODYS}"] += 1
        return self._read([(host, [path for path in paths if path not in texts]) for host, paths in files])

    def total(self) -> Tally:
        """Return the counts of all hosts together."""
        sum_of_all = Tally()
        for tally in self.tallies.values():
            sum_of_all.add(tally)
        return sum_of_all

    def _repository_texts(self, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return, by path, why a repository may have brought the file along, and the root of its work tree."""
        return {} if self.accept or not paths else repository_texts(paths)

    def _tally(self, host: Host) -> Tally:
        return self.tallies.setdefault(host.name, Tally())

    def _read(self, files: Files, repositories: Mapping[str, str] | None = None) -> bool:
        """Read the files; `repositories` has the work tree's root for each file that came with a repository."""
        with self.progress(list(_paths(files))) as advance:
            try:
                for host, paths in files:
                    run = Backfilling(host, self.locations, self.since)
                    if paths:
                        run.tally = self._tally(host)
                    for path in paths:
                        run.read(path, advance, (repositories or {}).get(path))
            except KeyboardInterrupt:
                return False
            finally:
                memory = self.locations.memory
                for tally in self.tallies.values():
                    if memory is not None:
                        tally.settle(memory.services.store)
        return True

    def _roots(self) -> list[str]:
        """Return the projects of this run and of earlier ones, and store them for the next run."""
        roots = sorted({work_tree(folder) for folder in self.locations.folders})
        memory = self.locations.memory
        if memory is None:
            return roots
        known = dict.fromkeys([*roots, *memory.services.store.get_state(BACKFILLED_ROOTS).split("\n")])
        roots = [root for root in known if root and os.path.isdir(root)][:ROOTS_LIMIT]
        memory.services.store.set_state(BACKFILLED_ROOTS, "", "\n".join(roots))
        return roots


def _paths(files: Files) -> Iterator[str]:
    return (path for _, paths in files for path in paths)
