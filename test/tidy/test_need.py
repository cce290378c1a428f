#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""devtools/need.sh installs what is missing and nothing else. dpkg, apt, id,
sudo and pkg-config are played by this test."""
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
POLICY = """#!/bin/sh
case $2 in
unknown*) ;;
virtual) printf 'virtual:\n  Installed: (none)\n  Candidate: (none)\n' ;;
*) printf '%s:\n  Installed: (none)\n  Candidate: 1.0\n' "$2" ;;
esac
"""
PKG_CONFIG = """#!/bin/sh
case $2 in libdpdk | jansson) ;; *) exit 1 ;; esac
"""


def case(fn):
    CASES.append(fn)
    return fn


def need(args, uid=0, sudo=False, without=()):
    """@return (exit status, stdout, stderr, what apt-get was called with)"""
    with tempfile.TemporaryDirectory() as box:
        said = os.path.join(box, "said")
        programs = {"dpkg-query": DPKG, "id": "#!/bin/sh\necho %d\n" % uid,
                    "apt-get": "#!/bin/sh\necho noise\necho \"$@\" >>%s\n"
                    % said, "apt-cache": POLICY, "pkg-config": PKG_CONFIG,
                    "cc": "", "meson": ""}
        if sudo:
            programs["sudo"] = "#!/bin/sh\nprintf 'sudo ' >>%s\n\"$@\"\n" % said
        for name in ("grep", "sed", "tr"):
            os.symlink("/bin/" + name, os.path.join(box, name))
        for name, text in programs.items():
            if name in without:
                continue
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


@case
def what_apt_does_not_know_stops_nothing_else():
    status, out, err, said = need("gone unknown other virtual")
    assert (status, out) == (0, ""), out
    assert "no package of these names" in err and ": unknown virtual\n" in err
    assert said[1].endswith(" gone other"), said
    status, _, err, said = need("unknown1 unknown2")
    assert status == 0 and len(said) == 1 and "unknown1 unknown2" in err, err


@case
def without_dpkg_or_apt_what_is_missing_is_named_and_the_build_goes_on():
    for tool in ("dpkg-query", "apt-get"):
        assert need("build-essential meson libdpdk-dev libjansson-dev",
                    uid=1000, without=[tool]) == (0, "", "", [])
        status, out, err, said = need("meson libpcap-dev ninja-build iproute2",
                                      without=[tool])
        assert (status, out, said) == (0, "", []), (tool, status, said)
        assert "\n  Debian: libpcap-dev ninja-build iproute2\n" in err, err
        assert need("--missing meson clang", without=[tool])[1] == " clang\n"
        # nor by what asks for libraries
        assert need("--missing meson libpcap-dev", without=[tool, "pkg-config"]
                    )[1:3] == (" libpcap-dev\n", "")


@case
def what_is_missing_is_called_as_the_system_calls_it():
    _, _, err, _ = need("bpftool libpcap-dev libdpdk-x etcd-server etcd-client "
                        "libssl-dev build-essential", without=["apt-get", "cc"])
    assert "  Ubuntu: linux-tools-generic libpcap-dev libdpdk-x etcd-server" \
        in err, err
    assert err.endswith("  Fedora: bpftool libpcap-devel libdpdk-x etcd "
                        "openssl-devel gcc gcc-c++ make\n"), err


for test in CASES:
    test()
    print("[       OK ]", test.__name__)
