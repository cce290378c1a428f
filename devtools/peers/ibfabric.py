# SPDX-License-Identifier: BSD-3-Clause
"""Fabrics of reflit's fabric files as ibsim and OpenSM take them."""
import itertools
import re
import subprocess

EDGE = re.compile(r'^\t"([^"]+)" -- "([^"]+)"(.*);$')
NODE = re.compile(r'^\t"([^"]+)" \[shape=(box|ellipse)(.*)\];$')
GUID = 0x200000


class Fabric:
    """What reflit-route says a fabric file is, without what has failed."""

    def __init__(self, route, config, fail=()):
        args = [route, "--config", config, "--engine", "updown", "--dot", "-"]
        for name in fail:
            args += ["--fail", name]
        p = subprocess.run(args, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, universal_newlines=True)
        if p.returncode != 0:
            raise ValueError((p.stdout + p.stderr).strip())
        self.switches, self.endpoints, self.links = [], [], []
        for line in p.stdout.split("\n"):
            node, edge = NODE.match(line), EDGE.match(line)
            if node and "gray" not in node.group(3):
                (self.switches if node.group(2) == "box" else
                 self.endpoints).append(node.group(1))
            elif edge and "dashed" not in edge.group(3):
                self.links.append((edge.group(1), edge.group(2)))
        linked = {name for link in self.links for name in link}
        self.switches = [s for s in self.switches if s in linked]
        self.endpoints = [e for e in self.endpoints if e in linked]
        self.guid = {s: GUID + i for i, s in enumerate(self.switches)}
        self.near = {s: set() for s in self.switches}
        for a, b in self.links:
            if a in self.near and b in self.near:
                self.near[a].add(b)
                self.near[b].add(a)

    def cables(self):
        """(a, port, b, port), ports numbered as the links come."""
        used = {}
        for a, b in self.links:
            ends = []
            for name in (a, b):
                used[name] = used.get(name, 0) + 1
                ends += [name, used[name]]
            yield tuple(ends)

    def write_net(self, path):
        """The fabric for ibsim. @return its cables"""
        ports = {}
        cables = list(self.cables())
        for a, pa, b, pb in cables:
            ports.setdefault(a, []).append((pa, b, pb))
            ports.setdefault(b, []).append((pb, a, pa))
        with open(path, "w") as f:
            for name in self.switches + self.endpoints:
                if name in self.guid:
                    f.write("switchguid=0x%x(%x)\n" % (self.guid[name],
                                                       self.guid[name]))
                f.write('%s %d "%s"\n' % (
                    "Switch" if name in self.guid else "Hca",
                    len(ports[name]), name))
                for number, peer, peer_port in ports[name]:
                    f.write('[%d] "%s"[%d]\n' % (number, peer, peer_port))
                f.write("\n")
        return cables

    def centre(self):
        """A switch that is near to all others: a root for up*/down*."""
        best = None
        for s in self.switches[:256]:
            far, todo = {s: 0}, [s]
            for u in todo:
                for v in self.near[u]:
                    if v not in far:
                        far[v] = far[u] + 1
                        todo.append(v)
            key = (max(far.values()), sum(far.values()))
            if best is None or key < best[0]:
                best = (key, s)
        return best[1]

    def roots(self):
        """Where up*/down* begins: the top of a tree, else the centre."""
        top = [s for s in self.switches
               if not any(e in self.endpoints for e in self.hosts(s))]
        levels = {s.split(".")[0] for s in top}
        if top and len(self.switches) > len(top) and len(levels) >= 1 and \
           all(re.match(r"s\d+\.\d+$", s) for s in top):
            last = max(int(x[1:]) for x in levels)
            return [s for s in top if s.startswith("s%d." % last)]
        return [self.centre()]

    def hosts(self, switch):
        return [b if a == switch else a for a, b in self.links
                if switch in (a, b) and not (a in self.near and
                                             b in self.near)]

    def write_torus_conf(self, path, dims):
        """torus-2QoS.conf with several seeds; one dimension too few is put
        in front, as OpenSM's last dimension is always the third."""
        pad = 3 - len(dims)
        letters = "xyz"[pad:]
        seeds = []
        for at in itertools.product(*[range(0, d, max(1, d // 2))
                                      for d in dims]):
            seed = self.torus_seed(at, dims, letters)
            if seed:
                seeds.append(seed)
        with open(path, "w") as f:
            f.write("torus %s\n" % " ".join(
                str(d) for d in [1] * pad + list(dims)))
            f.write("portgroup_max_ports 64\n")
            f.write("next_seed\n".join(seeds[:6]))
        return bool(seeds)

    def torus_seed(self, at, dims, letters):
        def name(c):
            return "s" + ".".join(str(x) for x in c)

        lines = []
        for d, radix in enumerate(dims):
            for step, sign in ((1, "p"), (-1, "m")):
                if radix == 1 or (radix == 2 and at[d] + step not in (0, 1)):
                    continue
                to = list(at)
                to[d] = (to[d] + step) % radix
                if name(to) not in self.near.get(name(at), ()):
                    return None
                lines.append("%s%s_link 0x%x 0x%x\n" % (
                    letters[d], sign, self.guid[name(at)],
                    self.guid[name(to)]))
            if at[d]:
                lines.append("%s_dateline %d\n" % (letters[d], -at[d]))
        return "".join(lines)
