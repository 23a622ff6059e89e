"""The program that `holdfast ui` becomes: `<python> -I start.py holdfast.surfaces.web.__main__ FOLDER PORT [open]`."""

from __future__ import annotations

import os
import socket
import sys
import webbrowser
from contextlib import suppress
from threading import Timer

import uvicorn

from holdfast.bootstrap import Memory
from holdfast.errors import HoldfastError, InvalidValueError, StoreError
from holdfast.home.spool import drain
from holdfast.surfaces.web.local import ENTER, LocalEntrance, local_app

HOST = "127.0.0.1"
OPEN_AFTER_S = 0.3
"""Seconds after which the browser is opened: the server answers by then, or the browser waits for it."""
CLOSE_S = 1
"""Seconds that open requests may take once the person ends the program."""
STORE_WAIT_S = 3.0
"""Seconds that a page waits for another process that writes, before it says that the memory is busy."""


def main() -> None:
    """Serve until Ctrl-C; exit with 1 and a message if the memory cannot be opened or the port is taken."""
    folder, port, *options = sys.argv[1:]
    try:
        with Memory(folder, brief=True, wait_s=STORE_WAIT_S) as memory:
            with suppress(StoreError):  # a store that can only be read is shown all the same
                drain(memory, memory.settings.run_path)
            serve(memory, int(port), is_opening="open" in options)
    except HoldfastError as exc:
        sys.stderr.write(f"error: {exc}\n" + (f"hint: {exc.hint}\n" if exc.hint else ""))
        sys.exit(1)


def serve(memory: Memory, port: int, *, is_opening: bool) -> None:
    """Answer this machine's browsers until interrupted. Raises InvalidValueError where the port is taken."""
    project = memory.location.project
    with listen(port) as line:
        real = line.getsockname()[1]
        entrance = LocalEntrance(memory, port=real)
        url = f"http://{HOST}:{real}"
        link = f"{url}{ENTER}{entrance.key}"
        opener = Timer(OPEN_AFTER_S, open_browser, [link])
        opener.daemon = True
        sys.stdout.write(f"The memory of {project.name} ({memory.folder}) is at\n\n  {link}\n\n")
        sys.stdout.write("The link works once, in one browser. Only this machine can reach it. Ctrl-C ends it.\n")
        sys.stdout.flush()
        if is_opening and has_screen():
            opener.start()
        config = uvicorn.Config(
            local_app(entrance), log_config=None, access_log=False, server_header=False, date_header=False,
            timeout_graceful_shutdown=CLOSE_S, lifespan="on", ws="none",
        )  # fmt: skip
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[line])
        opener.cancel()
    sys.stdout.write("Ended.\n")


def listen(port: int) -> socket.socket:
    """Return a socket that listens on that port of the loopback interface; 0 chooses a free one."""
    line = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name != "nt":  # there it would let two programs share a port
            line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        line.bind((HOST, port))
        line.listen()
    except OSError as exc:
        line.close()
        raise InvalidValueError(
            f"port {port} of this machine cannot be used: {exc.strerror}", hint="leave out --port, or choose another"
        ) from exc
    return line


def has_screen() -> bool:
    """Return whether a browser may open a window: without a screen `webbrowser` starts one in this terminal."""
    is_own = os.name == "nt" or sys.platform == "darwin"
    return is_own or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def open_browser(link: str) -> None:
    """Open the person's browser, if there is one; the printed link is there in any case."""
    with suppress(webbrowser.Error, OSError):
        webbrowser.open(link)


if __name__ == "__main__":
    main()
