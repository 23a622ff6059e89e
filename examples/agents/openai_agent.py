"""An agent on OpenAI's client: `python openai_agent.py "Fix the failing test"`."""

from __future__ import annotations

import json
import sys
from typing import Any

import shell
from openai import OpenAI

from holdfast import open_memory

FUNCTION = {"name": "run", "description": shell.DESCRIPTION, "parameters": shell.PARAMETERS}
TOOLS: Any = [{"type": "function", "function": FUNCTION}]


def work(task: str) -> str:
    """Return the agent's answer to the task."""
    client = OpenAI()
    with open_memory() as memory, memory.session(model=shell.MODEL) as session:
        messages: list[Any] = [
            {"role": "system", "content": session.start},
            {"role": "user", "content": f"{task}\n\n{session.prompt(task)}"},
        ]
        while True:
            answer = client.chat.completions.create(model=shell.MODEL, messages=messages, tools=TOOLS)
            message = answer.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                session.reply(message.content or "")
                return message.content or ""
            for call in message.tool_calls:
                arguments = json.loads(call.function.arguments)
                result = shell.run(session, arguments["command"])
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


if __name__ == "__main__":
    print(work(sys.argv[1]))
