"""A property that is computed once an object, without a lock.

`functools.cached_property` of Python 3.11 holds one lock for all objects of a class while it computes. Where computing
waits for a store, and who holds the store wants the same property of another object, both wait for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class Cached(Generic[T]):
    """Keeps the value in the object's `__dict__`; two threads that ask at the same time may both compute it."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, owner: None, kind: type[Any]) -> Self: ...
    @overload
    def __get__(self, owner: object, kind: type[Any]) -> T: ...
    def __get__(self, owner: object | None, kind: type[Any]) -> Self | T:
        """Return the value, which stands before this descriptor from then on."""
        if owner is None:
            return self
        value = owner.__dict__[self._name] = self._compute(owner)
        return value


def cached_property(compute: Callable[[Any], T]) -> Cached[T]:
    """Make a method a property that is computed once an object."""
    return Cached(compute)
