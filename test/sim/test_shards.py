# SPDX-License-Identifier: BSD-3-Clause
"""A campaign in shards, merged again: the same verdict as in one run, and
nothing else is taken for one [APP-4].

usage: test_shards.py REFLIT_SIM SOURCE_ROOT
"""

import copy
import json
import os
import tempfile

from sim_check import FIGURE1, check, end, load, run



def plain(path):
    """A report without what every run says of itself."""
    r = load(path)
    for key in ("wall_ns", "arguments", "date"):
        r.pop(key)
    return r


with tempfile.TemporaryDirectory() as tmp:
    def path(name):
        return os.path.join(tmp, name)

    def write(name, text):
        with open(path(name), "w") as f:
            f.write(text)
        return path(name)

    def campaign(config, seeds, parts, *more):
        whole = run("--config", config, "--seeds", str(seeds), "--json",
                    path("whole"), *more)
        shards = []
        for i in range(1, parts + 1):
            p = run("--config", config, "--seeds", str(seeds), "--shard",
                    f"{i}/{parts}", "--json", path(f"shard{i}"), *more)
            shards.append(p.returncode)
        return whole, shards, [path(f"shard{i}") for i in range(1, parts + 1)]

    quick = ("--duration", "50us", "--seed", "40")
    whole, codes, files = campaign(FIGURE1, 10, 3, *quick)
    p = run("merge", "--json", path("merged"), *reversed(files))
    check("merged shards are the campaign in one run, to the last bucket",
          whole.returncode == p.returncode == 0 and codes == [0, 0, 0] and
          plain(path("merged")) == plain(path("whole")),
          (p.stderr, whole.stderr))
    check("and say the same", p.stdout == whole.stdout, p.stdout)
    check("each shard did its part", [load(f)["seeds"] for f in files] ==
          [4, 3, 3])
    shard1, shard2 = load(files[0]), load(files[1])

    broken = copy.deepcopy(shard2)
    broken["failures"] = [{"seed": 44, "broken": "two of a kind"},
                          {"seed": 41, "broken": "gone"}]
    write("broken", json.dumps(broken))
    p = run("merge", files[0], path("broken"), files[2])
    check("a seed that failed in one shard fails the whole, in order",
          p.returncode == 1 and p.stdout.startswith(
              "seed 41: gone\nseed 44: two of a kind\n") and
          "; 2 seeds failed" in p.stdout, (p.returncode, p.stdout))
    short = copy.deepcopy(shard2)
    short["seeds"] -= 1
    short["interrupted"] = True
    write("short", json.dumps(short))
    p = run("merge", "--json", path("merged"), files[0], path("short"),
            files[2])
    check("a seed that was not run is missed", p.returncode == 1 and
          "9 of 10 seeds were run" in p.stderr and
          load(path("merged"))["interrupted"], (p.returncode, p.stderr))

    _, codes, few = campaign(FIGURE1, 2, 3, *quick)
    p = run("merge", *few)
    check("more shards than seeds: the last ones have nothing to do",
          codes == [0, 0, 0] and p.returncode == 0 and
          p.stdout.startswith("2 seeds from 40: "), (codes, p.stderr))
    _, codes, files = campaign(FIGURE1, 10, 3, *quick)

    def bad(name, key, value):
        r = copy.deepcopy(shard2)
        if isinstance(key, tuple):
            r[key[0]][key[1]] = value
        else:
            r[key] = value
        return write(name, json.dumps(r))

    run("--config", FIGURE1, "--duration", "50us", "--json", path("single"))
    copied = write("copied.cfg", open(FIGURE1).read())
    other = write("other.cfg", open(FIGURE1).read() + "link: { vcs = 2; };\n")
    for name, config, more, same in (
            ("the same fabric under another name", copied, quick, True),
            ("another fabric", other, quick, False),
            ("another seed", FIGURE1, ("--duration", "50us"), False),
            ("another load", FIGURE1, (*quick, "--load", "0.2"), False)):
        run("--config", config, "--seeds", "10", "--shard", "1/3", "--json",
            path("first"), *more)
        p = run("merge", path("first"), *files[1:])
        check(f"{name} is {'the same' if same else 'another'} campaign",
              p.returncode == (0 if same else 2) and
              ("of another campaign than the first file" in p.stderr) !=
              same, (p.returncode, p.stderr))
    for name, file, words in (
            ("a shard twice", files[0], "shard 1 again, as in"),
            ("no such file", path("absent"), "absent"),
            ("no JSON", write("text", "sent 3\npackets"), "text:1: "),
            ("cut off", write("cut", json.dumps(shard2, indent=1)[:300]),
             "cut:"),
            ("a run", path("single"), "not the report of a campaign"),
            ("an array", write("array", "[1]"), "not the report of a campaign"),
            ("no counts", bad("b1", "sent_packets", "many"),
             "sent_packets is missing or no count"),
            ("negative", bad("b2", "flit_hops", -1),
             "flit_hops is missing or no count"),
            ("shard 4 of 3", bad("b3", ("campaign", "shard"), 4),
             "there is no shard 4 of 3"),
            ("a hash that is none", bad("b4", ("campaign", "settings"), "x"),
             "settings is missing"),
            ("a bucket beyond the last", bad("b5", ("latencies", "buckets"),
                                             [[10 ** 6, 1]]),
             "bucket 0 of latencies is corrupt"),
            ("a bucket twice", bad("b6", ("latencies", "buckets"),
                                   [[5, 1], [5, 1]]),
             "bucket 1 of latencies is corrupt"),
            ("more seeds than its share", bad("b7", "seeds", 4),
             "4 seeds, 0 failed, of a shard of 3"),
            ("failures of another shape", bad("b8", "failures", [1]),
             "failure 0 is corrupt")):
        p = run("merge", files[0], file, files[2])
        check("merge refuses " + name, p.returncode == 2 and
              p.stdout == "" and words in p.stderr and
              p.stderr.startswith("reflit-sim: ") and
              p.stderr.count("\n") == 1, (p.returncode, p.stderr))
    for args, words in (
            (("merge",), "merge which files"),
            (("merge", "--json", tmp, files[0]), "Is a directory"),
            (("merge", files[0], files[1]), "is one of 3 shards, but 2 files"),
            (("--config", FIGURE1, "--shard", "1/2"), "goes with a campaign"),
            (("--config", FIGURE1, "--seeds", "2", "--shard", "3/2"),
             "--shard 3/2: out of range; use I/N"),
            (("--config", FIGURE1, "--seeds", "2", "--shard", "0/2"),
             "--shard 0/2: out of range"),
            (("--config", FIGURE1, "--seeds", "2", "--shard", "2"),
             "--shard 2: not understood"),
            (("ablation", "--shard", "1/2"), "the ablation has one seed")):
        p = run(*args)
        check("unusable: " + " ".join(args)[-40:], p.returncode == 2 and
              words in p.stderr and p.stderr.count("\n") == 1,
              (p.returncode, p.stderr))

end()
