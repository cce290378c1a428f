#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""/metrics of reflit-view before a telemetry socket that this file plays: each
number of telemetry under its own name and labels [APP-8].

usage: test_view_metrics.py REFLIT_VIEW SOURCE_ROOT
"""
from viewed import View  # first: it takes the arguments
import openmetrics
from played import listed
from reflit_test import case, main

FABRIC = {"config": 'a "b"\\c\n.cfg', "process": "left", "version": "0.2.0",
          "now_ns": 2500000000, "failovers": 3, "events": 7}


ANSWERS = {
    "/reflit/fabric": FABRIC,
    "/reflit/traffic": {"sent_packets": 2 ** 53 + 1, "under_way_packets": 5,
                        "reported_packets": 6, "refused_packets": 7},
    "/reflit/channel": {"kind": "etcd", "answers": 0},
    "/reflit/alarms": listed(alarm=["link-down", "miscabled"],
                             severity=["major", "critical"],
                             where=["link s0-s1#0", "link s0-s1#1"],
                             why=["x", "y"], since_ns=[1, 2]),
    "/reflit/links": listed(name=["s0-s1#0", "s0-s1#1", "s2-s3"],
                            admin=["up", "drained", "remote"],
                            oper=["down", "degraded", "remote"]),
    "/reflit/ports": listed(name=["s0/0", "s0/1"]),
    "/reflit/port": lambda name: {
        "link": "s0-s1#" + name[-1], "state": "UP", "held_flits": 4,
        "round_trip_ns": 1500, "tx_flits": 10 + int(name[-1]), "rx_bad": 0},
    "/reflit/devices": listed(name=["s0", "e0"], kind=["switch", "endpoint"]),
    "/reflit/switch": lambda name: {"rx_packets": len(name)},
    "/reflit/endpoint": lambda name: {"rx_ok": 9},
    "/reflit/classes": listed(cos=[0, 15], flows=[3, 2],
                              outstanding_flits=[40, 41], resend_flits=[5, 6],
                              held_flits=[7, 8]),
    "/reflit/histogram": listed(upper_ns=[900, 2047, 5000, 10 ** 11],
                                count_n=[1, 2, 3, 4], vc0_n=[0, 0, 0, 0],
                                vc1_n=[0, 0, 0, 0], vc7_n=[1, 2, 3, 4]),
}


def metrics(view):
    status, headers, body = view.ask("/metrics")
    assert status == 200, status
    assert headers["Content-Type"] == openmetrics.CONTENT_TYPE
    return openmetrics.families(body.decode())


@case
def metrics_are_what_telemetry_says_in_the_form_of_openmetrics():
    with View(answers=ANSWERS) as v:
        found = metrics(v)

        def value(name, **labels):
            return openmetrics.value(found, "reflit_" + name, **labels)

        base = {"fabric": FABRIC["config"], "process": "left",
                "socket": v.tel.path}
        assert value("uptime_seconds", **base) == 2.5
        assert value("etcd_up") == 0 and value("failovers") == 3
        assert value("port_tx_flits", device="s0", port="1",
                     link="s0-s1#1") == 11
        assert found["reflit_port_tx_flits"].unit == "flits"
        assert "SAI_PORT_STAT_LLR_TX_OK" in found["reflit_port_tx_flits"].help
        assert found["reflit_port_held_flits"].kind == "gauge"
        # what may fall is no counter: packets arrive after they were given up
        for name, n in (("under_way", 5), ("reported", 6)):
            name = "traffic_%s_packets" % name
            assert found["reflit_" + name].kind == "gauge", name
            assert value(name) == n
        assert found["reflit_traffic_refused_packets"].kind == "counter"
        assert value("port_round_trip_seconds", port="0") == 1.5e-6
        assert value("core_rx_packets", device="s0") == 2
        assert value("endpoint_rx_ok", endpoint="e0") == 9
        assert value("link_up", link="s0-s1#0") == 0
        assert value("link_up", link="s0-s1#1") == 1
        assert value("link_admin_up", link="s0-s1#1") == 0
        # another process tells of a link that is wholly there
        assert len(found["reflit_link_up"].samples) == 2
        assert value("alarm", alarm="miscabled", severity="critical",
                     where="link s0-s1#1") == 1
        assert [value("alarms", severity=s) for s in (
            "critical", "major", "minor")] == [1, 1, 0]
        for le, n in (("1.023e-06", 1), ("2.047e-06", 3), ("8.191e-06", 6),
                      ("+Inf", 10)):
            assert value("latency_seconds", vc="7", le=le) == n, le
            assert value("latency_seconds", vc="0", le=le) == 0, le
        assert {dict(labels)["vc"] for _, labels in
                found["reflit_latency_seconds"].samples} == {"0", "7"}
        for name, n in (("flows", 2), ("outstanding_flits", 41),
                        ("resend_flits", 6), ("held_flits", 8)):
            name = "class_" + name
            assert found["reflit_" + name].kind == "gauge", name
            assert value(name, **{"class": "15"}) == n, name
        # no digit of a large number is lost
        body = v.ask("/metrics")[2].decode()
        assert " %d\n" % (2 ** 53 + 1) in body


HELP = {
    "source_up": "Whether the process at a telemetry socket answers.",
    "process": "What runs.", "failovers": "Ports that died.",
    "uptime_seconds": "Since the links of this process started.",
    "events": "Events of ports, cores, endpoints, controller.",
    "etcd_up": "Whether etcd answers.",
    "traffic_under_way_packets":
        "Packets sent, and neither delivered nor given up.",
    "traffic_reported_packets":
        "Packets given up openly that have not arrived after all.",
    "alarm": "1 for each alarm that stands now.",
    "alarms": "Alarms that stand now.",
    "link_up": "Whether a link carries traffic.",
    "link_admin_up": "Whether no order keeps a link down.",
    "port_window_flits": "Replay window of a port.",
    "port_held_flits": "Flits in the replay buffer of a port.",
    "port_outstanding_flits": "Of these: not acknowledged.",
    "port_queued_flits": "Flits in the egress queues of a port.",
    "port_flaps": "Deaths of a link within its flap window.",
    "port_round_trip_seconds":
        "Smoothed round trip of a link, as a port sees it.",
    "port_rx_bad": "Counter rx_bad of a port; flits where "
                   "SAI_PORT_STAT_LLR_RX_BAD counts frames.",
    "port_tx_frames": "Counter tx_frames of a port.",
    "core_tx_flits": "Counter tx_flits of the core of a device.",
    "endpoint_rx_ok": "Counter rx_ok of an endpoint.",
    "traffic_refused_packets":
        "Counter refused_packets of all clients of this process.",
    "class_flows": "Flows of a class of service.",
    "class_outstanding_flits":
        "Flits of a class that were sent and not acknowledged.",
    "class_resend_flits": "Of these: to be sent again.",
    "class_held_flits":
        "Flits of a class that wait for those before them, where they arrive.",
    "latency_seconds": "From send to delivery of packets.",
}
COUNTERS = {"failovers", "events", "port_rx_bad", "port_tx_frames",
            "core_tx_flits", "endpoint_rx_ok", "traffic_refused_packets"}
WHO = ("fabric", "process", "socket")


@case
def each_sample_is_the_number_that_its_labels_name_and_no_other():
    told = dict(FABRIC, topology="torus", engine="updown", start_utc="now",
                events=8)
    gauges = ("window", "held", "outstanding", "queued")
    with View(answers={
            "/reflit/fabric": told,
            "/reflit/traffic": {"under_way_packets": 11, "rate": 1.5,
                                "reported_packets": 12, "kind": "x",
                                "refused_packets": 13},
            "/reflit/channel": {"kind": "etcd", "answers": 1},
            "/reflit/alarms": listed(
                alarm=["link-down", "miscabled", "no-path"],
                severity=["major", "critical", "major"],
                where=["w0", "w1", "w2"]),
            "/reflit/links": listed(
                name=["l%d" % i for i in range(6)],
                admin=["up", "up", "drained", "up", "down", "remote"],
                oper=["up", "degraded", "up", "down", "down", "remote"]),
            "/reflit/ports": listed(name=["a/b/0", "none", "s0/31"]),
            "/reflit/port": lambda name: {
                "link": "l" + name[-1], "state": "UP", "flaps": 25,
                **{k + "_flits": 20 + i for i, k in enumerate(gauges)},
                "round_trip_ns": 26, "replay_timer_ns": 9, "tx_epoch": 9,
                "rx_epoch": 9, "rx_bad": 27, "tx_frames": -1},
            "/reflit/devices": listed(name=["s0", "e0"],
                                      kind=["switch", "endpoint"]),
            "/reflit/switch": lambda name: {"tx_flits": 30 + (name == "e0")},
            "/reflit/endpoint": lambda name: {"rx_ok": 33},
            "/reflit/classes": listed(
                cos=[3, 1], flows=[40, 41], outstanding_flits=[42, 43],
                resend_flits=[44, 45], held_flits=[46, 47]),
            "/reflit/histogram": listed(
                upper_ns=[1023, 1024, 2 ** 33 - 1, 2 ** 33],
                vc0_n=[0] * 4, vc3_n=[0, 0, 0, 7], vc5_n=[1, 2, 3, 4])}) as v:
        found = metrics(v)
        where = (FABRIC["config"], "left", v.tel.path)
        text = v.ask("/metrics")[2].decode()
    want = {("source_up", "", ("socket", where[2])): 1}

    def add(name, n, suffix=None, **labels):
        suffix = suffix or ("_total" if name in COUNTERS else "")
        want[name, suffix, *labels.items(), *zip(WHO, where)] = n

    add("process", 1, "_info", version="0.2.0", topology="torus",
        engine="updown", start_utc="now")
    for name, n in (("uptime_seconds", 2.5), ("failovers", 3), ("events", 8),
                    ("etcd_up", 1), ("traffic_under_way_packets", 11),
                    ("traffic_reported_packets", 12),
                    ("traffic_refused_packets", 13)):
        add(name, n)
    for i, (kind, how) in enumerate((("link-down", "major"), ("miscabled",
                                     "critical"), ("no-path", "major"))):
        add("alarm", 1, alarm=kind, severity=how, where="w%d" % i)
    for how, n in (("critical", 1), ("major", 2), ("minor", 0)):
        add("alarms", n, severity=how)
    for i, (oper, admin) in enumerate(((1, 1), (1, 1), (1, 0), (0, 1),
                                       (0, 0))):
        add("link_up", oper, link="l%d" % i)
        add("link_admin_up", admin, link="l%d" % i)
    for device, port in (("a/b", "0"), ("s0", "31")):
        of = dict(device=device, port=port, link="l" + port[-1])
        for i, k in enumerate(gauges):
            add("port_%s_flits" % k, 20 + i, **of)
        for name, n in (("flaps", 25), ("round_trip_seconds", 2.6e-8),
                        ("rx_bad", 27), ("tx_frames", 0)):
            add("port_" + name, n, **of)
    for device in ("s0", "e0"):
        add("core_tx_flits", 30 + (device == "e0"), device=device)
    add("endpoint_rx_ok", 33, endpoint="e0")
    for i, cos in enumerate("31"):
        for k, name in enumerate(("flows", "outstanding_flits", "resend_flits",
                                  "held_flits")):
            add("class_" + name, 40 + 2 * k + i, **{"class": cos})
    for vc, ns in (("0", ()), ("3", 7 * [2 ** 33]), ("5", [
            1023] + 2 * [1024] + 3 * [2 ** 33 - 1] + 4 * [2 ** 33])):
        for b in range(10, 34):
            le = ("%.10g" % ((2 ** b - 1) / 1e9))
            add("latency_seconds", sum(n < 2 ** b for n in ns), "_bucket",
                vc=vc, le=le)
        add("latency_seconds", len(ns), "_bucket", vc=vc, le="+Inf")
    got = {(name[7:], suffix, *labels): n for name, f in found.items()
           for (suffix, labels), n in f.samples.items()}
    want = {k[:2] + tuple(sorted(k[2:])): n for k, n in want.items()}
    assert got == want, sorted(set(got.items()) ^ set(want.items()))
    assert {name[7:]: f.help for name, f in found.items()} == HELP
    for name, f in found.items():
        last = name.rsplit("_", 1)[1]
        assert f.kind == ("info" if name == "reflit_process" else "histogram"
                          if "latency" in name else "counter" if name[7:]
                          in COUNTERS else "gauge"), name
        assert f.unit == (last if last in ("flits", "packets", "seconds",
                                           "frames") else None), name
    # the order of labels, which a reader of the text sees
    assert ('reflit_port_flaps{fabric="a \\"b\\"\\\\c\\n.cfg",process="left",'
            'socket="%s",device="s0",port="31",link="l1"} 25\n' % where[2]
            ) in text, text
    assert 'le="8.589934591"} 6\n' in text and text.count("# EOF") == 1


@case
def metrics_of_a_program_that_is_gone_say_so_and_nothing_else():
    with View(answers=ANSWERS) as v:
        v.tel.stop()
        found = metrics(v)
        assert openmetrics.value(found, "reflit_source_up",
                                 socket=v.tel.path) == 0
        assert list(found) == ["reflit_source_up"], list(found)
        v.tel.listen()
        assert openmetrics.value(metrics(v), "reflit_source_up") == 1
    # another DPDK program's socket is none of ours
    with View(answers={"/reflit/fabric": None}) as v:
        assert metrics(v) == {}
    # answers that are no objects, and lists without columns
    with View(answers={name: [1, "x"] for name in ANSWERS
                       if name != "/reflit/fabric"}) as v:
        assert "reflit_uptime_seconds" in metrics(v)


main()
