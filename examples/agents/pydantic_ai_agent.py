"""An agent of Pydantic AI: `python pydantic_ai_agent.py "Fix the failing test"`."""

from __future__ import annotations

import sys

import shell
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

from holdfast import open_memory


def work(task: str) -> str:
    """Return the agent's answer to the task."""
    with open_memory() as memory, memory.session(model=shell.MODEL) as session:
        agent = Agent(OpenAIChatModel(shell.MODEL), instructions=session.start)

        @agent.tool_plain(description=shell.DESCRIPTION)
        def run(command: str) -> str:
            return shell.run(session, command)

        answer = agent.run_sync(f"{task}\n\n{session.prompt(task)}").output
        session.reply(answer)
        return answer


if __name__ == "__main__":
    print(work(sys.argv[1]))
