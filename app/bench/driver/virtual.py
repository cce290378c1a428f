# SPDX-License-Identifier: BSD-3-Clause
"""What suites share that are runs of reflit-sim."""
import json
import os
import signal
import subprocess
import sys

M64 = (1 << 64) - 1


class Ended(Exception):
    """The suite cannot go on: its exit status, and what to say."""

    def __init__(self, status, text=""):
        super().__init__(text)
        self.status = status


class Prng:
    """xoshiro256** as in rl_prng.h: a seed draws the same everywhere."""

    def __init__(self, seed):
        self.s = []
        for _ in range(4):
            seed = (seed + 0x9e3779b97f4a7c15) & M64
            z = seed
            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & M64
            z = (z ^ z >> 27) * 0x94d049bb133111eb & M64
            self.s.append(z ^ z >> 31)

    def below(self, n):
        def turned(x, k):
            return (x << k | x >> (64 - k)) & M64

        s = self.s
        drawn = turned(s[1] * 5 & M64, 7) * 9 & M64
        t = s[1] << 17 & M64
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = turned(s[3], 45)
        return (drawn >> 32) * n >> 32


class Rig:
    """Options, a folder for files, the programs, and whether to stop."""

    def __init__(self, program, folder, options):
        self.here = os.path.dirname(program)
        self.folder, self.o = folder, options
        self.stopped, self.process, self.said = False, None, ""
        for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(s) != signal.SIG_IGN:
                signal.signal(s, self.stop)

    def stop(self, _number, _frame):
        """After the run that goes on; a second signal ends that, too."""
        if self.stopped and self.process is not None:
            self.process.kill()
        self.stopped = True

    def file(self, name, text):
        """The path of a file with that text."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(text)
        return path

    def run(self, program, *words):
        """@return its exit status, 0 or 1; what it said is for other ones"""
        # Ctrl-C is for this program alone: a run ends by itself
        with subprocess.Popen([os.path.join(self.here, program), *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, start_new_session=True) as p:
            self.process = p
            out, err = p.communicate()
            self.process = None
        self.said = out
        if p.returncode == 3:
            sys.stdout.write(out)
        if p.returncode not in (0, 1):
            raise Ended(2 if p.returncode < 0 else p.returncode, err.strip())
        return p.returncode

    def simulate(self, config, seed, *words):
        """@return exit status and report of a run"""
        path = os.path.join(self.folder, "report.json")
        # several threads wait for each other where other programs run as well
        status = self.run("reflit-sim", "--config", config, "--seed",
                          str(seed & M64), "--threads", "1", "--json", path,
                          *words)
        with open(path, encoding="utf-8") as f:
            return status, json.load(f)
