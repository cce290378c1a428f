#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The prompt, telemetry and the report of one process of several: each has the
devices of its own, and says of others where to ask."""
import json
import os
import subprocess
import time

from reflit_test import Box, FIGURE1, REFLIT, ROOT, Running, case, main
from telemetry_client import Client

PARTS = FIGURE1 + """
processes = ( { name = "left"; devices = ["e0", "s0"]; },
              { name = "right"; devices = ["e1", "s1"]; } );
wires = ( { link = "s0-s1#0"; a = "net_memif0"; b = "net_memif0"; },
          { link = "s0-s1#1"; a = "net_memif1"; b = "net_memif1"; } );
"""
GRID = """
fabric: { topology = "mesh"; dims = [3, 1]; };
processes = ( { name = "left"; devices = ["s0.0", "e0.0"]; },
              { name = "right"; devices = ["s1.0", "e1.0", "s2.0", "e2.0"]; } );
wires = ( { link = "s0.0-s1.0"; a = "net_memif0"; b = "net_memif0"; } );
"""
THERE = " is in process right; give the command there"
# (line, words of its error) in the process left: what the fabric file tells
ELSEWHERE = tuple((line, name + THERE) for name, lines in (
    ("s1", ("device s1 crash", "device s1 restart", "inject soft s1 0.1",
            "inject poison s1 0", "show port s1", "show port s1/0",
            "show counters s1", "show routes s1", "link s1-e1 down",
            "link s1-e1 down mid-packet", "link s1-e1 up",
            "link s1-e1 flap 2 20ms", "link s1-e1 disable",
            "link s1-e1 enable", "link s1-e1 drain", "wait dead s1-e1",
            "wait cut e1-s1 1s", "show events s1-e1",
            "capture s1-e1 /tmp/nothing")),
    ("e1", ("start e1", "stop e1", "rate e1 5", "inject block e1 0",
            "show flow e1", "show flow e1 e0", "show path e1 e0"))
    ) for line in lines) + tuple(
        (line, "frames of s0 arrive in process right; give the command there")
        for line in ("link s0-s1#0 one-way s0", "inject loss s0-s1 s0 0.1",
                     "inject drop s0-s1#1 s0 1",
                     "link s0-s1 down after 5 from s0")) + (
    ("device s1 remove", "that of several processes needs an etcd"),
    ("traffic load 0.5", "generators stay within one process"),
    ("traffic packets 5", "generators stay within one process"),
    ("traffic pattern tornado", "generators stay within one process"),
    ("quiesce", None),
)
HERE = """device s0 crash
device s0 restart
link s0-s1 one-way s1
inject loss s0-s1 s1 0.1
link s0-s1 down mid-packet
show path e0 e1
show flow e0 e1
wait dead s0-s1 1s
show errors s1-e1
quit
"""


class Halves:
    """Both processes over two memif cables, each with a prompt."""

    def __init__(self, box, config=PARTS):
        self.box, self.run, self.err = box, [], []
        path = box.write("fabric.cfg", config)
        for i, name in enumerate(("left", "right")):
            vdevs = ["--vdev=net_memif%d,role=%s,id=%d,socket-abstract=no,"
                     "socket=%s" % (k, ("server", "client")[i], k,
                                    box.path("memif"))
                     for k in range(config.count("{ link ="))]
            self.err.append(open(box.path(name + ".err"), "w+",
                                 encoding="utf-8"))
            self.run.append(Running(
                [REFLIT, *vdevs, "--file-prefix=%s" % self.prefix(i), "--",
                 "--config", path, "--process", name, "--json",
                 box.path(name + ".json"), "-i"],
                stdin=subprocess.PIPE, stderr=self.err[i],
                env=dict(os.environ, XDG_RUNTIME_DIR=box.dir)))

    def prefix(self, i):
        return "rlhalf%d%d" % (i, os.getpid())

    def client(self, i):
        root = "/var/run" if os.geteuid() == 0 else self.box.dir
        return Client(os.path.join(root, "dpdk", self.prefix(i),
                                   "dpdk_telemetry.v2"))

    def ask(self, i, *lines):
        """What process i prints for these lines, which take no error."""
        self.run[i].say("\n".join(lines) + "\nshow captures\n")
        out = []
        while not out or "nothing is being captured" not in out[-1]:
            out.append(self.run[i].line())
        return "".join(out[:-1])

    def errors(self, i):
        self.err[i].flush()
        with open(self.err[i].name, encoding="utf-8") as f:
            return f.read()

    def __enter__(self):
        for r in self.run:
            r.__enter__()
        for i in range(2):
            self.ask(i, "wait up 60s")
        return self

    def __exit__(self, *exc):
        for r, f in zip(self.run, self.err):
            r.__exit__(*exc)
            f.close()


@case
def commands_about_devices_of_other_processes_are_refused():
    with Box() as box:
        lines = [row[0] for row in ELSEWHERE]
        run = box.run(["--process", "left"], config=PARTS,
                      commands="\n".join(lines) + "\n").check(2)
        wrong = [row for row in ELSEWHERE if row[1] is not None]
        errors = run.errors()
        assert len(errors) == len(wrong), run.err
        for (line, why), error in zip(wrong, errors):
            assert why in error, (line, error)
        # no wire is needed to see that these are right
        run = box.run(["--process", "left"], config=PARTS,
                      commands=HERE + "foo\n").check(2)
        assert len(run.errors()) == 1 and "foo" in run.err, run.err


@case
def a_link_to_another_process_is_cut_and_healed_at_this_end():
    with Box() as box, Halves(box) as h:
        begin = time.monotonic()
        h.ask(0, "link s0-s1#0 down", "wait dead s0-s1#0", "link s0-s1#0 up",
              "wait up", "link s0-s1#1 one-way s1", "wait dead s0-s1#1",
              "link s0-s1#1 up", "inject loss s0-s1 s1 0.5",
              "link s0-s1 up", "link s0-s1#0 down mid-packet",
              "link s0-s1#0 up", "link s0-s1#0 flap 2 20ms", "wait up")
        h.ask(1, "wait up")
        # a fault that cannot be healed would take ten seconds each time
        assert time.monotonic() - begin < 9, h.errors(0)
        shown = h.ask(0, "show fabric")
        assert "s0/1 UP, alive  s1/1 remote, remote" in shown, shown
        assert "s1/0 remote, remote  e1/0 remote, remote" in shown, shown
        path = h.ask(0, "show path e0 e1")
        assert "s1" in path.strip().split("\n")[-1] and \
            "is in another process" in path, path
        assert "s1/" not in h.ask(0, "show port all", "show replay")
        for line in h.ask(0, "show errors all").split("\n"):
            if " s1 " in line or line.startswith("s1-e1"):
                assert line.endswith("remote"), line
        for i in range(2):
            h.run[i].say("quit\n")
            assert h.run[i].p.wait(60) == 0, h.errors(i)
            assert "ports do not answer" not in h.errors(i), h.errors(i)
        with open(box.path("left.json"), encoding="utf-8") as f:
            links = json.load(f)["links"]
        states = {end["device"]: end["state"] for link in links
                  for end in link["ends"]}
        assert states["s1"] == states["e1"] == "remote", states
        assert states["s0"] == states["e0"] == "UP", states


@case
def telemetry_of_a_process_has_its_own_ports():
    with Box() as box, Halves(box) as h:
        ask = h.client(0).ask
        ports = ask("/reflit/ports")
        assert ports["name"] == ["s0/0", "s0/1", "s0/2", "e0/0"], ports
        assert ports["count"] == ports["total"] == 4, ports
        assert ask("/reflit/ports,3")["name"] == ["e0/0"]
        for cmd, name in (("port,s1/0", "s1"), ("switch,s1", "s1"),
                          ("endpoint,e1", "e1"), ("switch,e1", "e1")):
            assert ask("/reflit/" + cmd) == {
                "error": name + " is in process right; ask there"}, cmd
        assert ask("/reflit/port,s0/0")["state"] == "UP"
        assert ask("/reflit/fabric")["adaptive"] == 0
        assert h.client(1).ask("/reflit/port,s1/0")["state"] == "UP"


@case
def a_drawing_shows_where_other_processes_begin():
    with Box() as box, Halves(box, GRID) as h:
        shown = h.ask(0, "show fabric")
        assert "o-- o?? o" in shown, shown
        assert "o-- o-- o" in h.ask(1, "show fabric")


main()
