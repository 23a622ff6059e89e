"""Writes src/holdfast/surfaces/mcp/offers.json: what the SDK's server answers a client that opens a connection.

python scripts/render_mcp_offers.py            writes the file
python scripts/render_mcp_offers.py --check    exit 1 when it is not up to date
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from holdfast._version import __version__
from holdfast.surfaces.mcp.door import LISTS

MCP = Path(__file__).resolve().parent.parent / "src" / "holdfast" / "surfaces" / "mcp"
TARGET = MCP / "offers.json"
VERSION = "@VERSION@"
CLIENT = {"name": "offers", "version": "1"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
SERVE = """
from holdfast.surfaces.mcp.door import Opening
from holdfast.surfaces.mcp.serving import Serving
Serving("", True).serve(Opening([]))
"""
"""The SDK's server without the door before it."""


def main() -> int:
    """0, or 1 when asked to check and the file is not up to date."""
    wanted = render()
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.exists() and TARGET.read_text(encoding="utf-8") == wanted else 1
    TARGET.write_text(wanted, encoding="utf-8")
    return 0


def render() -> str:
    """The whole file's text."""
    discover = ask({"method": "server/discover", "params": {"_meta": ENVELOPE}})
    initialize = ask({"method": "initialize", "params": HANDSHAKE})
    offers = {
        "initialize": {
            key: value for key, value in initialize.items() if key not in ("instructions", "protocolVersion")
        },
        **{name: ask({"method": name}, greeted=True) for name in LISTS},
        **{f"modern {name}": ask({"method": name, "params": {"_meta": ENVELOPE}}) for name in LISTS},
        "modern server/discover": without_instructions(discover),
    }
    return json.dumps(offers, indent=1, ensure_ascii=False).replace(json.dumps(__version__), f'"{VERSION}"') + "\n"


def without_instructions(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer without the text that `greeting` holds."""
    return {key: value for key, value in answer.items() if key != "instructions"}


def ask(request: dict[str, Any], greeted: bool = False) -> dict[str, Any]:
    """The result of one request to a server of its own."""
    messages = [{"jsonrpc": "2.0", "id": "asked", **request}]
    if greeted:
        opening = {"jsonrpc": "2.0", "id": "opening", "method": "initialize", "params": HANDSHAKE}
        messages = [opening, {"jsonrpc": "2.0", "method": "notifications/initialized"}, *messages]
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOLDFAST_HOME": home, "HOME": home}
        server = subprocess.Popen(
            [sys.executable, "-c", SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=home,
            env=environment, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        with server:
            server.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
            server.stdin.flush()
            for line in server.stdout:
                answer = json.loads(line)
                if answer.get("id") == "asked":
                    server.stdin.close()
                    return dict(answer["result"])
    raise RuntimeError(f"no answer to {request['method']}")


if __name__ == "__main__":
    sys.exit(main())
