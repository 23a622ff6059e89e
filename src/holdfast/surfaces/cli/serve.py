"""`serve`: starts the server by its name, so that the command line loads no web server."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import click

from holdfast.errors import HoldfastError
from holdfast.settings import isolated, load_settings
from holdfast.surfaces.cli.becoming import become
from holdfast.surfaces.cli.frame import Call, command, group

PROGRAM = "holdfast.server.__main__"
NEEDED = ("jinja2", "prometheus_client", "sse_starlette", "starlette", "uvicorn")
"""What the extra `server` installs and every server needs."""
NEEDED_FOR_POSTGRESQL = ("psycopg", "psycopg_pool")
OPTIONS = ("host", "port", "workers", "certificate", "certificate_key", "public_url")
"""Settings that are options too; all of them can be set in the config file and the environment."""


@group(
    "holdfast serve",
    "holdfast serve --port 8080",
    "HOLDFAST_STORE=postgresql://holdfast@db.example.org/holdfast holdfast serve --workers 4",
    "holdfast serve check",
    "holdfast serve --help",
    invoke_without_command=True,
)
@click.option("--host", metavar="ADDRESS", help="Listen at this address.  [default: 127.0.0.1]")
@click.option("--port", metavar="PORT", type=click.IntRange(0, 65_535), help="Listen at this port.  [default: 7433]")
@click.option("--workers", metavar="N", type=click.IntRange(0), help="Answer in this many processes.")
@click.option("--certificate", metavar="FILE", help="The certificate of HTTPS, with its chain, as PEM.")
@click.option("--certificate-key", metavar="FILE", help="The certificate's private key, as PEM.")
@click.option("--public-url", metavar="URL", help="The address under which people reach the server.")
def serve(call: Call, **options: Any) -> None:
    """Run the server: REST, MCP over HTTP and sign-in.

    With a PostgreSQL URL as the store (HOLDFAST_STORE) it serves a team. Without one it serves this person's own
    memory file, to this machine only. `[serve]` in the config file has more settings.
    """
    _check_packages()
    become(isolated(PROGRAM, *_arguments(options)))


@command("holdfast serve check", of=serve, name="check", folder=False, json=False)
def check(call: Call) -> None:
    """Check the settings, the certificate and the database, and end: before a server starts or is restarted."""
    _check_packages()
    become(isolated(PROGRAM, "check"))


def _arguments(options: dict[str, Any]) -> list[str]:
    return [f"{name}={options[name]}" for name in OPTIONS if options[name] is not None]


def _check_packages() -> None:
    """Raise HoldfastError if a package that the server needs is not installed."""
    is_postgresql = load_settings().store.partition(":")[0] in ("postgresql", "postgres")
    needed = (*NEEDED, *(NEEDED_FOR_POSTGRESQL if is_postgresql else ()))
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise HoldfastError(
            f"holdfast serve needs packages that are not installed: {', '.join(missing)}",
            hint="pip install 'holdfast-memory[server]'",
        )
