# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the tables, drawn by gnuplot from their CSV files. What each shows
stands in figures/NAME.gp, between style.gp and forms.gp; the script is kept
beside the picture, so that it can be changed and drawn again."""
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))

# name -> its number in the RXL paper, the table whose CSV it draws
FIGURES = {
    "rates": ("", "fec"), "order": ("", "order"), "fit": ("8", "fit"),
    "loss": ("", "loss"), "coalescing": ("", "loss"), "burst": ("", "burst"),
}


class NoGnuplot(Exception):
    pass


def find(word):
    """By name or number; None: there is no such figure."""
    for name, (number, _) in FIGURES.items():
        if word == name or (word and word == number):
            return name
    return None


def part(name):
    with open(os.path.join(HERE, name + ".gp"), encoding="utf-8") as f:
        return f.read()


def draw(name, folder, script=None):
    """Writes the script into the folder, and has gnuplot draw it there as SVG,
    PNG and PDF. OSError: a file cannot be written, or gnuplot fails."""
    if script is None:
        script = part(name)
    with open(os.path.join(folder, name + ".gp"), "w", encoding="utf-8") as f:
        f.write("NAME = '%s'\n%s%s%s" % (name, part("style"), script,
                                         part("forms")))
    try:
        p = subprocess.run(["gnuplot", name + ".gp"], cwd=folder, check=False,
                           stdin=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        raise NoGnuplot() from None
    if p.returncode != 0:
        raise OSError(5, "gnuplot failed")
