"""Files that several processes share: written whole or not at all."""

from __future__ import annotations

import os

PRIVATE = 0o600
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)


def write_whole(path: str, content: bytes, mode: int | None = PRIVATE, *, durable: bool = False) -> None:
    """Replace the file in one step: a reader sees the old content or the new one. Raises OSError; nothing changed then.

    `mode` is what the file gets, None what the umask leaves of 0666. `durable` flushes the content to the disk before
    the file gets its name. A link at `path` is replaced, not followed.
    """
    # Hidden: who lists the folder takes no draft for a file. Random: neither two threads nor a link that a clone
    # brought can be in its way.
    draft = os.path.join(os.path.dirname(path), f".holdfast-{os.urandom(6).hex()}")
    descriptor = os.open(draft, _NEW, 0o666 if mode is None else PRIVATE)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(content)
            if durable:
                stream.flush()
                os.fsync(descriptor)
        if mode not in (None, PRIVATE):
            os.chmod(draft, mode)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
