"""Plays the first session of examples/ledger for real in a scratch copy and writes its transcript.

    python scripts/record_story.py

The transcript is what `make demo` back-fills. Run this again after changing the story; the diff is reviewed.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))

from player import Player, load_story  # noqa: E402 - the examples are no package

RECORDED_IN = "/home/ada/ledger"


def main() -> None:
    example = ROOT / "examples" / "ledger"
    with tempfile.TemporaryDirectory() as scratch:
        folder = str(Path(scratch) / "ledger")
        shutil.copytree(example / "repository", folder)
        player = Player("5d0c2f7e-0000-4000-8000-000000000001", folder, started=datetime(2026, 3, 2, 9, 0, tzinfo=UTC))
        for _payload in player.play(load_story(str(example))["first"]):
            pass
        lines = [json.dumps(line, ensure_ascii=False).replace(folder, RECORDED_IN) for line in player.transcript]
    (example / "session.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} lines in {example / 'session.jsonl'}", file=sys.stderr)


if __name__ == "__main__":
    main()
