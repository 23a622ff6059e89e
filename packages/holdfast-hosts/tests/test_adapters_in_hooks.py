"""A hook finds these adapters where both distributions are installed into one folder; Amp's plug-in is run by node."""

from __future__ import annotations

import shutil
from importlib.metadata import distribution
from pathlib import Path

import pytest
from tests.hosts.test_plugins import NODE, Session

import holdfast_hosts
from holdfast import plugins
from holdfast.settings import launcher_path, package_folder

TRIES = 10
AMP = ".config/amp/plugins/holdfast.ts"


class Installed(Session):
    """A session whose hooks start from a folder with both distributions, as an installer leaves them."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, "amp", AMP)
        site = home / "site"
        dist_info = site / "holdfast_hosts-0.dist-info"
        dist_info.mkdir(parents=True)
        (site / "holdfast").symlink_to(package_folder())
        (site / "holdfast_hosts").symlink_to(Path(holdfast_hosts.__file__).parent)
        points = distribution("holdfast-hosts").entry_points
        lines = "".join(f"{point.name} = {point.value}\n" for point in points)
        (dist_info / "entry_points.txt").write_text(f"[holdfast.hosts]\n{lines}")
        (dist_info / "METADATA").write_text("Metadata-Version: 2.1\nName: holdfast-hosts\nVersion: 0\n")
        launcher = Path(launcher_path(str(home / ".holdfast")))
        launcher.write_text(launcher.read_text().replace(package_folder(), str(site / "holdfast")))


@pytest.mark.skipif(NODE is None, reason="node runs the plug-in")
def test_amp_is_informed_at_a_turns_start_and_after_a_read(home: Path) -> None:
    for _ in range(TRIES):  # a hook of a busy machine may answer nothing
        session = Installed(home.parent)
        report = session.play(Path(__file__).parent / "drivers")
        if "message" in report["started"]:
            break
        for folder in (home, session.project, home.parent / "site"):
            shutil.rmtree(folder)
    assert "whole cents" in report["started"]["message"]["content"]
    assert report["again"] == {}
    assert report["ended"] is None
    assert report["broken"] is None
    assert session.kept() == ["session_start", "prompt", "prompt", "tool_result", "reply"]


def test_the_main_distribution_knows_which_hosts_are_here() -> None:
    points = {point.name for point in distribution("holdfast-hosts").entry_points if point.group == "holdfast.hosts"}
    assert points == set(plugins.HOSTS_ELSEWHERE)
    modules = {path.stem.replace("_", "-") for path in Path(holdfast_hosts.__file__).parent.iterdir()}
    assert points == {name for name in modules if name[0] not in "-." and name not in ("py", "importers")}
