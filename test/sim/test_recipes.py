# SPDX-License-Identifier: BSD-3-Clause
"""The recipes of docs/campaigns.md do what they say: each runs a small campaign,
and all come to the same bytes [SIM-1].

usage: test_recipes.py REFLIT_SIM SOURCE_ROOT
"""

import glob
import os
import subprocess
import tempfile

from sim_check import FIGURE1, ROOT, SIM, check, end, run

RECIPES = os.path.join(ROOT, "examples", "campaign")
WHAT = ("--config", FIGURE1, "--duration", "2us", "--seeds", "30", "--block",
        "4")
try:
    import yaml
except ImportError:
    yaml = None


def shell(command, **env):
    return subprocess.run(command, env=dict(os.environ, REFLIT_SIM=SIM, **env),
                          capture_output=True, text=True, timeout=120)


def merged(tmp, name):
    out = os.path.join(tmp, name + ".all")
    p = run("merge", "--store", out,
            *glob.glob(os.path.join(tmp, name, "[0-9]*.store")))
    check(name + ": all seeds are there", p.returncode == 0, p.stderr)
    with open(out, "rb") as f:
        return f.read()


def kubernetes(tmp):
    """What the pods' shell executes, and its environment."""
    with open(os.path.join(RECIPES, "kubernetes.yaml")) as f:
        job = yaml.safe_load(f)
    check("kubernetes: an indexed job", job["kind"] == "Job" and
          job["spec"]["completionMode"] == "Indexed")
    pod = job["spec"]["template"]["spec"]
    box = pod["containers"][0]
    env = {e["name"]: e["value"] for e in box["env"]}
    mounts = {m["name"]: m["mountPath"] for m in box["volumeMounts"]}
    check("kubernetes: its stores are on the volume", env["DIR"] in
          mounts.values() and {v["name"] for v in pod["volumes"]} ==
          set(mounts), (env, mounts))
    check("kubernetes: as many shards as pods",
          int(env["SHARDS"]) == job["spec"]["completions"])
    env.update(DIR=os.path.join(tmp, "kubernetes"), SHARDS="3", SEEDS="30",
               BLOCK="4", PATH=tmp + ":" + os.environ["PATH"])
    os.mkdir(env["DIR"])
    with open(os.path.join(tmp, "reflit-sim"), "w") as f:
        f.write('#!/bin/sh\nexec "%s" "$@" --config "%s" --duration 2us\n' %
                (os.path.abspath(SIM), os.path.abspath(FIGURE1)))
    os.chmod(os.path.join(tmp, "reflit-sim"), 0o755)
    for i in range(3):
        p = shell(box["command"], JOB_COMPLETION_INDEX=str(i), **env)
        check("kubernetes: pod %d" % i, p.returncode == 0, p.stderr)


with tempfile.TemporaryDirectory() as tmp:
    os.mkdir(os.path.join(tmp, "alone"))
    run("campaign", "--store", os.path.join(tmp, "alone", "1.store"), *WHAT)
    alone = merged(tmp, "alone")

    laptop = os.path.join(tmp, "laptop")
    for budget in ("0.000001s", "60s"): # the second time it goes on
        p = shell([os.path.join(RECIPES, "laptop.sh"), laptop, *WHAT,
                   "--time-budget", budget], JOBS="3")
    check("laptop: it says what came of all", p.returncode == 0 and
          p.stdout.splitlines()[-1].startswith("30 seeds from 1:"),
          p.stdout + p.stderr)
    check("laptop: the same bytes", merged(tmp, "laptop") == alone)

    for task in "123":
        p = shell([os.path.join(RECIPES, "slurm.sh"), *WHAT],
                  DIR=os.path.join(tmp, "slurm"), SLURM_ARRAY_TASK_ID=task,
                  SLURM_ARRAY_TASK_COUNT="3", BUDGET="60s")
        check("slurm: task " + task, p.returncode == 0, p.stderr)
    check("slurm: the same bytes", merged(tmp, "slurm") == alone)

    if yaml is not None:
        kubernetes(tmp)
        check("kubernetes: the same bytes", merged(tmp, "kubernetes") == alone)
    else:
        print("skipped kubernetes: no module yaml")

end()
