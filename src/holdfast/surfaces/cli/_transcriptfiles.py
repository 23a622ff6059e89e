"""Which transcripts there are, and whose: on the whole machine, inside projects, and at paths that the user names."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from holdfast.domain.errors import InvalidValueError
from holdfast.surfaces.cli.call import note, work_tree
from holdfast.transcripts import host_by_content

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.ports.host import Host

    Files = list[tuple[Host, list[str]]]


def on_this_machine(hosts: Sequence[Host], home: str) -> Files:
    """What each of the hosts keeps for the user, least recently written first."""
    return [(host, list(host.find_transcripts(home))) for host in hosts]


def in_projects(hosts: Sequence[Host], folders: Iterable[str]) -> Files:
    """What the hosts keep inside the projects that the folders are in."""
    roots = sorted({work_tree(folder) for folder in folders})
    return [(host, [path for root in roots for path in host.find_in_project(root)]) for host in hosts]


def at_paths(paths: Sequence[str], hosts: Sequence[Host]) -> Files:
    """The files, and those below the folders that look like a transcript of one of the hosts; a file goes to the host
    whose pattern for it is the longest, or whose content it has.

    Raises InvalidValueError for a file that fits none; with one host, every file that is named is its.
    """
    found: dict[str, list[str]] = {host.name: [] for host in hosts}
    unknown = 0
    for path, named in _files(paths):
        name = _whose(path, hosts, named)
        if name or (named and len(hosts) == 1):
            found[name or hosts[0].name].append(path)
        elif named:
            raise InvalidValueError(f"whose transcript is {path}?", hint="say it with --host NAME")
        else:
            unknown += bool(_fits(path, hosts))
    if unknown:
        note(f"left out: {unknown} files in folders, of no form that is known (--host NAME takes them)")
    return [(host, found[host.name]) for host in hosts]


def _files(paths: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Files, and whether the user named this very one."""
    for path in map(os.path.abspath, paths):
        if not os.path.isdir(path):
            yield path, True
            continue
        for folder, folders, names in os.walk(path):
            folders.sort()
            yield from ((os.path.join(folder, name), False) for name in sorted(names))


def _fits(path: str, hosts: Sequence[Host]) -> list[tuple[int, str, str]]:
    """The patterns that the path fits with their hosts' names, the longest first by its negative length."""
    plain = path.replace(os.sep, "/")
    return [
        (-len(pattern), host.name, pattern)
        for host in hosts
        for pattern in host.profile.transcript_files
        if host.profile.transcripts and fnmatchcase(plain, f"*/{pattern}")
    ]


def _whose(path: str, hosts: Sequence[Host], named: bool) -> str:
    """The name of the host whose pattern fits, the longest, then the first name; empty for none.

    Where the path says no more than an ending, or nothing of a file that the user named, the content decides.
    """
    fits = _fits(path, hosts)
    _, name, pattern = min(fits, default=(0, "", ""))
    says_more = bool(pattern) and not pattern.startswith("*.")
    if says_more or len(hosts) == 1 or not (fits or named):
        return name
    return host_by_content(path, hosts)
