# SPDX-License-Identifier: BSD-3-Clause
"""reflit-view beside a telemetry socket that a test plays; the first argument of
the test is that program."""
import http.client
import json
import os
import signal
import subprocess
import sys

VIEW = os.path.abspath(sys.argv[1])
sys.argv[1:] = ["-", "-", sys.argv[2]]  # reflit itself has no part in this
from played import Telemetry  # noqa: E402
from reflit_test import Box, first_line  # noqa: E402

ORDER = {"X-Reflit-Order": "1"}


class View:
    """reflit-view beside a telemetry socket."""

    def __init__(self, *args, answers=None, listen="127.0.0.1", **telemetry):
        self.box = Box()
        path = self.box.path("dpdk_telemetry.v2")
        self.tel = Telemetry(path, {"/reflit/fabric": {"links": 3},
                                    "/reflit/order": {"result": 0},
                                    **(answers or {})}, **telemetry)
        self.view = subprocess.Popen(
            [VIEW, "--listen", listen + ":0", "--socket", path, *args],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = first_line(self.view).split()[0]
        self.port = int(self.url.rsplit(":", 1)[1].rstrip("/"))

    def __enter__(self):
        return self

    def __exit__(self, kind, *exc):
        self.view.send_signal(signal.SIGTERM)
        status = self.view.wait(60)
        self.view.stdout.close()
        self.view.stderr.close()
        self.tel.stop()
        self.box.__exit__()
        assert kind is not None or status == 0, status

    def ask(self, path, method="GET", body=None, headers=None,
            host="127.0.0.1"):
        """@return (status, headers, what the body says)"""
        c = http.client.HTTPConnection(host, self.port, timeout=30)
        c.request(method, path, body=body, headers=headers or {})
        r = c.getresponse()
        text = r.read()
        c.close()
        kind = r.headers["Content-Type"]
        return r.status, r.headers, (json.loads(text) if "json" in kind
                                     else text)

    def order(self, line, headers=None, **more):
        return self.ask("/api/order?s=0", "POST", line,
                        ORDER if headers is None else headers, **more)
