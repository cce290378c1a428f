# SPDX-License-Identifier: BSD-3-Clause
"""[SIM-1] No result hangs on the order in which a compiler evaluates arguments,
initialisers or operands: of two calls that are not sequenced, no two draw
random numbers, and no two may write through one variable. -t tests the test.

usage: order.py SOURCE_ROOT [-t]

A call may write what it takes by a pointer to something not const. A call
draws where its function does, however deep: from rl_prng_*(), or from what the
C library keeps for itself (HIDDEN).
"""

import bisect
import glob
import os
import re
import sys

FOLDERS = ["lib", "app", "drivers", "test", "examples"]
# functions with a state of their own, or of a file that is read on
HIDDEN = {"rand", "random", "lrand48", "drand48", "mrand48", "strtok",
          "getc", "fgetc", "getchar", "rte_rand", "rte_rand_max"}
DRAWS = {"rl_prng_u64", "rl_prng_below", "rl_prng_range", "rl_prng_double",
         "rl_prng_seed"}
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|->|\+\+|--|<<=|>>=|&&|\|\||"
                   r"[-+*/%&|^=!<>]=|<<|>>|\S")
BRACKETS = {"(": ")", "[": "]", "{": "}"}
CLOSING = set(BRACKETS.values())
FUNCTION = re.compile(r"^(?:[a-z][\w \t*]*[ \t*])?(\w+)\(([^;{}]*?)\)"
                      r"(?:\s*__attribute__\(\(.*?\)\))?\s*([;{])", re.M)
WORDS = {"if", "while", "for", "switch", "return", "sizeof", "case", "do",
         "else", "default", "typeof", "_Alignof", "alignof", "defined"}
COMMAS, CHOICE = {",", ";"}, {"?", ":"}
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
OPERATORS = ASSIGN | {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<",
                      ">", "<=", ">=", "==", "!="}


def blank(m):
    return re.sub(r"[^\n]", " ", m[0])


def code(text):
    """Without comments, strings, directives; all stays where it is."""
    text = re.sub(r"""(["'])(?:\\.|(?!\1)[^\\\n])*\1|/\*.*?\*/|//[^\n]*""",
                  lambda m: ("0" if m[1] else " ") + blank(m)[1:], text,
                  flags=re.S)
    # what a macro stands for is looked at, its head is not
    text = re.sub(r"^[ \t]*#[ \t]*define[ \t]+\w+(\([^)]*\))?", blank, text,
                  flags=re.M)
    text = re.sub(r"^[ \t]*#[^\n]*(\\\n[^\n]*)*", blank, text, flags=re.M)
    return text.replace("\\\n", " \n")


def split(params):
    """Parameters, or arguments, at the commas of the outermost level."""
    depth, part, parts = 0, "", []
    for c in params:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return parts + [part]


def writable(param):
    """May a function write what it takes here?"""
    before = re.sub(r"\bconst\b(?=\s*\w*\s*$)", "", param)
    return ("*" in param or "[" in param) and not \
        re.match(r"\s*const\b", before) and "(*" not in param and \
        "FILE" not in param


def functions(text):
    """[(name, is it static?, [may it write its n-th argument?], body)]"""
    found = []
    for m in FUNCTION.finditer(text):
        if m[1] not in WORDS:
            body = text[m.end():text.find("\n}", m.end())] \
                if m[3] == "{" else ""
            head = text[text.rfind("\n\n", 0, m.start()):m.end()]
            found.append((m[1], re.search(r"\bstatic (?!inline)", head),
                          [writable(p) for p in split(m[2])], body))
    return found


class Tree:
    """What functions do, by file where they are static."""

    def __init__(self, texts):
        self.takes = {}
        calls = {}
        home = {path: functions(text) for path, text in texts.items()}
        for path, found in home.items():
            for name, static, takes, _ in found:
                self.takes[(path if static else "", name)] = takes
        for path, found in home.items():
            for name, static, _, body in found:
                own = re.findall(r"\bstruct rl_prng (\w+)\b", body)
                for m in re.finditer(r"\b(\w+)\((&(\w+)\b)?", body):
                    if m[3] is None or m[3] not in own:
                        calls.setdefault(self.key(path, m[1]), set()).add(
                            (path if static else "", name))
        self.draws = {("", name) for name in DRAWS | HIDDEN}
        todo = list(self.draws)
        while todo:
            for key in calls.get(todo.pop(), ()):
                if key not in self.draws:
                    self.draws.add(key)
                    todo.append(key)

    def key(self, path, name):
        return (path, name) if (path, name) in self.takes else ("", name)


class Reader:
    """Reads a file's expressions and finds calls that are not sequenced."""

    def __init__(self, tree, path, text):
        self.tree = tree
        self.path = path
        found = [(m[0], m.start()) for m in TOKEN.finditer(text)]
        self.tok = [t for t, _ in found]
        self.at = [at for _, at in found]
        self.match = {}
        self.deeds = [0]  # how many tokens before may do something
        open_ = []
        for i, t in enumerate(self.tok):
            self.deeds.append(self.deeds[-1] + (t in BRACKETS or t == "*"))
            if t in BRACKETS:
                open_.append(i)
            elif t in CLOSING and open_:
                self.match[open_.pop()] = i
        self.begin = {b: a for a, b in self.match.items()}
        self.found = []

    def cuts(self, a, b, of):
        """[(from, to)] of the parts of a..b between tokens of a set."""
        parts, begin, i = [], a, a
        while i < b:
            if i in self.match:
                i = self.match[i]
            elif self.tok[i] in of and (i > begin or self.tok[i] in ",;:"):
                parts.append((begin, i))
                begin = i + 1
            i += 1
        return parts + [(begin, b)]

    def clash(self, parts):
        """Parts in any order: reports, and returns all that they do."""
        before = []
        for does in parts:
            self.found += [(other, one) for one in does for other in before
                           if one.clashes(other)]
            before += does
        return before

    def any(self, parts):
        """Parts one after the other, or one of them alone."""
        return [one for x, y in parts for one in self.value(x, y)]

    def value(self, a, b):
        """An expression, or a statement: what it does."""
        if self.deeds[a] == self.deeds[max(a, b)]:
            return []
        while a < b and self.tok[a] in WORDS:
            if self.tok[a] in ("if", "while", "for", "switch") and \
                    a + 1 in self.match:
                end = self.match[a + 1]
                return self.any([(a + 2, end), (end + 1, b)])
            if self.tok[a] in ("case", "default"):
                a = self.cuts(a, b, ":")[0][1]
            a += 1
        i, there = a, set()
        while i < b:
            i = self.match.get(i, i)
            there.add(self.tok[i])
            i += 1
        for of in (COMMAS, ASSIGN, CHOICE, {"||"}, {"&&"}, OPERATORS):
            if there.isdisjoint(of):
                continue
            parts = self.cuts(a, b, of)
            if len(parts) > 1 and of in (ASSIGN, OPERATORS):
                return self.clash([self.value(x, y) for x, y in parts])
            if len(parts) > 1:
                return self.any(parts)
        return self.operand(a, b) if a < b else []

    def operand(self, a, b):
        """Names, calls, indexes, brackets: each a part of its own."""
        parts = []
        if self.tok[a] == "*" and b == a + 2:
            parts.append([Deed("*" + self.tok[a + 1], self.at[a],
                               reads=[(self.tok[a + 1],)])])
        i = a
        while i < b:
            end = self.match.get(i, i)
            name = self.tok[i - 1] if i > a else ""
            called = self.tok[i] == "(" and re.match(r"[A-Za-z_]", name)
            if end == i or called and name in WORDS:
                pass
            elif called or self.tok[i] == "{":
                inner = self.cuts(i + 1, end, ",")
                parts.append(self.clash([self.value(x, y) for x, y in inner]))
                if called:
                    parts[-1] += self.call(name, i - 1, inner)
            else:
                parts.append(self.value(i + 1, end))
            i = end + 1
        return self.clash(parts)

    def call(self, name, i, parts):
        key = self.tree.key(self.path, name)
        takes = self.tree.takes.get(key, [])
        draws = key in self.tree.draws
        writes = [self.place(x, y) for (x, y), may in zip(parts, takes)
                  if may]
        writes = [w for w in writes if w]
        own = draws and len(writes) == 1 and self.tok[parts[0][0]] == "&"
        if not writes and not draws:
            return []
        return [Deed(name, self.at[i], writes, draws=draws, own=own)]

    def place(self, a, b):
        """&d->prng, d->prng: ("d", "prng"). What follows an index is not
        known."""
        way = []
        for t in self.tok[a:b]:
            if re.match(r"[A-Za-z_]\w*$", t) and t != "NULL":
                way.append(t)
            elif t not in ("&", "*", "->", "."):
                break
        return tuple(way)

    def all(self):
        i = begin = 0
        n = len(self.tok)
        while i < n:
            if self.tok[i] == "{" and not self.initialiser(i) or \
                    self.tok[i] in "};":
                self.value(begin, i)
                begin = i + 1
            elif i in self.match:
                i = self.match[i]
            i += 1
        return self.found

    def initialiser(self, i):
        """= {, (type){ - not a body's, a condition's or a loop's."""
        if i == 0 or self.tok[i - 1] not in ("=", ")", "]"):
            return False
        if self.tok[i - 1] != ")":
            return True
        before = self.tok[self.begin.get(i - 1, 0) - 1]
        return not re.match(r"[A-Za-z_]", before) or before == "return"


class Deed:
    """A call, or a read of all that a pointer points to."""

    def __init__(self, name, at, writes=(), reads=(), draws=False, own=False):
        self.name = name
        self.at = at
        self.writes = writes
        self.reads = reads
        self.draws = draws
        self.own = own  # draws from what is its argument alone

    def clashes(self, other):
        if any(a[:len(b)] == b or b[:len(a)] == a
               for mine, theirs in ((self.writes, other.writes),
                                    (self.writes, other.reads),
                                    (self.reads, other.writes))
               for a in mine for b in theirs):
            return True
        return self.draws and other.draws and not (self.own and other.own)


def check(texts):
    """["FILE:LINE: ..."]"""
    texts = {path: code(text) for path, text in texts.items()}
    tree = Tree(texts)
    found = []
    for path, text in sorted(texts.items()):
        lines = [m.start() for m in re.finditer("\n", text)]
        said = {}
        for one, other in Reader(tree, path, text).all():
            at = bisect.bisect(lines, other.at) + 1
            said.setdefault(at, f"{path}:{at}: which is first, {one.name} "
                            f"or {other.name}?")
        found += [said[at] for at in sorted(said)]
    return found


def self_test():
    head = ("uint32_t rl_prng_below(struct rl_prng *p, uint32_t n);\n"
            "uint64_t\nroll(struct draw *d, uint32_t n)\n{\n"
            "\treturn rl_prng_below(&d->prng, n);\n}\n"
            "static int\nblind(int n)\n{\n\treturn roll(&all, n);\n}\n"
            "int\ntake(struct q *q)\n{\n}\n"
            "int\nlook(const struct q *q)\n{\n}\n")

    def bad(line):
        found = check({"a.c": head + "void\nf(void)\n{\n\t%s\n}\n" % line})
        return [f.split(": ", 1)[1] for f in found]
    assert bad("g(roll(d, 1), roll(d, 2));") == \
        ["which is first, roll or roll?"]
    for line in ("g(rl_prng_below(&d->prng, 2), roll(d, 2));",
                 "struct s s = { .a = roll(d, 1), .b = roll(d, 2) };",
                 "s = (struct s){ roll(d, 1), .b = { 2, roll(d, 2) } };",
                 "uint32_t n = roll(d, 1) + 3 * (2 - roll(d, 2));",
                 "v[roll(d, 9)] = roll(d, 9);", "v[roll(d, 9)] ^= roll(d, 9);",
                 "v[roll(d, 9)][roll(d, 9)] = 0;",
                 "if (g(blind(1), blind(2)))\n\t\treturn;",
                 "case 3: g(blind(1), x ? 1 : blind(2)); break;",
                 "return take(&a->q) - take(&a->q);", "g(take(q), take(q));",
                 "struct s s = { .p = *p, .n = rl_prng_below(p, 1) };",
                 "for (n = g(take(q), take(q)); n; n--)\n\t\th();",
                 "assert_int_equal(look(q), g(take(q), take(q)));"):
        assert len(bad(line)) == 1, (line, bad(line))
    for line in ("f(roll(d, roll(d, 2)));", "roll(d, 1); roll(d, 2);",
                 "n = roll(d, 1) ? roll(d, 2) : roll(d, 3);",
                 "ok = roll(d, 1) && roll(d, 2) || roll(d, 3);",
                 "uint32_t a = roll(d, 1), b = roll(d, 2);",
                 "for (a = roll(d, 1); roll(d, 2); b = roll(d, 3))\n\t\tg();",
                 "if (roll(d, 1))\n\t\tv[0] = roll(d, 2);",
                 "switch (roll(d, 1)) {\n\tcase 1: a = roll(d, 2);\n\t}",
                 "g(take(&a), take(&b));", "g(look(q), look(q));",
                 "g(take(&a->in), take(&a->out));", "g(look(q), take(q));",
                 "/* g(take(q), take(q)) */", 'g("roll(d, 1)", roll(d, 2));',
                 "rl_prng_below(&a, 1) == rl_prng_below(&b, 1);"):
        assert bad(line) == [], (line, bad(line))


def main():
    if "-t" in sys.argv:
        self_test()
        return 0
    root = sys.argv[1]
    texts = {}
    for folder in FOLDERS:
        for path in glob.glob(os.path.join(root, folder, "**", "*.[ch]"),
                              recursive=True):
            with open(path, encoding="utf-8") as f:
                texts[os.path.relpath(path, root)] = f.read()
    found = check(texts)
    assert len(texts) > 100, root
    for line in found:
        print(line)
    print(f"{len(texts)} files, {len(found)} findings")
    return found != []


if __name__ == "__main__":
    sys.exit(main())
