"""Lists cues, short phrases that say something about a sentence, and finds them by table look-up in one pass.

They are general English of people who work on software; none comes from a particular project. A `^` ties a phrase to
the start of the turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

ANY = {
    "cause": """root cause, caused by, due to, turns out, that's why, which is why, this is why, culprit,
        regression, the issue is, the problem is, the bug is, the error is, the issue was, the problem was, the bug
        was, the reason, real issue, real problem, core issue, key issue, main issue, underlying issue, is happening
        because, happens because, comes from, came from, the issue, the problem, the bug, the failure, smoking gun,
        lies in, stems from, responsible for, is because, was because""",
    "because": """because, since, so that, therefore, hence, thus, as a result, otherwise, which means, meaning,
        this means, that means, so it, so the, so we, so they, so that's""",
    "so": "; so, \u2014 so, so if, so when, so any, so every, so no, so this",
    "when": "when, whenever, if, unless, until, once, while, before, after, without, as soon as, even if, even when",
    "negation": """not, never, no longer, cannot, can't, won't, doesn't, don't, isn't, aren't, didn't, wasn't,
        without, nothing, none, no, neither, nor, wouldn't, shouldn't, couldn't, hasn't, haven't""",
    "denial": """doesn't, does not, don't, do not, can't, cannot, won't, isn't, is not, aren't, are not, not able,
        never, no way to, has no, have no, there is no, there's no""",
    "modal": """must, should, shouldn't, need to, needs to, has to, have to, had to, required, requires, require,
        supposed to, ought, mustn't, needs, mandatory""",
    "always": "always, never, every, any, all, each, only, entire, whole, both, everything, anything",
    "only": """only, just, still, already, even, exactly, actually, really, explicitly, by default, intentionally,
        deliberately, on purpose, specifically, literally, silently, directly""",
    "default": "by default, default, defaults to, the default",
    "instead": """instead, instead of, rather than, rather, in favor of, in favour of, as opposed to, replaces,
        replaced, no longer, over the, in place of, switch to, switched to, not the""",
    "contrast": "but, however, although, though, whereas, yet, except, unlike, despite, while the, on the other hand",
    "prefer": """prefer, i'd rather, i want, i would like, i'd like, we want, we don't want, i don't want, let's
        keep, let's use, let's go with, let's stick, let's not, let's call, let's rename, let's drop, let's remove,
        make sure, keep in mind, stick to, stick with, go with, going with, don't use, don't add, please don't,
        please use, please keep, please make sure""",
    "decide": """decide, decided, decision, chose, chosen, choose, opted, went with, settled on, approach, trade-
        off, tradeoff, recommend, recommended, recommendation, agreed, agree, better to, makes sense, best practice,
        cleaner, cleanest, simpler, simplest, right choice, right approach, right call, right place, right tool,
        sensible""",
    "convention": """convention, conventions, consistent, consistency, pattern, patterns, standard, style, naming,
        format, prefix, suffix, guideline, guidelines, rule, rules, same as, same way, same pattern, existing, all
        other, the other tests, the other files, lives in, live in, belongs in, belong in, organized""",
    "tooling": """version, versions, node, npm, pnpm, yarn, bun, pip, uv, mise, make, docker, brew, lint, linter,
        linting, eslint, prettier, jest, vitest, pytest, playwright, ci, workflow, config, configuration, env,
        environment, shell, zsh, bash, path, port, build, install, installed, release, tag, branch, publish,
        package, cache, terminal""",
    "working": """works, worked, working, supports, supported, ignores, ignored, rejects, rejected, refuses,
        blocks, blocked, prevents, overwrites, overwritten, clobbered, clobbers, loses, lost, drops, dropped,
        missing, wrong, incorrect, invalid, corrupts, corrupted, conflicts, interferes, interfering, expects,
        expected, assumes""",
    "fails": """fail, fails, failed, failing, break, breaks, broke, broken, crash, crashes, crashed, hangs, hang,
        times out, timing out, timeout, reject, rejects, rejected, refused, panic, panics, didn't work, doesn't
        work, not working, no effect, throws, errors""",
    "attempt": """tried, attempt, attempted, attempts, trying, revert, reverted, undo, undid, rolled back,
        previous, previously, earlier, was wrong, i was, mistake, misread, wrongly, accidentally, did not help,
        didn't help, too brittle, dead end, gave up, abandoned""",
    "is": """is a, is an, is the, is not, is only, is already, is now, is just, is that, is expected, is
        intentional, are not, are only, are already, are now, are all, are the, stored in, depends on, relies on,
        based on, refers to, uses, contains, returns, expects, assumes, handles, reads, writes, calls, creates,
        happens, means, gets, runs""",
    "finding": """i see, i found, found, i can see, i understand, interesting, key finding, key insight, key
        change, confirms, confirmed, confirm, discovered, noticed, realized, it looks like, looks like, seems,
        apparently, turns out, the fact that, so the""",
    "note": """note, note that, important, importantly, caveat, gotcha, warning, careful, worth, keep in mind, be
        aware, remember, critical, crucial, heads-up, lesson""",
    "limit": """limit, limits, limited, limitation, restriction, restricts, cap, capped, maximum, at most, at
        least, can't be, cannot be, not possible, impossible, protected, disabled, unsupported, not supported,
        policy, private, read-only, only works, not available, unavailable, scoped, atomic, permissions, permission""",
    "hedge": "likely, might, maybe, perhaps, possibly, probably, could be, may be, seems, appears, guess, suspect",
    "agree": """you're right, you're absolutely right, you are right, you are correct, good point, good catch, good
        call, great point, fair point, agreed, makes sense, good idea""",
    "done": """done, fixed, implemented, tests pass, all green, pushed, committed, summary, complete, completed,
        successfully, updated, created, added, removed, renamed, applied, all pass, passing""",
    "praise": "perfect, excellent, great, awesome, nice, wonderful",
    "next_step": """let me, now let's, i'll, let's check, let's run, let's test, let's see, let's try, let's look,
        let's create, let's add, let's update, let's fix, next step, next steps, i'm going to""",
    "checks": """let me check, let me look, let me see, let me read, let me verify, let me find, let me search, let
        me run, let me try, let me examine, let me also, let me view, let me review, let me test, verify, let me
        trace""",
    "now": "now",
    "we": """we can, we could, we should, we need, we use, we have, we don't, we already, we are, we will, we want,
        we must, it should, this should, they should, i think, i guess, i suppose, i feel, we do""",
    "asks": """can you, could you, would you, do we, does it, does this, is it, is there, is this, are there, are
        we, should we, should i, what, why, how, which, where, who""",
    "offers": "would you like, do you want, should i, shall i, want me to, let me know, if you want",
    "plan": "phase, step, steps, plan, implement, implementation, feature, task, tasks, todo, first, second",
    "compare": "vs, versus, compared, difference, different, same, both, either, neither, separate, distinct",
    "test": "test, tests, testing, spec, assert, asserts, mock, mocks, fixture",
    "cost": """slow, faster, fast, memory, expensive, timeout, performance, complex, complexity, race, concurrent,
        parallel, lock, overhead, large, huge""",
    "fix": "the fix, the fix is, the solution, solution, to fix, fixes, resolve, resolved, resolves, workaround",
    "state": """exists, exist, does not exist, doesn't exist, empty, unset, nil, null, undefined, stale, cached,
        lazily, optional, required, hardcoded, hard-coded, duplicated, outdated, unused, permanent""",
    "me": "i don't, i want, i need, i prefer, i think, i like, i meant, i said, i told, i just, my, i would",
    "problem_head": "problem, solution, scenario, reason, root cause, explanation, analysis, how it works, why",
    "scold": """wtf, fuck, fucking, shit, stupid, damn, why did, why do, stop, again, you did, you didn't, you
        forgot, you should, you must, you have, you broke, you deleted, you removed, you added""",
}
"""Cues in any turn."""

PERSON = {
    "suggests": """can we, could we, can't we, couldn't we, should we, would it, could it, what about, how about,
        what if, maybe, perhaps, i think, i feel, i wonder, i guess, i suppose, i prefer, i believe, make sense,
        makes sense, what do you think, rather, prefer, instead, better, can we just, it could, can it, idea""",
    "lets": """let's keep, let's use, let's go, let's stick, let's move, let's call, let's rename, let's drop,
        let's remove, let's add, let's make, let's not, let's implement, let's switch, let's change, let's have,
        let's put""",
    "rules": """must, should, need to, needs to, have to, has to, never, always, only, don't, do not, not, no
        longer, make sure, ensure, important, remember, keep, stick, avoid, without, supposed, required, default, at
        least""",
    "corrects": """^no, ^nope, ^but, ^actually, ^hmm, ^hm, ^wait, ^stop, ^that's not, ^not, ^this isn't, ^this
        still, ^ok but, ^also :, ^mmmm, ^wtf, not right, not correct, not what, wrong, you did not, you didn't, you
        forgot, you broke, you missed, you removed, you deleted, you added, you need, still not, still does, undo
        that, revert, horrible, shit, stupid, change in plan, i meant""",
    "assigns": """can you check, can you take, can you look, can you review, can you create, can you commit, can
        you update, can you write, can you give, can you show, can you explain, can you help, can you verify, can
        you add, can you run, can you fix, can you find, can you tell, please commit, please create, please write,
        please review, please continue, please repeat, please fix, please implement, please proceed, take a look, go
        ahead, commit message, open a pr, create a pr, pull request, commit, push, staged, continue""",
    "wonders": """^how, ^what, ^why, ^where, ^which, ^when, ^who, ^is, ^are, ^does, ^do, ^did, ^can you, ^could
        you, ^so what, ^so why, ^so how, ^and, ^would""",
    "reports": """error, errors, failing, fails, failed, exception, traceback, crash, getting this, still getting,
        still failing, panic, stack trace""",
    "nods": """^yes, ^yeah, ^yep, ^ok, ^okay, ^sure, ^great, ^nice, ^thanks, ^thank you, ^perfect, ^cool,
        ^continue, ^go, ^do it, ^done, ^next, ^proceed, ^good""",
    "states": """is in, is at, is on, is under, is only, is still, is now, is already, is not, is the, is a, are
        in, are not, lives in, uses the, has a, has the, comes from, belongs in, works with, runs on, needs a, is
        from""",
    "we_do": """we use, we want, we don't, we need, we have, we can, we should, we are, we had, we did, we already,
        we also, we renamed, we moved, we changed, we decided, i want, i would like, i only""",
    "names": """rule, convention, format, named, naming, name, folder, directory, prefix, style, consistent, same
        as, like the, readme, docs, config, plan, test, tests, document, rename""",
}
"""Cues in a person's turn only."""

KIND = {
    "constraint": """can't, cannot, only, does not support, doesn't support, doesn't provide, no way to, limit,
        limited, limitation, restriction, must be, requires, require, always, never, by design, at most, not
        possible, is stored in, is created, private, protected, permanent, returns, no native, by default, stores,
        works by, supports, support, has no, there is no, need to be, needs to be, cap, atomic, safe, unless, read-
        only, ignores, invalid, must, is not, are not, isn't, rather than, means""",
    "bug_cause": """the issue is, the problem is, root cause, caused by, bug, overwrites, null, undefined, fails,
        crash, mismatch, wrong, incorrect, missing, that's why, race, stale, expects, the issue, the problem, the
        bug, because, is being, instead of, error, failing, the error, culprit, lost, dropped, drops, corrupted, i
        see, found, the fix, doesn't match, before the, after the, never, empty, silently""",
    "decision": """let's, i'll, go with, recommend, decided, approach, rename, renamed, keep, option, plan, design,
        move, new, implement, implemented, default, we should, stick, proposed, solution, strategy, interface,
        introduce, replaced, switched, suffix, trade-off, chose, follow-up, add, now uses, extract, refactor, flag,
        field""",
    "tooling": """version, node, install, run, running, command, lint, linter, ci, docker, build, npm, script,
        scripts, shell, path, mise, uv, port, cache, environment, terminal, cli, rebuild, dist, server, tool, tools,
        package, localhost, env, setup, directory, branch, release, publish, tag, push, local, folder""",
    "preference": """i want, i'd like, i would, please, don't, make sure, can we, too, prefer, i think, i feel,
        wait, explain, kill, remove, want, without, focus, approval, before, should not, must not, you should, you
        need, wonder, maybe, like, rather, no, just, almost, last, user, understood, you're right, absolutely right""",
    "convention": """format, naming, convention, conventions, style, folder, directory, prefix, tests, rule, rules,
        import, imports, structure, docs, changelog, readme, consistent, consistency, pattern, existing, theme,
        follow, following, standard, same, alias, relative, document, section, spec, commit message, helper,
        helpers, shared, parallel""",
    "failed_approach": """tried, still, not working, didn't work, revert, reverted, undo, undid, attempt, broke,
        timed out, timing out, did not, brittle, previous, no longer, again, was wrong, wrong, accidentally,
        workaround, instead, failed, my previous, that didn't, hasn't, not showing, not the right, heuristic,
        assumed, mistake, hack, stop""",
}
"""Words that go with each kind of statement."""

SURE = {
    "decision": """i recommend, we recommend, i'd recommend, recommendation, let's go with, go with, going with, we
        decided, decided to, decision, i'd go with, stick to, stick with, change in plan, the plan is, best
        solution, i suggest, renamed to, we renamed, follow-up, is the right tool, will be renamed, let's keep,
        let's rename, let's move, what do you think about, makes sense to move, new approach, proposed solution, we
        could just, out of scope, trade-off, chose, chosen, we should stick, as a default, instead of adding, now
        uses, now use, key change, plan is""",
    "failed_approach": """approach doesn't work, didn't work, did not work, doesn't help, that approach, didn't
        help, too brittle, dead end, was wrong, my previous, previous fix, my mistake, accidentally, still not,
        still doesn't, still failing, still timing out, broke it, you broke, not the right approach, reverting, i
        undid, undo that, is not working, false positives, didn't fix, proves nothing, earlier assumption, misread,
        i assumed, rejected, timing out""",
    "bug_cause": """root cause, the issue is, the problem is, the bug is, the bug was, the issue was, the problem
        was, caused by, comes from, is happening because, happens because, that's why, which is why, the culprit,
        culprit, gets dropped, are dropped, get lost, real issue, real bug, core issue, the reason, i see the issue,
        found the issue, found it, is being overwritten, overwrites, mismatch, the fix, the error is""",
    "preference": """i want you, i'd like you, i don't want, we don't want, i'd rather, i would rather, wait for
        my, before you, you must, you should, please don't, i prefer, without asking, can we just, never delete, one
        at a time, kill this, please explain, make sure you, you do not need, go ahead and, i feel, i wonder, i
        like, remember to, when done, before implementing""",
    "convention": """convention, conventions, naming, like all the other, like the other, same pattern, consistent
        with, consistency, should use the, prefixed, lives in, live in, belongs in, alias, other tests, shared
        helpers, existing pattern, existing convention, follow the, following the format, should be named, use the
        same, never hardcode, style guide, organized, standard format, the format""",
    "tooling": """ci, lint, linter, node version, running node, on path, toolchain, shell, zsh, docker, rebuild,
        the build, npm run, test runner, installed, mise, uv, pip install, version manager, environment variable,
        formatter, the cli, dev server, package manager, compatibility, upgrade, cached""",
    "constraint": """does not support, doesn't support, no way to, not possible, can't be, cannot be, only works,
        at most, limit of, read-only, by default, must not, protected, is stored in, has no native, expects a, is
        not reactive, permanent, no native, doesn't provide, does not have, doesn't have, requires, required,
        limitation, can't use, not atomic, unless, is required, isn't supported, restricted, have no, invariant,
        must never""",
}
"""Phrases that almost name the kind of a statement; hand-written, not fitted."""

NAMED = {
    "decision": "we decided, i decided, was decided, the decision is, the decision was",
    "bug_cause": "the root cause, root cause was, root cause is, the culprit, the bug was, the bug is",
}
"""Phrases by which a sentence names its own kind, whatever the rest of the turn is about."""

NOTABLE = (
    "cause", "because", "so", "when", "denial", "modal", "always", "only", "default", "instead", "contrast", "prefer",
    "decide", "convention", "fails", "is", "limit", "state",
)  # fmt: skip
"""Cues that make a sentence look like a statement."""


class CueTable:
    """Phrases of several cues, by first word."""

    def __init__(self, cues: dict[str, str]) -> None:
        self.names = tuple(cues)
        self._by_first: dict[str, list[tuple[tuple[str, ...], int, bool]]] = {}
        for index, phrases in enumerate(cues.values()):
            for phrase in phrases.split(","):
                words = tuple(phrase.strip().lstrip("^").split())
                tied = phrase.strip().startswith("^")
                self._by_first.setdefault(words[0], []).append((words, index, tied))

    def find(self, words: Sequence[str], *, opens_turn: bool) -> Iterator[int]:
        """Yield the indexes of the cues in one sentence: one for every word at which a cue's phrase starts."""
        for at, word in enumerate(words):
            here = -1
            for phrase, index, tied in self._by_first.get(word, ()):
                if index == here or (tied and (at or not opens_turn)):
                    continue
                if len(phrase) == 1 or tuple(words[at : at + len(phrase)]) == phrase:
                    here = index
                    yield index
