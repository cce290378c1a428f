#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""devtools/need.sh installs what is missing and nothing else. dpkg, apt, id and
sudo are played by this test."""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
NEED = os.path.join(ROOT, "devtools", "need.sh")
CASES = []

DPKG = """#!/bin/sh
echo 'install ok installed|gcc, c-compiler, gcc-x (= 4)'
echo 'deinstall ok config-files|gone, '
"""


def case(fn):
    CASES.append(fn)
    return fn


def need(args, uid=0, sudo=False):
    """@return (exit status, stdout, stderr, what apt-get was called with)"""
    with tempfile.TemporaryDirectory() as box:
        said = os.path.join(box, "said")
        programs = {"dpkg-query": DPKG, "id": "#!/bin/sh\necho %d\n" % uid,
                    "apt-get": "#!/bin/sh\necho noise\necho \"$@\" >>%s\n"
                    % said}
        if sudo:
            programs["sudo"] = "#!/bin/sh\nprintf 'sudo ' >>%s\n\"$@\"\n" % said
        for name in ("grep", "sed", "tr"):
            os.symlink("/bin/" + name, os.path.join(box, name))
        for name, text in programs.items():
            path = os.path.join(box, name)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            os.chmod(path, 0o755)
        command = ["/bin/sh", NEED] + args.split()
        p = subprocess.run(command, env={"PATH": box},
                           capture_output=True, text=True, check=False)
        lines = []
        if os.path.exists(said):
            with open(said, encoding="utf-8") as f:
                lines = f.read().splitlines()
    return p.returncode, p.stdout, p.stderr, lines


@case
def what_is_installed_or_provided_is_not_installed_again():
    assert need("gcc c-compiler gcc-x", uid=1000) == (0, "", "", [])


@case
def what_is_missing_is_printed_and_nothing_is_done():
    status, out, err, said = need("--missing gcc gone other", uid=1000)
    assert (status, out.split(), err, said) == (0, ["gone", "other"], "", [])


@case
def root_installs_what_is_missing_and_standard_output_stays_clean():
    status, out, err, said = need("gcc gone other")
    assert (status, out) == (0, ""), out
    assert "installing: gone other" in err, err
    assert said[0].startswith("update") and len(said) == 2, said
    assert said[1].endswith(" gone other"), said


@case
def others_go_through_sudo_or_are_told_what_to_install():
    status, _, _, said = need("gone other", uid=1000, sudo=True)
    assert status == 0 and all(s.startswith("sudo ") for s in said), said
    status, out, err, said = need("gone other", uid=1000)
    assert (status, out, said) == (1, "", [])
    assert "apt-get install gone other" in err, err


for test in CASES:
    test()
    print("[       OK ]", test.__name__)
