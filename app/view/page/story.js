// SPDX-License-Identifier: BSD-3-Clause
// The last failover as it happened: what each end did, and the recovery behind it.

import { svg, short } from "/charts.js";

/* Ends of a recovery that nothing has to follow. */
const GOOD = { done: "Tables were renewed", detours: "Detours were found to serve" };
const ROW = 26, LEFT = 110, RIGHT = 90, TOGETHER_NS = 1e9;

export function time(ns) {
  return ns < 1e6 ? `${+(ns / 1e3).toPrecision(3)} us`
    : ns < 1e9 ? `${+(ns / 1e6).toPrecision(3)} ms` : `${short(ns / 1e9)} s`;
}

/**
 * f, r: failovers and recoveries as telemetry gives them, column by column.
 * Returns null if nothing failed; else the link, the time (ns) its fault began,
 * what its ends did (steps: [name, ns after that]) and the recovery, if any.
 */
export function story(f, r) {
  const ends = [], last = f.link.length - 1;
  let from = Infinity, rec = null;
  for (let i = last; i >= 0; i--)
    if (f.link[i] === f.link[last] && f.process?.[i] === f.process?.[last] &&
        f.at_ns[last] - f.at_ns[i] < TOGETHER_NS &&
        !ends.some((e) => f.device[e] === f.device[i])) {
      ends.unshift(i);
      from = Math.min(from, f.at_ns[i] - f.detect_ns[i]);
    }
  if (ends.length === 0 || f.link[last] === "-")
    return null;
  ends.sort((a, b) => f.at_ns[a] - f.at_ns[b]);
  /* the first that was about this link; if it failed, what was tried next */
  for (let i = 0; r && r.cause && i < r.cause.length; i++)
    if (r.at_ns[i] >= from && (rec ? !GOOD[rec.outcome]
      : r.cause[i].includes(f.link[last])))
      rec = ["compute", "prove", "quiesce", "install", "unquiesce"].reduce(
        (o, k) => {
          if (r[`${k}_ns`][i] > 0)
            o.steps.push([k, o.steps.at(-1)[1] + r[`${k}_ns`][i]]);
          return o;
        }, { outcome: r.outcome[i], mode: r.mode[i],
          steps: [["begun", r.at_ns[i] - from]] });
  return { link: f.link[last], from, rec, ends: ends.map((i) => {
    const dead = f.at_ns[i] - from, steps = [["detected", dead]];
    if (f.left_by[i] !== "-")
      steps.push(["rerouted", dead + f.first_rerouted_ns[i]]);
    if (f.drained_ns[i] > 0)
      steps.push(["drained", dead + f.drained_ns[i]]);
    return { device: f.device[i], detector: f.detector[i], way: f.left_by[i],
      flits: f.looped_flits[i], acked: f.looped_acked_flits[i], steps };
  }) };
}

function sentences(s) {
  const out = s.ends.map((e) => `${e.device} found it by ${e.detector} after ${
    time(e.steps[0][1])}` + (e.flits === 0 ? "; it held nothing."
    : `; ${e.flits} flits looped back, ${e.acked} of them acknowledged, and ${
      e.way === "-" ? "found no way yet." : `left by ${e.way}.`}`));
  if (s.rec)
    out.push(`${GOOD[s.rec.outcome]
      || `Its recovery ended by ${s.rec.outcome}`} ${
      time(s.rec.steps.at(-1)[1])} after the fault (${s.rec.mode}).`);
  return `${s.link} died at ${(s.from / 1e9).toFixed(3)} s. ${out.join(" ")}`;
}

/** Draws it into el, an svg, and says it in the element words. */
export function showStory(el, words, s) {
  words.textContent = s ? sentences(s) : "no link has failed";
  el.replaceChildren();
  if (!s)
    return;
  const rows = s.ends.map((e) => [e.device, e.steps]);
  if (s.rec)
    rows.push(["recovery", s.rec.steps]);
  const all = rows.flatMap((row) => row[1].map((v) => v[1]));
  const lo = Math.floor(Math.log10(Math.max(100, Math.min(...all))));
  const hi = Math.max(lo + 1, Math.ceil(Math.log10(Math.max(...all, 1))));
  const W = Math.max(320, words.clientWidth); // el has none while it is empty
  const X = (ns) => LEFT + (W - LEFT - RIGHT) *
    Math.max(0, (Math.log10(Math.max(ns, 1)) - lo) / (hi - lo));
  el.setAttribute("viewBox", `0 0 ${W} ${ROW * rows.length + 22}`);
  for (let p = lo; p <= hi; p++) {
    svg("line", { class: "axis", x1: X(10 ** p), x2: X(10 ** p), y1: 0,
      y2: ROW * rows.length }, el);
    // where they are near each other, every second one has its text
    if ((hi - p) % 2 === 0 || X(10 ** (lo + 1)) - X(10 ** lo) > 48)
      svg("text", { class: "axis-text", x: X(10 ** p) - 12,
        y: ROW * rows.length + 16 }, el).textContent = time(10 ** p);
  }
  rows.forEach(([name, steps], i) => {
    const y = ROW * i + ROW / 2;
    svg("text", { class: "row", x: 0, y: y + 4 }, el).textContent = name;
    for (let k = 0; k < steps.length; k++) {
      const x = k === 0 ? LEFT : X(steps[k - 1][1]), to = X(steps[k][1]);
      const bar = svg("rect", { class: `step ${steps[k][0]}`, x, y: y - 7,
        width: Math.max(2, to - x), height: 14 }, el);
      svg("title", {}, bar).textContent = `${steps[k][0]}: ${
        time(steps[k][1])}`;
    }
    svg("text", { class: "axis-text", x: X(steps.at(-1)[1]) + 5, y: y + 4 },
      el).textContent = `${steps.at(-1)[0]} ${time(steps.at(-1)[1])}`;
  });
}
