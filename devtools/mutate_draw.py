# SPDX-License-Identifier: BSD-3-Clause
"""Draws slips, runs the tests that cover their lines, says what survived.

The same seed draws the same slips from the same tree. A slip that the compiler
refuses (warnings are errors, as in CI), or that has no code in this build, is
drawn again. JUDGED lists survivors that may survive; they are counted as neither.

    file: PATH
    in: FUNCTION
    < the line
    > what became of it (empty: it was removed)
    why: why nothing notices, or why that is right

Blanks count as one, lines that belong together are one. Where several slips
have the same file, function or reason, only what differs is said again.
"""
import difflib
import os
import random
import subprocess

from mutate_cover import Cover
from mutate_scratch import KILLED, ROOT, STALE, SURVIVED
from mutate_slips import slips
from mutate_suite import FAILED, HUNG, PASSED, Suite

JUDGED = os.path.join(ROOT, "devtools", "mutants", "judged.txt")
ROOMS = ("lib", "app", "drivers")
FIRST = 4  # tests that are built and run before the others


def read_judged(path=JUDGED):
    """@return {(path, function, was, now): reason}"""
    judged, waiting = {}, []
    at = {"file": "", "in": "", "<": "", "why": ""}
    if not os.path.exists(path):
        return judged
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.strip()
            key, _, rest = line.partition(" ")
            key = key.rstrip(":")
            if not line or line.startswith("#"):
                continue
            if key not in ("file", "in", "<", ">", "why"):
                raise SystemExit("%s:%d: not understood: %s" % (path, number,
                                                                line))
            rest = " ".join(rest.split())
            if key == ">":
                waiting.append((at["file"], at["in"], at["<"], rest))
            elif key == "why":
                judged.update((slip, rest) for slip in waiting)
                waiting = []
            else:
                at[key] = rest
    if waiting:
        raise SystemExit("%s: no reason for %s" % (path, waiting[0]))
    return judged


def stale_judged(root, judged):
    """@return those whose slip cannot be drawn any more"""
    keys = {}
    for path in {slip[0] for slip in judged}:
        try:
            with open(os.path.join(root, path), encoding="utf-8") as f:
                keys[path] = {s.key() for s in slips(path, f.read())}
        except OSError:
            keys[path] = set()
    return [slip for slip in judged if slip not in keys[slip[0]]]


def sources(root, rooms):
    """@return C files of these folders"""
    out = subprocess.run(["git", "-C", root, "ls-files", "-co",
                          "--exclude-standard", "--"] + list(rooms),
                         capture_output=True, text=True, check=True)
    return sorted({n for n in out.stdout.split("\n") if n.endswith(
        (".c", ".h")) and os.path.isfile(os.path.join(root, n))})


def drawn(texts, seed):
    """Yields slips of {path: text}: each line that has some is equally likely
    and comes once; so is each kind of those of a line."""
    by_line = {}
    for path in sorted(texts):
        for slip in slips(path, texts[path]):
            by_line.setdefault((path, slip.line), []).append(slip)
    rng = random.Random(seed)
    order = sorted(by_line)
    rng.shuffle(order)
    for at in order:
        kind = rng.choice(sorted({s.kind for s in by_line[at]}))
        yield rng.choice([s for s in by_line[at] if s.kind == kind])


def diff(slip, text):
    return "".join(difflib.unified_diff(
        text.splitlines(True), slip.apply(text).splitlines(True),
        "a/" + slip.path, "b/" + slip.path))


class Trial:
    """Puts slips into a build and runs tests."""

    def __init__(self, scratch, cover, jobs, limit_s):
        self.scratch, self.cover = scratch, cover
        self.jobs, self.limit_s = jobs, limit_s
        self.suite = Suite(scratch.build)
        self.sound, self.unsound = set(), set()

    def compiles(self, slip):
        if slip.path.endswith(".h"):
            return True  # the tests tell
        source = os.path.relpath(os.path.join(self.scratch.src, slip.path),
                                 self.suite.build)
        return not self.suite.make([source + "^"], self.jobs)

    def run(self, names):
        """@return (outcome, the test that failed)"""
        for some in (names[:FIRST], names[FIRST:]):
            if not some:
                continue
            if self.suite.make(self.suite.targets(some), self.jobs):
                return STALE, ""
            for name in some:
                usual = self.cover.map["tests"][name][1]
                outcome, _ = self.suite.run(name, max(self.limit_s,
                                                      10 * usual))
                if outcome in (FAILED, HUNG):
                    return KILLED, name
        return SURVIVED, ""

    def passes_without(self, name):
        """@return whether the test is to be believed: without a slip it
        passes"""
        if name not in self.sound | self.unsound:
            good = not self.suite.make(self.suite.targets([name]),
                                       self.jobs) and \
                self.suite.run(name, 10 * self.limit_s)[0] == PASSED
            (self.sound if good else self.unsound).add(name)
        return name in self.sound

    def judge(self, slip, text, most):
        """@return (outcome, by, tests tried, tests that run the line)"""
        while True:
            every = [n for n in self.cover.tests(slip) if
                     n not in self.unsound]
            names = every[:most]
            self.scratch.write(slip.path, slip.apply(text))
            try:
                outcome, by = self.run(names) if self.compiles(slip) else (
                    STALE, "")
            finally:
                self.scratch.write(slip.path, text)
            if outcome != KILLED or self.passes_without(by):
                return outcome, by, len(names), len(every)


def survivor(slip, text, tried, tests):
    print("survived: %s:%d in %s: %s; %s" % (
        slip.path, slip.line, slip.function, slip.kind,
        "no test runs it" if not tests else "%d of %d tests passed" % (
            tried, tests)))
    print(diff(slip, text), flush=True)


def read_texts(rooms):
    texts = {}
    for path in sources(ROOT, rooms):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            texts[path] = f.read()
    if not texts:
        raise SystemExit("no C file in %s" % " ".join(rooms))
    return texts


def draw(scratch, args):
    """@return what became of each slip: for --json"""
    def say(what):
        print(what, flush=True)
    texts = read_texts(args.room or ROOMS)
    cover = Cover(scratch)
    cover.renew(args.cover_tests or ["*"], args.cover_limit, args.jobs, say)
    trial = Trial(scratch, cover, args.jobs, args.cover_limit)
    judged, done, again, known = read_judged(), [], 0, 0
    for slip in drawn(texts, args.seed):
        if len(done) == args.draw:
            break
        if slip.key() in judged:
            known += 1
            if args.verbose:
                say("judged: %s:%d in %s: %s\n%s" % (
                    slip.path, slip.line, slip.function, judged[slip.key()],
                    diff(slip, texts[slip.path])))
            continue
        outcome, by, tried, tests = STALE, "", 0, 0
        if cover.has_code(slip):
            outcome, by, tried, tests = trial.judge(slip, texts[slip.path],
                                                    args.most)
        if outcome == STALE:
            again += 1
            continue
        done.append(dict(vars(slip), outcome=outcome, by=by, tried=tried,
                         tests=tests))
        if outcome == SURVIVED:
            survivor(slip, texts[slip.path], tried, tests)
        elif args.verbose:
            say("killed by %s: %s:%d in %s: %s\n%s" % (
                by, slip.path, slip.line, slip.function, slip.kind,
                diff(slip, texts[slip.path])))
    for name in sorted(trial.unsound):
        say("not believed: %s fails without a slip, too" % name)
    say("killed %d of %d; %d judged, %d refused by the compiler or not in "
        "this build" % (sum(d["outcome"] == KILLED for d in done), len(done),
                        known, again))
    return done
