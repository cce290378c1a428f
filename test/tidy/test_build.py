#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""devtools/build.sh says how far it is, and shows the compiler's words where
something fails. meson, ninja and the time are played by this test."""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
BUILD = os.path.join(ROOT, "devtools", "build.sh")
CASES = []

MESON = "#!/bin/sh\n[ -z \"$BAD\" ] || { echo no compiler; exit 1; }\n"
# a step for each second that somebody sleeps, and the other way round
NINJA = """#!/bin/sh
i=0
while [ $i -lt 25 ]; do
	i=$((i + 1))
	until [ "$(wc -l <"$BOX/slept")" -ge $i ]; do /bin/sleep 0.01; done
	echo "[$i/25] Compiling"
done
[ -z "$WRONG" ] || { echo "x.c:1: error"; exit 1; }
"""
SLEEP = """#!/bin/sh
echo >>"$BOX/slept"
n=$(wc -l <"$BOX/slept")
until [ "$n" -gt 25 ] || grep -q "^.$n/25" "$BOX/build.log"; do
	/bin/sleep 0.01
done
"""


def case(fn):
    CASES.append(fn)
    return fn


def build(**env):
    """@return (exit status, stdout, stderr) of the first build of a folder"""
    with tempfile.TemporaryDirectory() as box:
        with open(os.path.join(box, "slept"), "w", encoding="utf-8"):
            pass
        for name, text in (("meson", MESON), ("ninja", NINJA),
                           ("sleep", SLEEP)):
            path = os.path.join(box, name)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            os.chmod(path, 0o755)
        p = subprocess.run(
            ["/bin/sh", BUILD, os.path.join(box, "build")],
            env=dict(env, BOX=box, PATH=box + ":/usr/bin:/bin"),
            capture_output=True, text=True, check=False, timeout=60)
        left = os.path.exists(os.path.join(box, "build.log"))
    assert left == (p.returncode != 0), "the log stays where something failed"
    return p.returncode, p.stdout, p.stderr


@case
def it_says_what_it_does_and_how_far_it_is():
    status, out, err = build()
    assert (status, err) == (0, ""), err
    assert [line.split(": ")[1] for line in out.splitlines()] == \
        ["configuring", "10/25 built", "20/25 built", "25/25 built"], out


@case
def what_the_compiler_says_is_shown_where_something_fails():
    status, out, err = build(WRONG="1")
    assert status == 1 and "x.c:1: error" in err, (status, err)
    assert out.splitlines()[-1].endswith(": 20/25 built"), out


@case
def a_folder_that_cannot_be_configured_ends_it():
    assert build(BAD="1")[::2] == (1, "no compiler\n")


for test in CASES:
    test()
    print("[       OK ]", test.__name__)
