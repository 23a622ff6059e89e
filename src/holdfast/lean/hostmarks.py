"""Facts that identify a host before its adapter is loaded: loading all adapters would cost a hook too much.

`scripts/render_host_marks.py` generates this file from the hosts' profiles; edit those.
"""

from __future__ import annotations

FOLDER_VARIABLES: tuple[tuple[str, str], ...] = (
    ("claude-code", "CLAUDE_CONFIG_DIR"),
    ("codex", "CODEX_HOME"),
    ("continue-dev", "CONTINUE_GLOBAL_DIR"),
    ("copilot-cli", "COPILOT_HOME"),
    ("junie", "JUNIE_HOME"),
)
"""Hosts, and the variables that move the folders with their files."""

STARTED_VARIABLES: tuple[tuple[str, str], ...] = (
    ("COPILOT_CLI", "copilot-cli"),
    ("CURSOR_VERSION", "cursor"),
    ("GEMINI_SESSION_ID", "gemini-cli"),
    ("DEVIN_PROJECT_DIR", "devin-cli"),
    ("ANTIGRAVITY_CONVERSATION_ID", "antigravity"),
    ("CLAUDECODE", "claude-code"),
)
"""Variables that hosts set for the processes they start; a host inside another comes before the outer one."""

SESSION_VARIABLES: tuple[tuple[str, str], ...] = (("CLAUDE_CODE_SESSION_ID", "claude-code"),)
"""Variables with the session's id, and the hosts that set them for the MCP servers they start."""

CLIENT_NAMES: tuple[tuple[str, str], ...] = (
    ("claude-ai", "claude-desktop"),
    ("continue-client", "continue-dev"),
    ("devin", "devin-cli"),
    ("github-copilot", "copilot-cli"),
    ("visual-studio-code", "vscode"),
)
"""Beginnings of the names of MCP clients that differ from their host's adapter."""

IMITATED: tuple[str, ...] = ("claude-code",)
"""Hosts whose files other hosts also search for hooks."""

CONTEXT_FILES: tuple[str, ...] = (
    ".github/copilot-instructions.md",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
)
"""Files with standing rules that hosts put into an agent's context."""

UNMARKED = "codex"
"""The host that is assumed where no mark is found."""
