"""A real formatter over real code changes no fingerprint."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast.codeindex
from holdfast.codeindex.source import read_source
from tests.codeindex.golden import ROOT

OWN_CODE = sorted(Path(holdfast.codeindex.__file__).parent.glob("*.py"))
SAMPLES = [case / "source.py" for case in sorted((ROOT / "python").iterdir()) if (case / "source.py").exists()]
STYLES = {
    "narrow": ["line-length=50"],
    "single quotes": ["format.quote-style='single'", "line-length=100"],
    "tabs": ["format.indent-style='tab'"],
}

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="ruff is not installed")


def fingerprints(content: bytes) -> list[tuple[str, str, str]]:
    source = read_source("a.py", content)
    assert source is not None
    return [(definition.name, definition.signature_hash, definition.body_hash) for definition in source.symbols()]


@pytest.mark.parametrize("style", STYLES)
def test_reformatting_changes_no_fingerprint(tmp_path: Path, style: str) -> None:
    files = [tmp_path / f"{number}.py" for number, _ in enumerate([*OWN_CODE, *SAMPLES])]
    for file, original in zip(files, [*OWN_CODE, *SAMPLES], strict=True):
        file.write_bytes(original.read_bytes())
    before = [fingerprints(file.read_bytes()) for file in files]
    options = [part for option in STYLES[style] for part in ("--config", option)]
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--isolated", *options, *map(str, files)]
    subprocess.run(command, check=False, capture_output=True)  # 2 for the sample with a syntax error
    assert [fingerprints(file.read_bytes()) for file in files] == before
    assert any(file.read_bytes() != original.read_bytes() for file, original in zip(files, OWN_CODE, strict=False))
