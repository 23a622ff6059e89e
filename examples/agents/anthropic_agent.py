"""An agent on Anthropic's client: `python anthropic_agent.py "Fix the failing test"`."""

from __future__ import annotations

import sys
from typing import Any

import shell
from anthropic import Anthropic

from holdfast import open_memory

TOOLS: Any = [{"name": "run", "description": shell.DESCRIPTION, "input_schema": shell.PARAMETERS}]


def work(task: str) -> str:
    """Return the agent's answer to the task."""
    client = Anthropic()
    with open_memory() as memory, memory.session(model=shell.MODEL) as session:
        messages: list[Any] = [{"role": "user", "content": f"{task}\n\n{session.prompt(task)}"}]
        while True:
            answer = client.messages.create(
                model=shell.MODEL, max_tokens=1024, system=session.start, messages=messages, tools=TOOLS
            )
            messages.append({"role": "assistant", "content": answer.content})
            calls = [block for block in answer.content if block.type == "tool_use"]
            if not calls:
                text = "".join(block.text for block in answer.content if block.type == "text")
                session.reply(text)
                return text
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": shell.run(session, str(call.input["command"])),
                }
                for call in calls
            ]
            messages.append({"role": "user", "content": results})


if __name__ == "__main__":
    print(work(sys.argv[1]))
