"""Lists the files of a work tree that are worth indexing: git's list, or the files on disk if there is no git.

Left out, each with a reason: vendored trees, what tools make (unless committed), binaries by their name, files over 1
MB, links, nested repositories and submodules (they are separate projects), names that are not text.
`iter_records` streams what git prints.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator, Sequence

from holdfast.errors import InvalidValueError
from holdfast.lean.gitsafety import SAFE_OPTIONS, UNTRUSTED, git_program, safe_environment

CHUNK = 262_144
"""Bytes of git's answer that are read at once."""

SIZE_LIMIT = 1_000_000
FILE_LIMIT = 200_000
SKIPPED_TOLD = 100
"""Files left out that are named with their reason."""
MINIFIED = (".min.js", ".min.css", ".min.mjs", ".bundle.js", ".js.map", ".css.map")


def iter_records(folder: str, arguments: Sequence[str]) -> Iterator[str]:
    """Yield the NUL-terminated records of git's output. Raises OSError if git is missing or fails.

    Bytes that are not UTF-8 become lone surrogates, as in file names.
    """
    program = git_program(os.environ.get("PATH", ""), os.path.isfile, os.name == "nt")
    command = [program, "-C", folder, *SAFE_OPTIONS, *UNTRUSTED, *arguments]
    calm = safe_environment(os.environ)
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=calm,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    ) as git:  # fmt: skip
        assert git.stdout is not None
        try:
            rest = b""
            while chunk := git.stdout.read(CHUNK):
                *whole, rest = (rest + chunk).split(b"\0")
                yield from map(os.fsdecode, whole)
            if rest:
                yield os.fsdecode(rest)
        except GeneratorExit:
            git.kill()
            raise
    if git.returncode:
        raise OSError(f"git {arguments[0]} failed in {folder} with status {git.returncode}")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


VENDORED = _words(
    "node_modules vendor third_party third-party thirdparty 3rdparty bower_components jspm_packages Pods Carthage"
    " site-packages .venv venv virtualenv .yarn .pnpm-store .bundle"
)
"""Folders of other people's code, left out even if committed."""

MADE = _words(
    "dist build out target obj .git .hg .svn __pycache__ .tox .nox .eggs .cache .mypy_cache .ruff_cache"
    " .pytest_cache .hypothesis .gradle .idea .next .nuxt .turbo .parcel-cache .terraform coverage htmlcov"
    " DerivedData .build .dart_tool"
)
"""Folders that tools make, left out unless committed."""

LOCK_FILES = _words(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lockb Cargo.lock poetry.lock uv.lock"
    " Pipfile.lock pdm.lock composer.lock Gemfile.lock go.sum Package.resolved Podfile.lock gradle.lockfile"
)
BINARY = _words(
    ".png .jpg .jpeg .gif .webp .bmp .ico .icns .tif .tiff .psd .pdf .zip .gz .bz2 .xz .zst .7z .rar .tar .tgz .jar"
    " .war .class .pyc .pyo .so .dylib .dll .exe .a .o .lib .obj .bin .wasm .woff .woff2 .ttf .otf .eot .mp3 .mp4"
    " .ogg .wav .flac .avi .mov .mkv .webm .sqlite .db .mo .gmo .pkl .npy .npz .parquet .onnx .pt .h5 .iso .dmg"
    " .whl .egg .keystore .p12 .pfx .der .svgz .snap .lockb"
)


class Tree:
    """What a walk found: `files` maps a path to (size, mtime_ns); `skipped` has at most 100 (path, reason)."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[int, int]] = {}
        self.skipped: list[tuple[str, str]] = []
        self.complete = True

    def skip(self, path: str, reason: str) -> None:
        """Note that a path is left out."""
        if len(self.skipped) < SKIPPED_TOLD:
            self.skipped.append((path, reason))


def walk(root: str, only: Sequence[str] | None = None) -> Tree:
    """Return the files below the root (of those in `only` if given), by path relative to it, with forward slashes.

    Raises InvalidValueError for a root that is not one project's: `/`, a home folder, or the folder of all homes.
    """
    refuse_everything(root)
    tree = Tree()
    folders = _Folders(root)
    for path, committed in _listed(root, only):
        if path in tree.files:
            continue
        if len(tree.files) >= FILE_LIMIT:
            tree.skip(path, f"more than {FILE_LIMIT:,} files")
            tree.complete = False
            break
        reason = _name_reason(path, committed) or folders.reason(path)
        if not reason:
            reason = _look(tree, root, path)
        if reason:
            tree.skip(path, reason)
    return tree


def refuse_everything(root: str) -> None:
    """Raise InvalidValueError for a folder that holds far more than a project."""
    real = os.path.realpath(root)
    home = os.path.realpath(os.path.expanduser("~"))
    above = os.path.dirname(real)
    if above == real or real == home or real == os.path.dirname(home) or above in ("/home", "/Users"):
        raise InvalidValueError(f"{root} is not a project's folder", hint="run it inside a project")


def _listed(root: str, only: Sequence[str] | None) -> Iterator[tuple[str, bool]]:
    """Yield paths and whether they are committed: from git, otherwise from the disk."""
    if os.path.lexists(os.path.join(root, ".git")):
        some = [] if only is None else ["--", *(f":(literal){path}" for path in only)]
        try:
            yield from _from_git(root, some)
            return
        except OSError:
            pass  # no git on this machine, or git refuses the repository: list the disk instead
    yield from ((path, False) for path in _from_disk(root, only))


def _from_git(root: str, some: Sequence[str]) -> Iterator[tuple[str, bool]]:
    for path in iter_records(root, ["ls-files", "-z", "--cached", *some]):
        yield path, True
    for path in iter_records(root, ["ls-files", "-z", "--others", "--exclude-standard", *some]):
        yield path, False


def _from_disk(root: str, only: Sequence[str] | None) -> Iterator[str]:
    if only is not None:
        yield from only
        return
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _is_left_out(folder, name))
        inside = os.path.relpath(folder, root).replace(os.sep, "/")
        yield from sorted(names) if inside == "." else (f"{inside}/{name}" for name in sorted(names))


def _is_left_out(folder: str, name: str) -> bool:
    return name in VENDORED or name in MADE or os.path.lexists(os.path.join(folder, name, ".git"))


def _name_reason(path: str, committed: bool) -> str:
    """Return why a path is left out by its name alone; empty if it is not."""
    if path.endswith("/"):
        return "a nested repository"
    *above, file = path.split("/")
    if not VENDORED.isdisjoint(above):
        return "vendored"
    if not committed and not MADE.isdisjoint(above):
        return "made by a tool"
    if file in LOCK_FILES:
        return "a lock file"
    lower = file.lower()
    if lower.endswith(MINIFIED):
        return "minified"
    if os.path.splitext(lower)[1] in BINARY:
        return "binary"
    return "" if _is_text(path) else "a name that is no text"


def _is_text(path: str) -> bool:
    if path.isascii():
        return True
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _look(tree: Tree, root: str, path: str) -> str:
    """Add a file to the tree; return why not. A file that is gone is neither added nor reported."""
    try:
        status = os.lstat(os.path.join(root, path))
    except (OSError, ValueError):
        return ""
    if stat.S_ISDIR(status.st_mode):
        return "a nested repository"
    if stat.S_ISLNK(status.st_mode):
        return "a link"
    if not stat.S_ISREG(status.st_mode):
        return "not a file"
    if status.st_size > SIZE_LIMIT:
        return f"too large: {status.st_size:,} bytes"
    tree.files[path] = (status.st_size, status.st_mtime_ns)
    return ""


class _Folders:
    """Checks that a path's folders are real: a folder replaced by a link may lead out of the tree."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._reasons = {"": ""}

    def reason(self, path: str) -> str:
        """Return why the files of the path's folder are left out; empty if they are not."""
        folder = path.rpartition("/")[0]
        if folder not in self._reasons:
            self._reasons[folder] = self.reason(folder) or self._look(folder)
        return self._reasons[folder]

    def _look(self, folder: str) -> str:
        whole = os.path.join(self._root, folder)
        return "behind a link" if os.path.islink(whole) else ""
