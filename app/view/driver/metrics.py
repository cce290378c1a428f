# SPDX-License-Identifier: BSD-3-Clause
"""All sources as metrics in the OpenMetrics text form [APP-8], as Prometheus
scrapes them: counters by the names of telemetry, states, alarms, latencies."""
import re

from sources import COMMAND_BYTES, NoAnswer, count_of

TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
# bounds of buckets of latencies: 2^10 to 2^33 ns, which histograms keep
BOUNDS_NS = [(1 << b) - 1 for b in range(10, 34)]
UNITS = ("flits", "packets", "frames", "bytes", "bits", "messages", "seconds")
SUFFIX = {"counter": "_total", "info": "_info"}
LABELS_BYTES = 1022  # of a sample: at most
ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})

# Names of SAI that collectors of switches know, where a counter has one.
SAI = {
    "tx_init": "TX_INIT_CTL_OS", "tx_init_echo": "TX_INIT_ECHO_CTL_OS",
    "tx_ack": "TX_ACK_CTL_OS", "tx_nak": "TX_NACK_CTL_OS",
    "tx_discard": "TX_DISCARD", "tx_flits": "TX_OK",
    "tx_poisoned": "TX_POISONED", "tx_replays": "TX_REPLAY",
    "rx_init": "RX_INIT_CTL_OS", "rx_init_echo": "RX_INIT_ECHO_CTL_OS",
    "rx_ack": "RX_ACK_CTL_OS", "rx_nak": "RX_NACK_CTL_OS",
    "rx_ack_seq_error": "RX_ACK_NACK_SEQ_ERROR", "rx_ok": "RX_OK",
    "rx_poisoned": "RX_POISONED (and RX_EXPECTED_SEQ_POISONED)",
    "rx_bad": "RX_BAD", "rx_expected_good": "RX_EXPECTED_SEQ_GOOD",
    "rx_expected_bad": "RX_EXPECTED_SEQ_BAD",
    "rx_missing_seq": "RX_MISSING_SEQ",
    "rx_duplicate_seq": "RX_DUPLICATE_SEQ", "rx_replays": "RX_REPLAY",
}
PORT_GAUGES = {
    "window_flits": "Replay window of a port.",
    "held_flits": "Flits in the replay buffer of a port.",
    "outstanding_flits": "Of these: not acknowledged.",
    "queued_flits": "Flits in the egress queues of a port.",
    "flaps": "Deaths of a link within its flap window.",
}
# numbers of a port that are no counters, and not told
PORT_OTHERS = ("round_trip_ns", "replay_timer_ns", "tx_epoch", "rx_epoch")
CLASS_GAUGES = {
    "flows": "Flows of a class of service.",
    "outstanding_flits":
        "Flits of a class that were sent and not acknowledged.",
    "resend_flits": "Of these: to be sent again.",
    "held_flits":
        "Flits of a class that wait for those before them, where they arrive.",
}
# one that arrives after all was delivered: it is taken off again
TRAFFIC_GAUGES = {
    "under_way_packets": "Packets sent, and neither delivered nor given up.",
    "reported_packets":
        "Packets given up openly that have not arrived after all.",
}
SEVERITIES = ("critical", "major", "minor")


def number(o, key):
    return max(count_of(o, key), 0)


def text(o, key):
    v = o.get(key) if isinstance(o, dict) else None
    return v if isinstance(v, str) else ""


def labelled(base, **labels):
    """Labels of a sample, behind those of base: a="b",c="d". One that has no
    room is left out."""
    for key, v in labels.items():
        more = '%s%s%s="%s"' % (base, "," if base else "", key,
                                v.translate(ESCAPED))
        if len(more.encode(errors="replace")) <= LABELS_BYTES:
            base = more
    return base


class Families:
    """Samples of a family must stand together, but they come by source, device
    and port."""

    def __init__(self):
        self.found = {}  # by name: its type, its help, its samples

    def add(self, kind, name, help_text, labels, value, suffix=None):
        """A counter gets its _total. The unit is what the name ends in."""
        f = self.found.setdefault(name, (kind, help_text, []))
        if f[0] == kind:
            f[2].append("%s%s{%s} %s\n" % (
                name, SUFFIX.get(kind, "") if suffix is None else suffix, labels,
                value if isinstance(value, int) else "%.9g" % value))

    def text(self):
        lines = []
        for name, (kind, help_text, samples) in self.found.items():
            unit = name.rsplit("_", 1)[-1]
            lines.append("# TYPE %s %s\n" % (name, kind))
            if unit in UNITS:
                lines.append("# UNIT %s %s\n" % (name, unit))
            lines.append("# HELP %s %s\n" % (name, help_text))
            lines += samples
        return "".join(lines) + "# EOF\n"


class Scrape:
    """One source, and what is found of it."""

    def __init__(self, sources, i, path, families):
        self.sources, self.i, self.families = sources, i, families
        self.path, self.base = path, ""  # labels of all its samples

    def ask(self, *words):
        try:
            return self.sources.ask(
                self.i, ("/reflit/" + ",".join(words))[:COMMAND_BYTES])
        except NoAnswer:
            return None

    def rows(self, name, first):
        """Of a list: an object each, as many as its first column has."""
        columns = self.sources.list(self.i, "/reflit/" + name)
        del columns["total"]
        return [{key: c[k] for key, c in columns.items() if k < len(c)}
                for k in range(len(columns.get(first, ())))]

    def gauge(self, name, help_text, value, labels=None):
        self.families.add("gauge", "reflit_" + name, help_text,
                          self.base if labels is None else labels, value)

    def counter(self, name, help_text, value, labels=None):
        self.families.add("counter", "reflit_" + name, help_text,
                          self.base if labels is None else labels, value)

    def gauges(self, prefix, helps, answer, labels):
        for key, help_text in helps.items():
            self.gauge(prefix + key, help_text, number(answer, key), labels)

    def counters(self, prefix, of, answer, labels, but=()):
        """Each whole number of an answer is a counter."""
        for key, v in answer.items() if isinstance(answer, dict) else ():
            if (not isinstance(v, int) or isinstance(v, bool) or key in but or
                    not re.fullmatch("[a-zA-Z0-9_]+", key)):
                continue
            known = SAI.get(key) if prefix == "port" else None
            self.counter("%s_%s" % (prefix, key), "Counter %s of %s%s." % (
                key, of, "; flits where SAI_PORT_STAT_LLR_%s counts frames" %
                known if known else ""), number(answer, key), labels)

    def ports(self):
        for row in self.rows("ports", "name"):
            device, slash, port = text(row, "name").rpartition("/")
            p = self.ask("port", text(row, "name")) if slash else None
            if not isinstance(p, dict):
                continue
            labels = labelled(self.base, device=device, port=port,
                              link=text(p, "link"))
            self.gauges("port_", PORT_GAUGES, p, labels)
            self.gauge("port_round_trip_seconds",
                       "Smoothed round trip of a link, as a port sees it.",
                       number(p, "round_trip_ns") / 1e9, labels)
            self.counters("port", "a port", p, labels,
                          (*PORT_GAUGES, *PORT_OTHERS))

    def devices(self):
        for row in self.rows("devices", "name"):
            name = text(row, "name")
            self.counters("core", "the core of a device",
                          self.ask("switch", name),
                          labelled(self.base, device=name))
            if text(row, "kind") == "endpoint":
                self.counters("endpoint", "an endpoint",
                              self.ask("endpoint", name),
                              labelled(self.base, endpoint=name))

    def links(self):
        for row in self.rows("links", "name"):
            oper = text(row, "oper")
            if oper == "remote":
                continue  # another process tells of it
            labels = labelled(self.base, link=text(row, "name"))
            self.gauge("link_up", "Whether a link carries traffic.",
                       int(oper in ("up", "degraded")), labels)
            self.gauge("link_admin_up", "Whether no order keeps a link down.",
                       int(text(row, "admin") == "up"), labels)

    def alarms(self):
        rows = self.rows("alarms", "alarm")
        for row in rows:
            self.gauge("alarm", "1 for each alarm that stands now.", 1,
                       labelled(self.base, **{
                           key: text(row, key)
                           for key in ("alarm", "severity", "where")}))
        for severity in SEVERITIES:
            self.gauge("alarms", "Alarms that stand now.",
                       sum(text(r, "severity") == severity for r in rows),
                       labelled(self.base, severity=severity))

    def latency(self):
        """By the VC of arrival; VC 0 is always there. Bounds of telemetry's
        buckets are finer, and these are among them."""
        rows = self.rows("histogram", "upper_ns")
        for vc in range(8):
            counts = [number(r, "vc%d_n" % vc) for r in rows]
            if vc != 0 and not any(counts):
                continue
            labels = labelled(self.base, vc=str(vc))
            k = 0
            for bound in (*BOUNDS_NS, None):
                while k < len(rows) and (
                        bound is None or number(rows[k], "upper_ns") <= bound):
                    k += 1
                self.families.add(
                    "histogram", "reflit_latency_seconds",
                    "From send to delivery of packets.",
                    labelled(labels, le="+Inf" if bound is None else
                             "%.10g" % (bound / 1e9)),
                    sum(counts[:k]), "_bucket")

    def classes(self):
        for row in self.rows("classes", "cos"):
            self.gauges("class_", CLASS_GAUGES, row, labelled(
                self.base, **{"class": str(number(row, "cos"))}))

    def traffic(self):
        t = self.ask("traffic")
        if isinstance(t, dict):
            self.gauges("traffic_", TRAFFIC_GAUGES, t, self.base)
            self.counters("traffic", "all clients of this process", t,
                          self.base, TRAFFIC_GAUGES)

    def process(self, fabric):
        channel = self.ask("channel")
        info = {key: text(fabric, key)
                for key in ("version", "topology", "engine", "start_utc")}
        self.families.add("info", "reflit_process", "What runs.",
                          labelled(self.base, **info), 1)
        self.gauge("uptime_seconds",
                   "Since the links of this process started.",
                   number(fabric, "now_ns") / 1e9)
        self.counter("failovers", "Ports that died.",
                     number(fabric, "failovers"))
        self.counter("events",
                     "Events of ports, cores, endpoints, controller.",
                     number(fabric, "events"))
        if text(channel, "kind") == "etcd":
            self.gauge("etcd_up", "Whether etcd answers.",
                       number(channel, "answers"))

    def all(self, fabric):
        """A source that does not answer has reflit_source_up 0, and no other
        metric."""
        if fabric is None:
            return  # another DPDK program's socket
        is_up = isinstance(fabric, dict) and fabric != {}
        self.gauge("source_up",
                   "Whether the process at a telemetry socket answers.",
                   int(is_up), labelled("", socket=self.path))
        if is_up:
            self.base = labelled("", fabric=text(fabric, "config"),
                                 process=text(fabric, "process"),
                                 socket=self.path)
            self.process(fabric)
            for tell in (self.traffic, self.alarms, self.links, self.ports,
                         self.devices, self.classes, self.latency):
                tell()


def metrics_text(sources):
    families = Families()
    sources.find()
    for i, fabric in sources.ask_all("/reflit/fabric").items():
        path = sources.path(i)
        if path:
            Scrape(sources, i, path, families).all(fabric)
    return families.text()
