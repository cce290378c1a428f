#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the manual page of a program from what it prints with --help, so that
there is one text to keep right.

usage: man.py VERSION NAME PROGRAM [WORD...]

NAME is the page's name; PROGRAM WORD... --help prints the text. Its parts:

  usage: ...           the synopsis: all lines down to the first empty one
  a paragraph          the first sentence of the first one is the page's NAME
  Some words           a line followed by indented ones: the heading of a list
    --option ARG  text an entry; deeper lines go on with its text
  Exit status: ...     a section of its own
"""
import re
import subprocess
import sys

ENTRY = re.compile(r"^  ?(\S.*?)(?:  +(\S.*))?$")


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def entries(lines):
    """[(tag, text)] of an indented list."""
    found = []
    for line in lines:
        if re.match(r"^   ", line) and found:
            found[-1][1] += " " + line.strip()
            continue
        tag, text = ENTRY.match(line).groups()
        found.append([tag, text or ""])
    return found


def blocks(text):
    """Paragraphs as lists of lines."""
    return [b.split("\n") for b in re.split(r"\n\s*\n", text.strip("\n"))]


def list_of(lines):
    out = []
    for tag, text in entries(lines):
        out += [".TP", "\\fB%s\\fR" % escape(tag), escape(text)]
    return out


def block_of(lines):
    """One block behind the synopsis."""
    if lines[0].startswith("Exit status:"):
        text = " ".join(lines).split(":", 1)[1].strip()
        return [".SH EXIT STATUS", escape(text)]
    if lines[0].startswith(" "):
        return [".SS Options"] + list_of(lines)
    heads = [i for i, line in enumerate(lines) if not line.startswith(" ")]
    if len(heads) == 1 and len(lines) > 1:
        head = lines[0].rstrip(":")
        return [".SS " + escape(head[0].upper() + head[1:])] + \
            list_of(lines[1:])
    return [".PP", escape(" ".join(line.strip() for line in lines))]


def page(version, name, text):
    parts = blocks(text)
    synopsis = [re.sub(r"^(usage:)? *", "", line) for line in parts[0]]
    rest = parts[1:]
    if not parts[0][0].startswith("usage: ") or \
            any(line.startswith(" ") for line in rest[0]):
        raise SystemExit("%s: --help begins with neither usage nor a sentence"
                         % name)
    words = " ".join(rest[0])
    what = words.split(". ")[0].rstrip(".")
    out = ['.\\" SPDX-License-Identifier: BSD-3-Clause',
           '.\\" made by app/share/man.py from the program\'s --help',
           '.TH %s 1 "" "reflit %s" "reflit"' % (name.upper(), version),
           ".SH NAME",
           "%s \\- %s" % (escape(name), escape(what[0].lower() + what[1:])),
           ".SH SYNOPSIS"]
    for line in synopsis:
        out += ["\\fB%s\\fR" % escape(line), ".br"]
    out.append(".SH DESCRIPTION")
    for block in rest:
        out += block_of(block)
    out += [".SH SEE ALSO",
            ".BR reflit\\-prompt (1),",
            ".BR reflit.cfg (5),",
            ".BR reflit\\-faults (5)",
            ".PP",
            "Pages about fabric files, the prompt, routing and the simulation "
            "lie in", ".I share/doc/reflit", "of the prefix."]
    return "\n".join(out) + "\n"


def main():
    version, name, *command = sys.argv[1:]
    p = subprocess.run(command + ["--help"], capture_output=True, text=True,
                       check=False)
    if p.returncode != 0:
        raise SystemExit("%s --help: exit status %d\n%s" % (
            " ".join(command), p.returncode, p.stderr))
    sys.stdout.write(page(version, name, p.stdout))


if __name__ == "__main__":
    main()
