"""An agent as a graph of LangGraph, whose model is called through OpenAI's client."""

from __future__ import annotations

import json
import sys
from operator import add
from typing import Annotated, Any, TypedDict

import shell
from langgraph.graph import END, START, StateGraph
from openai import OpenAI

from holdfast import open_memory

FUNCTION = {"name": "run", "description": shell.DESCRIPTION, "parameters": shell.PARAMETERS}
TOOLS: Any = [{"type": "function", "function": FUNCTION}]


class State(TypedDict):
    """The conversation."""

    messages: Annotated[list[Any], add]


def work(task: str) -> str:
    """Return the agent's answer to the task."""
    client = OpenAI()
    with open_memory() as memory, memory.session(model=shell.MODEL) as session:

        def think(state: State) -> Any:
            answer = client.chat.completions.create(model=shell.MODEL, messages=state["messages"], tools=TOOLS)
            return {"messages": [answer.choices[0].message.model_dump(exclude_none=True)]}

        def act(state: State) -> Any:
            results = []
            for call in state["messages"][-1]["tool_calls"]:
                output = shell.run(session, json.loads(call["function"]["arguments"])["command"])
                results.append({"role": "tool", "tool_call_id": call["id"], "content": output})
            return {"messages": results}

        graph = StateGraph(State)
        graph.add_node("think", think)
        graph.add_node("act", act)
        graph.add_edge(START, "think")
        graph.add_conditional_edges("think", lambda state: "act" if state["messages"][-1].get("tool_calls") else END)
        graph.add_edge("act", "think")
        messages = [
            {"role": "system", "content": session.start},
            {"role": "user", "content": f"{task}\n\n{session.prompt(task)}"},
        ]
        answer: str = graph.compile().invoke({"messages": messages})["messages"][-1]["content"]
        session.reply(answer)
        return answer


if __name__ == "__main__":
    print(work(sys.argv[1]))
