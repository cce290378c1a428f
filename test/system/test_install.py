#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""reflit as other software is installed [APP-7]: programs, manual pages,
completion, a unit of systemd, and libraries that a stranger's program is built
against by pkg-config alone.

usage: test_install.py BUILD SOURCE_ROOT
"""
import configparser
import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from cases import Skip, run_cases

BUILD, ROOT = (os.path.abspath(p) for p in sys.argv[1:3])
PROGRAMS = ("reflit", "reflit-sim", "reflit-route", "reflit-bench",
            "reflit-view", "reflit-fault")
EXAMPLES = {"codec": "c", "link": "c", "route": "c", "check": "c",
            "endpoint": "c", "torus": "cpp"}
BOX = tempfile.mkdtemp(prefix="reflit-install-")
DEST = os.path.join(BOX, "dest")


def run(*cmd, **more):
    p = subprocess.run(cmd, capture_output=True, text=True, timeout=120,
                       check=False, **more)
    return p


def good(*cmd, **more):
    p = run(*cmd, **more)
    assert p.returncode == 0, "%s: exit status %d\n%s%s" % (
        " ".join(cmd), p.returncode, p.stdout, p.stderr)
    return p.stdout


def installed(*parts):
    """The one installed file whose path ends so."""
    found = glob.glob(os.path.join(DEST, "**", *parts), recursive=True)
    assert len(found) == 1, (parts, found)
    return found[0]


def environment():
    """As somebody has it who has installed to DEST."""
    env = dict(os.environ)
    bin_dir = os.path.dirname(installed("bin", "reflit"))
    env["PATH"] = bin_dir + os.pathsep + env["PATH"]
    env["PKG_CONFIG_PATH"] = os.path.dirname(
        installed("pkgconfig", "reflit.pc"))
    env["PKG_CONFIG_SYSROOT_DIR"] = DEST
    # where default_library is not static
    env["LD_LIBRARY_PATH"] = os.path.dirname(env["PKG_CONFIG_PATH"])
    env["LC_ALL"] = "C.UTF-8"
    return env


def meson_install_installs():
    good("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", DEST)


def programs_run_from_where_they_are_installed():
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as f:
        version = re.search(r"version: '([^']+)'", f.read()).group(1)
    for name in PROGRAMS:
        out = good(installed("bin", name), "--version")
        assert out.strip() == "%s %s" % (name, version), (name, out)


def what_is_in_python_is_found_where_it_is_installed():
    p = run(installed("bin", "reflit-bench"), "--row", "9x9", "recovery")
    assert p.returncode == 2 and "no row holds '9x9'" in p.stderr, p
    out = good(installed("bin", "reflit-sim"), "scenario", "fig4", "--profile",
               "rxl")
    assert "received in this order: ABCD" in out, out


def an_example_for_each_part_builds_and_runs():
    """Built in a folder of its own, by what pkg-config says."""
    where = os.path.join(BOX, "examples")
    shutil.copytree(os.path.dirname(installed("examples", "Makefile")), where)
    env = environment()
    good("make", "-C", where, env=env)
    for name, kind in EXAMPLES.items():
        out = good(os.path.join(where, name), env=env)
        assert out, name
        with open("%s.%s" % (os.path.join(where, name), kind),
                  encoding="utf-8") as f:
            lines = f.read().count("\n")
        assert lines < 150, "%s has %d lines" % (name, lines)
    p = run(os.path.join(where, "route"), "s0.0-s9.9", env=env)
    assert p.returncode == 1 and "s0.0-s9.9" in p.stderr, p.stderr


def every_header_stands_alone_in_c_and_in_cpp():
    env = environment()
    flags = shlex.split(good("pkg-config", "--cflags", "reflit", env=env))
    headers = glob.glob(os.path.join(
        os.path.dirname(installed("reflit", "rl_codec.h")), "*.h"))
    assert len(headers) > 25, headers
    strict = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only", *flags]
    for path in headers:
        good("cc", "-std=gnu11", *strict, "-x", "c", path)
        # read by a program, so that what it does not use is no news
        good("c++", "-std=c++11", "-Wpedantic", *strict, "-x", "c++",
             "/dev/null", "-include", path)


def symbols(*args):
    """{name: letter} of what a library brings, as nm says it"""
    return {line.split()[2]: line.split()[1]
            for line in good("nm", "--defined-only", *args).split("\n")
            if len(line.split()) == 3}


def the_library_exports_what_its_headers_declare_and_nothing_else():
    declared = set()
    for path in glob.glob(os.path.join(os.path.dirname(
            installed("reflit", "rl_codec.h")), "*.h")):
        with open(path, encoding="utf-8") as f:
            declared |= set(re.findall(r"\b(rl_\w+)\s*\(", f.read()))
    shared = glob.glob(os.path.join(BUILD, "app", "share", "libreflit.so.*"))
    shared = [p for p in shared if os.path.isfile(p) and
              not os.path.islink(p)]
    assert len(shared) == 1, shared
    exported = set(symbols("-D", shared[0]))
    assert len(exported) > 150, exported
    assert exported <= declared, exported - declared
    soname = re.search(r"\(SONAME\).*\[(.*)\]", good("readelf", "-d", shared[0]))
    assert soname.group(1) == "libreflit.so.0", soname
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", good("readelf", "-d", shared[0]))
    assert [n for n in needed if "san" not in n] == ["libc.so.6"], needed
    archive = os.path.join(BUILD, "app", "share", "libreflit.a")
    assert set(symbols("-g", archive)) == exported
    # no code for one version of a compiler alone
    assert ".gnu.lto" not in good("objdump", "-h", archive)


def programs_that_ask_for_one_part_still_build():
    env = environment()
    all_of_it = good("pkg-config", "--libs", "reflit", env=env)
    for part in ("codec", "link", "route", "check"):
        assert good("pkg-config", "--libs", "reflit-" + part,
                    env=env) == all_of_it, part


def private_headers_stay_at_home():
    headers = glob.glob(os.path.join(DEST, "**", "*.h"), recursive=True)
    names = {os.path.basename(h) for h in headers}
    assert all(n.startswith("rl_") for n in names), names
    assert not {n for n in names if n.endswith("_priv.h")}
    assert "rl_plant.h" not in names


def manual_pages_say_what_help_says():
    """One source: every word of --help that names an option is there."""
    for name, words in [(n, ()) for n in PROGRAMS] + [
            ("reflit-sim-rxl", ("rxl",)),
            ("reflit-sim-scenario", ("scenario",)),
            ("reflit-sim-merge", ("merge",))]:
        program = installed("bin", "reflit-sim" if words else name)
        text = good(program, *words, "--help")
        with open(installed("man1", name + ".1"), encoding="utf-8") as f:
            page = f.read().replace("\\-", "-")
        for option in set(re.findall(r"--[a-z][a-z-]+", text)):
            assert option in page, (name, option)
        for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"):
            assert "\n.SH " + heading + "\n" in page, (name, heading)
        if "Exit status:" in text:
            assert "\n.SH EXIT STATUS\n" in page, name


def manual_pages_of_formats_say_what_docs_say():
    if shutil.which("lowdown") is None:
        raise Skip("lowdown is not installed")
    for name, words in (
            ("reflit.cfg.5", ("window_flits", "adaptive", "@include")),
            ("reflit-faults.5", ("heal", "controller crash", "Run lines")),
            ("reflit-prompt.1", ("unquiesce", "inject", "--cmdline-file"))):
        with open(installed("man" + name[-1], name), encoding="utf-8") as f:
            page = f.read()
        for word in words:
            assert word in page, (name, word)
        assert "](" not in page, name


def manual_pages_are_well_formed():
    if shutil.which("man") is None:
        raise Skip("man is not installed")
    env = dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="80")
    for page in glob.glob(os.path.join(DEST, "**", "man[15]", "*.[15]"),
                          recursive=True):
        p = run("man", "--warnings", "-E", "UTF-8", "-l", page, env=env)
        assert p.returncode == 0 and not p.stderr, (page, p.stderr)
        assert "NAME" in p.stdout, page
        good("lexgrog", page)


def complete(line):
    """What bash offers for the last word of a line."""
    words = line.split(" ")
    script = """
        source "$1"; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _reflit "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    return set(good("bash", "-c", script, "bash",
                    installed("completions", "reflit"), *words,
                    env=environment(), cwd=ROOT).split())


def bash_completes_what_help_names():
    assert {"--config", "--json", "--cmdline-file"} <= complete("reflit --")
    assert complete("reflit-route --verif") == {"--verify"}
    assert {"reflit", "torus-2qos", "updown", "minhop"} == \
        complete("reflit-route --engine ")
    assert {"codec", "hop", "sim"} <= complete("reflit-bench ")
    assert {"rxl", "scenario", "ablation"} <= complete("reflit-sim ")
    assert "--table" in complete("reflit-sim rxl --t")
    assert "--table" not in complete("reflit-sim --t")
    assert complete("reflit-route --config config/figure1.cfg --fail s0-s") \
        == {"s0-s1", "s0-s1#0", "s0-s1#1"}
    assert complete("reflit-route --config config/tor") >= {
        "config/torus-4x4.cfg"}
    assert complete("reflit-route --config /nowhere --fail ") == set()


def words_that_completion_lists_are_those_of_help():
    rxl = good(installed("bin", "reflit-sim"), "rxl", "--help")
    for option in ("--table", "--figure"):
        text = re.search(option + r" NAME\S* +([^;]+);", rxl).group(1)
        assert complete("reflit-sim rxl %s " % option) == set(
            text.split(", ")), option
    sim = good(installed("bin", "reflit-sim"), "--help")
    text = re.search(r"--profile NAME +(.+)", sim).group(1)
    assert complete("reflit-sim --profile ") == set(text.split(", "))
    for program, text in ("reflit-sim", sim), (
            "reflit", good(installed("bin", "reflit"), "--help")):
        text = text.split("Patterns of traffic:\n")[1].split("\n\n")[0]
        words = set(re.findall(r"^  ([a-z-]+) - ", text, re.M))
        assert {"uniform", "transpose", "bit-complement"} <= words, text
        assert complete(program + " --traffic ") == words


def every_program_has_its_completion():
    for name in PROGRAMS:
        assert os.path.exists(installed("completions", name)), name


def unit(name):
    found = configparser.ConfigParser(interpolation=None, strict=False)
    found.optionxform = str
    found.read(installed("system", name))
    return found


def unit_command(box, options):
    """The unit's command line, as systemd would expand it for `demo`."""
    words = shlex.split(unit("reflit@.service")["Service"]["ExecStart"])
    known = {"EAL_OPTIONS": ["-l", "0"], "OPTIONS": options}
    etc = os.path.dirname(installed("reflit", "example.cfg"))[len(DEST):]
    command = []
    for word in words:
        if word.startswith("$") and word[1:] in known:
            command += known[word[1:]]
            continue
        word = word.replace("${STATE_DIRECTORY}", box).replace("%i", "demo")
        command.append(word.replace(etc + "/", box + "/"))
    command[0] = DEST + command[0]
    assert not [w for w in command if "$" in w or "%" in w], command
    return command


def unit_environment(box):
    """What the unit sets, and the folder that systemd makes."""
    service = unit("reflit@.service")["Service"]
    os.makedirs(os.path.join(box, service["RuntimeDirectory"].replace(
        "%i", "demo")))
    env = dict(os.environ)
    for word in service["Environment"].split():
        name, value = word.replace("%t", box).replace("%i", "demo").split("=")
        env[name] = value
    return env


def telemetry(box, path):
    """What dpdk-telemetry.py says, which looks where root's programs are"""
    tool = shutil.which("dpdk-telemetry.py")
    if tool is None:
        return None
    p = run(tool, "-f", "demo", input=path + "\nquit\n",
            env=dict(os.environ, RUNTIME_DIRECTORY=box))
    return p.stdout + p.stderr


def the_unit_runs_and_ends_as_systemd_ends_it():
    box = os.path.join(BOX, "unit")
    os.mkdir(box)
    shutil.copy(installed("reflit", "example.cfg"),
                os.path.join(box, "demo.cfg"))
    env = unit_environment(box)
    good(*unit_command(box, ["--duration", "100ms", "--load", "0.01"]),
         env=env)
    report = os.path.join(box, "demo.json")
    with open(report, encoding="utf-8") as f:
        assert json.load(f)["sent_packets"] > 0
    os.remove(report)
    with subprocess.Popen(unit_command(box, ["--progress"]), env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as p:
        p.stdout.readline()  # it is up
        said = telemetry(box, "/reflit/fabric")
        p.send_signal(signal.SIGTERM)
        out = p.communicate(timeout=120)[0]
    assert p.returncode == 0, out
    with open(report, encoding="utf-8") as f:
        assert json.load(f)["program"] == "reflit"
    assert said is None or '"topology"' in said, said


def alerts_and_board_are_installed():
    """Prometheus and Grafana take them from there."""
    for name in ("prometheus.yml", "reflit.rules.yml", "reflit.rules.test.yml",
                 "reflit.dashboard.json"):
        with open(installed("share", "reflit", "metrics", name), "rb") as f, \
                open(os.path.join(ROOT, "examples", "metrics", name),
                     "rb") as g:
            assert f.read() == g.read(), name


def units_agree_on_user_and_folder():
    """reflit-view finds the sockets that reflit@NAME makes, and may open them."""
    fabric = unit("reflit@.service")["Service"]
    view = unit("reflit-view.service")["Service"]
    for key in ("User", "DynamicUser"):
        assert fabric[key] == view[key], key
    assert view["Environment"] == "XDG_RUNTIME_DIR=%t"
    assert "RUNTIME_DIRECTORY=%t " in fabric["Environment"]
    # EAL adds /dpdk/PREFIX to RUNTIME_DIRECTORY
    assert fabric["RuntimeDirectory"] == "dpdk/%i"
    assert " --file-prefix=%i " in fabric["ExecStart"]
    for name in ("reflit@.service", "reflit-view.service"):
        program = shlex.split(unit(name)["Service"]["ExecStart"])[0]
        assert os.access(DEST + program, os.X_OK), program


CASES = (meson_install_installs,
         programs_run_from_where_they_are_installed,
         what_is_in_python_is_found_where_it_is_installed,
         an_example_for_each_part_builds_and_runs,
         every_header_stands_alone_in_c_and_in_cpp,
         the_library_exports_what_its_headers_declare_and_nothing_else,
         programs_that_ask_for_one_part_still_build,
         private_headers_stay_at_home,
         manual_pages_say_what_help_says,
         manual_pages_of_formats_say_what_docs_say,
         manual_pages_are_well_formed,
         bash_completes_what_help_names,
         words_that_completion_lists_are_those_of_help, every_program_has_its_completion,
         alerts_and_board_are_installed, units_agree_on_user_and_folder,
         the_unit_runs_and_ends_as_systemd_ends_it)


def main():
    status = run_cases(CASES)
    shutil.rmtree(BOX, ignore_errors=True)
    return status


sys.exit(main())
