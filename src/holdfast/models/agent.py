"""Runs the user's own agent program in headless mode: its account, its model, no tools, our hooks off.

Option `command`: the program and its arguments as a JSON list, as `ports.host.Headless` describes them; options
`answer`, `cost` and `error`: the fields of its JSON output. Bootstrap takes them from the host's profile.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence

from holdfast.errors import InvalidValueError, ModelError, ModelUnavailableError
from holdfast.lean.hostmarks import SESSION_VARIABLES, STARTED_VARIABLES
from holdfast.models._http import ANSWER_LIMIT, required
from holdfast.ports.plugins import Completion, LanguageModel

REASONS = (
    ("asks for a login", ("log in", "login", "sign in", "authenticate", "api key", "unauthorized")),
    ("has reached the limit of its account", ("usage limit", "rate limit", "quota", "credit balance", "overloaded")),
    ("cannot reach its service", (
        "connection error", "econnrefused", "enotfound", "eai_again", "etimedout", "getaddrinfo", "could not resolve",
        "network error", "network is unreachable", "connection refused", "fetch failed", "unable to connect",
    )),
)  # fmt: skip
"""Why a program cannot answer whatever it is asked, and words by which its output shows that."""


class Agent:
    """Runs the program once for each prompt, in an empty folder, where it reads no repository's files."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._command = _command(required(options, "command"))
        self._answer, self._cost = options.get("answer", ""), options.get("cost", "")
        self._error = options.get("error", "")
        self.id = options.get("id") or os.path.basename(self._command[0])

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        """Return the agent's answer. Raises ModelError, also if the program asks for a login or writes too much."""
        with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
            answer_file = os.path.join(folder, "answer.txt")
            command = [word.replace("{answer}", answer_file) for word in self._command]
            by_argument = any("{prompt}" in word for word in command)
            command = [word.replace("{prompt}", prompt) for word in command]
            out = self._run(command, "" if by_argument else prompt, folder, timeout_s)
            if any("{answer}" in word for word in self._command):
                out = _load(answer_file)
        return self._parse(out)

    def _run(self, command: Sequence[str], prompt: str, folder: str, timeout_s: float) -> str:
        # Output goes to files, so that a program that writes without end cannot fill the memory.
        out_path, error_path, prompt_path = (os.path.join(folder, name) for name in ("out", "error", "prompt"))
        environment = _environment()
        with open(prompt_path, "w+b") as stdin, open(out_path, "wb") as out, open(error_path, "wb") as error:
            stdin.write(prompt.encode("utf-8", "replace"))
            stdin.seek(0)
            work = os.path.join(folder, "empty")
            os.mkdir(work)
            try:
                child = subprocess.Popen(
                    command, stdin=stdin, stdout=out, stderr=error, cwd=work, env=environment, start_new_session=True
                )
            except OSError as exc:
                raise ModelUnavailableError(
                    f"{self.id} cannot be started: {exc.strerror}", hint="holdfast distil models"
                ) from None
            try:
                status = child.wait(timeout_s)
            except subprocess.TimeoutExpired:
                _kill(child)
                raise ModelError(f"{self.id} did not answer within {timeout_s:.0f} s") from None
            except BaseException:  # Ctrl-C does not reach the program, which is in a session of its own
                _kill(child)
                raise
        if os.path.getsize(out_path) > ANSWER_LIMIT:
            raise ModelError(f"{self.id} answered more than {ANSWER_LIMIT:,} bytes")
        text = _load(out_path)
        if status != 0:
            raise self._failure(text[-2_000:] + _load(error_path)[-2_000:], f"ended with status {status}")
        return text

    def _failure(self, output: str, otherwise: str) -> ModelError:
        """Return the error that the program's output shows, or `otherwise`."""
        low = output.lower()
        reason = next((reason for reason, words in REASONS if any(word in low for word in words)), "")
        if not reason:
            return ModelError(f"{self.id} {otherwise}")
        program = os.path.basename(self._command[0])
        hint = f"start {program} once and log in" if reason == REASONS[0][0] else ""
        return ModelUnavailableError(f"{program} {reason}", hint=hint)

    def _parse(self, out: str) -> Completion:
        if not self._answer:
            return Completion(text=out)
        try:
            document = json.loads(out)
        except (ValueError, RecursionError):
            raise ModelError(f"the answer of {self.id} is not JSON") from None
        text, cost = _field(document, self._answer), _field(document, self._cost)
        if _field(document, self._error) is True:
            raise self._failure(str(text), "reported an error")
        if not isinstance(text, str):
            raise ModelError(f"{self.id} answered no text")
        usage = _field(document, "usage")
        usage = usage if isinstance(usage, dict) else {}
        return Completion(
            text=text,
            input_tokens=sum(v for k, v in usage.items() if "input" in k and type(v) is int),
            output_tokens=sum(v for k, v in usage.items() if "output" in k and type(v) is int),
            cost_usd=float(cost) if isinstance(cost, (int, float)) and not isinstance(cost, bool) else None,
        )


def make(options: Mapping[str, str]) -> LanguageModel:
    """Return the agent for those options; nothing is started yet. Raises InvalidValueError."""
    return Agent(options)


def _environment() -> dict[str, str]:
    """Return this process's environment with our hooks off, without what a host sets for the programs it starts.

    The learner was started by a hook: a program that finds its own marks refuses to run inside itself.
    """
    marks = {name for name, _ in (*STARTED_VARIABLES, *SESSION_VARIABLES)}
    inherited = {name: value for name, value in os.environ.items() if name not in marks}
    return {**inherited, "HOLDFAST_OFF": "1", "NO_COLOR": "1"}


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End the program and the processes it started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (OSError, AttributeError):  # already gone, or Windows
        child.kill()
    child.wait()


def _command(text: str) -> list[str]:
    try:
        command = json.loads(text)
    except ValueError:
        command = None
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        raise InvalidValueError("distil: command must be a JSON list of words", hint="holdfast distil use --help")
    return command


def _load(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read(ANSWER_LIMIT)
    except OSError:
        return ""


def _field(document: object, name: str) -> object:
    for key in name.split(".") if name else ():
        document = document.get(key) if isinstance(document, dict) else None
    return document if name else None
