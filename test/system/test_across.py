#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that have to be fast are optimised across files (meson.build). One
option too many, and the linker quietly takes the plain objects. What it compiled
as a whole shows by its names: static functions of several files stand in one,
and the compiler tells them apart."""
import os
import subprocess
import sys


def across(program):
    """How many functions bear such a name."""
    names = subprocess.run(["nm", program], capture_output=True, text=True,
                           check=True).stdout
    return sum(1 for s in names.split("\n") if ".lto_priv" in s)


def main():
    failed = 0
    for program in sys.argv[1:]:
        name = "%s_is_optimised_across_files" % os.path.basename(
            program).replace("-", "_")
        n = across(program)
        print("[ RUN      ] " + name)
        if n == 0:
            print("no function of %s was compiled with others" % program)
        print("[%s ] %s" % ("       OK" if n else "  FAILED ", name))
        failed += n == 0
    print("%d case(s), %d failed" % (len(sys.argv) - 1, failed))
    return 1 if failed or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
