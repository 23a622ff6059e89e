"""Derives triggers from a lesson's words: commands that it quotes, and code that it says not to write.

Only certain triggers are derived. A lesson belongs to each command that it quotes, whatever it says about it. It
belongs to a piece of code only if it denies that code in the same clause: `use exec.CommandContext, not exec.Command(`;
the same holds for text that it forbids to write. A rule of a person that stands also belongs to the programs, the acts
(`deploy`, `commit`, dependencies), the files and the identifiers that it names (`text/named`). A model or a person may
add more (`Lesson.when`).

Hooks import this module, so it uses no regular expressions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson, Triggers
from holdfast.domain.vocabulary import LessonKind, Trust
from holdfast.text.named import ACTS, named_in
from holdfast.text.occasions import is_standing_rule, language_of, names_code
from holdfast.text.words import word_set

LITERALS, COMMANDS = 6, 6
"""Most of each that a lesson's words give."""
LEAST, MOST = 4, 60
"""Characters of a literal."""
WORDS_OF_A_COMMAND = 4
"""Words of a quoted command that make its beginning; what follows is of one occasion."""
_PROGRAMS = word_set(
    """
    git gh go cargo npm pnpm yarn bun node npx make mise just task python python3 pip pip3 uv poetry pytest ruff mypy
    docker podman kubectl helm terraform aws gcloud az brew apt apt-get mvn gradle gradlew dotnet deno rails bundle
    rake mix composer php flutter swift golangci-lint goreleaser pre-commit eslint tsc vitest jest curl ssh rsync
    psql sqlite3 redis-cli systemctl launchctl tox nox hatch bazel cmake ctest ninja
    """
)
_DENYING = word_set(
    """
    not never no cannot can't don't doesn't won't mustn't shouldn't isn't aren't avoid without forbidden forbids
    reject rejects rejected disallowed banned fails wrong deprecated removed breaks trips flags stop unsupported
    """
)
_WRITING = word_set(
    """
    hard-code hardcode hard-coded hardcoded write writes writing default defaults print prints log logs say says call
    name literal literals string strings
    """
)
"""Words that show that a clause is about text in code."""
_PLACEHOLDERS = ("<", "…", "...", "{", "$")
_FILE_ENDINGS = word_set("json jsonl md txt yaml yml toml lock cfg ini sql html css xml csv log env mod sum proto")
ACT_WORDS = 4
"""Words of a command among which the word of an act may stand: `npm run deploy`, `mise run deploy:staging`."""
_MARKS = str.maketrans("/.:-_", "     ")


def derive_triggers(kind: LessonKind, trust: Trust, insight: str, how: str = "", *, standing: bool = False) -> Triggers:
    """Return the triggers that a lesson's words give; `standing` says that a person stated it as a rule that stands."""
    profile = profile_of(kind)
    may_forbid_text = profile.may_forbid_text and trust == "person"
    commands: dict[str, None] = {}
    literals: dict[str, None] = {}
    for clause in _clauses(f"{insight}\n{how}"):
        denied = _denied_part(clause)
        for piece in _quoted(clause):
            command = beginning_of(piece)
            if command:
                commands[command] = None
        if denied and profile.is_instruction:
            literals.update(dict.fromkeys(_forbidden(clause, denied)))
        elif denied and may_forbid_text:
            literals.update(dict.fromkeys(_forbidden_text(clause, denied)))
        if denied and profile.is_instruction and not any(map(beginning_of, _quoted(clause))):
            # A flag beside a command belongs to that command; another command may need it.
            literals.update(dict.fromkeys(_flags(denied)))
    stands = trust == "person" and (standing or is_standing_rule(kind, trust, insight))
    derived = Triggers(literals=tuple(literals)[:LITERALS], commands=tuple(commands)[:COMMANDS], standing=stands)
    return united(derived, named_in(insight)) if stands else derived


def triggers_of(lesson: Lesson) -> Triggers:
    """Return the lesson's triggers. A lesson from before triggers were stored gets those that its words give."""
    if lesson.when != Triggers():
        return lesson.when
    return derive_triggers(lesson.kind, lesson.trust, lesson.insight, lesson.how)


def united(triggers: Triggers, other: Triggers) -> Triggers:
    """Return the triggers of both, each once."""
    return Triggers(
        paths=_joined(triggers.paths, other.paths),
        symbols=_joined(triggers.symbols, other.symbols),
        literals=_joined(triggers.literals, other.literals),
        commands=_joined(triggers.commands, other.commands),
        work=_joined(triggers.work, other.work),
        needs=_joined(triggers.needs, other.needs),
        standing=triggers.standing or other.standing,
        edited=triggers.edited or other.edited,
    )


def restated(when: Triggers, before: Triggers, after: Triggers) -> Triggers:
    """Return the triggers of a lesson whose words changed: the new words' triggers replace the old words'.

    Triggers that a person edited stay as they are.
    """
    if when.edited:
        return when
    remaining = Triggers(
        paths=when.paths,
        symbols=when.symbols,
        literals=tuple(literal for literal in when.literals if literal not in before.literals),
        commands=tuple(command for command in when.commands if command not in before.commands),
        work=when.work,
        needs=when.needs,
        standing=when.standing and not before.standing,
    )
    return united(remaining, after)


def beginning_of(piece: str) -> str:
    """Return the beginning of the command in a text: `gh pr diff` for `gh pr diff <n>`; empty for no command.

    It has at least two words: a program's name alone is no command.
    """
    words = piece.split()
    if len(words) < 2 or words[0] not in _PROGRAMS:
        return ""
    beginning: list[str] = []
    for word in words[:WORDS_OF_A_COMMAND]:
        if any(sign in word for sign in _PLACEHOLDERS) or word in ("|", "&&", "--", ";"):
            break
        if len(beginning) > 1 and word.startswith("-") and not word.startswith("--"):
            if len(beginning) == 2:  # only the flag makes it more than an everyday command: `go build -o ...`
                return ""
            break
        beginning.append(word)
    return " ".join(beginning) if len(beginning) > 1 else ""


def _clauses(text: str) -> Iterator[str]:
    """Yield the text split at the ends of sentences and clauses; quoted code stays whole."""
    start, quoted = 0, False
    for at, sign in enumerate(text):
        if sign == "`":
            quoted = not quoted
        ends = sign in ";\n" or (sign in ".:,!?" and text[at + 1 : at + 2] in (" ", "\n", ""))
        if ends and not quoted:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _denied_part(clause: str) -> str:
    """Return what the clause denies: all of it, or the words after `instead of` or `rather than`; empty for nothing."""
    low = clause.lower()
    for words in ("instead of ", "rather than "):
        at = low.find(words)
        if at >= 0:
            return clause[at + len(words) :]
    outside = "".join(clause.split("`")[::2]).lower()
    return clause if _DENYING.intersection(word.strip("()\"'") for word in outside.split()) else ""


def _quoted(clause: str) -> list[str]:
    return [piece.strip() for piece in clause.split("`")[1::2] if piece.strip()]


def _forbidden(clause: str, denied: str) -> Iterator[str]:
    """Yield the code and the text that a clause forbids to write."""
    for piece in (*_quoted(denied), *_bare_code(denied)):
        literal = _literal(piece)
        if literal and not beginning_of(piece):
            yield literal
    yield from _forbidden_text(clause, denied)


def _forbidden_text(clause: str, denied: str) -> Iterator[str]:
    """Yield text in double quotes that the clause forbids to write: `do not hard-code "Blue Whale"`."""
    if not _WRITING.intersection(word.strip("()\"'") for word in clause.lower().split()):
        return
    for piece in denied.split('"')[1::2]:
        if LEAST <= len(piece) <= MOST and piece == piece.strip() and piece[0].isupper():
            yield piece


def _flags(clause: str) -> Iterator[str]:
    for word in clause.replace("`", " ").split():
        flag = word.strip(".,;:()\"'")
        if flag.startswith("--") and len(flag) > LEAST:
            yield flag


def _bare_code(clause: str) -> Iterator[str]:
    for word in " ".join(clause.split("`")[::2]).split():
        bare = word.strip(".,;:\"'")
        if bare.startswith("(") or (bare.endswith(")") and not bare.endswith("()")):
            continue
        if bare.endswith("()") or ("." in bare and names_code(bare) and not _is_file(bare)):
            yield bare


def _is_file(name: str) -> bool:
    return bool(language_of(name)) or name.rpartition(".")[2].lower() in _FILE_ENDINGS


def _literal(piece: str) -> str:
    """Return the piece as it occurs in wrong code; empty for a piece that could occur in any code."""
    if any(sign in piece for sign in ("<", "…", "...")) or piece.startswith("//") or "/" in piece:
        return ""
    if piece.startswith("-"):
        return ""  # a flag, see `_flags`
    literal = piece.removesuffix(")") if piece.endswith("()") else piece
    signs = sum(not (c.isalnum() or c in "_ ") for c in literal)
    return literal if LEAST <= len(literal) <= MOST and signs else ""


def _joined(stated: Iterable[str], derived: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*stated, *derived)))


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
