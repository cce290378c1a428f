#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files of the page as C arrays: embed.py OUTPUT FILE..."""
import os
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript",
         ".css": "text/css", ".svg": "image/svg+xml"}


def main():
    out, files = sys.argv[1], sys.argv[2:]
    text = ['/* SPDX-License-Identifier: BSD-3-Clause */',
            '#include "page.h"', '']
    rows = []
    for i, path in enumerate(files):
        with open(path, "rb") as f:
            data = f.read()
        name = os.path.basename(path)
        url = "/" if name == "index.html" else "/" + name
        text.append("static const unsigned char file%d[] = {" % i)
        for k in range(0, len(data), 16):
            text.append("\t" + " ".join("%d," % b for b in data[k:k + 16]))
        text += ["};", ""]
        rows.append('\t{ "%s", "%s", file%d, sizeof(file%d) },'
                    % (url, TYPES[os.path.splitext(name)[1]], i, i))
    text += ["const struct page_file page_files[] = {", *rows,
             "\t{ NULL, NULL, NULL, 0 },", "};", ""]
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join(text))


main()
