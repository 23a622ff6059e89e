"""Globs: whether a path fits one, and which paths are never captured.

Those are the user's globs and the files that exist to hold secrets. No regular expressions: hooks import this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def glob_matches(glob: str, path: str) -> bool:
    """Whether a path fits a glob: `*` and `?` stay within a folder, `**` is any number of folders.

    A glob without a slash fits the file's name in any folder.
    """
    wanted = glob.split("/") if "/" in glob else ["**", glob]
    *_, reached = _reach(path.split("/"), wanted)
    return any(wanted[at:] in ([], ["**"], ["**", ""]) for at in reached)


def names_only_an_ending(glob: str) -> bool:
    """Whether a glob fits every file of a language: `*.go`, `**/*.go`."""
    return glob.removeprefix("**/").startswith("*.") and not any(sign in glob.rpartition("*.")[2] for sign in "/.*?")


SECRET_FILES = (
    ".env", ".env.*", "*.env", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".pypirc",
    ".git-credentials", ".htpasswd", ".dockercfg", "credentials", "credentials.json", "client_secret*.json",
    "service-account*.json", "service_account*.json", "secrets.yml", "secrets.yaml", "secrets.toml", "secrets.json",
    ".secrets", "kubeconfig", "*.tfvars", "terraform.tfstate*", ".vault-token", "**/.aws/**", "**/.ssh/**",
    "**/.gnupg/**",
)  # fmt: skip
"""Globs of files whose text is never kept, wherever they are. Each has one star at most, or names a folder."""

_NAMES = frozenset(glob for glob in SECRET_FILES if "*" not in glob)
_FOLDERS = frozenset(glob.strip("*/") for glob in SECRET_FILES if "/" in glob)
_ENDINGS = tuple(glob.removeprefix("*") for glob in SECRET_FILES if glob.startswith("*") and "/" not in glob)
_BEGINNINGS = tuple(glob.removesuffix("*") for glob in SECRET_FILES if glob.endswith("*") and "/" not in glob)
_AROUND = tuple(glob.split("*") for glob in SECRET_FILES if "*" in glob.strip("*") and "/" not in glob)

HARMLESS = (".example", ".sample", ".template", ".dist", ".pub", ".md", ".defaults")
"""Endings that make one of them a pattern to copy, or public."""


def is_ignored(path: str, globs: tuple[str, ...]) -> bool:
    """Whether a relative path with forward slashes fits one of the globs or is a file made to hold secrets."""
    low = path.lower().replace("\\", "/")
    if not low.endswith(HARMLESS) and _is_secret(low):
        return True
    return any(fits(path, glob) for glob in globs)


def _is_secret(path: str) -> bool:
    """Whether the path fits one of SECRET_FILES. Each hook on a command asks this of every word: `fits` is too slow."""
    parts = [part for part in path.split("/") if part]
    return not _FOLDERS.isdisjoint(parts[:-1]) or any(
        part in _NAMES
        or part.endswith(_ENDINGS)
        or part.startswith(_BEGINNINGS)
        or any(
            part.startswith(begin) and part.endswith(end) and len(part) >= len(begin) + len(end)
            for begin, end in _AROUND
        )
        for part in parts
    )


def mentions_secrets(command: str) -> bool:
    """Whether a word of the command names a file made to hold secrets, so that its output may be one."""
    words = command.replace("=", " ").replace("'", " ").replace('"', " ").replace(";", " ").split()
    return any(("." in word or "_" in word or "/" in word) and is_ignored(word, ()) for word in words[:200])


def fits(path: str, glob: str) -> bool:
    """Whether the path fits the glob: `*` and `?` stay within a part, `**` spans parts.

    A glob without a slash fits a file or folder of that name anywhere; one that fits a folder fits all in it.
    A leading slash ties the glob to the root.
    """
    tied = glob.startswith("/")
    wanted = [part for part in glob.split("/") if part]
    parts = [part for part in path.split("/") if part]
    if not wanted:
        return False
    starts = range(1) if tied or (len(wanted) > 1 and wanted[0] != "**") else range(len(parts))
    return any(len(wanted) in reached for start in starts for reached in _reach(parts[start:], wanted))


def _reach(parts: Iterable[str], wanted: list[str]) -> Iterator[set[int]]:
    """The positions in the glob that are reached before the first part and after each: all are followed side by side.

    So the work grows with parts times positions, however many `**` there are.
    """
    reached = _past_stars({0}, wanted)
    yield reached
    for part in parts:
        stays = {at for at in reached if at < len(wanted) and wanted[at] == "**"}
        steps = {at + 1 for at in reached if at < len(wanted) and _fits_part(part, wanted[at])}
        reached = _past_stars(stays | steps, wanted)
        yield reached


def _past_stars(reached: set[int], wanted: list[str]) -> set[int]:
    more = set(reached)
    for at in sorted(reached):
        while at < len(wanted) and wanted[at] == "**" and at + 1 < len(wanted):
            at += 1
            more.add(at)
    return more


def _fits_part(part: str, glob: str) -> bool:
    """Whether one path part fits `*` and `?`. Linear but for stars: each star is tried once more a character."""
    at = here = 0
    star, mark = -1, 0
    while at < len(part):
        if here < len(glob) and glob[here] == "*":
            star, mark, here = here, at, here + 1
        elif here < len(glob) and glob[here] in ("?", part[at]):
            at, here = at + 1, here + 1
        elif star >= 0:
            mark += 1
            at, here = mark, star + 1
        else:
            return False
    return not glob[here:].strip("*")
