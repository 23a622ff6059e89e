"""`serve`: starts the server by its name, so that the command line loads no web server; and founds organisations."""

from __future__ import annotations

import getpass
import sys
from importlib.util import find_spec
from secrets import token_bytes
from typing import TYPE_CHECKING, Any

import click

from holdfast.domain.team import FIRST_ORGANISATION, ORGANISATION_RECORD, Organisation
from holdfast.errors import HoldfastError
from holdfast.lean.texts import file_of
from holdfast.settings import Settings, isolated, load_settings
from holdfast.surfaces.cli.becoming import become
from holdfast.surfaces.cli.frame import Call, command, group
from holdfast.surfaces.cli.screen import note, say
from holdfast.team import founding

if TYPE_CHECKING:
    from holdfast.ports.team import TeamBackend

PROGRAM = "holdfast.server.__main__"
NEEDED = ("prometheus_client",)
"""What the extra `server` installs and every server needs."""
NEEDED_FOR_POSTGRESQL = ("psycopg", "psycopg_pool")
OPTIONS = ("host", "port", "workers", "certificate", "certificate_key", "public_url")
"""Settings that are options too; all of them can be set in the config file and the environment."""


@group(
    "holdfast serve",
    "holdfast serve --port 8080",
    "HOLDFAST_STORE=postgresql://holdfast@db.example.org/holdfast holdfast serve --workers 4",
    "holdfast serve bootstrap --name Acme --admin Ada",
    "holdfast serve check",
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
    memory file, to this machine only, and the first start prints a token for it. `[serve]` in the config file has
    more settings.
    """
    settings = load_settings()
    _check_packages(settings)
    if file_of(settings.store):
        _found_for_one_person(settings)
    become(isolated(PROGRAM, *_arguments(options)))


@command("holdfast serve check", of=serve, name="check", folder=False, json=False)
def check(call: Call) -> None:
    """Check the settings, the certificate and the database, and end: before a server starts or is restarted."""
    _check_packages(load_settings())
    become(isolated(PROGRAM, "check"))


@command(
    "holdfast serve move 2 east",
    "holdfast serve move 2 home",
    of=serve, name="move", folder=False, json=False,
)  # fmt: skip
@click.argument("organisation", type=click.IntRange(1))
@click.argument("place")
def move(call: Call, organisation: int, place: str) -> None:
    """Move an organisation to another database, while servers go on.

    PLACE is a name in `serve.places`, or `home` for the database of HOLDFAST_STORE. Clients that write wait for the
    end. Every server has to know the place. A move that was interrupted is completed by the same command.
    """
    _check_packages(load_settings())
    become(isolated(PROGRAM, "move", str(organisation), place))


@command(
    "holdfast serve bootstrap --name Acme --admin Ada --email ada@example.org",
    "holdfast serve bootstrap --another --name 'Acme Labs' --admin Grace",
    "holdfast serve bootstrap --new-key",
    of=serve, name="bootstrap", folder=False,
)  # fmt: skip
@click.option("--name", default="", help="The organisation's name.")
@click.option("--admin", default="", help="The name of its first admin.")
@click.option("--email", default="", help="The first admin's address, by which single sign-on knows them.")
@click.option("--another", is_flag=True, help="Make a further organisation, on a PostgreSQL server.")
@click.option("--new-key", is_flag=True, help="Print a new key for an admin of the first organisation.")
def bootstrap(call: Call, name: str, admin: str, email: str, another: bool, new_key: bool) -> None:
    """Make the server's first organisation and its admin, and print one key.

    The key is shown only now. With it the admin invites everybody else.
    """
    if new_key == bool(name):
        raise click.UsageError("give either --name and --admin, or --new-key alone")
    if name and not admin:
        raise click.UsageError("give the name of the first admin: --admin")
    settings = load_settings()
    _check_packages(settings)
    with _open(settings) as backend:
        if new_key:
            member, text = founding.new_key(backend, _clock(), token_bytes)
            printed: dict[str, Any] = {"member": member.id, "name": member.name, "key": text}
        else:
            make = founding.add_organisation if another else founding.bootstrap
            founded = make(backend, _clock(), token_bytes, name=name, admin=admin, email=email)
            printed = {
                "organisation": founded.number, "member": founded.member.id, "name": founded.member.name,
                "key": founded.text,
            }  # fmt: skip
    if call.answer(printed):
        return
    note(f"The key of {printed['name']}, an admin. It is shown only now:")
    say(str(printed["key"]))


def _found_for_one_person(settings: Settings) -> None:
    """Make the organisation of a person's own memory file at the first start, and print its token once."""
    with _open(settings) as backend:
        if backend.open(FIRST_ORGANISATION).records.get(Organisation, ORGANISATION_RECORD) is not None:
            return
        person = _user_name()
        founded = founding.bootstrap(backend, _clock(), token_bytes, name=f"{person}'s memory", admin=person)
    note("The token of this server, for your own programs. It is shown only now:")
    say(founded.text)
    sys.stdout.flush()


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a service's user may have no name
        return "owner"


def _open(settings: Settings) -> TeamBackend:
    from holdfast.wiring import open_backend  # late, so that help stays quick

    return open_backend(settings)


def _clock() -> Any:
    from holdfast.wiring import SystemClock

    return SystemClock()


def _arguments(options: dict[str, Any]) -> list[str]:
    return [f"{name}={options[name]}" for name in OPTIONS if options[name] is not None]


def _check_packages(settings: Settings) -> None:
    """Raise HoldfastError if a package that the server needs is not installed."""
    is_postgresql = settings.store.partition(":")[0] in ("postgresql", "postgres")
    needed = (*NEEDED, *(NEEDED_FOR_POSTGRESQL if is_postgresql else ()))
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise HoldfastError(
            f"holdfast serve needs packages that are not installed: {', '.join(missing)}",
            hint="pip install 'holdfast-memory[server]'",
        )
