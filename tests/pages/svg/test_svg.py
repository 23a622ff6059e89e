"""Pictures hold what they promise: escaped text, nothing outside the picture, no label over another, true areas."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from holdfast.pages.svg.axis import LABEL_SIZE, round_ticks, spread_out
from holdfast.pages.svg.bars import Row, column_chart, row_chart
from holdfast.pages.svg.bipartite import Edge, Node, arrange, bipartite, crossings, wrapped
from holdfast.pages.svg.element import clipped, element, number, text_width
from holdfast.pages.svg.figure import Caption
from holdfast.pages.svg.interval import Interval, interval_chart
from holdfast.pages.svg.line import NAME_GAP, Series, line_chart
from holdfast.pages.svg.treemap import Rectangle, Tile, squarify, treemap

CAPTION = Caption(ident="x", title="A picture", description="Of something.")
HOSTILE = "<script>alert(1)</script>\"'&\x00\ud800"
SPACE = Rectangle(x=0, y=0, width=600, height=400)
ROUNDING = 0.06
"""Coordinates are written with one decimal."""

names = st.text(max_size=80)
values = st.integers(min_value=0, max_value=10**7)
shares = st.floats(min_value=0, max_value=1)
Box = tuple[float, float, float, float]


# Elements


def test_text_and_attributes_are_escaped() -> None:
    made = element("text", HOSTILE, x=1.26, class_=HOSTILE, text_anchor=None)
    assert "<script" not in made
    (parsed,) = [ElementTree.fromstring(made)]
    assert parsed.attrib == {"x": "1.3", "class": HOSTILE.translate({0: "\ufffd", 0xD800: "\ufffd"})}
    assert parsed.text == HOSTILE.translate({0: "\ufffd", 0xD800: "\ufffd"})


@pytest.mark.parametrize("name", ["", "a b", "a>", "1a", "a=", "ä"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a name"):
        element(name)
    with pytest.raises(ValueError, match="not a name"):
        element("g", **{name: "x"})


def test_markup_is_not_escaped_again() -> None:
    assert element("g", element("a", "1 < 2")) == "<g><a>1 &lt; 2</a></g>"


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (-0.01, "0"), (2.0, "2"), (1.25, "1.2"), (-3.55, "-3.5")])
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text


@given(names, st.floats(min_value=0, max_value=400), st.booleans())
def test_a_clipped_text_fits(text: str, width: float, keep_end: bool) -> None:
    short = clipped(text, width, 12, keep_end=keep_end)
    assert text_width(short, 12) <= width + 1e-6
    assert short in (text, "") or "…" in short


def test_a_path_keeps_its_end() -> None:
    short = clipped("src/holdfast/pages/svg/treemap.py", 120, 12, keep_end=True)
    assert short.startswith("…")
    assert short.endswith("treemap.py")


# Axes


@given(st.integers(min_value=0, max_value=10**9))
def test_ticks_reach_the_largest_value_in_equal_round_steps(most: int) -> None:
    ticks = round_ticks(most)
    assert ticks[0] == 0
    assert ticks[-1] >= most
    assert 2 <= len(ticks) <= 4
    step = ticks[1]
    assert all(later - earlier == pytest.approx(step) for earlier, later in pairwise(ticks))
    assert f"{step:.0e}"[0] in "125"


@given(st.lists(st.floats(min_value=0, max_value=100), min_size=1, max_size=5))
def test_labels_are_spread_within_the_range(wanted: list[float]) -> None:
    places = spread_out(wanted, 15, 0, 100)
    assert all(-1e-9 <= place <= 100 + 1e-9 for place in places)
    assert all(later - earlier >= 15 - 1e-6 for earlier, later in zip(sorted(places), sorted(places)[1:], strict=False))
    order = sorted(range(len(wanted)), key=lambda index: (wanted[index], index))
    assert [places[index] for index in order] == sorted(places)


def test_labels_that_are_far_enough_apart_stay() -> None:
    assert spread_out([80, 10, 40], 15, 0, 100) == [80, 10, 40]


# Treemap


@given(st.lists(st.integers(min_value=0, max_value=10**6), min_size=1, max_size=60).filter(any))
def test_areas_are_proportional_and_fill_the_space(sizes: list[int]) -> None:
    rectangles = squarify(sizes, SPACE)
    total = sum(sizes)
    for size, rectangle in zip(sizes, rectangles, strict=True):
        assert rectangle.area == pytest.approx(size / total * SPACE.area, rel=1e-6, abs=1e-3)
        assert -1e-6 <= rectangle.x <= SPACE.width + 1e-6
        assert rectangle.x + rectangle.width <= SPACE.width + 1e-6
        assert rectangle.y + rectangle.height <= SPACE.height + 1e-6
    solid = [rectangle for rectangle in rectangles if rectangle.area > 1e-3]
    for first, other in combinations(solid, 2):
        wide = min(first.x + first.width, other.x + other.width) - max(first.x, other.x)
        high = min(first.y + first.height, other.y + other.height) - max(first.y, other.y)
        assert wide < 1e-6 or high < 1e-6


def test_the_example_of_the_paper_is_laid_out_as_in_the_paper() -> None:
    # Bruls et al., figure 4: 6, 6, 4, 3, 2, 2, 1 in a rectangle of 6 by 4
    rectangles = squarify([6, 6, 4, 3, 2, 2, 1], Rectangle(x=0, y=0, width=6, height=4))
    assert [(round(each.width, 2), round(each.height, 2)) for each in rectangles] == [
        (3, 2), (3, 2), (1.71, 2.33), (1.29, 2.33), (1.2, 1.67), (1.2, 1.67), (0.6, 1.67),
    ]  # fmt: skip


def test_nothing_has_an_area_without_a_size() -> None:
    assert all(each.area == 0 for each in squarify([0, 0], SPACE))
    assert squarify([], SPACE) == []


tiles = st.builds(
    Tile, name=names, size=st.integers(min_value=0, max_value=10**5), kind=st.sampled_from(["k0", "k3 stale", "gap"]),
    link=st.sampled_from(["", "/p/x/map"]), words=st.lists(names, max_size=4).map(tuple),
    sign=st.sampled_from(["", "!"]),
    inner=st.lists(
        st.builds(Tile, name=names, size=st.integers(min_value=0, max_value=10**4), kind=st.just("k1")), max_size=8
    ).map(tuple),
)  # fmt: skip


@given(st.lists(tiles, max_size=25))
def test_a_treemap_stays_within_its_picture(some: list[Tile]) -> None:
    _check(treemap(CAPTION, some))


def test_a_tile_says_more_the_larger_it_is() -> None:
    def texts(size: float) -> list[str]:
        made = treemap(CAPTION, [
            Tile(name="a.py", size=size, kind="k1", words=("3 lessons", "1 stale"), sign="!"),
            Tile(name="rest", size=1000, kind="k0"),
        ])  # fmt: skip
        return [each.text or "" for each in ElementTree.fromstring(made).iter("text")]

    assert texts(1000) == ["!", "a.py", "3 lessons", "1 stale", "rest"]
    assert texts(0.1) == ["rest"]


def test_a_picture_with_links_is_no_image() -> None:
    root = ElementTree.fromstring(treemap(CAPTION, [Tile(name="a", size=1, kind="k0", link="/x?a=1&b=2")]))
    assert root.attrib["role"] == "group"
    assert [link.attrib["href"] for link in root.iter("a")] == ["/x?a=1&b=2"]


# Charts


@given(st.lists(st.tuples(names, values), min_size=1, max_size=4), st.integers(min_value=1, max_value=52))
def test_lines_and_their_names_stay_within_the_picture(series: list[tuple[str, int]], count: int) -> None:
    lines = [
        Series(name=name, values=tuple(value * index // count for index in range(1, count + 1)), colour=1)
        for name, value in series
    ]
    made = line_chart(CAPTION, ["28 Nov"] * count, lines)
    _check(made)
    heights = sorted(
        float(each.attrib["y"]) for each in ElementTree.fromstring(made).iter("text") if "name" in each.attrib["class"]
    )
    assert all(low - high >= NAME_GAP - 2 * ROUNDING for high, low in pairwise(heights))


@given(st.lists(values, max_size=52))
def test_columns_stand_on_zero(some: list[int]) -> None:
    made = column_chart(CAPTION, ["28 Nov"] * len(some), some)
    _check(made)
    root = ElementTree.fromstring(made)
    (zero,) = [line for line in root.iter("line") if line.attrib["class"] == "zero" and _is_level(line)]
    columns = [each for each in root.iter("rect")]
    assert len(columns) == sum(value > 0 for value in some)
    for column in columns:
        floor = float(column.attrib["y"]) + float(column.attrib["height"])
        assert floor == pytest.approx(float(zero.attrib["y1"]), abs=2 * ROUNDING)


@given(st.lists(st.builds(Row, name=names, value=values, words=names), min_size=1, max_size=10))
def test_rows_stay_within_the_picture(rows: list[Row]) -> None:
    _check(row_chart(CAPTION, rows))


@given(st.lists(st.tuples(names, shares, shares, shares), min_size=1, max_size=6), st.sampled_from([0.0, -1.0]))
def test_an_interval_spans_from_low_to_high_around_its_value(
    rows: list[tuple[str, float, float, float]], low: float
) -> None:
    intervals = []
    for name, *three in rows:
        begin, middle, end = sorted(three)
        intervals.append(Interval(name=name, words="12 %, 3 of 25", value=middle, low=begin, high=end))
    made = interval_chart(CAPTION, intervals, low=low)
    _check(made)
    root = ElementTree.fromstring(made)
    whiskers = [line for line in root.iter("line") if "whisker" in line.attrib["class"]][::3]
    for dot, whisker in zip(root.iter("circle"), whiskers, strict=True):
        x = float(dot.attrib["cx"])
        assert float(whisker.attrib["x1"]) - ROUNDING <= x <= float(whisker.attrib["x2"]) + ROUNDING


def test_a_chart_is_an_image_with_title_and_description() -> None:
    root = ElementTree.fromstring(column_chart(CAPTION, ["a", ""], [1, 0]))
    assert root.attrib["role"] == "img"
    assert root.find("title").text == "A picture"  # type: ignore[union-attr]
    assert root.attrib["aria-labelledby"] == root.find("title").attrib["id"]  # type: ignore[union-attr]
    assert root.attrib["aria-describedby"] == root.find("desc").attrib["id"]  # type: ignore[union-attr]


def test_a_small_chart_is_as_it_was_looked_at() -> None:
    made = interval_chart(CAPTION, [Interval(name="heeded", words="20 %, 1 of 5", value=0.2, low=0.1, high=0.6)])
    assert made == Markup(
        '<svg role="img" aria-labelledby="x-title" aria-describedby="x-description" class="picture intervals"'
        ' viewBox="0 0 360 72"><title id="x-title">A picture</title><desc id="x-description">Of something.</desc>'
        '<line x1="28" x2="28" y1="24" y2="44" class="zero"/>'
        '<line x1="104" x2="104" y1="24" y2="44" class="rule"/>'
        '<line x1="180" x2="180" y1="24" y2="44" class="rule"/>'
        '<line x1="256" x2="256" y1="24" y2="44" class="rule"/>'
        '<line x1="332" x2="332" y1="24" y2="44" class="rule"/>'
        '<text x="4" y="18" class="label">heeded</text>'
        '<text x="356" y="18" class="value" text-anchor="end">20 %, 1 of 5</text>'
        '<line x1="58.4" x2="210.4" y1="34" y2="34" class="whisker s1"/>'
        '<line x1="58.4" x2="58.4" y1="29" y2="39" class="whisker s1"/>'
        '<line x1="210.4" x2="210.4" y1="29" y2="39" class="whisker s1"/>'
        '<circle cx="88.8" cy="34" r="5" class="dot s1"/>'
        '<text x="28" y="64" class="tick" text-anchor="middle">0 %</text>'
        '<text x="104" y="64" class="tick" text-anchor="middle">25 %</text>'
        '<text x="180" y="64" class="tick" text-anchor="middle">50 %</text>'
        '<text x="256" y="64" class="tick" text-anchor="middle">75 %</text>'
        '<text x="332" y="64" class="tick" text-anchor="middle">100 %</text>'
        "</svg>"
    )


# Graph


pairs = st.lists(
    st.tuples(st.integers(min_value=0, max_value=7), st.integers(min_value=0, max_value=7)), max_size=24, unique=True
)


@given(pairs)
def test_the_order_of_columns_never_crosses_more_than_the_order_of_input(some: list[tuple[int, int]]) -> None:
    left, right = arrange(8, 8, some)
    assert sorted(left) == sorted(right) == list(range(8))
    assert crossings(left, right, some) <= crossings(range(8), range(8), some)


def test_two_links_that_cross_are_untangled() -> None:
    some = [(0, 1), (1, 0), (2, 2)]
    assert crossings(range(3), range(3), some) == 1
    assert crossings(*arrange(3, 3, some), some) == 0


@given(st.lists(names, min_size=1, max_size=8), st.lists(names, min_size=1, max_size=8), pairs)
def test_a_graph_stays_within_its_picture(left: list[str], right: list[str], some: list[tuple[int, int]]) -> None:
    edges = [Edge(left=begin, right=end) for begin, end in some if begin < len(left) and end < len(right)]
    code = [Node(name=name, is_code=True, heading=name) for name in right]
    _check(bipartite(CAPTION, [Node(name=name) for name in left], code, edges, ("Lessons", "Code")))


@given(names, st.integers(min_value=1, max_value=3))
def test_wrapped_lines_fit(text: str, most: int) -> None:
    lines = wrapped(text, 200, 13, most)
    assert len(lines) <= most
    assert all(text_width(line, 13) <= 200 + 1e-6 for line in lines)


def test_a_name_is_wrapped_between_words() -> None:
    assert wrapped("Seed the clock before login tests", 180, 13, 2) == ["Seed the clock before", "login tests"]


# What all pictures have to hold


def _check(made: Markup) -> None:
    """Require that everything is inside the view box, and that no text covers another."""
    root = ElementTree.fromstring(made)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for left, top, right, bottom in _shapes(root):
        assert -0.2 <= left <= right <= width + 0.2
        assert -0.2 <= top <= bottom <= height + 0.2
    for first, other in combinations(_texts(root), 2):
        is_apart = (
            first[2] <= other[0] + 0.2 or other[2] <= first[0] + 0.2 or first[3] <= other[1] or other[3] <= first[1]
        )
        assert is_apart, (first, other)


def _shapes(root: ElementTree.Element) -> Iterator[Box]:
    for each in root.iter():
        where = {key: float(value) for key, value in each.attrib.items() if _is_number(value)}
        if each.tag == "rect":
            yield where["x"], where["y"], where["x"] + where["width"], where["y"] + where["height"]
        elif each.tag == "line" and each.attrib["class"] != "hatch":
            xs, ys = sorted((where["x1"], where["x2"])), sorted((where["y1"], where["y2"]))
            yield xs[0], ys[0], xs[1], ys[1]
        elif each.tag == "circle":
            yield where["cx"] - where["r"], where["cy"] - where["r"], where["cx"] + where["r"], where["cy"] + where["r"]
    yield from _texts(root)


def _texts(root: ElementTree.Element) -> list[Box]:
    boxes = []
    for each in root.iter("text"):
        text, size = each.text or "", 9.0  # lower than a font's line, so that lines may touch
        width = text_width(text, LABEL_SIZE, is_code="code" in each.attrib["class"])
        x, y = float(each.attrib["x"]), float(each.attrib["y"])
        left = x - {"end": width, "middle": width / 2}.get(each.attrib.get("text-anchor", ""), 0.0)
        if text.strip():
            boxes.append((left, y - size, left + width, y + 2))
    return boxes


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_level(line: ElementTree.Element) -> bool:
    return line.attrib["y1"] == line.attrib["y2"]
