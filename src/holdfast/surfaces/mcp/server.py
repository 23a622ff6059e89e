"""The MCP server: tools, resources, prompts and instructions over one Memory. It parses, calls and renders.

It uses the official SDK, which speaks all protocol revisions. It uses the SDK's low-level server, because the
high-level one doubles the length of every tool's schema and takes 100 ms longer to start.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import anyio
from mcp.server import CacheHint, Server
from mcp.server.caching import CacheableMethod
from mcp.server.context import CallNext, HandlerResult
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    PromptMessage,
    PromptReference,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    TextResourceContents,
)
from pydantic import ValidationError

from holdfast._version import __version__
from holdfast.errors import AmbiguousIdError, HoldfastError, InvalidValueError, LessonNotFoundError
from holdfast.home.runfiles import note
from holdfast.surfaces.mcp import instructions, render, resources
from holdfast.surfaces.mcp.callers import Caller, Callers, Request
from holdfast.surfaces.mcp.greeting import greet
from holdfast.surfaces.mcp.opening import MemoryOnce
from holdfast.surfaces.mcp.prompts import PROMPTS
from holdfast.surfaces.mcp.tools import TOOLS, MemoryTool

T = TypeVar("T")
Paging = PaginatedRequestParams | None

LISTS: tuple[CacheableMethod, ...] = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
LISTED = CacheHint(ttl_ms=3_600_000, scope="private")
"""Lists do not change while the server runs."""
OPENINGS = ("initialize", "server/discover")
CALLERS_FAULT = (LessonNotFoundError, InvalidValueError, AmbiguousIdError)


def build(
    memory: MemoryOnce, host: str = "", *, hooked: bool = False, session: str = "", instructed: str = ""
) -> Server[None]:
    """Build the server. The memory is opened only when a client asks for something that is stored.

    `host` is the adapter's name of the host that starts the server, if known; `hooked` means that it runs Holdfast's
    hooks. `session` and `instructed` are the session and the instructions that `door` has already given.
    """
    handler = _RequestHandler(memory, Callers(memory, host, session), hooked, instructed)
    server: Server[None] = Server(
        "holdfast",
        title="Holdfast",
        version=__version__,
        instructions=greet(hooked=False, asks=True),
        cache_hints=dict.fromkeys(LISTS, LISTED),
        get_tool_input_schema=lambda name: _BY_NAME[name].input_schema() if name in _BY_NAME else None,
        on_list_tools=_list_tools,
        on_call_tool=handler.call_tool,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=handler.read_resource,
        on_subscriptions_listen=ListenHandler(InMemorySubscriptionBus()),  # hosts listen; our lists never change
        on_list_prompts=_list_prompts,
        on_get_prompt=handler.get_prompt,
        on_completion=handler.complete,
    )
    server.middleware.append(handler.attend)
    return server


_BY_NAME: dict[str, MemoryTool] = {tool.name: tool for tool in TOOLS}


async def _list_tools(ctx: Request, params: Paging) -> ListToolsResult:
    return ListToolsResult(tools=[tool.declare() for tool in TOOLS])


async def _list_resources(ctx: Request, params: Paging) -> ListResourcesResult:
    return ListResourcesResult(resources=list(resources.RESOURCES))


async def _list_templates(ctx: Request, params: Paging) -> ListResourceTemplatesResult:
    return ListResourceTemplatesResult(resource_templates=list(resources.TEMPLATES))


async def _list_prompts(ctx: Request, params: Paging) -> ListPromptsResult:
    return ListPromptsResult(prompts=[prompt.declare() for prompt in PROMPTS])


class _RequestHandler:
    """Answers clients' requests."""

    def __init__(self, memory: MemoryOnce, callers: Callers, hooked: bool, instructed: str) -> None:
        self._memory = memory
        self._callers = callers
        self._hooked = hooked
        self._instructed = instructed

    async def attend(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """Middleware: put the client's instructions into the answer to an opening, and forget roots that changed."""
        result = await call_next(ctx)
        if ctx.method == "notifications/roots/list_changed":
            self._callers.forget_roots()
        if ctx.method in OPENINGS and isinstance(result, dict):
            result["instructions"] = await self._instruct(ctx)
        return result

    async def call_tool(self, ctx: Request, params: CallToolRequestParams) -> CallToolResult:
        """Answer `tools/call`. An error is a result that the model can read; an unknown tool is a protocol error."""
        tool = _BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}")
        try:
            arguments = tool.takes.model_validate(params.arguments or {})
            answer = await self._callers.run(ctx, lambda caller: tool.run(caller, arguments), writes=tool.writes)
        except ValidationError as exc:
            return refusal(wrong_arguments(tool.name, exc))
        except HoldfastError as exc:
            return refusal(render.failure(exc))
        except Exception as exc:
            self._log_failure(f"tool {tool.name}", exc)
            return refusal(f"{tool.name} failed: {type(exc).__name__}\nhint: holdfast doctor --report")
        content = TextContent(type="text", text=answer.text)
        return CallToolResult(content=[content], structured_content=answer.model_dump())

    async def read_resource(self, ctx: Request, params: ReadResourceRequestParams) -> ReadResourceResult:
        """Answer `resources/read`."""
        uri = str(params.uri)
        text = await self._answer(ctx, lambda caller: resources.read(caller, uri), uri)
        contents = TextResourceContents(uri=params.uri, text=text, mime_type=resources.MIME)
        return ReadResourceResult(contents=[contents])

    async def get_prompt(self, ctx: Request, params: GetPromptRequestParams) -> GetPromptResult:
        """Answer `prompts/get`."""
        prompt = next((candidate for candidate in PROMPTS if candidate.name == params.name), None)
        if prompt is None:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name}")
        text = await self._answer(ctx, lambda caller: prompt.render(caller, params.arguments or {}), prompt.name)
        message = PromptMessage(role="user", content=TextContent(type="text", text=text))
        return GetPromptResult(description=prompt.does, messages=[message])

    async def complete(self, ctx: Request, params: CompleteRequestParams) -> CompleteResult:
        """Answer `completion/complete`: ids for the lesson template, titles for the recall prompt, else nothing."""
        name, begun = params.argument.name, params.argument.value
        find = None
        if isinstance(params.ref, PromptReference):
            find = resources.complete_query if (params.ref.name, name) == ("recall", "query") else None
        elif params.ref.uri.startswith(resources.LESSON):
            find = resources.complete_id if name == "id" else None
        values = await self._answer(ctx, lambda caller: find(caller, begun), "completion") if find else []
        return CompleteResult(completion=Completion(values=values, total=len(values), has_more=False))

    async def _answer(self, ctx: Request, job: Callable[[Caller], T], subject: str) -> T:
        """Return the job's result. Raises MCPError with the message and hint of a core error."""
        try:
            return await self._callers.run(ctx, job)
        except HoldfastError as exc:
            code = INVALID_PARAMS if isinstance(exc, CALLERS_FAULT) else INTERNAL_ERROR
            raise MCPError(code, render.failure(exc), {"uri": subject} if "://" in subject else None) from exc
        except Exception as exc:
            self._log_failure(subject, exc)
            raise MCPError(INTERNAL_ERROR, f"{type(exc).__name__}; for more, run: holdfast doctor --report") from exc

    async def _instruct(self, ctx: Request) -> str:
        """Return the instructions for this client; they stay the same if it opens its connection again."""
        if self._hooked:
            return greet(hooked=True, asks=False)
        if self._instructed:
            return self._instructed

        def say(caller: Caller) -> str:
            return instructions.instruct(caller.memory, self._memory().settings, caller.host, caller.session)

        text = greet(hooked=False, asks=True)
        try:
            with anyio.move_on_after(instructions.ANSWER_S):
                text = await self._callers.run(ctx, say)
        except Exception as exc:  # the client must still get the tools, which report a broken store
            self._log_failure("instructions", exc)
        self._instructed = text
        return text

    def _log_failure(self, subject: str, exc: Exception) -> None:
        with suppress(Exception):  # without settings there is no log
            note(self._memory().settings.log_path, f"server {subject}", exc)


def refusal(text: str) -> CallToolResult:
    """Return an error that the model can read."""
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def wrong_arguments(tool: str, exc: ValidationError) -> str:
    """Return what is wrong with each argument, without repeating its value."""
    faults = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in exc.errors(include_input=False))
    return "\n".join([f"{tool} cannot take these arguments", *faults, "hint: see the tool's input schema"])
