"""How hosts are told before any adapter is loaded: to load all of them would cost a hook too much.

Made from the hosts' profiles by `scripts/render_host_marks.py`; edit those, not this file.
"""

from __future__ import annotations

FOLDER_VARIABLES: tuple[tuple[str, str], ...] = (
    ("claude-code", "CLAUDE_CONFIG_DIR"),
    ("codex", "CODEX_HOME"),
    ("continue-dev", "CONTINUE_GLOBAL_DIR"),
    ("copilot-cli", "COPILOT_HOME"),
    ("junie", "JUNIE_HOME"),
)
"""Hosts and the variables that move the folder they keep their files in."""

STARTED_VARIABLES: tuple[tuple[str, str], ...] = (
    ("COPILOT_CLI", "copilot-cli"),
    ("CURSOR_VERSION", "cursor"),
    ("GEMINI_SESSION_ID", "gemini-cli"),
    ("DEVIN_PROJECT_DIR", "devin-cli"),
    ("ANTIGRAVITY_CONVERSATION_ID", "antigravity"),
    ("CLAUDECODE", "claude-code"),
)
"""Variables by which hosts mark what they start, a host that is started inside of another before that one."""

SESSION_VARIABLES: tuple[tuple[str, str], ...] = (("CLAUDE_CODE_SESSION_ID", "claude-code"),)
"""Variables with the session's id, and the hosts that set them for the MCP servers they start."""

CLIENT_NAMES: tuple[tuple[str, str], ...] = (
    ("claude-ai", "claude-desktop"),
    ("continue-client", "continue-dev"),
    ("devin", "devin-cli"),
    ("github-copilot", "copilot-cli"),
    ("visual-studio-code", "vscode"),
)
"""Beginnings of names of MCP clients that are not called like their host's adapter."""

IMITATED: tuple[str, ...] = ("claude-code",)
"""Hosts in whose files other hosts look for hooks too."""

CONTEXT_FILES: tuple[str, ...] = (
    ".github/copilot-instructions.md",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
)
"""Files with standing rules that hosts put into an agent's context."""

SKILL_FOLDERS: tuple[str, ...] = (".claude/skills",)
"""Folders of a project in which hosts look for Agent Skills."""

UNMARKED = "codex"
"""The host that calls where none is marked."""
