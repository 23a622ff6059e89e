"""Reduces an error to its stable core: equal for one problem, different for two problems.

An error's core is the line that names it, without what differs between runs or machines: folders, line numbers,
addresses, times, values. A quoted name stays if the error is about it: a missing module, or a name that does not look
like a value (`'SERVER_NAME'`). Earlier versions masked the latter; `masked` returns that form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.text.shell import quoted_words
from holdfast.text.words import word_set

SIGNATURE_LIMIT = 200
"""Longest signature, in characters."""
HEAD_LIMIT, TAIL_LIMIT = 8_000, 24_000
"""Characters looked at from the start and from the end of an output."""
ALIKE = 0.6
"""Least share of common words (Jaccard) of two signatures of nearly the same error."""

_TYPE_ENDINGS = ("Error", "Exception", "Warning", "Interrupt", "Exit", "Failure", "Fault", "Panic")
_LEADS = (
    "fatal: ", "error: ", "error[", "panic: ", "ERROR: ", "Error: ", "FATAL: ", "npm ERR! ", "npm error ", "make: *** ",
    "E: ", "FAILED: ", "ld: ", "Fatal error: ", "Error [",
)  # fmt: skip
"""Openings of lines that name an error without an exception's type."""
_MARKS = (": error: ", ": fatal error: ", ": error TS", ": undefined: ", ": error CS", " - error TS")
"""What compilers print between the place and the message."""
_SHELL_ENDS = (
    ": command not found", ": not found", ": No such file or directory", ": Permission denied", ": Is a directory",
)  # fmt: skip
_SHELL_MIDDLES = ("command not found: ",)
"""What zsh prints between its own name and the command's."""
_LATE_ENDS = (
    ": Operation not permitted",
    ": operation not permitted",
    ": permission denied",
    "(protected branch hook declined)",
)
"""Ends of lines that name an error if no other line does. The order matters: stored signatures depend on it."""
_NAMING = word_set(
    """
    named module attribute name argument arguments command property package function symbol type option object class
    table column key variable find load import resolve method field fixture keyword reading undefined value script
    target relation crate trait macro struct parameter flag subcommand
    """
)
"""Words after which a quoted text is a name, and so belongs to the problem."""
_NAME_ERRORS = ("KeyError", "AttributeError", "NameError", "ImportError", "ModuleNotFoundError", "TypeError")
_CODE_WORDS = frozenset({"errno", "status", "code", "http", "exit"})
"""Words after which a number belongs to the problem."""
_NUMBER = re.compile(r"(?<=[^\W\d])\d+(?:[.,]\d+)*|(\d+(?:[.,]\d+)*)")
"""Digits with points inside; the group is empty inside a name such as E0308 or utf8."""
_HEX = re.compile(
    r"0x[0-9a-f]+|(?=[0-9a-f-]{36}$)(?:[0-9a-f]*-){4}[0-9a-f]*|(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,}",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?!\d)[\w.\-@()]{1,60}")
_PATH = re.compile(r".*://|.:\\|(?:\.\.?|~)?/.|.*[/\\](?!.*[/\\])[^:]*[^:.]\.+[^:.]", re.DOTALL)
"""A path with folders or a URL, and no fraction or `and/or`."""
_HUMP = re.compile(r"(?=[^\W\d_]+$).*[a-z](?=[A-Z])")


def error_signature(text: str) -> str:
    """Return the normalised line that names the error in an output; empty if no line does.

    The last traceback's exception takes precedence over a compiler's first error, and that over a tool's first.
    """
    if len(text) > HEAD_LIMIT + TAIL_LIMIT:
        text = text[:HEAD_LIMIT] + "\n" + text[-TAIL_LIMIT:]
    lines = [line.strip() for line in text.splitlines()]
    exceptions = [core for core in map(_exception, lines) if core]
    if exceptions:
        return _normal(exceptions[-1])
    for find in (_panic, _compiler, _tool, _late):
        for i, line in enumerate(lines):
            core = find(line, lines[i + 1 : i + 2])
            if core:
                return _normal(core)
    return ""


def masked(signature: str) -> str:
    """Return the signature as earlier versions made it: names known only by their form are masked."""
    names_matter = signature.startswith(_NAME_ERRORS)
    words: list[str] = []
    for quoted, word in quoted_words(signature):
        before = words[-1] if words else ""
        is_bare = quoted and not (names_matter or _is_naming(before)) and _is_telling(word)
        words.append("<value>" if is_bare else f"'{word}'" if quoted else word)
    return " ".join(words)


def alike(signature: str, other: str) -> bool:
    """Return whether two signatures are nearly the same error: most words and all quoted names are common.

    A signature of an earlier version, with a masked name, equals one with the name.
    """
    if signature == other:
        return bool(signature)
    if signature == masked(other) or other == masked(signature):
        return True
    if signature.partition(":")[0] != other.partition(":")[0] or _names(signature) != _names(other):
        return False
    mine, theirs = frozenset(signature.split()), frozenset(other.split())
    return len(mine & theirs) >= ALIKE * len(mine | theirs)


def _names(signature: str) -> list[str]:
    return [word for quoted, word in quoted_words(signature) if quoted]


def _exception(line: str) -> str:
    """Return `Type: message` if the line names an exception, otherwise an empty string."""
    if line.startswith("E ") and len(line) > 4:
        line = line[1:].strip()  # pytest's margin
    if line.startswith(("FAILED ", "ERROR ")) and " - " in line:
        return ""  # pytest's summary cuts messages short; the error's own line is above it
    for lead in ("Uncaught ", "Caused by: ", "Exception in thread ", "Unhandled "):
        if line.startswith(lead):
            line = line[len(lead) :].removeprefix('"main" ')
    head, colon, message = line.partition(": ")
    head = head.removesuffix(":")
    name = head.rpartition(" ")[2] if colon else head
    if not _is_type(name) or (name == "Error" and not colon):
        return ""
    if name != head and head.split(" ", 1)[0] in ("except", "raise", "class", "import", "from", "#", "//", "*"):
        return ""
    return f"{name.rpartition('.')[2]}: {message}" if message.strip() else name.rpartition(".")[2]


def _is_type(name: str) -> bool:
    """Return whether it is a dotted name whose last part is an exception's class."""
    last = name.rpartition(".")[2]
    bare = last.replace("_", "")
    return (
        last[:1].isupper() and last.endswith(_TYPE_ENDINGS) and bare.isalnum() and name.replace(".", "").isidentifier()
    )


def _panic(line: str, after: Sequence[str]) -> str:
    """Return Rust's panic: the message is on the next line (in older versions in quotes)."""
    if not (line.startswith("thread '") and " panicked at " in line):
        return ""
    message = line.partition(" panicked at ")[2]
    if message.startswith("'"):
        return "panicked: " + message[1:].rpartition("'")[0]
    return "panicked: " + (after[0] if after else "")


def _compiler(line: str, _after: Sequence[str]) -> str:
    for mark in _MARKS:
        place, separator, message = line.partition(mark)
        if separator and place and " " not in place.strip():
            return mark.strip(" :-") + (": " if mark.endswith(" ") else "") + message
    if line.startswith("error[") and "]: " in line:
        return line
    return ""


def _tool(line: str, _after: Sequence[str]) -> str:
    if line.startswith(_LEADS) and len(line) <= 400:
        return line
    if line.endswith(_SHELL_ENDS) and len(line) <= 200:
        what = line.rpartition(": ")
        return f"{what[0].rpartition(': ')[2]}: {what[2]}"
    return ""


def _late(line: str, _after: Sequence[str]) -> str:
    """Return a line that names an error in a form that earlier versions did not know."""
    if len(line) > 200:
        return ""
    for middle in _SHELL_MIDDLES:
        shell, separator, name = line.partition(middle)
        if separator and name and " " not in name and len(shell) < 40:
            return f"{name}: {middle.strip(': ')}"
    if line.endswith(_LATE_ENDS) and not line.startswith(("FAILED ", "ERROR ")):
        return line
    return ""


def _normal(core: str) -> str:
    """Return the line with `<n>`, `<hex>`, `<time>` and `<value>` in place of what differs between two runs."""
    names_matter = core.startswith(_NAME_ERRORS)
    words: list[str] = []
    for quoted, word in quoted_words(core[:2_000]):
        before = words[-1] if words else ""
        if quoted:
            named = names_matter or _is_naming(before) or _is_telling(word)
            words.append(_quoted(word, named))
        else:
            words.append(_plain(word, before))
    return " ".join(words)[:SIGNATURE_LIMIT].rstrip(" .,;:")


def _quoted(word: str, named: bool) -> str:
    if _PATH.match(word):
        return f"'{_path(word)}'"
    return f"'{word}'" if named and _NAME.fullmatch(word) else "<value>"


def _is_naming(before: str) -> bool:
    return before.lower().strip("(:") in _NAMING


def _is_telling(word: str) -> bool:
    """Return whether it has a name's form: an identifier of two words or more, or a flag, without a digit."""
    core = word.lstrip("-").removesuffix("()")
    if not _NAME.fullmatch(word.lstrip("-")) or re.search(r"\d", word) or len(core) < 4:
        return False
    is_joined = "_" in core.strip("_") and core.replace("_", "").isalpha()
    return word.startswith("--") or is_joined or _HUMP.match(core) is not None


def _plain(word: str, before: str) -> str:
    core = word.strip("()[]{},;")
    if not any(c.isdigit() for c in word) and not _PATH.match(core):
        return word
    return word.replace(core, _varying(core, before)) if core else word


def _varying(core: str, before: str) -> str:
    if _PATH.match(core):
        return _path(core)
    if core.isidentifier() and not _HEX.fullmatch(core):
        return core
    if core.isdigit() and before.strip("[]():=").lower() in _CODE_WORDS:
        return core
    if sum(c in ":-" for c in core) >= 2 and core[0].isdigit():
        return "<hex>" if len(core) == 36 and core.count("-") == 4 else "<time>"
    if _HEX.fullmatch(core):
        return "<hex>"
    return _NUMBER.sub(lambda match: "<n>" if match[1] else match[0], core)


def _path(word: str) -> str:
    """Return a path's last part without line and column, which is the same in another checkout."""
    parts = word.replace("\\", "/").rstrip("/:").split("/")
    last = parts[-1].partition(":")[0].partition("(")[0]
    stable = last and not any(c.isdigit() for c in last) and len(last) <= 60
    return last if stable else "<path>"
