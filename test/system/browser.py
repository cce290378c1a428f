# SPDX-License-Identifier: BSD-3-Clause
"""A page in a real headless Chromium, driven by WebDriver."""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import urllib.request

from reflit_test import Skip
from shown import until


# of a picture: how many colours it has, and how many dots in a box are no grey
COLOURS = """
const [png, x, y, w, h] = arguments, i = new Image();
i.src = "data:image/png;base64," + png;
return i.decode().then(() => {
  const c = new OffscreenCanvas(i.width, i.height).getContext("2d");
  c.drawImage(i, 0, 0);
  const all = c.getImageData(0, 0, i.width, i.height).data;
  const box = c.getImageData(x, y, w, h).data;
  let bright = 0;
  for (let k = 0; k < box.length; k += 4)
    bright += Math.max(box[k], box[k + 1], box[k + 2]) -
      Math.min(box[k], box[k + 1], box[k + 2]) > 30;
  const dots = new Uint32Array(all.buffer), some = new Set();
  for (let k = 0; k < dots.length; k += 7)
    some.add(dots[k]);
  return [some.size, bright];
});"""
BOX = """const e = document.documentElement, b = document.querySelector(
  arguments[0]).getBoundingClientRect();
return [innerWidth, e.scrollHeight, b.x + scrollX, b.y + scrollY, b.width,
        b.height].map(Math.round);"""


class Browser:
    """Headless Chromium behind chromedriver: WebDriver by hand."""

    def __init__(self):
        driver = shutil.which("chromedriver")
        chromium = shutil.which("chromium")
        if driver is None or chromium is None:
            raise Skip("chromium and chromedriver are not installed")
        self.dir = tempfile.mkdtemp(prefix="reflit-chromium-")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.base = "http://127.0.0.1:%d" % port
        self.session = None
        self.driver = subprocess.Popen(
            [driver, "--port=%d" % port], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=self.dir))
        until(lambda: self.call("GET", "/status")["ready"])
        # by pipes: the driver finds no port where no file names localhost
        args = ["--remote-debugging-pipe", "--headless", "--no-sandbox",
                "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
                "--disable-background-networking", "--disable-sync",
                "--disable-component-update", "--window-size=1500,1000",
                "--user-data-dir=" + os.path.join(self.dir, "profile")]
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": args, "binary": chromium}}}})
        self.session = "/session/" + made["sessionId"]

    def call(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        req = urllib.request.Request(
            self.base + path, data=data, method=method,
            headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(req, timeout=90) as r:
            return json.loads(r.read())["value"]

    def go(self, url):
        self.call("POST", self.session + "/url", {"url": url})

    def script(self, text, *args):
        return self.call("POST", self.session + "/execute/sync",
                         {"script": text, "args": list(args)})

    def click(self, css):
        """A real click, where the element is."""
        found = self.call("POST", self.session + "/element",
                          {"using": "css selector", "value": css})
        element = list(found.values())[0]
        self.call("POST", "%s/element/%s/click" % (self.session, element))

    def keys(self, text):
        self.call("POST", self.session + "/actions", {"actions": [{
            "type": "key", "id": "k", "actions": [
                {"type": t, "value": c} for c in text
                for t in ("keyDown", "keyUp")]}]})

    def pointer(self, *actions, kind="pointer"):
        self.call("POST", self.session + "/actions", {"actions": [{
            "type": kind, "id": kind, "actions": list(actions)}]})

    def wheel(self, at, down):
        """Turns the wheel at a place of the page."""
        self.pointer({"type": "scroll", "x": at[0], "y": at[1], "deltaX": 0,
                      "deltaY": down}, kind="wheel")

    def drag(self, a, b):
        self.pointer({"type": "pointerMove", "x": a[0], "y": a[1]},
                     {"type": "pointerDown", "button": 0},
                     {"type": "pointerMove", "x": (a[0] + b[0]) // 2,
                      "y": (a[1] + b[1]) // 2},
                     {"type": "pointerMove", "x": b[0], "y": b[1]},
                     {"type": "pointerUp", "button": 0})

    def place(self, css):
        """Of the middle of an element, in pixels of the page."""
        return self.script("""
            const b = document.querySelector(arguments[0])
              .getBoundingClientRect();
            return [b.x + b.width / 2, b.y + b.height / 2].map(Math.round)""",
                           css)

    def count(self, css):
        return self.script("return document.querySelectorAll(arguments[0])"
                           ".length", css)

    def text(self, css):
        return self.script("return document.querySelector(arguments[0])"
                           "?.textContent", css)

    def devtools(self, cmd, **params):
        return self.call("POST", self.session + "/goog/cdp/execute",
                         {"cmd": cmd, "params": params})

    def size(self, width, height=1000):
        """Of the page: a window has a least width, a page has none."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width,
                      height=height, deviceScaleFactor=1, mobile=False)

    def picture(self, path, css):
        """Leaves a PNG of the whole page there. @return how many colours it
        has, and how many dots of the element are no grey"""
        width, height, *box = self.script(BOX, css)
        png = self.devtools("Page.captureScreenshot", clip={
            "x": 0, "y": 0, "width": width, "height": height, "scale": 1},
            captureBeyondViewport=True)["data"]
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(base64.b64decode(png))
        return self.script(COLOURS, png, *box)

    def errors(self):
        log = self.call("POST", self.session + "/se/log", {"type": "browser"})
        return [e["message"] for e in log if e["level"] == "SEVERE"]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.session:
            try:
                self.call("DELETE", self.session)
            except OSError:
                pass
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.dir, ignore_errors=True)
