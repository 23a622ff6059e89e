"""The server's settings: where they come from, and which of them are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from holdfast.errors import InvalidValueError
from holdfast.server.config import KEYS, SECRETS, load_serve_settings

ROOT = Path(__file__).resolve().parents[2]


def write_config(home: Path, text: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(text)


def test_without_settings_only_this_machine_is_served(home: Path) -> None:
    settings = load_serve_settings()
    assert settings.is_loopback
    assert (settings.host, settings.port, settings.worker_count) == ("127.0.0.1", 7433, 1)
    assert settings.hosts == {"localhost", "127.0.0.1", "::1"}
    assert not settings.trusted_proxies


def test_an_argument_wins_over_a_variable_and_a_variable_over_the_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_config(home, "[serve]\nport = 1111\nthreads = 3\nconnections = 9\n")
    monkeypatch.setenv("HOLDFAST_SERVE_PORT", "2222")
    monkeypatch.setenv("HOLDFAST_SERVE_THREADS", "4")
    settings = load_serve_settings(["port=3333"])
    assert (settings.port, settings.threads, settings.connections) == (3333, 4, 9)


def test_every_key_and_secret_is_documented() -> None:
    page = (ROOT / "docs/reference/configuration.md").read_text()
    table = page.partition("[serve]\n")[2].partition("```")[0]
    assert re.findall(r"^(\w+) = ", table, re.MULTILINE) == list(KEYS)
    assert all(variable in page for variable in SECRETS.values())


def test_the_documented_values_are_the_defaults(home: Path) -> None:
    page = (ROOT / "docs/reference/configuration.md").read_text()
    write_config(home, "[serve]\n" + page.partition("[serve]\n")[2].partition("```")[0])
    documented, plain = load_serve_settings(), load_serve_settings([], {"HOLDFAST_HOME": str(home.parent / "x")})
    assert {key: getattr(documented, key) for key in KEYS} == {key: getattr(plain, key) for key in KEYS}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("prot = 1", "no key 'prot'"),
        ('port = "x"', "serve.port must be int"),
        ("port = true", "serve.port must be int"),
        ("port = 70000", "between 0 and 65535"),
        ("threads = 0", "between 1 and 256"),
        ("workers = 2", "one SQLite file is served by one process"),
        ('allowed_hosts = "x"', "a list of texts"),
        ('log_level = "loud"', "one of debug"),
        ('certificate = "/x"', "belong together"),
        ('certificate = "/x"\ncertificate_key = "/y"', "/x: No such file"),
        ('trusted_proxies = ["*"]', "trusted_proxies"),
        ('trusted_proxies = ["10.0.0.1/8"]', "trusted_proxies"),
        ('public_url = "memory.example.org"', "public_url must be like"),
        ('public_url = "https://x/y"', "public_url must be like"),
        ('public_url = "https://[x"', "public_url"),
        ('host = "0.0.0.0"', "no name is allowed"),
        ('host = "0.0.0.0"\npublic_url = "https://x"', "without TLS"),
        ('metrics_token = "s"', "is a secret"),
        ('oidc_secret = "s"', "is a secret"),
        ('oidc_issuer = "https://id"', "needs serve.oidc_client"),
        ('oidc_issuer = "http://id.example.org"\noidc_client = "c"\npublic_url = "https://x"', "https://"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_name(home: Path, config: str, message: str) -> None:
    write_config(home, f"[serve]\n{config}\n")
    with pytest.raises(InvalidValueError, match=re.escape(message)):
        load_serve_settings()


def test_a_table_that_is_none_is_refused(home: Path) -> None:
    write_config(home, "serve = 3\n")
    with pytest.raises(InvalidValueError, match="serve must be a table"):
        load_serve_settings()


@pytest.mark.parametrize(
    "config",
    [
        'host = "0.0.0.0"\npublic_url = "https://x"\ntrusted_proxies = ["10.0.0.0/8"]',
        'host = "::"\nallowed_hosts = ["x"]\nplain_http = true',
        'host = "127.0.0.9"',
        'host = "localhost"',
    ],
)
def test_a_server_that_others_may_reach_needs_a_name_and_tls(home: Path, config: str) -> None:
    write_config(home, f"[serve]\n{config}\n")
    load_serve_settings()


def test_secrets_come_from_files_and_are_never_shown(home: Path, tmp_path: Path) -> None:
    for name in ("store", "token", "oidc"):
        (tmp_path / name).write_text(f"postgresql://u:pass-{name}@h/d\n")
    settings = load_serve_settings(
        [],
        {
            "HOLDFAST_HOME": str(home),
            "HOLDFAST_STORE_FILE": str(tmp_path / "store"),
            "HOLDFAST_METRICS_TOKEN_FILE": str(tmp_path / "token"),
            "HOLDFAST_OIDC_SECRET_FILE": str(tmp_path / "oidc"),
        },
    )
    assert settings.common.store == "postgresql://u:pass-store@h/d"
    assert (settings.metrics_token, settings.oidc_secret) == (
        "postgresql://u:pass-token@h/d",
        "postgresql://u:pass-oidc@h/d",
    )
    assert "pass-" not in repr(settings)
    assert not settings.is_on_file
    assert settings.worker_count >= 1


def test_a_secret_file_that_is_not_there_is_named(home: Path) -> None:
    environment = {"HOLDFAST_HOME": str(home), "HOLDFAST_STORE_FILE": "/nowhere/store"}
    with pytest.raises(InvalidValueError, match="HOLDFAST_STORE_FILE: /nowhere/store: No such file"):
        load_serve_settings([], environment)
