# SPDX-License-Identifier: BSD-3-Clause
"""A table that is filled row by row, and then printed, written as CSV, and put
into a JSON report."""
import math


class Table:
    def __init__(self, name, title, *columns):
        """columns: (name, format of a number when printed)"""
        self.name, self.title = name, title
        self.columns = columns
        self.rows, self.notes = [], []

    def row(self, *cells):
        """A cell is a number, a text, a bool or None; a number that is not
        finite is None."""
        assert len(cells) == len(self.columns), (self.name, cells)
        self.rows.append([
            c if isinstance(c, (bool, str)) or c is None else
            float(c) if math.isfinite(c) else None for c in cells])

    def note(self, text, *values):
        self.notes.append(text % values if values else text)

    def shown(self, cell, form):
        """A cell as people read it."""
        if cell is None:
            return "-"
        if isinstance(cell, bool):
            return "yes" if cell else "NO"
        return cell if isinstance(cell, str) else form % cell

    def print(self, out):
        rows = [[self.shown(c, form) for c, (_, form) in zip(r, self.columns)]
                for r in self.rows]
        width = [max([len(name)] + [len(r[i]) for r in rows])
                 for i, (name, _) in enumerate(self.columns)]
        out.write("\n%s\n" % self.title)
        out.write("".join("  %*s" % (w, name) for w, (name, _)
                          in zip(width, self.columns)) + "\n")
        for cells, shown in zip(self.rows, rows):
            out.write("".join(
                "  %*s" % (-w if isinstance(c, str) else w, s)
                for w, c, s in zip(width, cells, shown)) + "\n")
        for note in self.notes:
            out.write("  * %s\n" % note)

    def csv(self, path):
        def cell(c):
            if c is None:
                return ""
            if isinstance(c, str):
                return '"%s"' % c.replace('"', '""')
            return "%.9g" % c

        with open(path, "w", encoding="utf-8") as f:
            f.write(",".join(name for name, _ in self.columns) + "\n")
            for r in self.rows:
                f.write(",".join(cell(c) for c in r) + "\n")

    def json(self):
        return {"title": self.title,
                "rows": [{name: c for (name, _), c in zip(self.columns, r)}
                         for r in self.rows],
                "notes": self.notes}
