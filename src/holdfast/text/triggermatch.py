"""Tells whether a trigger matches: a literal in code, the beginning of a command, a symbol. `triggers` derives them."""

from __future__ import annotations


def last_part(symbol: str) -> str:
    """Return `put` for `Store.put`, `Store::Put` and `Store#put`: the key of a symbol's trigger."""
    return symbol.replace("::", ".").replace("#", ".").rpartition(".")[2].casefold()


def begins(command: str, beginning: str) -> bool:
    """Return whether a command, as words joined by single blanks, begins with those words."""
    return command == beginning or command.startswith(beginning + " ")


def stands_in(literal: str, text: str) -> bool:
    """Return whether the text holds the literal, but not as a part of a longer word."""
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        before, after = text[at - 1 : at], text[end : end + 1]
        if not (_goes_on(before, literal[0]) or _goes_on(after, literal[-1])):
            return True
        at = text.find(literal, at + 1)
    return False


def key_of(literal: str) -> str:
    """Return the longest word of a literal, which is its key; empty if no word has three letters."""
    runs = words_of(literal)
    longest = max(runs, key=len, default="")
    return longest if len(longest) > 2 else ""


def words_of(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores in a text, in lower case, each once."""
    spread = "".join(c if c.isalnum() or c == "_" else " " for c in text.lower())
    return list(dict.fromkeys(spread.split()))


def _goes_on(neighbour: str, edge: str) -> bool:
    return (neighbour.isalnum() or neighbour == "_") and (edge.isalnum() or edge == "_")
