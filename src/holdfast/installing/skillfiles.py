"""Writes skills as files in a project; files that a person wrote or edited are left alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import HostConfigError
from holdfast.installing.hostfiles import SHARED_MODE, replace_file
from holdfast.lean.hostmarks import SKILL_FOLDERS
from holdfast.publishing.skills import compile_skills, is_unedited

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.bootstrap import Memory
    from holdfast.domain.project import Location
    from holdfast.publishing.skills import Skills

FOLDER = SKILL_FOLDERS[0]
"""The folder for skills, relative to the project's root."""
FILE = "SKILL.md"


class SkillFile(NamedTuple):
    """One file: its content now and its wanted content. None means no file."""

    file: str
    current: str | None
    wanted: str | None
    what: str
    """`new`, `changed`, `same`, `removed`, or `kept` for a file that a person wrote or edited."""


def plan_skills(skills: Skills, location: Location, folder: str = "") -> Iterator[SkillFile]:
    """Yield each skill's file, then every file of Holdfast without a skill."""
    folder = folder or os.path.join(location.root, FOLDER)
    for skill in skills.skills:
        file = os.path.join(folder, skill.name, FILE)
        current = _read(file)
        if current is None:
            yield SkillFile(file, None, skill.text, "new")
        elif current.replace("\r\n", "\n") == skill.text:
            yield SkillFile(file, current, current, "same")
        elif is_unedited(current, location):
            yield SkillFile(file, current, skill.text, "changed")
        else:
            yield SkillFile(file, current, current, "kept")
    names = {skill.name for skill in skills.skills}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        file = os.path.join(folder, name, FILE)
        current = _read(file) if name not in names else None
        if current is not None and is_unedited(current, location):
            yield SkillFile(file, current, None, "removed")


def write_skill(planned: SkillFile) -> None:
    """Make one planned change. Raises HostConfigError if the file has changed since."""
    if planned.current == planned.wanted:
        return
    if _read(planned.file) != planned.current:
        raise HostConfigError(f"{planned.file} was changed just now", hint="run the command again")
    above = os.path.dirname(planned.file)
    if planned.wanted is None:
        os.remove(planned.file)
        if not os.listdir(above):
            os.rmdir(above)
        return
    os.makedirs(above, exist_ok=True)
    replace_file(planned.file, planned.wanted.encode(), SHARED_MODE)


def rewrite_written(memory: Memory) -> list[str]:
    """Update the skills that were written into this project, without new ones; return the files that changed."""
    skills = compile_skills(memory.services, memory.location)
    planned = [each for each in plan_skills(skills, memory.location) if each.what in ("changed", "removed")]
    for each in planned:
        write_skill(each)
    return [each.file for each in planned]


def _read(file: str) -> str | None:
    """Return the file's text, or None without a file. Bad bytes are replaced; such a file is not Holdfast's."""
    try:
        with open(file, "rb") as opened:
            return opened.read().decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
