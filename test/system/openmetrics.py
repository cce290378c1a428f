# SPDX-License-Identifier: BSD-3-Clause
"""A strict reader of the OpenMetrics text form 1.0, for tests: what it takes,
Prometheus takes. Where Prometheus' own parser for Python is installed, that reads
the text, too."""
import re

try:
    from prometheus_client.openmetrics.parser import \
        text_string_to_metric_families as by_prometheus
except ImportError:
    by_prometheus = None

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
NAME = re.compile(r"^[a-zA-Z_:][a-zA-Z0-9_:]*$")
SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)')
SUFFIXES = {"gauge": ("",), "counter": ("_total",), "info": ("_info",),
            "histogram": ("_bucket", "_count", "_sum")}


class Family:
    def __init__(self, name, kind):
        self.name, self.kind = name, kind
        self.unit = self.help = None
        self.samples = {}  # (suffix, labels as a sorted tuple): value


def labels_of(text):
    out, at = {}, 0
    while at < len(text):
        m = LABEL.match(text, at)
        assert m, "labels: " + text[at:]
        assert m[1] not in out, "twice: " + text
        out[m[1]] = re.sub(r"\\(.)",
                           lambda e: "\n" if e[1] == "n" else e[1], m[2])
        at = m.end()
    return out


def add_sample(f, line):
    m = SAMPLE.match(line)
    assert m, line
    assert m[1].startswith(f.name) and m[1][len(f.name):] in \
        SUFFIXES[f.kind], "no sample of %s: %s" % (f.name, line)
    suffix, labels = m[1][len(f.name):], labels_of(m[2] or "")
    key = suffix, tuple(sorted(labels.items()))
    assert key not in f.samples, "the same series twice: " + line
    f.samples[key] = float(m[3])
    if f.kind in ("counter", "histogram"):
        assert f.samples[key] >= 0, line
    if f.kind == "info":
        assert f.samples[key] == 1, line
    assert ("le" in labels) == (suffix == "_bucket"), line


def check_buckets(f):
    by = {}
    for (_, labels), v in f.samples.items():
        rest = tuple(x for x in labels if x[0] != "le")
        by.setdefault(rest, []).append((float(dict(labels)["le"]), v))
    for row in by.values():
        assert row == sorted(row), (f.name, row)
        assert [v for _, v in row] == sorted(v for _, v in row), (f.name, row)
        assert row[-1][0] == float("inf"), (f.name, row[-1])


def families(text):
    """{name: Family} of a whole document; AssertionError names what is wrong."""
    assert text.endswith("\n# EOF\n") or text == "# EOF\n", text[-80:]
    out, f = {}, None
    for line in text[:-len("# EOF\n")].split("\n")[:-1]:
        if not line.startswith("#"):
            add_sample(f, line)
            continue
        _, word, name, rest = (line + " ").split(" ", 3)
        rest = rest[:-1]
        if word == "TYPE":
            assert NAME.match(name) and rest in SUFFIXES, line
            assert name not in out, "its samples do not stand together: " + line
            f = out[name] = Family(name, rest)
        else:
            assert f is not None and name == f.name and not f.samples, line
            assert word in ("UNIT", "HELP") and getattr(
                f, word.lower()) is None, line
            setattr(f, word.lower(), rest)
            assert word == "HELP" or name.endswith("_" + rest), line
    for f in out.values():
        assert f.help, f.name + " has no help"
        if f.kind == "histogram":
            check_buckets(f)
    if by_prometheus is not None:
        assert {m.name for m in by_prometheus(text)} == set(out)
    return out


def value(found, family, **labels):
    """The only sample with these labels, among others."""
    got = [v for (_, have), v in found[family].samples.items()
           if set(labels.items()) <= set(have)]
    assert len(got) == 1, (family, labels, found[family].samples)
    return got[0]
