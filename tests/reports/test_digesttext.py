"""A digest as text, Markdown and an Atom feed: short, with ids that can be pasted, and safe to publish."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID
from xml.etree.ElementTree import Element, fromstring

import pytest

from holdfast import Memory
from holdfast.domain.vocabulary import LessonId
from holdfast.reports.digest import SECTIONS, DigestItem, DigestSection, LessonRef, MemoryDigest
from holdfast.reports.digesttext import period_words, render_atom, render_markdown, render_text
from holdfast.reports.tuning import DIGEST_ITEMS
from holdfast.testing.builders import make_id

AT = datetime(2026, 6, 1, 8, 30, tzinfo=UTC)
ATOM = "{http://www.w3.org/2005/Atom}"


def make_item(title: str = "Ferries leave from pier two", **over: object) -> DigestItem:
    id_ = LessonId(make_id())
    plain = {"lesson": id_, "short_id": id_[-8:], "title": title, "rule": title + ".", "why": "", "kind": "convention",
             "at": AT, "source": "Ada"}  # fmt: skip
    return DigestItem(**plain | over)  # type: ignore[arg-type]


def make_whole(**sections: tuple[DigestItem, ...]) -> MemoryDigest:
    made = [
        DigestSection(name=name, title=title, items=sections.get(name, ()), total=len(sections.get(name, ())))
        for name, title in SECTIONS.items()
    ]
    return MemoryDigest(
        project="p1", project_name="harbour", since=AT - timedelta(days=7), until=AT, audience="me",
        sections=tuple(made),
    )  # fmt: skip


def test_each_lesson_begins_with_the_id_that_show_accepts(memory: Memory) -> None:
    lesson = memory.remember("Ferries leave from pier two.")
    begun = datetime(2020, 1, 1, tzinfo=UTC)
    for lines in (render_text(memory.digest(since=begun)), render_markdown(memory.digest(since=begun))):
        (line,) = [line for line in lines if "Ferries" in line]
        assert memory.get(line.replace("`", "").replace("-", "").split()[0]).id == lesson.id


def test_the_longest_digest_is_read_in_two_minutes() -> None:
    item = make_item(
        "Run every migration against a copy of production before it is merged or released",
        note="cannot hold beside",
        others=(LessonRef(lesson=LessonId("x"), short_id="1f0c9a2b", title="Migrations run in production first"),),
    )
    whole = make_whole(**{name: (item,) * most for name, most in DIGEST_ITEMS.items()})
    words = " ".join(render_text(whole)).split()
    assert 400 < len(words) < 900  # 29 lessons of 12 words and what happened to each, where all sections are full


def test_sections_without_lessons_are_left_out_and_the_rest_is_counted() -> None:
    section = DigestSection(name="learnt", title="Learnt", items=(make_item(),), total=13)
    digest = MemoryDigest(
        project="p1", project_name="harbour", since=AT - timedelta(days=7), until=AT, audience="me", sections=(section,)
    )
    text = "\n".join(render_text(digest))
    assert "Learnt (13)" in text
    assert "and 12 more" in text
    assert "Changed" not in text


def test_an_empty_digest_says_so() -> None:
    assert list(render_text(make_whole()))[1] == "nothing happened, and nothing waits"


def test_markdown_neither_mentions_files_nor_closes_a_comment_nor_shows_a_secret() -> None:
    item = make_item("See @README.md <!-- and ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    text = "\n".join(render_markdown(make_whole(learnt=(item,))))
    assert "`@README.md`" in text
    assert "<!--" not in text
    assert "ghp_" not in text


@pytest.mark.parametrize(
    ("hours", "words"),
    [
        (10, "31 May 2026, 22:30 to 1 June, 08:30 UTC"),
        (24 * 7, "25 May to 1 June 2026"),
        (24 * 365, "1 June 2025 to 1 June 2026"),
    ],
)
def test_a_period_is_told_in_days_or_hours(hours: int, words: str) -> None:
    assert period_words(AT - timedelta(hours=hours), AT) == words


# Atom, RFC 4287


def read_feed(text: str) -> Element:
    return fromstring(text.encode())


def text_of(parent: Element, name: str) -> str:
    return parent.findtext(f"{ATOM}{name}") or ""


def test_a_feed_has_what_the_standard_requires() -> None:
    feed = read_feed(
        render_atom(make_whole(learnt=(make_item(), make_item("Ships")), waits=(make_item(),)), "https://x/digest.atom")
    )
    assert feed.tag == f"{ATOM}feed"
    assert text_of(feed, "title")
    assert feed.find(f"{ATOM}author/{ATOM}name") is not None
    assert [link.get("rel") for link in feed.findall(f"{ATOM}link")] == ["self"]
    entries = feed.findall(f"{ATOM}entry")
    for each in (feed, *entries):
        UUID(text_of(each, "id").removeprefix("urn:uuid:"))
        datetime.fromisoformat(text_of(each, "updated"))
    assert len({text_of(each, "id") for each in (feed, *entries)}) == 4
    assert all(text_of(each, "title") and text_of(each, "content") for each in entries)


def test_an_entry_keeps_its_id_and_says_when_it_happened_again() -> None:
    item = make_item()
    later = make_item(lesson=item.lesson, at=AT + timedelta(days=1))
    first, second = (read_feed(render_atom(make_whole(learnt=(each,)), "https://x/")) for each in (item, later))
    before, after = first.find(f"{ATOM}entry"), second.find(f"{ATOM}entry")
    assert before is not None
    assert after is not None
    assert text_of(before, "id") == text_of(after, "id")
    assert text_of(before, "updated") < text_of(after, "updated")
    assert text_of(second, "updated") == text_of(after, "updated")
    # The same lesson in another section is another entry.
    stale = read_feed(render_atom(make_whole(stale=(item,)), "https://x/")).find(f"{ATOM}entry")
    assert stale is not None
    assert text_of(stale, "id") != text_of(before, "id")


def test_a_feed_holds_any_characters_as_text() -> None:
    title = "a < b & ]]> \ufffe \ud800 \x00 <script>alert(1)</script>"
    feed = read_feed(render_atom(make_whole(learnt=(make_item(title),)), "https://x/?a=1&b=2"))
    entry = feed.find(f"{ATOM}entry")
    assert entry is not None
    assert "a < b & ]]>" in text_of(entry, "title")
    content = entry.find(f"{ATOM}content")
    assert content is not None
    assert content.get("type") == "text"
    assert not list(content)
