"""Tells what a command is for in a project: testing, building, linting, preparing for others, answering a question.

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
_BY_NAME = {name: purpose for purpose, names in reversed(_NAMES.items()) for name in names}

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
_PROBES = word_set(
    """
    grep egrep fgrep rg ag ack zgrep test [ [[ diff cmp which type command pgrep ls find cat head tail less stat file
    wc kill pkill killall expr jq awk sed cut sort uniq tr tee xargs echo printf true false sleep cd pushd popd export
    source . set unset pwd env date lsof ps nc ping host dig readlink realpath basename dirname tree du df hash column
    rm rmdir id whoami hexdump xxd od strings fd bat curl wget
    """
)
"""Programs whose exit status answers a question, or that only prepare other commands."""
_GIT_PROBES = word_set(
    """
    diff grep show show-ref merge-base rev-parse ls-files ls-remote ls-tree cat-file config log status check-ignore
    blame reflog remote branch for-each-ref describe rev-list symbolic-ref
    """
)
_PREPARES = re.compile(
    r"\b(?:install|sync|generate|gen|codegen|migrate|upgrade|init|tidy|download|vendor|bootstrap|setup|link|start|up"
    r"|login|build|restore|clean|prune|enable|trust|compile|ci|prisma|submodule|seed|createdb|reset)\b"
)
"""Words of a command that prepares for other commands."""
_NO_STEP = re.compile(r"^(?:git (?!submodule|lfs)|gh |cd |rm |mkdir |touch |cp |mv |kill|pkill|sleep|chmod|echo|cat )")
"""Commands that change only this session's files, branches and processes; a later session does not need them."""


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
    names = [word for word in words[1:4] if word not in _IDLE and not word.startswith("-")][:2]
    for name in names:
        parts = [part.lower() for part in _PARTS.split(name) if part]
        candidates = (name.lower(), parts[0], parts[-1]) if len(parts) > 1 else (name.lower(),)
        if purpose := next((_BY_NAME[part] for part in candidates if part in _BY_NAME), ""):
            return purpose
    return ""


def is_probe(line: str) -> bool:
    """Return whether the simple command answers a question with its exit status, or only prepares."""
    words = _bare(line).split(None, 4)
    if not words:
        return True
    if words[0] == "git":
        rest = [word for word in words[1:] if not word.startswith("-") and "/" not in word]
        return not rest or rest[0] in _GIT_PROBES
    return words[0] in _PROBES


def is_preparing(line: str) -> bool:
    """Return whether the command installs, generates, starts or migrates something that later commands need."""
    return bool(_PREPARES.search(line)) and not _NO_STEP.match(line) and not is_probe(line)


def _bare(line: str) -> str:
    """Return the command without leading assignments and wrappers, its program without folder."""
    words = line.strip().split()
    while words and (words[0] in ("sudo", "time", "env", "command") or re.match(r"\w+=", words[0])):
        words = words[1:]
    if words and words[0] == "timeout":
        words = words[2:]
    return " ".join([words[0].rpartition("/")[2], *words[1:]]) if words else ""
