"""The frame around every page: templates, filters, navigation, and the files that pages load.

Every value is escaped. A page loads our style sheets and our one script, from addresses that change with their content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from holdfast.lean.plain import render_instant
from holdfast.lean.texts import counted, short_id
from holdfast.pages.page import HTML, ActionAnswer, Page, PageRow
from holdfast.pages.table import FOLDED, NAVIGATION
from holdfast.pages.view import View
from holdfast.reports.marking import Marks, excerpt, mark
from holdfast.reports.timeline import length_words

STATIC = "/static/"
MEDIA = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The content security policy of every page: nothing from elsewhere, nothing inline, no frame around it."""
FRESH_WORDS = {
    "unanchored": "no code", "fresh": "fresh", "moved": "moved", "unverified": "not checked",
    "drifted": "code changed", "changed": "signature changed", "orphaned": "code gone",
}  # fmt: skip
FRESH_TONES = {"fresh": "good", "moved": "good", "drifted": "warn", "changed": "bad", "orphaned": "bad"}
STATE_WORDS = {
    "candidate": "unconfirmed", "active": "confirmed", "superseded": "replaced", "retired": "retired",
    "quarantined": "suspicious", "forgotten": "forgotten",
}  # fmt: skip
STATE_TONES = {"active": "good", "candidate": "warn", "quarantined": "bad"}
MOST_COUNTED = 1_000
"""From here on a count is shown as `1,000+`, because nothing counts further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationEntry:
    """A page in the navigation."""

    name: str
    title: str
    address: str
    key: str
    is_current: bool
    is_folded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticFile:
    """A file that pages load, at an address that changes with its content."""

    address: str
    media_type: str
    content: bytes


def render(row: PageRow | None, page: Page, view: View, *, notice: ActionAnswer | None = None) -> str:
    """Return the page as text: HTML within the frame, or what its own template says."""
    name = f"{page.template}.html" if page.media_type == HTML else page.template
    return _environment().get_template(name).render(
        page=page.data, view=view, row=row, title=page.title or (row.title if row else ""), notice=notice,
        link=view.link, action=view.action, navigation=_navigation(row, view),
        styles=[static_address("holdfast.css"), *_own_style(page.template)], script=static_address("holdfast.js"),
        icon=static_address("mark.svg"), pictures=page.pictures(),
    )  # fmt: skip


@cache
def static_files() -> dict[str, StaticFile]:
    """Return every file of `static` by its address."""
    loaded: dict[str, StaticFile] = {}
    for name, file in _load_static().items():
        loaded[file.address] = file
        _by_name()[name] = file.address
    return loaded


def static_address(name: str) -> str:
    """Return the address of a file of `static`."""
    static_files()
    return _by_name()[name]


@cache
def _by_name() -> dict[str, str]:
    return {}


def _own_style(template: str) -> list[str]:
    static_files()
    address = _by_name().get(f"{template}.css")
    return [address] if address else []


def _load_static() -> dict[str, StaticFile]:
    loaded = {}
    for entry in files("holdfast.pages").joinpath("static").iterdir():
        stem, _, ending = entry.name.rpartition(".")
        if ending not in MEDIA:
            continue
        content = entry.read_bytes()
        if ending == "css":
            content = re.sub(rb"\s*/\*.*?\*/", b"", content, flags=re.DOTALL)
        address = f"{STATIC}{stem}-{sha256(content).hexdigest()[:12]}.{ending}"
        loaded[entry.name] = StaticFile(address=address, media_type=MEDIA[ending], content=content)
    return loaded


def _navigation(row: PageRow | None, view: View) -> list[NavigationEntry]:
    entries = []
    for name, key in NAVIGATION:
        page = view.addresses.row(name)
        if page is None or (page.is_served_only and not view.is_served) or not view.may(page.verb):
            continue
        if "{project}" in page.path and view.of is None:
            continue
        is_current = row is not None and (row.name == name or row.under == name)
        entries.append(
            NavigationEntry(
                name=name,
                title=page.title,
                address=view.link(name),
                key=key,
                is_current=is_current,
                is_folded=name in FOLDED,
            )
        )
    return entries


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("holdfast.pages"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "ago": ago, "day": day, "moment": moment, "count": count, "plural": counted, "short": short_id,
        "percent": percent, "badge": badge, "state": state_badge, "freshness": freshness_badge, "words": words,
        "address": address, "ticks": ticks, "duration": length_words, "marked": marked,
        "excerpt": excerpt,
    }  # fmt: skip
    return environment


# Filters


def moment(at: datetime) -> Markup:
    """`2026-11-28 06:45`, UTC, as a `<time>`."""
    return _time(at, f"{at:%Y-%m-%d %H:%M}")


def day(at: datetime) -> Markup:
    """`28 Nov 2026` as a `<time>`."""
    return _time(at, f"{at.day} {at:%b %Y}")


def ago(at: datetime, now: datetime) -> Markup:
    """`3 hours ago` as a `<time>` with the instant as its title: `{{ lesson.recorded_at | ago(view.now) }}`."""
    seconds = (now - at).total_seconds()
    if seconds < 60:
        return _time(at, "just now")
    for unit, length, most in (("minute", 60, 60), ("hour", 3_600, 24), ("day", 86_400, 14), ("week", 604_800, 9)):
        number = int(seconds // length)
        if number < most:
            return _time(at, f"{counted(number, unit)} ago")
    return day(at)


def _time(at: datetime, text: str) -> Markup:
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        render_instant(at), f"{at:%Y-%m-%d %H:%M} UTC", text
    )


def count(number: int, capped: bool = False) -> str:
    """`1,204`; with `capped`, `1,000+` from where nothing counts further."""
    return f"{MOST_COUNTED:,}+" if capped and number >= MOST_COUNTED else f"{number:,}"


def percent(share: float) -> str:
    """`0.82` as `82 %`."""
    return f"{share * 100:.0f} %"


def words(name: str) -> str:
    """A name of the vocabulary as words: `bug_cause` is `bug cause`."""
    return name.replace("_", " ")


def badge(text: str, tone: str = "") -> Markup:
    """A small label; `tone` is good, warn, bad or empty. The word says it, the colour repeats it."""
    return Markup('<span class="badge{}">{}</span>').format(f" {tone}" if tone else "", text)


def state_badge(state: str) -> Markup:
    """A lesson's state as a label: confirmed, unconfirmed, retired, replaced, suspicious."""
    return badge(STATE_WORDS[state], STATE_TONES.get(state, ""))


def freshness_badge(freshness: str) -> Markup:
    """A verdict on the code as a label, such as `fresh`, `code changed` or `no code`."""
    return badge(FRESH_WORDS[freshness], FRESH_TONES.get(freshness, ""))


def marked(text: str, marks: Marks) -> Markup:
    """A sentence with the words of a question marked, in which what stands between backticks is code."""
    parts = text.split("`")
    is_even = len(parts) % 2 == 0  # a backtick without a second one
    return Markup("").join(
        Markup("<code>{}</code>").format(_with_marks(part, marks)) if at % 2 and part else _with_marks(part, marks)
        for at, part in enumerate([text] if is_even else parts)
    )


def _with_marks(text: str, marks: Marks) -> Markup:
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece.text) if piece.is_match else escape(piece.text)
        for piece in mark(text, marks)
    )


def ticks(text: str) -> Markup:
    """A sentence in which what stands between backticks is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without a second one
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if at % 2 and part else escape(part) for at, part in enumerate(parts)
    )


def address(text: str) -> Markup:
    """A path or an identifier as code that may break behind its slashes, dots and underscores."""
    broken = re.sub(r"([/._:])", r"\1<wbr>", str(escape(text)))
    return Markup(f"<code>{broken}</code>")
