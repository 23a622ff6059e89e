"""A scripted model on the loopback address, for agent programs that are run without an account.

It speaks Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini's generateContent. A script is a
list of turns: `match` names words of the prompt that a turn answers, `steps` are done one a model call. Which step is
due follows from the request alone: the number of tool calls after the last prompt that matches.
"""

from __future__ import annotations

import gzip
import itertools
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Json = dict[str, Any]

PATH_FIELDS = ("file_path", "filePath", "path", "absolute_path", "target_file", "filename", "filepath")
OLD_FIELDS = ("old_string", "oldString", "old_str", "old_text", "oldText")
NEW_FIELDS = ("new_string", "newString", "new_str", "new_text", "newText")
WORDS_FIELDS = ("description", "instruction", "explanation", "summary", "reason")
TOOLS = {
    "shell": ("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell", "execute_command",
              "run_commands"),
    "read": ("Read", "read", "read_file", "view", "read_files"),
    "edit": ("Edit", "edit", "replace", "str_replace", "replace_in_file", "edit_file", "editor", "apply_patch"),
}  # fmt: skip
"""What programs call the tool that does a step, the preferred name first."""
SEARCHES = ("ToolSearch", "tool_search", "tool_search_call")
SEARCH_LIMIT = 4
ANSWER_S = 0.4
"""Seconds until an answer. Codex and Copilot do not wait for MCP servers; no real model is done before one is up."""
EMPTY = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}


class Call(NamedTuple):
    """A tool call the model makes."""

    name: str
    arguments: Any
    is_custom: bool = False
    namespace: str | None = None


class Tool(NamedTuple):
    """A tool the program offers."""

    schema: Json
    namespace: str | None = None
    is_custom: bool = False


class ScriptedModel:
    """The server and every request it was sent."""

    def __init__(self, turns: list[Json], root: str) -> None:
        self.turns = turns
        self.root = root
        self.requests: list[Json] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.model = self  # type: ignore[attr-defined]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """The server's address."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, form: str, body: Json) -> str | Call:
        """What the model says to this request: a text or a call."""
        items, tools = _conversation(form, body), _offered(form, body)
        last, turn = -1, None
        for position, (kind, text) in enumerate(items):
            for candidate in self.turns if kind == "user" else ():
                if candidate["match"] in text:
                    last, turn = position, candidate
        if turn is None or not tools:
            return "Parcels"
        calls = [text for kind, text in items[last:] if kind == "call"]
        done = sum(name not in SEARCHES for name in calls)
        if done >= len(turn["steps"]):
            return "Done."
        step = turn["steps"][done]
        if step["do"] == "mcp" and len(calls) - done >= SEARCH_LIMIT:
            return "(the search for tools brought nothing)"
        return _act(step, tools, self.root)


def _act(step: Json, tools: dict[str, Tool], root: str) -> str | Call:
    if step["do"] == "text":
        return str(step["text"])
    if step["do"] == "mcp":
        return _call_server(step, tools)
    for name in TOOLS[step["do"]]:
        tool = tools.get(name)
        if tool is None:
            continue
        if name == "apply_patch":
            patch = _patch(step)
            return Call(name, patch if tool.is_custom else {"input": patch}, tool.is_custom, tool.namespace)
        return Call(name, _arguments(tool.schema, step, root), False, tool.namespace)
    if step["do"] == "read":
        return _act({"do": "shell", "cmd": f"cat {step['file']}"}, tools, root)
    return f"(no tool for {step['do']})"


def _call_server(step: Json, tools: dict[str, Tool]) -> str | Call:
    """Our tool where it is offered, else a search for it where the program hides tools behind one."""
    for name, tool in tools.items():
        bare = name.rpartition("|")[2]
        if bare.endswith(step["tool"]) and ("holdfast" in (tool.namespace or "") + bare or bare == step["tool"]):
            return Call(bare, step["args"], False, tool.namespace)
    if "ToolSearch" in tools:
        return Call("ToolSearch", {"query": f"select:mcp__holdfast__{step['tool']}", "max_results": 5})
    if "tool_search" in tools:
        return Call("tool_search", {"query": f"holdfast {step['tool']}", "limit": 8})
    return "(no such MCP tool)"


def _arguments(schema: Json, step: Json, root: str) -> Json:
    """The arguments of a step under the names that the tool's schema gives them."""
    path = f"{root}/{step['file']}" if step.get("file") else root
    properties = schema.get("properties", {})
    arguments: Json = {}
    for name, about in properties.items():
        if name in PATH_FIELDS and step.get("file"):
            arguments[name] = path
        elif name in OLD_FIELDS and "old" in step:
            arguments[name] = step["old"]
        elif name in NEW_FIELDS and "new" in step:
            arguments[name] = step["new"]
        elif name in ("command", "cmd") and "cmd" in step:
            arguments[name] = ["bash", "-lc", step["cmd"]] if about.get("type") == "array" else step["cmd"]
        elif name == "commands" and "cmd" in step:
            arguments[name] = [step["cmd"]]
        elif name == "files" and step.get("file"):
            arguments[name] = [{"path": path}]
        elif name == "command":
            arguments[name] = {"read": "view", "edit": "str_replace"}[step["do"]]
        elif name in schema.get("required", properties):
            arguments[name] = _filler(name, about)
    return arguments


def _filler(name: str, about: Json) -> Any:
    if name in WORDS_FIELDS:
        return "Next step"
    return about["enum"][0] if about.get("enum") else EMPTY.get(str(about.get("type")), "x")


def _patch(step: Json) -> str:
    lines = ["*** Begin Patch", f"*** Update File: {step['file']}", "@@"]
    lines += [f"-{line}" for line in step["old"].splitlines()]
    lines += [f"+{line}" for line in step["new"].splitlines()]
    return "\n".join([*lines, "*** End Patch"])


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return _text(content.get("text") or content.get("content") or content.get("parts") or "")
    return "\n".join(map(_text, content)) if isinstance(content, list) else ""


def _conversation(form: str, body: Json) -> list[tuple[str, str]]:
    """Prompts (`user`) and calls (`call`), in their order."""
    return list(CONVERSATIONS[form](body))


def _in_messages(body: Json) -> Any:
    for message in body.get("messages", []):
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block.get("type") == "text" and message["role"] == "user":
                yield "user", block["text"]
            elif block.get("type") == "tool_use":
                yield "call", block["name"]


def _in_responses(body: Json) -> Any:
    items = body.get("input", [])
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        if item.get("type", "message") == "message" and item.get("role") == "user":
            yield "user", _text(item.get("content"))
        elif str(item.get("type", "")).endswith("_call"):
            yield "call", item.get("name") or item["type"]


def _in_chat(body: Json) -> Any:
    for message in body.get("messages", []):
        if message["role"] == "user":
            yield "user", _text(message.get("content"))
        for call in message.get("tool_calls") or []:
            yield "call", call["function"]["name"]


def _in_gemini(body: Json) -> Any:
    for content in body.get("contents", []):
        for part in content.get("parts", []):
            if "functionCall" in part:
                yield "call", part["functionCall"]["name"]
            elif "functionResponse" not in part and content.get("role") == "user":
                yield "user", part.get("text", "")


CONVERSATIONS = {"anthropic": _in_messages, "responses": _in_responses, "chat": _in_chat, "gemini": _in_gemini}


def _offered(form: str, body: Json) -> dict[str, Tool]:
    """The tools of a request by name; those of a namespace by `namespace|name`."""
    offered: dict[str, Tool] = {}
    if form == "gemini":
        for group in body.get("tools", []):
            for about in group.get("functionDeclarations", []):
                offered[about["name"]] = Tool(about.get("parametersJsonSchema") or about.get("parameters") or {})
        return offered

    def add(tools: Any, namespace: str | None = None) -> None:
        for about in tools or []:
            if about.get("type") == "namespace":
                add(about.get("tools"), about["name"])
                continue
            function = about.get("function", about)
            name = function.get("name") or about.get("type")
            schema = function.get("parameters") or function.get("input_schema") or {}
            offered[f"{namespace}|{name}" if namespace else name] = Tool(
                schema, namespace, about.get("type") == "custom"
            )

    add(body.get("tools"))
    for item in body.get("input", []) if isinstance(body.get("input"), list) else []:
        if item.get("type") in ("tool_search_output", "additional_tools"):
            add(item.get("tools"))
    return offered


_NUMBERS = itertools.count(1)


def _id(prefix: str) -> str:
    return f"{prefix}_{int(time.time())}{next(_NUMBERS):04d}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def log_message(self, format: str, *values: object) -> None:
        """Nothing: the requests are kept."""

    def do_GET(self) -> None:
        """The list of models, or an empty object."""
        models = [{"id": "mock", "object": "model", "name": "mock"}]
        self._send({"object": "list", "data": models} if "/models" in self.path else {})

    def do_POST(self) -> None:
        """One request of the program's model."""
        path, body = self.path.partition("?")[0], self._body()
        if path.endswith(("/count_tokens", "countTokens")):
            self._send({"input_tokens": 1_000, "totalTokens": 1_000})
            return
        form = next((form for end, form in FORMS.items() if path.endswith(end)), "")
        if not form and "enerateContent" in path:
            form = "gemini"
        model: ScriptedModel = self.server.model
        answer = model.answer(form, body) if form else ""
        model.requests.append({"path": path, "body": body})
        if form:
            time.sleep(ANSWER_S)
            getattr(self, f"_as_{form}")(body, answer)
        else:
            self._send({})

    def _body(self) -> Json:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}

    def _send(self, value: Json) -> None:
        self._send_bytes(json.dumps(value).encode(), "application/json")

    def _stream(self, events: list[Json], named: bool = True, done: bool = False) -> None:
        text = "".join((f"event: {e['type']}\n" if named else "") + f"data: {json.dumps(e)}\n\n" for e in events)
        self._send_bytes((text + ("data: [DONE]\n\n" if done else "")).encode(), "text/event-stream")

    def _send_bytes(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _as_anthropic(self, body: Json, answer: str | Call) -> None:
        if isinstance(answer, str):
            block: Json = {"type": "text", "text": answer}
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": answer}
        else:
            block = {"type": "tool_use", "id": _id("toolu"), "name": answer.name, "input": answer.arguments}
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(answer.arguments)}
        usage = {"input_tokens": 1_200, "output_tokens": 20, "cache_creation_input_tokens": 0,
                 "cache_read_input_tokens": 0}  # fmt: skip
        stop = "end_turn" if isinstance(answer, str) else "tool_use"
        message = {"id": _id("msg"), "type": "message", "role": "assistant", "model": body.get("model", "mock"),
                   "content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage}  # fmt: skip
        if not body.get("stream"):
            self._send(message)
            return
        self._stream([
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ])  # fmt: skip

    def _as_responses(self, body: Json, answer: str | Call) -> None:
        item = _response_item(answer)
        usage = {"input_tokens": 1_200, "output_tokens": 20, "total_tokens": 1_220,
                 "input_tokens_details": {"cached_tokens": 0},
                 "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
        response = {"id": _id("resp"), "object": "response", "created_at": int(time.time()), "usage": usage,
                    "model": body.get("model"), "status": "completed", "output": [item], "tools": [], "error": None,
                    "parallel_tool_calls": False, "tool_choice": "auto", "metadata": {}}  # fmt: skip
        if not body.get("stream"):
            self._send(response)
            return
        events: list[Json] = [
            {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
        if item["type"] == "message":
            where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
            events.insert(2, {"type": "response.output_text.delta", **where, "delta": answer})
        for number, event in enumerate(events):
            event["sequence_number"] = number
        self._stream(events)

    def _as_chat(self, body: Json, answer: str | Call) -> None:
        message: Json = {"role": "assistant", "content": answer}
        if isinstance(answer, Call):
            function = {"name": answer.name, "arguments": json.dumps(answer.arguments)}
            call = {"index": 0, "id": _id("call"), "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        stop = "stop" if isinstance(answer, str) else "tool_calls"
        usage = {"prompt_tokens": 1_200, "completion_tokens": 20, "total_tokens": 1_220}
        base: Json = {"id": _id("chatcmpl"), "created": int(time.time()), "model": body.get("model", "mock")}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": stop}
            self._send({**base, "object": "chat.completion", "usage": usage, "choices": [choice]})
            return
        base["object"] = "chat.completion.chunk"
        self._stream([
            {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}], "usage": usage},
        ], named=False, done=True)  # fmt: skip

    def _as_gemini(self, body: Json, answer: str | Call) -> None:
        part: Json = {"text": answer}
        if isinstance(answer, Call):
            part = {"functionCall": {"name": answer.name, "args": answer.arguments}}
        if body.get("generationConfig", {}).get("responseMimeType") == "application/json":
            part = {"text": json.dumps({"reasoning": "x", "next_speaker": "user", "model_choice": "flash",
                                        "complexity_score": 10, "complexity_reasoning": "x"})}  # fmt: skip
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 1_200, "candidatesTokenCount": 20, "totalTokenCount": 1_220}
        value = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock"}
        if "stream" in self.path:
            self._stream([value], named=False)
        else:
            self._send(value)


FORMS = {"/messages": "anthropic", "/responses": "responses", "/chat/completions": "chat"}


def _response_item(answer: str | Call) -> Json:
    if isinstance(answer, str):
        content = [{"type": "output_text", "text": answer, "annotations": []}]
        return {"type": "message", "id": _id("msg"), "role": "assistant", "status": "completed", "content": content}
    item: Json = {"call_id": _id("call"), "status": "completed"}
    if answer.name == "tool_search":
        return {**item, "type": "tool_search_call", "id": _id("ts"), "execution": "client",
                "arguments": answer.arguments}  # fmt: skip
    if answer.is_custom:
        return {**item, "type": "custom_tool_call", "id": _id("ctc"), "name": answer.name, "input": answer.arguments}
    item |= {"type": "function_call", "id": _id("fc"), "name": answer.name, "arguments": json.dumps(answer.arguments)}
    return item | ({"namespace": answer.namespace} if answer.namespace else {})
