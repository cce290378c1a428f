#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The last line of devtools/test.sh is true: every way in which a test of this
project passes, fails or is skipped is counted once."""
import json
import os
import subprocess
import sys
import tempfile

ROOT = sys.argv[1] if len(sys.argv) > 1 else "."
SUMMARY = os.path.join(ROOT, "devtools", "test_summary.py")
CASES = []

CMOCKA = """[==========] Running 3 test(s).
[ RUN      ] first
[       OK ] first
[ RUN      ] second
this goes first
no tool here
[  SKIPPED ] second
[ RUN      ] third
[  FAILED  ] third
[==========] 3 test(s) run.
"""
CMOCKA_ERR = """[  PASSED  ] 1 test(s).
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] second
[  FAILED  ] 1 test(s), listed below:
[  FAILED  ] third
"""
UNITTEST = """test_a (__main__.T.test_a) ... ok
test_b (__main__.T.test_b) ... skipped 'no tool'
test_c (__main__.T.test_c) ... FAIL

Ran 3 tests in 0.000s

FAILED (failures=1, skipped=1)
"""


def case(fn):
    CASES.append(fn)
    return fn


def summary(*entries, options=()):
    """@return (exit status, lines) for a log of these programs"""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as log:
        for entry in entries:
            log.write(json.dumps(dict({"name": "x", "result": "OK",
                                       "stdout": ""}, **entry)) + "\n")
        log.flush()
        p = subprocess.run([sys.executable, SUMMARY, *options, log.name],
                           capture_output=True, text=True, check=False)
    return p.returncode, p.stdout.rstrip("\n").split("\n")


@case
def without_skips_the_line_has_two_numbers():
    status, lines = summary({}, {"stdout": "[       OK ] a\n[       OK ] b\n"})
    assert (status, lines) == (0, ["3 passed, 0 failed"]), lines


@case
def what_is_skipped_for_want_of_a_program_fails_where_that_is_wanted():
    for why, fails in (("clang is not installed", 1),
                       ("no clang-format of version 14", 1),
                       ("needs root", 0), ("", 0)):
        entry = {"stdout": "[       OK ] a\n[  SKIPPED ] b: %s\n" % why}
        assert summary(entry)[0] == 0
        status, lines = summary(entry, options=["--strict"])
        assert status == fails, (why, lines)
        assert lines[-2:] == ["1 skipped", "1 passed, %d failed" % fails]
        assert any(s.startswith("failed: x ") for s in lines) == fails, lines


@case
def a_case_that_cmocka_names_twice_counts_once():
    status, lines = summary({"stdout": CMOCKA, "stderr": CMOCKA_ERR,
                             "result": "FAIL"})
    assert status == 1
    assert lines[-2:] == ["1 skipped", "1 passed, 1 failed"], lines
    assert any(s.endswith("second: no tool here") for s in lines[:-1]), lines


@case
def a_case_of_cmocka_that_gives_no_reason_does_not_take_that_of_another():
    text = CMOCKA.replace("this goes first\nno tool here\n", "").replace(
        "[ RUN      ] second", "first speaks\n[ RUN      ] second")
    lines = summary({"stdout": text, "result": "FAIL"})[1]
    assert any(s.endswith("second: no reason given") for s in lines), lines


@case
def cases_whose_names_are_sentences_count_as_others_do():
    bad = "[ RUN      ] [DRL-%d] nothing is lost\n" \
          "[  FAILED  ] [DRL-%d] nothing is lost\n"
    skip = "[ RUN      ] [DRL-3] a tool\nno tool\n[  SKIPPED ] [DRL-3] a tool\n"
    status, lines = summary({"stdout": bad % (1, 1) + bad % (2, 2) + skip,
                             "result": "FAIL"})
    assert lines[-2:] == ["1 skipped", "0 passed, 2 failed"], lines
    assert lines[0].endswith("[DRL-3] a tool: no tool"), lines


@case
def a_case_skipped_in_python_is_named_with_its_reason():
    status, lines = summary({"stdout": "[  SKIPPED ] live: no ethtool here\n"
                                       "[       OK ] other\n"})
    assert status == 0
    assert lines[-2:] == ["1 skipped", "1 passed, 0 failed"], lines
    assert "live: no ethtool here" in lines[0], lines


@case
def a_program_that_ends_with_77_is_skipped_and_says_why():
    status, lines = summary({"result": "SKIP", "stdout": "skipped: no dpkg\n"},
                            {})
    assert status == 0
    assert lines[-2:] == ["1 skipped", "1 passed, 0 failed"], lines
    assert "no dpkg" in lines[0], lines


@case
def unittest_counts_by_its_cases():
    status, lines = summary({"stderr": UNITTEST, "result": "FAIL"})
    assert status == 1
    assert lines[-2:] == ["1 skipped", "1 passed, 1 failed"], lines
    assert "test_b: no tool" in lines[0], lines


@case
def a_program_that_dies_after_good_cases_failed():
    for result in ("FAIL", "TIMEOUT", "ERROR", "INTERRUPT"):
        status, lines = summary({"stdout": "[       OK ] a\n",
                                 "result": result})
        assert (status, lines[-1]) == (1, "1 passed, 1 failed"), lines


@case
def the_slowest_ten_are_named_worst_first():
    _, lines = summary(*({"name": "t%d" % n, "duration": n}
                         for n in range(15)))
    assert [line.split()[:4] for line in lines[:-1]] == [
        ["slow:", str(n), "s:", "t%d" % n] for n in range(14, 4, -1)], lines


@case
def nothing_at_all_or_only_skips_is_no_success():
    assert summary()[0] == 1
    assert summary({"result": "SKIP"})[0] == 1
    p = subprocess.run([sys.executable, SUMMARY, "/nonexistent/log"],
                       capture_output=True, text=True, check=False)
    assert p.returncode == 1, p.stdout


for test in CASES:
    test()
    print("[       OK ]", test.__name__)
