"""Finds transcripts and their hosts: on the whole machine, inside projects, and at paths that the user names."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import NamedTuple

from holdfast.backfill.transcripts import TranscriptLines, host_by_content
from holdfast.errors import HoldfastError
from holdfast.ports.host import Host

Files = list[tuple[Host, list[str]]]


SIZE_LIMIT = 1_000_000_000
"""Bytes of a transcript; a database may be larger."""
DATABASE = b"SQLite format 3\0"
TRIED_SIZE = 64_000_000
"""Bytes of a file that every host's reader tries when the one it is named like finds nothing in it."""
TRIED_LINES = 5_000
"""Lines of a file in which a reader must find its first events."""
TRIED_EVENTS = 50
"""Events after which a reader is known to fit."""
NO_READER = "no host's reader finds an event in it"
ENDINGS = (".json", ".jsonl", ".md", ".traj", ".db", ".vscdb", ".zst")
"""Suffixes of files in a named folder that are reported if they match no host's file names."""


class NamedTranscripts(NamedTuple):
    """The files at the paths that the user named."""

    files: Files
    unread: list[tuple[str, str]]
    """(path, reason) for each named path that no host's reader can read."""
    guessed: list[tuple[str, str]]
    """(path, host) for each file whose reader was found by trying."""
    passed_over: int = 0
    """Number of files below the named folders without a transcript's name, or in which no reader finds events."""


def on_this_machine(hosts: Sequence[Host], home: str) -> Files:
    """Return each host's transcripts in the user's home, least recently written first."""
    return [(host, list(host.find_transcripts(home))) for host in hosts]


def in_projects(hosts: Sequence[Host], folders: Iterable[str]) -> Files:
    """Return each host's transcripts inside the projects of these folders."""
    roots = sorted({work_tree(folder) for folder in folders})
    return [(host, [path for root in roots for path in host.find_in_project(root)]) for host in hosts]


def at_paths(paths: Sequence[str], hosts: Sequence[Host]) -> NamedTranscripts:
    """Return the files at the paths, each with the host whose reader finds events in it.

    The host whose pattern fits the path best is tried first. If it finds nothing, all others are tried, and exactly one
    of them must find events. Below a folder only files that fit a pattern are tried.
    """
    transcripts: dict[str, list[str]] = {host.name: [] for host in hosts}
    unread: list[tuple[str, str]] = []
    guessed: list[tuple[str, str]] = []
    passed_over = 0
    for named in paths:
        is_folder, before = os.path.isdir(named), sum(map(len, transcripts.values()))
        for path in _files_at(os.path.abspath(named)):
            first = _likeliest(path, hosts, named=not is_folder)
            if is_folder and first is None:
                passed_over += path.lower().endswith(ENDINGS)
                continue
            host, reason = _reader_of(path, first, hosts)
            if host is not None:
                transcripts[host.name].append(path)
                if host is not first and len(hosts) > 1:
                    guessed.append((path, host.name))
            elif is_folder:
                passed_over += 1
            else:
                unread.append((path, reason))
        if is_folder and before == sum(map(len, transcripts.values())):
            unread.append((named, "nothing in it is a transcript that a host's reader can read"))
    return NamedTranscripts([(host, transcripts[host.name]) for host in hosts], unread, guessed, passed_over)


def unfit(path: str) -> str:
    """Return why a file must not be read as a transcript, or "". Raises OSError."""
    status = os.stat(path)  # `stat` follows links; opening the file could block if it is a pipe
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    if status.st_size > SIZE_LIMIT and not _is_database(path):
        return f"larger than {SIZE_LIMIT // 1_000_000:,} MB"
    return ""


def _is_database(path: str) -> bool:
    with open(path, "rb") as stream:
        return stream.read(len(DATABASE)) == DATABASE


def _files_at(path: str) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders.sort()
        yield from (os.path.join(folder, name) for name in sorted(names))


def _reader_of(path: str, first: Host | None, hosts: Sequence[Host]) -> tuple[Host | None, str]:
    """Return the host that can read the file, or None and the reason."""
    try:
        why = unfit(path)
        size = os.path.getsize(path)
    except OSError as exc:
        return None, exc.strerror or str(exc)
    if why:
        return None, why
    if first is not None:
        count, why = _try(first, path)
        if count or why:
            return first, ""  # after an error too: the reader reports it again when it reads the file
    others = [host for host in hosts if host is not first and size <= TRIED_SIZE]
    fits = [host for host in others if _try(host, path)[0]]
    if len(fits) == 1:
        return fits[0], ""
    if fits:
        names = ", ".join(host.name for host in fits)
        return None, f"the readers of {names} all find events in it: choose one with --host NAME"
    return None, f"{hosts[0].name}'s reader finds no event in it" if len(hosts) == 1 else NO_READER


def _try(host: Host, path: str) -> tuple[int, str]:
    """Return how many events the host's reader finds, up to a limit, or 0 and why it cannot read the file."""
    try:
        if not host.profile.grows_by_lines:
            return sum(1 for _ in islice(host.read_transcript(path, str), TRIED_EVENTS)), ""
        with TranscriptLines(path) as lines:
            events = host.parse_transcript(islice(lines, TRIED_LINES), "-", str)
            return sum(1 for _ in islice(events, TRIED_EVENTS)), ""
    except HoldfastError as exc:
        return 0, str(exc)
    except Exception:
        return 0, ""  # any error is possible, because the reader is made for another format


def _likeliest(path: str, hosts: Sequence[Host], named: bool) -> Host | None:
    """Return the host whose pattern fits the path, by the longest pattern, then by name; None without one.

    If only a suffix fits, or if nothing fits a file that the user named, the content decides.
    """
    plain = path.replace(os.sep, "/")
    fits = [
        (-len(pattern), host.name, pattern, host)
        for host in hosts
        for pattern in host.profile.transcript_files
        if host.profile.transcripts and fnmatchcase(plain, f"*/{pattern}")
    ]
    _, _, pattern, best = min(fits, key=lambda fit: fit[:2], default=(0, "", "", None))
    if (pattern and not pattern.startswith("*.")) or not (fits or named):
        return best
    by_content = host_by_content(path, hosts)
    return next((host for host in hosts if host.name == by_content), best)


def work_tree(folder: str) -> str:
    """Return the nearest folder with a `.git`, from the folder upwards, or the folder itself."""
    folder = os.path.realpath(folder)
    above = folder
    while not os.path.exists(os.path.join(above, ".git")):
        if os.path.dirname(above) == above:
            return folder
        above = os.path.dirname(above)
    return above
