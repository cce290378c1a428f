#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""OpenSM's engines beside reflit's; devtools/peers/opensm.sh runs this."""
import argparse
import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from ibfabric import Fabric

HERE = os.path.dirname(os.path.abspath(__file__))
ROUTE = os.path.abspath(os.environ.get("ROUTE", "build/app/reflit-route"))
ENGINES = ["minhop", "updn", "ftree", "dfsssp", "lash", "nue", "torus-2QoS"]
CONF = """event_plugin_name opensm_watch
routing_engine {engine}
qos TRUE
qos_max_vls 8
qos_high_limit 4
qos_vlarb_high 0:4
qos_vlarb_low 0:4,1:4,2:4,3:4,4:4,5:4,6:4,7:4
qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
nue_max_num_vls 8
max_op_vls 4
dump_files_dir {dir}
torus_config {dir}/torus.conf
{roots}
"""
TORUS = 'fabric: {{ topology = "torus"; dims = [{0}]; }};'
FABRICS = [
    # name, fabric file, dims of a torus, failures
    ("torus 4x4", TORUS.format("4, 4"), (4, 4), ()),
    ("torus 6x6, 1 link", TORUS.format("6, 6"), (6, 6), ("s3.1-s3.2",)),
    ("torus 6x6, 1 switch", TORUS.format("6, 6"), (6, 6), ("s3.1",)),
    ("torus 5x5x5", TORUS.format("5, 5, 5"), (5, 5, 5), ()),
    ("torus 5x5x5, 3 links", TORUS.format("5, 5, 5"), (5, 5, 5),
     ("s0.1.2-s0.1.3", "s3.3.3-s4.3.3", "s2.4.1-s2.0.1")),
    ("torus 8x8x8", TORUS.format("8, 8, 8"), (8, 8, 8), ()),
    ("fat tree 4-ary 3-tree",
     'fabric: { topology = "fat-tree"; k = 4; n = 3; };', None, ()),
    ("fat tree 4-ary 3-tree, 1 link",
     'fabric: { topology = "fat-tree"; k = 4; n = 3; };', None,
     ("s2.0-s3.0",)),
    ("fat tree 4-ary 4-tree",
     'fabric: { topology = "fat-tree"; k = 4; n = 4; };', None, ()),
    ("fat tree 18x12, 2:1",
     'fabric: { topology = "fat-tree"; m = [12, 18]; w = [1, 6]; };', None,
     ()),
    ("dragonfly a=4 p=2 h=2",
     'fabric: { topology = "dragonfly"; a = 4; p = 2; h = 2; };', None, ()),
    ("dragonfly a=8 p=1 h=4, 33 groups",
     'fabric: { topology = "dragonfly"; a = 8; p = 1; h = 4; };', None, ()),
    ("Slim Fly q=5", 'fabric: { topology = "slim-fly"; q = 5; };', None, ()),
    ("Slim Fly q=9", 'fabric: { topology = "slim-fly"; q = 9; };', None, ()),
    ("random 64, degree 6",
     'fabric: { topology = "random"; n = 64; degree = 6; };', None, ()),
    ("random 200, degree 6",
     'fabric: { topology = "random"; n = 200; degree = 6; };', None, ()),
]
BIG = [
    ("torus 10x10x10", TORUS.format("10, 10, 10"), (10, 10, 10), ()),
    ("random 1000, degree 10",
     'fabric: { topology = "random"; n = 1000; degree = 10; };', None, ()),
]
COLUMNS = ["fabric", "switches", "endpoints", "engine", "verdict", "tables_ms",
           "proof_ms", "pairs", "reachable", "stretch", "load_max",
           "load_mean", "vls"]


def stop(p):
    """Ends a process of ours, by its own id."""
    if p.poll() is None:
        p.send_signal(signal.SIGTERM)
        try:
            p.wait(5)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()


class Lab:
    """A simulated fabric, and OpenSM on it. Ends what it began."""

    def __init__(self, fabric, work, timeout):
        self.fabric, self.dir, self.timeout = fabric, work, timeout
        self.cables = fabric.write_net(os.path.join(work, "net"))
        self.env = dict(os.environ, IBSIM_SOCKNAME="rl%d" % os.getpid(),
                        SIM_HOST=fabric.endpoints[0], OPENSM_WATCH_DIR=work,
                        OSM_CACHE_DIR=work, OSM_TMP_DIR=work)
        n = len(fabric.switches) + len(fabric.endpoints)
        self.sim = subprocess.Popen(
            ["ibsim", "-s", "-N", str(n + 8), "-S", str(n + 8), "-P",
             str(4 * len(self.cables) + 4 * n + 64),
             os.path.join(work, "net")],
            stdin=subprocess.PIPE, env=self.env, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.osm = None
        time.sleep(0.3 + n / 4000)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.osm:
            stop(self.osm)
        stop(self.sim)

    def tell(self, line):
        self.sim.stdin.write((line + "\n").encode())
        self.sim.stdin.flush()

    def start(self, engine, paths, once):
        roots = os.path.join(self.dir, "roots")
        with open(roots, "w") as f:
            for s in self.fabric.roots():
                f.write("0x%x\n" % self.fabric.guid[s])
        with open(os.path.join(self.dir, "conf"), "w") as f:
            f.write(CONF.format(
                engine=engine, dir=self.dir,
                roots="root_guid_file " + roots if engine == "updn" else ""))
        env = dict(self.env, LD_LIBRARY_PATH=os.environ["WATCH_LIB"],
                   LD_PRELOAD="/usr/lib/x86_64-linux-gnu/umad2sim/"
                              "libumad2sim.so")
        if paths:
            env["OPENSM_WATCH_PATHS"] = "1"
        self.osm = subprocess.Popen(
            ["opensm", "-F", os.path.join(self.dir, "conf"), "-f",
             os.path.join(self.dir, "log"), "-D", "0x43"] +
            (["-o"] if once else []), env=env, cwd=self.dir,  # sys-PID, there
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def events(self):
        """[(ns, name)] so far."""
        try:
            with open(os.path.join(self.dir, "events.txt")) as f:
                rows = [line.split() for line in f]
        except OSError:
            return []
        return [(int(r[0]), r[1]) for r in rows if len(r) == 2]

    def wait(self, name, after=0):
        """The time of an event later than `after`, or None."""
        end = time.monotonic() + self.timeout
        while time.monotonic() < end:
            for at, what in self.events():
                if what == name and at > after:
                    return at
            if self.osm.poll() is not None and name != "routing-done":
                return None
            time.sleep(0.005)
        return None


def judge(directory, extra=()):
    """What reflit's checker says of a dump of OpenSM."""
    p = subprocess.run([ROUTE, "--check-opensm", directory, "--stats",
                        "--json", "-"] + list(extra),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       universal_newlines=True)
    if p.returncode not in (0, 1):
        raise RuntimeError(p.stderr.strip())
    return json.loads(p.stdout)


def verdict(r):
    if r["credit_loop"]:
        return "loop of %d" % len(r["credit_loop"])
    return "ok" if r["reachable"] == r["pairs"] else "pairs lost"


def row_of(name, fabric, engine, r, tables_ms, proof_ms=None):
    return dict(zip(COLUMNS, [
        name, len(fabric.switches), len(fabric.endpoints), engine, verdict(r),
        tables_ms, proof_ms, r["pairs"], r["reachable"], r["stretch_mean"],
        r["load_max"], r["load_mean"], r["vls_used"]]))


def refused(name, fabric, engine, why):
    row = dict.fromkeys(COLUMNS)
    row.update(fabric=name, switches=len(fabric.switches),
               endpoints=len(fabric.endpoints), engine=engine, verdict=why)
    return row


def opensm_row(name, fabric, dims, engine, opt):
    """One engine of OpenSM on one fabric."""
    with tempfile.TemporaryDirectory(prefix="reflit-osm") as work:
        if engine == "torus-2QoS" and not fabric.write_torus_conf(
                os.path.join(work, "torus.conf"), dims):
            return refused(name, fabric, engine, "no seed")
        with Lab(fabric, work, opt.timeout) as lab:
            lab.start(engine, True, True)
            try:
                lab.osm.wait(opt.timeout)
            except subprocess.TimeoutExpired:
                return refused(name, fabric, engine,
                               "over %d s" % opt.timeout)
            events = lab.events()
        when = {what: at for at, what in events}
        if "routing-done" not in when:
            return refused(name, fabric, engine, "failed")
        used = events[[e[1] for e in events].index("routing-done") - 1][1]
        if used != engine:
            return refused(name, fabric, engine, "refused")
        ms = (when["routing-done"] - when["heavy-sweep-done"]) / 1e6
        try:
            return row_of(name, fabric, engine, judge(work), ms)
        except RuntimeError as e:
            return refused(name, fabric, engine, str(e)[-60:])


def reflit_rows(name, fabric, config, fail, engine="reflit"):
    args = [ROUTE, "--config", config, "--engine", engine, "--stats",
            "--verify", "--json", "-"]
    for link in fail:
        args += ["--fail", link]
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       universal_newlines=True)
    r = json.loads(p.stdout)
    if p.returncode == 3:
        return refused(name, fabric, "reflit", "refused")
    accept = subprocess.run(
        [a for a in args if a not in ("--stats", "--verify")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        universal_newlines=True)
    proof = json.loads(accept.stdout).get("accept_ns", 0) / 1e6
    return row_of(name, fabric, "reflit", r, r["compute_ns"] / 1e6, proof)


def show(row, file=sys.stdout):
    def f(key, spec):
        return format(row[key], spec) if row[key] is not None else "-"

    print("  %-11s %-12s %9s %9s  %8s %7s %9s  %s" % (
        row["engine"], row["verdict"], f("tables_ms", ".1f"),
        f("proof_ms", ".1f"), f("stretch", ".4f"), f("load_max", "d"),
        f("load_mean", ".1f"), f("vls", "d")), file=file, flush=True)


def compare(opt, work):
    """Every fabric, every engine. @return rows"""
    rows = []
    for name, text, dims, fail in FABRICS + (BIG if opt.big else []):
        if opt.only and opt.only not in name:
            continue
        config = os.path.join(work, "fabric.cfg")
        with open(config, "w") as f:
            f.write(text)
        fabric = Fabric(ROUTE, config, fail)
        print("%s: %d switches, %d endpoints\n  %-11s %-12s %9s %9s  %8s %7s "
              "%9s  %s" % (name, len(fabric.switches), len(fabric.endpoints),
                           "engine", "verdict", "tables ms", "proof ms",
                           "stretch", "busiest", "mean load", "VLs"))
        for engine in ENGINES:
            if (engine == "torus-2QoS" and not dims) or \
               (engine == "ftree" and "tree" not in name):
                continue
            rows.append(opensm_row(name, fabric, dims, engine, opt))
            show(rows[-1])
        rows.append(reflit_rows(name, fabric, config, fail))
        show(rows[-1])
    return rows


def recovery_opensm(fabric, dims, engine, link, opt):
    """A link dies under OpenSM. @return ms until new tables are in place"""
    with tempfile.TemporaryDirectory(prefix="reflit-osm") as work:
        if engine == "torus-2QoS":
            fabric.write_torus_conf(os.path.join(work, "torus.conf"), dims)
        with Lab(fabric, work, opt.timeout) as lab:
            lab.start(engine, False, False)
            if lab.wait("subnet-up") is None:
                return None
            time.sleep(0.5)
            a, pa = next((c[0], c[1]) for c in lab.cables
                         if {c[0], c[2]} == set(link))
            at = time.monotonic_ns()
            lab.tell('Unlink "%s"[%d]' % (a, pa))
            up = lab.wait("subnet-up", at)
            if up is None:
                return None
            when = {w: t for t, w in lab.events() if t > at}
            used = [w for t, w in lab.events() if t > at]
            if engine not in used:
                return None
            return {"total_ms": (up - at) / 1e6,
                    "sweep_ms": (when["heavy-sweep-done"] - at) / 1e6,
                    "tables_ms": (when["routing-done"] -
                                  when["heavy-sweep-done"]) / 1e6}


def recovery(opt, work):
    """One link fails: the time to new tables. @return rows"""
    rows = []
    cases = [("torus 4x4", TORUS.format("4, 4"), (4, 4), ("s1.1", "s1.2")),
             ("torus 5x5x5", TORUS.format("5, 5, 5"), (5, 5, 5),
              ("s1.1.1", "s1.1.2"))]
    if opt.big:
        cases.append(("torus 10x10x10", TORUS.format("10, 10, 10"),
                      (10, 10, 10), ("s1.1.1", "s1.1.2")))
    print("one link fails: from its death to new tables in place, ms\n"
          "  %-15s %-11s %9s %9s %9s" % ("fabric", "engine", "detect",
                                         "tables", "all"))
    for name, text, dims, link in cases:
        config = os.path.join(work, "fabric.cfg")
        with open(config, "w") as f:
            f.write(text)
        fabric = Fabric(ROUTE, config)
        for engine in ("torus-2QoS", "dfsssp", "nue", "minhop"):
            r = recovery_opensm(fabric, dims, engine, link, opt)
            row = {"fabric": name, "engine": engine}
            row.update(r or {"total_ms": None})
            rows.append(row)
            print("  %-15s %-11s %9s %9s %9s" % (
                name, engine, *("-" if r is None else "%.1f" % r[k]
                                for k in ("sweep_ms", "tables_ms",
                                          "total_ms"))), flush=True)
        p = subprocess.run([ROUTE, "--config", config, "--update", "--fail",
                            "-".join(link), "--json", "-"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           universal_newlines=True)
        r = json.loads(p.stdout)
        ms = [r["update_ns"] / 1e6, r["accept_ns"] / 1e6]
        rows.append({"fabric": name, "engine": "reflit", "tables_ms": ms[0],
                     "proof_ms": ms[1], "total_ms": sum(ms)})
        print("  %-15s %-11s %9s %9.1f %9.1f  tables %.1f, proof %.1f; "
              "detection and installing: reflit-bench recovery" % (
                  name, "reflit", "-", ms[0], sum(ms), *ms), flush=True)
    return rows


def paths_of(text, shift=0):
    """(src, dst) -> SL, switches and VLs of the path. OpenSM's dimensions
    begin `shift` places later, and with them the bits of an SL."""
    paths = {}
    for line in text.split("\n"):
        w = line.split(" ")
        if w[0] == "path":
            hops = [h.replace("#", ":").split(":") for h in w[4:-1]]
            paths[w[1], w[2]] = (int(w[3]) >> shift,
                                 [(h[1], h[3]) for h in hops[1:]])
    return paths


def torus_one(seed, opt, work):
    """One faulty torus by both torus-2QoS. @return (verdict, differing)"""
    rng = random.Random(seed)
    dims = rng.choice([(5, 5), (6, 5), (4, 6), (3, 4, 5), (4, 4, 4), (5, 5, 5)])
    config = os.path.join(work, "torus.cfg")
    with open(config, "w") as f:
        f.write(TORUS.format(", ".join(str(d) for d in dims)))
    whole = Fabric(ROUTE, config)
    isl = [link for link in whole.links if link[0] in whole.near and
           link[1] in whole.near]
    fail = ["-".join(link) for link in rng.sample(isl, rng.choice([0, 1, 1, 2]))]
    if rng.random() < 0.3:
        fail.append(rng.choice(whole.switches))
    args = [ROUTE, "--config", config, "--engine", "torus-2qos", "--dump", "-"]
    for name in fail:
        args += ["--fail", name]
    ours = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True)
    fabric = Fabric(ROUTE, config, fail)
    with tempfile.TemporaryDirectory(prefix="reflit-osm") as osm:
        fabric.write_torus_conf(os.path.join(osm, "torus.conf"), dims)
        with Lab(fabric, osm, opt.timeout) as lab:
            lab.start("torus-2QoS", True, True)
            try:
                lab.osm.wait(opt.timeout)
            except subprocess.TimeoutExpired:
                return "over %d s" % opt.timeout, (dims, fail)
            names = [e[1] for e in lab.events()]
        theirs = "torus-2QoS" in names
        if ours.returncode != 0 or not theirs:
            return ("both refuse" if ours.returncode and not theirs else
                    "reflit refuses" if ours.returncode else
                    "OpenSM refuses"), (dims, fail)
        p = subprocess.run([ROUTE, "--check-opensm", osm, "--dump", "-"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           universal_newlines=True)
    a, b = paths_of(ours.stdout), paths_of(p.stdout, 3 - len(dims))
    differ = [k for k in a if a[k] != b.get(k)]
    return ("differ" if differ or set(a) != set(b) else "same"), \
        (dims, fail, len(differ), len(a), [(k, a[k], b.get(k))
                                           for k in differ[:1]])


def tori(opt, work):
    """Random faulty tori by both implementations of torus-2QoS."""
    count, rows = {}, []
    for i in range(opt.tori):
        what, detail = torus_one(opt.seed + i, opt, work)
        count[what] = count.get(what, 0) + 1
        rows.append({"seed": opt.seed + i, "verdict": what,
                     "detail": repr(detail)})
        if what == "differ":
            print("  seed %d: %s" % (opt.seed + i, detail), flush=True)
    print("torus-2QoS on %d random tori, SL, switches and VLs of every path: %s"
          % (opt.tori, ", ".join("%s %d" % x for x in sorted(count.items()))))
    return rows


def options():
    p = argparse.ArgumentParser(prog="opensm.sh", description=__doc__)
    p.add_argument("--only", metavar="TEXT", help="fabrics with TEXT in their "
                   "names")
    p.add_argument("--big", action="store_true", help="also fabrics of 1,000 "
                   "switches: minutes")
    p.add_argument("--no-table", action="store_true", help="no table of "
                   "engines")
    p.add_argument("--recovery", action="store_true", help="one link fails: "
                   "time to new tables")
    p.add_argument("--tori", type=int, default=0, metavar="N", help="N random "
                   "faulty tori by OpenSM's torus-2QoS and by reflit's: is "
                   "every path the same?")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--timeout", type=int, default=60, metavar="S",
                   help="seconds for each run of OpenSM, default 60")
    p.add_argument("--json", metavar="FILE")
    p.add_argument("--csv", metavar="FILE")
    opt = p.parse_args()
    names = [f[0] for f in FABRICS + (BIG if opt.big else [])]
    if opt.only and not any(opt.only in name for name in names):
        p.error("no fabric's name holds %r; there are: %s" % (
            opt.only, "; ".join(names)))
    return opt


def main():
    opt = options()
    out = {}
    work = tempfile.mkdtemp(prefix="reflit-osm")
    try:
        os.environ["WATCH_LIB"] = work
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC",
                        "-I/usr/include/infiniband", "-o",
                        os.path.join(work, "libopensm_watch.so"),
                        os.path.join(HERE, "opensm_watch.c")], check=True)
        if not opt.no_table:
            out["engines"] = compare(opt, work)
        if opt.recovery:
            out["recovery"] = recovery(opt, work)
        if opt.tori:
            out["tori"] = tori(opt, work)
    finally:
        shutil.rmtree(work)
    if opt.json:
        with open(opt.json, "w") as f:
            json.dump(out, f, indent=2)
    if opt.csv:
        with open(opt.csv, "w", newline="") as f:
            w = csv.DictWriter(f, COLUMNS)
            w.writeheader()
            w.writerows(out.get("engines", []))


if __name__ == "__main__":
    main()
