"""Team servers: log in and out, link a project, and sync private lessons between one person's machines."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Lesson
from holdfast.domain.team import FLAG_REASONS, ROLES, FlagReason, Role
from holdfast.errors import HoldfastError, InvalidValueError, LessonNotFoundError, NotFoundError, WrongKeyError
from holdfast.home.remotes import (
    TOKEN_VARIABLE,
    ProjectLink,
    Remote,
    Remotes,
    change_remotes,
    load_remotes,
    name_of,
    normalise_url,
)
from holdfast.lean.plain import to_plain
from holdfast.lean.texts import counted, short_id
from holdfast.publishing.lessonfile import shared_id
from holdfast.rendering.views import lesson_json
from holdfast.settings import load_settings
from holdfast.surfaces.cli.frame import Call, command, group, lesson_argument
from holdfast.surfaces.cli.screen import bar, note, pairs, say, table

if TYPE_CHECKING:
    from holdfast.client.answers import LessonJudgements
    from holdfast.client.client import Client
    from holdfast.client.documents import DocumentClient
    from holdfast.publishing.remote.exchange import ExchangeReport

INVITED = "/invite/"
"""Stands before the text of an invitation in its link."""
TOKEN_LIMIT = 500
"""Characters of a token; what is longer is something else."""
name_argument = click.argument("name", default="", metavar="[SERVER]")


@command(
    "holdfast login https://memory.example.com", "holdfast login memory.example.com < token.txt",
    "HOLDFAST_TOKEN=… holdfast login localhost:7433", "holdfast login https://memory.example.com/invite/hf_i…",
    folder=False,
)  # fmt: skip
@click.argument("url")
@click.option("--name", default="", help="What to call the server here.  [default: its host name]")
@click.option("--as", "person", default="", help="With an invitation's link: your name.  [default: the invitation's]")
def login(call: Call, url: str, name: str, person: str) -> None:
    """Log in to a team server with a token, which is asked for and never typed on the command line.

    Without a terminal it is read from standard input, or from the variable HOLDFAST_TOKEN. It is stored in a file that
    only you can read. Nothing is sent yet: `holdfast remote add` links a project.

    The link of an invitation makes you a member first, and needs no token. It can be used once: on your other machines,
    log in with a token of your own (`holdfast remote token`).
    """
    address, _, invitation = url.partition(INVITED)
    address = normalise_url(address)
    token = _join(address, invitation, person) if invitation else _ask_token(name_of(address))
    remote = Remote(name=name or name_of(address), url=address, token=token)
    with open_client(remote) as client:
        try:
            me = client.me()
        except NotFoundError as exc:
            raise NotFoundError(
                f"{address} is not the address of a server", hint="give it without a path: https://memory.example.com"
            ) from exc
    home = load_settings().home

    def with_login(remotes: Remotes) -> Remotes:
        former = next((known for known in remotes.remotes if known.name == remote.name), None)
        if former is not None and former.url != remote.url:
            raise InvalidValueError(f"{remote.name} is another server: {former.url}", hint="give it a --name")
        return remotes.with_remote(replace(remote, private_key=former.private_key if former else ""))

    change_remotes(home, with_login)
    member, role = str(me.get("name", "")), str(me.get("role", ""))
    if call.answer({"server": remote.name, "url": remote.url, "name": member, "role": role}):
        return
    say(f"logged in to {remote.name}" + (f" as {member}" if member else "") + (f", {role}" if role else ""))
    note("nothing is sent yet: in a project, holdfast remote add links it")


@command("holdfast logout", "holdfast logout memory.example.com", folder=False)
@name_argument
def logout(call: Call, name: str) -> None:
    """Forget a server's token, the links of projects to it and the key of private lessons. Lessons stay here.

    The token itself stays valid until it is revoked on the server.
    """
    home = load_settings().home
    remote = load_remotes(home).named(name)
    links = [link for link in load_remotes(home).links if link.remote == remote.name]
    change_remotes(home, lambda remotes: remotes.without_remote(remote.name))
    if call.answer({"server": remote.name, "unlinked": [link.project for link in links]}):
        return
    say(f"logged out of {remote.name}")
    if links:
        note(f"{counted(len(links), 'project')} no longer linked; their lessons stay here")


@group("holdfast remote add", "holdfast remote status", "holdfast remote private on")
def remote(call: Call) -> None:
    """Link projects to a team server, which `holdfast login` made known.

    `holdfast sync` syncs a linked project, and so does Holdfast by itself after a session and before one. Private
    lessons and your own lessons for all projects never go to a server, unless you switch on `remote private`, and then
    only sealed with a key that stays on your machines.
    """


@command("holdfast remote list", of=remote, name="list", folder=False)
def list_(call: Call) -> None:
    """List the servers, and how many projects are linked to each."""
    remotes = load_remotes(load_settings().home)
    rows = [(each, [link.project for link in remotes.links if link.remote == each.name]) for each in remotes.remotes]
    plain = [
        {"name": each.name, "url": each.url, "projects": projects, "private": bool(each.private_key)}
        for each, projects in rows
    ]
    if call.answer({"servers": plain}):
        return
    say(*table([[each.name, each.url, str(len(projects))] for each, projects in rows], ("name", "url", "projects")))
    if not rows:
        note("no server is known here: holdfast login URL")


@command("holdfast remote add", "holdfast remote add memory.example.com --chosen", of=remote, memory=True)
@name_argument
@click.option("--chosen", is_flag=True, help="Send only lessons that you shared with `holdfast share`, one by one.")
def add(call: Call, memory: Memory, name: str, chosen: bool) -> None:
    """Link this folder's project to a server; `holdfast sync` sends and receives from then on.

    Every active lesson of the project is sent, except private ones, your own for all projects, those staged on a
    branch and what looks like an attack. `holdfast sync --dry-run` shows them first.
    """
    home, project = memory.settings.home, memory.location.project
    server = load_remotes(home).named(name)
    with open_client(server) as client:
        try:
            client.project(project.id)
        except NotFoundError:
            client.add_project(project.id, project.name)
    link = ProjectLink(project=project.id, remote=server.name, chosen_only=chosen)
    change_remotes(home, lambda remotes: remotes.with_link(link))
    ready = 0 if chosen else len(memory.shareable())
    if call.answer({"server": server.name, "project": project.id, "chosen": chosen, "ready": ready}):
        return
    say(f"{project.name} is linked to {server.name}")
    note(f"{counted(ready, 'lesson')} to send: holdfast sync" if ready else "holdfast sync sends and receives")


@command("holdfast remote remove", of=remote, memory=True)
def remove(call: Call, memory: Memory) -> None:
    """Unlink this folder's project. Its lessons stay here and on the server."""
    home, project = memory.settings.home, memory.location.project
    server = load_remotes(home).remote_of(project.id)
    if server is None:
        raise InvalidValueError(f"{project.name} is not linked to a server", hint="holdfast remote add")
    change_remotes(home, lambda remotes: remotes.without_link(project.id))
    if not call.answer({"server": server.name, "project": project.id}):
        say(f"{project.name} is no longer linked to {server.name}")


@command("holdfast remote status", "holdfast remote status --json", of=remote, memory=True)
def status(call: Call, memory: Memory) -> None:
    """Print this project's server, when it was synced last, and whether the server can be reached with the token."""
    remotes, project = load_remotes(memory.settings.home), memory.location.project
    server, link = remotes.remote_of(project.id), remotes.link_of(project.id)
    if server is None or link is None:
        raise InvalidValueError(f"{project.name} is not linked to a server", hint="holdfast remote add")
    last = memory.last_exchange(server)
    trouble, hint = "", ""
    try:
        with open_client(server) as client:
            client.me()
    except HoldfastError as exc:
        trouble, hint = str(exc), exc.hint
    plain = {
        "server": server.name, "url": server.url, "project": project.id, "chosen": link.chosen_only,
        "synced_at": str(last.get("at", "")), "position": last.get("after", 0), "private": bool(server.private_key),
        "trouble": trouble, "hint": hint,
    }  # fmt: skip
    if call.answer(plain):
        return
    rows = [
        ("server", f"{server.name}  {server.url}"), ("project", project.name),
        ("sends", "only what you share one by one" if link.chosen_only else "every lesson that is not private"),
        ("synced", str(last.get("at", ""))[:16].replace("T", " ") + " UTC" if last.get("at") else "never"),
        ("private", "sealed, with a key of your machines" if server.private_key else "not synced"),
        ("reached", f"no: {trouble}" if trouble else "yes"),
    ]  # fmt: skip
    say(*pairs(rows))
    if hint:
        note(hint)


@command(
    "holdfast remote invite --name Grace", "holdfast remote invite --role reviewer --days 2", of=remote, folder=False
)
@name_argument
@click.option("--name", "person", default="", help="Who is invited.")
@click.option("--role", default="writer", type=click.Choice(ROLES), show_default=True, help="What they may do.")
@click.option("--email", default="", help="Their address, for sign-in by an identity provider.")
@click.option("--days", default=7, show_default=True, type=click.IntRange(1, 90), help="How long the link holds.")
def invite(call: Call, name: str, person: str, role: Role, email: str, days: int) -> None:
    """Invite somebody to the team, and print the link, which makes them a member once. For admins."""
    server = load_remotes(load_settings().home).named(name)
    with open_team(server) as client:
        invited = client.invite(role=role, email=email, name=person, days=days)
    link = f"{server.url}{INVITED}{invited.text}"
    if call.answer(
        {"server": server.name, "link": link, "role": role, "expires_at": to_plain(invited.invitation.expires_at)}
    ):
        return
    say(link)
    note(f"holds for {counted(days, 'day')}, once: open it in a browser, or: holdfast login LINK")


@command("holdfast remote token", "holdfast remote token laptop --days 30", of=remote, folder=False)
@click.argument("label", default="another machine", metavar="[NAME]")
@click.option("--server", "name", default="", help="The server, where there are several.")
@click.option("--role", type=click.Choice(ROLES), help="The most that it may do.  [default: what you may]")
@click.option("--read-only", is_flag=True, help="It may only read, such as for a link that you paste into a tool.")
@click.option("--days", default=365, show_default=True, type=click.IntRange(0), help="0: until it is revoked.")
def token(call: Call, label: str, name: str, role: Role | None, read_only: bool, days: int) -> None:
    """Make a token of your own, for another machine or a program, and print it once."""
    server = load_remotes(load_settings().home).named(name)
    with open_team(server) as client:
        issued = client.add_token(
            label, role="reader" if read_only else role, verbs=["read"] if read_only else (), days=days
        )
    if not call.answer({"server": server.name, "id": issued.token.id, "token": issued.text}):
        say(issued.text)
        note(f"shown only now; on the other machine: holdfast login {server.url}")


@command("holdfast remote confirm 1f0c9a2b", of=remote, memory=True)
@lesson_argument
def confirm(call: Call, memory: Memory, ref: str) -> None:
    """Say that a lesson of the team holds; the team's rules may accept it by that. Once a member a lesson."""
    with _judging(memory, ref) as (client, id):
        _tell_judgements(call, client.confirm(id))


@command(
    "holdfast remote flag 1f0c9a2b stale --note 'since 2.0'", "holdfast remote flag 1f0c9a2b duplicate --of 77ab03e1",
    of=remote, memory=True,
)  # fmt: skip
@lesson_argument
@click.argument("reason", type=click.Choice(FLAG_REASONS))
@click.option("--note", "words", default="", help="Why.")
@click.option("--of", "other", default="", help="The lesson that it repeats.")
def flag(call: Call, memory: Memory, ref: str, reason: FlagReason, words: str, other: str) -> None:
    """Say that a lesson of the team is stale, incorrect or a duplicate; reviewers see it, and nothing else changes."""
    with _judging(memory, ref) as (client, id):
        _tell_judgements(call, client.flag(id, reason, note=words, of=other))


@command("holdfast remote review", "holdfast remote review --json", of=remote, memory=True)
def review(call: Call, memory: Memory) -> None:
    """Print what waits for a reviewer of the team: proposals, flags and doubts. For reviewers."""
    with _judging(memory) as (client, _):
        queue = client.inbox(limit=1_000)
    plain = {
        "waiting": [lesson_json(lesson) for lesson in queue.waiting], "flags": [to_plain(each) for each in queue.flags],
        "in_doubt": [{"lesson": lesson_json(each.lesson), "reason": each.reason} for each in queue.in_doubt],
        "more": queue.more,
    }  # fmt: skip
    if call.answer(plain):
        return
    rows = [[short_id(lesson.id), "waits", lesson.title, lesson.provenance.author] for lesson in queue.waiting]
    rows += [[short_id(each.lesson), each.reason, each.note, ""] for each in queue.flags]
    rows += [[short_id(each.lesson.id), "in doubt", each.lesson.title, each.reason] for each in queue.in_doubt]
    say(*table(rows, ("id", "what", "title or note", "by or why")))
    note("holdfast remote accept ID, or reject ID" if queue.waiting else "no lesson waits")


@command("holdfast remote accept 1f0c9a2b", of=remote, memory=True)
@lesson_argument
def accept(call: Call, memory: Memory, ref: str) -> None:
    """Accept a lesson that waits: from then on everybody in the team is told. For reviewers."""
    with _judging(memory, ref) as (client, id):
        _tell_lesson(call, client.accept(id), "holdfast sync brings it to this machine")


@command("holdfast remote reject 1f0c9a2b", of=remote, memory=True)
@lesson_argument
def reject(call: Call, memory: Memory, ref: str) -> None:
    """Reject a lesson that waits; its author's machines take it back. For reviewers."""
    with _judging(memory, ref) as (client, id):
        _tell_lesson(call, client.reject(id), "its author's machines take it back at their next sync")


@contextmanager
def _judging(memory: Memory, ref: str = "") -> Iterator[tuple[Client, str]]:
    """Yield the client of the project's server, and the lesson's id there. Raises InvalidValueError without a link.

    An id of this machine is accepted, too, while the lesson has the words that it was shared with.
    """
    from holdfast.client.client import Client

    project = memory.location.project
    server = load_remotes(memory.settings.home).remote_of(project.id)
    if server is None:
        raise InvalidValueError(f"{project.name} is not linked to a server", hint="holdfast remote add")
    with Client(server.url, server.token, project=project.id) as client:
        yield client, _id_there(client, memory, ref) if ref else ""


def _id_there(client: Client, memory: Memory, ref: str) -> str:
    try:
        return client.get(ref).id
    except NotFoundError:
        try:
            local = memory.get(ref)
        except LessonNotFoundError as exc:
            hint = "holdfast remote review lists what waits, holdfast --remote NAME list what holds"
            raise LessonNotFoundError(f"no lesson {ref} here or on the server", hint=hint) from exc
    return client.get(shared_id(local.kind, local.insight)).id


def _tell_judgements(call: Call, judged: LessonJudgements) -> None:
    plain = {
        "lesson": lesson_json(judged.lesson), "confirmations": len(judged.confirmations),
        "flags": [to_plain(each) for each in judged.flags], "accepted_by": judged.accepted_by,
    }  # fmt: skip
    if call.answer(plain):
        return
    say(f"{short_id(judged.lesson.id)}  {judged.lesson.title}")
    words = f"{counted(len(judged.confirmations), 'confirmation')}, {counted(len(judged.flags), 'flag')}"
    note(words + (f"; accepted by {judged.accepted_by}" if judged.accepted_by else ""))


def _tell_lesson(call: Call, lesson: Lesson, words: str) -> None:
    if not call.answer(lesson_json(lesson)):
        say(f"{short_id(lesson.id)}  {lesson.title}  {lesson.state}")
        note(words)


@command(
    "holdfast remote private on", "holdfast remote private on --key", "holdfast remote private key",
    "holdfast remote private off", of=remote, folder=False,
)  # fmt: skip
@click.argument("choice", metavar="on|off|key", type=click.Choice(["on", "off", "key"]))
@name_argument
@click.option("--key", "has_key", is_flag=True, help="With `on`: ask for the key that another machine of yours has.")
def private(call: Call, choice: str, name: str, has_key: bool) -> None:
    """Sync private lessons and your own lessons for all projects between your machines, sealed with a key of yours.

    On the first machine `on` makes the key and prints it; on the others give --key and type it (without a terminal it
    is read from standard input). `key` prints it again. `off` forgets it here; what is sealed on the server stays.

    The server never gets the key, and no backup contains it: without it nobody can read the sealed lessons again, so
    write it down. The server learns how many there are, and when one changes.
    """
    home = load_settings().home
    server = load_remotes(home).named(name)
    if choice == "key":
        if not server.private_key:
            raise WrongKeyError("this machine has no key", hint="holdfast remote private on")
        if not call.answer({"server": server.name, "key": server.private_key}):
            say(server.private_key)
        return
    key = _choose_key(server, has_key) if choice == "on" else ""
    change_remotes(home, lambda remotes: remotes.with_remote(replace(remotes.named(server.name), private_key=key)))
    if call.answer({"server": server.name, "private": bool(key)}):
        return
    say("private lessons are synced, sealed with your key" if key else "private lessons are no longer synced")
    if key and not has_key:
        say("", key, "")
        note("write it down, it cannot be recovered; on your other machines: holdfast remote private on --key")


def _choose_key(server: Remote, has_key: bool) -> str:
    """Return the key that somebody types, or a new one. Raises WrongKeyError if other machines have another one."""
    from holdfast.publishing.remote.sealed import check_key
    from holdfast.publishing.remote.sealing import make_seal, show_key

    key = _ask_secret("key: ", "a key") if has_key else server.private_key or show_key(os.urandom(32))
    seal = make_seal(key)
    with open_client(server) as client:
        if check_key(client, seal) and has_key:
            note("no machine of yours has sealed anything on this server yet")
    return key


@contextmanager
def open_client(remote: Remote) -> Iterator[DocumentClient]:
    """Yield the client of a server; the first use of HTTP in the process takes a moment."""
    from holdfast.client.documents import DocumentClient
    from holdfast.client.transport import Transport

    client = DocumentClient(Transport(remote.url, remote.token))
    try:
        yield client
    finally:
        client.close()


@contextmanager
def open_team(remote: Remote) -> Iterator[Client]:
    """Yield the client of a server for what is not of one project."""
    from holdfast.client.client import Client

    with Client(remote.url, remote.token) as client:
        yield client


def sync_with_server(memory: Memory, *, accept: bool, dry: bool, share: Sequence[Lesson] = ()) -> ExchangeReport | None:
    """Sync the project with the server that it is linked to, with a progress bar; None without one.

    Raises InvalidValueError if lessons are to be shared, and there is none.
    """
    if load_remotes(memory.settings.home).link_of(memory.location.project.id) is None:
        if share:
            raise InvalidValueError("this project is not linked to a server", hint="holdfast remote add")
        return None
    with bar("syncing with the server") as progress:
        return memory.exchange(
            share=share, accept=accept, dry=dry, progress=lambda what, done, total: progress.show(done, total)
        )


def exchange_json(report: ExchangeReport | None) -> dict[str, Any] | None:
    """Return what a sync with a server did, for `--json`."""
    if report is None:
        return None
    return {
        "steps": [
            {"verb": step.verb, "id": step.lesson, "title": step.title, "reason": step.reason}
            for step in report.steps if step.verb != "written"
        ],
        "received": report.received, "sent": report.sent, "proposed": report.proposed,
        "refused": [{"id": id, "reason": reason} for id, reason in report.refused],
        "problems": [{"id": problem.path, "reason": problem.reason} for problem in report.problems],
        "shared": report.shared, "waiting": report.waiting, "conflicts": report.conflicts, "private": report.private,
    }  # fmt: skip


def tell_exchange(report: ExchangeReport, dry: bool) -> None:
    """Print what a sync with a server did, or would do."""
    for step in report.steps:
        if dry or step.verb not in ("written", "refused"):
            say(f"{step.verb:9} {step.lesson[-8:]}  {step.title}" + (f" ({step.reason})" if step.reason else ""))
    words = f"server: {counted(report.received, 'change')} received, {report.sent} sent"
    note(words + (f", {report.proposed} of them for review" if report.proposed else ""))
    if report.private:
        note(f"{counted(report.private, 'private lesson')} synced, sealed")
    for id, reason in report.refused:
        note(f"the server refused {id[-8:]}: {reason}")
    for problem in report.problems:
        note(f"error: {problem.path[-8:]}: {problem.reason}; skipped")
    if report.waiting:
        note(f"{counted(report.waiting, 'change')} of others wait for you: holdfast sync --accept")
    brought = {step.lesson for step in report.steps if step.verb == "added" and step.reason}
    if not dry and brought - {step.lesson for step in report.steps if step.verb != "added"}:
        note("lessons that the team has not accepted yet wait in your inbox: holdfast review")


def _join(address: str, invitation: str, person: str) -> str:
    """Accept the invitation on the server and return the new member's token."""
    from holdfast.client import Client

    with Client(address, "") as client:
        return client.accept_invitation(invitation, name=person, token_name=platform.node() or "terminal").text


def _ask_token(host: str) -> str:
    """Return the token from the environment, from standard input, or as a person types it unseen."""
    token = os.environ.get(TOKEN_VARIABLE, "").strip() or _ask_secret(f"token for {host}: ", "a token")
    if not token.isascii() or not token.isprintable() or " " in token or len(token) > TOKEN_LIMIT:
        raise InvalidValueError("that is not a token", hint="an admin of the team makes one on the server")
    return token


def _ask_secret(question: str, what: str) -> str:
    if sys.stdin.isatty():
        secret = str(click.prompt(question.rstrip(": "), hide_input=True, err=True))
    else:
        secret = sys.stdin.readline(TOKEN_LIMIT + 1)
    if not secret.strip():
        raise InvalidValueError(f"{what} is needed", hint="type it when asked, or send it to standard input")
    return secret.strip()
