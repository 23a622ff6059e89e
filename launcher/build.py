"""Builds the hook's launcher, and the wheels that carry it.

    python launcher/build.py                 src/holdfast/_launcher/hook for this machine, if there is a compiler
    python launcher/build.py wheels [DIR]    the pure wheel and one wheel for each platform, into DIR (default dist)

All platforms are cross-compiled with `ziglang` from the package index. The Linux programs are linked statically with
musl: they need no library and no loader, so that one of them serves every distribution. Windows has the pure wheel.
The same sources give the same bytes: times come from SOURCE_DATE_EPOCH, by default hatchling's.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "launcher" / "hook.c"
HERE = ROOT / "src" / "holdfast" / "_launcher" / "hook"
PLACE = "holdfast/_launcher/hook"
"""The launcher in a wheel."""
FLAGS = ("-std=c99", "-O2", "-g0", "-Wall", "-Wextra", "-Wpedantic")


class Platform(NamedTuple):
    """A platform that has a wheel of its own."""

    tags: tuple[str, ...]
    """The wheel's platform tags; installers take any of them."""
    target: str
    """The compiler's name for it."""
    flags: tuple[str, ...]


LINUX, MACOS = ("-static", "-s", "-Wl,--build-id=none"), ("-Wl,-s",)
PLATFORMS = (
    Platform(("manylinux2014_x86_64", "manylinux_2_17_x86_64", "musllinux_1_1_x86_64"), "x86_64-linux-musl", LINUX),
    Platform(("manylinux2014_aarch64", "manylinux_2_17_aarch64", "musllinux_1_1_aarch64"), "aarch64-linux-musl", LINUX),
    Platform(("macosx_10_13_x86_64",), "x86_64-macos.10.13", MACOS),
    Platform(("macosx_11_0_arm64",), "aarch64-macos.11.0", MACOS),
)


def main() -> int:
    """0, also where there is no compiler: nothing depends on the launcher."""
    if sys.argv[1:2] == ["wheels"]:
        for wheel in build_wheels(Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "dist")):
            print(wheel)
        return 0
    print(f"launcher: {build_here(HERE)}")
    return 0


def build_here(program: Path, *flags: str) -> str:
    """Compile the launcher for this machine; return what was done, or why nothing was."""
    if os.name != "posix":
        return "not on this system; hooks start Python"
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    command = [compiler] if compiler else ZIG if importlib.util.find_spec("ziglang") else []
    if not command:
        return "no C compiler; hooks start Python"
    program.parent.mkdir(parents=True, exist_ok=True)
    draft = program.with_name(f".{program.name}.{os.getpid()}")
    ran = subprocess.run(compile_command(command, draft, *flags), capture_output=True, text=True, check=False)
    if ran.returncode:
        return f"{command[0]} failed, hooks start Python: {ran.stderr.strip()[-300:]}"
    os.replace(draft, program)  # a hook may be running the program that was there
    return str(program)


ZIG = [sys.executable, "-m", "ziglang", "cc"]


def compile_command(compiler: list[str], program: Path, *flags: str) -> list[str]:
    """Return the command that compiles the launcher."""
    return [*compiler, *FLAGS, f'-DVERSION="{version()}"', *flags, "-o", str(program), str(SOURCE)]


def version() -> str:
    """Return Holdfast's version; a server answers only launchers of its own."""
    names: dict[str, str] = {}
    exec((ROOT / "src" / "holdfast" / "_version.py").read_text("utf-8"), names)
    return names["__version__"]


def build_wheels(folder: Path) -> list[Path]:
    """Build the pure wheel and a wheel for each platform; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        build = [sys.executable, "-m", "build", "--quiet", "--wheel", "--no-isolation", "--outdir", scratch, str(ROOT)]
        subprocess.run(build, check=True)
        [made] = Path(scratch).glob("*.whl")
        pure = folder / made.name
        shutil.copyfile(made, pure)
        return [pure, *(add_launcher(pure, platform, Path(scratch)) for platform in PLATFORMS)]


def add_launcher(pure: Path, platform: Platform, scratch: Path) -> Path:
    """Write the platform's wheel beside the pure one; return its path."""
    program = scratch / platform.target
    subprocess.run(compile_command([*ZIG, "-target", platform.target], program, *platform.flags), check=True)
    name, release, python, abi, _ = pure.stem.split("-")
    target = pure.with_name(f"{name}-{release}-{python}-{abi}-{'.'.join(platform.tags)}.whl")
    with zipfile.ZipFile(pure) as wheel:
        contents = {entry: wheel.read(entry) for entry in wheel.infolist()}
    record = next(entry for entry in contents if entry.filename.endswith(".dist-info/RECORD"))
    about = next(entry for entry in contents if entry.filename.endswith(".dist-info/WHEEL"))
    contents[about] = _tagged(contents[about], [f"{python}-{abi}-{tag}" for tag in platform.tags])
    launcher = zipfile.ZipInfo(PLACE, record.date_time)
    launcher.external_attr, launcher.compress_type, launcher.create_system = 0o100755 << 16, zipfile.ZIP_DEFLATED, 3
    old_record = contents.pop(record)
    contents[launcher] = program.read_bytes()
    contents[record] = _recorded(
        old_record, record.filename, {entry.filename: text for entry, text in contents.items()}
    )
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:
        for entry, text in contents.items():
            wheel.writestr(entry, text)
    return target


def _tagged(about: bytes, tags: list[str]) -> bytes:
    lines = [line for line in about.decode().splitlines() if line and not line.startswith("Tag: ")]
    return "".join(f"{line}\n" for line in (*lines, *(f"Tag: {tag}" for tag in tags))).encode()


def _recorded(record: bytes, own_name: str, contents: dict[str, bytes]) -> bytes:
    """Return the list of the wheel's files with their hashes."""
    names = [row[0] for row in csv.reader(io.StringIO(record.decode())) if row]
    names = [name for name in names if name != own_name] + [PLACE]
    lines = io.StringIO()
    rows = csv.writer(lines, lineterminator="\n")
    for name in names:
        digest = base64.urlsafe_b64encode(hashlib.sha256(contents[name]).digest()).rstrip(b"=").decode()
        rows.writerow([name, f"sha256={digest}", len(contents[name])])
    rows.writerow([own_name, "", ""])
    return lines.getvalue().encode()


if __name__ == "__main__":
    sys.exit(main())
