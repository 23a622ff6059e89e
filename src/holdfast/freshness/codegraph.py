"""Direct use of the code index: files linked to a file, and bringing the index up to the work tree."""

from __future__ import annotations

from holdfast.domain.symbol import IndexReport
from holdfast.errors import InvalidValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.domain.project import Place
    from holdfast.domain.symbol import Neighbour
    from holdfast.ports.parts import Parts


def linked(
    parts: Parts, place: Place, file: str, cwd: str, progress: Callable[[int, int], None] | None = None
) -> tuple[str, list[Neighbour]]:
    """Return the file's path in the project and the files linked to it, closest first; refresh the index before.

    Raises InvalidValueError for anything that is no file of the project.
    """
    path = parts.workspace.relative(place, file, cwd)
    if not path or not parts.workspace.blob(place, path):
        raise InvalidValueError(f"no file {file!r} in {place.root}", hint="name a file of this project")
    reindex(parts, place, progress)
    index = parts.codeindex()
    return path, index.neighbours(place, path) if index is not None else []


def reindex(parts: Parts, place: Place, progress: Callable[[int, int], None] | None = None) -> IndexReport:
    """Bring the code index up to the work tree; `progress(done, total)` counts the files that are read.

    Raises InvalidValueError for a home folder or a file system's root, StoreError when the index cannot be written.
    """
    index = parts.codeindex()
    return index.refresh(place, progress) if index is not None else IndexReport(complete=False)
