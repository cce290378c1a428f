#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What devtools/mutate.py --draw draws: on a small file every kind of slip, each
as it should read; nothing from comments, strings, macros and assertions; the
same from the same seed. And its list of judged survivors, and its map of lines
and tests."""
import contextlib
import io
import os
import sys
import tempfile
import types

ROOT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
sys.path.insert(0, os.path.join(ROOT, "devtools"))
# pylint: disable=wrong-import-position
import mutate_cover  # noqa: E402
import mutate_draw  # noqa: E402
import mutate_slips as ms  # noqa: E402

CASES = []
CODE = r"""
#include <errno.h> /* if (macro < 1) return 0; */
#define TWICE(x) \
	do_it((x) + 1, 2)
static const int table[] = {7, 8};

/* if (comment < 1) comment = 0; */
static int
work(struct box *b, int n, int m)
{
	int i = 0; // n < comment
	struct pair p = {.left = n,
			 .right = m};

	RL_ASSERT(n < 77 && m > 78);
	puts("n < 5 && call(1, 2); n = 0;");
	if (n < m)
		return -EINVAL;
	b->done = 0;
	b->in = n;
	b->out = m;
	memset(b->all, 0, sizeof(b->all));
	if (!b->open)
		note(b, n);
	else if (n == 3 && (m || i) &&
		 b->open)
		b->sum += n + 1;
	for (i = 0; i < n; i++)
		b->count++;
	if (RL_PLANTED(SLIP))
		b->planted = 0;
	if (m)
		b->last = NULL;
	return b->flag || n ? 0x0f : 1.5;
}
"""


def case(fn):
    CASES.append(fn)
    return fn


def expect(what, got, wanted):
    if got != wanted:
        raise AssertionError("%s: %r, not %r" % (what, got, wanted))


def all_slips():
    return ms.slips("a.c", CODE)


def has(kind, was, now):
    found = [(s.was, s.now) for s in all_slips() if s.kind == kind]
    if (was, now) not in found:
        raise AssertionError("no %s: %s => %s, but %s" % (kind, was, now,
                                                          found))


@case
def every_kind_is_drawn():
    expect("kinds", {s.kind for s in all_slips()}, set(ms.KINDS))


@case
def each_kind_is_what_it_says():
    has(ms.OFF_BY_ONE, "if (n < m)", "if (n <= m)")
    has(ms.OFF_BY_ONE, "b->sum += n + 1;", "b->sum += n;")
    has(ms.SWAPPED, "note(b, n);", "note(n, b);")
    has(ms.FIELDS, "b->in = n; b->out = m;", "b->in = m; b->out = n;")
    has(ms.FIELDS, "struct pair p = {.left = n, .right = m};",
        "struct pair p = {.left = m, .right = n};")
    has(ms.RESET, "b->done = 0;", "")
    has(ms.RESET, "memset(b->all, 0, sizeof(b->all));", "")
    has(ms.REMOVED, "b->in = n;", "")
    has(ms.NEGATED, "if (n < m)", "if (!(n < m))")
    has(ms.NEGATED, "if (!b->open)", "if (b->open)")
    has(ms.HALVED, "else if (n == 3 && (m || i) &&",
        "else if ((m || i) &&")
    has(ms.HALVED, "else if (n == 3 && (m || i) && b->open)",
        "else if (n == 3 && (m || i))")
    has(ms.HALVED, "return b->flag || n ? 0x0f : 1.5;",
        "return n ? 0x0f : 1.5;")
    has(ms.CONSTANT, "for (i = 0; i < n; i++)", "for (i = 1; i < n; i++)")
    has(ms.CONSTANT, "return b->flag || n ? 0x0f : 1.5;",
        "return b->flag || n ? 0x10 : 1.5;")
    has(ms.ERROR, "return -EINVAL;", "return 0;")


@case
def what_is_all_of_an_if_leaves_a_block():
    has(ms.RESET, "b->last = NULL;", "{ }")
    has(ms.REMOVED, "note(b, n);", "{ }")
    has(ms.REMOVED, "b->count++;", "{ }")


@case
def nothing_from_comments_strings_macros_and_plants():
    string = '"n < 5 && call(1, 2); n = 0;"'
    for quiet in ("if (macro < 1) return 0;", "do_it((x) + 1, 2)", "{7, 8}",
                  "/* if (comment < 1) comment = 0; */", "// n < comment",
                  "RL_ASSERT(n < 77 && m > 78);", string,
                  "if (RL_PLANTED(SLIP))", "b->planted = 0;"):
        begin = CODE.index(quiet)
        for s in all_slips():
            whole = quiet == string and s.kind == ms.REMOVED
            if s.start < begin + len(quiet) and s.end > begin and not whole:
                raise AssertionError("%s in %s" % (s.kind, quiet))
    expect("functions", {s.function for s in all_slips()}, {"work"})


@case
def the_rest_of_the_file_stays():
    for s in all_slips():
        text = s.apply(CODE)
        expect("before", text[:s.start], CODE[:s.start])
        expect("after", text[len(text) - len(CODE) + s.end:], CODE[s.end:])
        if text == CODE:
            raise AssertionError("no change: %s" % s.was)
        expect("brackets of %s" % s.was,
               [text.count(a) - text.count(b) for a, b in ("()", "{}")],
               [0, 0])


@case
def the_same_seed_draws_the_same():
    texts = {"a.c": CODE, "b.c": CODE}

    def run(seed):
        return [(s.path, s.line, s.kind, s.now)
                for s in mutate_draw.drawn(texts, seed)]
    expect("second time", run(1), run(1))
    expect("another seed differs", run(1) == run(2), False)
    lines = [d[:2] for d in run(1)]
    expect("one of a line", len(lines), len(set(lines)))
    expect("all lines", set(lines), {(p, s.line) for p in texts
                                     for s in all_slips()})


@case
def a_judged_slip_is_known_when_its_line_moves():
    with tempfile.TemporaryDirectory() as box:
        path = os.path.join(box, "judged.txt")
        with open(path, "w", encoding="utf-8") as f:
            f.write("# list\nfile: a.c\nin: work\n< b->done  = 0;\n>\n"
                    "< if (n < m)\n> if (n <= m)\nwhy: the same\n")
        judged = mutate_draw.read_judged(path)
        expect("reasons", set(judged.values()), {"the same"})
        moved = {s.key() for s in ms.slips("a.c", "\n\n" + CODE)}
        expect("known", set(judged) <= moved, True)
        with open(os.path.join(box, "a.c"), "w", encoding="utf-8") as f:
            f.write(CODE)
        expect("none stale", mutate_draw.stale_judged(box, judged), [])
        with open(os.path.join(box, "a.c"), "w", encoding="utf-8") as f:
            f.write(CODE.replace("b->done = 0;", ""))
        expect("stale", [k[2] for k in mutate_draw.stale_judged(box, judged)],
               ["b->done = 0;"])
        with open(path, "a", encoding="utf-8") as f:
            f.write("< return -EINVAL;\n> return 0;\n")
        with contextlib.suppress(SystemExit):
            mutate_draw.read_judged(path)
            raise AssertionError("taken without a reason")


@case
def a_survivor_is_a_diff_with_its_place():
    slip = next(s for s in all_slips() if s.kind == ms.ERROR)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        mutate_draw.survivor(slip, CODE, 0, 0)
    for part in ("survived: a.c:%d in work: error code lost; no test runs it"
                 % slip.line, "--- a/a.c", "-\t\treturn -EINVAL;",
                 "+\t\treturn 0;"):
        expect(part, part in out.getvalue(), True)


@case
def the_cheapest_test_of_a_line_is_first():
    cover = mutate_cover.Cover.__new__(mutate_cover.Cover)
    cover.by_line = {}
    cover.map = {"code": {"a.c": [[10, 12]]}, "tests": {
        "slow": ["passed", 9], "quick": ["passed", 1], "ill": ["failed", 0]},
        "ran": {"slow": {"a.c": [[10, 12]]}, "quick": {"a.c": [[11, 11]]},
                "ill": {"a.c": [[10, 12]]}}}
    for name in cover.map["tests"]:
        cover.index(name)

    def at(line, first, last):
        slip = types.SimpleNamespace(path="a.c", line=line, first=first,
                                     last=last)
        return cover.tests(slip), cover.has_code(slip)
    expect("line", at(11, 10, 12), (["quick", "slow"], True))
    expect("other line", at(10, 10, 12), (["slow"], True))
    expect("its statement", at(13, 11, 13), (["quick", "slow"], True))
    expect("no test", at(13, 13, 13), ([], False))
    expect("ranges", mutate_cover.ranges({3, 1, 2, 7}), [[1, 3], [7, 7]])


@case
def each_test_is_stale_until_it_ran_the_changed_file():
    with tempfile.TemporaryDirectory() as box:
        cover = mutate_cover.Cover.__new__(mutate_cover.Cover)
        cover.src = box
        path = os.path.join(box, "a.c")
        with open(path, "w", encoding="utf-8") as f:
            f.write(CODE)
        now = {"a.c": cover.hash("a.c")}
        cover.map = {"tests": {"one": ["passed", 1], "two": ["passed", 1]},
                     "texts": {"one": now, "two": now}}
        names = ("one", "two", "new")
        expect("at first", [cover.stale(n) for n in names],
               [False, False, True])
        with open(path, "a", encoding="utf-8") as f:
            f.write("/* changed */")
        expect("changed", [cover.stale(n) for n in names], [True] * 3)
        cover.map["texts"]["one"] = {"a.c": cover.hash("a.c")}
        expect("one ran again", [cover.stale(n) for n in names],
               [False, True, True])


def main():
    bad = 0
    for fn in CASES:
        try:
            fn()
        except AssertionError as why:
            print("%s: %s" % (fn.__name__, why))
            bad += 1
    print("%d cases, %d failed" % (len(CASES), bad))
    return 1 if bad or not CASES else 0


if __name__ == "__main__":
    sys.exit(main())
