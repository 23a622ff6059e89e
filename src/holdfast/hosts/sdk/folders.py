"""Locates programs' files under a user's home, by operating system.

Only the home folder counts. Reading variables such as APPDATA is the settings' task; they point there unless moved.
"""

from __future__ import annotations

import os
import sys


def settings_folder(home: str, platform: str = sys.platform) -> str:
    """Return where desktop programs keep settings: `~/.config` on Linux, `AppData\\Roaming` on Windows."""
    if platform == "win32":
        return os.path.join(home, "AppData", "Roaming")
    if platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    return os.path.join(home, ".config")


def state_folder(home: str, platform: str = sys.platform) -> str:
    """Return where desktop programs keep data: `~/.local/share` on Linux, `AppData\\Local` on Windows."""
    if platform == "win32":
        return os.path.join(home, "AppData", "Local")
    if platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    return os.path.join(home, ".local", "share")


def first_there(paths: tuple[str, ...]) -> str:
    """Return the first path that exists, otherwise the first."""
    return next((path for path in paths if os.path.exists(path)), paths[0])
