"""Renders a digest as plain text, as Markdown and as an Atom feed. Words are redacted again, and none is an order.

Source of the feed: RFC 4287. An entry is one lesson in one section: its id stays the same, and `updated` says when it
happened, so that a reader shows it again when it happens again.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import NAMESPACE_URL, uuid5
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from holdfast.lean.plain import render_instant
from holdfast.lean.texts import counted
from holdfast.publishing.publication import publishable
from holdfast.reports.digest import DigestItem, DigestSection, MemoryDigest
from holdfast.reports.tuning import DIGEST_TITLE
from holdfast.text.hidden import without_hidden

ATOM = "http://www.w3.org/2005/Atom"
NOTHING = "nothing happened, and nothing waits"


def headline(digest: MemoryDigest) -> str:
    """Return the project and the period: `parcel, 21 to 28 November 2026`."""
    what = f"branch {digest.branch}" if digest.branch else period_words(digest.since, digest.until)
    return f"{digest.project_name}, {what}"


def period_words(since: datetime, until: datetime) -> str:
    """Return a period in words: days, or hours where it is shorter than two days; both are UTC."""
    if until - since < timedelta(days=2):
        return f"{since.day} {since:%B %Y, %H:%M} to {until.day} {until:%B, %H:%M} UTC"
    year = "" if since.year == until.year else f" {since.year}"
    month = f" {since:%B}{year}" if (since.month, since.year) != (until.month, until.year) else ""
    return f"{since.day}{month} to {until.day} {until:%B %Y}"


def counts_line(digest: MemoryDigest) -> str:
    """Return the number of lessons of each section in one line: `9 learnt in 4 sessions by Ada and Ben, 1 changed`."""
    words = {"stale": "went stale", "waits": "waiting"}
    parts = []
    for section in digest.sections:
        if not section.total:
            continue
        part = f"{section.total:,} {words.get(section.name, section.name)}"
        if section.name == "learnt" and digest.sessions:
            part += f" in {counted(digest.sessions, 'session')}"
        parts.append(part)
    return ", ".join(parts) or NOTHING


def section_heading(section: DigestSection) -> str:
    """Return the section's title with its count: `Waits for a decision (9, 2 of them are new)`."""
    return f"{section.title} ({', '.join(filter(None, (f'{section.total:,}', section.note)))})"


def happened(item: DigestItem) -> str:
    """Return what happened to the lesson, with the others that it names; empty where the section says it."""
    others = "; ".join(f"{other.short_id} {_clipped(other.title)}" for other in item.others)
    return " ".join(filter(None, (item.note, others)))


def remarks(item: DigestItem) -> str:
    """Return who said it, and where alone it is told."""
    parts = [item.source, "private" if item.is_private else "", f"on {item.branch}" if item.branch else ""]
    return ", ".join(filter(None, parts))


def render_text(digest: MemoryDigest) -> Iterator[str]:
    """Yield the lines of the digest for a terminal; each lesson begins with the id that `holdfast show` accepts."""
    yield headline(digest)
    yield counts_line(digest)
    for section in digest.sections:
        if not section.total:
            continue
        yield ""
        yield section_heading(section)
        for item in section.items:
            yield f"  {item.short_id}  {_clipped(item.title)} ({remarks(item)})"
            if words := happened(item):
                yield f"            {words}"
        if section.more:
            yield f"  and {section.more:,} more"


def render_markdown(digest: MemoryDigest) -> Iterator[str]:
    """Yield the lines of the digest as Markdown that may stand in public."""
    yield f"# {publishable(headline(digest))}"
    yield ""
    yield f"{counts_line(digest)}."
    for section in digest.sections:
        if not section.total:
            continue
        yield ""
        yield f"## {section_heading(section)}"
        yield ""
        for item in section.items:
            words = happened(item)
            after = f": {publishable(words)}" if words else ""
            yield f"- `{item.short_id}` **{publishable(_clipped(item.title))}**{after} ({publishable(remarks(item))})"
        if section.more:
            yield f"- and {section.more:,} more"


def rule_line(item: DigestItem) -> str:
    """Return the lesson as one item of a Markdown list: its rule, its reason and the code that it is about."""
    why = f" {publishable(item.why)}" if item.why else ""
    about = ", ".join(f"`{path}`" for path in item.files)
    return f"- **{publishable(item.rule)}**{why}" + (f" ({about})" if about else "")


def render_atom(digest: MemoryDigest, address: str, page: str = "") -> str:
    """Return the digest as an Atom feed, whose own address is `address`; `page` is the address of its page.

    A reader gets one entry for each lesson of a section, the newest first.
    """
    entries = [(item.at, section, item) for section in digest.sections for item in section.items]
    newest = sorted(entries, key=lambda entry: (entry[0], entry[2].lesson), reverse=True)
    feed = Element("feed", {"xmlns": ATOM})
    _add(feed, "id", uuid5(NAMESPACE_URL, f"holdfast:{digest.project}/digest/{digest.audience}").urn)
    _add(feed, "title", f"{digest.project_name}: what memory learnt")
    _add(feed, "updated", render_instant(newest[0][0] if newest else digest.since))
    _add(SubElement(feed, "author"), "name", "Holdfast")
    SubElement(feed, "link", {"rel": "self", "type": "application/atom+xml", "href": address})
    if page:
        SubElement(feed, "link", {"rel": "alternate", "type": "text/html", "href": page})
    for at, section, item in newest:
        _add_entry(feed, at, section, item)
    indent(feed)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(feed, encoding="unicode") + "\n"


def _add_entry(feed: Element, at: datetime, section: DigestSection, item: DigestItem) -> None:
    entry = SubElement(feed, "entry")
    _add(entry, "id", uuid5(NAMESPACE_URL, f"holdfast:{item.lesson}/{section.name}").urn)
    _add(entry, "title", f"{section.title}: {_clipped(item.title)}")
    _add(entry, "updated", render_instant(at))
    SubElement(entry, "category", {"term": section.name, "label": section.title})
    lines = [happened(item), item.rule, item.why, f"{remarks(item)}. holdfast show {item.short_id}"]
    _add(entry, "content", "\n".join(publishable(text) for text in lines if text), type="text")


def _add(parent: Element, name: str, text: str, **attributes: str) -> None:
    SubElement(parent, name, attributes).text = _for_xml(text)


def _for_xml(text: str) -> str:
    """Return the text without characters that XML forbids."""
    return "".join(
        char for char in without_hidden(text) if (char >= " " or char in "\t\n") and char not in "\ufffe\uffff"
    )


def _clipped(title: str) -> str:
    """Return a title that fits into two lines."""
    return title if len(title) <= DIGEST_TITLE else title[: DIGEST_TITLE - 1].rstrip() + "…"
