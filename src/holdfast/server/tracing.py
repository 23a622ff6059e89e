"""Traces by OpenTelemetry, where the environment names a collector (`OTEL_EXPORTER_OTLP_ENDPOINT`).

A span is a request: its method, the template of its route, its status, and ids. Without a collector nothing is
imported and nothing is sent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast._version import __version__
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""Variables of the OpenTelemetry specification; one of them switches traces on."""


class Span:
    """One request's span; without a collector it does nothing."""

    def __init__(self, span: Any = None) -> None:
        self._span = span

    def end_with(self, route: str, status: int, ids: Mapping[str, str]) -> None:
        """Name the span after its route, and state what became of the request."""
        if self._span is None:
            return
        self._span.update_name(f"{self._span.attributes['http.request.method']} {route}")
        self._span.set_attribute("http.route", route)
        self._span.set_attribute("http.response.status_code", status)
        for name, value in ids.items():
            self._span.set_attribute(f"holdfast.{name}", value)


class Tracing:
    """The tracer of this process."""

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("holdfast", __version__) if provider else None

    @contextmanager
    def span(self, method: str) -> Iterator[Span]:
        """Yield the span of a request."""
        if self._tracer is None:
            yield Span()
            return
        from opentelemetry.trace import SpanKind  # part of an extra; there is a tracer only where it is installed

        with self._tracer.start_as_current_span(
            method, kind=SpanKind.SERVER, attributes={"http.request.method": method}, record_exception=False
        ) as span:
            yield Span(span)

    def close(self) -> None:
        """Send what waits."""
        if self._provider is not None:
            self._provider.shutdown()


def open_tracing(environ: Mapping[str, str] | None = None) -> Tracing:
    """Return the tracer for the collector that the environment names. Raises HoldfastError without the extra."""
    env = os.environ if environ is None else environ
    if not any(env.get(name) for name in ENDPOINTS):
        return Tracing()
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as exc:
        raise HoldfastError(
            "traces need OpenTelemetry, which is not installed", hint="pip install 'holdfast-memory[otel]'"
        ) from exc
    provider = TracerProvider(resource=Resource.create({"service.name": "holdfast", "service.version": __version__}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Tracing(provider)
