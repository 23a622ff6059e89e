"""The files of `deploy`: parsed, checked, and what they start is started as written, as far as this machine can."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from holdfast.server.config import KEYS, PREFIX, SECRETS, load_serve_settings
from tests.server.serving import WAIT_S, Server

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
UNIT, COMPOSE, IMAGE = DEPLOY / "holdfast.service", DEPLOY / "compose.yaml", DEPLOY / "Dockerfile"
INSTALLED = "/opt/holdfast/bin/holdfast"
PROGRAM = Path(sys.executable).with_name("holdfast")
SPECIFIERS = re.compile(r"%([Sd])")
needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")


def unit_lines() -> list[tuple[str, str]]:
    """Keys and values of the unit's section Service, in order."""
    section = UNIT.read_text().partition("[Service]\n")[2].partition("\n[")[0]
    pairs = (line.partition("=") for line in section.splitlines() if line and not line.startswith("#"))
    return [(key, value) for key, _, value in pairs]


def values(key: str) -> list[str]:
    return [value for name, value in unit_lines() if name == key]


def known_variables() -> set[str]:
    """Every variable that the server reads."""
    plain = {"HOLDFAST_HOME", "HOLDFAST_STORE", *SECRETS.values(), *(PREFIX + key.upper() for key in KEYS)}
    return plain | {f"{name}_FILE" for name in ("HOLDFAST_STORE", *SECRETS.values())}


@needs_systemd
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace(INSTALLED, str(PROGRAM)))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=WAIT_S)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@needs_systemd
def test_the_unit_exposes_little() -> None:
    command = ["systemd-analyze", "security", "--offline=yes", "--threshold=15", "--no-pager", str(UNIT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 0, done.stdout[-500:]


def test_the_unit_s_section_is_one_that_a_parser_reads() -> None:
    parser = RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNIT)
    assert set(parser.sections()) == {"Unit", "Service", "Install"}
    assert parser["Service"]["ExecStart"] == f"{INSTALLED} serve"


def test_the_unit_s_program_runs_as_written(tmp_path: Path) -> None:
    state, credentials = tmp_path / "lib", tmp_path / "credentials"
    (state / "holdfast").mkdir(parents=True, mode=0o700)
    credentials.mkdir()
    (loaded,) = values("LoadCredential")
    (credentials / loaded.partition(":")[0]).write_text(f"sqlite:///{state}/holdfast/team.db\n")

    def expand(text: str) -> str:
        folders = {"S": str(state), "d": str(credentials)}
        return SPECIFIERS.sub(lambda match: folders[match[1]], text).replace(INSTALLED, str(PROGRAM))

    environment = {
        "PATH": "/usr/bin:/bin", "HOLDFAST_SERVE_PORT": "0", "HOLDFAST_SERVE_LOG_FORMAT": "json",
        **dict(expand(line).split("=", 1) for line in values("Environment")),
    }  # fmt: skip
    (folder,) = values("WorkingDirectory")
    (before,), (start,), (reload,) = values("ExecStartPre"), values("ExecStart"), values("ExecReload")
    where: dict[str, Any] = {"env": environment, "cwd": expand(folder), "text": True}
    checked = subprocess.run(shlex.split(expand(before)), capture_output=True, timeout=WAIT_S, **where)
    assert (checked.returncode, checked.stderr) == (0, "")
    process = subprocess.Popen(
        shlex.split(expand(start)), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True, **where
    )
    try:
        server = Server(process)
        assert server.get("/v1/ready").status_code == 200
        subprocess.run(shlex.split(reload.replace("$MAINPID", str(process.pid))), check=True, timeout=WAIT_S)
        server.wait_for("reloaded")
        assert server.stop(signal.SIGTERM) in (0, -signal.SIGTERM)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    server.close()
    assert load_serve_settings([], environment).common.store == f"sqlite:///{state}/holdfast/team.db"


def test_the_unit_names_only_variables_that_the_server_reads() -> None:
    assert {line.partition("=")[0] for line in values("Environment")} <= known_variables()


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())
    return parsed


def test_only_the_proxy_is_reached_from_outside(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert compose["networks"]["inside"]["internal"]
    assert services["database"]["networks"] == ["inside"]
    (subnet,) = compose["networks"]["outside"]["ipam"]["config"]
    environment = services["server"]["environment"]
    assert environment["HOLDFAST_SERVE_TRUSTED_PROXIES"] == subnet["subnet"]


def test_the_compose_file_refers_only_to_what_it_has(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert set(service.get("secrets", [])) <= set(compose["secrets"]), name
        assert set(service.get("networks", [])) <= set(compose["networks"]), name
        assert set(service.get("depends_on", {})) <= set(compose["services"]), name
        assert {volume.partition(":")[0] for volume in service.get("volumes", [])} <= set(compose["volumes"]), name
        assert not service.get("image", "x:1").endswith(":latest")
        assert ":" in service.get("image", "x:1")
    built = compose["services"]["server"]["build"]
    assert (COMPOSE.parent / built["context"] / built["dockerfile"]).resolve() == IMAGE


def test_no_secret_is_in_the_compose_file(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        for name, value in service.get("environment", {}).items():
            assert not re.search("password|secret|token", name.lower()) or name.endswith("_FILE")
            assert "@" not in str(value)


def image_lines(instruction: str) -> list[str]:
    """Arguments of an instruction of the image's last stage."""
    text = IMAGE.read_text().replace("\\\n", " ").rpartition("\nFROM ")[2]
    return [line.partition(" ")[2] for line in text.splitlines() if line.startswith(f"{instruction} ")]


def test_what_the_containers_are_told_can_be_set(compose: dict[str, Any]) -> None:
    variables = dict(pair.split("=", 1) for line in image_lines("ENV") for pair in shlex.split(line))
    variables |= compose["services"]["server"]["environment"]
    assert set(variables) <= known_variables()
    variables["HOLDFAST_SERVE_PUBLIC_URL"] = re.sub(
        r"\$\{.*\}", "memory.example.org", variables["HOLDFAST_SERVE_PUBLIC_URL"]
    )
    variables["HOLDFAST_STORE_FILE"] = "/dev/null"
    settings = load_serve_settings([], variables)
    assert settings.url == "https://memory.example.org"
    assert not settings.is_loopback


def test_the_image_s_program_and_its_probe_run_as_written(home: Path) -> None:
    (entry,), (probe,) = image_lines("ENTRYPOINT"), image_lines("HEALTHCHECK")
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = str(reserved.getsockname()[1])
    program, *arguments = json.loads(entry)
    assert program == "holdfast"
    environment = {**os.environ, "HOLDFAST_SERVE_PORT": port, "HOLDFAST_SERVE_LOG_FORMAT": "json"}
    process = subprocess.Popen(
        [str(PROGRAM), *arguments], env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        start_new_session=True,
    )  # fmt: skip
    python, *code = json.loads(probe[probe.index("[") :].replace("7433", port))
    assert python == "python"
    try:
        server = Server(process)
        subprocess.run([sys.executable, *code], check=True, capture_output=True, timeout=WAIT_S)
        server.stop()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    server.close()
    assert subprocess.run([sys.executable, *code], capture_output=True, timeout=WAIT_S).returncode == 1


def test_the_image_runs_as_nobody_in_particular() -> None:
    assert image_lines("USER") == ["holdfast"]
    assert image_lines("EXPOSE") == ["7433"]
