"""Finds copies of a purged lesson's words outside the database: in Holdfast's files and in files that it wrote into."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.errors import HoldfastError
from holdfast.installing.hostfiles import SETUP_SCOPES, HostFiles
from holdfast.settings import Settings

LARGEST = 20_000_000
"""Bytes of a file that is searched; nothing of ours but databases is larger."""
SHORTEST = 12
"""Characters of the shortest sentence that is looked for."""
LONGEST = 60
"""Characters of a sentence's beginning that are looked for: files for hosts cut long rules."""
EXPORT_ENDS = (".jsonl", ".json", ".bak", ".zip")
"""Files in the home that a person put there or asked for, or that a restore saved. Holdfast never reads them again."""
ZIP_PIECE = 1 << 20
"""Bytes of a packed file that are searched at once."""
NOT_SEARCHED = "not searched: transcripts that hosts keep, and your exports and backups"


class Copy(NamedTuple):
    """A file that holds words of a purged lesson, and the command or advice that removes them."""

    path: str
    mend: str


def find_copies(settings: Settings, words: Sequence[str]) -> list[Copy]:
    """Return files with one of the sentences, among those written for hosts and those in the home but the database."""
    needles = {needle for text in words if len(text) >= SHORTEST for needle in _spellings(text[:LONGEST])}
    if not needles:
        return []
    return [copy for copy in _candidates(settings) if _holds(copy.path, needles)]


def _spellings(text: str) -> Iterator[bytes]:
    """Yield the text as bytes of a plain file and of a JSON string."""
    yield text.encode("utf-8", "replace")
    yield json.dumps(text)[1:-1].encode()
    yield json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "replace")


def _candidates(settings: Settings) -> Iterator[Copy]:
    try:
        manifest = HostFiles(settings.home).manifest
    except HoldfastError:
        manifest = {}
    for file, entry in manifest.items():
        if any(edit["owner"].split(":")[1] not in SETUP_SCOPES for edit in entry["edits"]):
            yield Copy(file, "holdfast rules sync")
    database = settings.database_path
    for folder, _, names in os.walk(settings.home):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not (database and path.startswith(database)):
                yield Copy(path, "remove it if you do not need it" if name.endswith(EXPORT_ENDS) else "")


def _holds(path: str, needles: set[bytes]) -> bool:
    try:
        if path.endswith(".zip"):
            return _zip_holds(path, needles)
        if not os.path.isfile(path) or os.path.getsize(path) > LARGEST:
            return False
        with open(path, "rb") as stream:
            content = stream.read()
    except OSError:
        return False
    return any(needle in content for needle in needles)


def _zip_holds(path: str, needles: set[bytes]) -> bool:
    """Return whether a file in the zip file contains one of the texts; False for a zip file that cannot be read."""
    longest = max(map(len, needles))
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                tail = b""
                with archive.open(name) as stream:
                    while piece := stream.read(ZIP_PIECE):
                        piece = tail + piece
                        if any(needle in piece for needle in needles):
                            return True
                        tail = piece[-longest:]
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError):
        return False
    return False
