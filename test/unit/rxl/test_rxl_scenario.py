#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figures 4, 5a and 5b of the RXL paper [EP-5, EP-3, FLIT-5]: with cxl each
failure happens as drawn there, with every other profile none does.

usage: test_rxl_scenario.py REFLIT_SIM
"""
import json
import os
import subprocess
import sys
import tempfile

SIM = os.path.abspath(sys.argv[1])
SOUND = ("rxl", "rxl-compact", "cxl-sep-ack")


def run(*words):
    return subprocess.run([SIM, "scenario", *words], capture_output=True,
                          text=True, check=False, timeout=60)


def play(figure, profile, status):
    """@return what was drawn, and the report"""
    with tempfile.TemporaryDirectory() as box:
        path = os.path.join(box, "r.json")
        p = run(figure, "--profile", profile, "--json", path)
        assert p.returncode == status, p
        with open(path, encoding="utf-8") as f:
            r = json.load(f)
    # the flit that the figure is about was dropped, and came in the end
    assert "X" in p.stdout and "dropped" in p.stdout and not r["missing"], p
    assert r["sound"] == (status == 0), r
    assert r["arguments"][:2] == ["scenario", figure], r
    return p.stdout, r


def figure_4_with_cxl_sends_flit_2_up_before_flit_1():
    drawn, r = play("fig4", "cxl", 1)
    assert r["received"] == "ACBCD", r
    assert (r["out_of_order"], r["received_again"]) == (1, 1), r
    # as drawn: #2 carries AckNum 100, and #3 gives the loss away
    for text in ("#2 C [ack 100]", "#3 D [seq 3]", "NAK: all from 1",
                 "#1 B [seq 1] |o---X dropped "):
        assert text in drawn, drawn


def figure_5a_with_cxl_executes_request_c_twice():
    drawn, r = play("fig5a", "cxl", 1)
    assert r["received"] == "ACBCD" and r["received_again"] == 1, r
    # the paper's four data for three requests: A, C, B and C
    assert r["data"] == "ACBCD" and r["unexpected_data"] == 1, r
    assert "#2 read C [ack 0]" in drawn, drawn


def figure_5b_with_cxl_gives_data_of_one_queue_out_of_order():
    drawn, r = play("fig5b", "cxl", 1)
    assert r["received"] == "ACBCD" and r["out_of_order"] == 1, r
    assert "queue 2 gets C FOR AN OLDER LINE" in drawn, drawn


def with_every_other_profile_each_flit_goes_up_once_and_in_order():
    for figure in ("fig4", "fig5a", "fig5b"):
        for profile in SOUND:
            drawn, r = play(figure, profile, 0)
            assert r["received"] == "ABCD", (figure, profile, r)
            assert "NAK: all from 1" in drawn, drawn


def no_figure_leaks_with_any_profile():
    """Asked of the process that plays them: with cxl, where `sound` is false
    in any case, the report does not tell."""
    asked = [{"scenario": {"figure": figure, "profile": profile}}
             for figure in ("fig4", "fig5a", "fig5b")
             for profile in ("cxl", *SOUND)]
    p = subprocess.run([SIM, "rxl-points"], capture_output=True, text=True,
                       input="".join(json.dumps(a) + "\n" for a in asked),
                       check=False, timeout=60)
    assert p.returncode == 0, p  # sanitizers find what else leaks
    answers = [json.loads(line) for line in p.stdout.splitlines()]
    assert len(answers) == len(asked), p
    for what, answer in zip(asked, answers):
        assert answer["leak"] is False and answer["events"], (what, answer)


def the_exit_status_tells_what_happened():
    for words, status in (
            ("fig4 --profile cxl", 1), ("fig4 --profile rxl", 0),
            ("--profile rxl-compact fig5a", 0), ("fig5b", 1), ("--help", 0),
            ("", 2), ("fig6", 2), ("fig4 fig5a", 2), ("fig4 --profile tcp", 2),
            ("fig4 --frob", 2), ("fig4 --json /nonexistent/x.json", 2)):
        p = run(*words.split())
        assert p.returncode == status, (words, p)
        assert (p.stderr.count("\n") == 1) == (status == 2), (words, p)
        assert (p.stdout == "") == (status == 2), (words, p)
    p = run("fig4", "--json", "-")
    assert json.loads(p.stdout)["received"] == "ACBCD", p
    assert "received in this order: ACBCD" in p.stderr, p


for case in (figure_4_with_cxl_sends_flit_2_up_before_flit_1,
             figure_5a_with_cxl_executes_request_c_twice,
             figure_5b_with_cxl_gives_data_of_one_queue_out_of_order,
             with_every_other_profile_each_flit_goes_up_once_and_in_order,
             no_figure_leaks_with_any_profile,
             the_exit_status_tells_what_happened):
    case()
    print("[       OK ] %s" % case.__name__)
