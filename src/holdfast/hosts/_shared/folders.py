"""Where programs keep their files under a user's home, by operating system.

Derived from the home folder alone: variables such as APPDATA are the settings' to read, and point there unless moved.
"""

from __future__ import annotations

import os
import sys


def settings_folder(home: str, platform: str = sys.platform) -> str:
    """Where desktop programs keep settings: `~/.config`, `~/Library/Application Support` or `AppData\\Roaming`."""
    if platform == "win32":
        return os.path.join(home, "AppData", "Roaming")
    if platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    return os.path.join(home, ".config")


def state_folder(home: str, platform: str = sys.platform) -> str:
    """Where desktop programs keep data: `~/.local/share`, `~/Library/Application Support` or `AppData\\Local`."""
    if platform == "win32":
        return os.path.join(home, "AppData", "Local")
    if platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    return os.path.join(home, ".local", "share")


def first_there(paths: tuple[str, ...]) -> str:
    """The first path that exists, else the first."""
    return next((path for path in paths if os.path.exists(path)), paths[0])
