"""The launcher, built with sanitizers, against drawn payloads, environments and answers of servers and of Python.

HOLDFAST_FUZZ=5000 draws so many; HOLDFAST_FUZZ_SEED another row of them.
"""

from __future__ import annotations

import os
import random
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.home.hookline import Request
from tests.launcher.compiled import launcher
from tests.launcher.machine import Machine

COUNT = int(os.environ.get("HOLDFAST_FUZZ", "40"))
SEED = int(os.environ.get("HOLDFAST_FUZZ_SEED", "1"))
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1")
CATCH = {"ASAN_OPTIONS": "detect_leaks=0:exitcode=99", "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=1"}
LETTERS = b"AONWGX\0\xff\n"
LENGTHS = (
    b"",
    b"0",
    b"1",
    b"7",
    b"00003",
    b"999999",
    b"1000001",
    b"4294967297",
    b"18446744073709551617",
    b"-1",
    b"9" * 30,
)


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    program = launcher(*SANITIZERS)
    if not program:
        pytest.skip("there is no C compiler with sanitizers")
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        made = Machine(Path(folder), program)
        yield made
        made.close()


def drawn_bytes(draw: random.Random, longest: int) -> bytes:
    return draw.randbytes(draw.choice((0, 1, 2, 15, 16, 17, 300, longest)))


def drawn_message(draw: random.Random) -> bytes:
    """A message that is right, or nearly."""
    body = drawn_bytes(draw, 70_000)
    letter = bytes([draw.choice(LETTERS)])
    length = str(len(body) + draw.choice((0, 0, 0, 0, 1, -1))).encode() if draw.random() < 0.7 else draw.choice(LENGTHS)
    if letter == b"W":
        body = draw.choice((b"20", b"0", b"9999999", b"12345678", b"\xff\xff", b"300", b"x"))
        length = str(len(body)).encode()
    return letter + length + draw.choice((b"\n", b"\n", b"\n", b"\n", b"", b"\t", b"\0")) + body


def drawn_answer(draw: random.Random) -> bytes:
    if draw.random() < 0.2:
        return drawn_bytes(draw, 200_000)
    return b"".join(drawn_message(draw) for _ in range(draw.randrange(5)))


def drawn_variables(draw: random.Random, machine: Machine) -> dict[str, str]:
    homes = (str(machine.home), str(machine.home), str(machine.home), "/", "//", "/" + "x/" * 700, "relative", "-")
    variables = {f"V{number}": "x" * draw.randrange(3) for number in range(draw.choice((0, 3, 3000)))}
    stores = ("-", "-", "sqlite:///a.db", "with\ttab", "with\nline", "s" * 9_000)
    return {**variables, **CATCH, "HOLDFAST_HOME": draw.choice(homes), "HOLDFAST_STORE": draw.choice(stores)}


def test_nothing_drawn_harms_the_launcher(machine: Machine) -> None:
    """Exit status 0, nothing on stderr, no wait beyond the longest; a sanitizer that finds something says 99."""
    answers: list[bytes] = []

    def talk(line: socket.socket, _: Request | None) -> None:
        rest = answers.pop() if answers else b""
        while rest:
            size = draw.choice((1, 3, 17, 4_096, 100_000)) if len(rest) < 2_000 else len(rest)
            line.sendall(rest[:size])
            rest = rest[size:]

    machine.serve(talk)
    draw = random.Random(SEED)
    child = machine.folder / "child"
    shell = f"#!/bin/sh\ncat {child} >&0 2>/dev/null\n"  # answers what was drawn, whatever it is asked
    machine.python = str(machine.script("python", shell))
    for number in range(COUNT):
        answers[:] = [drawn_answer(draw)]
        child.write_bytes(drawn_answer(draw))
        payload = drawn_bytes(draw, 300_000)
        options = draw.sample(["--plain", "--", "x" * 5_000, "\t\n"], draw.randrange(3))
        ran = machine.hook(payload, *options, **drawn_variables(draw, machine))
        assert (ran.code, ran.err) == (0, b""), (SEED, number, ran)
        assert ran.seconds < 10, (SEED, number)
