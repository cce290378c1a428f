# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong when a run is over stands in `alarms` of its report, and what was
ordered does not [APP-9].

usage: test_alarms.py REFLIT_SIM SOURCE_ROOT
"""

import os
import tempfile

from sim_check import FIGURE1, check, end, load, run

with tempfile.TemporaryDirectory() as tmp:
    def alarms(faults, *more):
        script, report = os.path.join(tmp, "f"), os.path.join(tmp, "r")
        with open(script, "w") as f:
            f.write(faults)
        if os.path.exists(report):
            os.remove(report)
        p = run("--config", FIGURE1, "--duration", "50us", "--faults", script,
                "--json", report, *more)
        assert p.returncode != 2, p.stderr
        return [(a["alarm"], a["severity"], a["where"], a["why"],
                 a["since_ns"]) for a in load(report)["alarms"]]

    for name, faults, want in (
            ("a fabric without faults", "", []),
            ("a link that stood still for a moment",
             "1us stall s0-s1#1 for=2us\n", []),
            ("a link that died", "3us cut s0-s1#1\n",
             [("link-down", "major", "link s0-s1#1", "died by phy", 3000)]),
            ("a link that was removed", "3us remove s0-s1#1\n", []),
            ("a link taken down by command", "3us down s0-s1#1\n", []),
            ("no controller", "3us controller crash\n",
             [("no-controller", "major", "controller",
               "there is no controller", 3000)]),
            ("no controller since the first crash of two",
             "3us controller crash\n5us controller crash\n",
             [("no-controller", "major", "controller",
               "there is no controller", 3000)]),
            ("no controller once more", "1us controller crash\n"
             "2us controller restart\n5us controller crash\n",
             [("no-controller", "major", "controller",
               "there is no controller", 5000)])):
        got = alarms(faults)
        check(name, got == want, got)

    for cos in ("1", "4"):
        script, report = os.path.join(tmp, "f"), os.path.join(tmp, "r")
        with open(script, "w") as f:
            f.write("50us cut e0-s0\n700us crash e1\n800us heal e0-s0\n"
                    "900us restart e1\n")
        run("--config", FIGURE1, "--faults", script, "--load", "0.02",
            "--duration", "4ms", "--classes", cos, "--json", report)
        r = load(report)
        away = {u["endpoint"]: u["until_ns"] for u in r["unreachable"]}
        check("what an endpoint claimed ends with it, %s classes" % cos,
              away["e0"] == 700000 and
              "unreachable" not in [a["alarm"] for a in r["alarms"]],
              (away, r["alarms"]))

    for order in ("remove e1", "remove s1-e1", "remove s1", "down s1-e1"):
        got = [a[2] for a in alarms("3us %s\n" % order, "--duration", "300us",
                                    "--load", "0.02")
               if a[0] == "unreachable"]
        missed = {u["endpoint"] for u in
                  load(os.path.join(tmp, "r"))["unreachable"]}
        check("an endpoint that nobody reaches by order is no alarm: " + order,
              "e1" in missed and not got, (got, missed))
    got = alarms("3us cut s1-e1\n")
    check("and one that nobody reaches by a fault is", "endpoint e1" in
          [a[2] for a in got if a[0] == "unreachable"], got)

    got = alarms("3us crash e1\n")
    check("a device that crashed is one alarm, and not its links",
          [a for a in got if a[0] == "device-absent"] ==
          [("device-absent", "critical", "device e1",
            "it has crashed, until it is restarted", 3000)] and
          not [a for a in got if a[0] == "link-down"], got)
    check("its peers miss it", [a[2] for a in got if a[0] == "unreachable"] ==
          ["endpoint e1"], got)
    r = load(os.path.join(tmp, "r"))
    given_up = r["reported_packets"] - r["died_packets"]
    check("what was given up is one", given_up > 0 and got[-1][:4] ==
          ("giving-up", "major", "traffic", "%d packets in all" % given_up) and
          got[-1][4] > 3000, (got, given_up))

end()
