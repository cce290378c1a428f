# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the tree in which mutants are compiled and tested."""
import os
import shutil
import subprocess

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
KILLED, SURVIVED, KEPT, STALE = "killed", "survived", "kept", "stale"


class Scratch:
    """A copy of the tree, and a build of it."""

    def __init__(self, where, *options):
        self.where = where
        self.src = os.path.join(where, "src")
        self.build = os.path.join(where, "build")
        os.makedirs(self.src, exist_ok=True)
        out = subprocess.run(["git", "-C", ROOT, "ls-files", "-co",
                              "--exclude-standard"], capture_output=True,
                             text=True, check=True)
        wanted = set(out.stdout.split("\n")) - {""}
        for name in wanted:
            self.put(name)
        for base, _, names in os.walk(self.src):
            for n in names:
                name = os.path.relpath(os.path.join(base, n), self.src)
                if name not in wanted:
                    os.remove(os.path.join(base, n))
        self.setup(self.build, *(options or ["-Dwerror=false"]))

    def setup(self, build, *options):
        """Makes a build folder, if there is none yet."""
        env = dict(os.environ)
        if shutil.which("ccache"):
            env.setdefault("CC", "ccache gcc")
        if not os.path.exists(os.path.join(build, "build.ninja")):
            p = subprocess.run(["meson", "setup", build, self.src,
                                "-Doptimization=1", "-Dc_args=-DRL_DEBUG"] +
                               list(options),
                               capture_output=True, text=True, env=env,
                               check=False)
            if p.returncode:
                raise SystemExit(p.stdout + p.stderr)

    def put(self, name):
        """Copies a file where it differs: what is the same is not rebuilt."""
        source, to = os.path.join(ROOT, name), os.path.join(self.src, name)
        if not os.path.isfile(source):
            return
        with open(source, "rb") as f:
            content = f.read()
        if os.path.isfile(to):
            with open(to, "rb") as f:
                if f.read() == content:
                    return
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(to, "wb") as f:
            f.write(content)
        shutil.copymode(source, to)

    def write(self, name, text):
        with open(os.path.join(self.src, name), "w", encoding="utf-8") as f:
            f.write(text)

    def unknown(self, tests):
        """@return those that meson knows nothing of: it would pass them over"""
        p = subprocess.run(["meson", "test", "-C", self.build, "--list"],
                           capture_output=True, text=True, check=True)
        known = {line.split(" / ")[-1].strip() for line in
                 p.stdout.split("\n")}
        return sorted(set(tests) - known)

    def test(self, tests, jobs):
        """@return (outcome, which test failed)"""
        # of a test of many cases the first that fails is enough
        env = dict(os.environ, STOP_AT_FIRST_FAILURE="1")
        p = subprocess.run(["meson", "test", "-C", self.build, "--maxfail",
                            "1", "--num-processes", str(jobs)] + tests,
                           capture_output=True, text=True, check=False,
                           env=env)
        if p.returncode == 0:
            return SURVIVED, ""
        bad = [line.split()[1:] for line in p.stdout.split("\n")
               if " FAIL " in line or " TIMEOUT " in line or
               " ERROR " in line]
        if not bad:
            return STALE, "does not compile:\n" + "\n".join(
                (p.stdout + p.stderr).split("\n")[-15:])
        return KILLED, " ".join(w for w in bad[0] if w not in
                                ("reflit", "/")).split("  ")[0]
