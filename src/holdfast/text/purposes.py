"""Tells what a command is for in a project: testing, building, linting and so on.

Tools are known by name. For a runner of scripts (npm, make, mise, gradle ...) the name of the script decides.
"""

from __future__ import annotations

import re

from holdfast.text.shell import command_target
from holdfast.text.words import word_set

PURPOSES: dict[str, str] = {
    "test": "Tests", "build": "Build", "lint": "Lint", "format": "Format", "typecheck": "Type check",
    "migrate": "Migrations", "generate": "Generated code", "install": "Dependencies", "run": "Start",
}  # fmt: skip
"""Each purpose with the word that opens its line, in the order of a command card."""

_RUNNERS = word_set(
    """
    npm pnpm yarn bun deno make gmake just mise task gradle gradlew mvn mvnw rake mix composer nx turbo invoke inv nox
    tox poe hatch lein sbt cabal dotnet cargo rails ant bazel melos moon lerna grunt gulp meson ninja rush
    earthly dagger
    """
)
"""Programs that run scripts which a project names itself."""
_IDLE = word_set("run run-script exec x --filter -w workspace workspaces tool all")
_NAMES = {
    "test": word_set("test tests t spec check-tests unit e2e integration test-unit verify vitest jest pytest testing"),
    "build": word_set("build compile assemble package bundle dist b"),
    "lint": word_set("lint linter eslint clippy vet check-lint"),
    "format": word_set("fmt format prettier formatting fix-format"),
    "typecheck": word_set("typecheck type-check types tsc check-types typing mypy typecheck-all"),
    "migrate": word_set("migrate migration migrations migrate-up"),
    "generate": word_set("generate gen codegen generate-types prisma-generate"),
    "install": word_set("install ci sync bootstrap setup"),
    "run": word_set("dev start serve server watch preview"),
}
"""Usual names of scripts. In `test:ci` the part before the sign counts, in `db:migrate` the part after it."""

_TOOLS = {
    "test": r"(?:pytest|py\.test|unittest|nosetests|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|pest|ctest|karma|bats"
    r"|gotestsum|ginkgo|stestr|playwright test|cypress run|go test|cargo (?:test|nextest run)|dotnet test|swift test"
    r"|mix test|flutter test|dart test|stack test|zig build test|manage\.py test|rails test|deno test)",
    "migrate": r"(?:alembic upgrade|prisma (?:migrate|db push)|knex migrate|drizzle-kit (?:migrate|push)|sqlx migrate"
    r"|typeorm migration|goose|dbmate|flyway migrate|manage\.py migrate|rails db:migrate|dotnet ef database"
    r"|diesel migration)",
    "generate": r"(?:go generate|buf generate|protoc|prisma generate|sqlc generate|orval|openapi-generator"
    r"|graphql-codegen)",
    "format": r"(?:gofmt|gofumpt|goimports|prettier|black|isort|ruff format|cargo fmt|rustfmt|dotnet format"
    r"|biome format|terraform fmt|mix format|shfmt|clang-format|ktlint -F|dprint fmt|stylua|swiftformat)",
    "typecheck": r"(?:mypy|pyright|basedpyright|tsc|vue-tsc|pyre|srb tc|cargo check|svelte-check|dialyzer|ty check)",
    "lint": r"(?:golangci-lint(?: run)?|ruff(?: check)?|eslint|flake8|pylint|rubocop|cargo clippy|shellcheck|oxlint"
    r"|biome (?:check|lint|ci)|stylelint|hadolint|markdownlint\S*|go vet|pre-commit run|vale|actionlint|yamllint|tflint"
    r"|terraform validate|staticcheck|swiftlint|detekt|ktlint|credo|standard|xo)",
    "build": r"(?:go build|cargo build|dotnet build|swift build|cmake --build|vite build|next build|nuxt build|webpack"
    r"|rollup|esbuild|tsup|docker (?:compose )?build|flutter build|zig build|hugo|mkdocs build|sphinx-build|zig build)",
    "install": r"(?:go mod (?:download|tidy)|uv sync|uv pip install|poetry install|pipenv install|pdm install"
    r"|bundle install"
    r"|bundle|pip install|composer install|pod install|terraform init|dotnet restore|mix deps\.get|cargo fetch)",
    "run": r"(?:docker compose up|uvicorn|gunicorn|flask run|manage\.py runserver|next dev|vite|nuxt dev|rails server"
    r"|rails s|cargo run|go run|dotnet run|streamlit run|fastapi (?:dev|run)|wrangler dev|terraform plan)",
}
_TOOL = {purpose: re.compile(rf"(?:python )?(?:\S*/)?{tools}(?=\s|$)") for purpose, tools in _TOOLS.items()}
_PARTS = re.compile(r"[:./_]|(?<=\w)-(?=\w)")
_PACKAGES = re.compile(r"^(?:npm|pnpm|yarn|bun) (?:install|i|ci|add)\b")
_PACKAGE = re.compile(r"\b(?:npm|pnpm|yarn|bun) (?:\S+ )*?(?:install|i|ci|add)(?: -\S+)* [^-\s]")
"""The installation of one package, which is no way to install a project's dependencies."""


def purpose_of(line: str) -> str:
    """Return the purpose of the simple command; empty for a command that no command card lists."""
    target = command_target(line)
    words = target.split()
    if not words:
        return ""
    if "--help" in line or "--version" in line or words[-1] in ("help", "version"):
        return ""
    if _PACKAGES.match(target):
        return "" if _PACKAGE.search(line) else "install"
    if words[0] in _RUNNERS and (named := _of_script(words)):
        return named
    return next((purpose for purpose, tool in _TOOL.items() if tool.match(target)), "")


def is_wrapper(line: str) -> bool:
    """Return whether the command names a script of the project instead of the tool behind it."""
    words = command_target(line).split()
    return bool(words) and words[0] in _RUNNERS - {"cargo", "dotnet", "deno"}


def _of_script(words: list[str]) -> str:
    names = [word for word in words[1:4] if word not in _IDLE and not word.startswith("-")]
    for name in names[:2]:
        for purpose, known in _NAMES.items():
            if name.lower() in known:
                return purpose
        parts = [part.lower() for part in _PARTS.split(name) if part]
        for part in (parts[:1] + parts[-1:]) if len(parts) > 1 else ():
            for purpose, known in _NAMES.items():
                if part in known:
                    return purpose
    return ""
