"""Every regular expression of the package against texts that repeat one unit: which of them take more than linear time.

    python benchmarks/hostile_expressions.py [--size 8000] [--limit 0.15] [--only MODULE]

A unit is a blank, a newline, a letter, a sign, or a word of the expression itself. An expression is listed when one
search in such a text takes longer than the limit (seconds of processor), with the unit and the growth between half the
size and the size: about 2 is linear, 4 quadratic, 8 cubic. `search` asks more than most callers do, who match at one
place or bound the text; read the list as places to look at.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import signal
import time
from collections.abc import Iterator

import holdfast

UNITS = (
    " ", "\n", "\t", " \n", "a", "a ", "A", "1", "1 ", "_", "-", "- ", ".", "a.", "a/", "#", "*", "**", "`",
    "```\n", "(", "[", "![", "<", "<!--", "=", "'", '"', "\\", "\r\n", "> ", "| ", "{", "$",
    "a,", "a_", "aA", ": ", "! ", "no, ", "---\n",
)  # fmt: skip
PATIENCE = 8
"""How many limits one search may take before it is stopped."""


class StoppedError(Exception):
    """The search took too long."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=8_000)
    parser.add_argument("--limit", type=float, default=0.15)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, _stop)
    for name, expression in expressions():
        if options.only not in name:
            continue
        for unit in (*UNITS, *own_words(expression)):
            taken = seconds(expression, unit, options.size, options.limit)
            if taken > options.limit:
                half = max(seconds(expression, unit, options.size // 2, options.limit), 1e-6)
                print(f"{taken:6.2f} s  x{taken / half:4.1f}  {name}  {unit!r}", flush=True)
                break


def expressions() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Every expression that a module keeps under a name, each once."""
    seen = set()
    for module in pkgutil.walk_packages(holdfast.__path__, "holdfast."):
        if "__main__" in module.name or module.name.endswith("hooks.entry"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str) and value not in seen:
                seen.add(value)
                yield f"{module.name}.{name}", value


def own_words(expression: re.Pattern[str]) -> list[str]:
    words = sorted(set(re.findall(r"[A-Za-z]{2,}", expression.pattern)))[:40]
    return [word + " " for word in words]


def seconds(expression: re.Pattern[str], unit: str, size: int, limit: float) -> float:
    text = unit * (size // len(unit)) + "!"
    signal.setitimer(signal.ITIMER_REAL, PATIENCE * limit)
    begun = time.process_time()
    try:
        expression.search(text)
    except StoppedError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return time.process_time() - begun


def _stop(*_: object) -> None:
    raise StoppedError


if __name__ == "__main__":
    main()
