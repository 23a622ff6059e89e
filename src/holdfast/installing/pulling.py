"""Downloads a model, for `holdfast embedder pull` and for a yes in setup. No other module downloads anything.

Every file is checked against a checksum: for the default model those below, else those that the hub lists (sha256 of
large files, git's blob id of small ones). A file is stored as `….part` until its checksum is right, so that an
interrupted download continues where it stopped. The folder gets its name when every file is in it. The checksums are
recorded in `holdfast-model.json` beside the files.

Source: Hugging Face Hub API, `GET /api/models/{model}/tree/{revision}` and `GET /{model}/resolve/{revision}/{path}`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from hashlib import new, sha256
from shutil import rmtree
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import EmbedderError, InvalidValueError
from holdfast.outside.endpoint import failure_words

if TYPE_CHECKING:
    import httpx2

HUB = "https://huggingface.co"
DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
RECORD = "holdfast-model.json"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
TIMEOUT_S = 30.0
"""Seconds that the hub may stay silent."""
LONGEST_LIST = 5_000_000
"""Bytes of the hub's list of files."""
NEEDED = ("tokenizer.json", "tokenizer_config.json")
WANTED = (*NEEDED, "config.json", "special_tokens_map.json")
GRAPHS = ("onnx/model.onnx", "model.onnx")
NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(@[\w.-]+)?", re.ASCII)


class File(NamedTuple):
    """One file of a model, with its size and checksum."""

    path: str
    size: int
    checksum: str
    kind: str = "sha256"
    """The kind of checksum: `sha256`, or `git` for git's blob id."""


KNOWN = {
    f"{DEFAULT}@{REVISION}": (
        File("onnx/model.onnx", 90_405_214, "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452"),
        File("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        File("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        File("tokenizer_config.json", 350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
        File("special_tokens_map.json", 112, "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
    )
}
"""Models whose checksums are known here, so that the hub need not be trusted."""


def folder_of(home: str, model: str) -> str:
    """Return the folder of a model, which may not exist. Raises InvalidValueError for an invalid model name."""
    if not NAME.fullmatch(model):
        hint = f"OWNER/NAME or OWNER/NAME@REVISION, e.g. {DEFAULT}"
        raise InvalidValueError(f"{model!r} is not a model's name", hint=hint)
    return os.path.join(home, "models", model.partition("@")[0].replace("/", "--"))


def pulled(home: str) -> list[str]:
    """Return the folders of the models that were downloaded completely."""
    room = os.path.join(home, "models")
    names = sorted(os.listdir(room)) if os.path.isdir(room) else []
    return [os.path.join(room, name) for name in names if os.path.isfile(os.path.join(room, name, RECORD))]


def pull(home: str, model: str, hub: str, advance: Callable[[int, int], None]) -> str:
    """Download the model's files unless they are there and correct; return their folder.

    `advance` is called with the bytes done and the bytes of all files. Raises EmbedderError; partial files are kept.
    """
    folder = folder_of(home, model)
    if model == DEFAULT:
        model = f"{DEFAULT}@{REVISION}"
    import httpx2

    host = _host(hub)
    try:
        with httpx2.Client(timeout=TIMEOUT_S, follow_redirects=True, trust_env=host not in LOOPBACK) as client:
            return _Pull(client, (hub.rstrip("/"), host), model, folder).run(advance)
    except (httpx2.HTTPError, httpx2.InvalidURL, ImportError) as exc:  # the last: a SOCKS proxy without its package
        hint = "run it again to go on; or copy the model's folder here and run holdfast embedder use onnx path=DIR"
        raise EmbedderError(f"{host}: {failure_words(exc)}", hint=hint) from None
    except OSError as exc:
        raise EmbedderError(
            f"{folder}: {exc.strerror}", hint="free some space there, or download on another machine"
        ) from exc


def _host(hub: str) -> str:
    """Return the hub's host, without a login. Raises InvalidValueError for an invalid address."""
    import httpx2

    try:
        url = httpx2.URL(hub)
    except httpx2.InvalidURL as exc:
        raise InvalidValueError("the hub's address is not valid", hint=f"e.g. --hub {HUB}") from exc
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidValueError("the hub's address must be http://... or https://...", hint=f"e.g. --hub {HUB}")
    return url.host


class _Pull:
    """One download. `hub` is the hub's address and host; only the host is shown or stored."""

    def __init__(self, client: httpx2.Client, hub: tuple[str, str], model: str, folder: str) -> None:
        self._client, self._folder = client, folder
        self._hub, self._host = hub
        self._key = model
        self._model, _, revision = model.partition("@")
        self._revision = revision or "main"
        self._done = 0

    def run(self, advance: Callable[[int, int], None]) -> str:
        files = KNOWN.get(self._key) or self._list()
        total = sum(file.size for file in files)
        record = self._record(files)
        if self._is_there(record):
            return self._folder
        draft = f"{self._folder}.{self._revision[:12]}.part"  # files of two revisions never mix
        os.makedirs(draft, mode=0o700, exist_ok=True)
        for file in files:
            self._get(file, os.path.join(draft, os.path.basename(file.path)), lambda: advance(self._done, total))
        with open(os.path.join(draft, RECORD), "w", encoding="utf-8") as stream:
            json.dump(record, stream, indent=2)
        _swap(draft, self._folder)
        return self._folder

    def _record(self, files: tuple[File, ...]) -> dict[str, Any]:
        entries = {os.path.basename(file.path): {"bytes": file.size, file.kind: file.checksum} for file in files}
        return {"model": self._model, "revision": self._revision, "from": self._host, "files": entries}

    def _is_there(self, record: dict[str, Any]) -> bool:
        """Return whether the folder holds exactly these files."""
        paths = [(os.path.join(self._folder, name), wanted) for name, wanted in record["files"].items()]
        return all(
            os.path.isfile(path) and os.path.getsize(path) == wanted["bytes"] and _sum(path, wanted) in wanted.values()
            for path, wanted in paths
        )

    def _list(self) -> tuple[File, ...]:
        """Return the files that the hub lists; the revision becomes the commit that the hub names."""
        answer = self._json(f"/api/models/{self._model}/revision/{self._revision}")
        commit = answer.get("sha") if isinstance(answer, dict) else None
        if not isinstance(commit, str) or not re.fullmatch("[0-9a-f]{40}", commit):
            raise EmbedderError(f"{self._host} does not name a commit of {self._key}", hint="check the model's name")
        self._revision = commit
        tree = self._json(f"/api/models/{self._model}/tree/{commit}?recursive=true")
        listed = {file.path: file for file in _files_of(tree)}
        graph = next((path for path in GRAPHS if path in listed), "")
        if not graph or any(path not in listed for path in NEEDED):
            hint = f"it needs {' or '.join(GRAPHS)}, {', '.join(NEEDED)}; for example {DEFAULT}"
            raise EmbedderError(f"{self._key} is not published for ONNX", hint=hint)
        return tuple(listed[path] for path in (graph, graph + "_data", *WANTED) if path in listed)

    def _json(self, path: str) -> Any:
        with self._client.stream("GET", self._hub + path) as answer:
            self._require(answer, (200,))
            text = b"".join(_up_to(answer.iter_bytes(), LONGEST_LIST))
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as exc:
            raise EmbedderError(f"{self._host} did not answer with JSON", hint="check --hub") from exc

    def _require(self, answer: httpx2.Response, statuses: tuple[int, ...]) -> None:
        if answer.status_code not in statuses:
            hint = "check the model's name; private models cannot be downloaded"
            raise EmbedderError(f"{self._host} answered with status {answer.status_code} for {self._key}", hint=hint)

    def _get(self, file: File, path: str, tell: Callable[[], None]) -> None:
        """Download the file to the path, continuing an earlier try; the checksum is checked before it gets its name."""
        if not (os.path.isfile(path) and os.path.getsize(path) == file.size):
            self._download(file, path + ".part", tell)
            os.replace(path + ".part", path)
        else:
            self._done += file.size
            tell()

    def _download(self, file: File, part: str, tell: Callable[[], None]) -> None:
        had = os.path.getsize(part) if os.path.exists(part) else 0
        if had >= file.size > 0:
            had = 0
        url = f"{self._hub}/{self._model}/resolve/{self._revision}/{file.path}"
        with self._client.stream("GET", url, headers={"Range": f"bytes={had}-"} if had else {}) as answer:
            self._require(answer, (200, 206))
            goes_on = answer.status_code == 206 and answer.headers.get("content-range", "").startswith(f"bytes {had}-")
            had = had if goes_on else 0
            self._done += had
            with open(part, "ab" if goes_on else "wb") as stream:
                for block in _up_to(answer.iter_bytes(1_048_576), file.size - had):
                    stream.write(block)
                    self._done += len(block)
                    tell()
                stream.flush()
                os.fsync(stream.fileno())
        if os.path.getsize(part) != file.size or _sum(part, {file.kind: ""}) != file.checksum:
            os.unlink(part)
            raise EmbedderError(f"{file.path} of {self._key} arrived with a wrong checksum", hint="run it again")


def _files_of(listed: Any) -> Iterator[File]:
    for entry in listed if isinstance(listed, list) else ():
        if not isinstance(entry, dict) or entry.get("type") != "file" or not isinstance(entry.get("path"), str):
            continue
        large = entry.get("lfs")
        kind, blob = ("sha256", large) if isinstance(large, dict) else ("git", entry)
        size, checksum = blob.get("size"), blob.get("oid")
        if isinstance(size, int) and isinstance(checksum, str):
            yield File(entry["path"], size, checksum.removeprefix("sha256:"), kind)


def _sum(path: str, kinds: dict[str, Any]) -> str:
    """Return the file's sha256, or git's id of its content if `kinds` has `git`."""
    digest = sha256()
    if "git" in kinds:
        digest = new("sha1", f"blob {os.path.getsize(path)}\0".encode(), usedforsecurity=False)
    with open(path, "rb") as stream:
        while block := stream.read(1_048_576):
            digest.update(block)
    return digest.hexdigest()


def _up_to(blocks: Iterator[bytes], limit: int) -> Iterator[bytes]:
    """Yield the blocks. Raises EmbedderError if they are longer than announced."""
    for block in blocks:
        limit -= len(block)
        if limit < 0:
            raise EmbedderError("the hub sent more than it announced", hint="check --hub")
        yield block


def _swap(draft: str, folder: str) -> None:
    """Rename the draft to the folder, and remove the folder that was there before."""
    old = folder + ".old"
    rmtree(old, ignore_errors=True)
    if os.path.isdir(folder):
        os.rename(folder, old)
    os.rename(draft, folder)
    rmtree(old, ignore_errors=True)
