// SPDX-License-Identifier: BSD-3-Clause
// Lines over time, with marks where links died.

const NS = "http://www.w3.org/2000/svg";
const H = 140, LEFT = 48, BOTTOM = 18;

export function svg(tag, attrs = {}, parent = null) {
  const e = document.createElementNS(NS, tag);
  for (const [k, v] of Object.entries(attrs))
    e.setAttribute(k, v);
  if (parent)
    parent.append(e);
  return e;
}

/** 1, 2 or 5 times a power of ten, at least v. */
export function niceCeil(v) {
  if (!(v > 0))
    return 1;
  const p = 10 ** Math.floor(Math.log10(v));
  return [1, 2, 5, 10].map((m) => m * p).find((m) => m >= v);
}

export function short(v) {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]])
    if (v >= size)
      return +(v / size).toPrecision(3) + " " + unit;
  return String(+v.toPrecision(3));
}

/**
 * points: [{ t, v: [..] }], t in seconds; marks: [t]. Values of null are gaps.
 */
export function chart(el, points, marks) {
  el.replaceChildren();
  const W = Math.max(200, el.clientWidth);
  el.setAttribute("viewBox", `0 0 ${W} ${H}`);
  if (points.length < 2)
    return;
  const t0 = points[0].t, t1 = points[points.length - 1].t;
  const top = niceCeil(Math.max(...points.flatMap((p) => p.v)
    .filter((v) => v !== null), 0));
  const X = (t) => LEFT + (W - LEFT - 4) * (t - t0) / (t1 - t0 || 1);
  const Y = (v) => 6 + (H - BOTTOM - 6) * (1 - v / top);
  for (const v of [0, top / 2, top]) {
    svg("line", { class: "axis", x1: LEFT, x2: W, y1: Y(v), y2: Y(v) }, el);
    svg("text", { class: "axis-text", x: 2, y: Y(v) + 4 }, el)
      .textContent = short(v);
  }
  for (const t of [t0, t1])
    svg("text", { class: "axis-text", x: t === t0 ? LEFT : W - 44, y: H - 3 },
      el).textContent = t.toFixed(0) + " s";
  for (const t of marks)
    if (t >= t0 && t <= t1)
      svg("line", { class: "mark", x1: X(t), x2: X(t), y1: 4,
        y2: H - BOTTOM }, el);
  points[0].v.forEach((_, i) => {
    let d = "", pen = false;
    for (const p of points) {
      if (p.v[i] === null) {
        pen = false;
        continue;
      }
      d += (pen ? "L" : "M") + X(p.t).toFixed(1) + " " + Y(p.v[i]).toFixed(1);
      pen = true;
    }
    svg("path", { class: "series " + "ab"[i], d }, el);
  });
}
