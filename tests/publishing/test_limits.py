"""The edges of publishing: what is just inside, and what is not."""

from __future__ import annotations

from typing import Any

from holdfast import Memory
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import SYNCED
from holdfast.lean.texts import dumps, loads
from holdfast.publishing import sync, syncrecord
from tests.publishing.test_sharing_machines import Folder

# Shared files


class ReadFolder(Folder):
    """Lesson files that count how often one is read."""

    reads = 0

    def read(self, path: str) -> bytes | None:
        self.reads += 1
        return super().read(path)


def synced(memory: Memory, folder: Folder, location: Location | None = None, **how: Any) -> dict[str, Any]:
    """What is remembered of a run."""
    location = location or memory.location
    sync.sync(memory.services, location, folder, sync.Syncing(**how))
    state: dict[str, Any] = loads(memory.services.store.get_state(SYNCED, location.project.id))
    return state


def test_what_another_version_remembered_is_not_read(memory: Memory) -> None:
    memory.remember("Retries are capped at 3")
    folder = ReadFolder()
    state = synced(memory, folder, share=tuple(memory.shareable()))
    assert state["version"] == syncrecord.VERSION == 3
    reads = folder.reads
    synced(memory, folder)
    assert folder.reads == reads, "nothing changed"
    memory.services.store.set_state(SYNCED, memory.location.project.id, dumps({**state, "version": 4}))
    synced(memory, folder)
    assert folder.reads > reads
