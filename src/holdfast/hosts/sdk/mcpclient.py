"""The base class of hosts that get only our MCP server; they differ in the file, the place in it and the entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.programs import OUR_MARKS, SERVER_NAME, server_words
from holdfast.ports.host import ConfigEdit, HostProfile, InstallPlan


class McpClient(Adapter):
    """An adapter without hooks. Subclasses define `profile` and `servers_file`, and override what differs."""

    servers: tuple[str, ...] = ("mcpServers",)
    """Keys from the top of the file to the object that holds the servers."""

    comments = False
    """Whether the host allows comments in that file."""

    @property
    def profile(self) -> HostProfile:
        """What the host can do, and where its files are."""
        raise NotImplementedError

    def servers_file(self, home: str) -> str:
        """Return the absolute path of the user's file that registers servers."""
        raise NotImplementedError

    def entry(self, words: Sequence[str]) -> Any:
        """Return the server's entry for its program and arguments."""
        return {"command": words[0], "args": list(words[1:])}

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edit of the user's file."""
        check_scope(self.name, scope)
        value = self.entry(server_words(command, self.name))
        edit = ConfigEdit(
            file=self.servers_file(home), path=self.servers, key=SERVER_NAME, value=value, **OUR_MARKS,
            comments=self.comments,
        )  # fmt: skip
        return InstallPlan(host=self.name, scope=scope, edits=(edit,), notes=self.profile.notes)
