#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which programs a source executes: the readers of programs.py.

Each reader takes a text and yields (line, program). A word with a slash is a
program of the tree, a word with `$` is computed: neither is a program of the
system.
"""
import ast
import os
import re

BUILTINS = set("""
. : [ alias bg break case cd command continue declare do done echo elif else
esac eval exec exit export false fg fi for function getopts hash help if in jobs kill
let local printf pwd read readonly return set shift shopt source test then time
times trap true type typeset ulimit umask unalias unset until wait while { } ! [[
""".split())
# program -> how many of its words come before the program that it executes;
# options and settings of variables are passed over
WRAPPERS = {
    "sudo": 0, "nice": 0, "nohup": 0, "env": 0, "setsid": 0, "exec": 0,
    "time": 0, "xargs": 0, "timeout": 1, "chroot": 1, "flock": 1, "stdbuf": 0,
    "setpriv": 0, "unshare": 0, "taskset": 1, "chrt": 1, "ionice": 0,
}
# options of wrappers that take a word of their own
TAKES_WORD = {"-n", "-u", "-g", "-c", "-w", "-C", "-S", "-k", "-s"}
NAME = re.compile(r"^[A-Za-z_][\w.+-]*$")


def programs_of(words):
    """The programs that a command executes: its own, and behind wrappers.
    A word that is not known is None."""
    words = list(words)
    while words:
        word = words.pop(0)
        if word is None:
            return
        if re.match(r"^[A-Za-z_]\w*\+?=", word):
            continue
        if word not in BUILTINS and NAME.match(word):
            yield word
        if word == "ip" and words[:2] == ["netns", "exec"]:
            words = words[3:]
            continue
        if word == "command" and words[:1] == ["-v"]:
            words = words[1:]
            continue
        if word not in WRAPPERS:
            return
        while words and words[0] is not None and words[0].startswith("-"):
            option = words.pop(0)
            if option in TAKES_WORD and word not in ("xargs", "env", "unshare",
                                                     "setpriv"):
                words = words[1:]
        words = words[WRAPPERS[word]:]


# --- shell

def shell_tokens(text):
    """(line, token) with ";" for all that ends a command but "(" and ")"; what
    stands inside $( ) and ` ` is given as commands of its own."""
    i, line, n = 0, 1, len(text)
    word, start, quoted, inner, heredoc = "", 1, False, [], []
    while i < n:
        c = text[i]
        if c == "\\" and i + 1 < n:
            line += text[i + 1] == "\n"
            if text[i + 1] != "\n":
                word += text[i + 1]
            i += 2
            continue
        if c == "'":
            end = text.find("'", i + 1)
            end = n if end < 0 else end
            line += text.count("\n", i, end)
            word, quoted, i = word + text[i + 1:end], True, end + 1
            continue
        if c == '"':
            end = quote_end(text, i + 1)
            part = text[i + 1:end]
            inner += [(line, s) for s in substitutions(part)]
            line += part.count("\n")
            word, quoted, i = word + part, True, end + 1
            continue
        if text.startswith("$((", i):
            end = text.find("))", i)
            word, i = word + "$", n if end < 0 else end + 2
            continue
        if text.startswith("$(", i):
            end = paren_end(text, i + 2)
            inner.append((line, text[i + 2:end]))
            line += text.count("\n", i, end)
            word, i = word + "$", end + 1
            continue
        if c == "`":
            end = text.find("`", i + 1)
            inner.append((line, text[i + 1:end]))
            word, i = word + "$", (n if end < 0 else end) + 1
            continue
        if text.startswith("${", i):
            end = text.find("}", i)
            word, i = word + "$", (n if end < 0 else end) + 1
            continue
        if c == "#" and not word and not quoted:
            end = text.find("\n", i)
            i = n if end < 0 else end
            continue
        if text.startswith("<<", i) and not text.startswith("<<<", i):
            m = re.match(r"<<-?\s*(['\"]?)(\w+)\1", text[i:])
            if m:
                heredoc.append(m.group(2))
                i += m.end()
                continue
        if c in " \t\n;|&()<>":
            if word or quoted:
                yield start, word
            word, quoted = "", False
            if c in "<>":
                m = re.match(r"[<>]+&?\s*[^\s;|&()]*", text[i:])
                i += m.end()
                continue
            if text.startswith(";;", i):
                yield line, ";;"
                i += 1
            elif c in "\n;|&()":
                yield line, c if c in "()" else ";"
            if c == "\n":
                line += 1
                for end in heredoc:
                    m = re.compile(r"^\t*%s$" % end, re.M).search(text, i + 1)
                    stop = m.end() if m else n
                    line += text.count("\n", i + 1, stop)
                    i = stop - 1
                heredoc = []
            i += 1
            start = line
            continue
        if not word and not quoted:
            start = line
        word += c
        i += 1
    if word or quoted:
        yield start, word
    yield line, ";"
    for at, part in inner:
        for sub, token in shell_tokens(part):
            yield at + sub - 1, token


def quote_end(text, i):
    while i < len(text) and text[i] != '"':
        if text.startswith("$(", i):
            i = paren_end(text, i + 2)
        i += 2 if text[i:i + 1] == "\\" else 1
    return i


def paren_end(text, i):
    depth = 1
    while i < len(text):
        c = text[i]
        if c == "'":
            i = text.find("'", i + 1)
            if i < 0:
                return len(text)
        elif c == '"':
            i = quote_end(text, i + 1)
        elif c in "()":
            depth += 1 if c == "(" else -1
            if depth == 0:
                return i
        i += 1
    return len(text)


def substitutions(part):
    """The commands in $( ) of a quoted text."""
    i = part.find("$(")
    while i >= 0:
        if part.startswith("$((", i):
            i = part.find("$(", i + 3)
            continue
        end = paren_end(part, i + 2)
        yield part[i + 2:end]
        i = part.find("$(", end)


def shell(text):
    functions = set(re.findall(r"^\s*(?:function\s+)?([\w-]+)\s*\(\)", text,
                               re.M))
    words, line, depth = [], 1, 0
    cases = []  # of each that is open: whether a pattern comes next
    for at, token in shell_tokens(text):
        if token not in ("(", ")", ";", ";;"):
            if not words:
                line = at
            words.append(token)
            if len(words) > 2 and words[0] == "case" and words[2] == "in":
                cases.append(True)
                words = []
            elif words == ["esac"] and cases:
                cases.pop()
            continue
        depth += token == "("
        if cases and cases[-1]:  # a pattern, no command
            cases[-1] = token != ")"
            depth -= token == ")" and depth > 0
            words = []
            continue
        depth -= token == ")" and depth > 0
        if token == ";;" and cases:
            cases[-1] = True
        # keywords stand before a command
        while words and words[0] in ("if", "then", "else", "elif", "while",
                                     "until", "do", "!", "{", "}", "time",
                                     "esac"):
            words.pop(0)
        if words and words[0] in ("for", "in", "function"):
            words = []
        yield from ((line + more, p) for more, p in command_words(words)
                    if p not in functions)
        words = []


def command_words(words):
    """(lines further down, program) of one command, and of what it gives to
    a shell."""
    for program in programs_of([None if "$" in w else w for w in words]):
        yield 0, program
    for i, word in enumerate(words[:-1]):
        if re.match(r"^-[a-z]*c$", word) and words[max(0, i - 2):i + 1] and \
                {"sh", "bash"} & set(words[max(0, i - 2):i]):
            for at, program in shell(words[i + 1]):
                yield at - 1, program


# --- Python

EXECUTES = {"run", "Popen", "call", "check_call", "check_output", "which",
            "execvp", "execlp", "execvpe", "getoutput", "system", "popen",
            "need", "create_subprocess_exec"}


class PythonReader(ast.NodeVisitor):
    """Finds words that reach a call which executes them; a function that
    passes its own parameters on executes, too."""

    def __init__(self, tree):
        self.tree, self.found, self.names = tree, [], {}
        self.passers = {}  # function -> words that it puts before its own
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and \
                    isinstance(node.targets[0], ast.Name):
                self.names.setdefault(node.targets[0].id, []).append(
                    node.value)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                self.look_for_passer(node)

    def look_for_passer(self, fn):
        own = {a.arg for a in fn.args.args}
        star = fn.args.vararg.arg if fn.args.vararg else None
        for call in ast.walk(fn):
            if not (isinstance(call, ast.Call) and self.executes(call) and
                    call.args):
                continue
            arg = call.args[0]
            before = []
            if isinstance(arg, ast.BinOp):
                before = [w for w in self.words(arg.left)]
                arg = arg.right
            if isinstance(arg, ast.List) and arg.elts and \
                    isinstance(arg.elts[-1], ast.Starred):
                before += [self.word(e) for e in arg.elts[:-1]]
                arg = arg.elts[-1].value
            if isinstance(arg, ast.Call) and arg.args:  # list(cmd)
                arg = arg.args[0]
            if isinstance(arg, ast.Name) and arg.id == star:
                self.passers[fn.name] = (True, before)
            elif isinstance(arg, ast.Name) and arg.id in own:
                self.passers[fn.name] = (False, before)

    @staticmethod
    def called(call):
        f = call.func
        return f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "")

    def executes(self, call):
        f = call.func
        if isinstance(f, ast.Attribute):
            owner = getattr(f.value, "id", "")
            return f.attr in EXECUTES and owner in ("subprocess", "os",
                                                    "shutil", "asyncio")
        return getattr(f, "id", "") == "need"

    @staticmethod
    def word(node):
        return node.value if isinstance(node, ast.Constant) and \
            isinstance(node.value, str) else None

    def words(self, node, depth=0):
        """The words of an expression; None for what is not known."""
        if depth > 4:
            return [None]
        if isinstance(node, (ast.List, ast.Tuple)):
            out = []
            for e in node.elts:
                out += self.words(e.value, depth + 1) if isinstance(
                    e, ast.Starred) else [self.word(e)]
            return out
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.words(node.left, depth + 1) + self.words(
                node.right, depth + 1)
        if isinstance(node, ast.Name):
            values = self.names.get(node.id, [])
            return self.words(values[0], depth + 1) if len(values) == 1 \
                else [None]
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                "list", "tuple") and node.args:
            return self.words(node.args[0], depth + 1)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value.split()
        return [None]

    def note(self, line, words):
        for program in programs_of(words):
            self.found.append((line, program))

    def variants(self, node):
        """All values that a name has somewhere in the file."""
        if isinstance(node, ast.Name) and self.names.get(node.id):
            return self.names[node.id]
        return [node]

    def visit_Call(self, call):
        name = self.called(call)
        if self.executes(call) and call.args:
            if name == "need":
                for arg in call.args:
                    self.note(call.lineno, [self.word(arg)])
            else:
                for value in self.variants(call.args[0]):
                    self.note(call.lineno, self.words(value))
        elif name in self.passers and call.args:
            star, before = self.passers[name]
            args = self.words(ast.Tuple(elts=call.args)) if star \
                else self.words(call.args[0])
            self.note(call.lineno, before + args)
        self.generic_visit(call)


def python(text):
    reader = PythonReader(ast.parse(text))
    reader.visit(reader.tree)
    return reader.found


# --- C, Markdown

def c(text):
    for m in re.finditer(r"\b(execl?v?pe?|posix_spawnp|popen|system)\s*\(\s*"
                         r"(?:&\w+,\s*)?\"((?:\\.|[^\"\\])*)\"", text):
        line = text.count("\n", 0, m.start()) + 1
        command = m.group(2)
        if m.group(1) in ("popen", "system"):
            for _, program in shell(re.sub(r"%\w+", "$x", command)):
                yield line, program
        else:
            yield from ((line, p) for p in programs_of([command]))
    # a command put together before it is given to system() or popen()
    if re.search(r"\b(system|popen)\s*\(\s*[a-z]", text):
        for m in re.finditer(r"snprintf\s*\(\s*cmd\b[^\"]*\"([^\"]*)\"", text):
            line = text.count("\n", 0, m.start()) + 1
            for _, program in shell(re.sub(r"%\w+", "$x", m.group(1))):
                yield line, program


def markdown(text):
    """Fenced blocks that are commands: said to be sh, or whose first line is
    a program of the tree, of Python or of the shell."""
    command = re.compile(r"^(\$ |# apt|sudo |\./|build/|python3 |meson |git |"
                         r"apt|ninja |\( ?cat )")
    for m in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.S | re.M):
        first = text.count("\n", 0, m.start(2)) + 1
        kind, block = m.group(1), m.group(2)
        if kind not in ("sh", "bash", "shell", "console", "") or (
                kind == "" and not command.match(block)):
            continue
        if re.search(r"^\$ ", block, re.M):  # a session: prompts and answers
            block = "\n".join(s[2:] if s.startswith("$ ") else ""
                              for s in block.split("\n"))
        block = re.sub(r"^\w+> .*$", "", block, flags=re.M)  # a prompt's
        for line, program in shell(block):
            if not re.match(r"reflit(-\w+)?$", program):
                yield first + line - 1, program


def kind_of(name, path):
    """The reader of a file, or None."""
    if name.endswith(".py"):
        return python
    if name.endswith((".c", ".h")):
        return c
    if name.endswith(".md"):
        return markdown
    if name.endswith(".sh"):
        return shell
    if "." not in os.path.basename(name):
        with open(path, "rb") as f:
            head = f.readline(64)
        if head.startswith(b"#!") and b"make" not in head:
            return python if b"python" in head else shell
    return None


# --- the test of these readers

PLANTED = [
    (shell, "x=1 zz-a --opt | zz-b && ! zz-c\n"),
    (shell, "if zz-a; then\n\tzz-b\nfi\ny=$((y + 1))\nx=$(zz-c 'a b')\n"),
    (shell, "case $x in\n--quick | -q) zz-a ;;\n*)\n\t(zz-b)\n\t;;\nesac\n"
            "zz-c\n"),
    (shell, "sudo zz-a\nip netns exec n zz-b -K\ntimeout -k 1 5 zz-c\n"),
    (shell, "case $1 in\n-v)\n\tcase $2 in\n\ta | b) zz-a ;;\n\t*) zz-b ;;\n"
            "\tesac\n\t;;\n-k) x=1 ;;\nesac\nif x; then sh -c 'zz-c $y'; fi\n"),
    (shell, "cat <<E\nno-program\nE\nzz-a >log 2>&1 || zz-b\n"
            "echo \"$(zz-c)\" # no-program\n"),
    (shell, "f() {\n\tzz-a\n}\nf x\ncommand -v zz-b >/dev/null || exec zz-c\n"),
    (python, "import subprocess\nsubprocess.run(['zz-a', 'x'])\n"
             "def sh(*cmd):\n  subprocess.run(cmd, check=True)\n"
             "ns = ('ip', 'netns', 'exec', n)\nsh(*ns, 'zz-b')\n"
             "sh('zz-c', 'y')\n"),
    (python, "import subprocess, os, shutil\n"
             "def ip(*a):\n  subprocess.run(('ip',) + a)\n"
             "ip('netns', 'exec', n, 'zz-a')\nos.execvp('zz-b', x)\n"
             "shutil.which('zz-c')\n"),
    (python, "import subprocess\ncmd = ['zz-a']\nsubprocess.Popen(cmd + more)\n"
             "subprocess.call('zz-b x', shell=True)\nneed('zz-c')\n"),
    (c, 'execlp("zz-a", "zz-a", x);\npopen("zz-b %s | zz-c", "r");\n'),
    (c, 'snprintf(cmd, sizeof(cmd), "zz-a -rf %s; zz-b", d);\n'
        'return system(cmd);\nexecvp("zz-c", argv);\n'),
    (markdown, "text\n\n```sh\nzz-a\n( zz-b; zz-c ) > x\n```\n"),
    (markdown, "```\n$ zz-a x\nanswer\n$ sudo zz-b | zz-c\nno-program\n```\n"),
    (markdown, "```\nbuild/app/reflit x\nzz-a\nzz-b; zz-c\n```\n"
               "```\nno-program\n```\n"),
]


def self_test(check):
    """check(more): the complaints of the tree and of these programs."""
    bad = 0
    for reader, text in PLANTED:
        seen = {p for _, p in reader(text)} - {"sudo", "ip", "timeout", "cat",
                                               "sh", "x"}
        if seen != {"zz-a", "zz-b", "zz-c"}:
            print("found %s in:\n%s" % (sorted(seen), text))
            bad += 1
    usual = check([])
    more = check([("zz-a", "planted:1"), ("sh", "planted:2")])
    if len(more) != len(usual) + 1 or not any("planted:1" in s and "zz-a" in s
                                              for s in more):
        print("an unknown program was not reported:", more)
        bad += 1
    print("%d texts, %d findings" % (len(PLANTED), bad))
    return 1 if bad else 0
