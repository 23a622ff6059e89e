"""Aider: no MCP client and no hooks; it reads a file of conventions that its configuration names.

Set-up makes it read `CONVENTIONS.md`, in which `holdfast rules sync` maintains a block. Aider only warns if the file is
missing.

Sources: aider.chat/docs, conventions and YAML config file; 2026-11-21. Not run here.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence

from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.ports.host import ConfigEdit, Host, HostProfile, InstallPlan, RulesTarget

CONFIG = ".aider.conf.yml"
RULES = "CONVENTIONS.md"


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Aider()


class Aider(Adapter):
    """The adapter for Aider; implements `ports.host.Host`."""

    name = "aider"
    folders = (CONFIG, ".aider")
    keeps_transcripts = True

    @property
    def profile(self) -> HostProfile:
        """What Aider can do and where."""
        return HostProfile(
            title="Aider",
            transcripts=".aider.chat.history.md in each project",
            grows_by_lines=False,
            transcript_files=(".aider.chat.history.md",),
            transcript_marks=(("#aiderchatstartedat",),),
            rules=(RulesTarget(file=RULES),),
            notes=("Aider has neither MCP nor hooks: it reads what `holdfast rules sync` writes.",),
            sources=("aider.chat/docs/usage/conventions.html, 2026-11-21", "not run"),
        )

    def find(self, home: str) -> str:
        """Return its configuration or program, or an empty string."""
        return super().find(home) or shutil.which("aider") or ""

    def find_in_project(self, root: str) -> Sequence[str]:
        """Return a project's history."""
        path = os.path.join(root, ".aider.chat.history.md")
        return (path,) if os.path.isfile(path) else ()

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edit that adds the conventions file to what Aider reads, for all projects or for one."""
        check_scope(self.name, scope, ("user", "project"))
        file = os.path.join(folder if scope == "project" else home, CONFIG)
        edit = ConfigEdit(file=file, path=("read",), value=RULES, ours=RULES)
        return InstallPlan(host=self.name, scope=scope, edits=(edit,), notes=self.profile.notes)
