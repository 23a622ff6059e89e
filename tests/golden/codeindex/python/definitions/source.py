"""Definitions of every kind, plain and decorated, nested and repeated."""

import functools

MAX_RETRIES = 3
_LIMIT: int = 10
lower = 1
type Pair = tuple[int, int]


@functools.cache
def plain(a, b=1, *rest, c: int = 2, **more) -> int:
    """Documentation."""
    total = a + b  # a comment

    def inner(x):
        return x * total

    return inner(c)


async def later(): ...


class Store(dict, metaclass=type):
    """A class."""

    limit: int = 5

    def put(self, key, value):
        self[key] = value

    @property
    def size(self):
        return len(self)

    @size.setter
    def size(self, value):
        raise ValueError(value)

    class Inner:
        def deep(self): ...


if lower:

    def choice():
        return 1
else:

    def choice():
        return 2


squares = [lambda x: x**2]
