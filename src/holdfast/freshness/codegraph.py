"""Brings the code index up to the work tree."""

from __future__ import annotations

from holdfast.domain.symbol import IndexReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.domain.project import Location
    from holdfast.ports.services import Services


def reindex(services: Services, location: Location, progress: Callable[[int, int], None] | None = None) -> IndexReport:
    """Bring the code index up to the work tree; `progress(done, total)` counts the files that are read.

    Raises InvalidValueError for a home folder or a file system's root, StoreError when the index cannot be written.
    """
    index = services.codeindex()
    return index.refresh(location, progress) if index is not None else IndexReport(complete=False)
