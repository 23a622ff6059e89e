"""Puts a proposal for shared lessons on a git branch, with the text of a pull request; the checkout stays as it is.

The steps are applied to a copy of the memory, and synced in a temporary work tree that has only the folder
`.holdfast`. Git is called without the repository's hooks and filters.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import InvalidValueError
from holdfast.publishing.publication import publishable
from holdfast.publishing.sync import Syncing, SyncReport, shared_lessons
from holdfast.upkeep.rehearsal import scratch_memory
from holdfast.upkeep.tidying.proposal import Proposal, Step, render_diff
from holdfast.upkeep.tidying.tidy import apply, living
from holdfast.wiring import TIMEOUT_SCALE, SystemClock
from holdfast.workspace.gitrun import Git
from holdfast.workspace.history import LocalBranches

FOLDER = ".holdfast"
LESSONS = f"{FOLDER}/lessons"
TIMEOUT_S = 30.0
"""Seconds of one call of git."""
INTRODUCTION = f"""\
Memory is reviewed like code: each step below changes files in `{LESSONS}`.
Nothing is lost: a closed lesson keeps its words in its file. To refuse a step, revert its files on this branch.
After the merge, each member's memory follows with `holdfast sync --accept`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TidyBranch:
    """A branch with the lesson files as a proposal leaves them."""

    name: str
    commit: str
    files: tuple[str, ...]
    """Changed files, relative to the project's root."""
    title: str
    """Title of the pull request."""
    body: str
    """Its text, as Markdown."""
    refused: tuple[str, ...] = ()
    """Why steps were left out."""


def make_branch(memory: Memory, proposal: Proposal, name: str) -> TidyBranch:
    """Return the new branch, which starts at the checked-out commit.

    Only steps that concern nothing but shared lessons are taken. Raises InvalidValueError if there are none, if git
    refuses, or if the committed lesson files are not what the memory says.
    """
    shared = shared_lessons(memory.services, memory.location)
    steps = proposal.limited_to(shared)
    if not steps.steps:
        hint = "holdfast share --all writes lessons as files" if not shared else "holdfast tidy --apply"
        raise InvalidValueError("no step of the proposal is about shared lessons", hint=hint)
    before = {lesson.id: lesson for lesson in living(memory.services, memory.location)}
    with _work_tree(memory, name) as tree:
        with scratch_memory(memory.settings, tree.folder, empty=False) as scratch:
            if scratch.location.project.id != memory.location.project.id:
                raise InvalidValueError("a work tree of this repository would be another project")
            _require_in_step(scratch)
            tidied = apply(scratch.services, scratch.location, steps)
            files = tuple(f"{LESSONS}/{path}" for path in _written(scratch.sync(Syncing())))
        done = replace(steps, steps=tidied.steps)
        title = f"Tidy the memory: {done.counts}"
        commit = tree.commit(files, title)
    body = render_body(done, before, shared)
    return TidyBranch(name=name, commit=commit, files=files, title=title, body=body, refused=tidied.refused)


def render_body(proposal: Proposal, lessons: Mapping[LessonId, Lesson], files: Mapping[LessonId, str]) -> str:
    """Return the text of the pull request, for a proposal about those lessons, which have those files."""
    public = {id_: replace(lesson, title=publishable(lesson.title)) for id_, lesson in lessons.items()}
    steps = [replace(step, title=publishable(step.title), reason=publishable(step.reason)) for step in proposal.steps]
    parts = [INTRODUCTION]
    for verb, heading in (("merge", "Merged"), ("retire", "Retired"), ("retitle", "New titles")):
        rows = [row for step in steps if step.verb == verb for row in _rows(step, public)]
        if rows:
            parts += [f"## {heading}", "\n".join(rows)]
    diff = "\n".join(render_diff(replace(proposal, steps=tuple(steps)), public, files))
    parts += ["## Diff of lessons", f"```diff\n{diff}\n```"]
    return "\n\n".join(parts) + "\n"


def _rows(step: Step, lessons: Mapping[LessonId, Lesson]) -> Iterator[str]:
    title = lessons[step.lesson].title
    reason = f": {step.reason}" if step.reason else ""
    if step.verb == "retire":
        yield f"- {title}{reason}"
    elif step.verb == "retitle":
        yield f"- {title} → {step.title}"
    else:
        yield f"- **{step.title or title}** stays{reason}. It replaces"
        yield from (f"  - {lessons[id_].title}" for id_ in step.replaces)


def _require_in_step(scratch: Memory) -> None:
    """Raise InvalidValueError if a sync of the committed files would already change one."""
    if changed := _written(scratch.sync(Syncing(dry=True))):
        what = f"{changed[0]} and {len(changed) - 1} more" if len(changed) > 1 else changed[0]
        raise InvalidValueError(
            f"the committed lesson files differ from memory: {what}",
            hint="holdfast sync, then commit .holdfast/lessons",
        )


def _written(report: SyncReport) -> list[str]:
    return [step.path for step in report.steps if step.verb in ("written", "forgotten")]


class _WorkTree:
    """A temporary work tree on a new branch that has the folder `.holdfast` only."""

    def __init__(self, git: Git, root: str, folder: str, prefix: str) -> None:
        self._git = git
        self._root = root
        self._prefix = prefix
        self.folder = os.path.join(folder, *prefix.split("/")) if prefix else folder

    def fill(self, commit: str) -> None:
        """Write the files of the commit's `.holdfast`, and put the whole commit into the index."""
        branches = LocalBranches(self._git, self._root)
        os.makedirs(self.folder, exist_ok=True)
        self.ask("read-tree", "HEAD")
        for path in sorted(branches.list_below(commit, FOLDER) or ()):
            file = os.path.join(self.folder, *path.split("/"))
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "wb") as stream:
                stream.write(branches.file(commit, path) or b"")

    def commit(self, files: Sequence[str], subject: str) -> str:
        """Commit those files; return the commit."""
        for path in files:
            blob = self.ask("hash-object", "-w", "--no-filters", "--", path)
            self.ask("update-index", "--add", "--cacheinfo", f"100644,{blob},{self._prefix}{path}")
        tree = self.ask("write-tree")  # `git commit` would run filters to compare files
        commit = self.ask("commit-tree", tree, "-p", "HEAD", "--no-gpg-sign", "-m", subject)
        self.ask("update-ref", "HEAD", commit)
        return commit

    def ask(self, *arguments: str) -> str:
        """Return git's answer. Raises InvalidValueError if it fails."""
        return _ask(self._git, self.folder, arguments)


def _ask(git: Git, folder: str, arguments: Sequence[str]) -> str:
    output = git.ask(folder, arguments, TIMEOUT_S)
    if output is None:
        words = " ".join(arguments)
        raise InvalidValueError(f"git {words} failed", hint=f"run it in {folder} to see why")
    return output.decode("utf-8", "replace").strip()


@contextmanager
def _work_tree(memory: Memory, name: str) -> Iterator[_WorkTree]:
    """Make the branch and a temporary work tree on it. If the caller raises, the branch is removed again."""
    git, root = Git(SystemClock(), TIMEOUT_SCALE), memory.location.root
    if not memory.location.commit:
        raise InvalidValueError("this folder has no commit of git, so there can be no branch")
    if git.ask(root, ["check-ref-format", "--branch", name], TIMEOUT_S) is None:
        raise InvalidValueError(f"not a name of a branch: {name!r}")
    if git.ask(root, ["show-ref", "--verify", "--quiet", f"refs/heads/{name}"], TIMEOUT_S) is not None:
        raise InvalidValueError(f"there is a branch {name} already", hint="choose another name")
    prefix = _ask(git, root, ["rev-parse", "--show-prefix"])
    is_done = False
    with tempfile.TemporaryDirectory(prefix="holdfast-") as scratch:
        folder = os.path.join(scratch, "tree")
        _ask(git, root, ["worktree", "add", "--quiet", "--no-checkout", "-b", name, folder, "HEAD"])
        try:
            tree = _WorkTree(git, root, folder, prefix)
            tree.fill(memory.location.commit)
            yield tree
            is_done = True
        finally:
            git.ask(root, ["worktree", "remove", "--force", folder], TIMEOUT_S)
            if not is_done:
                git.ask(root, ["branch", "--quiet", "-D", name], TIMEOUT_S)
