"""Slots that have one value in a project, the values known for each, and words that exclude each other."""

from __future__ import annotations

_SLOTS = {
    "package manager": "npm, pnpm, yarn, bun, pip, pip-tools, pipenv, poetry, uv, pdm, conda, bundler, composer, govendor,"
    " dep, go modules, glide",
    "test runner": "jest, vitest, mocha, jasmine, ava, pytest, unittest, nose, nunit, xunit, mstest, junit, testng, rspec,"
    " minitest, phpunit, pest, go test, cargo test, bun test, node test",
    "browser tests": "playwright, cypress, selenium, puppeteer, webdriverio, nightwatch",
    "database": "postgresql, postgres, mysql, mariadb, sqlite, mongodb, oracle, cockroachdb, dynamodb, h2, mssql,"
    " sql server, redis, memcached, valkey, cassandra, firestore, duckdb",
    "linter": "eslint, biome, oxlint, flake8, pylint, ruff, golangci-lint, staticcheck, clippy, rubocop, tslint, standard",
    "formatter": "prettier, black, gofmt, gofumpt, goimports, yapf, rustfmt, dprint, clang-format",
    "type checker": "mypy, pyright, pyre, basedpyright",
    "build tool": "maven, gradle, ant, bazel, cmake, make, meson, ninja, sbt, mill, buck, xmake",
    "bundler": "webpack, vite, rollup, esbuild, parcel, turbopack, rspack, tsup",
    "docs generator": "sphinx, mkdocs, docusaurus, vitepress, jekyll, hugo, mdbook, antora",
    "hosting": "vercel, netlify, heroku, fly.io, cloudflare pages, github pages, render, railway, cloud run, app engine,"
    " firebase hosting",
    "object storage": "s3, aws s3, cloudflare r2, r2, gcs, google cloud storage, azure blob storage, minio, backblaze b2",
    "runtime": "node, deno, node.js",
    "TLS library": "openssl, rustls, boringssl, native-tls, gnutls, schannel",
    "default branch": "main, master, trunk, develop",
    "CI": "github actions, travis, travis ci, circleci, jenkins, gitlab ci, buildkite, azure pipelines, drone",
    "module format": "commonjs, cjs, esm, pure esm, es modules, umd",
    "time zone": "utc, local time, gmt",
    "number type": "float, floats, decimal, decimals, integer cents, cents",
    "indentation": "tabs, spaces",
    "naming": "snake_case, camelcase, kebab-case, pascalcase",
    "license": "mit, apache-2.0, gpl, agpl, bsd, mpl",
}  # fmt: skip

VALUES: dict[str, str] = {value.strip(): slot for slot, values in _SLOTS.items() for value in values.split(",")}
"""The slot of each known value."""

_OPPOSITES = """
    before after, enable disable, allow deny, allow forbid, allow refuse, allow ignore, allow reject, accept reject,
    accept refuse, true false, sync async, synchronous asynchronous, up down,
    min max, minimum maximum, public private, required optional, mandatory optional, upper lower,
    uppercase lowercase, tabs spaces, single double, keep delete, keep remove, keep drop, include exclude, open closed,
    start stop, all none, local remote, above below, increase decrease, merge rebase, squash rebase,
    squash merge, safe unsafe, mutable immutable, lenient strict, ascending descending, past present, random deterministic,
    fail succeed, sequential parallel, serial parallel, blocking nonblocking, eager lazy, relative absolute, show hide,
    visible hidden, signed unsigned, inclusive exclusive, oldest newest, encrypted plain, always never, singular plural
    """

OPPOSITES: tuple[tuple[str, ...], ...] = tuple(tuple(pair.split()) for pair in _OPPOSITES.split(","))
"""Pairs of words of which only one can hold of one thing."""
