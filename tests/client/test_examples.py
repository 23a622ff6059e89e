"""The example agents run as they stand against a stand-in model: they are told what is known, and they teach."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast import open_memory
from tests.client.models import DONE, serving

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "agents"
RULE = "Rates come from rates.toml, never from the environment"
FIX = "KeyError: 'rate' means that rates.toml was not loaded"


@pytest.mark.parametrize("name", ["anthropic_agent", "openai_agent", "langgraph_agent", "pydantic_ai_agent"])
def test_an_example_agent_is_told_and_teaches(tmp_path: Path, name: str) -> None:
    project, home = tmp_path / "rates", tmp_path / "home"
    project.mkdir()
    with open_memory(str(project), home=str(home)) as memory:
        memory.remember(RULE, kind="constraint")
        memory.remember(FIX, kind="bug_cause")
    with serving() as models:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("HOLDFAST", "LANG"))}
        environment |= {
            "HOLDFAST_HOME": str(home), "ANTHROPIC_API_KEY": "none", "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": models.url, "OPENAI_BASE_URL": f"{models.url}/v1",
        }  # fmt: skip
        task = "Why is the rate missing? Remember that rates have four digits."
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / f"{name}.py"), task], cwd=project, env=environment, capture_output=True,
            text=True, check=False, timeout=180,
        )  # fmt: skip
        requests = [json.dumps(request) for request in models.requests]
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == DONE
    assert RULE in requests[0]
    assert FIX.split(" means")[1] in requests[1]
    with open_memory(str(project), home=str(home)) as memory:
        assert any("four digits" in lesson.insight for lesson in memory.lessons())
