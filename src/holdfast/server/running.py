"""Binds the address and runs the processes that answer there, until a signal ends them.

One process answers by itself. With more, this process only watches: it replaces a worker that died, and on SIGHUP it
replaces all, one after the other, which reads certificates again. SIGTERM and SIGINT stop the server: no new
connection is taken, streams of events end, and requests have `stop_s` to end.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable
from functools import partial
from types import FrameType

import uvicorn
from starlette.types import ASGIApp
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

from holdfast.errors import HoldfastError
from holdfast.server.config import ServeSettings
from holdfast.server.logs import log, log_config
from holdfast.server.slowness import LimitedConfig, LimitedProtocol

BACKLOG = 1_024
HEAD_BYTES = 32_768
"""Most bytes of a request's head."""
LATE_S = 5.0
"""How long a worker may outlive `stop_s` before it is killed."""
KEEP_ALIVE_S = 20
"""How long a connection is kept for its next request."""
HEALTHCHECK_S = 30
"""How long a busy worker may leave the watching process without an answer."""


def serve(settings: ServeSettings, make: Callable[[ServeSettings], ASGIApp]) -> None:
    """Serve until a signal ends it. `make` builds the application in each process, and can be pickled.

    Raises HoldfastError if the address cannot be taken or a worker cannot start.
    """
    config = _configure(settings, make)
    with _bind(settings) as listening:
        log(logging.INFO, "listening", address=_address(listening, settings), workers=settings.worker_count)
        if settings.worker_count == 1:
            _serve_alone(config, listening)
        else:
            _serve_by_workers(config, listening, settings.stop_s)


def _configure(settings: ServeSettings, make: Callable[[ServeSettings], ASGIApp]) -> LimitedConfig:
    config = LimitedConfig(
        partial(make, settings),
        factory=True,
        http=LimitedProtocol,
        ws="none",
        lifespan="on",
        loop="asyncio",
        workers=settings.worker_count,
        log_config=log_config(settings.log_level, settings.log_format),
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        backlog=BACKLOG,
        h11_max_incomplete_event_size=HEAD_BYTES,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=max(1, round(settings.stop_s)),
        timeout_worker_healthcheck=HEALTHCHECK_S,
        ssl_certfile=settings.certificate or None,
        ssl_keyfile=settings.certificate_key or None,
    )
    config.request_s, config.send_s, config.connections = settings.request_s, settings.send_s, settings.connections
    return config


def _bind(settings: ServeSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except OSError as exc:
        reason = (exc.strerror or str(exc)).partition(" (")[0]
        raise HoldfastError(
            f"{settings.host}:{settings.port}: {reason}", hint="another port: --port, or [serve] port"
        ) from exc


def _address(listening: socket.socket, settings: ServeSettings) -> str:
    host, port = listening.getsockname()[:2]
    scheme = "https" if settings.certificate else "http"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _serve_alone(config: LimitedConfig, listening: socket.socket) -> None:
    server = uvicorn.Server(config)

    def reload(number: int, frame: FrameType | None) -> None:
        if config.ssl is not None:
            config.ssl.load_cert_chain(str(config.ssl_certfile), str(config.ssl_keyfile))
        log(logging.INFO, "reloaded")

    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, reload)
    server.run([listening])
    if not server.started:
        raise HoldfastError("the server could not start; its log has the reason")


def _serve_by_workers(config: LimitedConfig, listening: socket.socket, stop_s: float) -> None:
    from holdfast.server.metrics import FOLDER  # only after the variable below is set

    numbers = tempfile.mkdtemp(prefix="holdfast-metrics-")
    os.environ[FOLDER] = numbers
    try:
        supervisor = Supervisor(config, [listening], stop_s)
        supervisor.run()
    finally:
        shutil.rmtree(numbers, ignore_errors=True)
    if supervisor.has_failed:
        raise HoldfastError("a worker could not start; its log has the reason")


class Supervisor(Multiprocess):
    """uvicorn's watch over workers, which also ends workers that do not end by themselves."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket], stop_s: float) -> None:
        super().__init__(config, sockets)
        self._patience_s = stop_s + LATE_S
        self._told_to_stop = False

    @property
    def has_failed(self) -> bool:
        """Whether the workers were given up, without a signal."""
        return not self._told_to_stop

    def handle_term(self) -> None:
        """Stop all workers."""
        self._told_to_stop = True
        self.should_exit.set()

    handle_int = handle_term

    def keep_subprocess_alive(self) -> None:
        """Replace workers that died."""
        before: list[Process] = list(self.processes)
        super().keep_subprocess_alive()
        for old in self._forget_gone(before):
            log(logging.WARNING, "a worker died", worker=old.pid, code=old.exitcode)

    def restart_all(self) -> None:
        """Replace all workers, one after the other."""
        before: list[Process] = list(self.processes)
        super().restart_all()
        self._forget_gone(before)
        log(logging.INFO, "reloaded")

    def _forget_gone(self, before: list[Process]) -> list[Process]:
        """Forget what processes that are gone were counting; return them."""
        gone = [old for old in before if old not in self.processes]
        for old in gone:
            _forget(old.pid or 0)
        return gone

    def join_all(self) -> None:
        """Wait for the workers, and kill what has not ended in time."""
        for worker in self.processes:
            worker.process.join(self._patience_s)
            if worker.process.is_alive():
                log(logging.WARNING, "a worker had to be killed", worker=worker.pid)
                worker.process.kill()
                worker.process.join()


def _forget(pid: int) -> None:
    from holdfast.server.metrics import forget_process

    forget_process(pid)
