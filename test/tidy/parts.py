# SPDX-License-Identifier: BSD-3-Clause
"""Each part of a port is written by its own file alone (lib/link/port_priv.h),
or by inline functions that bear that file's name. -t tests the test.

usage: parts.py SOURCE_ROOT [-t]
"""

import glob
import os
import re
import sys

FOLDER = "lib/link"
HEADER = os.path.join(FOLDER, "port_priv.h")
# "/** What it is (port_rx.c). */" before a struct, which is a member of a port
STRUCT = re.compile(r"/\*\*(?:(?!\*/).)*\((port_\w+)\.c\)\. \*/\n"
                    r"struct (port_\w+) \{", re.S)
MEMBER = re.compile(r"^\tstruct (port_\w+) (\w+);", re.M)
WRITE = re.compile(r"(\+\+|--)?\bport->(\w+)((?:\.|->|\[[^\]]*\]|\w+)*)\s*"
                   r"(\+\+|--|(?:[-+*|&^]|<<|>>)?=(?!=))?")
# a pointer by which a part may be written
LENT = re.compile(r"(?<!const )struct \w+ \*(?:const )?\w+ =\s+"
                  r"&port->(\w+)(?:[.\[][^;]*)?;")
FUNCTION = re.compile(r"^(\w+)\([^;]*?\)\n\{", re.M)


def code(text):
    """Without comments; lines stay where they are."""
    return re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text,
                  flags=re.S)


def homes(header):
    """Which file writes which part: {"rx": "port_rx"}."""
    home = {struct: name for name, struct in STRUCT.findall(header)}
    body = header[header.index("\nstruct rl_port {"):]
    return {part: home[struct] for struct, part in MEMBER.findall(body)}


def writer(path, text, at):
    """The file that a line belongs to: in headers its function's name says."""
    name = os.path.basename(path)
    if name.endswith(".c"):
        return name[:-2]
    before = [m[1] for m in FUNCTION.finditer(text) if m.start() < at]
    return before[-1] if before else ""


def foreign(texts, home):
    """["FILE:LINE: ..."] of all writes of one part by another's file."""
    found = []
    for path, text in sorted(texts.items()):
        text = code(text)
        hits = [(m.start(), m[2]) for m in WRITE.finditer(text)
                if m[1] or m[4]]
        hits += [(m.start(), m[1]) for m in LENT.finditer(text)]
        for at, part in sorted(hits):
            who = writer(path, text, at)
            if part in home and who != home[part] and \
                    not (path.endswith(".h") and
                         who.startswith(home[part] + "_")):
                found.append(f"{path}:{text[:at].count(chr(10)) + 1}: "
                             f"port->{part} is written by {home[part]}.c "
                             "alone")
    return found


def self_test():
    header = ("/** Order (port_rx.c). */\nstruct port_rx {\n};\n"
              "/** Frames\n * out (port_tx.c). */\nstruct port_tx {\n};\n"
              "struct rl_port {\n\tstruct port_rx rx;\n\tstruct port_tx tx;\n"
              "};\n")
    home = homes(header)
    assert home == {"rx": "port_rx", "tx": "port_tx"}, home

    def bad(path, text):
        return len(foreign({path: text}, home))
    for line in ("port->rx.n = 1;", "port->rx.n[vc] += 2;", "++port->rx.n;",
                 "port->rx.n--;", "port->rx.q[i].head->next |= 4;",
                 "struct port_rx *rx = &port->rx;",
                 "struct rl_replay *r = &port->rx.replay;",
                 "struct slot *const s = &port->rx.slot[3].in;"):
        text = "void\nf(struct rl_port *port)\n{\n\t%s\n}\n" % line
        assert bad("port_tx.c", text) == 1, line
        assert bad("port_rx.c", text) == 0, line
        assert bad("x.h", text) == 1, line
        assert bad("x.h", text.replace("\nf(", "\nport_rx_f(")) == 0, line
    for line in ("if (port->rx.n == 1)", "n = port->rx.n;", "/* port->rx.n = 1 */",
                 "const struct port_rx *rx = &port->rx;", "port->c[3]++;",
                 "const struct rl_replay *r = &port->rx.replay;",
                 "return port->rx.n <= 3;", "other->rx.n = 1;"):
        assert bad("port_tx.c", "f()\n{\n\t%s\n}\n" % line) == 0, line


def main():
    if "-t" in sys.argv:
        self_test()
        return 0
    root = sys.argv[1]
    texts = {}
    for path in glob.glob(os.path.join(root, FOLDER, "*.[ch]")):
        with open(path, encoding="utf-8") as f:
            texts[os.path.relpath(path, root)] = f.read()
    # a part may stand in a header of its own
    headers = sorted((t for t in texts if t.endswith(".h")),
                     key=lambda t: t == HEADER)
    home = homes("".join(texts[t] for t in headers))
    assert len(home) > 10, home
    found = foreign(texts, home)
    for line in found:
        print(line)
    print(f"{len(home)} parts, {len(found)} written by another's file")
    return found != []


if __name__ == "__main__":
    sys.exit(main())
