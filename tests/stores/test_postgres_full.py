"""A disk of the server that is full: what was acknowledged stays, and writing goes on when there is room again."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.postgresql import OWNER, Cluster, Clusters, Database

from holdfast.errors import StoreFullError
from holdfast.ports.store import EventFilter
from holdfast.stores.postgresql import make
from holdfast.testing.builders import make_event, make_lesson

MEGABYTES, AT_MOST = 64, 2_000


def mount(folder: Path, megabytes: int, *options: str) -> bool:
    settings = ",".join((f"size={megabytes}m", *options))
    command = ["mount", "-t", "tmpfs", "-o", settings, "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture
def small_disk(clusters: Clusters) -> Iterator[tuple[Path, Cluster]]:
    """A small file system, and a server that may use it."""
    cluster = clusters.start()
    folder = cluster.folder / "disk"
    folder.mkdir()
    try:
        if os.geteuid() != 0 or not mount(folder, MEGABYTES):
            pytest.skip("this user may not mount a file system")
        place = folder / "tables"
        place.mkdir()
        owner = cluster.folder.stat()
        for path in (folder, place):
            os.chown(path, owner.st_uid, owner.st_gid)
        yield place, cluster
    finally:
        cluster.stop()
        subprocess.run(["umount", str(folder)], capture_output=True, check=False)


def test_a_full_disk_loses_nothing_and_is_named(small_disk: tuple[Path, Cluster]) -> None:
    place, cluster = small_disk
    cluster.execute(f"CREATE TABLESPACE small LOCATION '{place}'")
    cluster.execute(f"CREATE DATABASE memory OWNER {OWNER} TABLESPACE small")
    words = random.Random(7).randbytes(100_000).hex()
    with make({"url": Database(cluster, "memory").store_url(1, partitions=2)}) as store:

        def fill() -> None:
            for number in range(AT_MOST):
                store.append_events([make_event(text=f"{number} {words[number:]}")])
                acknowledged.append(number)

        acknowledged: list[int] = []
        with pytest.raises(StoreFullError) as raised:
            fill()
        assert "DiskFull" in str(raised.value)
        assert acknowledged
        with pytest.raises(StoreFullError):
            store.put([make_lesson(insight=words[number : number + 3_900]) for number in range(300)], {})
        events = store.find_events(EventFilter())
        assert [position for position, _ in events] == [*range(1, len(acknowledged) + 1)]
        assert mount(place.parent, 4 * MEGABYTES, "remount")
        assert store.append_events([make_event()]) == 1
        store.put([make_lesson()], {})
        assert len(store.find_events(EventFilter())) == len(acknowledged) + 1
        assert store.check() == []
