"""A hostile text cannot stall a regular expression: no form known to be quadratic is left, and the mended ones run."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys

import holdfast

SCRIPT = """
from holdfast.detectors.reverted_work import _DEBUGGING
from holdfast.text.attempts import _FAILING, _REPORT_FAILED, _REPORT_PASSED
from holdfast.lessons.anchoring import _OTHER_FRAME
from holdfast.lessons.suspicion import _ADDRESSED
lines = "\\n" * 1_000_000
for expression in (_REPORT_FAILED, _REPORT_PASSED, _FAILING, _DEBUGGING, _ADDRESSED):
    expression.search(lines)
_OTHER_FRAME.search("a." * 200_000)
"""


def expressions() -> list[tuple[str, re.Pattern[str]]]:
    """Every expression that a module of the package keeps under a name."""
    named = []
    for module in pkgutil.walk_packages(holdfast.__path__, "holdfast."):
        if "__main__" in module.name or module.name.endswith("hooks.entry"):
            continue
        members = vars(importlib.import_module(module.name))
        named += [(f"{module.name}.{name}", value) for name, value in members.items() if isinstance(value, re.Pattern)]
    return named


def test_no_expression_looks_for_blanks_over_lines_at_each_line() -> None:
    bad = [
        name
        for name, expression in expressions()
        if expression.flags & re.MULTILINE and _begins_with_blanks(expression.pattern)
    ]
    assert bad == []


def _begins_with_blanks(pattern: str | bytes) -> bool:
    """`^\\s*` tries a run of newlines from each of its lines on; `^[ \\t]*` does not."""
    pattern = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    return "^\\s*" in pattern or "^\\s+" in pattern or "(?m)^\\s" in pattern


def test_what_the_learner_and_the_index_ask_reads_a_megabyte_of_newlines() -> None:
    """Quadratic, a megabyte takes days; linear, a second."""
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=3_000)
