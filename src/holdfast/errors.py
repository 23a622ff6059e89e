"""All errors that Holdfast raises on purpose: one root, and leaves by what the caller can do about them."""

from __future__ import annotations


class HoldfastError(Exception):
    """Root of all errors raised on purpose. The message says what failed; `hint` says what to type next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class InvalidValueError(HoldfastError, ValueError):
    """The input cannot be a lesson, query, setting or payload; correct it and call again."""


class LessonNotFoundError(HoldfastError, LookupError):
    """No lesson in the scope has that id, or an id with that end."""


class AmbiguousIdError(HoldfastError, LookupError):
    """The end of an id matches more than one lesson; give more of it."""


class IllegalTransitionError(HoldfastError):
    """The lesson's state machine has no such transition, for example forgotten to active."""


class StaleWriteError(HoldfastError):
    """Somebody changed the lesson since it was read; read it again and repeat."""


class StoreError(HoldfastError):
    """The store failed; sub-classes say why."""


class StoreLockedError(StoreError):
    """Another process holds the write lock; trying again is safe."""


class StoreUnavailableError(StoreError):
    """The database server cannot be reached, or its connections are all in use; trying again is safe."""


class StoreDeadlockError(StoreLockedError):
    """Others waited for this transaction while it waited for them; nothing was written, and repeating it is safe."""


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
    """The folder's project could not be identified (yet), for example because git did not answer in time."""


class AlreadyRunningError(HoldfastError):
    """Another process does the same job for the same location."""


class EmbedderError(HoldfastError):
    """The embedder is unavailable, timed out or gave an invalid answer; recall continues without vectors."""


class ModelError(HoldfastError):
    """A language model was unavailable, timed out or gave an unusable answer; trying again later is safe."""


class ModelUnavailableError(ModelError):
    """No model can be asked now, whatever the prompt: no login, no network, no program, or its own limit is reached."""


class HostConfigError(HoldfastError):
    """A host's configuration file cannot be read or safely edited; it was not changed."""


class PluginNotFoundError(HoldfastError, LookupError):
    """No built-in and no installed plug-in has that name."""


class NotSignedInError(HoldfastError):
    """The request has no token, or one that is unknown, malformed, expired or revoked; the message never says which."""


class ForbiddenError(HoldfastError):
    """The caller is known and may not do this."""


class NotFoundError(HoldfastError, LookupError):
    """There is nothing with that id, or the caller may not know of it; the two are never told apart."""


class TakenError(HoldfastError):
    """Another record has that name, address or id already."""


class QuotaExceededError(HoldfastError):
    """The organisation has as many of these as it may have."""


class RateLimitedError(HoldfastError):
    """Too many requests; wait `retry_after_s` seconds and try again."""

    def __init__(self, message: str, *, hint: str = "", retry_after_s: int = 1) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class ServerError(HoldfastError):
    """A server answered with something that a client cannot use."""


class ServerUnreachableError(ServerError):
    """A server did not answer in time, or not at all; what is stored on this machine is untouched."""


class RepositoryError(HoldfastError):
    """A git repository of lessons cannot be reached, or refuses what is pushed; trying again later is safe."""


class WrongKeyError(HoldfastError):
    """This machine's key is not the one that a person's other machines seal private lessons with; nothing was lost."""
