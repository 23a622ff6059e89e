"""The rules files that a host has given to the agent of a session: what they say need not be told again."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.statefamilies import RULES_READ
from holdfast.domain.vocabulary import SessionId
from holdfast.lessons.tuning import RULES_FILES
from holdfast.ports.services import Services


def note_files_read(services: Services, session: SessionId, paths: Sequence[str]) -> None:
    """Note that the host has given these files to the agent of the session. Raises StoreError."""
    lines = [path for path in paths if path.strip() and len(path.splitlines()) == 1]
    if lines and not set(lines) <= set(files_read_by_host(services, session)):
        services.store.edit_state(RULES_READ, session, lambda known: _joined(known, lines))


def files_read_by_host(services: Services, session: SessionId) -> tuple[str, ...]:
    """Return the files that the host says it has given to the agent of the session, as absolute paths.

    Empty for a host that does not say so. Claude Code reports them after the hook of a session's start and before the
    first prompt's, so the delivery at the start does not know them. Raises StoreError.
    """
    return tuple(services.store.get_state(RULES_READ, session).splitlines())


def _joined(known: str, lines: Sequence[str]) -> str:
    return "\n".join(list(dict.fromkeys([*known.splitlines(), *lines]))[:RULES_FILES])
