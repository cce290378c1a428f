#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lines of any kind at the prompt [APP-1, APP-4], while traffic runs.

    fuzz_prompt.py REFLIT [--lines N] [--seed N] [--runs N]

Lines are made from the forms that `help` prints: right ones, ones with wrong
parameters, and mutilated ones. In the end everything is healed. The program
must not die, must refuse what is wrong with one line, and must have kept every
promise: whatever was injected, nothing is lost, twice, out of order or altered
unsaid. The lines of a run depend on its seed alone; a failure prints it.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

FABRIC = """
fabric: {
  topology = "custom";
  switches = ( { name = "s0"; }, { name = "s1"; } );
  endpoints = ( { name = "e0"; }, { name = "e1"; } );
  links = ( { a = "e0"; b = "s0"; }, { a = "s0"; b = "s1"; count = 2; },
            { a = "s1"; b = "e1"; } );
};
routing: { levels = 8; };
link: { keepalive_dead_ns = 1000000000; flap_damping_ns = 1000000; };
"""
LINKS = ["e0-s0", "s0-s1", "s0-s1#0", "s0-s1#1", "s1-e1", "s1-s0#1"]
WORDS = {
    "link": LINKS, "device": ["s0", "s1", "e0", "e1"],
    "endpoint": ["e0", "e1"], "port": ["all", "s0", "e1", "s0/1", "s1/0"],
    "time": ["1ms", "5ms", "100us", "7ns", "0us", "1.5ms"],
    "n": ["0", "1", "2", "3", "7", "100"], "rate": ["0", "0.02", "1e-5", "1"],
    "pattern": ["uniform", "permutation", "tornado", "hotspot", "incast",
                "transpose", "bit-complement"],
}
ODD = ["", "-1", "99999999999999999999", "nan", "0x10", "s9", "e0-e1", "s0-",
       "#", "s0-s1#2", "1e400", "\"", "'", "\\", "%s%n", "\x7f", "\xe4",
       "a" * 600, "1.5", "5", "1h", "<link>", "?", "..", "/"]
# these end the run, wait for long, or are not for a test
NEVER = re.compile(r"^\s*(q|quit|exit|w|wa|wai|load|capture|record)\b|^\s*wait\b|"
                   r"[\n\r\x00\x03\x04\t]")
WAITS = re.compile(r"^wait [0-9.]+(us|ns|ms)$")
WHOLE = ["controller restart"] + [
    "device %s %s" % (d, w) for d in ("s0", "s1", "e0", "e1")
    for w in ("restart", "add")] + [
    "link %s add" % l for l in ("e0-s0", "s0-s1#0", "s0-s1#1", "s1-e1")] + [
    "unquiesce"]
HEAL = [s for l in ("e0-s0", "s0-s1#0", "s0-s1#1", "s1-e1")
        for s in ("link %s enable" % l, "link %s up" % l)]
UNBLOCK = ["inject unblock e%d %d" % (e, v) for e in (0, 1) for v in range(8)]
EXACT = ("lost_packets", "duplicated_packets", "reordered_packets",
         "corrupted_packets")


def forms(reflit):
    """The commands as `help all` prints them."""
    p = run(reflit, "help all\nquit\n")
    found = re.findall(r"^ *([a-z][a-z ]*(?:<[a-z]+>|[a-z-]+)(?: \S+)*?)  +\S",
                       p.stdout, re.M)
    found = [f.strip() for f in found if f.split()[0] not in
             ("quit", "reflit", "wait", "load", "capture", "record")]
    assert len(found) > 20, "help prints no commands:\n" + p.stdout
    return found + ["wait <time>"]


def run(reflit, text, report=None):
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as config:
        config.write(FABRIC)
        config.flush()
        cmd = [reflit, "--", "--config", config.name, "-i", "--load", "0.05"]
        if report:
            cmd += ["--json", report]
        return subprocess.run(cmd, input=text, capture_output=True, text=True,
                              errors="replace", timeout=240, check=False)


def one(rng, all_forms):
    words = []
    for word in rng.choice(all_forms).split():
        m = re.match(r"^<(\w+)>$", word)
        if m and rng.random() < 0.9:
            words.append(rng.choice(WORDS.get(m.group(1), ODD)))
        elif m or rng.random() < 0.02:
            words.append(rng.choice(ODD))
        else:
            words.append(word)
    kind = rng.random()
    if kind < 0.1 and words:
        del words[rng.randrange(len(words))]
    elif kind < 0.2:
        words.insert(rng.randrange(len(words) + 1), rng.choice(ODD))
    line = " ".join(words)
    if kind > 0.9 and line:
        at = rng.randrange(len(line))
        line = line[:at] + chr(rng.randrange(32, 256)) + line[at + 1:]
    return line


def lines(seed, count, all_forms):
    rng = random.Random(seed)
    out = ["wait up", "start"]
    while len(out) < count + 2:
        line = one(rng, all_forms)
        if WAITS.match(line) or not NEVER.search(line):
            out.append(line)
    return out + WHOLE + HEAL + UNBLOCK + HEAL + [
        "wait 300ms"] + WHOLE + HEAL + ["wait recovered 60s"] + HEAL + [
        "stop", "wait drained 120s", "quit"]


def check(seed, p, report):
    def fail(why):
        raise AssertionError("seed %d: %s\n%s\n%s" % (
            seed, why, p.stdout[-2000:], p.stderr[-2000:]))
    # lines may leave no time, or no way, to send anything: no success
    unsent = p.returncode == 1 and report is not None and \
        report["sent_packets"] == 0
    if p.returncode not in (0, 2) and not unsent:
        fail("exit status %d" % p.returncode)
    if "runtime error" in p.stderr or "AddressSanitizer" in p.stderr:
        fail("a sanitizer spoke")
    if report is None:
        fail("no report")
    for key in EXACT:
        if report[key] != 0:
            fail("%s: %d" % (key, report[key]))
    if report["sent_packets"] != (report["delivered_packets"] +
                                  report["reported_packets"]):
        fail("packets are not accounted for")


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("reflit")
    args.add_argument("--lines", type=int, default=200)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--runs", type=int, default=3)
    args = args.parse_args()
    all_forms = forms(args.reflit)
    for seed in range(args.seed, args.seed + args.runs):
        with tempfile.TemporaryDirectory(prefix="reflit-fuzz-") as box:
            report = os.path.join(box, "report.json")
            text = "\n".join(lines(seed, args.lines, all_forms)) + "\n"
            p = run(args.reflit, text, report)
            parsed = None
            if os.path.exists(report):
                with open(report, encoding="utf-8") as f:
                    parsed = json.load(f)
        check(seed, p, parsed)
        print("seed %d: %d lines, %d errors said, %d packets, %d reported" % (
            seed, args.lines, len(p.stderr.split("\n")) - 1,
            parsed["sent_packets"], parsed["reported_packets"]))
        sys.stdout.flush()


main()
