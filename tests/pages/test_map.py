"""The map and the graph as pages: what a reader sees, where links lead, and that hostile names stay names."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from holdfast import Memory
from holdfast.domain.statefamilies import SESSION_TROUBLE
from holdfast.lean.texts import dumps

from .site import Site, words_of

HOSTILE = 'a"><script>alert(1)</script>&.py'


def picture(html: str) -> ElementTree.Element:
    """The first picture of a page, parsed as XML."""
    begin = html.index('<svg role="')
    return ElementTree.fromstring(html[begin : html.index("</svg>", begin) + 6])


def hrefs(html: str) -> list[str]:
    return [link.attrib["href"] for link in picture(html).iter("a")]


@pytest.fixture
def folder(memory: Memory) -> Path:
    folder = Path(memory.location.root)
    (folder / "src/rows").mkdir()
    (folder / "src/rows/read.py").write_text("def read():\n    return 1\n")
    return folder


def trouble(memory: Memory, path: str, *counts: int) -> None:
    value = dumps({"at": "2026-01-05T00:00:00+00:00", "files": {path: counts}})
    memory.services.store.set_rows(SESSION_TROUBLE, memory.location.project.id, {"s": value})


def test_the_map_of_an_empty_memory_says_what_it_does_not_know(site: Site) -> None:
    text = site.text("map")
    assert "0 confirmed lessons, about 0 of 2 files" in text
    assert "No session had a failure at a file" in text
    assert "No confirmed lesson is about a file of this folder." in text
    assert {rectangle.attrib["class"] for rectangle in picture(site.html("map")).iter("rect")} >= {"tile inner k0"}


def test_the_map_answers_its_three_questions(memory: Memory, site: Site, folder: Path) -> None:
    memory.remember("Stores have a limit.", files=["src/store.py"], symbols=["Store.put"])
    (folder / "src/store.py").write_text("class Store:\n    def put(self, key):\n        return key\n")
    trouble(memory, "src/rows/read.py", 2, 1, 0)
    text = site.text("map")
    assert "2 failures, 1 edit reverted" in text
    assert "1 of 1 lesson" in text
    assert "1 of 1 that were compared with the code are stale" in text
    data = site.json("map")
    assert [area["path"] for area in data["map"]["gaps"]] == ["src/rows/read.py"]
    assert [area["path"] for area in data["map"]["stale"]] == ["src/store.py"]
    assert data["map"]["whole"]["inner"] == []
    assert [(row["path"], row["lessons"], row["failures"]) for row in data["rows"]] == [
        ("src/rows/read.py", 0, 2), ("src/store.py", 1, 0),
    ]  # fmt: skip


def test_a_folder_leads_to_its_own_map(memory: Memory, site: Site, folder: Path) -> None:
    trouble(memory, "src/rows/read.py", 2, 1, 0)
    assert "map?area=src" in hrefs(site.html("map"))
    inside = site.html("map?area=src")
    assert "rows/<wbr>read.<wbr>py" in inside
    assert site.json("map?area=src")["way"] == [{"name": "src", "area": "src"}]


def test_every_rectangle_of_the_picture_is_a_link(memory: Memory, site: Site, folder: Path) -> None:
    root = picture(site.html("map"))
    inside = sum(1 for link in root.iter("a") for each in link.iter("rect") if "tile" in each.attrib["class"])
    assert inside == sum("tile" in each.attrib["class"] for each in root.iter("rect"))


def test_a_file_leads_to_the_search_of_it(memory: Memory, site: Site) -> None:
    memory.remember("Stores have a limit.", files=["src/store.py"])
    response = site.get(next(link for link in hrefs(site.html("map?area=src")) if "store.py" in link))
    assert response.status_code == 200
    assert "Stores have a limit" in words_of(response.text)


def test_files_with_nothing_to_say_are_shown_when_asked_for(memory: Memory, site: Site) -> None:
    memory.remember("Stores have a limit.", files=["src/store.py"])
    assert [row["path"] for row in site.json("map")["rows"]] == ["src/store.py"]
    assert [row["path"] for row in site.json("map?all=true")["rows"]] == ["src", "README.md"]


def test_a_folder_that_is_not_there_is_not_found(site: Site) -> None:
    response = site.get("map?area=nowhere")
    assert response.status_code == 404
    assert "There is no folder nowhere on the map" in words_of(response.text)


def test_hostile_names_of_files_and_titles_stay_text(memory: Memory, site: Site, folder: Path) -> None:
    (folder / "src" / HOSTILE.replace("/", "")).write_text("A = 1\n")
    memory.remember("<img src=x onerror=alert(1)> is no rule.", files=["src/store.py"])
    for path in ("map", "map?area=src", "map/graph", "map/graph?area=%3Cscript%3E"):
        html = site.html(path)
        assert "<script>" not in html
        assert "<img" not in html


def test_of_very_many_files_those_with_most_to_say_are_drawn(memory: Memory, site: Site, folder: Path) -> None:
    (folder / "flat").mkdir()
    for number in range(300):
        (folder / f"flat/p{number:03}.py").write_text("A = 1\n" * 9)
    trouble(memory, "flat/p222.py", 2, 2, 0)
    memory.remember("Parts are one file each.", files=["flat/p111.py"])
    page = site.html("map?area=flat")
    assert "237 files with less to say are not drawn" in words_of(page)
    names = [text.text for text in picture(page).iter("text")]
    assert {"p111.py", "p222.py"} <= set(names)
    assert len(hrefs(page)) == 63
    assert [row["path"] for row in site.json("map?area=flat")["rows"]] == ["flat/p222.py", "flat/p111.py"]


def test_a_folder_of_very_many_files_stays_closed(memory: Memory, site: Site, folder: Path) -> None:
    (folder / "flat").mkdir()
    for number in range(300):
        (folder / f"flat/p{number:03}.py").write_text("A = 1\n" * 9)
    memory.remember("Parts are one file each.", files=["flat/p111.py"])
    assert "p111.py" not in [text.text for text in picture(site.html("map")).iter("text")]
    assert site.json("map")["rows"][0]["path"] == "flat"
    assert site.json("map")["undrawn"] == 0


def test_a_large_project_stays_within_the_budget(memory: Memory, site: Site, folder: Path) -> None:
    for number in range(40):
        inside = folder / f"src/component_{number:02}"
        inside.mkdir()
        for part in range(12):
            (inside / f"a_rather_long_name_of_a_file_{part:02}.py").write_text("A = 1\n" * (number + part))
    files = {f"src/component_{n:02}/a_rather_long_name_of_a_file_{n % 12:02}.py": [3, 1, 1] for n in range(40)}
    value = dumps({"at": "2026-01-05T00:00:00+00:00", "files": files})
    memory.services.store.set_rows(SESSION_TROUBLE, memory.location.project.id, {"s": value})
    assert len(site.html("map").encode()) < 38_000
    assert len(site.html("map?area=src").encode()) < 38_000
    assert site.json("map")["hidden"] > 0


def test_the_graph_lists_the_links_that_it_draws(memory: Memory, site: Site, folder: Path) -> None:
    memory.remember("Stores have a limit.", files=["src/store.py"], symbols=["Store.put"])
    html = site.html("map/graph")
    assert len(list(picture(html).iter("path"))) == 1
    assert "Store.put" in words_of(html)
    assert "The one lesson about code here." in words_of(html)
    assert site.json("map/graph")["graph"]["places"] == [{"path": "src/store.py", "symbol": "Store.put", "lessons": 1}]


def test_a_graph_without_lessons_says_so(site: Site) -> None:
    assert "No confirmed lesson of this area" in site.text("map/graph?area=src")
