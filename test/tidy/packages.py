#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What debian/ says fits the tree [APP-7]: fields can be read, versions agree, and
each file that meson installs is in one package. devtools/package.sh builds them.

    packages.py SOURCE_ROOT BUILD        the check
    packages.py SOURCE_ROOT BUILD -t     breaks debian/, which must be found
"""
import fnmatch
import json
import os
import re
import sys

ROOT, BUILD = (os.path.abspath(p) for p in sys.argv[1:3])
# default_library says which of them are built
MAY_LACK = {"usr/lib/*/libreflit.a", "usr/lib/*/libreflit.so",
            "usr/lib/*/libreflit.so.*"}
# libdpdk, libcurl, ...: the package that brings what meson asks for
NAMES = {"libcurl": "libcurl4-openssl-dev", "openssl": "libssl-dev",
         "libcrypto": "libssl-dev"}
NOT_BUILT = {"cmocka", "threads"}  # -Dtests=false; libc


def read(*parts):
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as f:
        return f.read()


def info(name):
    with open(os.path.join(BUILD, "meson-info", name),
              encoding="utf-8") as f:
        return json.load(f)


def tree():
    """{name: text} of debian/."""
    folder = os.path.join(ROOT, "debian")
    return {n: read("debian", n) for n in sorted(os.listdir(folder))
            if os.path.isfile(os.path.join(folder, n))}


def paragraphs(text):
    """[{field: value}] of a control file; a line that is neither is an error"""
    found = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        fields, last = {}, None
        for line in block.split("\n"):
            m = re.match(r"([A-Z][A-Za-z-]*): ?(.*)$", line)
            if m and m.group(1) not in fields:
                last = m.group(1)
                fields[last] = m.group(2)
            elif m is None and last and re.match(r"[ \t]+\S", line):
                fields[last] += "\n" + line
            else:
                raise ValueError(line)
        found.append(fields)
    return found


def control(debian):
    try:
        source, *binary = paragraphs(debian["control"])
    except ValueError as why:
        return ["control: cannot be read at: %s" % why]
    bad = []
    for field in ("Source", "Maintainer", "Build-Depends",
                  "Standards-Version"):
        if field not in source:
            bad.append("control: the source has no " + field)
    names = [p.get("Package") for p in binary]
    if names != ["reflit", "libreflit0", "libreflit-dev", "reflit-doc"]:
        bad.append("control: packages are %s" % names)
    for p in binary:
        for field in ("Architecture", "Description", "Depends"):
            if field not in p:
                bad.append("control: %s has no %s" % (p.get("Package"), field))
    needs = set(re.findall(r"[a-z0-9][a-z0-9+.-]+",
                           source.get("Build-Depends", "")))
    for dep in info("intro-dependencies.json"):
        if dep.get("type", "pkgconfig") != "pkgconfig":
            continue  # meson 1.7 names parts of the tree, too
        name = dep["name"]
        package = NAMES.get(name, "lib%s-dev" % re.sub("^lib", "", name))
        if name not in NOT_BUILT and package not in needs:
            bad.append("control: Build-Depends lacks %s, for %s" % (
                package, name))
    return bad


def versions(debian):
    version = info("intro-projectinfo.json")["version"]
    m = re.match(r"reflit \((\S+)\) ", debian["changelog"])
    bad = []
    if not m or m.group(1) != version:
        bad.append("changelog: begins with %s, meson.build says %s" % (
            m.group(1) if m else "no version", version))
    page = re.search(r"^## (\S+)", read("CHANGELOG.md"), re.M).group(1)
    if page != version:
        bad.append("CHANGELOG.md begins with %s, meson.build says %s" % (
            page, version))
    return bad


def installed():
    """Paths as the package build has them."""
    options = {o["name"]: o["value"] for o in info("intro-buildoptions.json")}
    for path in info("intro-installed.json").values():
        path = os.path.relpath(path, options["prefix"])
        path = re.sub("^%s/" % re.escape(options["libdir"]), "lib/ARCH/", path)
        path = re.sub(r"^(\.\./)*etc/", "etc/", path)
        yield path if path.startswith("etc/") else "usr/" + path


def lists(debian):
    words = []  # (pattern, file of debian/)
    for name, text in debian.items():
        if name.endswith(".install") or name == "not-installed":
            words += [(w, name) for w in text.split()]
    bad, used = [], set()
    for path in installed():
        if path.startswith("usr/lib/systemd/"):  # debian/rules says where
            if os.path.basename(path) not in debian["rules"]:
                bad.append("rules: nothing about " + path)
            continue
        homes = [(w, name) for w, name in words
                 if fnmatch.fnmatch(path, w) or fnmatch.fnmatch(path, w + "/*")]
        # a file named on its own is not part of a pattern
        homes = [h for h in homes if h[1] == "not-installed"] or homes
        used |= set(homes)
        if len(homes) != 1:
            bad.append("%s is in %s" % (path, homes or "no package"))
    for word, name in words:
        if (word, name) not in used and word not in MAY_LACK:
            bad.append("%s: nothing is called %s" % (name, word))
    return bad


def check(debian):
    return control(debian) + versions(debian) + lists(debian)


def plant():
    """Each fault, and a word of what must be said of it."""
    for name, old, new, said in (
            ("control", "Maintainer:", "Maintainer", "cannot be read"),
            ("control", " libpcap-dev,\n", "", "libpcap-dev"),
            ("control", "Package: libreflit0", "Package: libreflit1",
             "libreflit1"),
            ("changelog", "reflit (", "reflit (9", "changelog: begins with 9"),
            ("reflit.install", "usr/bin", "usr/sbin", "in no package"),
            ("reflit-doc.install", "usr/share/doc/reflit/docs",
             "usr/share/doc/reflit/pages", "nothing is called"),
            ("libreflit-dev.install", "usr/include", "usr/include\nusr/bin",
             "usr/bin/reflit is in"),
            ("rules", "reflit-view.service", "view.service", "reflit-view")):
        debian = tree()
        assert old in debian[name], (name, old)
        debian[name] = debian[name].replace(old, new)
        found = check(debian)
        assert any(said in line for line in found), (name, new, found)
    print("8 faults of debian/ are found")


def main():
    if sys.argv[3:] == ["-t"]:
        plant()
        return 0
    found = check(tree())
    for line in found:
        print(line)
    print("debian/: %d findings" % len(found))
    return 1 if found else 0


sys.exit(main())
