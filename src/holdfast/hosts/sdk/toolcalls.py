"""Turns a tool call into events, the same from a hook and from a transcript; tools have Claude Code's names.

Keys rest on the host's id of the call (`result:<id>`), on the words of prompts and replies, and on the minute for what
has neither. So what a hook and later a transcript report is one event. A prompt or reply that is repeated word for word
within a session is therefore kept once, at its first time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.domain.event import MEMORY_TOOL, NOTHING_FOUND, Event
from holdfast.hosts.sdk.payloads import (
    EDIT_TOOLS,
    PATCH_TOOL,
    EventSource,
    call_files,
    clean,
    digest,
    fields_of,
    minute_of,
    parse_patch,
    said,
    shorten,
    text_of,
)

QUESTION_TOOL = "AskUserQuestion"
"""Asks the user; the answers are the user's own words."""
MEMORY_TOOLS = frozenset({"save_memory", "update_memory", "create_memory", "write_memory"})
"""Tools by which an agent saves a fact in its host's memory: Gemini CLI's, Cursor's, Windsurf's, Serena's."""
MEMORY_FIELDS = ("fact", "knowledge_to_store", "Content", "content")
"""Their arguments that hold the words; `title` or `Title` becomes a heading."""
MEMORY_FOLDERS = (
    ("/.claude/projects/", "/memory/"), ("/.claude/agent-memory/", "/"), ("/.codex/memories/", ""),
    ("/.gemini/", "GEMINI.md"), ("/.codeium/windsurf/memories/", ""),
)  # fmt: skip
"""Where hosts keep memories as files: a folder of the home, and what must follow it."""
LOOKING_TOOLS = frozenset({"Read", "Grep", "Glob", "LS", "NotebookRead"})
FILES_LIMIT, LINES_LIMIT = 20, 400
"""Files of a search's answer that are kept, and lines of it that are looked at for them."""
OWN_SERVER = "holdfast"
OWN_TOOLS = frozenset({"recall", "expand", "remember", "revise", "checkpoint", "feedback"})
"""Our MCP tools. Hosts put the server's name before them in many ways: `mcp__holdfast__recall`, `holdfast-recall`,
`mcp_holdfast_recall`, `mcp__plugin_holdfast_holdfast__recall`."""

REJECTED = "The user doesn't want to "
REFUSAL = REJECTED + "proceed with this tool use. The tool use was rejected"
"""Beginning of the result that Claude Code gives a call which the user refused."""
SAID = "the user said:"
CLARIFIES = "The user wants to clarify these questions."
"""Replaces the user's words if they left the agent's questions unanswered."""
HOST_NOTE = "\n\nNote: The user's next message may contain a correction or preference."
"""Beginning of a note of the host after the user's words."""
NOT_RUN = ("Sibling tool call errored", "Cancelled: parallel tool call")
"""Failures of calls that never ran because another one failed: nothing was learnt from them."""

ANALYSIS = "\nAnalysis:\n"
"""Precedes the notes at the beginning of Claude Code's summaries."""
UNKNOWN_EXIT = {"interrupted": True}
"""Added to the response of a command whose outcome is unknown; 0 would be a claim."""

FIELDS = (("file_path", "path"), ("content", "file_text"), ("old_string", "old_str"), ("new_string", "new_str"))
"""Claude Code's names of a file tool's arguments, and the names that several other hosts use."""
OPTION_MARK = "  option: "
"""Precedes what the agent wrote about the option that the user chose."""


def summed_up(source: EventSource, text: str) -> list[Event]:
    """Return the event of a compaction's summary, which a machine wrote; none without words.

    Its key rests on its words: the hook before the compaction reports the compaction itself, without them.
    """
    words = clean(text)
    head, mark, body = words.partition("\nSummary:\n")
    if mark and ANALYSIS in head:  # drop the machine's notes; the summary has their result
        words = body
    return [source.event("compaction", f"summary:{digest(words)}", words)] if words else []


def is_own_tool(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a tool is one of our MCP server's: its answers are memory already, never evidence.

    Some hosts call every server through one tool and name the server among the arguments.
    """
    words = "".join(c if c.isalnum() else " " for c in tool.lower()).split()
    if OWN_SERVER in words:
        return words[-1] in OWN_TOOLS or words[0] == "mcp"
    return text_of(arguments.get("server_name") or arguments.get("serverName")).lower() == OWN_SERVER


def call_finished(
    source: EventSource, tool: str, arguments: Mapping[str, Any], response: object, use: str
) -> list[Event]:
    """Return the events of a call that did not fail."""
    if is_own_tool(tool, arguments):
        return []
    key = _key(source, tool, arguments, use, str(response))
    if tool.rpartition("__")[2] in MEMORY_TOOLS:
        return _remembered(source, tool.rpartition("__")[2], _memory_text(arguments), key)
    if tool == PATCH_TOOL:
        return _patched(source, arguments, key)
    if tool in EDIT_TOOLS:
        return _edits(source, tool, arguments, fields_of(response), key)
    if tool == "Bash":
        return [_command(source, arguments, response, key)]
    if tool in LOOKING_TOOLS:
        return [_look(source, tool, arguments, fields_of(response), key)]
    if tool == "TodoWrite":
        return [source.event("tool_result", key, todo_text(arguments.get("todos")), tool=tool)]
    if tool == QUESTION_TOOL:
        return _answers(source, arguments, response, key)
    text = clean(response_text(response))
    return [source.event("tool_result", key, text, tool=tool, trust="tool", files=call_files(arguments))]


def call_failed(
    source: EventSource, tool: str, arguments: Mapping[str, Any], error: str, use: str
) -> tuple[list[Event], str]:
    """Return the events of a call that failed, and the error to recall for; no error if the user or host stopped it.

    An error is the tool's own text. It may repeat the host's words for a refusal, so it never counts as words of the
    user.
    """
    error = clean(error).removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
    if is_own_tool(tool, arguments) or error.startswith(NOT_RUN):
        return [], ""
    refused = error.startswith(REJECTED)
    code, error = exit_code(error)
    event = source.event(
        "tool_failure", _key(source, tool, arguments, use, error), error,
        tool=tool, command=shorten(text_of(arguments.get("command"))), exit_code=code, files=call_files(arguments),
        trust="tool",
    )  # fmt: skip
    return [event], "" if refused else error


def refusal(source: EventSource, tool: str, arguments: Mapping[str, Any], content: str, use: str) -> list[Event]:
    """Return the refused call without the user's words, and these as a prompt; nothing if there are none.

    Use it only for a host that marks the refusal in a place that no tool writes to.
    """
    if not content.startswith(REJECTED):
        return []
    sentence, _, words = content.partition(SAID)
    words = words.partition(HOST_NOTE)[0].strip()
    if not words or words.startswith(CLARIFIES):
        return []
    refused, _ = call_failed(source, tool, arguments, sentence + SAID, use)
    return [*refused, *said(source, "prompt", words, trust="person")]


def exit_code(error: str) -> tuple[int | None, str]:
    """Return the code in `Exit code N` at an error's start and the rest of it; None and the whole error without one."""
    head, _, rest = error.partition("\n")
    digits = head.removeprefix("Exit code ").strip()
    if head.startswith("Exit code ") and digits.isdecimal() and len(digits) < 6:
        return int(digits), rest
    return None, error


def with_usual_fields(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments, additionally under Claude Code's names."""
    return {**arguments, **{name: arguments[own] for name, own in FIELDS if own in arguments and name not in arguments}}


def exited(code: str, output: str) -> str:
    """Return the error of a command that ended with that code, as `call_failed` reads it; empty for 0 or no number."""
    return f"Exit code {int(code)}\n{output}" if code.strip().isdecimal() and int(code) else ""


def without_exit_line(output: str) -> tuple[str, str]:
    """Return a command's output without its last line about the exit code, and that code; empty without such a line.

    Copilot's lines are `<exited with exit code 1>` and `<shellId: 0 completed with exit code 1>`.
    """
    body, _, last = output.rstrip().rpartition("\n")
    if not (last.startswith(("<exited with exit code ", "<shellId: ")) and last.endswith(">")):
        return output, ""
    code = last[:-1].rpartition(" exit code ")[2]
    return body, code if code.isdecimal() else ""


def response_text(response: object) -> str:
    """Return the text of any tool's response: a string, content blocks, or the first known text field of an object."""
    if isinstance(response, str):
        return response
    if isinstance(response, list):
        return "\n".join(filter(None, (text_of(fields_of(block).get("text")) for block in response)))
    fields = fields_of(response)
    for name in ("content", "text", "result", "message", "error", "stdout"):
        text = response_text(fields[name]) if name in fields else ""
        if text:
            return text
    return ""


def _answers(source: EventSource, arguments: Mapping[str, Any], response: object, key: str) -> list[Event]:
    """Return the user's choices as events.

    One event has `question = answer` lines, each followed by what the agent wrote about the option. Each answer that is
    none of the options was typed by the user and is also a prompt.
    """
    fields = fields_of(response)
    answers = fields_of(fields.get("answers"))
    if not answers:
        return [source.event("tool_result", key, clean(response_text(response)), tool=QUESTION_TOOL, trust="person")]
    options = _options(fields.get("questions") or arguments.get("questions"))
    lines: list[str] = []
    typed: list[str] = []
    for question, answer in answers.items():
        words = clean(", ".join(map(text_of, answer)) if isinstance(answer, list) else text_of(answer))
        lines.append(f"{' '.join(question.split())} = {' '.join(words.split())}")
        labels = options.get(question, {})
        if labels.get(words):
            lines.append(f"{OPTION_MARK}{' '.join(labels[words].split())}")
        if labels and not _is_chosen(words, labels):
            typed.append(words)
    chosen = source.event("tool_result", key, "\n".join(lines), tool=QUESTION_TOOL, trust="person")
    return [chosen, *(event for words in typed for event in said(source, "prompt", words, trust="person"))]


def _options(questions: object) -> dict[str, dict[str, str]]:
    """Return for each question the labels of its options, with their descriptions."""
    return {
        text_of(question.get("question")): {
            text_of(option.get("label")): text_of(option.get("description"))
            for option in map(fields_of, _listed(question.get("options")))
        }
        for question in map(fields_of, _listed(questions))
    }


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_chosen(answer: str, labels: Iterable[str]) -> bool:
    """Return whether the answer consists of labels, separated by commas, which labels may contain too."""
    for label in sorted(labels, key=len, reverse=True):
        answer = answer.replace(label, "")
    return not answer.strip(" ,;")


def todo_text(todos: object) -> str:
    """Return one line for each to-do: `[x]` done, `[>]` in progress, `[ ]` open."""
    signs = {"completed": "[x]", "in_progress": "[>]"}
    items = [fields_of(todo) for todo in todos] if isinstance(todos, list) else []
    return "\n".join(
        f"{signs.get(text_of(item.get('status')), '[ ]')} {text_of(item.get('content'))}"
        for item in items
        if text_of(item.get("content"))
    )


def _key(source: EventSource, tool: str, arguments: Mapping[str, Any], use: str, outcome: str) -> str:
    """Return the call's key: by its id, otherwise by its minute, the call, the host's time and the outcome.

    Without time and outcome, a command that fails and passes within a minute would be kept once, as failed.
    """
    if use:
        return f"result:{use}"
    call = "\0".join((tool, str(sorted(arguments.items(), key=str)), source.occasion, outcome))
    return f"result:{minute_of(source.at)}:{digest(call)}"


def is_memory_file(path: str) -> bool:
    """Return whether a host keeps its agent's memory in that file."""
    plain = path.replace("\\", "/")
    if not plain.endswith(".md"):
        return False
    return any(mark in plain and rest in plain.partition(mark)[2] for mark, rest in MEMORY_FOLDERS)


def _memory_text(arguments: Mapping[str, Any]) -> str:
    """Return the words of a memory tool's call; empty for a deletion."""
    action = text_of(arguments.get("action") or arguments.get("Action")).lower()
    words = "\n".join(filter(None, (text_of(arguments.get(name)).strip() for name in MEMORY_FIELDS)))
    title = text_of(arguments.get("title") or arguments.get("Title")).strip()
    return "" if action == "delete" or not words else f"# {title}\n{words}" if title else words


def _remembered(source: EventSource, name: str, words: str, key: str) -> list[Event]:
    """Return what the agent saved in its host's memory: its own words, wherever the host keeps them."""
    return [source.event("tool_result", key, f"{name}\n{words}", tool=MEMORY_TOOL)] if words.strip() else []


def _edits(
    source: EventSource, tool: str, arguments: Mapping[str, Any], response: Mapping[str, Any], key: str
) -> list[Event]:
    files = call_files(arguments)
    if tool != "NotebookEdit" and files and is_memory_file(files[0]):
        words = "\n".join(_new_lines(old, new) for old, new in _pairs(tool, arguments, response))
        return _remembered(source, files[0].replace("\\", "/").rpartition("/")[2], words, key)
    return [
        source.event("file_edit", key if n == 0 else f"{key}.{n}", tool=tool, files=files,
                     old=shorten(old), new=shorten(new))
        for n, (old, new) in enumerate(_pairs(tool, arguments, response))
    ]  # fmt: skip


def _new_lines(old: str, new: str) -> str:
    """Return the new text without lines of the old one."""
    known = {line.strip() for line in old.splitlines() if line.strip()}
    return "\n".join(line for line in new.splitlines() if line.strip() not in known)


def _pairs(tool: str, arguments: Mapping[str, Any], response: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the texts that an edit replaced, each with its replacement."""
    if tool == "MultiEdit" and isinstance(arguments.get("edits"), list):
        edits = [fields_of(edit) for edit in arguments["edits"]]
        return [(text_of(edit.get("old_string")), text_of(edit.get("new_string"))) for edit in edits]
    if tool == "Write":
        return [(text_of(response.get("originalFile")), text_of(arguments.get("content")))]
    if tool == "NotebookEdit":
        return [("", text_of(arguments.get("new_source")))]
    return [(text_of(arguments.get("old_string")), text_of(arguments.get("new_string")))]


def _patched(source: EventSource, arguments: Mapping[str, Any], key: str) -> list[Event]:
    return [
        source.event("file_edit", key if n == 0 else f"{key}.{n}", tool=PATCH_TOOL, files=(part.path,),
                     old=shorten(part.old), new=shorten(part.new))
        for n, part in enumerate(parse_patch(text_of(arguments.get("patch"))))
    ]  # fmt: skip


def _command(source: EventSource, arguments: Mapping[str, Any], response: object, key: str) -> Event:
    fields = fields_of(response)
    parts = (text_of(fields.get("stdout")), text_of(fields.get("stderr"))) if fields else (response_text(response),)
    unknown = fields.get("interrupted") or fields.get("backgroundTaskId") or fields.get("returnCodeInterpretation")
    return source.event(
        "tool_result", key, clean("\n".join(filter(None, parts))),
        tool="Bash", command=shorten(text_of(arguments.get("command"))), exit_code=None if unknown else 0, trust="tool",
    )  # fmt: skip


def _look(source: EventSource, tool: str, arguments: Mapping[str, Any], response: Mapping[str, Any], key: str) -> Event:
    """Return the event of a file read or searched: which files, without their content (it is in the repository)."""
    text = text_of(arguments.get("pattern"))
    if tool in ("Read", "NotebookRead"):
        return source.event("tool_result", key, text, tool=tool, files=call_files(arguments), trust="tool")
    files = _found(arguments, response)
    if not files and response.get("numFiles") == 0 and not response.get("content") and text:
        text += "\n" + NOTHING_FOUND
    return source.event("tool_result", key, text, tool=tool, files=files, trust="tool")


def _found(arguments: Mapping[str, Any], response: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files that a search lists, or those that its lines (`src/a.py:12:def put`) begin with."""
    filenames = response.get("filenames")
    names = [name for name in filenames if isinstance(name, str)] if isinstance(filenames, list) else []
    content = text_of(response.get("content"))
    if not names and content:
        heads = (line.partition(":")[0] for line in content.split("\n")[:LINES_LIMIT] if ":" in line)
        names = list(dict.fromkeys(head for head in heads if head and not head.isdecimal() and " " not in head))
        names = names or list(call_files(arguments))
    return tuple(names[:FILES_LIMIT])
