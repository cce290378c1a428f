#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every program that scripts, tests, programs and docs execute is there on a
fresh machine: it comes from a package that devtools/install.sh names, from one
that such a package depends on, or from one that no Debian is without.

    programs.py ROOT        the check; exits with 1 where a program has no home
    programs.py ROOT -l     also lists every program, its package and its users
    programs.py ROOT -t     plants unknown programs, which must be found

And whatever of this tree a doc calls by its path alone can be executed.

What is read: command words of shell scripts and of shell blocks in Markdown;
words given to subprocess, os.exec* and shutil.which in Python, also through
functions of the same file that pass them on; the names given to exec*p(),
popen(), system() and posix_spawnp() in C. Words that a program computes are
not seen; devtools/fresh.sh runs everything on a machine that has nothing else.

A folder whose scripts bring packages of their own says so in OWN_PACKAGES.
Exits with 77 where dpkg is not there to ask.
"""
import functools
import os
import re
import shutil
import subprocess
import sys

import program_words

# folder -> the script whose `packages` its scripts install for themselves
OWN_PACKAGES = {
    "devtools/peers/": "devtools/peers/",
}
# program -> package, of those that a machine need not have: what needs them is
# skipped, or installs them itself
OPTIONAL = {
    "chromium": "chromium",
    "chromedriver": "chromium-driver",
    "mmdebstrap": "mmdebstrap",
    "mount": "mount",
    "opensm": "opensm",
    "ibsim": "ibsim-utils",
    "ibnetdiscover": "infiniband-diags",
    "dump_lfts": "infiniband-diags",
    "smpquery": "infiniband-diags",
    "saquery": "infiniband-diags",
    "clang": "clang",
    "iperf3": "iperf3",
    "tshark": "tshark",
    "prometheus": "prometheus",
    "promtool": "prometheus",
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "qemu-aarch64": "qemu-user",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
    "aarch64-linux-gnu-nm": "gcc-aarch64-linux-gnu",  # it depends on binutils
}
# a Debian without it is none that anything can be installed on
ALWAYS = {"apt"}
# asked for before they are used; who has none is served as well
ASKED_FOR = {"sudo", "ccache", "gdb"}
SKIP = 77


def run(*cmd):
    return subprocess.run(cmd, capture_output=True, text=True,
                          check=False).stdout


def sources(root):
    out = run("git", "-C", root, "ls-files", "-co", "--exclude-standard")
    names = out.split("\n")
    if not out:  # not a checkout: a tarball
        names = []
        for base, dirs, found in os.walk(root):
            dirs[:] = [d for d in dirs if not d.startswith("build")]
            names += [os.path.relpath(os.path.join(base, f), root)
                      for f in found]
    for name in sorted(names):
        path = os.path.join(root, name)
        if os.path.isfile(path):
            yield name, path


@functools.cache
def users(root):
    """{program: [file:line]}"""
    found = {}
    for name, path in sources(root):
        kind = program_words.kind_of(name, path)
        if kind is None:
            continue
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read()
        try:
            words = kind(text)
        except SyntaxError as why:
            raise SystemExit("%s: %s" % (name, why))
        for line, word in words:
            found.setdefault(word, []).append("%s:%d" % (name, line))
    return found


class Packages:
    """What dpkg knows of this machine."""

    def __init__(self, named):
        self.depends, self.provided, self.always = {}, {}, set(ALWAYS)
        self.brings, self.asked = {}, set()  # path -> packages
        out = run("dpkg-query", "-W", "-f",
                  "${Package}\t${Essential}\t${Priority}\t"
                  "${Pre-Depends}, ${Depends}\t${Provides}\n")
        for line in out.split("\n"):
            if line.count("\t") != 4:
                continue
            name, essential, priority, depends, provides = line.split("\t")
            self.depends[name] = re.findall(
                r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)", depends)
            for virtual in re.findall(r"[a-z0-9][a-z0-9+.-]+", provides):
                self.provided.setdefault(virtual, []).append(name)
            if essential == "yes" or priority == "required":
                self.always.add(name)
        self.allowed = self.closure(list(named) + sorted(self.always))

    def closure(self, names):
        done = set()
        while names:
            name = names.pop()
            if name in done:
                continue
            done.add(name)
            names += self.depends.get(name, [])
            names += self.provided.get(name, [])
        return done

    @staticmethod
    def paths(program):
        """Names that dpkg may know this program of PATH by."""
        where = shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin:" +
                             os.environ.get("PATH", ""))
        if where is None:
            return set()
        paths = {where, os.path.realpath(where)}
        paths |= {p[4:] for p in paths if p.startswith("/usr/")}
        paths |= {"/usr" + p for p in paths if not p.startswith("/usr/")}
        return paths

    def look_up(self, programs):
        """Asks dpkg once for all of them: it reads all its lists each time."""
        paths = set().union(*map(self.paths, programs)) - self.asked
        self.asked |= paths
        out = run("dpkg-query", "-S", *sorted(paths)) if paths else ""
        for line in out.split("\n"):
            if ": " not in line or line.startswith("diversion"):
                continue
            names, path = line.rsplit(": ", 1)
            self.brings.setdefault(path, set()).update(
                name.strip().split(":")[0] for name in names.split(","))

    def owners(self, program):
        """Packages whose file this program of PATH is; None: it is not there"""
        paths = self.paths(program)
        if not paths:
            return None
        return set().union(*(self.brings.get(p, ()) for p in paths))


@functools.cache
def packages_of(root):
    return Packages(run("sh", os.path.join(root, "devtools", "install.sh"),
                        "--list").split())


def own_packages(root):
    """{folder or file: text of the scripts that install for it}"""
    texts = {}
    for key, where in OWN_PACKAGES.items():
        path = os.path.join(root, where)
        names = [path] if os.path.isfile(path) else [
            os.path.join(path, n) for n in os.listdir(path)
            if n.endswith(".sh")] if os.path.isdir(path) else []
        texts[key] = ""
        for name in names:
            with open(name, encoding="utf-8") as f:
                texts[key] += f.read()
    return texts


def judge(program, where, packages, own):
    """@return (package or "", complaint or "")"""
    if program in ASKED_FOR:
        return "(where there is one)", ""
    owners = packages.owners(program)
    if owners and owners & packages.allowed:
        return sorted(owners & packages.allowed)[0], ""
    package = OPTIONAL.get(program)
    if package in packages.allowed:
        return package + " (install.sh --tests)", ""
    if package is not None:
        for text in own.values():
            if re.search(r"(^|[\s\"=])%s($|[\s\"])" % re.escape(package),
                         text, re.M):
                return package + " (installed by who needs it)", ""
        return "", "no script installs %s, which %s comes from" % (package,
                                                                   program)
    if owners is None:
        return "", "%s is not on this machine: no package of install.sh " \
            "brings it" % program
    return "", "%s comes from %s, which install.sh does not name" % (
        program, ", ".join(sorted(owners)) or "no package")


def check(root, more=(), verbose=False):
    """@return (programs seen, complaints)"""
    packages, own = packages_of(root), own_packages(root)
    found = {word: list(where) for word, where in users(root).items()}
    for word, where in more:
        found.setdefault(word, []).append(where)
    packages.look_up(found)
    bad = []
    for program in sorted(found):
        package, complaint = judge(program, found[program], packages, own)
        if complaint:
            bad.append("%s: %s" % (found[program][0], complaint))
        elif verbose:
            print("%-16s %-28s %s" % (program, package, ", ".join(
                sorted({w.split(":")[0] for w in found[program]})[:4])))
    return len(found), bad


def called(text):
    """Paths that a doc calls: what begins a line of a block, or a span."""
    lines = re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
    spans = re.findall(r"`(devtools/[^`\n]+)`", text)
    for line in "\n".join(lines).split("\n") + spans:
        m = re.match(r"\s*(?:\./)?((?:devtools|test|\.ci)/[\w./-]+)", line)
        if m:
            yield m.group(1)


def is_script(path):
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as f:
        return f.read(2) == b"#!"


def unrunnable(root, runs=os.access):
    """@return complaints about files that docs call and nobody may execute"""
    bad = set()
    for name, path in sources(root):
        if not name.endswith(".md"):
            continue
        with open(path, encoding="utf-8") as f:
            for word in called(f.read()):
                at = os.path.join(root, word)
                if is_script(at) and not runs(at, os.X_OK):
                    bad.add("%s: %s is not executable" % (name, word))
    return sorted(bad)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    if shutil.which("dpkg-query") is None:
        print("skipped: dpkg-query is not installed")
        return SKIP
    if "-t" in sys.argv:
        if not unrunnable(root, lambda path, how: "mutate" not in path):
            print("not found: a program of the tree without the right to run")
            return 1
        return program_words.self_test(
            lambda more: check(root, more)[1])
    n, bad = check(root, verbose="-l" in sys.argv)
    bad += unrunnable(root)
    for line in bad:
        print(line)
    print("%d programs, %d findings" % (n, len(bad)))
    return 1 if bad or not n else 0


if __name__ == "__main__":
    sys.exit(main())
