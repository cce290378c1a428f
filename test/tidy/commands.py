#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/prompt.md and docs/operating.md are held against the table of commands
(app/reflit/command_table.c) and the options of reflit (app/reflit/options.c):

  * each command stands in the table of docs/prompt.md, and each row of that
    table is a command;
  * each command that a page quotes is one, be it at the prompt, in a command
    file, or in a sentence;
  * each section of `help` says what it is about (app/reflit/help.c);
  * each option stands in the table of options, and each row there is one.

    commands.py ROOT        exits with 1 where something differs
    commands.py ROOT -t     plants differences, which must be found
"""
import os
import re
import sys

TABLE = "app/reflit/command_table.c"
HELP = "app/reflit/help.c"
OPTIONS = "app/reflit/options.c"
PROMPT = "docs/prompt.md"
# what may stand for an argument: a word in capitals, or a value
ARGUMENT = {
    "<time>": re.compile(r"^(TIME|[\d.]+(ns|us|ms|s))$"),
    "<limits>": re.compile(r"^(LIMITS|[a-z]+=\d+(,[a-z]+=\d+)*)$"),
    "<n>": re.compile(r"^(N|VC|VALUE|\d+)$"),
    "<rate>": re.compile(r"^(RATE|N|VALUE|[\d.]+(e-?\d+)?)$"),
}
ANY_ARGUMENT = re.compile(r"^[\w./#:-]+$")
# commands of command files alone
FILES_ONLY = {"say": "say <text>"}
# spans that are something else
SKIP_SPAN = re.compile(r"[=:;{}()<>*+\"]|--|\.(md|c|h|py|cfg|cmd)\b")
# pages about lines of another kind
OTHER_PAGES = ("recording.md",)


def read(root, name, texts):
    if name in texts:
        return texts[name]
    with open(os.path.join(root, name), encoding="utf-8") as f:
        return f.read()


def forms_of(text):
    return [m.split() for m in re.findall(r'^\t\{ "([^"]+)",\s+cmd_', text, re.M)]


def alternatives(span):
    """Spans of one row: `a\\|b` are two words for one place."""
    words = [word.split("\\|") for word in span.split()]
    out = [[]]
    for choice in words:
        out = [o + [w] for o in out for w in choice]
    # what stands in brackets may be left out
    more = []
    for o in out:
        if o and o[-1].startswith("["):
            more.append(o[:-1])
        more.append([w.strip("[]") for w in o])
    return more


def is_form(words, form, whole=True):
    """Whether these words are that command, or (not whole) begin like it."""
    if words and words[-1] == "...":
        words, whole = words[:-1], False
    if "..." in words:  # link ... up
        at = words.index("...")
        tail = words[at + 1:]
        return form[:at] == words[:at] and form[len(form) - len(tail):] == tail
    if len(words) > len(form) or (whole and len(words) != len(form)):
        return False
    for word, part in zip(words, form):
        if part.startswith("<"):
            if not ARGUMENT.get(part, ANY_ARGUMENT).match(word):
                return False
        elif word != part:
            return False
    return True


def rows(text, heading):
    """Rows of the first table below a heading: lists of cells."""
    part = text.split("\n" + heading + "\n", 1)
    if len(part) < 2:
        return []
    out = []
    for line in part[1].split("\n"):
        if line.startswith("|"):
            out.append([c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif out:
            break
    return out[2:]


def spans_of(cell):
    return re.findall(r"`([^`]+)`", cell)


def check_table(root, forms, texts, report):
    """The table of docs/prompt.md against the commands, both ways."""
    named = []
    for row in rows(read(root, PROMPT, texts), "## Commands"):
        for span in spans_of(row[0]):
            found = False
            for words in alternatives(span):
                named.append(words)
                found |= any(is_form(words, f) for f in forms)
            if not found:
                report("%s: `%s` is no command" % (PROMPT, span))
        for cell in row[1:]:
            named += [w for s in spans_of(cell) for w in alternatives(s)]
    for form in forms:
        if not any(is_form(words, form) for words in named):
            report("%s: the table of commands lacks `%s`" % (PROMPT,
                                                            " ".join(form)))


def check_quotes(root, forms, texts, report):
    """What pages quote: lines of the prompt, of command files, and spans."""
    sections = {f[0] for f in forms if len(f) > 1}
    pages = sorted(n for n in os.listdir(os.path.join(root, "docs"))
                   if n.endswith(".md") and n not in OTHER_PAGES)
    n = 0
    for page in pages:
        text = read(root, "docs/" + page, texts)
        for number, line in enumerate(text.split("\n"), 1):
            m = re.match(r"^reflit> (.+)$", line)
            spans = [(m.group(1), True)] if m else []
            if not m and not line.startswith("    "):
                spans = [(s, False) for s in spans_of(line)]
            for span, whole in spans:
                words = span.split()
                if not whole and (len(words) < 2 or words[0] not in sections or
                                  SKIP_SPAN.search(span)):
                    continue
                n += 1
                if not any(is_form(w, f, whole) for f in forms
                           for w in alternatives(span)):
                    report("docs/%s:%d: `%s` is no command" % (page, number,
                                                               span))
        for block in re.findall(r"^```\n(.*?)^```", text, re.M | re.S):
            lines = [b for b in block.split("\n") if b]
            if lines and lines[-1] == "quit":
                n += len(lines)
                for line in lines:
                    if not any(is_form(line.split(), f) for f in forms):
                        report("docs/%s: `%s` is no command" % (page, line))
    return n


def check_sections(root, forms, texts, report):
    text = read(root, HELP, texts)
    said = set(re.findall(r'^\t\{ "(\w+)", "', text, re.M))
    for word in sorted({f[0] for f in forms} - said - {"help"}):
        report("%s: the section %s lacks a text" % (HELP, word))
    for word in sorted(said - {f[0] for f in forms}):
        report("%s: there is no section %s" % (HELP, word))


def check_options(root, texts, report):
    text = read(root, OPTIONS, texts)
    real = set(re.findall(r'^\t\{ (?:\.name = )?"([a-z-]+)", ', text, re.M))
    helped = set(re.findall(r'^\t\{ "([a-z-]+)",[^}]*\.help = ', text, re.M))
    helped |= set(re.findall(r"--([a-z][a-z-]+)",
                             text[text.index("usage: reflit"):
                                  text.index("Exit status:")]))
    told = set()
    for row in rows(read(root, PROMPT, texts), "## Options"):
        told |= set(re.findall(r"--([a-z][a-z-]+)", row[0]))
    for name in sorted(real - told):
        report("%s: the table of options lacks --%s" % (PROMPT, name))
    for name in sorted(told - real):
        report("%s: there is no option --%s" % (PROMPT, name))
    for name in sorted(real - helped):
        report("%s: --help lacks --%s" % (OPTIONS, name))
    return len(real)


def check(root, texts=None):
    """@return (what was looked at, findings)"""
    texts, bad = texts or {}, []
    forms = forms_of(read(root, TABLE, texts))
    check_table(root, forms, texts, bad.append)
    more = [f.split() for f in FILES_ONLY.values()]
    n = check_quotes(root, forms + more, texts, bad.append)
    check_sections(root, forms, texts, bad.append)
    n += check_options(root, texts, bad.append)
    return len(forms) + n, bad


def plant(root, name, old, new):
    text = read(root, name, {})
    assert text.count(old) >= 1, (name, old)
    return check(root, {name: text.replace(old, new, 1)})[1]


def self_test(root):
    """Each planted difference is one finding at least, and names itself."""
    plants = (
        (TABLE, '{ "quit", cmd_quit', '{ "leave", cmd_quit', "leave"),
        (TABLE, '{ "wait up <time>"', '{ "wait upside <time>"', "upside"),
        (PROMPT, "| `clear counters` |", "| `clear the table` |",
         "clear counters"),
        (PROMPT, "`link LINK drain`", "`link LINK empty`", "link <link> drain"),
        ("docs/operating.md", "reflit> show rates", "reflit> show rate",
         "show rate`"),
        ("docs/operating.md", "`link ... up`", "`link ... heal`", "heal"),
        ("docs/operating.md", "`show routes DEVICE`", "`show route DEVICE`",
         "show route "),
        (PROMPT, "wait cut s0-s1#0\nwait", "wait cut\nwait", "wait cut"),
        (HELP, '{ "inject", "', '{ "injects", "', "inject"),
        (PROMPT, "| `--json FILE` | writes", "| `--jsn FILE` | writes",
         "--jsn"),
        (OPTIONS, '{ "record", "FILE", opt_text',
         '{ "recall", "FILE", opt_text', "--recall"),
    )
    missed = 0
    for name, old, new, word in plants:
        if not any(word in line for line in plant(root, name, old, new)):
            print("not found: %s: %s" % (name, new))
            missed += 1
    print("%d differences, %d not found" % (len(plants), missed))
    return 1 if missed else 0


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    if "-t" in sys.argv:
        return self_test(root)
    n, bad = check(root)
    for line in bad:
        print(line)
    print("%d commands, quotes and options, %d findings" % (n, len(bad)))
    return 1 if bad or n < 150 else 0


if __name__ == "__main__":
    sys.exit(main())
