# SPDX-License-Identifier: BSD-3-Clause
"""Slips that a colleague makes, found in the text of a C file.

slips(path, text) reads tokens, not a tree: the code is full of macros, which a
parser either does not take or has replaced before one sees them. The
compiler judges the types. Nothing is drawn from comments, strings, preprocessor
lines, assertions, logs, planted bugs, or outside functions.
"""
import bisect
import re

OFF_BY_ONE = "off by one"
SWAPPED = "swapped arguments"
FIELDS = "swapped fields"
RESET = "reset removed"
REMOVED = "statement removed"
NEGATED = "condition negated"
HALVED = "condition halved"
CONSTANT = "constant changed"
ERROR = "error code lost"
KINDS = (OFF_BY_ONE, SWAPPED, FIELDS, RESET, REMOVED, NEGATED, HALVED,
         CONSTANT, ERROR)

TOKEN = re.compile(r"""
    (?P<skip>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])* | \n | [ \t\r\f]+ | \\\n |
             //[^\n]* | /\*.*?\*/) |
    (?P<text>"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*') |
    (?P<number>0[xX][0-9a-fA-F]+\w* | \.?\d(?:[eE][+-]|[\w.])*) |
    (?P<name>[A-Za-z_]\w*) |
    (?P<mark>-> | \+\+ | -- | <<= | >>= | << | >> | <= | >= | == | != | && |
             \|\| | [-+*/%&|^]= | \.\.\. | .)""", re.X | re.S | re.M)
QUIET = re.compile(r"\w*assert\w*|\w*_log|RTE_LOG|sizeof|offsetof|__\w+", re.I)
CLEARS = re.compile(r"\w*(_reset|_clear|_zero)|memset")
# a change of places, or a planted bug left out, is no slip of these
EITHER_WAY = re.compile(r"memcmp|strn?cmp|\w*_(min|max)(_\w+)?|MIN|MAX", re.I)
PLANTED = "RL_PLANTED"
CONTROL = ("if", "while", "for", "switch")
ASSIGN = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
NEXT_TO = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
BRACKETS = {")": "(", "]": "[", "}": "{"}
# what ends an operand of && and ||
EDGE = ASSIGN + (",", ";", "?", ":", "return", "{", "}")


class Slip:
    """One change of a file: text[start:end] becomes `new`."""

    def __init__(self, kind, source, function, start, end, new):
        self.kind, self.path, self.function = kind, source.path, function
        self.start, self.end, self.new = start, end, new
        self.first = self.last = 0  # lines of its statement
        self.line = source.line(start)
        text = source.text
        begin = text.rfind("\n", 0, start) + 1
        stop = text.find("\n", max(end - 1, start))
        was = text[begin:stop]
        now = text[begin:start] + new + text[end:stop]
        # what it is known by, wherever the line moves to
        self.was, self.now = " ".join(was.split()), " ".join(now.split())

    def apply(self, text):
        return text[:self.start] + self.new + text[self.end:]

    def key(self):
        return self.path, self.function, self.was, self.now


class Source:
    """The tokens of a file, and which brackets belong together."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.ends = [m.start() for m in re.finditer("\n", text)]
        self.kind, self.word, self.start, self.end = [], [], [], []
        for m in TOKEN.finditer(text):
            if m.lastgroup != "skip":
                self.kind.append(m.lastgroup)
                self.word.append(m.group())
                self.start.append(m.start())
                self.end.append(m.end())
        self.mate = {}
        stack = []
        for i, word in enumerate(self.word):
            if word in "([{":
                stack.append(i)
            elif word in BRACKETS and stack:
                if self.word[stack[-1]] == BRACKETS[word]:
                    self.mate[i] = stack[-1]
                    self.mate[stack.pop()] = i

    def line(self, at):
        return bisect.bisect_left(self.ends, at) + 1

    def at(self, i):
        return self.word[i] if 0 <= i < len(self.word) else ""

    def piece(self, i, j):
        """@return the text of the tokens i..j"""
        return self.text[self.start[i]:self.end[j]]

    def functions(self):
        """Yields (name, token of its brace, token of its last brace)."""
        i = 0
        while i < len(self.word):
            if self.word[i] == "{" and i in self.mate:
                if self.at(i - 1) == ")" and i - 1 in self.mate:
                    yield (self.at(self.mate[i - 1] - 1), i, self.mate[i])
                i = self.mate[i]
            i += 1


class Finder:
    """Finds the slips of one function."""

    def __init__(self, source, name, first, last):
        self.s, self.name = source, name
        self.first, self.last = first, last
        self.found = []
        self.quiet = set()
        for i in range(first, last):
            if source.at(i + 1) == "(" and QUIET.fullmatch(source.word[i]):
                self.quiet.update(range(i, source.mate.get(i + 1, i) + 1))

    def add(self, kind, i, j, new, start=None, end=None):
        """The tokens i..j become `new`."""
        if i in self.quiet:
            return
        slip = Slip(kind, self.s, self.name,
                    self.s.start[i] if start is None else start,
                    self.s.end[j] if end is None else end, new)
        slip.line = self.s.line(self.s.start[i])
        a = i
        while a > self.first + 1 and self.s.at(a - 1) not in (";", "{", "}"):
            a -= 1
        b = j
        while b < self.last and self.s.at(b) not in (";", "{", "}"):
            b += 1
        if PLANTED in self.s.word[a:b]:
            return
        slip.first = self.s.line(self.s.start[a])
        slip.last = self.s.line(self.s.start[b])
        self.found.append(slip)

    def find(self):
        for i in range(self.first + 1, self.last):
            self.compared(i)
            self.one_less(i)
            self.constant(i)
            self.lost(i)
            self.condition(i)
            self.halves(i)
            self.arguments(i)
            self.initialisers(i)
        self.statements()
        return self.found

    def compared(self, i):
        if self.s.word[i] in NEXT_TO:
            self.add(OFF_BY_ONE, i, i, NEXT_TO[self.s.word[i]])

    def one_less(self, i):
        """x + 1, x - 1"""
        s = self.s
        binary = s.kind[i - 1] in ("name", "number") or s.at(i - 1) in (")",
                                                                        "]")
        if s.word[i] in ("+", "-") and binary and re.fullmatch(
                "1[uUlL]*", s.at(i + 1)) and s.at(i + 2) not in ("*", "/",
                                                                 "%"):
            self.add(OFF_BY_ONE, i, i + 1, "", start=s.end[i - 1])

    def constant(self, i):
        word = self.s.word[i]
        if word in ("true", "false"):
            self.add(CONSTANT, i, i, "false" if word == "true" else "true")
        if self.s.kind[i] != "number":
            return
        m = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", word)
        if m is None:
            self.add(CONSTANT, i, i, "(%s * 2)" % word)
            return
        digits, suffix = m.groups()
        if digits[:2] in ("0x", "0X"):
            value, form = int(digits, 16), "0x%x"
        elif digits[0] == "0" and len(digits) > 1:
            value, form = int(digits, 8), "0%o"
        else:
            value, form = int(digits), "%d"
        self.add(CONSTANT, i, i, form % (value + 1) + suffix)
        if value:
            self.add(CONSTANT, i, i, form % (value - 1) + suffix)

    def lost(self, i):
        s = self.s
        if s.word[i] == "-" and re.fullmatch("E[A-Z0-9]+", s.at(i + 1)) and \
                s.at(i - 1) in ("return", "=", "?", ":"):
            self.add(ERROR, i, i + 1, "0")

    def condition(self, i):
        s = self.s
        if s.word[i] != "if" or s.at(i + 1) != "(" or i + 1 not in s.mate:
            return
        j = s.mate[i + 1]
        inner = range(i + 2, j)
        if s.at(i + 2) == "!" and not any(
                s.word[k] in ("&&", "||", "==", "!=") for k in inner):
            self.add(NEGATED, i + 2, i + 2, "")
        else:
            self.add(NEGATED, i + 2, j - 1,
                     "!(%s)" % s.piece(i + 2, j - 1))

    def edge(self, i, step, stops):
        """@return the last token of the operand beside token i"""
        s = self.s
        i += step
        while s.at(i) not in stops + EDGE + (("(", "[") if step < 0 else
                                             (")", "]")):
            # over what is in brackets
            inside = s.at(i) in ((")", "]") if step < 0 else ("(", "["))
            i = (s.mate.get(i, i) if inside else i) + step
        return i - step

    def halves(self, i):
        s = self.s
        if s.word[i] not in ("&&", "||"):
            return
        stops = ("&&", "||") if s.word[i] == "&&" else ("||",)
        left, right = self.edge(i, -1, stops), self.edge(i, 1, stops)
        if left < i < right:
            self.add(HALVED, left, i, "", end=s.start[i + 1])
            self.add(HALVED, i, right, "", start=s.end[i - 1])

    def parts(self, i):
        """@return [(first, last)] of what commas part in bracket i"""
        s = self.s
        out, begin, k = [], i + 1, i + 1
        while k < s.mate[i]:
            if s.word[k] == ",":
                out.append((begin, k - 1))
                begin = k + 1
            k = s.mate.get(k, k) + 1 if s.word[k] in ("(", "[", "{") else k + 1
        return out + [(begin, k - 1)]

    def swap(self, kind, one, other):
        """Two ranges of tokens change places."""
        a, b = self.s.piece(*one), self.s.piece(*other)
        if " ".join(a.split()) != " ".join(b.split()):
            self.add(kind, one[0], other[1],
                     b + self.s.text[self.s.end[one[1]]:
                                     self.s.start[other[0]]] + a)

    def arguments(self, i):
        s = self.s
        if s.kind[i] != "name" or s.word[i] in CONTROL + ("return",) or \
                s.at(i + 1) != "(" or i + 1 not in s.mate or \
                EITHER_WAY.fullmatch(s.word[i]):
            return
        args = self.parts(i + 1)
        for one, other in zip(args, args[1:]):
            # of an address and a value the compiler would tell
            if one[0] <= one[1] and other[0] <= other[1] and "text" not in \
                    s.kind[one[0]:other[1] + 1] and \
                    (s.at(one[0]) == "&") == (s.at(other[0]) == "&"):
                self.swap(SWAPPED, one, other)

    def initialisers(self, i):
        """{.a = X, .b = Y}"""
        s = self.s
        if s.word[i] != "{" or s.at(i + 1) != "." or i not in s.mate:
            return
        fields = [(a, b) for a, b in self.parts(i) if s.at(a + 2) == "=" and
                  a + 3 <= b]
        for one, other in zip(fields, fields[1:]):
            self.swap(FIELDS, (one[0] + 3, one[1]), (other[0] + 3, other[1]))

    def begins(self, i):
        """@return whether a statement begins at token i; "{}" where it is all
        that an if or a loop does"""
        s = self.s
        before = s.at(i - 1)
        if before in ("else", "do"):
            return "{ }"
        if before == ")" and s.at(s.mate.get(i - 1, 0) - 1) in CONTROL:
            return "{ }"
        if before == ":" and s.at(i - 3) not in ("?",):
            k = i - 2
            while k > self.first and s.at(k) not in (";", "{", "}", "?"):
                k -= 1
            return "" if s.at(k) != "?" else None
        return "" if before in (";", "{", "}") else None

    def statements(self):
        s = self.s
        depth, last = 0, None
        for i in range(self.first + 1, self.last):
            if s.word[i] in ("(", "["):
                depth += 1
            elif s.word[i] in (")", "]"):
                depth -= 1
            instead = self.begins(i) if not depth else None
            if instead is None:
                continue
            end = i
            while end < self.last and s.word[end] != ";":
                end = s.mate.get(end, end) + 1 if s.word[end] in "([{" else \
                    end + 1
            last = self.statement(i, end, instead, last)

    def statement(self, i, end, instead, last):
        """@return (first token, token of =, token of ;) of an assignment"""
        s = self.s
        if s.word[i] in ("break", "continue", "return") and end == i + 1:
            self.remove(REMOVED, i, end, instead)
            return None
        a = i
        if s.word[i:i + 3] == ["(", "void", ")"]:
            a = i + 3
        set_at = next((k for k in range(a, end) if s.word[k] in ASSIGN), end)
        if not self.is_place(a, set_at):
            return None
        if set_at == end:  # a call, or a count
            if s.word[end - 1] == ")" and s.kind[a] == "name":
                self.remove(RESET if CLEARS.fullmatch(s.word[a]) else REMOVED,
                            i, end, instead)
            elif "++" in (s.word[a], s.word[end - 1]) or "--" in (
                    s.word[a], s.word[end - 1]):
                self.remove(REMOVED, i, end, instead)
            return None
        zero = set_at == end - 2 and re.fullmatch(
            "0[uUlL]*|NULL|false", s.word[end - 1])
        self.remove(RESET if zero and s.word[set_at] == "=" else REMOVED,
                    i, end, instead)
        if last and last[2] == i - 1 and s.word[last[1]] == s.word[set_at] \
                and s.at(set_at - 2) in (".", "->") and s.word[
                    last[0]:last[1] - 1] == s.word[i:set_at - 1]:
            self.swap(FIELDS, (last[1] + 1, last[2] - 1),
                      (set_at + 1, end - 1))
        return i, set_at, end

    def is_place(self, i, end):
        """@return whether the tokens are no declaration: `x->y[i].z`, `*p`,
        `f(a)`, `n++`"""
        s = self.s
        while i < end and s.word[i] in ("*", "++", "--"):
            i += 1
        if i >= end or (s.kind[i] != "name" and s.word[i] != "(") or \
                s.word[i] in CONTROL + ("return", "goto", "case", "do",
                                        "else", "default"):
            return False
        while i < end:
            if s.word[i] in ("(", "["):
                i = s.mate.get(i, i)
            elif s.kind[i] == "name" and s.kind[i + 1] == "name":
                return False
            elif s.kind[i] != "name" and s.word[i] not in (".", "->", "++",
                                                           "--"):
                return False
            i += 1
        return True

    def remove(self, kind, i, j, instead):
        s = self.s
        start, end = s.start[i], s.end[j]
        if instead:
            self.add(kind, i, j, instead)
            return
        begin = s.text.rfind("\n", 0, start) + 1
        stop = s.text.find("\n", end) + 1
        if not s.text[begin:start].strip() and not s.text[end:stop].strip():
            start, end = begin, stop  # no blank line is left
        self.add(kind, i, j, "", start=start, end=end)


def slips(path, text):
    """@return all slips of a file, in the order of its text"""
    source = Source(path, text)
    found = []
    for name, first, last in source.functions():
        found += Finder(source, name, first, last).find()
    found.sort(key=lambda x: (x.start, x.end, KINDS.index(x.kind), x.new))
    return found
