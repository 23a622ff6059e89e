"""A cached property computes once an object, and no object waits for another one."""

from __future__ import annotations

from threading import Event, Thread

from holdfast.lean.cached import cached_property


class Counted:
    """Computes a value by `wait`, and counts how often."""

    def __init__(self, wait: Event) -> None:
        self.wait = wait
        self.begun = Event()
        self.count = 0

    @cached_property
    def value(self) -> int:
        """The value."""
        self.begun.set()
        self.count += 1
        assert self.wait.wait(60)
        return self.count


def test_a_value_is_computed_once() -> None:
    open_way = Event()
    open_way.set()
    counted = Counted(open_way)
    assert (counted.value, counted.value, counted.count) == (1, 1, 1)
    assert Counted.value.__doc__ == "The value."


def test_an_object_does_not_wait_while_another_one_computes() -> None:
    """The lock of the standard library's class, in Python 3.11, would let the second object wait for the first."""
    blocked, open_way = Event(), Event()
    slow, quick = Counted(blocked), Counted(open_way)
    open_way.set()
    thread = Thread(target=lambda: slow.value)
    thread.start()
    assert slow.begun.wait(60)
    answers: list[int] = []
    second = Thread(target=lambda: answers.append(quick.value), daemon=True)
    second.start()
    second.join(60)
    assert answers == [1]
    blocked.set()
    thread.join(60)
