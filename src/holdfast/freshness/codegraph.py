"""Direct use of the code index: files linked to a file, and bringing the index up to the work tree."""

from __future__ import annotations

from holdfast.domain.symbol import IndexReport
from holdfast.errors import InvalidValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.domain.project import Location
    from holdfast.domain.symbol import Neighbour
    from holdfast.ports.services import Services


def linked(
    services: Services, location: Location, file: str, cwd: str, progress: Callable[[int, int], None] | None = None
) -> tuple[str, list[Neighbour]]:
    """Return the file's path in the project and the files linked to it, closest first; refresh the index before.

    Raises InvalidValueError for anything that is no file of the project.
    """
    path = services.workspace.relative(location, file, cwd)
    if not path or not services.workspace.blob(location, path):
        raise InvalidValueError(f"no file {file!r} in {location.root}", hint="name a file of this project")
    reindex(services, location, progress)
    index = services.codeindex()
    return path, index.neighbours(location, path) if index is not None else []


def reindex(services: Services, location: Location, progress: Callable[[int, int], None] | None = None) -> IndexReport:
    """Bring the code index up to the work tree; `progress(done, total)` counts the files that are read.

    Raises InvalidValueError for a home folder or a file system's root, StoreError when the index cannot be written.
    """
    index = services.codeindex()
    return index.refresh(location, progress) if index is not None else IndexReport(complete=False)
