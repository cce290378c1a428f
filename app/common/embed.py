#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes files as C arrays (embedded.h): embed.py OUTPUT SYMBOL FILE..."""
import os
import sys


def main():
    out, symbol, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    text = ['/* SPDX-License-Identifier: BSD-3-Clause */',
            '#include "embedded.h"', '',
            'extern const struct embedded %s[];' % symbol, '']
    rows = []
    for i, path in enumerate(files):
        with open(path, "rb") as f:
            data = f.read()
        text.append("static const char file%d[] = {" % i)
        for k in range(0, len(data), 16):
            text.append("\t" + " ".join("%d," % (b - 256 * (b > 127))
                                        for b in data[k:k + 16]))
        text += ["\t0", "};", ""]
        rows.append('\t{ "%s", file%d, sizeof(file%d) - 1 },'
                    % (os.path.basename(path), i, i))
    text += ["const struct embedded %s[] = {" % symbol, *rows,
             "\t{ 0, 0, 0 },", "};", ""]
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join(text))


main()
