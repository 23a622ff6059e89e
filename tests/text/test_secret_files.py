"""Files made to hold secrets are known by their globs, though no glob is matched where a hook asks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.globs import HARMLESS, SECRET_FILES, fits, is_ignored, mentions_secrets

NAMES = (
    ".env", ".env.", ".env.local", "prod.env", "env", "x.pem", ".key", "monkey", "id_rsa", "id_rsa.pub", "my_id_rsa",
    "client_secret.json", "client_secret_1.json", "client_secretjson", "service-account.json", "service_account-x.json",
    "terraform.tfstate", "terraform.tfstate.backup", "main.tfvars", "credentials", "credentials.md", ".aws", ".ssh",
    ".gnupg", "config", "src", "", "secrets.yml", "secrets.yml.example", "**", "*",
)  # fmt: skip


@given(st.lists(st.sampled_from(NAMES) | st.text(".*/envkjsonpi_-", max_size=8), max_size=4).map("/".join))
def test_a_path_is_secret_where_one_of_the_globs_fits(path: str) -> None:
    expected = not path.endswith(HARMLESS) and any(fits(path, glob) for glob in SECRET_FILES)
    assert is_ignored(path, ()) is expected


@pytest.mark.parametrize("glob", SECRET_FILES)
def test_each_glob_is_of_a_form_that_is_distinguished(glob: str) -> None:
    path = glob.replace("**", "in").replace("*", "x")
    assert is_ignored(path, ())
    assert glob.count("*") <= 1 or glob == f"**/{glob.strip('*/')}/**"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat .env", True),
        ("cat deploy/PROD.ENV", True),
        ("grep key='config/id_rsa' notes", True),
        ("cat .env.example", False),
        ("make credentials", False),  # a word without a dot, a line or a slash is hardly a file
        ("cat ./credentials", True),
        (" ".join(["src/a.py"] * 200) + " .env", False),  # no further than 200 words
        (" ".join(["src/a.py"] * 199) + " .env", True),
    ],
)
def test_a_command_mentions_secrets_by_a_word_that_names_such_a_file(command: str, expected: bool) -> None:
    assert mentions_secrets(command) is expected
