"""Writes backups of a home and restores a home from them.

A backup is a zip file with `manifest.json`, a complete copy of the database, and the few other files of the home that
cannot be made again. The manifest has the checksum and length of each file. Files that belong to one machine (the
record of changed host files, the code index, locks, logs) are not in it.

A restore checks everything before it changes anything, and first writes a backup of what it replaces.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import IO

from holdfast._version import __version__
from holdfast.errors import HoldfastError, InvalidValueError, SchemaTooNewError, StoreCorruptError, StoreError
from holdfast.home.witness import accept
from holdfast.lean.plain import from_plain, render_instant, to_plain
from holdfast.lean.texts import dumps, file_url, loads
from holdfast.ports.store import Extent
from holdfast.settings import Settings
from holdfast.wiring import open_store

FORMAT = 1
"""The version of the backup's format. Holdfast reads this version and older ones."""
MANIFEST, DATABASE, CONFIG = "manifest.json", "memory.db", "config.toml"
FILES = (CONFIG, "export.key", "distil.jsonl")
"""Files of the home beside the database: settings, the key that seals exports, the record of calls to models."""
MANIFEST_LIMIT = 1_000_000
"""Bytes of a backup's manifest that are read."""
SAVED_FOLDER = "replaced"
"""Folder of the home for backups of memories that a restore replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedFile:
    """A file in a backup."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup contains."""

    format: int
    holdfast: str
    """The version of Holdfast that wrote the backup."""
    made: str
    """When the backup was written, as ISO 8601 in UTC."""
    extent: Extent
    members: tuple[ArchivedFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restore did or would do."""

    manifest: Manifest
    before: Extent | None
    """What the home's memory held; None if its database could not be read."""
    saved: str = ""
    """Where the replaced memory is saved; empty if there was none."""
    placed: tuple[str, ...] = ()
    """Files that were restored into the home."""
    left: tuple[str, ...] = ()
    """Files of the home that differ from the backup's and were left as they are."""


def write_backup(settings: Settings, path: str) -> Manifest:
    """Write a backup atomically and check it; return its manifest. Raises StoreError or OSError.

    Only the owner can read the file, because it holds everything, private lessons too.
    """
    path = os.path.abspath(path)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path), prefix=".holdfast-") as folder:
        copy = os.path.join(folder, DATABASE)
        with open_store(settings) as store:
            store.write_copy(copy)
        with open_store(replace(settings, store=file_url(copy))) as store:
            extent = store.extent()
        names = {DATABASE: copy} | {name: os.path.join(settings.home, name) for name in FILES}
        sources = {name: source for name, source in names.items() if os.path.isfile(source)}
        manifest = Manifest(
            format=FORMAT, holdfast=__version__, made=render_instant(datetime.now(UTC)), extent=extent,
            members=tuple(_measure(name, source) for name, source in sources.items()),
        )  # fmt: skip
        draft = os.path.join(folder, "draft")
        _write_zip(draft, manifest, sources)
        read_manifest(draft)
        os.replace(draft, path)
    return manifest


def read_manifest(path: str) -> Manifest:
    """Check every file of a backup and return its manifest.

    Raises InvalidValueError for a file that is not a backup or is damaged, and SchemaTooNewError for one that a newer
    Holdfast wrote.
    """
    with _opened(path) as archive:
        manifest = _manifest_of(archive, path)
        for member in manifest.members:
            with archive.open(member.name) as stream:
                _check_member(path, member, _measure_stream(member.name, stream))
    return manifest


def read_extent(settings: Settings) -> Extent | None:
    """Return what the home's memory holds; None for a damaged database. Raises StoreError for any other problem."""
    if settings.database_path and not os.path.exists(settings.database_path):
        return Extent()
    try:
        with open_store(settings, frozen=True) as store:
            return store.extent()
    except StoreCorruptError:
        return None


def restore_backup(settings: Settings, path: str, *, with_config: bool = False, dry: bool = False) -> Restored:
    """Replace the home's memory by the backup's, after checking it and saving the replaced memory.

    Other files are restored only if they are missing. The settings are restored only `with_config`, and then replace
    the existing ones. Raises HoldfastError or OSError; nothing has changed then, except that a damaged database is
    renamed.
    """
    manifest = read_manifest(path)
    before = read_extent(settings)
    os.makedirs(settings.home, mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=settings.home, prefix=".restore-") as folder:
        with _opened(path) as archive:
            for member in manifest.members:
                _extract(archive, member, folder)
        _check_database(settings, path, os.path.join(folder, DATABASE), manifest)
        placed, left = _choose_files(settings, folder, with_config)
        outcome = Restored(manifest=manifest, before=before, placed=placed, left=left)
        if dry:
            return outcome
        saved = _save_present(settings, before)
        with open_store(settings) as store:
            store.take_copy(os.path.join(folder, DATABASE))
            accept(settings.home, settings.store, store.extent())
        for name in placed:
            os.replace(os.path.join(folder, name), os.path.join(settings.home, name))
    return replace(outcome, saved=saved)


def _save_present(settings: Settings, before: Extent | None) -> str:
    """Save what is about to be replaced; return its path, or "" if there is nothing."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    if before is None:
        damaged = f"{settings.database_path}.damaged-{stamp}"
        for ending in ("", "-wal", "-shm"):
            if os.path.exists(settings.database_path + ending):
                os.replace(settings.database_path + ending, damaged + ending)
        return damaged
    if before == Extent():
        return ""
    folder = os.path.join(settings.home, SAVED_FOLDER)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    saved = os.path.join(folder, f"before-restore-{stamp}.zip")
    write_backup(settings, saved)
    return saved


def _check_database(settings: Settings, path: str, copy: str, manifest: Manifest) -> None:
    """Update the extracted database's schema, and check that it is sound and holds what the manifest says."""
    try:
        with open_store(replace(settings, store=file_url(copy))) as store:
            problems = [problem.what for problem in store.check()]
            extent = store.extent()
    except SchemaTooNewError as exc:
        raise _too_new(path, manifest.holdfast) from exc
    except StoreError as exc:
        raise InvalidValueError(f"{path}: its database cannot be opened: {exc}") from exc
    if extent != manifest.extent:
        problems.append(f"it holds {extent.lessons} lessons, and its manifest says {manifest.extent.lessons}")
    if problems:
        raise InvalidValueError(f"{path}: its database is not sound: {'; '.join(problems)}")


def _choose_files(settings: Settings, folder: str, with_config: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the extracted files to restore, and of those that differ but are not restored."""
    placed, left = [], []
    for name in FILES:
        source, target = os.path.join(folder, name), os.path.join(settings.home, name)
        if not os.path.exists(source):
            continue
        if name == CONFIG and with_config:
            _check_config(source)
            placed.append(name)
        elif name != CONFIG and not os.path.exists(target):
            placed.append(name)
        elif not os.path.exists(target) or _read(source) != _read(target):
            left.append(name)
    return tuple(placed), tuple(left)


def _check_config(path: str) -> None:
    try:
        table = tomllib.loads(_read(path).decode("utf-8"))
    except ValueError as exc:
        raise InvalidValueError(f"the backup's {CONFIG} cannot be read: {exc}") from exc
    if "store" in table:
        raise InvalidValueError(
            f"the backup's {CONFIG} names another store: {table['store']}",
            hint="restore without --settings, and edit config.toml by hand",
        )


def _write_zip(path: str, manifest: Manifest, sources: dict[str, str]) -> None:
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    with open(descriptor, "wb") as stream:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(MANIFEST, dumps(to_plain(manifest)))
            for name, source in sources.items():
                archive.write(source, name)
        stream.flush()
        os.fsync(stream.fileno())


@contextmanager
def _opened(path: str) -> Iterator[zipfile.ZipFile]:
    """Open the backup's zip file. Raises InvalidValueError for a damaged one, also while it is read."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError) as exc:
        if isinstance(exc, HoldfastError):
            raise
        raise InvalidValueError(f"{path} is not a backup of Holdfast, or is damaged: {exc}") from exc


def _manifest_of(archive: zipfile.ZipFile, path: str) -> Manifest:
    with archive.open(MANIFEST) as stream:
        text = stream.read(MANIFEST_LIMIT)
    try:
        plain = loads(text.decode("utf-8"))
        if plain["format"] > FORMAT:
            raise _too_new(path, str(plain.get("holdfast", "?")))
        manifest = from_plain(Manifest, plain)
        names = [member.name for member in manifest.members]
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        if isinstance(exc, SchemaTooNewError):
            raise
        raise InvalidValueError(f"{path}: its {MANIFEST} cannot be read: {exc}") from exc
    if DATABASE not in names or not set(names) <= {DATABASE, *FILES}:
        raise InvalidValueError(f"{path}: its {MANIFEST} lists other files than a backup has: {', '.join(names)}")
    return manifest


def _extract(archive: zipfile.ZipFile, member: ArchivedFile, folder: str) -> None:
    """Write the member into the folder and check the result, because the backup may change while it is read."""
    target = os.path.join(folder, member.name)
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with archive.open(member.name) as source, open(descriptor, "wb") as stream:
        shutil.copyfileobj(source, stream)
    _check_member(archive.filename or "", member, _measure(member.name, target))


def _check_member(path: str, member: ArchivedFile, actual: ArchivedFile) -> None:
    if actual != member:
        raise InvalidValueError(f"{path} is damaged: {member.name} is not as it was written")


def _measure(name: str, path: str) -> ArchivedFile:
    with open(path, "rb") as stream:
        return _measure_stream(name, stream)


def _measure_stream(name: str, stream: IO[bytes]) -> ArchivedFile:
    digest, size = hashlib.sha256(), 0
    while piece := stream.read(1_048_576):
        digest.update(piece)
        size += len(piece)
    return ArchivedFile(name=name, size=size, sha256=digest.hexdigest())


def _too_new(path: str, version: str) -> SchemaTooNewError:
    return SchemaTooNewError(
        f"{path} was written by Holdfast {version}, and this is {__version__}",
        hint="upgrade: pip install -U holdfast-memory",
    )


def _read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()
