#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""/reflit/... on DPDK's telemetry socket [APP-2]: names of the fabric file,
the numbers of the report, and orders only where they are allowed."""
import datetime
import fcntl
import json
import os
import re
import shutil
import subprocess
import threading
import time

from reflit_test import FIGURE1, REFLIT, ROOT, Box, Skip, case, main
from telemetry_client import Client

LINKS = ["e0-s0", "s0-s1#0", "s0-s1#1", "s1-e1"]


class Live:
    """reflit in the background, asked by telemetry."""

    def __init__(self, box, *args, config=FIGURE1, eal=(), name="fabric.cfg"):
        self.box = box
        self.dir = box.path("run")
        os.mkdir(self.dir)
        cmd = [REFLIT, "--", "--config", box.write(name, config),
               "--json", box.path("report.json"), *args]
        env = dict(os.environ, XDG_RUNTIME_DIR=self.dir)
        if os.geteuid() == 0:
            # root's socket has a place of its own
            self.dir = "/var/run"
        self.prefix = "rltel%d" % os.getpid()
        cmd[1:1] = ["--file-prefix=" + self.prefix, *eal]
        self.p = subprocess.Popen(cmd, cwd=ROOT, env=env,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        self.path = path = os.path.join(self.dir, "dpdk", self.prefix,
                                        "dpdk_telemetry.v2")
        end = time.monotonic() + 60
        while True:
            try:
                self.client = Client(path)
                if self.client.ask("/reflit/fabric"):
                    break
            except (OSError, ValueError, KeyError):
                pass
            assert self.p.poll() is None, self.p.stderr.read()
            assert time.monotonic() < end, "no socket at " + path
            time.sleep(0.05)
        self.ask = self.client.ask

    def until(self, cmd, good):
        end = time.monotonic() + 60
        while not good(self.ask(cmd)):
            assert time.monotonic() < end, self.ask(cmd)
            time.sleep(0.05)

    def whole(self, cmd):
        """All pages of a list."""
        page = self.ask(cmd)
        out = {k: v for k, v in page.items() if isinstance(v, list)}
        while page["start"] + page["count"] < page["total"]:
            page = self.ask("%s,%d" % (cmd, page["start"] + page["count"]))
            for k, v in out.items():
                v += page[k]
        return out

    def order(self, line):
        return self.ask("/reflit/order," + line)

    def terminate(self):
        # a run that sent nothing is no success
        self.until("/reflit/traffic", lambda t: t["sent_packets"] > 0)
        self.p.terminate()

    def end(self, status=0):
        self.terminate()
        return self.ended(status)

    def ended(self, status=0):
        out, err = self.p.communicate(timeout=120)
        assert self.p.returncode == status, (self.p.returncode, out, err)
        with open(self.box.path("report.json"), encoding="utf-8") as f:
            return json.load(f)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.p.poll() is None:
            self.p.kill()
            self.p.communicate()
        if self.dir == "/var/run":
            shutil.rmtree("/var/run/dpdk/" + self.prefix, ignore_errors=True)


@case
def the_fabric_is_told_under_the_names_of_its_file():
    with Box() as box, Live(box) as live:
        fabric = live.ask("/reflit/fabric")
        assert fabric["topology"] == "custom" and fabric["links"] == 4
        assert (fabric["switches"], fabric["endpoints"]) == (2, 2)
        dev = live.ask("/reflit/devices")
        assert dev["name"] == ["s0", "s1", "e0", "e1"]
        assert dev["kind"] == ["switch"] * 2 + ["endpoint"] * 2
        links = live.ask("/reflit/links")
        assert links["name"] == LINKS
        ends = [[dev["name"][links[e][i]] for e in "ab"] for i in range(4)]
        assert ends == [["e0", "s0"], ["s0", "s1"], ["s0", "s1"], ["s1", "e1"]]
        ports = live.ask("/reflit/ports")["name"]
        assert ports[:3] == ["s0/0", "s0/1", "s0/2"] and len(ports) == 8
        for name in ports:
            assert live.ask("/reflit/port," + name)["link"] in LINKS
        live.end()


@case
def counters_grow_and_agree_with_the_report():
    with Box() as box, Live(box, "--packets", "20000") as live:
        live.until("/reflit/traffic",
                   lambda t: t["delivered_packets"] == 40000)
        traffic = live.ask("/reflit/traffic")
        latency = live.ask("/reflit/latency")
        ends = [live.ask("/reflit/endpoint," + e) for e in ("e0", "e1")]
        cores = [live.ask("/reflit/switch," + s) for s in ("s0", "s1")]
        flows = live.ask("/reflit/flows")
        links = live.ask("/reflit/links")
        lcores = live.ask("/reflit/lcores")
        hist = live.whole("/reflit/histogram")
        report = live.end()
        for key in ("sent_packets", "delivered_packets", "sent_bytes"):
            assert traffic[key] == report[key], key
        assert traffic["under_way_packets"] == 0
        assert latency["packets"] == 40000
        for q in ("p50", "p99", "p999", "max"):
            assert latency[q] == report["latency_ns"][q], q
        assert sum(e["tx_packets"] for e in ends) == 40000
        assert all(c["rx_packets"] > 0 for c in cores)
        assert sorted(zip(flows["src"], flows["dst"])) == [("e0", "e1"),
                                                          ("e1", "e0")]
        assert sum(links["tx_flits"]) == report["flit_hops"]
        assert sum(lcores["ports"]) == 8 and min(lcores["rounds"]) > 0
        by_vc = [hist["vc%d_n" % vc] for vc in range(8)]
        assert hist["count_n"] == [sum(row) for row in zip(*by_vc)]
        assert [(vc, sum(n)) for vc, n in enumerate(by_vc) if any(n)] == \
            [(v["vc"], v["packets"]) for v in report["latency_by_vc"]]


@case
def classes_are_the_sums_of_their_flows():
    # each flow has something under way when the link is cut, and nothing of it is
    # given up, so that nothing moves
    patient = FIGURE1 + ("link: { watchdog_ns = 600000000000; "
                         "no_path_ns = 600000000000; };")
    with Box() as box, Live(box, "--allow-orders", "--classes", "3", "--load",
                            "1", config=patient) as live:
        # and each has begun: both ends know each other's numbers
        live.until("/reflit/flows", lambda f: sorted(f["cos"]) ==
                   [0, 0, 1, 1, 2, 2] and min(f["tx_acked"]) > 0)
        live.order("link s0-s1 down")
        before = {}
        flows = live.ask("/reflit/flows")
        while flows != before:  # until nothing moves
            time.sleep(0.2)
            before, flows = flows, live.ask("/reflit/flows")
        got = live.ask("/reflit/classes")
        want = {name: [] for name in ("cos", "flows", "outstanding_flits",
                                      "resend_flits", "held_flits")}
        for cos in range(3):
            of = [i for i, c in enumerate(flows["cos"]) if c == cos]
            want["cos"].append(cos)
            want["flows"].append(len(of))
            want["outstanding_flits"].append(sum(
                flows["tx_sent"][i] - flows["tx_acked"][i] for i in of))
            for name, column in (("resend_flits", "tx_resend_flits"),
                                 ("held_flits", "rx_held_flits")):
                want[name].append(sum(flows[column][i] for i in of))
        assert {name: got[name] for name in want} == want, (got, flows)
        assert min(got["outstanding_flits"]) > 0, got
        live.order("link s0-s1 up")
        live.end()


@case
def orders_cut_and_heal_links_and_events_and_failovers_tell_it():
    with Box() as box, Live(box, "--allow-orders") as live:
        assert live.ask("/reflit/fabric")["orders"] == 1
        # a link that never was up can't die
        live.until("/reflit/links", lambda l: l["state"][1] == "UP")
        assert live.order("link s0-s1#0 down") == {
            "result": 0, "error": "", "text": [], "lines_left_off": 0}
        assert live.ask("/reflit/links")["state"][1] == "cut"
        live.until("/reflit/failovers",
                   lambda f: f["link"].count("s0-s1#0") == 2)
        seen = live.ask("/reflit/events,0")
        assert any("s0-s1#0 dead" in e for e in seen["text"]), seen
        assert live.ask("/reflit/events,%d" % seen["total"])["next"] >= \
            seen["total"]
        assert live.order("link s0-s1#0 up")["result"] == 0
        live.until("/reflit/port,s0/1", lambda p: p["state"] == "UP")
        wrong = live.order("link s0-s9 down")
        assert wrong["result"] < 0 and "no link s0-s9" in wrong["error"]
        assert live.order("wait 10s")["result"] < 0
        assert live.order("nonsense")["result"] < 0
        # a client's mistakes are not this run's
        report = live.end()
        assert report["failed_commands"] == 0
        assert {f["link"] for f in report["failovers"]} == {"s0-s1#0"}


@case
def an_order_that_waits_is_carried_out_once_and_answers_so():
    def obeyed(line):
        end = time.monotonic() + 60
        answer = live.order(line)
        while "a recovery goes on" in answer["error"]:
            assert time.monotonic() < end, answer
            answer = live.order(line)
        assert answer["result"] == 0 and answer["error"] == "", (line, answer)

    # this is not about limits: a fabric that is held stays so, however slow it is
    patient = FIGURE1 + ("controller: { answer_ns = 10000000000L; "
                         "lease_ns = 60000000000L; quiesce_ns = 30000000000L; "
                         "install_ns = 10000000000L; };\n")
    with Box() as box, Live(box, "--allow-orders", "--load", "0.01",
                            config=patient) as live:
        live.until("/reflit/links", lambda l: l["state"] == ["UP"] * 4)
        for line in ("quiesce", "reroute", "unquiesce", "link s0-s1#0 drain",
                     "link s0-s1#0 enable", "link s0-s1#1 remove",
                     "link s0-s1#1 add"):
            obeyed(line)
        live.end()


@case
def orders_are_refused_where_they_are_not_allowed():
    with Box() as box, Live(box) as live:
        answer = live.order("link s0-s1#0 down")
        assert answer["result"] < 0 and "--allow-orders" in answer["error"]
        live.until("/reflit/links", lambda r: r["state"][1] == "UP")
        live.end()


@case
def wrong_parameters_are_refused_and_change_nothing():
    with Box() as box, Live(box) as live:
        for cmd in ("links,x", "links,-1",
                    "ports,1x", "devices,99999999999999999999",
                    "flows,0x10", "events,x", "failovers,x", "latency,8",
                    "latency,00"):
            assert live.ask("/reflit/" + cmd) is None, cmd
        for cmd in ("port", "port,", "port,s0/9", "port,s0", "switch",
                    "switch,x", "endpoint,s0", "port," + "x" * 900):
            answer = live.ask("/reflit/" + cmd)
            assert list(answer) == ["error"], (cmd, answer)
            assert answer["error"].startswith("there is no "), answer
            assert "; see /reflit/" in answer["error"], answer
        beyond = live.ask("/reflit/links,4")
        assert beyond["count"] == 0 and beyond["name"] == []
        assert live.ask("/reflit/links,3")["name"] == ["s1-e1"]
        live.end()


def balance(t):
    assert t["sent_packets"] == (t["delivered_packets"] +
                                 t["reported_packets"] +
                                 t["under_way_packets"]), t
    return t


@case
def what_was_given_up_is_reported_while_the_run_goes_on():
    with Box() as box, Live(box, "--allow-orders", "--load", "0.05") as live:
        live.until("/reflit/traffic",
                   lambda t: balance(t)["delivered_packets"] > 2000)
        assert live.order("device e1 crash")["result"] == 0
        live.until("/reflit/traffic",
                   lambda t: balance(t)["refused_packets"] > 0)
        assert live.order("device e1 restart")["result"] == 0
        there = live.ask("/reflit/traffic")["delivered_packets"]
        live.until("/reflit/traffic",
                   lambda t: balance(t)["delivered_packets"] > there + 500)
        # a cut of all ways gives up what waits for one, and says so at once
        for k in "01":
            assert live.order("link s0-s1#%s down" % k)["result"] == 0
        live.until("/reflit/traffic",
                   lambda t: balance(t)["reported_packets"] > 0)
        for k in "01":
            assert live.order("link s0-s1#%s up" % k)["result"] == 0
        assert live.order("stop")["result"] == 0
        # nothing stays under way for ever
        live.until("/reflit/traffic",
                   lambda t: balance(t)["under_way_packets"] == 0)
        seen = live.ask("/reflit/traffic")
        report = live.end()
        for key in ("sent", "delivered", "reported", "refused"):
            assert seen[key + "_packets"] == report[key + "_packets"], key
        assert report["lost_packets"] == 0, report


@case
def clients_ask_while_devices_crash_and_restart():
    config = 'fabric: { topology = "torus"; dims = [3, 3]; };\n'
    over = threading.Event()
    answers = []

    def ask(path):
        client = Client(path)
        while not over.is_set():
            for cmd in ("flows", "links", "port,s0.0/1", "endpoint,e0.0",
                        "switch,s1.1", "traffic", "latency"):
                answers.append(client.ask("/reflit/" + cmd) is not None)

    with Box() as box, Live(box, "--allow-orders", "--load", "0.001",
                            config=config) as live:
        threads = [threading.Thread(target=ask, args=(live.path,))
                   for _ in range(2)]
        for t in threads:
            t.start()
        try:
            for i in range(40):
                for what in ("crash", "restart"):
                    dev = ("e0.0", "s1.1")[i % 2]
                    answer = live.order("device %s %s" % (dev, what))
                    assert answer["result"] == 0, answer
        finally:
            over.set()
            for t in threads:
                t.join()
        assert live.order("stop")["result"] == 0
        live.end()
        assert len(answers) > 50 and all(answers), len(answers)


@case
def an_order_answers_with_what_the_prompt_would_print():
    with Box() as box, Live(box, "--allow-orders") as live:
        live.until("/reflit/links", lambda l: l["state"][1] == "UP")
        text = live.order("show traffic")["text"]
        assert any(line.startswith("sent ") for line in text), text
        text = live.order("show port s0/1")["text"]
        assert any("s0-s1#0" in line for line in text), text
        answer = live.order("help")
        assert len(answer["text"]) > 20 and answer["result"] == 0, answer
        assert live.order("show events")["text"][0].startswith("since 2")
        # what is refused says why
        for line, why in (("wait 1s", "wait is for reflit's own prompt"),
                          ("quit", "quit is for"), ("record x", "record is"),
                          ("", "is empty"), ("x" * 400, "too long"),
                          ("show nonsense", "cannot read")):
            answer = live.order(line)
            assert answer["result"] < 0 and why in answer["error"], answer
        live.end()


@case
def all_times_count_from_one_moment():
    with Box() as box, Live(box, "--allow-orders", "--load", "0.01") as live:
        live.until("/reflit/links", lambda l: l["state"] == ["UP"] * 4)
        assert live.order("link s0-s1#0 down")["result"] == 0
        live.until("/reflit/failovers", lambda f: len(f["link"]) == 2)
        live.until("/reflit/recoveries", lambda r: r["total"] > 0)
        events = live.ask("/reflit/events,0")
        for t_ns, text in zip(events["t_ns"], events["text"]):
            assert abs(float(text.split(" ms ")[0]) * 1e6 - t_ns) < 2, text
        fabric = live.ask("/reflit/fabric")
        now_ns = fabric["now_ns"]
        deaths = [t for t, text in zip(events["t_ns"], events["text"])
                  if "s0-s1#0 dead" in text]
        # one cut: its events, failovers and recovery are near each other
        for at_ns in (live.ask("/reflit/failovers")["at_ns"] +
                      live.ask("/reflit/recoveries")["at_ns"][-1:]):
            assert min(abs(at_ns - t) for t in deaths) < 500e6, (at_ns, deaths)
            assert 0 < at_ns < now_ns, (at_ns, now_ns)
        zero = datetime.datetime.strptime(fabric["start_utc"],
                                          "%Y-%m-%dT%H:%M:%S.%fZ")
        ago = datetime.datetime.utcnow() - zero
        assert abs(ago.total_seconds() - now_ns / 1e9) < 5, (ago, now_ns)
        report = live.end()
        assert report["start_utc"] == fabric["start_utc"]
        dead = [e for e in report["events"] if "s0-s1#0 dead" in e["text"]]
        assert sorted(e["at_ns"] for e in dead) == sorted(deaths), dead


@case
def what_is_wanted_so_or_is_elsewhere_has_not_failed():
    with Box() as box, Live(box, "--allow-orders") as live:
        live.until("/reflit/links", lambda l: l["state"] == ["UP"] * 4)
        assert live.order("link s0-s1#0 drain")["result"] == 0
        live.until("/reflit/links", lambda l: l["state"][1] == "disabled")
        assert live.order("link s0-s1#0 enable")["result"] == 0
        assert live.order("link s0-s1#1 remove")["result"] == 0
        live.until("/reflit/links", lambda l: l["state"][2] == "removed")
        live.end()
    config = FIGURE1 + """
processes = ( { name = "left"; devices = ["e0", "s0"]; },
              { name = "right"; devices = ["s1", "e1"]; } );
wires = ( { link = "s0-s1#0"; a = "net_null0"; b = "net_null0"; },
          { link = "s0-s1#1"; a = "net_null1"; b = "net_null1"; } );
"""
    with Box() as box, Live(box, "--process", "left", config=config,
                            eal=["--vdev=net_null0,no-rx=1",
                                 "--vdev=net_null1,no-rx=1"]) as live:
        live.until("/reflit/links", lambda l: l["state"][0] == "UP")
        state = live.ask("/reflit/links")["state"]
        assert state[3] == "remote" and "remote" not in state[:3], state
        live.p.terminate()  # nothing can be sent
        live.ended()


@case
def long_lists_come_in_pages_that_fit():
    config = 'fabric: { topology = "torus"; dims = [8, 8]; };\n'
    with Box() as box, Live(box, "--load", "0.01", config=config) as live:
        assert live.ask("/reflit/fabric")["adaptive"] == 1
        for what, total in (("devices", 128), ("links", 192),
                            ("ports", 384)):
            names, pages = [], 0
            while len(names) < total:
                page = live.ask("/reflit/%s,%d" % (what, len(names)))
                assert page["total"] == total and page["count"] > 0
                assert len(page["name"]) == page["count"]
                for column in ("state", "a", "b", "kind"):
                    if column in page:
                        assert len(page[column]) == page["count"]
                names += page["name"]
                pages += 1
            assert len(set(names)) == total
            assert pages > 1 or what == "devices"
        live.end()


@case
def several_clients_may_ask_while_the_fabric_ends():
    with Box() as box, Live(box) as live:
        path = live.client.sock.getpeername()
        others = [Client(path) for _ in range(4)]
        for c in others:
            assert c.ask("/reflit/traffic")["sent_packets"] >= 0
        live.terminate()
        for c in others:
            try:
                while True:
                    c.ask("/reflit/links")
            except (OSError, ValueError, KeyError):
                pass
        live.ended()


def finds_the_socket(tool, user, cmd, env, folder):
    p = subprocess.Popen(user + cmd, cwd=ROOT, env=env,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True)
    try:
        end = time.monotonic() + 60
        while not os.path.exists(folder + "/rte/dpdk_telemetry.v2"):
            assert p.poll() is None, p.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.05)
        out = ""  # the socket is there before the fabric is
        while not re.search(r'"topology": *"custom"', out):
            assert time.monotonic() < end, out
            out = subprocess.run(user + [tool],
                                 input="/reflit/fabric\nquit\n",
                                 capture_output=True, text=True, env=env,
                                 timeout=60, check=False).stdout
    finally:
        p.terminate()
        p.communicate(timeout=120)
    if "XDG_RUNTIME_DIR" in env:
        return  # whoever made that folder removes what is in it
    if os.path.exists(folder):  # another program of this user has it
        fd = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            raise AssertionError(folder + " is left behind")
        except BlockingIOError:
            pass
        finally:
            os.close(fd)


@case
def dpdk_telemetry_py_finds_the_socket_of_an_ordinary_user():
    tool = shutil.which("dpdk-telemetry.py")
    if tool is None:
        raise Skip("dpdk-telemetry.py is not installed")
    cmd = [REFLIT, "--", "--config", "config/figure1.cfg", "--duration", "60s"]
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    env = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
    if os.geteuid() != 0: # other programs of this user run beside it
        user = []
        with Box() as box:
            env["XDG_RUNTIME_DIR"] = box.dir
            finds_the_socket(tool, user, cmd, env, box.path("dpdk"))
        return
    if os.path.exists("/tmp/dpdk"):
        raise Skip("/tmp/dpdk is somebody's")
    if subprocess.run(user + ["test", "-x", REFLIT, "-a", "-r", ROOT],
                        check=False).returncode != 0:
        raise Skip("an ordinary user cannot reach the programs here")
    finds_the_socket(tool, user, cmd, env, "/tmp/dpdk")


@case
def letters_that_telemetry_cannot_carry_spoil_no_answer():
    """Those of the fabric file's name, and of what a client asks."""
    with Box() as box, Live(box, "--allow-orders", "--load", "0.01",
                            name="f\u00e4brik-\u65e5.cfg") as live:
        fabric = live.ask("/reflit/fabric")
        assert fabric["config"].endswith("/f?brik-?.cfg"), fabric
        assert fabric["adaptive"] == 0, fabric
        for what in ("port", "switch", "endpoint"):
            error = live.ask("/reflit/%s,\u00e4\x01" % what)["error"]
            assert "'??'" in error, error
        answer = live.order("link s0-\u00e4 down")
        assert answer["error"] == "there is no link s0-?; see show fabric"
        assert answer["result"] == -22, answer
        live.end()


main()
