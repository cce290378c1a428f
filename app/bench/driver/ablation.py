# SPDX-License-Identifier: BSD-3-Clause
"""The ablation [EVAL-2] of reflit-sim: the same fabric, traffic and cuts, with all
settings of loopback and end-to-end retry. Each case that the DRL patent argues is
a row: no loopback, only unacknowledged flits, whole packets. Or the same with the
duplicate filter of switches [DRL-5] and without. If a link dies with its last
acknowledgments under way, its near end loops out packets that its far end has. The
filter drops the second copy at the first switch that knows it; otherwise the
destination does. It may save the rest of the path."""
import os
import re
import signal
import sys

from virtual import Ended, Prng

# timers of the simulation's nanosecond wires
FAST = """link: { max_packet_flits = 16; flits_per_frame = 5;
  ack_coalesce_flits = 8; ack_delay_ns = 100;
  replay_timer_min_ns = 2000; replay_timer_max_ns = 20000;
  init_interval_ns = 1000; keepalive_ns = 5000;
  keepalive_dead_ns = 50000; resume_delay_ns = 200;
  restore_delay_ns = 1000; flap_damping_ns = 1000;
  flap_damping_max_ns = 1000; };
endpoint: { ack_delay_ns = 1000; nak_delay_ns = 2000;
  retry_timer_min_ns = 20000; gap_skip_ns = 20000; };
"""
# figure 1 of the patent
FIGURE1 = """fabric: { topology = "custom";
  switches = ( { name = "s0"; }, { name = "s1"; } );
  endpoints = ( { name = "e0"; }, { name = "e1"; } );
  links = ( { a = "e0"; b = "s0"; }, { a = "s0"; b = "s1"; count = 2; },
            { a = "s1"; b = "e1"; } ); };
""" + FAST
# one switch more: a duplicate may have one or two links to go
CHAIN = """fabric: { topology = "custom";
  switches = ( { name = "s0"; }, { name = "s1"; }, { name = "s2"; } );
  endpoints = ( { name = "e0"; }, { name = "e1"; } );
  links = ( { a = "e0"; b = "s0"; }, { a = "s0"; b = "s1"; count = 2; },
            { a = "s1"; b = "s2"; count = 2; },
            { a = "s2"; b = "e1"; } ); };
""" + FAST

# One cut every so often; each heals before the next. A link that dies loses frames
# for a while before. So some packets are acknowledged in part when it is cut, and
# only those tell "unacked-only" from "whole-packets".
PERIOD_NS, ILL_NS, ILL_LOSS = 25000, 1000, 0.1
SWITCHING = ("store-and-forward", "cut-through")
LOOPBACK = ("none", "unacked-only", "whole-packets")
# options that are not those of each run
OWN = ("config", "seed", "json", "csv", "cuts", "faults", "dup-filter")

# of a report, and the columns as printed and as CSV of both tables, "": not there
COLUMNS = (
    (("sent_packets",), 8, ("sent", "sent"), ("sent", "sent")),
    (("delivered_packets",), 0, ("", ""), ("delivered", "delivered")),
    (("lost_packets",), 7, ("lost", "lost"), ("lost", "lost")),
    (("duplicated_packets",), 6, ("dup", ""), ("duplicated", "")),
    (("reordered_packets",), 6, ("reord", ""), ("reordered", "")),
    (("reported_packets",), 6, ("report", ""), ("reported", "")),
    (("port_counters", "tx_replay_flits"), 8, ("resent", ""), ("", "")),
    (("port_counters", "looped_flits"), 8, ("", "looped"),
     ("", "looped_flits")),
    (("core_counters", "drop_duplicate"), 9, ("", "switches"),
     ("", "dropped_by_switches_packets")),
    (("endpoint_counters", "rx_duplicate"), 9, ("", "endpoints"),
     ("", "dropped_by_endpoints_flits")),
    (("flit_hops",), 10, ("", "flit-hops"), ("", "flit_hops")),
    (("latency_ns", "p50"), 7, ("p50", "p50"), ("p50_ns", "")),
    (("latency_ns", "p99"), 7, ("p99", ""), ("p99_ns", "")),
    (("latency_ns", "p999"), 8, ("p99.9", "p99.9"), ("p999_ns", "p999_ns")),
    (("latency_ns", "max"), 8, ("max", ""), ("max_ns", "")),
    (("outage_ns",), 8, ("outage", ""), ("outage_ns", "")),
)


def figure(report, keys):
    for key in keys:
        report = report[key]
    return report


def is_of(word, option):
    """Whether a word of the command line is an option, perhaps abbreviated."""
    name = word.partition("=")[0]
    return len(name) > 2 and ("--" + option).startswith(name)


def words_of_runs(o):
    """What was given for each run, and what a run is where that is not given."""
    words, given = [], iter(o.given)
    for word in given:
        own = [option for option in OWN if is_of(word, option)]
        if not own:
            words.append(word)
        elif "=" not in word and own != ["dup-filter"]:
            next(given)
    if not any(is_of(w, "packet-flits") for w in words):
        words += ["--packet-flits", "1-16"]
    if not any(is_of(w, "duration") for w in words):
        words += ["--duration", "%dns" % ((o.cuts + 2) * PERIOD_NS)]
    return words


class Ablation:
    """All rows, those so far."""

    def __init__(self, rig):
        self.rig, self.o, self.dup = rig, rig.o, rig.o.dup_filter
        self.words = [re.sub("((?:pairs|pcap):)(.*)", lambda m: m[1] +
                             self.lasting(m[2]), w)
                      for w in words_of_runs(rig.o)]
        self.config = (self.lasting(rig.o.config) if rig.o.config else
                       rig.file("built-in.cfg",
                                CHAIN if self.dup else FIGURE1))
        self.rows, self.csv, self.kept = [], [], True

    def lasting(self, path):
        """A file that can be read for each row: a pipe is read once."""
        if os.path.isfile(path) or not os.path.exists(path):
            return path
        copy = os.path.join(self.rig.folder, "given-%d" % len(
            os.listdir(self.rig.folder)))
        with open(path, "rb") as given, open(copy, "wb") as f:
            f.write(given.read())
        return copy

    def faults(self):
        """The same cuts for every row: a link between switches, at any moment."""
        _, r = self.rig.simulate(self.config, self.o.seed, "--packets", "1",
                                 "--duration", "1ns")
        endpoints = {e["endpoint"] for e in r["endpoints"]}
        links = [x["link"] for x in r["links"]
                 if not endpoints & {end["device"] for end in x["ends"]}]
        if not links:
            raise Ended(2, "reflit-sim: ablation: no link between switches to "
                        "cut")
        prng, lines = Prng(self.o.seed ^ 0xab1a), []
        for i in range(1, self.o.cuts + 1):
            link = links[prng.below(len(links))]
            t = i * PERIOD_NS + prng.below(PERIOD_NS // 4)
            heal = t + 500 + prng.below(PERIOD_NS // 4)
            lines += ["%dns noise %s loss=%g\n" % (t - ILL_NS, link, ILL_LOSS),
                      "%dns cut %s\n" % (t, link),
                      "%dns heal %s\n" % (heal, link)]
        return self.rig.file("cuts.flt", "".join(lines))

    def settings(self):
        """Of all rows, in their order: of loopback policies, or of the filter"""
        key, kinds = (("dup_filter", (False, True)) if self.dup else
                      ("loopback", LOOPBACK))
        return [{"switching": switching, "e2e_retry": retry, key: kind}
                for switching in SWITCHING for retry in (False, True)
                for kind in kinds]

    def print_head(self):
        print(("%-17s %-4s %-6s" if self.dup else "%-17s %-13s %-5s") % (
            ("switching", "e2e", "filter") if self.dup else
            ("switching", "loopback", "e2e")) + "".join(
                " %*s" % (width, heads[self.dup])
                for _, width, heads, _ in COLUMNS if heads[self.dup]),
              flush=True)
        self.csv.append(["switching", "e2e_retry", "dup_filter"] if self.dup
                        else ["switching", "loopback", "e2e_retry"])
        self.csv[0] += [c[3][self.dup] for c in COLUMNS if c[3][self.dup]]

    def tell(self, names, r, note):
        line = ("%-17s %-4s %-6s" if self.dup else "%-17s %-13s %-5s") % names
        print(line + "".join(
            " %*d" % (width, figure(r, keys))
            for keys, width, heads, _ in COLUMNS if heads[self.dup]) + note,
              flush=True)
        self.csv.append(list(names) + [str(figure(r, c[0])) for c in COLUMNS
                                       if c[3][self.dup]])

    def tell_events(self):
        """What --events has printed stands before what a run says of itself."""
        if any(is_of(w, "events") for w in self.words):
            events = ("\n" + self.rig.said).rpartition("\nsent ")[0][1:]
            print(events, end="\n" if events else "", flush=True)

    def judge(self, row, status, r):
        """Whole packets keep every promise, and end-to-end retry mends the
        rest. @return what the row says of it"""
        kept = status == 0
        if not row["e2e_retry"] and row.get("loopback", LOOPBACK[2]) != \
                LOOPBACK[2]:
            kept = (r["at_rest"] and not r["duplicated_packets"] and
                    not r["corrupted_packets"])
        self.kept &= kept
        if self.dup:
            return "  broken" if status else ""
        return "" if r["at_rest"] else "  not at rest"

    def run(self):
        rows = self.settings()
        faults = (self.lasting(self.o.faults) if self.o.faults else
                  self.faults())
        for row in rows:
            on = "on" if row["e2e_retry"] else "off"
            if self.dup:
                last = "on" if row["dup_filter"] else "off"
                names, policy = (row["switching"], on, last), "dup-filter=" + last
            else:
                last = row["loopback"]
                names, policy = (row["switching"], last, on), "loopback=" + last
            if self.rig.stopped:
                break
            if row is rows[0]:
                self.print_head()
            try:
                status, r = self.rig.simulate(
                    self.config, self.o.seed, *self.words, "--faults", faults,
                    "--what-if", "switching=%s,e2e=%s,%s" % (
                        row["switching"], on, policy))
            except Ended:
                if self.rig.stopped:
                    break
                raise
            self.tell_events()
            if r["interrupted"]:
                break
            self.tell(names, r, self.judge(row, status, r))
            for key in ("program", "version", "arguments", "date"):
                r.pop(key, None)
            self.rows.append({**r, **row})
        if len(self.rows) < len(rows):
            sys.stderr.write("reflit-sim: ended after %d of %d rows\n" % (
                len(self.rows), len(rows)))


def stopping(rig):
    """A signal ends a run as well; its row is not told."""
    def stop(number, frame):
        if not rig.stopped and rig.process is not None:
            rig.process.terminate()
        rig.stop(number, frame)

    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(s) != signal.SIG_IGN:
            signal.signal(s, stop)


def measure(rig, out):
    stopping(rig)
    a = Ablation(rig)
    try:
        a.run()
    except Ended as e:
        sys.stderr.write("%s\n" % e)  # as reflit-sim says it
        raise Ended(e.status) from None
    out.update({"csv": "".join(",".join(line) + "\n" for line in a.csv),
                "cuts": 0 if rig.o.faults else rig.o.cuts,
                "seed": rig.o.seed, "rows": a.rows})
    if not a.kept:
        raise Ended(1)
