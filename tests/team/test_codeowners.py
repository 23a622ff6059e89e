"""The examples of GitHub's page about code owners, and what it says around them."""

from __future__ import annotations

import pytest

from holdfast.team.codeowners import owners_of

EXAMPLE = """\
# This is a comment.
*       @global-owner1 @global-owner2

*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats

/build/logs/ @doctocat
docs/* docs@example.com
apps/ @octocat
/docs/ @doctocat2
/scripts/ @doctocat @octocat
**/logs @octocat

/apps/ @octocat
/apps/github
/apps/github/owned @Doctocat
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("README", "global-owner1 global-owner2"),
        ("deep/er/README", "global-owner1 global-owner2"),
        ("app.js", "js-owner"),
        ("web/src/app.js", "js-owner"),
        ("main.go", "docs@example.com"),
        ("notes.txt", "octo-org/octocats"),
        ("build/logs/today/a.bin", "octocat"),  # **/logs comes later
        ("docs/getting-started.md", "doctocat2"),
        ("docs/build-app/troubleshooting.md", "doctocat2"),
        ("apps/main.c", "octocat"),
        ("lib/apps/main.c", "octocat"),
        ("scripts/run", "doctocat octocat"),
        ("lib/scripts/run", "global-owner1 global-owner2"),
        ("deeply/nested/logs/a", "octocat"),
        ("apps/github", ""),
        ("apps/github/a.c", ""),
        ("apps/github/owned/a.c", "doctocat"),
        ("Apps/main.c", "global-owner1 global-owner2"),
    ],
)
def test_the_last_pattern_that_matches_names_the_owners(path: str, owners: str) -> None:
    assert owners_of(EXAMPLE, path) == tuple(owners.split())


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("docs/*", ["docs/a.md"], ["docs/b/c.md", "x/docs/a.md", "docs"]),
        ("/*", ["a"], ["a/b"]),
        ("*", ["a", "a/b", "a/b/c"], []),
        ("apps/", ["apps/a", "x/apps/a/b"], ["apps", "x/apps"]),
        ("/docs/", ["docs/a/b"], ["x/docs/a", "docs"]),
        ("**/logs", ["logs/a", "a/b/logs/c", "logs"], ["logsx/a"]),
        ("/a/**/z", ["a/z", "a/b/c/z", "a/b/z/file"], ["x/a/z"]),
        ("a/**", ["a/b", "a/b/c"], ["b/a"]),
        ("src/api", ["src/api", "src/api/x"], ["x/src/api", "src/apis"]),
        ("api", ["api", "src/api/x"], ["src/apis"]),
        ("/src/*.py", ["src/a.py"], ["src/b/a.py"]),
        ("fil?.c", ["file.c", "x/fils.c"], ["fil.c"]),
        (r"my\ notes/", ["my notes/a"], ["my/a"]),
    ],
)
def test_patterns(pattern: str, matching: list[str], others: list[str]) -> None:
    for path in matching:
        assert owners_of(f"{pattern} @ada", path) == ("ada",), path
    for path in others:
        assert owners_of(f"{pattern} @ada", path) == (), path


@pytest.mark.parametrize(
    "line", ["!a @eve", r"\#a @eve", "[ab] @eve", "a eve", "a @eve nonsense", "@", "# a @eve", " "]
)
def test_a_line_that_is_not_valid_is_skipped(line: str) -> None:
    for path in ("a", "b", "#a", "!a"):
        assert owners_of(f"* @ada\n{line}\n", path) == ("ada",)


def test_a_pattern_without_owners_takes_them_away() -> None:
    assert owners_of("* @ada\n/free\n", "free/x") == ()
    assert owners_of("/free\n* @ada\n", "free/x") == ("ada",)


def test_many_stars_take_no_long_time() -> None:
    pattern = "/".join(["**/a*a*a*b"] * 40)
    assert owners_of(f"{pattern} @ada", "/".join(["aaaaaaaaaaaaaaaaaaaaaaaac"] * 60)) == ()


def test_an_empty_file_names_nobody() -> None:
    assert owners_of("", "a") == ()
