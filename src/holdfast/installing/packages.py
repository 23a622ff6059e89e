"""Plug-in packages of ours that a host installed by its own command, beside or instead of what setup registers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.ports.host import HostProfile

TWICE = "it has Holdfast's plug-in package too, so every hook runs twice: remove one of the two"


def has_package(profile: HostProfile, home: str) -> bool:
    """Whether the host's own record names our package."""
    for name, text in profile.package_records:
        try:
            with open(os.path.join(home, *name.split("/")), encoding="utf-8", errors="replace") as stream:
                if text in stream.read():
                    return True
        except OSError:
            continue  # no such host, or a record that nobody may read
    return False
