# SPDX-License-Identifier: BSD-3-Clause
"""A fabric of lcores and the reflit-view that shows it; the fourth argument of a
test is that program."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

from reflit_test import FIGURE1, REFLIT, ROOT, first_line

VIEW = os.path.abspath(sys.argv[4])


def until(what, limit=90):
    """The first true value of what(); whatever it throws is not true."""
    end = time.monotonic() + limit
    last = None
    while time.monotonic() < end:
        try:
            value = what()
            if value:
                return value
        except (OSError, ValueError, KeyError, AssertionError) as e:
            last = e
        time.sleep(0.1)
    raise AssertionError("waited in vain: %s" % last)


def fetch(url, body=None, headers=None, method=None):
    req = urllib.request.Request(url, data=body, headers=headers or {},
                                 method=method)
    try:
        with urllib.request.urlopen(req, timeout=30) as r:
            return r.status, r.read(), r.headers
    except urllib.error.HTTPError as e:
        return e.code, e.read(), e.headers


def listed(path, name):
    """Names of an X-macro."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = re.search(r"#define %s\(X\)(.*?[^\\])\n" % name, f.read(),
                         re.DOTALL)[1]
    return re.findall(r"\bX\(([\w.]+)\)", text)


class Shown:
    """A fabric and a page that shows it."""

    def __init__(self, box, config=FIGURE1, view=("--allow-orders",),
                 reflit=("--load", "0.001", "--allow-orders"), eal=()):
        self.box = box
        run = box.path("run")
        os.mkdir(run)
        self.prefix = "rlview%d" % os.getpid()
        root = "/var/run" if os.geteuid() == 0 else run
        self.socket = os.path.join(root, "dpdk", self.prefix,
                                   "dpdk_telemetry.v2")
        env = dict(os.environ, XDG_RUNTIME_DIR=run)
        self.reflit = subprocess.Popen(
            [REFLIT, "--file-prefix=" + self.prefix, *eal, "--", "--config",
             box.write("fabric.cfg", config), "--json",
             box.path("report.json"), *reflit], cwd=ROOT, env=env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.programs = [self.reflit]
        try:
            self.view = subprocess.Popen(
                [VIEW, "--listen", "127.0.0.1:0", "--socket", self.socket,
                 *view],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.programs.append(self.view)
            self.url = first_line(self.view).split()[0].rstrip("/")
            until(lambda: self.get("/api/sources"))
        except BaseException:
            self.__exit__()
            raise

    def get(self, path):
        status, body, _ = fetch(self.url + path)
        assert status == 200, (status, body)
        return json.loads(body)

    def ask(self, what):
        """What telemetry's /reflit/WHAT answers."""
        return self.get("/api/ask?s=0&c=/reflit/" + what)

    def show(self, line):
        """Lines of the prompt's `show LINE`; telemetry has long ones in pieces."""
        status, answer = self.order("show " + line)
        assert status == 200 and answer["result"] == 0, (line, answer)
        assert answer["lines_left_off"] == 0, line
        return answer["text"]

    def order(self, line, headers=(("X-Reflit-Order", "1"),)):
        status, body, _ = fetch(self.url + "/api/order?s=0", line.encode(),
                                dict(headers))
        return status, json.loads(body)

    def end(self):
        # a run that sent nothing is no success
        until(lambda: self.get("/api/ask?s=0&c=/reflit/traffic")
              ["sent_packets"] > 0)
        self.view.send_signal(signal.SIGTERM)
        assert self.view.wait(60) == 0
        self.reflit.terminate()
        out, err = self.reflit.communicate(timeout=120)
        assert self.reflit.returncode == 0, (out, err)
        with open(self.box.path("report.json"), encoding="utf-8") as f:
            return json.load(f)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for p in self.programs:
            if p.poll() is None:
                p.kill()
            p.wait()
            p.stdout.close()
            p.stderr.close()
        if self.socket.startswith("/var/run/dpdk/" + self.prefix):
            shutil.rmtree(os.path.dirname(self.socket), ignore_errors=True)
