#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figures 4, 5a and 5b of the RXL paper as a ladder diagram: two hosts, time
running down, an arrow for each flit that leaves, arrives or is dropped, and
remarks on both sides. What `reflit-sim scenario` runs.

usage: scenario.py PROGRAM VERSION FIGURE WHAT PROFILE JSON WORDS...

PROGRAM (reflit-sim) plays the figure; JSON is a file, or empty; WORDS are the
command as it was given.
"""
import json
import sys
import time

import run

BEGAN = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
HOST, DEVICE = 0, 1
FLITS = 4
# the wire between the two, by the side that sends
ART = ({"sent": "o------->        ", "dropped": "o---X dropped    ",
        "arrived": "        -------->"},
       {"sent": "        <-------o", "dropped": "    dropped X---o",
        "arrived": "<--------        "})
CONTROL = {"sync": "SYNC %d", "ack": "ACK %d", "nak all": "NAK: all from %d",
           "nak missing": "NAK: what is missing from %d"}


def letter(i):
    return chr(ord("A") + i)


class Play:
    """What happened, told by events in their order."""

    def __init__(self, figure, profile):
        self.figure, self.profile = figure, profile
        self.rungs = []  # time, side of the text, wire, text
        self.sent = None  # time and side of the last rung, if a flit left
        self.received = self.data = ""
        self.seen, self.newest = set(), 0
        self.again = self.out_of_order = self.unexpected = 0

    def remark(self, e, text):
        self.sent = None
        self.rungs.append((e["t_ns"], e["side"], " " * 17, "** " + text))

    def name(self, e):
        """Of a data flit."""
        if self.figure == "fig4":
            return "upstream" if e["side"] == DEVICE else letter(e["value"] & 3)
        if "op" not in e:
            return "?"
        if e["op"] == "write" or (e["op"] == "response" and e["side"] == HOST):
            return e["op"] + " X"
        return "%s %s" % ("read" if e["op"] == "read" else "data",
                          letter(e["line"] & 3))

    def text(self, e):
        """Of a flit: name, true number, and what the wire shows of it."""
        if "control" in e:
            return CONTROL[e["control"]] % (
                e["number"] + e["control"].startswith("nak"))
        shown = []
        if self.profile in ("rxl", "rxl-compact"):
            shown.append("crc(%d)" % (e["number"] & 1023))
        elif not e["ack"]:
            shown.append("seq %d" % e["fsn"])
        if e["ack"]:
            shown.append("ack %d" % e["fsn"])
        return "#%d %s [%s]" % (e["number"], self.name(e), ", ".join(shown))

    def flit(self, e):
        at = e["t_ns"], e["side"]
        if e["step"] == "dropped" and self.sent == at:
            text = self.rungs.pop()[3]  # sent and dropped: one arrow
        else:
            text = self.text(e)
        self.sent = at if e["step"] == "sent" else None
        side = e["side"] if e["step"] != "arrived" else 1 - e["side"]
        self.rungs.append((e["t_ns"], side, ART[e["side"]][e["step"]], text))

    def take(self, e, i):
        """Flit i has reached the upper layer of its receiver."""
        self.received += letter(i)
        if i in self.seen:
            self.again += 1
            how = " AGAIN"
        elif i > self.newest:
            self.out_of_order += 1
            how = " OUT OF ORDER"
        else:
            how = ""
        self.remark(e, letter(i) + " goes up" + how)
        self.seen.add(i)
        self.newest = max(self.newest, i + 1)

    def up(self, e):
        self.take(e, e["value"])

    def memory(self, e):
        if e["side"] == DEVICE:
            if self.figure == "fig5a" and e["event"].startswith("executed"):
                self.take(e, e["tag"])
            return
        if e["op"] != "data":
            return
        self.data += letter(e["line"])
        if self.figure == "fig5b":
            self.take(e, e["tag"])
        if e["event"] == "unexpected":
            self.unexpected += 1
            self.remark(e, "data %s, NOT ASKED FOR" % letter(e["line"]))
        elif e["event"] == "out of order":
            self.remark(e, "queue %d gets %s FOR AN OLDER LINE" % (
                e["queue"], letter(e["line"])))

    def tell(self, events):
        for e in events:
            getattr(self, e["kind"])(e)
        self.missing = FLITS - len(self.seen)

    def sound(self, leak):
        return not (self.again or self.out_of_order or self.unexpected or
                    self.missing or leak)


def draw(play, out):
    out.write("%6s  %34s |%17s| %s\n" % ("ns", "host", "", "device"))
    for t, side, wire, text in play.rungs:
        out.write("%6d  %34s |%s| %s\n" % (
            t, text if side == HOST else "", wire,
            "" if side == HOST else text))


def summarise(play, sound, out):
    out.write("\nreceived in this order: %s%s\n" % (
        play.received, "; data the host got: " + play.data
        if play.figure == "fig5a" else ""))
    out.write("received again %d, out of order %d, data not asked for %d, "
              "missing %d\n" % (play.again, play.out_of_order, play.unexpected,
                                play.missing))
    out.write("every flit once and in order\n" if sound else
              "the loss was not seen in time\n")


def write_json(path, play, sound, version, words):
    text = json.dumps({
        "program": "reflit-sim", "version": version,
        # a file's name may be anything; JSON is UTF-8
        "arguments": [w.encode("utf-8", "replace").decode() for w in words],
        "date": BEGAN, "figure": play.figure, "profile": play.profile,
        "received": play.received, "data": play.data,
        "received_again": play.again, "out_of_order": play.out_of_order,
        "unexpected_data": play.unexpected, "missing": play.missing,
        "sound": sound}, indent=2) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def scenario(program, version, figure, what, profile, path, *words):
    """@return the exit status"""
    out = sys.stderr if path == "-" else sys.stdout
    worker = run.Worker(program)
    try:
        answer = worker.ask("scenario", {"figure": figure, "profile": profile})
    except run.Failed as e:
        sys.stderr.write("reflit-sim scenario: %s\n" % e)
        return 2
    finally:
        worker.close()
    play = Play(figure, profile)
    play.tell(answer["events"])
    sound = play.sound(answer["leak"])
    out.write("%s with %s: %s\n\n" % (figure, profile, what))
    draw(play, out)
    summarise(play, sound, out)
    if path:
        try:
            write_json(path, play, sound, version, words)
        except OSError as e:
            sys.stderr.write("reflit-sim scenario: cannot write %s: %s\n" % (
                "standard output" if path == "-" else path, e.strerror))
            return 2
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(run.printed(scenario, *sys.argv[1:]))
