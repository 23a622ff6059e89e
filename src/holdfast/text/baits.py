"""Recognises code that a linter of one rule would report, to tell a lesson about that linter at the right edit.

A linter of one rule, as golangci-lint bundles them, reports one form of code. A lesson about it is delivered when that
form is about to be written, not at every edit. If no line of code shows the form, words and files have to match
instead. Linters of many rules (ruff, eslint, clippy, staticcheck) have no such form; their lessons are on the card of
the language.

Hooks import this module, so it uses no regular expressions.
"""

from __future__ import annotations

from holdfast.text.occasions import RUNNERS
from holdfast.text.words import word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PIECES: dict[str, tuple[str, ...]] = {
    "errcheck": ("_ = ", ", _ := ", ".Close()"),
    "nilnil": ("return nil, nil",),
    "exhaustive": ("switch ",),
    "gosec": ("exec.Command", "os.WriteFile(", "os.MkdirAll(", "os.OpenFile(", "math/rand", "md5.", "sha1."),
    "noctx": ("exec.Command(", "http.Get(", "http.NewRequest("),
    "errorlint": ("err == ", "err.(", "err != io."),
    "nolintlint": ("//nolint",),
    "perfsprint": ("fmt.Sprintf(", "fmt.Errorf("),
    "bodyclose": ("http.Get(", ".Do("),
    "testifylint": ("assert.", "require."),
}
"""For each linter, the pieces of code that it looks at."""
SIZES = ("maintidx", "gocyclo", "gocognit", "cyclop")
"""Linters that report long functions."""
UNSEEN = word_set(
    "unparam ineffassign ireturn exhaustruct depguard forbidigo gofmt gofumpt goimports isort prettier rustfmt shfmt"
)
"""Linters of one rule whose findings no single line of code shows. Formatters repair what they find."""
LONG_FUNCTION = 60
"""Lines of a function that such a linter is likely to report."""
REPEATED, SHORTEST = 3, 3
"""How often a string stands in the code, and its characters, for goconst."""


def known_linters() -> Iterator[str]:
    """Yield the linters whose patterns are known here."""
    yield from PIECES
    yield from SIZES
    yield from _READERS


def has_many_rules(linter: str) -> bool:
    """Return whether the linter reports many forms of code, so any code may match. A runner has no rule of its own."""
    return not (linter in RUNNERS or linter in PIECES or linter in SIZES or linter in _READERS or linter in UNSEEN)


def bait_of(linter: str, new: str, old: str = "") -> str:
    """Describe the form that the linter reports if the new code has more of it than the old code; empty otherwise."""
    if linter in SIZES:
        return "a long function" if _longest_function(new) > max(LONG_FUNCTION, _longest_function(old)) else ""
    if linter in _READERS:
        reads, words = _READERS[linter]
        return words if reads(new) > reads(old) else ""
    return next((piece.strip() for piece in PIECES.get(linter, ()) if new.count(piece) > old.count(piece)), "")


def _longest_function(code: str) -> int:
    """Return the line count of the longest function whose head and closing brace begin their lines."""
    longest, begun = 0, -1
    for number, line in enumerate(code.splitlines()):
        if line.startswith("func "):
            begun = number
        elif line.startswith("}") and begun >= 0:
            longest, begun = max(longest, number - begun), -1
    return longest


def _returned_errors(code: str) -> int:
    """Return the lines that return an error unchanged."""
    return sum(line == "return err" or (line.startswith("return ") and line.endswith(", err")) for line in _lines(code))


def _dropped_errors(code: str) -> int:
    """Count the returns of nil in the block after a check of an error."""
    count, checked = 0, False
    for line in _lines(code):
        count += checked and line.startswith("return") and line.partition("//")[0].rstrip().endswith("nil")
        checked = line.endswith("err != nil {") or (checked and not line.startswith("}"))
    return count


def _repeated_strings(code: str) -> int:
    """Count the strings that occur at least REPEATED times in the code."""
    counts: dict[str, int] = {}
    for line in code.splitlines():
        for text in line.split('"')[1::2]:
            if len(text) >= SHORTEST:
                counts[text] = counts.get(text, 0) + 1
    return sum(count >= REPEATED for count in counts.values())


def _lines(code: str) -> Iterator[str]:
    return (line.strip() for line in code.splitlines() if line.strip())


_READERS = {
    "wrapcheck": (_returned_errors, "return err"),
    "nilerr": (_dropped_errors, "an error that becomes nil"),
    "goconst": (_repeated_strings, "a repeated string"),
}
