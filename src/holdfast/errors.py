"""Everything Holdfast raises on purpose: one root, leaves by what the caller can do about it."""

from __future__ import annotations


class HoldfastError(Exception):
    """Root of all errors raised on purpose. The message says what failed; `hint` what to type next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class InvalidValueError(HoldfastError, ValueError):
    """Input that cannot be a lesson, query, setting or payload; correct it and call again."""


class LessonNotFoundError(HoldfastError, LookupError):
    """No lesson has that id, or id prefix, in the scope asked."""


class AmbiguousIdError(HoldfastError, LookupError):
    """An id prefix matches more than one lesson; give more of it."""


class IllegalTransitionError(HoldfastError):
    """The lesson's state machine has no such step, for example forgotten to active."""


class StaleWriteError(HoldfastError):
    """Somebody changed the lesson since it was read; read it again and repeat."""


class StoreError(HoldfastError):
    """The store could not do it; sub-classes say why."""


class StoreLockedError(StoreError):
    """Another process holds the write lock; trying again is safe."""


class StoreCorruptError(StoreError):
    """The file is not a sound database; nothing was deleted."""


class StoreReadOnlyError(StoreError):
    """The file or its folder cannot be written."""


class StoreFullError(StoreError):
    """The disk is full; nothing was written."""


class SchemaTooOldError(StoreError):
    """An older Holdfast wrote this database, and this process may not take the time to upgrade it."""


class SchemaTooNewError(StoreError):
    """A newer Holdfast wrote this database; upgrade this one."""


class ProjectUnknownError(HoldfastError):
    """The folder's project could not be told (yet), for example because git did not answer in time."""


class AlreadyRunningError(HoldfastError):
    """Another process does the same for the same place."""


class EmbedderError(HoldfastError):
    """The embedder is not there, timed out or answered nonsense; recall goes on without vectors."""


class ModelError(HoldfastError):
    """A language model could not be asked, timed out or gave an answer that cannot be used; trying later is safe."""


class HostConfigError(HoldfastError):
    """A host's configuration file cannot be read or safely edited; it was left alone."""


class PluginNotFoundError(HoldfastError, LookupError):
    """No built-in and no installed plug-in has that name."""
