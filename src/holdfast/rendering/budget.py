"""The token budget: the tokens of a text, and the most valuable choice within the budget (a knapsack)."""

from __future__ import annotations

from collections.abc import Sequence

POOL = 40
"""Candidates weighed against each other when not all fit; those behind them are not worth the time."""


def fit_budget(costs: Sequence[int], values: Sequence[float], budget: int, limit: int) -> list[int]:
    """Return the positions, ascending, of at most `limit` items that cost at most `budget` and have the most value.

    It is exact (0/1 knapsack over the states that no other beats in cost and value). Costs and values are positive.
    """
    first = list(range(min(len(costs), max(0, limit))))
    if sum(costs[i] for i in first) <= budget and _best_are_first(values, len(first)):
        return first
    nothing: _State = (0, 0.0, ())
    by_count: list[list[_State]] = [[nothing], *([] for _ in range(max(0, limit)))]
    for i in range(min(len(costs), POOL)):
        for count in range(len(by_count) - 1, 0, -1):
            grown = [
                (cost + costs[i], value + values[i], (*taken, i))
                for cost, value, taken in by_count[count - 1]
                if cost + costs[i] <= budget
            ]
            by_count[count] = _undominated(by_count[count] + grown)
    best = max((state for states in by_count for state in states), key=lambda s: (s[1], -s[0]))
    return list(best[2])


_State = tuple[int, float, tuple[int, ...]]


def _best_are_first(values: Sequence[float], count: int) -> bool:
    """Return whether no later item is worth more than one of the first `count`."""
    return count == 0 or max(values[count:], default=0.0) <= min(values[:count])


def _undominated(states: list[_State]) -> list[_State]:
    """Return states in order of cost, each worth more than every cheaper one."""
    best: list[_State] = []
    for state in sorted(states, key=lambda s: (s[0], -s[1])):
        if not best or state[1] > best[-1][1]:
            best.append(state)
    return best


_PUNCTUATION = {i: " " for i in range(128) if not chr(i).isalnum()}
"""A blank for each character of ASCII that is no letter and no digit."""
_SPACES = [chr(i) for i in range(128) if chr(i).isspace()]
"""White space of ASCII, which costs nothing."""


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text in a language model; the estimate is rather too high for English and code.

    A word costs one token for every six characters begun, each mark one, each CJK character one, and other letters
    outside ASCII half a one. A whole text never costs more than its parts together.
    """
    if not text:
        return 0
    wide = 0
    if not text.isascii():
        wide = sum(2 if ord(c) >= 0x2E80 else 1 for c in text if ord(c) > 127)  # in halves of a token
        text = "".join(c if ord(c) < 128 else " " for c in text)
    words = text.translate(_PUNCTUATION).split()
    marks = len(text) - sum(map(len, words)) - sum(map(text.count, _SPACES))
    return sum([(len(word) + 5) // 6 for word in words]) + marks + (wide + 1) // 2
