"""Makes a stored database of an older version: run it once with that version's source on the path.

    git archive COMMIT src | tar x -C /tmp/old
    PYTHONPATH=/tmp/old/src python tests/stores/old_store.py tests/golden/stores/schema_N.db.gz

Each database tells the same story, so that one test reads them all.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

EDITED = "src/tide.py"


def main(target: str) -> None:
    """Tell the story to the `holdfast` on the path and pack the database it leaves."""
    with tempfile.TemporaryDirectory() as folder:
        project, home = os.path.join(folder, "harbour"), os.path.join(folder, "home")
        os.makedirs(os.path.join(project, "src"))
        with open(os.path.join(project, EDITED), "w", encoding="utf-8") as stream:
            stream.write("def high_water(hour):\n    return hour * 2\n")
        environment = {**os.environ, "HOLDFAST_HOME": home, "HOME": folder}

        def run(*words: str, typed: str = "") -> str:
            command = [sys.executable, "-m", "holdfast", *words]
            done = subprocess.run(
                command, cwd=project, env=environment, input=typed, capture_output=True, text=True, check=True
            )
            return done.stdout

        def remember(*words: str) -> str:
            return str(json.loads(run("remember", *words, "--json"))["id"])

        remember("Tides are counted in whole hours", "--kind", "constraint", "--why", "the tables are hourly",
                 "--file", EDITED)  # fmt: skip
        revised = remember("Run the harbour tests with make quay", "--kind", "tooling")
        forgotten = remember("The crane password is on the wall")
        remember("Answer in Dutch", "--kind", "preference", "--scope", "user")
        run("revise", revised, "--insight", "Run the harbour tests with make berth")
        run("forget", forgotten)
        run("checkpoint", "save", "--goal", "Move the pilots to the new quay")
        prompt = {"session_id": "s1", "cwd": project, "hook_event_name": "UserPromptSubmit",
                  "prompt": "How are tides counted?"}  # fmt: skip
        run("hook", "claude-code", typed=json.dumps(prompt))
        edit = {"file_path": os.path.join(project, EDITED), "old_string": "2", "new_string": "3"}
        editing = {**prompt, "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": edit}
        run("hook", "claude-code", typed=json.dumps(editing))
        database = os.path.join(home, "memory.db")
        connection = sqlite3.connect(database)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")
        connection.close()
        with open(database, "rb") as plain, open(target, "wb") as packed:
            packed.write(gzip.compress(plain.read(), mtime=0))


if __name__ == "__main__":
    main(sys.argv[1])
