# SPDX-License-Identifier: BSD-3-Clause
"""The command line of `reflit-sim rxl`."""
import difflib
import getopt
import os
import re
import sys

import figures
import plan
import reports

WHOLE = re.compile(r"\s*\+?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")

USAGE = """usage: reflit-sim rxl [options]

Computes the evaluation of the RXL paper, and measures it by the code that ships.

What (everything, if left out; may be repeated)
  --table NAME|N   %s; or 1 to %d
  --figure NAME    %s; 8 is the paper's
  --quick          run a twentieth of the simulations
  --long-flits N   flits of table long (1000000000)

How
  --out DIR        write tables, pictures and the state to go on from (rxl-results)
  --json FILE      write all of it as JSON
  --jobs N         run N threads (one a processor)
  --fresh          forget what was simulated before
  --no-plots, --quiet, --seed N
  --crc NAME       crc64-bch, crc64-ecma, pcie6-rs
  --isn NAME       wide, xor10, wide19

One point of your own (any of these)
  --profile NAME   rxl, rxl-compact, cxl, cxl-sep-ack
  --retry NAME     go-back-n, selective
  --levels N       switches, 0 to 8
  --coalesce N     flits acknowledged at once
  --ber P          first bit errors, per bit
  --propagate P    the next bit is wrong too (DFE)
  --lanes N        lanes along which bursts run: 1, 2, 4, 8, 16
  --byte-bursts P  bursts of 1 to 8 bytes, per flit and link
  --lost P         flits lost by a wire
  --inside P       corruption inside a switch, per flit
  --drop-reports   let switches tell the originator
  --flits N        simulate N flits (10000000)

Exit status: 0 done; 1 a profile that promises order or data lost some;
2 unusable arguments, or files that can't be written.
""" % (", ".join(reports.REPORTS), len(reports.REPORTS),
       ", ".join(figures.FIGURES))


class Unusable(Exception):
    pass


class Helped(Exception):
    pass


def refuse(name, value, use):
    raise Unusable("reflit-sim rxl: --%s %s: %s" % (name, value, use))


def number(lo, hi):
    def read(name, s):
        m = WHOLE.fullmatch(s)
        digits = m.group(1) if m else "-1"
        base = 16 if digits[:2] in ("0x", "0X") else \
            8 if digits[0] == "0" else 10
        value = int(digits, base)
        if not lo <= value <= hi:
            refuse(name, s, "use a whole number of %d to %d" % (lo, hi))
        return value
    return read


def rate(below):
    def read(name, s):
        try:
            value = -1 if "_" in s or s[-1:].isspace() else float(s)
        except ValueError:
            value = -1
        if not 0 <= value < below:
            refuse(name, s, "use 0 to less than %g" % below)
        return value
    return read


def word(*words):
    def read(name, s):
        if s not in words:
            refuse(name, s, "use " + " ".join(words))
        return s
    return read


def profile(name, s):
    if s not in plan.PROFILES:
        refuse(name, s, "use rxl, rxl-compact, cxl or cxl-sep-ack")
    return s


def lanes(name, s):
    n = number(1, 16)(name, s)
    if n & (n - 1):
        refuse(name, s, "use 1, 2, 4, 8 or 16")
    return n


def table(name, s):
    names = list(reports.REPORTS)
    if s in names:
        return s
    if not re.fullmatch("[0-9]+", s) or not 1 <= int(s) <= len(names):
        refuse(name, s, "there is no such table; see --help")
    return names[int(s) - 1]


def figure(name, s):
    if s == "4" or s[:1] == "5":
        refuse(name, s, "that one is played: reflit-sim scenario fig4, fig5a "
               "or fig5b")
    if figures.find(s) is None:
        refuse(name, s, "there is no such figure; see --help")
    return figures.find(s)


def text(_name, s):
    return s


# option -> what reads its argument (None: it has none), and the field of a
# point that it sets
OPTIONS = {
    "table": (table, None), "figure": (figure, None), "quick": (None, None),
    "out": (text, None), "json": (text, None), "jobs": (number(1, 64), None),
    "fresh": (None, None), "no-plots": (None, None), "quiet": (None, None),
    "seed": (number(0, 2**64 - 1 - 1000000), None),
    "crc": (word(*plan.CRCS), None), "isn": (word(*plan.ISNS), None),
    "long-flits": (number(1000, 10**15), None),
    "profile": (profile, "profile"), "retry": (word(*plan.RETRIES), "retry"),
    "levels": (number(0, 8), "levels"),
    "coalesce": (number(1, 256), "coalesce"), "ber": (rate(0.5), "ber"),
    "propagate": (rate(1), "propagate"), "lanes": (lanes, "lanes"),
    "byte-bursts": (rate(1), "byte_bursts"), "lost": (rate(1), "lost"),
    "inside": (rate(1), "inside"), "drop-reports": (None, "reports"),
    "flits": (number(1000, 10**12), "flits"), "help": (None, None),
}


class Options:
    def __init__(self):
        self.tables, self.figures = set(), set()
        self.point = False      # one point of the user's own
        self.base = plan.Case(ber=1e-5, levels=1, flits=10000000)
        self.quick = self.fresh = self.quiet = False
        self.plots = True
        self.jobs = min(64, len(os.sched_getaffinity(0)))
        self.long_flits = 1000000000
        self.out, self.json = "rxl-results", None

    def take(self, name, value):
        field = OPTIONS[name][1]
        if name == "help":
            raise Helped()
        if field is not None or name in ("seed", "crc", "isn"):
            setattr(self.base, field or name, value)
            self.point |= field is not None
        elif name in ("table", "figure"):
            getattr(self, name + "s").add(value)
        elif name == "no-plots":
            self.plots = False
        else:
            setattr(self, name.replace("-", "_"), value)

    def settle(self):
        """A figure wants its table; without a selection all is wanted."""
        if not (self.tables or self.figures or self.point):
            self.tables = set(reports.REPORTS)
            self.figures = set(figures.FIGURES)
        self.tables |= {figures.FIGURES[f][1] for f in self.figures}


def wrong(e):
    """What is wrong with an option that getopt refuses."""
    name = "-" + e.opt if "option -%s " % e.opt in e.msg else "--" + e.opt
    fits = [o for o in OPTIONS if o.startswith(e.opt)]
    near = difflib.get_close_matches(e.opt, OPTIONS, 1)
    if "requires" in e.msg:
        return "%s needs an argument; see --help" % name
    if "must not" in e.msg:
        return "%s takes no argument" % name
    if len(fits) > 1:
        return "%s may be --%s or --%s" % (name, *fits[:2])
    return "there is no option %s; %s" % (
        name, "did you mean --%s?" % near[0] if near else "see --help")


def parse(words):
    """@return Options; Helped after --help, Unusable with what is wrong"""
    o = Options()
    try:
        given, others = getopt.gnu_getopt(words, "", [
            name + "=" * (read is not None)
            for name, (read, _) in OPTIONS.items()])
    except getopt.GetoptError as e:
        sys.stderr.write("reflit-sim: %s\n" % wrong(e))
        raise Unusable("see reflit-sim rxl --help") from None
    for name, value in given:
        read = OPTIONS[name[2:]][0]
        o.take(name[2:], True if read is None else read(name[2:], value))
    if others:
        raise Unusable("reflit-sim rxl: unexpected %s; see --help" % others[0])
    if o.base.isn != "xor10" and o.base.crc != "crc64-bch":
        raise Unusable("reflit-sim rxl: --isn %s does not go with --crc %s; "
                       "use xor10, or crc64-bch" % (o.base.isn, o.base.crc))
    o.settle()
    return o
