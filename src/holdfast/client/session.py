"""A session of an agent written in Python: what it reports, and what it is told at each step.

Each step becomes one call in the shape of Claude Code's hooks, which the host `own-agent` reads. `Session` takes what
answers a call, so that it is the same over a store of this process and over a server; `AsyncSession` awaits it.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self
from uuid import uuid4

from holdfast.errors import InvalidValueError

P = ParamSpec("P")
HOST = "own-agent"
Call = dict[str, Any]
Answer = Callable[[Call], str]
"""Takes a call and returns the host's answer: a JSON object that may hold `context`."""


class Calls:
    """Makes the calls of one session."""

    def __init__(self, session: str, folder: str, model: str) -> None:
        self.session = session
        self._shared = {"session_id": session, "cwd": folder}
        self._model = model

    def _call(self, name: str, **fields: Any) -> Call:
        return {**self._shared, "hook_event_name": name, **fields}

    def start(self) -> Call:
        """Return the call of the session's beginning."""
        return self._call("SessionStart", source="startup", model=self._model)

    def prompt(self, text: str) -> Call:
        """Report a person's words, before the model reads them."""
        return self._call("UserPromptSubmit", prompt=text)

    def before_read(self, path: str) -> Call:
        """Ask what is known of a file that is about to be read."""
        return self._call("PreToolUse", tool_name="Read", tool_input={"file_path": path})

    def before_edit(self, path: str, *, old: str = "", new: str = "") -> Call:
        """Ask what is known of a file that is about to be changed; `old` and `new` are the texts, where known."""
        return self._call("PreToolUse", tool_name="Edit", tool_input=_edit(path, old, new))

    def before_command(self, command: str) -> Call:
        """Ask what is known of a shell command that is about to run."""
        return self._call("PreToolUse", tool_name="Bash", tool_input={"command": command})

    def command(self, command: str, output: str = "", exit_code: int = 0) -> Call:
        """Report a shell command that ran; after a failure the answer is what is known of it."""
        if exit_code:
            error = f"Exit code {exit_code}\n{output}"
            return self._finished("PostToolUseFailure", "Bash", {"command": command}, error=error)
        response = {"stdout": output, "stderr": "", "interrupted": False}
        return self._finished("PostToolUse", "Bash", {"command": command}, tool_response=response)

    def edited(self, path: str, *, old: str = "", new: str = "") -> Call:
        """Report a file that was changed."""
        return self._finished("PostToolUse", "Edit", _edit(path, old, new), tool_response={"type": "update"})

    def tool(self, name: str, arguments: Mapping[str, Any], output: str = "", *, error: str = "") -> Call:
        """Report a call of another tool; after an error the answer is what is known of it."""
        if error:
            return self._finished("PostToolUseFailure", name, arguments, error=error)
        return self._finished("PostToolUse", name, arguments, tool_response=output)

    def _finished(self, name: str, tool: str, arguments: Mapping[str, Any], **result: Any) -> Call:
        return self._call(name, tool_name=tool, tool_use_id=uuid4().hex, tool_input=dict(arguments), **result)

    def reply(self, text: str) -> Call:
        """Return the call after the agent's answer to a prompt."""
        return self._call("Stop", stop_hook_active=False, last_assistant_message=text)

    def compaction(self) -> Call:
        """Return the call before the agent shortens its context."""
        return self._call("PreCompact", trigger="auto", custom_instructions=None)

    def after_compaction(self) -> Call:
        """Return the call after the agent has shortened its context."""
        return self._call("SessionStart", source="compact", model=self._model)

    def end(self) -> Call:
        """Return the call of the session's end."""
        return self._call("SessionEnd", reason="other")


def _edit(path: str, old: str, new: str) -> dict[str, Any]:
    """Return the arguments of an edit; without old words the file is written as a whole."""
    return {"file_path": path, "old_string": old, "new_string": new} if old else {"file_path": path, "content": new}


def context_of(answer: str) -> str:
    """Return what the agent is told; empty where there is nothing to say."""
    fields = json.loads(answer)
    return str(fields.get("context", "")) if isinstance(fields, dict) else ""


def _told(make: Callable[Concatenate[Calls, P], Call]) -> Callable[Concatenate[Session, P], str]:
    """Return a step as a method of a session, which answers with the text to add to the model's context."""

    @wraps(make)
    def method(session: Session, /, *arguments: P.args, **named: P.kwargs) -> str:
        return session.tell(make(session.calls, *arguments, **named))

    return method


def _awaited(make: Callable[Concatenate[Calls, P], Call]) -> Callable[Concatenate[AsyncSession, P], Awaitable[str]]:
    """Return a step as a method of an awaited session."""

    @wraps(make)
    def method(session: AsyncSession, /, *arguments: P.args, **named: P.kwargs) -> Awaitable[str]:
        return session.tell(make(session.calls, *arguments, **named))

    return method


class Session:
    """One session of an agent: report each step, and give the returned texts to the model.

    Every method returns the text to add to the model's context, empty where there is nothing to say. Use it in a `with`
    block: at its end what the session taught is learnt.
    """

    def __init__(self, answer: Answer, learn: Callable[[str], object], calls: Calls) -> None:
        self._answer = answer
        self._learn = learn
        self.calls = calls
        self._ended = False
        self.start = ""
        """What the session is told at its beginning; put it into the system prompt."""

    @property
    def id(self) -> str:
        """The session's id."""
        return self.calls.session

    def __enter__(self) -> Self:
        self.start = self.tell(self.calls.start())
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def tell(self, call: Call) -> str:
        """Report a step and return the text to add to the model's context."""
        if self._ended:
            raise InvalidValueError("the session has ended", hint="open another one")
        return context_of(self._answer(call))

    prompt = _told(Calls.prompt)
    before_read = _told(Calls.before_read)
    before_edit = _told(Calls.before_edit)
    before_command = _told(Calls.before_command)
    command = _told(Calls.command)
    edited = _told(Calls.edited)
    tool = _told(Calls.tool)

    def reply(self, text: str) -> None:
        """Report the agent's answer to the last prompt."""
        self.tell(self.calls.reply(text))

    def compact(self) -> str:
        """Report that the context is shortened; return what the shortened one must hold."""
        self.tell(self.calls.compaction())
        return self.tell(self.calls.after_compaction())

    def close(self) -> None:
        """End the session and learn from it; a second call does nothing."""
        if not self._ended:
            self.tell(self.calls.end())
            self._ended = True
            self._learn(self.id)


class AsyncSession:
    """`Session`, awaited: `async with client.session() as session: await session.prompt(...)`."""

    def __init__(
        self, answer: Callable[[Call], Awaitable[str]], learn: Callable[[str], Awaitable[object]], calls: Calls
    ) -> None:
        self._answer = answer
        self._learn = learn
        self.calls = calls
        self._ended = False
        self.start = ""
        """What the session is told at its beginning; put it into the system prompt."""

    @property
    def id(self) -> str:
        """The session's id."""
        return self.calls.session

    async def __aenter__(self) -> Self:
        self.start = await self.tell(self.calls.start())
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def tell(self, call: Call) -> str:
        """Report a step and return the text to add to the model's context."""
        if self._ended:
            raise InvalidValueError("the session has ended", hint="open another one")
        return context_of(await self._answer(call))

    prompt = _awaited(Calls.prompt)
    before_read = _awaited(Calls.before_read)
    before_edit = _awaited(Calls.before_edit)
    before_command = _awaited(Calls.before_command)
    command = _awaited(Calls.command)
    edited = _awaited(Calls.edited)
    tool = _awaited(Calls.tool)

    async def reply(self, text: str) -> None:
        """Report the agent's answer to the last prompt."""
        await self.tell(self.calls.reply(text))

    async def compact(self) -> str:
        """Report that the context is shortened; return what the shortened one must hold."""
        await self.tell(self.calls.compaction())
        return await self.tell(self.calls.after_compaction())

    async def close(self) -> None:
        """End the session and learn from it; a second call does nothing."""
        if not self._ended:
            await self.tell(self.calls.end())
            self._ended = True
            await self._learn(self.id)
