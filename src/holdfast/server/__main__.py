"""The program that `holdfast serve` becomes: `<python> -I start.py holdfast.server.__main__ [check] [key=value …]`.

`move ORGANISATION PLACE` moves an organisation to another database, while servers go on.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from logging.config import dictConfig
from secrets import token_bytes

from starlette.types import ASGIApp

from holdfast.domain.team import FIRST_ORGANISATION, OrganisationId
from holdfast.errors import HoldfastError, StoreError
from holdfast.ports.team import TeamBackend, TeamServices
from holdfast.server.config import ServeSettings, load_serve_settings
from holdfast.server.cursorkey import load_cursor_key
from holdfast.server.logs import log_config, log_failure
from holdfast.server.running import serve
from holdfast.team.ownprojects import add_own_projects
from holdfast.wiring import SystemClock, open_backend


def main() -> None:
    """Serve until a signal ends it; exit with 1 and a message if that cannot be."""
    arguments = sys.argv[1:]
    is_check = arguments[:1] == ["check"]
    try:
        if arguments[:1] == ["move"]:
            move(int(arguments[1]), arguments[2])
            return
        settings = load_serve_settings(arguments[is_check:])
        dictConfig(log_config(settings.log_level, settings.log_format))
        with _open(settings) as backend:  # also brings its schema up to date
            backend.check()
            if settings.is_on_file and not is_check:
                _add_own_projects(backend)
        load_cursor_key(settings.common.home)  # before the workers, which would each make one
        if is_check:
            sys.stdout.write(f"fine: {settings.url}, {settings.worker_count} worker(s)\n")
            return
        serve(settings, make)
    except HoldfastError as exc:
        sys.stderr.write(f"error: {exc}\n" + (f"hint: {exc.hint}\n" if exc.hint else ""))
        sys.exit(1)


def _add_own_projects(backend: TeamBackend) -> None:
    """Have the server show the projects of a person's own memory file."""
    stores = backend.open(FIRST_ORGANISATION)
    with suppress(StoreError):  # a file that can only be read is served all the same
        add_own_projects(TeamServices(stores=stores, clock=SystemClock(), random_bytes=token_bytes))


def move(organisation: int, place: str) -> None:
    """Move an organisation to the place of that name in `serve.places`, or `home`. Raises HoldfastError."""
    settings = load_serve_settings()
    with _open(settings) as backend:
        rows = backend.move(OrganisationId(organisation), place)
    sys.stdout.write(f"organisation {organisation} is in {place}: {rows} rows moved\n")


def _open(settings: ServeSettings) -> TeamBackend:
    return open_backend(settings.common, replicas=settings.replicas, places=settings.places)


def make(settings: ServeSettings) -> ASGIApp:
    """Return the application of a worker process, which ends if it cannot be opened; another one is started then."""
    from holdfast.server.application import open_application  # late: who watches the workers needs none of it

    try:
        return open_application(settings)
    except HoldfastError as exc:
        log_failure("a worker could not start", exc, reason=str(exc))
        sys.exit(1)


if __name__ == "__main__":
    main()
