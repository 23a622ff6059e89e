"""How each host is pointed at the scripted model without an account, and how one prompt is given to it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.hosts_live.lab import Machine

FOLDER = "HOLDFAST_HOST_PROGRAMS"
"""Variable: a folder with the hosts' programs (npm's `node_modules/.bin`), looked in before the PATH."""


class Program:
    """A host's program."""

    name = ""
    """The adapter's name."""
    command = ""
    package = ""
    """Its npm package."""
    has_hooks = True
    trusts = False
    """It runs a hook only when the user has approved it."""

    def path(self) -> str | None:
        """Where the program is; None where it is not installed."""
        folder = os.environ.get(FOLDER, "")
        return shutil.which(self.command, path=os.pathsep.join(filter(None, (folder, os.environ.get("PATH", "")))))

    def version(self, environment: dict[str, str]) -> str:
        """The version it tells, digits and points only; empty when it tells none."""
        ran = subprocess.run(
            [str(self.path()), "--version"], env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        number = re.search(r"\d+\.\d+\.\d+", ran.stdout)
        return number[0] if number else ""

    def prepare(self, machine: Machine) -> None:
        """Write the configuration a user would have."""

    def environment(self, machine: Machine) -> dict[str, str]:
        """Variables of every run."""
        return {}

    def words(self, machine: Machine, prompt: str, resumed: bool) -> list[str]:
        """The command line after the program's name."""
        raise NotImplementedError


class ClaudeCode(Program):
    """Claude Code."""

    name, command, package = "claude-code", "claude", "@anthropic-ai/claude-code"

    def environment(self, machine: Machine) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": machine.model.url, "ANTHROPIC_API_KEY": "sk-ant-api03-mock",
            "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }  # fmt: skip

    def words(self, machine: Machine, prompt: str, resumed: bool) -> list[str]:
        allowed = "Bash,Edit,Read,Write,mcp__holdfast__recall,mcp__holdfast__remember"
        again = ["--continue"] if resumed else []
        return ["-p", prompt, *again, "--permission-mode", "acceptEdits", "--allowedTools", allowed]


class Codex(Program):
    """OpenAI Codex."""

    name, command, package = "codex", "codex", "@openai/codex"
    trusts = True

    def environment(self, machine: Machine) -> dict[str, str]:
        return {"MOCK_KEY": "x"}

    def prepare(self, machine: Machine) -> None:
        machine.write(
            ".codex/config.toml",
            f'model = "gpt-5.5"\nmodel_provider = "mock"   # mine\n\n[model_providers.mock]\nname = "Mock"\n'
            f'base_url = "{machine.model.url}/v1"\nwire_api = "responses"\nenv_key = "MOCK_KEY"\n\n'
            f'[projects."{machine.repository}"]\ntrust_level = "trusted"\n',
        )

    def words(self, machine: Machine, prompt: str, resumed: bool) -> list[str]:
        again = ["resume", "--last"] if resumed else []
        return ["exec", *again, "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt]


class GeminiCli(Program):
    """Gemini CLI, whose settings file holds comments."""

    name, command, package = "gemini-cli", "gemini", "@google/gemini-cli"

    def environment(self, machine: Machine) -> dict[str, str]:
        return {
            "GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": machine.model.url, "GEMINI_CLI_TRUST_WORKSPACE": "true"
        }  # fmt: skip

    def prepare(self, machine: Machine) -> None:
        machine.write(
            ".gemini/settings.json",
            '{\n  // mine\n  "security": {"auth": {"selectedType": "gemini-api-key"}},\n'
            '  "general": {"enableAutoUpdate": false}, /* no surprises */\n'
            '  "privacy": {"usageStatisticsEnabled": false}\n}\n',
        )

    def words(self, machine: Machine, prompt: str, resumed: bool) -> list[str]:
        again = ["--resume", "latest"] if resumed else []
        return [*again, "-m", "gemini-2.5-flash", "--yolo", "-p", prompt]


class Opencode(Program):
    """opencode."""

    name, command, package = "opencode", "opencode", "opencode-ai"

    def environment(self, machine: Machine) -> dict[str, str]:
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}

    def prepare(self, machine: Machine) -> None:
        limits = {"name": "Mock", "tool_call": True, "limit": {"context": 200_000, "output": 8_000}}
        provider = {
            "npm": "@ai-sdk/openai-compatible", "name": "Mock", "models": {"mock": limits},
            "options": {"baseURL": f"{machine.model.url}/v1", "apiKey": "x"},
        }  # fmt: skip
        settings = {"model": "mock/mock", "provider": {"mock": provider}}
        machine.write(".config/opencode/opencode.json", json.dumps(settings, indent=2) + "\n")

    def words(self, machine: Machine, prompt: str, resumed: bool) -> list[str]:
        return ["run", *(["--continue"] if resumed else []), prompt]


class CopilotCli(Program):
    """GitHub Copilot CLI."""

    name, command, package = "copilot-cli", "copilot", "@github/copilot"

    def environment(self, machine: Machine) -> dict[str, str]:
        return {
            "COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"{machine.model.url}/v1", "COPILOT_MODEL": "mock",
            "COPILOT_PROVIDER_API_KEY": "x", "COPILOT_AUTO_UPDATE": "false", "COPILOT_ALLOW_ALL": "true",
        }  # fmt: skip

    def words(self, machine: Machine, prompt: str, resumed: bool) -> list[str]:
        again = ["--continue"] if resumed else []
        return [*again, "--allow-all-tools", "--allow-all-paths", "-p", prompt]


class Cline(Program):
    """Cline's command line. It resumes in a terminal only, so every prompt is a session of its own."""

    name, command, package = "cline", "cline", "cline"

    def environment(self, machine: Machine) -> dict[str, str]:
        return {"CLINE_TELEMETRY_DISABLED": "1"}

    def prepare(self, machine: Machine) -> None:
        machine.run([str(self.path()), "auth", "--provider", "openai-compatible", "--apikey", "x", "--baseurl",
                     f"{machine.model.url}/v1", "--modelid", "mock"], self.environment(machine))  # fmt: skip

    def words(self, machine: Machine, prompt: str, resumed: bool) -> list[str]:
        return ["-P", "openai-compatible", "-m", "mock", "-c", str(machine.repository), prompt]


class Continue(Program):
    """Continue's command line, which has no hooks."""

    name, command, package = "continue-dev", "cn", "@continuedev/cli"
    has_hooks = False

    def environment(self, machine: Machine) -> dict[str, str]:
        return {"CONTINUE_TELEMETRY_ENABLED": "0"}

    def prepare(self, machine: Machine) -> None:
        machine.write(
            ".continue/config.yaml",
            "name: mine\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: mock  # mine\n    provider: openai\n"
            f"    model: mock\n    apiBase: {machine.model.url}/v1\n    apiKey: x\n    useResponsesApi: false\n"
            "    roles: [chat, edit, apply]\n    capabilities: [tool_use]\n",
        )

    def words(self, machine: Machine, prompt: str, resumed: bool) -> list[str]:
        config = str(machine.home / ".continue" / "config.yaml")
        return [*(["--resume"] if resumed else []), "--config", config, "--auto", "-p", prompt]


PROGRAMS: tuple[Program, ...] = (
    ClaudeCode(), Codex(), GeminiCli(), CopilotCli(), Opencode(), Cline(), Continue(),
)  # fmt: skip
