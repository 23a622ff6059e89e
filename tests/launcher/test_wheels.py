"""The platform wheels: their tags, and programs that need nothing but the system.

HOLDFAST_WHEELS=dist checks the wheels of `make wheels` too. Skipped without `ziglang`, which cross-compiles.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from platform import machine

import pytest
from launcher.build import PLACE, PLATFORMS, ZIG, Platform, add_launcher, compile_command, version

NAME = "holdfast_memory-0.0.1-py3-none"
INFO = "holdfast_memory-0.0.1.dist-info"
PURE = {
    "holdfast/__init__.py": b"",
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/RECORD": f"holdfast/__init__.py,,\n{INFO}/WHEEL,,\n{INFO}/RECORD,,\n".encode(),
}
ELF_MACHINES, MACH_MACHINES = {"x86_64": 62, "aarch64": 183}, {"x86_64": 0x0100_0007, "aarch64": 0x0100_000C}
LOADED_DYNAMICALLY, INTERPRETED = 2, 3
LOADS_LIBRARY, BUILD_VERSION, LEAST_VERSION = 0xC, 0x32, 0x24

needs_zig = pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="ziglang is not installed")


def architecture(platform: Platform) -> str:
    return platform.target.partition("-")[0]


def check_program(program: bytes, platform: Platform) -> None:
    """The format and machine are the platform's, and nothing is needed that an old system lacks."""
    if "linux" in platform.target:
        assert program[:6] == b"\x7fELF\x02\x01"
        assert struct.unpack_from("<H", program, 18)[0] == ELF_MACHINES[architecture(platform)]
        start, size, count = (*struct.unpack_from("<Q", program, 32), *struct.unpack_from("<HH", program, 54))
        kinds = {struct.unpack_from("<I", program, start + size * number)[0] for number in range(count)}
        assert not kinds & {LOADED_DYNAMICALLY, INTERPRETED}  # no library at all, so no version of one
        return
    magic, machine, _, _, count = struct.unpack_from("<IIIII", program)
    assert (magic, machine) == (0xFEED_FACF, MACH_MACHINES[architecture(platform)])
    at, libraries, least = 32, [], 0
    for _ in range(count):
        command, size = struct.unpack_from("<II", program, at)
        if command == LOADS_LIBRARY:
            name = at + struct.unpack_from("<I", program, at + 8)[0]
            libraries.append(program[name : program.index(b"\0", name)])
        elif command in (BUILD_VERSION, LEAST_VERSION):
            least = struct.unpack_from("<I", program, at + (12 if command == BUILD_VERSION else 8))[0]
        at += size
    major, minor = map(int, platform.tags[0].split("_")[1:3])
    assert libraries == [b"/usr/lib/libSystem.B.dylib"]
    assert (least >> 16, least >> 8 & 0xFF) == (major, minor)


def check_wheel(path: Path, platform: Platform) -> None:
    """The wheel says what it is, lists its files with their hashes, and its program can be run."""
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        [about] = [name for name in names if name.endswith(".dist-info/WHEEL")]
        [record] = [name for name in names if name.endswith(".dist-info/RECORD")]
        tags = [line[5:] for line in wheel.read(about).decode().splitlines() if line.startswith("Tag: ")]
        assert tags == [f"py3-none-{tag}" for tag in platform.tags]
        assert names[-1] == record
        assert wheel.getinfo(PLACE).external_attr >> 16 == 0o100755
        rows = list(csv.reader(wheel.read(record).decode().splitlines()))
        assert sorted(row[0] for row in rows) == sorted(names)
        for name, digest, size in rows[:-1]:
            content = wheel.read(name)
            hashed = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            assert (digest, int(size)) == (f"sha256={hashed}", len(content)), name
        check_program(wheel.read(PLACE), platform)


@needs_zig
@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda platform: platform.target)
def test_a_platforms_wheel_says_what_it_is_and_is_the_same_twice(tmp_path: Path, platform: Platform) -> None:
    contents = []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        pure = tmp_path / place / f"{NAME}-any.whl"
        with zipfile.ZipFile(pure, "w") as wheel:
            for name, content in PURE.items():
                wheel.writestr(zipfile.ZipInfo(name, (2020, 2, 2, 0, 0, 0)), content)
        made = add_launcher(pure, platform, tmp_path / place)
        assert made.name == f"{NAME}-{'.'.join(platform.tags)}.whl"
        check_wheel(made, platform)
        contents.append(made.read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.skipif("HOLDFAST_WHEELS" not in os.environ, reason="HOLDFAST_WHEELS names no folder of built wheels")
def test_the_built_wheels_are_one_for_each_platform_and_a_pure_one() -> None:
    folder = Path(os.environ["HOLDFAST_WHEELS"])
    [pure] = folder.glob("holdfast_memory-*-none-any.whl")
    with zipfile.ZipFile(pure) as wheel:
        assert PLACE not in wheel.namelist()
    for platform in PLATFORMS:
        [made] = folder.glob(f"holdfast_memory-*-{'.'.join(platform.tags)}.whl")
        check_wheel(made, platform)
    assert len(list(folder.glob("holdfast_memory-*.whl"))) == 1 + len(PLATFORMS)


@needs_zig
@pytest.mark.skipif((sys.platform, machine()) != ("linux", "x86_64"), reason="for another machine")
def test_the_program_for_linux_runs_here(tmp_path: Path) -> None:
    program = tmp_path / "hook"
    platform = PLATFORMS[0]
    subprocess.run(compile_command([*ZIG, "-target", platform.target], program, *platform.flags), check=True)
    ran = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout == f"{version()}\n"
