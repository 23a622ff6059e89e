"""Deadline: all time limits of one hook.

A hook has two jobs with different limits. Its answer is due soon, because the host waits for it. Storing the host's
events may take longer, because nobody waits for that.
"""

from __future__ import annotations

ANSWER_S = 0.5
"""When the answer is due, counted from the hook's start."""
LATE_FACTOR = 4.0
"""At a session's start and a prompt an answer is still given until this many times `ANSWER_S`."""
KEEP_S = 5.0
"""How long after that a hook goes on trying to put events into the store; then it spools them."""
STOP_S = 30.0
"""When the system ends a hook that is still running, whatever it does."""

START_S = 0.08
"""What is taken off the answer's time: the interpreter's start, which happens before we see the clock."""
SERVER_SHARE = 0.4
"""Share of the answer's time that a hook waits for a server before it answers alone."""
DELIVER_SHARE = 0.32
"""Share of the answer's time that a server may take for a delivery: less than the hook waits for it."""
STORE_SHARE = 0.6
"""Share of the answer's time that one call may wait for another process to let go of the store."""


class Deadline:
    """The limits of one hook that started at `began_s` of the monotonic clock; `answer_s` is the user's setting."""

    def __init__(self, began_s: float, answer_s: float = ANSWER_S) -> None:
        self.began_s = began_s
        self.answer_s = max(START_S, answer_s)

    @property
    def answer_by(self) -> float:
        """The time at which the answer is due."""
        return self.began_s + self.answer_s - START_S

    @property
    def late_by(self) -> float:
        """The time until which a late answer is still given, at the moments that matter most."""
        return self.began_s + self.answer_s * LATE_FACTOR

    @property
    def keep_by(self) -> float:
        """The time until which events go into the store instead of the spool."""
        return self.late_by + KEEP_S

    @property
    def server_s(self) -> float:
        """Seconds to wait for a server's answer."""
        return self.answer_s * SERVER_SHARE

    @property
    def deliver_s(self) -> float:
        """Seconds that a server may take for a delivery."""
        return self.answer_s * DELIVER_SHARE

    @property
    def store_s(self) -> float:
        """Seconds that one call may wait for another process to release the store."""
        return self.answer_s * STORE_SHARE
