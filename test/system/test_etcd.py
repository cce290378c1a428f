#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The controller of a fabric in two processes, through a real etcd [RES-1]:
tables in both, an election when its process is killed, and what happens where
etcd does not answer. etcd lives in a third namespace."""
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time

from etcd_pair import Both, Etcd, PATIENT, memory_dir
from process_pair import NAMES, exchange, ip
from reflit_test import (Box, FIGURE1, REFLIT, Running, Skip,  # noqa: E402
                         case, main, need)


def clean(net, least):
    """What was sent before there was a way may have been reported."""
    assert net.stop() == [0, 0], net.errors()
    status, out, merged = net.judge()
    assert status == 0, out
    assert merged["delivered_packets"] >= least, merged
    for key in ("lost", "duplicated", "reordered", "corrupted", "unproven"):
        assert merged[key + "_packets"] == 0, (key, merged)
    return merged


def epoch(n):
    return "tables here are of epoch %d to %d\n" % (n, n)


@case
def a_cable_pulled_for_good_brings_new_tables_into_both():
    with Both() as net, Etcd(net) as etcd:
        at = net.begin()
        have = int(re.search(r"epoch (\d+) ", net.show(at)).group(1))
        ip("-n", net.ns[0], "link", "set", "c0", "down")
        have = net.newer(have)
        text = net.until(at, "phase idle", "s0-s1#0: dead")
        assert "recoveries 0" not in text, text
        exchange(net, 400)
        ip("-n", net.ns[0], "link", "set", "c0", "up")
        net.newer(have)
        exchange(net, 400)
        clean(net, 800)
        assert etcd.keys() == [], etcd.keys()


@case
def tokens_pass_from_one_process_to_the_other():
    """[RES-5] STAGE and PASS go through the store; tokens by the cables."""
    with Both(PATIENT + 'mode = "tokens";') as net, Etcd(net):
        at = net.begin()
        have = int(re.search(r"epoch (\d+) ", net.show(at)).group(1))
        for state in ("down", "up", "down"):
            ip("-n", net.ns[0], "link", "set", "c0", state)
            exchange(net, 200)
            have = net.newer(have)
            net.until(at, "phase idle")
            exchange(net, 200)
        merged = clean(net, 1200)
    modes = [r["mode"] for r in merged["recoveries"]
             if r["outcome"] == "done"]
    print("   ", modes)
    assert modes.count("tokens") >= 3, merged["recoveries"]


@case
def the_process_with_the_controller_is_killed_and_the_other_takes_over():
    with Both() as net, Etcd(net):
        at = net.begin()
        net.process[at].kill()
        net.process[at].wait()
        # its lease ends; then tables are made without its devices
        net.until(1 - at, r"\(this one\)", "%s:not there" % NAMES[at],
                  "phase idle", "s0-s1#0: dead", "s0-s1#1: dead")
        net.start(at)
        net.meet_both()
        net.until(at, "controller in process %s\n" % NAMES[1 - at])
        text = net.until(1 - at, "phase idle", "links not in use 0")
        have = net.newer(int(re.search(r"epoch (\d+) ", text).group(1)) - 1)
        # and goes on as one
        ip("-n", net.ns[0], "link", "set", "c1", "down")
        net.newer(have)
        exchange(net, 400)
        net.stop()
        _, out, merged = net.judge()
        for key in ("lost", "duplicated", "reordered", "corrupted"):
            assert merged[key + "_packets"] == 0, (
                key, out, [open(net.json(i), encoding="utf-8").read()
                           for i in (0, 1)])


@case
def etcd_dies_and_traffic_goes_on_until_it_comes_back():
    with Both() as net, Etcd(net) as etcd:
        have = int(re.search(r"epoch (\d+) ",
                             net.show(net.begin())).group(1))
        # a busy machine may have missed an answer before
        had = [net.telemetry(i, "/reflit/channel")["outages"] for i in (0, 1)]
        etcd.kill()
        for i in (0, 1):
            net.until(i, "etcd: does not answer", "no controller")
            said = net.telemetry(i, "/reflit/channel")
            assert said["kind"] == "etcd" and \
                said["outages"] == had[i] + 1, said
            assert said["answers"] == 0 and said["controller"] == "", said
        net.hear("etcd does not answer", 2)
        ip("-n", net.ns[0], "link", "set", "c0", "down")
        exchange(net, 1000)
        for i in (0, 1):
            assert epoch(have) in net.show(i), net.show(i)
        etcd.start()
        # the cable is still out: that is known again, and acted upon
        for i in (0, 1):
            net.until(i, "etcd: answers")
        net.newer(have)
        net.hear("etcd answers again", 2)
        exchange(net, 400)
        said = net.telemetry(0, "/reflit/channel")
        assert said["answers"] == 1 and said["away_ns"] > 0, said
        assert sorted(said["there"]) == sorted(NAMES), said
        merged = clean(net, 1400)
        assert etcd.keys() == [], etcd.keys()
        for i in (0, 1):
            report = net.report(i)
            told = [e["text"] for e in report["events"]
                    if e["kind"] == "channel"]
            away, back = (told.index("etcd " + w)
                          for w in ("does not answer", "answers again"))
            assert away < back, told
            assert [t for t in told[:away] if "has the controller" in t], told
            assert [t for t in told[away:] if "has the controller" in t], told
            for name in NAMES:
                assert "process %s is there" % name in told, told
            assert report["channel"]["outages"] == had[i] + 1, \
                report["channel"]
            assert report["channel"]["away_ns"] > 0, report["channel"]
        assert sorted(c["process"] for c in merged["channels"]) == \
            sorted(NAMES), merged["channels"]
        epochs = [r["epoch"] for r in merged["recoveries"]]
        assert epochs and epochs == sorted(epochs), epochs


@case
def an_etcd_that_hangs_deposes_the_controller_and_one_begins_anew():
    with Both() as net, Etcd(net) as etcd:
        net.begin()
        etcd.pause(True)
        for i in (0, 1):
            net.until(i, "etcd: does not answer")
        # longer than a lease: who had the controller must have given it up
        for i in (0, 1):
            net.until(i, "in another process, or in none")
        exchange(net, 400)
        etcd.pause(False)
        net.settle("etcd: answers")
        clean(net, 400)


@case
def an_etcd_that_is_slow_when_a_process_starts_is_waited_for():
    with Both() as net, Etcd(net) as etcd:
        etcd.pause(True)
        net.start(0)
        net.start(1)
        # longer than two questions to each of its addresses
        time.sleep(2.5)
        assert [p.poll() for p in net.process] == [None, None], net.errors()
        etcd.pause(False)
        net.meet_both()
        assert "does not answer" not in net.errors(), net.errors()
        exchange(net, 200)
        clean(net, 200)


@case
def an_etcd_that_lost_its_data_is_filled_again():
    with Both() as net, Etcd(net) as etcd:
        at = net.begin()
        have = int(re.search(r"epoch (\d+) ", net.show(at)).group(1))
        etcd.kill()
        shutil.rmtree(etcd.dir)
        etcd.start()
        for i in (0, 1):
            net.until(i, "left:there right:there", "controller in process")
        net.settle()
        ip("-n", net.ns[0], "link", "set", "c0", "down")
        net.newer(have)
        # one begins anew, though revisions count from one again
        net.process[1].kill()
        net.process[1].wait()
        net.start(1)
        net.meet()
        for i in (0, 1):
            net.until(i, "left:there right:there")
        net.settle()
        exchange(net, 400)


@case
def one_begins_anew_beside_tables_that_etcd_has_lost():
    """The others have tables whose recipes the new etcd never had."""
    with Both() as net, Etcd(net) as etcd:
        at = net.begin()
        have = int(re.search(r"epoch (\d+) ", net.show(at)).group(1))
        ip("-n", net.ns[0], "link", "set", "c0", "down")
        net.newer(have)
        etcd.kill()
        shutil.rmtree(etcd.dir)
        etcd.start()
        for i in (0, 1):
            net.until(i, "left:there right:there", "controller in process")
        net.settle()
        for i in (0, 1):
            net.process[i].kill()
            net.process[i].wait()
            net.start(i)
            net.meet_both()
            net.settle()
        exchange(net, 400)


@case
def the_controller_goes_to_the_other_process_by_command():
    with Both() as net, Etcd(net):
        at = net.begin()
        net.until(1 - at, "controller in process %s" % NAMES[at])
        net.tell(1 - at, "reroute")
        # before it takes over: it may be slow to read
        net.hear("process %s has the controller; give the command there"
                 % NAMES[at], 1)
        net.tell(at, "controller crash")
        net.until(1 - at, r"\(this one\)", "phase idle")
        net.until(at, "crashed")
        net.tell(at, "controller restart")
        net.until(at, "in another process")
        net.tell(1 - at, "controller crash")
        net.until(at, r"\(this one\)", "phase idle")
        exchange(net, 200)


@case
def rubbish_in_the_store_harms_nobody():
    with Both() as net, Etcd(net) as etcd:
        at = net.begin()
        for key, value in (
                ("up/" + NAMES[1 - at], "rubbish"),
                ("up/" + NAMES[1 - at], '{"version": 1, "messages": [{}]}'),
                ("up/" + NAMES[1 - at], '{"version": 1, "messages": [{"type":'
                 ' "hello", "device": "e9"}]}'),
                ("down/" + NAMES[1 - at], "\x01\x02"),
                ("down/" + NAMES[1 - at], '{"version": 7}'),
                ("tables/0000000007", "{"),
                ("tables/0000000008", '{"version": 1, "epoch": 8, "digest": '
                 '"0123456789abcdef", "links": [], "devices": [], "flows": '
                 '{}}'),
                ("members/nobody", "{}"), ("elsewhere", "x")):
            assert etcd.ctl("put", "/reflit/" + key, value).returncode == 0
        for i in (0, 1):
            net.until(i, "cannot be read")
        end = time.monotonic() + 20
        while net.errors().count("is it the same program?") < 2:
            assert time.monotonic() < end, net.errors()
            time.sleep(0.1)
        exchange(net, 200)
        # the office itself: no process stands behind it, so it goes
        etcd.ctl("put", "/reflit/office", "me")
        end = time.monotonic() + 20
        while '"process"' not in etcd.ctl("get", "/reflit/office").stdout:
            assert time.monotonic() < end, net.errors()
            time.sleep(0.1)
        net.until(0, "controller in process")
        net.settle()
        ip("-n", net.ns[0], "link", "set", "c0", "down")
        net.newer(8)
        exchange(net, 200)
        clean(net, 400)


class Loopback(Etcd):
    """One on the loopback of this namespace; wants no rights."""

    def __init__(self, args=(), scheme="http"):
        need("etcd", "etcdctl")
        self.process, self.args = None, list(args)
        self.dir = memory_dir()
        ports = []
        for _ in (0, 1):
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                ports.append(s.getsockname()[1])
        self.url = "%s://127.0.0.1:%d" % (scheme, ports[0])
        self.peer = "http://127.0.0.1:%d" % ports[1]
        self.options = []

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.kill()
        shutil.rmtree(self.dir, ignore_errors=True)

    def start(self):
        self.process = subprocess.Popen(
            ["etcd", "--data-dir", self.dir, "--listen-client-urls", self.url,
             "--advertise-client-urls", self.url, "--listen-peer-urls",
             self.peer, "--initial-advertise-peer-urls", self.peer,
             "--initial-cluster", "default=" + self.peer] + self.args,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while self.ctl("get", "x").returncode:
            assert time.monotonic() < end, "etcd does not start"
            time.sleep(0.1)

    def ctl(self, *args):
        return subprocess.run(
            ["etcdctl", "--endpoints", self.url, "--command-timeout", "2s"]
            + self.options + list(args), capture_output=True, text=True,
            check=False, env=dict(os.environ, ETCDCTL_API="3"))


def one(url, more=""):
    return FIGURE1 + 'controller: { etcd = ["%s"]; %s };\n' % (url, more)


CUT = "link s0-s1#0 down\nwait recovered\nshow controller\nquit\n"


@case
def one_process_works_through_etcd_like_any_other():
    with Box() as box, Loopback() as etcd:
        run = box.run(("--packets", "3000", "--load", "2"),
                      config=one(etcd.url, PATIENT),
                      commands="wait recovered\n" + CUT)
        run.check(0)
        assert "controller in process all (this one)" in run.out, run.out
        assert "tables here are of epoch 1 to 1" in run.out, run.out
        assert run.report["recoveries"][0]["outcome"] == "done", run.report
        assert etcd.keys() == [], etcd.keys()


@case
def one_process_changes_by_tokens_through_etcd_too():
    with Box() as box, Loopback() as etcd:
        run = box.run(("--packets", "3000", "--load", "2"),
                      config=one(etcd.url, PATIENT + 'mode = "tokens";'),
                      commands="wait recovered\n" + CUT)
        run.check(0)
        assert "tables here are of epoch 1 to 1" in run.out, run.out
        first = run.report["recoveries"][0]
        assert (first["mode"], first["outcome"]) == ("tokens", "done"), first


def refused(box, config, *words, args=(), wrap=()):
    run = box.run(args, config=config, commands="quit\n", wrap=wrap)
    run.check(2)
    assert len(run.errors()) == 1, run.err
    for word in words:
        assert word in run.err, run.err


@case
def what_is_wrong_with_etcd_is_said_in_one_line():
    with Box() as box:
        refused(box, one("http://127.0.0.1:1"), "fabric.cfg:9: ",
                "etcd does not answer", "http://127.0.0.1:1",
                'mode = "off"')
        # no etcd at all is needed without a controller
        run = box.run((), config=one("http://127.0.0.1:1", 'mode = "off";'),
                      commands="quit\n")
        run.check(0)
        refused(box, one("http://127.0.0.1:1", 'etcd_user = "u"; '
                         'etcd_password_file = "/nowhere";'),
                "etcd_password_file /nowhere", "No such file")
        # something else listens there
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()

            def serve():
                for _ in range(4):
                    c, _ = s.accept()
                    c.recv(4096)
                    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
                              b"Connection: close\r\n\r\nhello")
                    c.close()
            threading.Thread(target=serve, daemon=True).start()
            refused(box, one("http://127.0.0.1:%d" % s.getsockname()[1]),
                    "is not one of an etcd")


@case
def two_of_one_name_and_another_fabric_are_refused():
    with Box() as box, Loopback() as etcd:
        first = subprocess.Popen(
            [REFLIT, "--", "-i", "--config",
             box.write("first.cfg", one(etcd.url))], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while "/reflit/office" not in etcd.keys():
            assert time.monotonic() < end
            time.sleep(0.1)
        refused(box, one(etcd.url), "process all runs already",
                "pid %d" % first.pid)
        refused(box, one(etcd.url) + "link: { window_flits = 77; };",
                "of another fabric: link or endpoint differ")
        # side by side with a name of its own
        box.run((), config=one(etcd.url, 'etcd_prefix = "/other";'),
                commands="quit\n").check(0)
        first.kill()
        first.wait()
        # killed, it can begin again at once: the kernel knows that it is gone
        begun = time.monotonic()
        box.run((), config=one(etcd.url), commands="quit\n").check(0)
        assert time.monotonic() - begun < 20
        assert etcd.keys() == [], etcd.keys()


NUMBER = "/proc/sys/kernel/ns_last_pid"  # of the process made last


def first_of(box, config, pid, *mount):
    """A process in a PID namespace of its own, in which that is its number."""
    return Running(["unshare", "-p", "-f", "--kill-child", *mount, "sh", "-c",
                    'exec 3<&0; echo %d > %s; "$@" <&3 & wait' % (
                        pid - 1, NUMBER), "sh", REFLIT, "--", "-i", "--config",
                    box.write("first.cfg", config)],
                   stdin=subprocess.PIPE, stderr=subprocess.STDOUT)


@case
def a_process_in_another_pid_namespace_is_never_taken_for_dead():
    """Neither where its /proc is that of the namespace above, in which its
    number was another process's."""
    need("unshare", "nsenter")
    if os.geteuid() != 0 or not os.path.exists(NUMBER):
        raise Skip("needs root and " + NUMBER)
    with Box() as box, Loopback() as etcd:
        for name, mount in (("a", []), ("b", ["--mount-proc"])):
            config = one(etcd.url, 'life_ns = 2000000000L; '
                         'etcd_prefix = "/%s";' % name)
            other = subprocess.Popen(["sleep", "600"])
            with first_of(box, config, other.pid, *mount) as first:
                end = time.monotonic() + 30
                while "/%s/office" % name not in etcd.keys():
                    assert time.monotonic() < end, list(first.lines.queue)
                    time.sleep(0.1)
                other.kill()
                other.wait()
                with open("/proc/%d/task/%d/children" % (
                        first.p.pid, first.p.pid), encoding="ascii") as f:
                    inside = ["nsenter", "-t", f.read().split()[0], "-p"]
                # -m alone leads out of a root that is not the namespace's
                for wrap in (inside + ["-m", "-r", "-w"] * len(mount), []):
                    refused(box, config, "process all runs already",
                            "pid %d" % other.pid, wrap=wrap)
                assert first.p.poll() is None
                assert "/%s/office" % name in etcd.keys()


@case
def what_a_fabric_before_has_left_is_cleared():
    with Box() as box, Loopback() as etcd:
        etcd.ctl("put", "/reflit/tables/0000000012", "{}")
        etcd.ctl("put", "/reflit/up/left", "{}")
        etcd.ctl("put", "/mine", "x")
        run = box.run((), config=one(etcd.url, PATIENT),
                      commands="wait recovered\n" + CUT)
        run.check(0)
        assert "tables here are of epoch 1 to 1" in run.out, run.out
        assert etcd.keys() == ["/mine"], etcd.keys()


@case
def a_user_and_certificates_are_shown_to_etcd():
    need("openssl")
    with Box() as box:
        def openssl(*args):
            subprocess.run(("openssl",) + args, check=True,
                           capture_output=True, cwd=box.dir)
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
                "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=ca")
        for name in ("server", "client"):
            openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout",
                    name + ".key", "-out", name + ".csr", "-subj",
                    "/O=" + name)
            box.write("ext", "subjectAltName=IP:127.0.0.1\n")
            openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.pem",
                    "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                    "-extfile", "ext", "-out", name + ".pem")
        etcd = Loopback(["--cert-file", box.path("server.pem"),
                         "--key-file", box.path("server.key"),
                         "--client-cert-auth", "--trusted-ca-file",
                         box.path("ca.pem")], "https")
        etcd.options = ["--cacert", box.path("ca.pem"), "--cert",
                        box.path("client.pem"), "--key",
                        box.path("client.key")]
        with etcd:
            for args in (("user", "add", "root:r"),
                         ("user", "grant-role", "root", "root"),
                         ("user", "add", "reflit:secret"),
                         ("role", "add", "fabric"),
                         ("role", "grant-permission", "fabric", "--prefix",
                          "readwrite", "/reflit/"),
                         ("user", "grant-role", "reflit", "fabric"),
                         ("auth", "enable")):
                done = etcd.ctl(*args)
                assert done.returncode == 0, (args, done.stderr)
            tls = 'etcd_ca_file = "%s"; etcd_cert_file = "%s"; ' \
                'etcd_key_file = "%s"; ' % tuple(
                    box.path(n) for n in ("ca.pem", "client.pem",
                                          "client.key"))
            user = 'etcd_user = "reflit"; etcd_password_file = "%s"; '
            good = user % box.write("password", "secret\n")
            bad = user % box.write("bad", "guess\n")
            refused(box, one(etcd.url), "etcd does not answer",
                    "certificate")
            refused(box, one(etcd.url, tls), "etcd refuses")
            refused(box, one(etcd.url, tls + bad), "etcd refuses",
                    "authentication failed")
            run = box.run((), config=one(etcd.url, PATIENT + tls + good),
                          commands="wait recovered\n" + CUT)
            run.check(0)
            assert "epoch 1 to 1" in run.out, run.out
            # a place that the user may not write
            refused(box, one(etcd.url, tls + good + 'etcd_prefix = "/x";'),
                    "etcd refuses", "permission denied")


if __name__ == "__main__":
    main()
