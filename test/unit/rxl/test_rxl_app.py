#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""reflit-sim rxl from the command line to its files [EVAL-1, EVAL-4]: what is
refused, what is kept, and that a stopped run goes on where it was.

usage: test_rxl_app.py DRIVER_FOLDER REFLIT_SIM
"""
import dataclasses
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

FOLDER, SIM = sys.argv[1], os.path.abspath(sys.argv[2])
sys.path.insert(0, FOLDER)
import figures    # noqa: E402  (the folder is an argument)
import options    # noqa: E402
import paper      # noqa: E402
import plan       # noqa: E402
import reports    # noqa: E402
import run as runs  # noqa: E402
from table import Table  # noqa: E402

BOX = None  # a folder for each test


def rxl(*args, program=SIM, **kw):
    return subprocess.run([program, "rxl", *args], capture_output=True,
                          text=True, check=False, **kw)


def run(words, *more):
    """`rxl ARGS --out BOX`, words apart by one space."""
    return rxl(*words.split(), *more, "--quiet", "--jobs", "1", "--out", BOX)


def good(words, *more):
    p = run(words, *more)
    assert p.returncode == 0, (words, p.returncode, p.stderr)
    return p


def in_box(name):
    return os.path.join(BOX, name)


def exists(name):
    return os.path.exists(in_box(name)) and os.path.getsize(in_box(name)) > 0


def refused(words):
    """What is said of them."""
    err, sys.stderr = sys.stderr, io.StringIO()
    try:
        options.parse(words)
    except options.Unusable as e:
        return sys.stderr.getvalue() + str(e)
    finally:
        sys.stderr = err
    raise AssertionError("%s was taken" % words)


def unusable_arguments_are_refused_before_anything_is_run():
    for words, what in (
            ("--table 0", "no such table"), ("--table 10", "no such table"),
            ("--table nonsense", "no such table"),
            ("--figure 7", "no such figure"), ("--figure 5a", "scenario fig4"),
            ("--figure 4", "scenario fig4"), ("--ber x", "less than 0.5"),
            ("--ber -1e-6", "less than 0.5"), ("--ber 0.5", "less than 0.5"),
            ("--ber nan", "less than 0.5"), ("--levels 9", "of 0 to 8"),
            ("--levels -1", "of 0 to 8"), ("--coalesce 0", "of 1 to 256"),
            ("--coalesce 257", "of 1 to 256"), ("--propagate 1", "less than 1"),
            ("--lanes 3", "use 1, 2, 4, 8 or 16"), ("--lanes 32", "of 1 to 16"),
            ("--lost 1", "less than 1"), ("--retry sometimes", "use go-back-n"),
            ("--profile tcp", "use rxl,"), ("--crc crc32", "use crc64-ecma"),
            ("--isn 12", "use xor10"), ("--jobs 0", "of 1 to 64"),
            ("--jobs 65", "of 1 to 64"), ("--flits 10", "of 1000 to"),
            ("--seed 1x", "whole number"), ("--seed 1_0", "whole number"),
            ("--frobnicate", "no option"), ("--tabel 1", "mean --table?"),
            ("--l 1", "may be"), ("--quick=1", "takes no argument"),
            ("-x", "no option -x"), ("word", "unexpected word"),
            ("--crc pcie6-rs --isn wide", "does not go with"),
            ("--crc crc64-ecma --isn wide19", "does not go with")):
        assert what in refused(words.split()), words
    assert "--seed needs an argument" in refused(["--seed"])
    for words in ("--ber x", "--tabel 1"):
        p = run(words)
        assert p.returncode == 2 and refused(words.split()) in p.stderr, p
    assert not exists("state.jsonl")


def numbers_are_read_as_everywhere():
    for words, value in (("010", 8), ("0x10", 16), ("+7", 7), (" 7", 7)):
        assert options.parse(["--seed", words]).base.seed == value, words
    assert options.parse(["--lev=3", "--ber", "1e-3"]).base.levels == 3


def help_is_given_and_is_no_error():
    p = run("--help")
    assert p.returncode == 0 and "--byte-bursts P" in p.stdout, p


def without_its_program_it_says_what_is_missing():
    alone = in_box("reflit-sim")
    shutil.copy(SIM, alone)
    p = rxl("--help", program=alone)
    assert p.returncode == 2 and "there is no rxl.py in" in p.stderr, p


def without_any_python_it_says_what_is_missing():
    # root needs no user namespace, and others have none in a root of their own
    apart = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c"]
    p = subprocess.run([*apart, "true"], capture_output=True, text=True,
                       check=False)
    if p.returncode != 0:
        print("[  SKIPPED ] without_any_python_it_says_what_is_missing: no "
              "mount namespaces here", flush=True)
        return
    # the system's is not there, and PATH has none
    python = os.path.realpath("/usr/bin/python3")
    hide = ("mount --bind /dev/null %s && PATH=%s exec %s rxl --help"
            % (python, BOX, SIM))
    p = subprocess.run([*apart, hide if os.path.exists(python)
                        else hide.split("&& ")[1]],
                       capture_output=True, text=True, check=False)
    assert p.returncode == 2 and "needs python3" in p.stderr, p


def the_equations_need_no_simulation_and_no_files():
    p = good("--table equations")
    assert "Equations 1 to 14" in p.stdout, p.stdout
    assert not exists("state.jsonl") and not exists("equations.csv")


def a_point_of_ones_own_is_run_reported_and_written():
    good("--profile cxl --levels 2 --ber 1e-4 --flits 300000", "--json",
         in_box("r.json"))
    assert exists("point.csv") and exists("state.jsonl")
    with open(in_box("r.json"), encoding="utf-8") as f:
        r = json.load(f)
    assert len(r["tables"]["point"]["rows"]) == 11, r
    assert r["compared"] >= 8 and r["arguments"][:2] == ["rxl", "--profile"], r
    p = good("--profile cxl --levels 2 --ber 1e-4 --flits 300000", "--json",
             "-")
    assert json.loads(p.stdout)["tables"] == r["tables"], p.stdout
    assert "One point" in p.stderr, p.stderr


def other_codes_error_models_and_drop_reports_can_be_tried():
    for words in ("--crc crc64-ecma --isn xor10 --ber 3e-5",
                  "--crc pcie6-rs --isn xor10 --ber 3e-5 --retry selective",
                  "--isn wide19 --ber 3e-5",
                  "--propagate 0.8 --lanes 16 --ber 1e-5",
                  "--byte-bursts 1e-3 --ber 0",
                  "--inside 1e-3 --lost 1e-4 --levels 3",
                  "--retry selective --drop-reports --levels 4 --ber 3e-5",
                  "--seed 18446744073708551615",
                  "--profile rxl-compact --coalesce 4"):
        good(words + " --flits 100000")


def known(build=None):
    """Keys that this program finds in the state; or one of another build."""
    s = runs.Store(in_box("state.jsonl"), build or runs.build_of(SIM))
    s.close()
    return sorted(s.known), s.foreign


def what_another_build_has_measured_is_not_printed_as_measured():
    good("--profile rxl --ber 1e-4 --flits 20000")
    assert known("0123456789abcdef") == ([], 2)
    keys, foreign = known()
    assert len(keys) == 2 and foreign == 0, keys


def what_was_simulated_before_is_not_simulated_again():
    words = "--profile rxl --levels 1 --ber 1e-4 --flits 50000"
    good(words)
    first = known()
    assert len(first[0]) == 2, first
    size = os.path.getsize(in_box("state.jsonl"))
    good(words)
    assert os.path.getsize(in_box("state.jsonl")) == size
    # another seed is another case; --fresh forgets
    good(words + " --seed 2")
    assert len(known()[0]) == 4
    good(words + " --fresh")
    assert known() == first


def a_folder_that_cannot_be_written_is_an_error():
    p = rxl("--ber", "1e-5", "--flits", "1000", "--quiet", "--out",
            "/proc/nonexistent")
    assert p.returncode == 2 and "cannot make the folder" in p.stderr, p


def outcomes_come_back_as_they_were_kept_but_for_broken_lines():
    a, b = {"naks": 1}, {"naks": 2}
    path = in_box("s")

    def keep(key, outcome):
        s = runs.Store(path, "b")
        s.add(key, outcome)
        s.close()

    keep("one", a)
    with open(path, "a", encoding="utf-8") as f:
        f.write('not json\n{"key":"two","format":1,"build":"b","v":[1]}\n'
                '{"key":"three","format":999,"build":"b"}\n\n[]\n')
    keep("four", b)
    with open(path, "a", encoding="utf-8") as f:
        f.write('{"key":"five","form')  # killed while writing
    s = runs.Store(path, "b")
    s.close()
    assert s.known == {"one": a, "four": b}, s.known


def every_parameter_of_a_case_is_in_its_key():
    base = plan.Case()
    other = {"kind": "path", "profile": "cxl", "retry": "selective",
             "crc": "crc64-ecma", "isn": "xor10", "reports": True}
    for field in dataclasses.fields(base):
        value = other.get(field.name)
        if value is None and field.name != "group":
            value = getattr(base, field.name) + (
                0.5 if isinstance(getattr(base, field.name), float) else 1)
        if value is not None:
            c = dataclasses.replace(base, **{field.name: value})
            assert c.key() != base.key(), field.name


class Quiet:
    """Signals that never come."""
    asked, workers = False, []


def two_seeds_and_lengths_of_one_case_are_summed():
    cases = [plan.Case(group=plan.LONG, kind="path", flits=20000, seed=s)
             for s in (1, 2, 3)]
    cases.append(dataclasses.replace(cases[0], levels=1))
    store = runs.Store(None, "b")
    runs.Runner(cases, store, False, Quiet()).run(SIM, 2)
    assert len(store.known) == 4
    e = reports.Eval(cases, store.known, None)
    assert [(c.levels, o["path"]["slots"]) for c, o in e.each(plan.LONG)] == [
        (0, 60000), (1, 20000)]


def a_simulation_that_fails_is_named():
    bad = [plan.Case(kind="path", profile="tcp", flits=20000)]
    try:
        runs.Runner(bad, runs.Store(None, "b"), False, Quiet()).run(SIM, 1)
    except runs.Failed as e:
        assert str(e) == "not a case", e
    else:
        raise AssertionError("it was taken for a case")


def the_interval_of_a_loss_is_that_of_its_retries():
    o = {"path": {"delivered": 900, "slots": 1000, "control": 30,
                  "duplicates": 0}, "naks": 30, "timeouts": 70}
    r = reports.loss_of(o)
    # no ACK goes alone: 100 retries, all of the loss is theirs
    assert abs(r.rate - 0.1) < 1e-9
    assert abs(r.lo - (0.1 - 0.1 * 0.196)) < 1e-9
    assert abs(r.hi - (0.1 + 0.1 * 0.196)) < 1e-9
    # 90 ACKs alone are as many slots, and nothing random about them
    o["path"]["control"] = 120
    r = reports.loss_of(o)
    assert abs(r.rate - 0.1) < 1e-9
    assert abs(r.hi - r.rate - 0.196 * (0.1 - 1.0 / 11)) < 1e-9
    o["naks"] = o["timeouts"] = 0
    r = reports.loss_of(o)
    assert r.lo == r.rate == r.hi


def rows_that_cannot_miss_are_not_counted_among_those_that_hold():
    """What cannot miss proves nothing, and is told apart [EVAL-1]."""
    e = reports.Eval([], {}, None)
    held = sure = 0
    for n, (rate, lo, hi, computed, holds, cannot_miss) in enumerate((
            (0.5, 0.4, 0.6, 0.45, True, False),
            (0.5, 0.4, 0.6, 0.39, False, False),
            (0, 0, 0.1, 0.05, True, False), (0, 0, 0.1, 0, True, True),
            (0.1, 0.01, 0.2, 0, False, False))):
        e.rate(paper.Rate(0, 0, rate, lo, hi), computed)
        held += holds
        sure += cannot_miss
        assert (e.compared, e.held, e.sure) == (n + 1, held, sure), n


def tables_are_printed_and_written_as_csv_and_json():
    t = Table("t", "T", ("a", "%.1f"), ("b", ""), ("c", "%.1f"))
    t.row(0.5, 'x, "y"', True)
    t.row(1e-9, None, paper.NAN)
    t.note("n %d", 1)
    t.csv(in_box("t.csv"))
    with open(in_box("t.csv"), encoding="utf-8") as f:
        assert f.read() == 'a,b,c\n0.5,"x, ""y""",1\n1e-09,,\n'
    assert t.json()["rows"][1] == {"a": 1e-9, "b": None, "c": None}
    out = io.StringIO()
    t.print(out)
    assert out.getvalue() == ("\nT\n    a       b    c\n"
                              "  0.5  x, \"y\"  yes\n"
                              "  0.0       -    -\n  * n 1\n"), out.getvalue()


def gnuplot_draws_a_picture_in_all_forms_and_its_errors_are_ours():
    """[EVAL-4] Without gnuplot there is nothing to draw with."""
    with open(in_box("line.csv"), "w", encoding="utf-8") as f:
        f.write("1 2\n2 3\n")
    try:
        figures.draw("line", BOX, "plot 'line.csv' with lines\n")
    except figures.NoGnuplot:
        assert exists("line.gp")
        print("no gnuplot here")
        return
    assert all(exists("line." + form) for form in ("gp", "svg", "png", "pdf"))
    for name, folder, script in (("line", BOX, "plot 'nothing.csv'\n"),
                                 ("line", BOX, None),
                                 ("rates", "/nonexistent", None)):
        try:
            figures.draw(name, folder, script)
        except OSError:
            continue
        raise AssertionError((name, folder, script))


for case in (unusable_arguments_are_refused_before_anything_is_run,
             numbers_are_read_as_everywhere, help_is_given_and_is_no_error,
             without_its_program_it_says_what_is_missing,
             without_any_python_it_says_what_is_missing,
             the_equations_need_no_simulation_and_no_files,
             a_point_of_ones_own_is_run_reported_and_written,
             other_codes_error_models_and_drop_reports_can_be_tried,
             what_another_build_has_measured_is_not_printed_as_measured,
             what_was_simulated_before_is_not_simulated_again,
             a_folder_that_cannot_be_written_is_an_error,
             outcomes_come_back_as_they_were_kept_but_for_broken_lines,
             every_parameter_of_a_case_is_in_its_key,
             two_seeds_and_lengths_of_one_case_are_summed,
             a_simulation_that_fails_is_named,
             the_interval_of_a_loss_is_that_of_its_retries,
             rows_that_cannot_miss_are_not_counted_among_those_that_hold,
             tables_are_printed_and_written_as_csv_and_json,
             gnuplot_draws_a_picture_in_all_forms_and_its_errors_are_ours):
    print("[ RUN      ]", case.__name__, flush=True)
    with tempfile.TemporaryDirectory(prefix="rxl-test-") as BOX:
        case()
