// SPDX-License-Identifier: BSD-3-Clause
// Positions of devices. A layout is { x[], y[] } by device number, in units of
// its own, scaled by draw.js. Large fabrics have groups: [{ name, members }].

const STEP = 100;
/** More switches than this are drawn by groups. */
export const FLAT_MAX = 150;

const isSwitch = (f, d) => f.kind[d] === "switch";

/** Endpoints stand around the switch that holds them. */
function placeEndpoints(f, x, y) {
  const seen = new Map();
  f.kind.forEach((kind, d) => {
    if (kind !== "endpoint" || x[d] !== undefined)
      return;
    const s = f.neighbours[d].find((n) => isSwitch(f, n));
    if (s === undefined || x[s] === undefined)
      return;
    const k = seen.get(s) || 0;
    seen.set(s, k + 1);
    const angle = Math.PI * (0.25 + k * 0.34);
    x[d] = x[s] + 42 * Math.cos(angle);
    y[d] = y[s] + 42 * Math.sin(angle);
  });
}

function grid(f) {
  const x = [], y = [], dims = f.dims;
  const columns = dims.length === 3 ? Math.ceil(Math.sqrt(dims[2])) : 1;
  f.kind.forEach((kind, d) => {
    if (kind !== "switch")
      return;
    const slice = dims.length === 3 ? f.z[d] : 0;
    x[d] = f.x[d] * STEP +
      (slice % columns) * (dims[0] + 0.6) * STEP;
    y[d] = (dims.length > 1 ? f.y[d] * STEP : 0) +
      Math.floor(slice / columns) * ((dims[1] || 1) + 0.6) * STEP;
  });
  return { x, y };
}

/** Rows by the first coordinate: levels of trees, boards. */
function rows(f, up) {
  const x = [], y = [], count = new Map();
  f.kind.forEach((kind, d) => {
    if (kind === "switch")
      count.set(f.x[d], (count.get(f.x[d]) || 0) + 1);
  });
  const widest = Math.max(1, ...count.values());
  f.kind.forEach((kind, d) => {
    if (kind !== "switch")
      return;
    x[d] = (f.y[d] + 0.5) * STEP * widest / count.get(f.x[d]);
    y[d] = (up ? -1 : 1) * f.x[d] * STEP * 1.7;
  });
  return { x, y };
}

/** Groups on a circle, members of each on a small one. */
function circles(f) {
  const x = [], y = [], size = new Map();
  f.kind.forEach((kind, d) => {
    if (kind === "switch")
      size.set(f.x[d], (size.get(f.x[d]) || 0) + 1);
  });
  const small = Math.max(40, ...[...size.values()].map((n) => n * 16));
  const large = Math.max(small * 2.4, size.size * small * 0.42);
  f.kind.forEach((kind, d) => {
    if (kind !== "switch")
      return;
    const a = 2 * Math.PI * f.x[d] / size.size;
    const b = 2 * Math.PI * f.y[d] / size.get(f.x[d]) + a;
    x[d] = large * Math.cos(a) + small * Math.cos(b);
    y[d] = large * Math.sin(a) + small * Math.sin(b);
  });
  return { x, y };
}

/** Springs: neighbours near, all others apart. The same picture each time. */
function springs(f) {
  const n = f.kind.length, x = [], y = [];
  const nodes = [...f.kind.keys()];
  const r = 60 * Math.sqrt(n);
  nodes.forEach((d) => {
    x[d] = r * Math.cos(2.399963 * d) * Math.sqrt((d + 1) / n);
    y[d] = r * Math.sin(2.399963 * d) * Math.sqrt((d + 1) / n);
  });
  const rounds = n > 120 ? 120 : 400;
  for (let i = 0; i < rounds; i++) {
    const most = 40 * (1 - i / rounds) + 0.5;
    const fx = new Float64Array(n), fy = new Float64Array(n);
    for (let a = 0; a < n; a++)
      for (let b = a + 1; b < n; b++) {
        const dx = x[a] - x[b], dy = y[a] - y[b];
        const push = 9000 / (dx * dx + dy * dy + 1);
        fx[a] += dx * push; fy[a] += dy * push;
        fx[b] -= dx * push; fy[b] -= dy * push;
      }
    nodes.forEach((a) => f.neighbours[a].forEach((b) => {
      const dx = x[b] - x[a], dy = y[b] - y[a];
      const far = Math.hypot(dx, dy) + 1e-6;
      const rest = isSwitch(f, a) && isSwitch(f, b) ? 110 : 50;
      const pull = 0.35 * (far - rest) / far;
      fx[a] += dx * pull; fy[a] += dy * pull;
    }));
    nodes.forEach((a) => {
      const force = Math.hypot(fx[a], fy[a]) + 1e-6;
      const by = Math.min(most, force) / force;
      x[a] += fx[a] * by;
      y[a] += fy[a] * by;
    });
  }
  return { x, y };
}

function place(f) {
  switch (f.topology) {
  case "torus": case "mesh":
    return grid(f);
  case "fat-tree":
    return rows(f, true);
  case "boards": case "board":
    return rows(f, false);
  case "dragonfly":
    return circles(f);
  case "slim-fly": {
    const g = { ...f, dims: [f.q, f.q, 2], z: f.x, x: f.y, y: f.z };
    return grid(g);
  }
  default:
    return f.kind.length <= 400 ? springs(f) : circles({ ...f,
      x: f.kind.map((_, d) => Math.floor(d / 50)),
      y: f.kind.map((_, d) => d % 50) });
  }
}

/** Groups of a large fabric that have a name for people. */
function groupName(f, d) {
  switch (f.topology) {
  case "torus": case "mesh":
    if (f.dims.length === 3)
      return "z = " + f.z[d];
    return "x = " + 8 * Math.floor(f.x[d] / 8) + "... y = " +
      8 * Math.floor((f.y[d] || 0) / 8) + "...";
  case "fat-tree":
    return "level " + f.x[d] + ", " + 64 * Math.floor(f.y[d] / 64) + "...";
  case "dragonfly":
    return "group " + f.x[d];
  case "boards":
    return "board " + f.x[d];
  case "slim-fly":
    return "part " + f.x[d] + ", " + 8 * Math.floor(f.y[d] / 8) + "...";
  default:
    return "devices " + 50 * Math.floor(d / 50) + "...";
  }
}

function groupsOf(f) {
  const by = new Map();
  f.group = [];
  f.kind.forEach((kind, d) => {
    const s = kind === "switch" ? d
      : f.neighbours[d].find((n) => isSwitch(f, n)) ?? d;
    const name = groupName(f, s);
    if (!by.has(name))
      by.set(name, { name, members: [] });
    by.get(name).members.push(d);
    f.group[d] = name;
  });
  return [...by.values()];
}

/** f: { topology, dims, name[], kind[], x[], y[], z[], neighbours[] } */
export function layout(f) {
  const at = place(f);
  placeEndpoints(f, at.x, at.y);
  // devices without a place (without a link) form a row below
  let stray = 0;
  const low = Math.max(0, ...at.y.filter((v) => v !== undefined));
  f.kind.forEach((_, d) => {
    if (at.x[d] === undefined) {
      at.x[d] = 60 * stray++;
      at.y[d] = low + STEP;
    }
  });
  const switches = f.kind.filter((k) => k === "switch").length;
  at.groups = switches > FLAT_MAX ? groupsOf(f) : null;
  return at;
}
