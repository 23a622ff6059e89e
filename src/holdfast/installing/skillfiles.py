"""Skills as files in a project: what would change, doing it, and leaving alone what a person wrote or edited."""

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
    from holdfast.domain.project import Place
    from holdfast.publishing.skills import Skills

FOLDER = SKILL_FOLDERS[0]
"""Where skills are written, in the project's root."""
FILE = "SKILL.md"


class SkillFile(NamedTuple):
    """One file: what it holds and what it shall hold. None: no file."""

    file: str
    current: str | None
    wanted: str | None
    what: str
    """`new`, `changed`, `same`, `removed`, or `kept`: a person wrote or edited it."""


def plan_skills(skills: Skills, place: Place, folder: str = "") -> Iterator[SkillFile]:
    """Each skill's file, then every file of ours that no skill stands behind any more."""
    folder = folder or os.path.join(place.root, FOLDER)
    for skill in skills.skills:
        file = os.path.join(folder, skill.name, FILE)
        current = _read(file)
        if current is None:
            yield SkillFile(file, None, skill.text, "new")
        elif current.replace("\r\n", "\n") == skill.text:
            yield SkillFile(file, current, current, "same")
        elif is_unedited(current, place):
            yield SkillFile(file, current, skill.text, "changed")
        else:
            yield SkillFile(file, current, current, "kept")
    names = {skill.name for skill in skills.skills}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        file = os.path.join(folder, name, FILE)
        current = _read(file) if name not in names else None
        if current is not None and is_unedited(current, place):
            yield SkillFile(file, current, None, "removed")


def write_skill(planned: SkillFile) -> None:
    """Make one planned change. Raises HostConfigError for a file that was changed since it was planned."""
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
    """Bring the skills that were written into this project up to date and add none; the files that changed."""
    skills = compile_skills(memory.parts, memory.place)
    planned = [each for each in plan_skills(skills, memory.place) if each.what in ("changed", "removed")]
    for each in planned:
        write_skill(each)
    return [each.file for each in planned]


def _read(file: str) -> str | None:
    """The file's text, None without a file; of a file that is not UTF-8 what can be read: it is not one of ours."""
    try:
        with open(file, "rb") as opened:
            return opened.read().decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
