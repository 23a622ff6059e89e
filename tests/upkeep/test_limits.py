"""The edges of backups and checks: what is just inside, and what is not."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from holdfast.errors import InvalidValueError, SchemaTooNewError
from holdfast.settings import load_settings
from holdfast.upkeep.archive import MANIFEST, read_manifest, write_backup


def rewritten(folder: Path, format: int = 1, length: int = 0) -> str:
    """A backup whose manifest tells that format and is padded to that length."""
    source, target = folder / "backup.zip", folder / "rewritten.zip"
    write_backup(load_settings(), str(source))
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w") as other:
        for name in archive.namelist():
            content = archive.read(name)
            if name == MANIFEST:
                content = json.dumps(json.loads(content) | {"format": format}).encode().ljust(length)
            other.writestr(name, content)
    return str(target)


@pytest.mark.parametrize("format", [1, 2])
def test_a_backup_of_a_newer_format_is_refused(home: Path, tmp_path: Path, format: int) -> None:
    """`archive.FORMAT`."""
    if format == 1:
        assert read_manifest(rewritten(tmp_path, format)).format == 1
    else:
        with pytest.raises(SchemaTooNewError):
            read_manifest(rewritten(tmp_path, format))


@pytest.mark.parametrize("more", [0, 1])
def test_a_megabyte_of_a_manifest_is_read(home: Path, tmp_path: Path, more: int) -> None:
    """`archive.MANIFEST_LIMIT`: of a longer one the end is missing."""
    file = Path(rewritten(tmp_path))
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = members.pop(MANIFEST)
    manifest = manifest[:1] + b" " * (1_000_000 - len(manifest) + more) + manifest[1:]
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in {**members, MANIFEST: manifest}.items():
            archive.writestr(name, content)
    if more:
        with pytest.raises(InvalidValueError, match="cannot be read"):
            read_manifest(str(file))
    else:
        assert read_manifest(str(file)).format == 1
