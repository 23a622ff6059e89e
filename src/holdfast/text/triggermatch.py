"""Tells whether a trigger matches: a literal in code, the beginning of a command, a symbol. `triggers` derives them."""

from __future__ import annotations

ACTS = frozenset({"deploy", "release", "publish", "migrate", "rollback", "seed", "backfill"})
"""One-word triggers that stand for an act: they match a command that has the word, such as `make deploy`."""
ACT_WORDS = 4
"""Words of a command among which the word of an act may stand: `npm run deploy`, `mise run deploy:staging`."""
_MARKS = str.maketrans("/.:-_", "     ")


def last_part(symbol: str) -> str:
    """Return `put` for `Store.put`, `Store::Put` and `Store#put`: the key of a symbol's trigger."""
    return symbol.replace("::", ".").replace("#", ".").rpartition(".")[2].casefold()


def begins(command: str, beginning: str) -> bool:
    """Return whether a command, as words joined by single blanks, begins with those words or does that act."""
    if command == beginning or command.startswith(beginning + " "):
        return True
    return beginning in ACTS and beginning in acts_in(command)


def acts_in(command: str) -> list[str]:
    """Return the acts that a command does, by the parts of its first words: `deploy` for `scripts/deploy.sh prod`."""
    parts = " ".join(command.split(" ", ACT_WORDS)[:ACT_WORDS]).translate(_MARKS).split()
    return [part for part in dict.fromkeys(parts) if part in ACTS]


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
