"""Finds Holdfast's plug-in packages that a host installed with its own command, beside or instead of setup."""

from __future__ import annotations

import os

from holdfast.ports.host import HostProfile

TWICE = "it has Holdfast's plug-in package too, so every hook runs twice; remove one of the two"


def has_package(profile: HostProfile, home: str) -> bool:
    """Return whether the host's own records name Holdfast's package."""
    for name, text in profile.package_records:
        try:
            with open(os.path.join(home, *name.split("/")), encoding="utf-8", errors="replace") as stream:
                if text in stream.read():
                    return True
        except OSError:
            continue  # the host or its record is missing, or the record cannot be read
    return False
