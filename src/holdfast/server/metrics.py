"""Counts of requests for Prometheus. Labels are methods, templates of routes and statuses, never words of a request.

With several workers each process writes its numbers into files of one folder, and `/v1/metrics` sums them up.
prometheus-client decides that when it is imported, by a variable that `running` sets before it starts the workers.
"""

from __future__ import annotations

import os

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
    multiprocess,
)

from holdfast._version import __version__

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable with the folder of several workers' numbers."""
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The numbers of one process."""

    def __init__(self) -> None:
        # when a series began would double the number of lines
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "holdfast_requests", "Requests by method, route and status.", ("method", "route", "status"),
            registry=self._registry,
        )  # fmt: skip
        self.seconds = Histogram(
            "holdfast_request_seconds", "Time from a request's head to the end of its answer.", ("method", "route"),
            buckets=BUCKETS, registry=self._registry,
        )  # fmt: skip
        self.open = Gauge(
            "holdfast_requests_open", "Requests that are being answered.",
            multiprocess_mode="livesum", registry=self._registry,
        )  # fmt: skip
        build = Gauge(
            "holdfast_build", "The version that runs.", ("version",),
            multiprocess_mode="liveall", registry=self._registry,
        )  # fmt: skip
        build.labels(__version__).set(1)

    def render(self) -> bytes:
        """Return the numbers of all workers, in Prometheus' text format."""
        if not os.environ.get(FOLDER):
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


MEDIA_TYPE = CONTENT_TYPE_LATEST


def forget_process(pid: int) -> None:
    """Drop what counts only while a process lives, after its end."""
    if os.environ.get(FOLDER):
        multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]
