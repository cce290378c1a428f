# SPDX-License-Identifier: BSD-3-Clause
"""A campaign's store: alone, in shards, killed and continued, merged in any
order, it becomes the same bytes, and nothing else is taken for it [SIM-1].

usage: test_store.py REFLIT_SIM SOURCE_ROOT REFLIT_SIM_PLANTS
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from sim_check import FIGURE1, SIM, check, end, load, run

PLANTS = sys.argv[3]
RUN = ("campaign", "--config", FIGURE1, "--duration", "3us", "--seed", "40",
       "--seeds", "31", "--block", "2", "--store")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def lines(path):
    return read(path).count(b"\n") if os.path.exists(path) else 0


with tempfile.TemporaryDirectory() as tmp:
    def path(name):
        return os.path.join(tmp, name)

    def write(name, data):
        with open(path(name), "wb") as f:
            f.write(data)
        return path(name)

    def merged(*stores):
        p = run("merge", "--store", path("merged"), *stores)
        check("%d stores are merged" % len(stores), p.returncode == 0,
              p.stderr)
        return p.stdout, read(path("merged"))

    p = run(*RUN, path("whole"))
    check("a campaign of its own", p.returncode == 0, p.stdout + p.stderr)
    whole = merged(path("whole"))
    check("says what its store says, merged", p.stdout == whole[0], p.stdout)
    check("a block is a line, and the store is in order already",
          read(path("whole")) == whole[1] and lines(path("whole")) == 17)

    shards = [path("shard%d" % i) for i in range(1, 8)]
    for i, shard in enumerate(shards, 1):
        run(*RUN, shard, "--shard", "%d/7" % i)
    check("each shard runs every seventh block",
          [lines(s) - 1 for s in shards] == [3, 3, 2, 2, 2, 2, 2],
          [lines(s) for s in shards])
    for order in (shards, shards[::-1], shards[3:] + shards[:3] + shards):
        check("seven shards are the same bytes", merged(*order) == whole)

    # killed again and again: a child that has just begun, or has written half
    tries = 0
    while lines(path("killed")) < 17 and tries < 60:
        tries += 1
        before = lines(path("killed"))
        p = subprocess.Popen([SIM, *RUN, path("killed")],
                             stdout=subprocess.DEVNULL)
        while (p.poll() is None and
               lines(path("killed")) < before + 1 + tries % 4):
            time.sleep(0.002)
        p.send_signal(signal.SIGKILL)
        p.wait()
    check("killed and continued %d times: the same bytes" % tries,
          tries > 2 and merged(path("killed")) == whole, tries)
    data = read(path("whole"))
    second = data.index(b"\n") + 1
    for cut in (0, 3, second - 1, second, second + 1, len(data) // 2,
                len(data) - 1):
        torn = write("torn", data[:cut])
        p = run(*RUN, torn)
        check("a store that ends at byte %d goes on" % cut,
              p.returncode == 0 and merged(torn) == whole, p.stderr)

    p = run(*RUN, path("budget"), "--time-budget", "0.0000000001s")
    check("a budget ends it, and says what is left", p.returncode == 0 and
          "16 blocks of 2 seeds are left; the same command goes on" in
          p.stdout, p.stdout + p.stderr)
    p = run("merge", "--json", path("json"), path("budget"))
    check("but a part of the seeds is no verdict", p.returncode == 1 and
          "0 of 31 seeds were run" in p.stderr and
          load(path("json"))["interrupted"], p.stderr)
    copied = write("copied.cfg", read(FIGURE1))
    other = write("other.cfg", read(FIGURE1) + b"link: { vcs = 2; };\n")
    for config, status, words in ((copied, 0, ""), (other, 2, "other settings")):
        p = run(*RUN[:2], config, *RUN[3:], path("whole"))
        check("a fabric file counts by its content: " + config,
              p.returncode == status and words in p.stderr, p.stderr)
    p = run("campaign", "--seeds", "3", "--store", path("swarm"), "--wide",
            "all", "--json", path("json"))
    check("seeds of the swarm need no fabric", p.returncode == 0 and
          load(path("json"))["seeds"] == 3, p.stderr)

    held = subprocess.Popen([SIM, *RUN[:-1], "--seeds", "100000", "--store",
                             path("held")], stdout=subprocess.DEVNULL)
    while lines(path("held")) < 2:
        time.sleep(0.01)
    p = run(*RUN[:-1], "--seeds", "100000", "--store", path("held"))
    check("a store has one writer", p.returncode == 2 and
          "another campaign writes to it" in p.stderr, p.stderr)
    held.send_signal(signal.SIGTERM)
    check("a signal ends a campaign after its block", held.wait(60) == 0 and
          read(path("held")).endswith(b"}\n"))

    # its block ends by a signal, and so does each of its seeds alone
    p = subprocess.Popen([SIM, *RUN[:3], "--duration", "50ms", "--seed", "40",
                          "--seeds", "1", "--block", "1", "--store",
                          path("dies")], stdout=subprocess.PIPE, text=True)
    ended = set()
    while p.poll() is None:
        with open("/proc/%d/task/%d/children" % (p.pid, p.pid)) as f:
            for child in set(f.read().split()) - ended:
                os.kill(int(child), signal.SIGSEGV)
                ended.add(child)
        time.sleep(0.002)
    said = p.stdout.read()
    check("a seed that ends its process is a finding", p.returncode == 1 and
          len(ended) == 2 and "seed 40: broken invariant (signal 11)" in said,
          (p.returncode, ended, said))

    env = dict(os.environ, RL_PLANT_NAME="NO_ANSWER")
    p = subprocess.run([PLANTS, "campaign", "--seeds", "20", "--block", "7",
                        "--store", path("bug")], env=env, capture_output=True,
                       text=True)
    check("failures are told, with how to shrink them", p.returncode == 1 and
          "shrink with: reflit-sim shrink --seed 17 --out DIR\n" in p.stdout,
          p.stdout + p.stderr)
    p = run("merge", "--json", path("json"), path("bug"))
    fail = load(path("json"))["failures"]
    check("and kept, with their fingerprints", p.returncode == 1 and
          [f["seed"] for f in fail] == [17] and
          fail[0]["fingerprint"].startswith("silence: nothing from endpoint N "), fail)

    line = data.split(b"\n")
    other = line[:2] + [line[2].replace(b'"sent_packets":', b'"sent_packets":1')]

    def second(old, new):
        """The store with another result of its second block."""
        changed = re.sub(old, new, line[2], count=1)
        check("there is something to change", changed != line[2], old)
        return b"\n".join(line[:2] + [changed, b""])

    for name, text, words in (
            ("half", b"\n".join(line[:2] + [line[2][:40]] + line[3:]),
             ":3: no result of a block"),
            ("number", b"\n".join(line[:1] + [line[1].replace(
                b'{"block":0', b'{"block":99')] + [b""]),
             ":2: no result of a block"),
            ("twice", b"\n".join(other + [line[2], b""]),
             ":4: another result of the same seeds"),
            ("sum", second(b'"seeds":2', b'"seeds":-2'),
             ":3: seeds is missing or no count"),
            ("no count", second(b'"sent_packets":[0-9]+',
                                b'"sent_packets":"many"'),
             ":3: sent_packets is missing or no count"),
            ("settings", second(b'"settings":"....', b'"settings":"x'),
             ":3: settings is missing or no count"),
            ("bucket twice", second(b'"buckets":\\[', b'"buckets":[[5,1],[5,1],'),
             ":3: bucket 1 of latencies is corrupt"),
            ("bucket beyond the last", second(b'"buckets":\\[',
                                              b'"buckets":[[1000000,1],'),
             ":3: bucket 0 of latencies is corrupt"),
            ("failure", second(b'"failures":\\[', b'"failures":[1'),
             ":3: failure 0 is corrupt"),
            ("seeds", second(b'"seeds":2,', b'"seeds":3,'),
             ":3: 3 seeds, 0 failed, of a block of 2"),
            ("head", line[0].replace(b'"seeds":31', b'"seeds":0') + b"\n",
             ":1: the head of a store is corrupt"),
            ("version", line[0].replace(b'"version":"', b'"version":"9.')
             + b"\n", ":1: of reflit-sim 9."),
            ("revision", line[0].replace(b'"revision":"', b'"revision":"no')
             + b"\n", ", revision no"),
            ("text", b"no store\n", "not the store of a campaign"),
            ("cut", b"fabric: { }", "not the store of a campaign")):
        bad = write(name, text)
        for args in ((*RUN, bad), ("merge", path("whole"), bad)):
            p = run(*args)
            check("a corrupt store is refused: " + name, p.returncode == 2 and
                  words in p.stderr and p.stderr.count("\n") == 1,
                  (args, p.returncode, p.stderr))
        check("and stays as it is: " + name, read(bad) == text)
    check("another result of the same seeds is refused, too",
          "another result of the same seeds than an earlier file" in
          run("merge", path("whole"),
              write("b", b"\n".join(other + [b""]))).stderr)

    for args, words in (
            (("campaign", "--seeds", "3"), "Give --store FILE"),
            (("campaign", "--faults", "f", "--store", path("n")),
             "need a fabric"),
            ((*RUN, path("whole"), "--load", "0.5"), "other settings"),
            ((*RUN, path("whole"), "--seed", "41"), "other seeds"),
            ((*RUN, path("whole"), "--block", "5"), "other blocks"),
            (("campaign", "--store", path("whole"), "--time-budget", "5"),
             "a time such as"),
            ((*RUN, path("whole"), "--json", path("whole")), "it is read, too"),
            (("campaign", "--store", path("n"), "--out", tmp), "go with shrink"),
            (("campaign", "--store", path("n"), "--cuts", "3"),
             "go with the ablation"),
            (("campaign", "--store", path("n"), "--events"),
             "goes with one run"),
            (("campaign", "--store", "/nowhere/x"), "/nowhere/x: No such file"),
            (("--config", FIGURE1, "--store", path("n")), "go with a campaign"),
            (("--config", FIGURE1, "--seeds", "2", "--shard", "1/2"),
             "go with a campaign"),
            ((*RUN, path("n"), "--shard", "3/2"),
             "--shard 3/2: out of range; use I/N"),
            ((*RUN, path("n"), "--shard", "0/2"), "--shard 0/2: out of range"),
            ((*RUN, path("n"), "--shard", "2"), "--shard 2: not understood"),
            (("ablation", "--shard", "1/2"), "the ablation has one seed"),
            (("merge",), "merge which files"),
            (("merge", "--json", tmp, path("whole")), "Is a directory"),
            (("merge", path("whole"), path("swarm")), "of another campaign"),
            (("merge", path("whole"), path("none")), "No such file"),
            (("merge", "--store", path("whole"), path("whole")),
             "whole"),
            (("merge", "--store", path("n"), path("json")),
             "not the store of a campaign")):
        p = run(*args)
        check("unusable: " + " ".join(args)[-40:], p.returncode == 2 and
              words in p.stderr and p.stderr.count("\n") == 1,
              (p.returncode, p.stdout, p.stderr))
    check("after all this the store is what it was",
          read(path("whole")) == data)

end()
