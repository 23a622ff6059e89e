"""SQLite's driver without its Python wrapper, which is not needed here: `import sqlite3` costs a hook 1 ms more."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
else:
    try:
        import _sqlite3 as sqlite3
    except ImportError:
        import sqlite3

__all__ = ["sqlite3"]
