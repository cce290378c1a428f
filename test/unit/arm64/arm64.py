#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Unit tests of the codec for arm64, by a cross compiler and qemu-user [FLIT-8].

    arm64.py SOURCE BUILD [--long]

Builds in BUILD, by devtools/cross/aarch64.ini and -Dbare=true, and runs what it
built. It counts the instructions that NEON and the scalar code take for a flit.
With --long it runs a million flits beside the plain reference, and no more.
"""
import os
import re
import shutil
import subprocess
import sys

LIBC = "/usr/aarch64-linux-gnu"
QEMU = ["qemu-aarch64", "-L", LIBC]
FLIT = ["codec", "crc32c", "isn", "layout", "many", "run", "witness"]
# NEON's instructions for a flit may be this share of the scalar code's
SHARE = 0.3
BURST = 64  # flits of an operation in test_many.c
ENTRY = {"rl_codec_tx": "tx", "rl_codec_rx": "rx", "rl_codec_hop": "hop",
         "rl_codec_fec_check": "check"}
# what they call, once a burst or once a flit
CODE = re.compile(r"(scalar|rl_scalar)_\w+|fec_\w+|tx|rx|hop|check")
TRACE = re.compile(r"Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/")


def missing():
    """@return what is not here, in words; None: all is."""
    for tool, package in (("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
                          ("qemu-aarch64", "qemu-user"),
                          ("meson", "meson"), ("ninja", "ninja-build")):
        if shutil.which(tool) is None:
            return "no %s (apt install %s)" % (tool, package)
    if not os.path.isdir(LIBC + "/include"):
        return "no C library for arm64 (apt install libc6-dev-arm64-cross)"
    return None


def quiet(cmd):
    """Runs @cmd; ends this program with what it said where it fails."""
    done = subprocess.run(cmd, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit("%s\n%s" % (" ".join(cmd), done.stdout[-4000:]))
    return done.stdout


def build(source, where):
    if not os.path.exists(where + "/build.ninja"):
        quiet(["meson", "setup", where, source, "--cross-file",
               source + "/devtools/cross/aarch64.ini", "-Dbare=true",
               "-Ddocs=false", "-Dxdp=disabled", "-Dwerror=true"])
    quiet(["ninja", "-C", where, "-j2"] +
          ["test/unit/flit/test_flit_" + t for t in FLIT])


def places(program):
    """@return where each function of the codec lies: {name: (start, bytes)}."""
    found = {}
    for line in quiet(["aarch64-linux-gnu-nm", "-S", program]).split("\n"):
        word = line.split()
        if len(word) == 4 and word[2] in "tT" and \
                (word[3] in ENTRY or CODE.fullmatch(word[3])):
            found[word[3]] = (int(word[0], 16), int(word[1], 16))
    return found


def one_by_one():
    """@return QEMU's option for one instruction a block: it had two names."""
    said = quiet(["qemu-aarch64", "-h"])
    return "-one-insn-per-tb" if "-one-insn-per-tb" in said else "-singlestep"


def instructions(program, log, isa):
    """@return how many instructions each operation takes for a flit."""
    place = places(program)
    quiet(QEMU + [one_by_one(), "-d", "nochain,exec", "-D", log, "-dfilter",
                  ",".join("0x%x+0x%x" % p for p in place.values()), program,
                  isa])
    begins = {place[name][0]: op for name, op in ENTRY.items()}
    taken, op = {}, None
    with open(log, encoding="utf-8", errors="replace") as lines:
        for m in filter(None, map(TRACE.match, lines)):
            op = begins.get(int(m.group(1), 16), op)
            taken[op] = taken.get(op, 0) + 1 / BURST
    os.unlink(log)
    return taken


def count(where):
    """@return whether NEON is as short as it should be."""
    program = where + "/test/unit/flit/test_flit_many"
    scalar, neon = (instructions(program, where + "/exec.log", isa)
                    for isa in ("scalar", "neon"))
    good = True
    for op in ENTRY.values():
        name = "neon_takes_%s_of_the_scalar_code_for_%s" % (SHARE, op)
        print("[ RUN      ] %s" % name)
        print("%s: %.0f instructions a flit, scalar %.0f: %.3f" %
              (op, neon[op], scalar[op], neon[op] / scalar[op]))
        right = neon[op] <= SHARE * scalar[op]
        print("[       OK ] %s" % name if right else "[  FAILED  ] %s" % name)
        good = good and right
    return good


def main():
    source, where = sys.argv[1:3]
    why = missing()
    if why is not None:
        print(why)
        return 77
    build(source, where)
    env, tests = dict(os.environ), FLIT
    if sys.argv[3:] == ["--long"]:
        env["RL_LONG"] = "1"
        tests = ["many"]
    good = True
    for t in tests:
        program = "%s/test/unit/flit/test_flit_%s" % (where, t)
        done = subprocess.run(QEMU + [program], env=env, check=False,
                              stdout=subprocess.PIPE, text=True)
        print(done.stdout, end="")
        good = good and done.returncode == 0
        if t == "many" and "neon: " not in done.stdout:
            print("[  FAILED  ] no_flit_went_through_neon")
            good = False
    if tests == FLIT:
        good = count(where) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
