from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from holdfast import plugins

ROOT = Path(__file__).parents[2]


def test_the_page_of_hosts_is_up_to_date_and_names_every_host() -> None:
    pytest.importorskip("holdfast_hosts", reason="the page has its hosts too")
    spec = importlib.util.spec_from_file_location("render_hosts_docs", ROOT / "scripts" / "render_hosts_docs.py")
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = (ROOT / "docs" / "reference" / "hosts.md").read_text("utf-8")
    assert page == script.render(), "run scripts/render_hosts_docs.py"
    for name in plugins.names("hosts"):
        assert f"`{name.replace('_', '-')}`" in page
