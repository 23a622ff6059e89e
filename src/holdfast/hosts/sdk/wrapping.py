"""Removes what hosts put around a person's words before they pass them to a model."""

from __future__ import annotations

WRAPPERS = ("user_query", "USER_REQUEST", "task", "user_input", "feedback", "user_message", "answer")
"""Tags whose content alone is the person's, if a text begins with one."""

AROUND = (
    "environment_details", "environment_context", "user_instructions", "INSTRUCTIONS", "recommended_plugins",
    "turn_aborted", "subagent_notification", "user_shell_command", "skill", "hook_context", "session_context",
    "system_reminder", "additional_context", "ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE", "EPHEMERAL_MESSAGE",
    "timestamp", "attached_files", "open_and_recently_viewed_files", "user_info", "project_layout", "additional_data",
    "system_notification", "git_status", "agent_skills", "slash_command",
)  # fmt: skip
"""Tags whose content a program wrote, at a line's beginning."""

REQUEST_HEADS = ("## My request for Codex:", "# My request for Codex:")
"""Lines that separate an editor's additions from the person's words."""

NOT_WORDS = ("# AGENTS.md instructions", "[ERROR] You did not use a tool", "[TASK RESUMPTION]")
"""Openings of texts in a person's place that a program wrote completely."""


def persons_words(text: str) -> str:
    """Return the person's part of a text in the user's place; empty if there is none."""
    for head in REQUEST_HEADS:
        text = text.partition(head)[2] if head in text else text
    if text.lstrip().startswith(NOT_WORDS):
        return ""
    text = without_blocks(text, AROUND).strip()
    for tag in WRAPPERS:
        if text.startswith((f"<{tag}>", f"<{tag} ")):
            # Only the host's own wrapper is removed. A wrapper inside it is somebody's text.
            inside = text.partition(">")[2]
            return (inside.rpartition(f"</{tag}>")[0] or inside).strip()
    return text


def without_blocks(text: str, tags: tuple[str, ...]) -> str:
    """Return the text without `<tag ...>...</tag>` at the beginning of a line; an unclosed one stays."""
    if "<" not in text:
        return text
    for tag in tags:
        start = _opening(text, tag, 0)
        while start >= 0:
            closing = f"</{tag.partition(' ')[0]}>"
            end = text.find(closing, start)
            if end < 0:
                break
            text = text[:start] + text[end + len(closing) :]
            start = _opening(text, tag, start)
    return text


def _opening(text: str, tag: str, begin: int) -> int:
    """Return where the next opening tag is that only blanks precede in its line; -1 for none."""
    start = text.find(f"<{tag}", begin)
    while start >= 0:
        line = text[text.rfind("\n", 0, start) + 1 : start]
        if text[start + len(tag) + 1 : start + len(tag) + 2] in (">", " ", "\n") and not line.strip():
            return start
        start = text.find(f"<{tag}", start + 1)
    return -1
