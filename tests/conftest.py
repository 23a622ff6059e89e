"""What every test shares: a home that is not the user's, Hypothesis without deadlines, an open store."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from holdfast import Memory, plugins
from holdfast.ports.store import Store
from holdfast.stores.sqlite import make
from tests.browser import browser as browser
from tests.codebase import Codebase
from tests.contract.memorystore import MemoryStore
from tests.homeguard import protect
from tests.postgresql import cluster as cluster
from tests.postgresql import clusters as clusters
from tests.postgresql import database as database
from tests.postgresql import organisation as organisation

# How long an example takes says something about the machine, not about the code.
UNTIMED: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=20, **UNTIMED)
settings.register_profile("nightly", max_examples=300, **UNTIMED)
settings.load_profile("quick")  # another one: --hypothesis-profile=nightly

NIGHTLY_FOLDERS = ("benchmarks",)
"""Folders whose tests run in `make nightly`, and where they are named."""

STORE = os.environ.get("HOLDFAST_TEST_STORE", "")
"""What the tests run on: `memory://` (`make unit-memory`), or the URL of another backend, in which `{name}` or, as an
organisation, `{number}` stands for what tells a test's store from the others'. Empty: SQLite. Tests that need what the
store has not are skipped."""
IN_MEMORY = STORE == "memory://"


def pytest_configure(config: pytest.Config) -> None:
    """Before any test module is imported: some read the environment when they are."""
    protect(config)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a run in the background, whose children would ignore Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which of the tests run."""
    group = parser.getgroup("holdfast")
    group.addoption("--nightly", action="store_true", help="also what is marked nightly, and the tests of benchmarks")
    group.addoption("--files-of", type=int, default=1, metavar="N", help="one test file in N, drawn by its name")
    group.addoption("--cases-of", type=int, default=1, metavar="N", help="one case in N, drawn by its name")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out folders for the night, and the files that were not drawn."""
    is_named = any(Path(argument.partition("::")[0]).absolute() == collection_path for argument in config.args)
    if is_named or collection_path.is_dir():
        is_for_the_night = collection_path.name in NIGHTLY_FOLDERS and not (is_named or config.getoption("--nightly"))
        return True if is_for_the_night else None
    path = collection_path.relative_to(config.rootpath).as_posix()
    return None if collection_path.name == "conftest.py" or _is_drawn(path, config.getoption("--files-of")) else True


def _is_drawn(name: str, share: int) -> bool:
    return crc32(name.encode()) % share == 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not drawn or for the night; skip what the store cannot do, with the reason."""
    share, is_night = config.getoption("--cases-of"), config.getoption("--nightly")
    is_contract = re.compile("contract|store_model").search
    chosen = [
        item for item in items
        if (is_contract(item.nodeid) or _is_drawn(item.nodeid, share))
        and (is_night or item.get_closest_marker("nightly") is None)
    ]  # fmt: skip
    if len(chosen) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
        items[:] = chosen
    for item in items if STORE else ():
        for mark in item.iter_markers("needs_file"):
            item.add_marker(pytest.mark.skip(reason=f"no file: {mark.args[0]}"))
        for mark in item.iter_markers("needs_processes") if IN_MEMORY else ():
            item.add_marker(pytest.mark.skip(reason=f"no other process sees it: {mark.args[0]}"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A HOLDFAST_HOME of the test's own, with a user's home around it."""
    for name in ("HOLDFAST_OFF", "HOLDFAST_STORE", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / ".holdfast"))
    monkeypatch.setenv("HOLDFAST_HOLDOUT", "0")  # what a test expects to be told is not to be withheld by chance
    if IN_MEMORY:
        _keep_in_memory(monkeypatch)
    elif STORE:
        _keep_elsewhere(monkeypatch, tmp_path, request.node.get_closest_marker("needs_processes") is not None)
    return tmp_path / ".holdfast"


def _keep_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every `Memory` of the test that names one URL share a store in memory in the place of that file."""
    stores: dict[str, MemoryStore] = {}
    load = plugins.load

    def load_or_share(kind: str, name: str, options: Mapping[str, str] | None = None) -> Any:
        if kind != "stores" or options is None:
            return load(kind, name, options)
        return stores.setdefault(options["url"], MemoryStore())

    monkeypatch.setattr(plugins, "load", load_or_share)


def _keep_elsewhere(monkeypatch: pytest.MonkeyPatch, folder: Path, for_processes: bool) -> None:
    """Have each home of the test keep its memory on the other backend; processes see only what the environment says."""
    if for_processes:
        monkeypatch.setenv("HOLDFAST_STORE", _url_of(folder))
    else:
        monkeypatch.setattr("holdfast.settings.file_url", lambda path: _url_of(Path(path).parent))


def _url_of(folder: Path) -> str:
    """The URL of a store of the folder's own, on the backend that the tests run on."""
    digest = sha256(os.fsencode(folder)).hexdigest()
    return STORE.replace("{name}", f"t{digest[:24]}").replace("{number}", str(int(digest[:7], 16) + 1))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An open store."""
    with _make_store(tmp_path / "store") as opened:
        yield opened


def _make_store(folder: Path) -> Store:
    if IN_MEMORY:
        return MemoryStore()
    if STORE:
        store: Store = plugins.load("stores", STORE.partition(":")[0], {"url": _url_of(folder)})
        return store
    return make({"url": f"sqlite://{folder}/memory.db"})


@pytest.fixture
def code(home: Path, tmp_path: Path) -> Codebase:
    """A project under git with two files, about which the home's memory knows nothing yet."""
    return Codebase(tmp_path / "harbour")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project of two files, without git."""
    folder = tmp_path / "harbour"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "tides.py").write_text("HIGH = 4\n")
    (folder / "README.md").write_text("# harbour\n")
    return folder


@pytest.fixture
def memory(home: Path, project: Path) -> Iterator[Memory]:
    """That project's memory, wired as for a user."""
    with Memory(str(project)) as opened:
        yield opened
