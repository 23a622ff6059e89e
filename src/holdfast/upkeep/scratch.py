"""Makes a scratch memory, which can be written and is deleted afterwards: a copy of the home's memory, or empty."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from holdfast.bootstrap import Memory
from holdfast.domain.moments import CHANNELS
from holdfast.lean.texts import file_url
from holdfast.settings import Settings
from holdfast.wiring import open_store

INDEX = "index"


@contextmanager
def scratch_memory(settings: Settings, folder: str, *, empty: bool) -> Iterator[Memory]:
    """Open a memory of the folder in a temporary home, with every delivery on and none withheld.

    It is a copy of the home's memory, or empty if `empty`. The home itself is only read. Raises StoreError for a store
    that cannot be copied.
    """
    with tempfile.TemporaryDirectory(prefix="holdfast-") as home:
        database = os.path.join(home, "memory.db")
        if not empty and (not settings.database_path or os.path.exists(settings.database_path)):
            with open_store(settings, frozen=True) as store:
                store.write_copy(database)
            if os.path.isdir(os.path.join(settings.home, INDEX)):
                shutil.copytree(os.path.join(settings.home, INDEX), os.path.join(home, INDEX))
        alone = replace(
            settings, home=home, store=file_url(database), deliver=CHANNELS, capture=True, holdout=0.0, ask_agent=False
        )
        with Memory(folder, settings=alone) as memory:
            yield memory
