"""Another time of day for the processes of a scratch machine: a small library that shifts what the C library tells."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long shift(void) {
    const char *text = getenv("SHIFTED_CLOCK_S");
    return text ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, at);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) at->tv_sec += shift();
    return status;
}

time_t time(time_t *out) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    if (out) *out = at.tv_sec;
    return at.tv_sec;
}

int gettimeofday(struct timeval *out, void *zone) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    if (out) { out->tv_sec = at.tv_sec; out->tv_usec = at.tv_nsec / 1000; }
    return 0;
}
"""


def build_shifted_clock(folder: Path) -> Path | None:
    """The library to preload; None where there is no C compiler, or preloading does not work."""
    compiler = shutil.which("cc")
    if not sys.platform.startswith("linux") or compiler is None:
        return None
    source, library = folder / "shifted.c", folder / "shifted.so"
    source.write_text(SOURCE)
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
    return library if subprocess.run(command, capture_output=True, check=False).returncode == 0 else None
