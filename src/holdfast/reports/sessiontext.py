"""Sessions, a session's story and threads as plain text, 80 columns wide. Words of sessions are shown as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from textwrap import wrap

from holdfast.lean.texts import counted, short_id
from holdfast.recall.openfailures import day_of
from holdfast.reports.sessionstory import (
    PartSize,
    SessionStory,
    StoryCommand,
    StoryFailure,
    StoryFile,
    StoryLesson,
    StoryPrompt,
)
from holdfast.reports.threads import ThreadLine, Threads
from holdfast.reports.timeline import SessionLine, Timeline, length_words
from holdfast.reports.tuning import TEXT_WIDTH
from holdfast.text.hidden import without_hidden

ERASED = "(the text was erased)"
NO_PROMPT = "(no prompt)"


def done_words(line: SessionLine) -> str:
    """Return what was done in the session: `12 edits in 3 files, 2 failures (2 mended), 1 commit, 1 lesson`."""
    if not line.is_counted:
        return "not counted yet"
    edits = counted(line.edits, "edit") + (f" in {counted(line.files, 'file')}" if line.files > 1 else "")
    failures = counted(line.failures, "failure") + (f" ({line.mended:,} mended)" if line.mended else "")
    parts = [
        edits if line.edits else "", failures if line.failures else "",
        counted(line.commits, "commit") if line.commits else "",
        f"{counted(line.taught, 'lesson')} taught" if line.taught else "",
    ]  # fmt: skip
    return ", ".join(filter(None, parts)) or "nothing edited"


def opening_words(line: SessionLine) -> str:
    """Return how the session opened, or why that is not known."""
    return line.opening or (ERASED if line.is_erased else NO_PROMPT)


def place_words(line: SessionLine) -> str:
    """Return where and by whom the session was worked on."""
    return " · ".join(filter(None, (line.branch, line.person, line.host)))


def render_timeline(timeline: Timeline) -> list[str]:
    """Return the sessions under their days."""
    lines: list[str] = []
    for day in timeline.days:
        at = date.fromisoformat(day.day)
        lines += ["", f"{at:%A}, {at.day} {at:%B %Y}"] if lines else [f"{at:%A}, {at.day} {at:%B %Y}"]
        for session in day.sessions:
            lines += _session_lines(session)
    return lines


def _session_lines(line: SessionLine) -> Iterator[str]:
    """Yield a session in three lines: id, time, length and place; how it opened; what was done."""
    head = f"{short_id(line.session)}  {line.began_at:%H:%M}  {length_words(line.active_s)}  {place_words(line)}"
    yield _cut(f"  {head}", TEXT_WIDTH)
    yield from _wrapped(opening_words(line), 12, 2)
    yield from _wrapped(done_words(line), 12, 1)


def render_story(story: SessionStory) -> list[str]:
    """Return the story, part by part; a part without entries is left out."""
    line = story.line
    began = line.began_at
    head = [
        f"Session {short_id(line.session)}, {began:%A}, {began.day} {began:%B %Y}, {began:%H:%M} UTC",
        f"{length_words(line.active_s)} of work · {place_words(line)}",
        *_wrapped(done_words(line), 0, 2),
    ]
    if story.erased:
        head.append(f"The texts of {counted(story.erased, 'event')} were erased.")
    commits = (_wrapped(f"{commit.at:%H:%M} {commit.subject or '(no subject)'}", 2, 2) for commit in story.commits)
    head += [
        *_part("Asked", "asked", story.counts["prompts"], map(_prompt_lines, story.prompts)),
        *_part("Failed", "failed", story.counts["failures"], map(_failure_lines, story.failures)),
        *_part("Edited", "edited", story.counts["files"], map(_file_lines, story.files)),
        *_part("Ran", "ran", story.counts["commands"], map(_command_lines, story.commands)),
        *_part("Committed", "committed", story.counts["commits"], commits),
        *_part("Taught", "taught", story.counts["taught"], map(_lesson_lines, story.taught)),
        *_part("Was told", "told", story.counts["told"], map(_lesson_lines, story.told)),
        *_part("Missed", "missed", story.counts["missed"], map(_lesson_lines, story.missed)),
    ]
    return head


def _part(title: str, word: str, listing: PartSize, groups: Iterable[Iterable[str]]) -> list[str]:
    """Return a part under its title; `word` is what the command line calls it."""
    if not listing.total:
        return []
    lines = ["", title, *(line for group in groups for line in group)]
    return [*lines, f"  {listing.more:,} more: --whole {word}"] if listing.more else lines


def _prompt_lines(prompt: StoryPrompt) -> Iterator[str]:
    words = ERASED if prompt.is_erased else " ".join(prompt.text.split())
    origin = "(a program) " if prompt.from_program else ""
    yield from _wrapped(f"{prompt.at:%H:%M} {origin}{words}", 2, 4)
    followed = [
        counted(prompt.edits, "edit") if prompt.edits else "",
        counted(prompt.commands, "command") if prompt.commands else "",
        counted(prompt.failures, "failure") if prompt.failures else "",
    ]
    if any(followed):
        yield f"        then {', '.join(filter(None, followed))}"


def _failure_lines(failure: StoryFailure) -> Iterator[str]:
    error = f": {failure.error}" if failure.error else ""
    yield from _wrapped(f"{failure.text}{error}", 2, 3)
    tries = counted(failure.runs, "try") if failure.runs == 1 else f"{failure.runs:,} tries"
    if failure.cured_at is not None:
        end = f"passed at {failure.cured_at:%H:%M}" + (
            f" after edits of {', '.join(failure.files)}" if failure.files else ""
        )
    else:
        end = failure.standing
    yield from _wrapped(f"{tries}, {end}", 4, 2)


def _file_lines(file: StoryFile) -> Iterator[str]:
    changed = "text erased" if file.is_erased else f"+{file.added} -{file.removed}"
    yield from _wrapped(f"{file.path} ({counted(file.edits, 'edit')}, {changed})", 2, 2)


def _command_lines(command: StoryCommand) -> Iterator[str]:
    runs = counted(command.runs, "run") + (f", {command.failed:,} failed" if command.failed else "")
    yield from _wrapped(f"{command.line} ({runs}, last: {'passed' if command.ended_well else 'failed'})", 2, 2)


def _lesson_lines(lesson: StoryLesson) -> Iterator[str]:
    moment = "" if lesson.is_at_start and not lesson.verdict else lesson.moment
    marks = [lesson.verdict, "unconfirmed" if lesson.state == "candidate" else "", moment]
    words = f" ({', '.join(filter(None, marks))})" if any(marks) else ""
    yield from _wrapped(f"{short_id(lesson.lesson)} {lesson_title(lesson)}{words}", 2, 2)


def lesson_title(lesson: StoryLesson) -> str:
    """Return the lesson's title; of a forgotten one nothing is left."""
    return "(forgotten)" if lesson.state == "forgotten" else lesson.title


def render_threads(threads: Threads, now: datetime) -> list[str]:
    """Return the threads, each with its tries and its cure."""
    lines: list[str] = []
    for thread in threads.threads:
        lines += ([""] if lines else []) + list(_thread_lines(thread, now))
    if threads.slips and lines:
        lines += ["", f"{threads.slips:,} more failed once only: holdfast threads --all"]
    return lines


def _thread_lines(thread: ThreadLine, now: datetime) -> Iterator[str]:
    error = f": {thread.error}" if thread.error else ""
    others = f" and {len(thread.others):,} more" if thread.others else ""
    yield from _wrapped(f"{thread.standing}  {thread.text}{others}{error}", 0, 3)
    tries = "1 try" if thread.runs == 1 else f"{thread.runs:,} tries"
    sessions = f" in {counted(thread.sessions, 'session')}" if thread.sessions > 1 else ""
    since = f" since {day_of(thread.since_at, now)}" if thread.standing == "open" else ""
    branch = f" on {thread.branch}" if thread.branch else ""
    yield from _wrapped(f"{tries}{sessions}{since}{branch}, last {day_of(thread.last_at, now)}", 2, 2)
    if thread.cure is not None:
        files = f" after edits of {', '.join(thread.cure.files)}" if thread.cure.files else ""
        form = " in another form" if thread.cure.is_other_form else ""
        yield from _wrapped(f"passed{form} {day_of(thread.cure.at, now)}{files}", 2, 2)
    for lesson in thread.lessons:
        yield from _wrapped(f"{short_id(lesson.lesson)} {lesson.title}", 2, 2)
    yield f"  holdfast sessions {short_id(thread.tries[0].session)}"


def _wrapped(text: str, indent: int, most: int) -> list[str]:
    """Return the text in at most so many lines behind an indent, without hidden characters."""
    plain = " ".join(without_hidden(text).split())
    lines = wrap(plain, TEXT_WIDTH - indent, break_on_hyphens=False) or [""]
    if len(lines) > most:
        lines = [*lines[: most - 1], _cut(lines[most - 1] + " …", TEXT_WIDTH - indent)]
    return [" " * indent + line for line in lines]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
