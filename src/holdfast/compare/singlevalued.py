"""Lists slots that have one value in a project, the known values of each, and words that exclude each other."""

from __future__ import annotations

_SLOTS = {
    "package manager": (
        "npm, pnpm, yarn, bun",
        "pip, pip-tools, pipenv, poetry, uv, pdm, conda",
        "govendor, go modules, glide",
    ),
    "test runner": (
        "jest, vitest, mocha, jasmine, bun test, node test",
        "pytest, unittest",
        "nunit, xunit, mstest",
        "junit, testng",
        "rspec, minitest",
        "phpunit, pest",
    ),
    "browser tests": ("playwright, cypress, selenium, puppeteer, webdriverio, nightwatch",),
    "database": (
        "postgresql/postgres, mysql, mariadb, sqlite, mongodb/mongo, oracle, cockroachdb, dynamodb, h2,"
        " sql server/mssql, cassandra, firestore, duckdb",
        "redis, memcached, valkey",
    ),
    "linter": ("eslint, biome, oxlint, tslint", "flake8, pylint, ruff", "golangci-lint, staticcheck"),
    "formatter": ("prettier, dprint", "black, yapf", "gofmt, gofumpt, goimports"),
    "type checker": ("mypy, pyright, pyre, basedpyright",),
    "build tool": ("maven, gradle, sbt", "cmake, meson, xmake, autotools"),
    "bundler": ("webpack, vite, rollup, esbuild, parcel, turbopack, rspack, tsup",),
    "docs generator": ("sphinx, mkdocs, docusaurus, vitepress, jekyll, hugo, mdbook, antora",),
    "hosting": (
        "vercel, netlify, heroku, fly.io, cloudflare pages, github pages, railway, cloud run, app engine,"
        " firebase hosting",
    ),
    "object storage": (
        "s3/aws s3, r2/cloudflare r2, gcs/google cloud storage, azure blob storage, minio, backblaze b2",
    ),
    "runtime": ("node/node.js, deno",),
    "TLS library": ("openssl, rustls, boringssl, native-tls, gnutls, schannel",),
    "default branch": ("main, master",),
    "CI": ("github actions, travis/travis ci, circleci, jenkins, gitlab ci, buildkite, azure pipelines",),
    "module format": ("commonjs/cjs, esm/pure esm/es modules, umd",),
    "time zone": ("utc, local time",),
    "number type": ("float/floats, decimal/decimals, integer/integers/integer cents/cents",),
    "indentation": ("tabs, spaces",),
    "naming": ("snake_case, camelcase, kebab-case, pascalcase",),
}
"""Each slot's values, one string for each ecosystem: a project of two languages has two package managers. A slash
precedes another name of the same value."""

VALUES: dict[str, tuple[str, str]] = {
    name.strip(): (f"{slot} {number}" if number else slot, names.split("/")[0].strip())
    for slot, texts in _SLOTS.items()
    for number, values in enumerate(texts)
    for names in values.split(",")
    for name in names.split("/")
}
"""The slot of each known name, and the value that it names."""

_OPPOSITES = """
    before after, enable disable, allow deny, allow forbid, allow refuse, allow ignore, allow reject,
    accept reject, accept refuse, true false, sync async, synchronous asynchronous, up down, min max,
    minimum maximum, public private, required optional, mandatory optional, upper lower, uppercase lowercase,
    tabs spaces, single double, keep delete, keep remove, keep drop, include exclude, open closed, start stop,
    all none, local remote, above below, increase decrease, merge rebase, squash rebase, squash merge,
    safe unsafe, mutable immutable, lenient strict, ascending descending, past present, random deterministic,
    fail succeed, sequential parallel, serial parallel, blocking nonblocking, eager lazy, relative absolute,
    show hide, visible hidden, signed unsigned, inclusive exclusive, oldest newest, encrypted plain,
    always never, singular plural
    """

OPPOSITES: tuple[tuple[str, ...], ...] = tuple(tuple(pair.split()) for pair in _OPPOSITES.split(","))
"""Pairs of words that cannot both hold of one thing."""
