"""A hostile text cannot stall a regular expression: no form known to be quadratic is left, and the mended ones run."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
from holdfast.detectors.reverted_work import _DEBUGGING
from holdfast.text.attempts import _FAILING, _REPORT_FAILED, _REPORT_PASSED
from holdfast.lessons.anchoring import _OTHER_FRAME
from holdfast.lessons.statement import _ADDRESSED
lines = "\\n" * 1_000_000
for expression in (_REPORT_FAILED, _REPORT_PASSED, _FAILING, _DEBUGGING, _ADDRESSED):
    expression.search(lines)
_OTHER_FRAME.search("a." * 200_000)
"""


def test_what_the_learner_and_the_index_ask_reads_a_megabyte_of_newlines() -> None:
    """Quadratic, a megabyte takes days; linear, a second."""
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=3_000)
