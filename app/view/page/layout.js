// SPDX-License-Identifier: BSD-3-Clause
// Positions of devices. A layout is { x[], y[] } by device number, in units of
// its own, scaled by draw.js. Large fabrics have groups: [{ name, members }].

const STEP = 100;
/** More switches than this are drawn by groups. */
export const FLAT_MAX = 150;

const isSwitch = (f, d) => f.kind[d] === "switch";

/** Endpoints stand around the switch that holds them; under it, in a tree; on
 * a board, whose switches all hold them, in a row of their own. */
function placeEndpoints(f, { x, y, row }) {
  const held = new Map(), board = f.topology.startsWith("board");
  f.kind.forEach((kind, d) => {
    const s = f.neighbours[d].find((n) => isSwitch(f, n));
    if (kind !== "endpoint" || x[d] !== undefined || x[s] === undefined)
      return;
    const at = board ? y[s] : s;
    held.set(at, [...(held.get(at) ?? []), { d, s }]);
  });
  const right = Math.max(...x.filter((v) => v !== undefined), STEP / 2);
  for (const all of held.values())
    all.forEach(({ d, s }, k) => {
      const angle = Math.PI * (0.25 + k * 0.34);
      const mid = k % 4 - (Math.min(4, all.length) - 1) / 2;
      x[d] = board ? (right + STEP / 2) * (k + 0.5) / all.length
        : x[s] + (f.topology === "fat-tree" ? 24 * mid : 42 * Math.cos(angle));
      y[d] = y[s] + (board ? row / 2 : f.topology === "fat-tree"
        ? 45 + 26 * Math.floor(k / 4) : 42 * Math.sin(angle));
    });
}

function grid(f) {
  const x = [], y = [], dims = f.dims;
  const deep = dims.length === 3;
  f.kind.forEach((kind, d) => {
    if (kind !== "switch")
      return;
    x[d] = f.x[d] * STEP + (deep ? f.z[d] * (dims[0] + 0.6) * STEP : 0);
    y[d] = dims.length > 1 ? f.y[d] * STEP : 0;
  });
  return { x, y };
}

/* What an oblique view adds for each step of z. */
const DX = 54, DY = 42;

/** Three dimensions, seen obliquely: no link runs across a switch. */
function oblique(f) {
  const x = [], y = [], deep = f.dims[2] - 1;
  const right = deep * DX + 100, down = deep * DY + 80;
  f.kind.forEach((kind, d) => {
    if (kind !== "switch")
      return;
    x[d] = f.x[d] * right + f.z[d] * DX;
    y[d] = f.y[d] * down - f.z[d] * DY;
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
  const row = STEP * Math.max(...up ? [1.7, widest / 5] : [2.2, widest / 3]);
  f.kind.forEach((kind, d) => {
    if (kind !== "switch")
      return;
    x[d] = (f.y[d] + 0.5) * STEP * widest / count.get(f.x[d]);
    y[d] = (up ? -1 : 1) * f.x[d] * row;
  });
  return { x, y, row };
}

/** Groups on a circle, members of each on a small one. */
function circles(f) {
  const x = [], y = [], size = new Map();
  f.kind.forEach((kind, d) => {
    if (kind === "switch")
      size.set(f.x[d], (size.get(f.x[d]) || 0) + 1);
  });
  const small = Math.max(40, ...[...size.values()].map((n) => n * 16));
  const large = Math.max(small * 2.4, size.size * (small + 50) * 0.36);
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
  // its longest extent lies flat
  const mean = (v) => v.reduce((a, b) => a + b) / n, mx = mean(x), my = mean(y);
  const c = (u, mu, v, mv) => mean(u.map((w, i) => (w - mu) * (v[i] - mv)));
  const a = 0.5 * Math.atan2(2 * c(x, mx, y, my), c(x, mx, x, mx) -
    c(y, my, y, my));
  return { x: x.map((v, i) => v * Math.cos(a) + y[i] * Math.sin(a)),
    y: y.map((v, i) => v * Math.cos(a) - x[i] * Math.sin(a)) };
}

function place(f) {
  switch (f.topology) {
  case "torus": case "mesh":
    return f.dims.length === 3 ? oblique(f) : grid(f);
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
  placeEndpoints(f, at);
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
