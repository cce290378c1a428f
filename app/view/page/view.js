// SPDX-License-Identifier: BSD-3-Clause
// Requests data, keeps the answers, and draws. Everything shown comes from
// telemetry; this page does not know how a fabric should behave.

import { chart, short } from "/charts.js";
import { Picture, kindOf } from "/draw.js";
import { layout } from "/layout.js";
import { showStory, story } from "/story.js";

const POLL_MS = 500;
const KEEP_POINTS = 240;
const KEEP_EVENTS = 200;
const NEWS_NS = 10e9;

const $ = (id) => document.getElementById(id);
const state = { source: null, sources: [], fabric: null, links: null,
  group: null, selected: null, points: [], marks: [], events: [], next: 0,
  before: null, hist: null, failovers: [] };

async function get(url) {
  const r = await fetch(url);
  const v = await r.json();
  if (!r.ok)
    throw new Error(v.error);
  return v;
}
const ask = (cmd) => get(`/api/ask?s=${state.source}&c=${
  encodeURIComponent(cmd)}`);
const list = (cmd) => get(`/api/list?s=${state.source}&c=${
  encodeURIComponent(cmd)}`);

let toastTimer;
function toast(text) {
  $("toast").textContent = text;
  $("toast").classList.add("on");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => $("toast").classList.remove("on"), 5000);
}

async function order(line) {
  const r = await fetch(`/api/order?s=${state.source}`, { method: "POST",
    headers: { "X-Reflit-Order": "1" }, body: line });
  const v = await r.json();
  if (!r.ok || v.result !== 0)
    toast(`${line}: ${v.error}`);
  else
    toast(line);
  await poll();
}

// ---- state

function source() {
  return state.sources.find((s) => s.source === state.source);
}

function mayOrder() {
  const s = source();
  return s && s.orders && s.fabric.orders === 1;
}

async function open(number) {
  state.source = number;
  const info = source().fabric;
  const dev = await list("/reflit/devices");
  const links = await list("/reflit/links");
  const n = dev.name.length;
  const f = { ...dev, topology: info.topology, dims: info.dims,
    neighbours: Array.from({ length: n }, () => []) };
  f.q = Math.round(Math.sqrt(dev.kind.filter((k) => k === "switch").length
    / 2));
  const parallel = new Map();
  f.links = links.name.map((label, i) => {
    const a = links.a[i], b = links.b[i], key = Math.min(a, b) + "-" +
      Math.max(a, b);
    f.neighbours[a].push(b);
    f.neighbours[b].push(a);
    parallel.set(key, (parallel.get(key) || 0) + 1);
    return { id: i, label, a, b, key, k: parallel.get(key) - 1 };
  });
  f.links.forEach((l) => { l.n = parallel.get(l.key); });
  Object.assign(f, { at: layout(f) });
  Object.assign(state, { fabric: f, links, group: null, selected: null,
    points: [], marks: [], events: [], next: 0, before: null, hist: null,
    failovers: [] });
  $("events").replaceChildren();
  redraw();
  showSelection();
}

// ---- pictures

/** The picture of now: all, the groups, or the inside of one. */
function redraw() {
  const f = state.fabric, { at } = f, on = { select };
  $("back").hidden = !state.group;
  if (at.groups && !state.group) {
    drawGroups(f, on);
    return;
  }
  const inside = (d) => !state.group || f.group[d] === state.group;
  const nodes = f.name.map((label, d) => ({ id: d, label, x: at.x[d],
    y: at.y[d], endpoint: f.kind[d] === "endpoint" })).filter((v) =>
    inside(v.id));
  const links = f.links.filter((l) => inside(l.a) && inside(l.b));
  state.picture = new Picture($("fabric"), nodes, links, on);
  $("legend").textContent = state.group
    ? `${state.group}: links to other groups are left out` : "";
}

function drawGroups(f, on) {
  const n = f.at.groups.length, r = 60 * n;
  const nodes = f.at.groups.map((g, i) => ({ id: g.name, label: g.name,
    group: true, x: r * Math.cos(2 * Math.PI * i / n),
    y: 0.6 * r * Math.sin(2 * Math.PI * i / n) }));
  const between = new Map();
  f.links.forEach((l) => {
    const a = f.group[l.a], b = f.group[l.b];
    if (a === b)
      return;
    const key = [a, b].sort().join(" - ");
    if (!between.has(key))
      between.set(key, { id: key, label: key, a, b, k: 0, n: 1, of: [] });
    between.get(key).of.push(l.id);
  });
  state.between = [...between.values()];
  state.picture = new Picture($("fabric"), nodes, state.between, on);
  $("legend").textContent =
    "drawn by groups: select one to see its inside";
}

/** Flits a second of each link, both directions; the busiest. */
function rates() {
  const now = state.links, before = state.before;
  const rate = now.name.map((_, i) => {
    if (!before)
      return 0;
    const d = (c) => now[c][2 * i] + now[c][2 * i + 1] -
      before.links[c][2 * i] - before.links[c][2 * i + 1];
    return Math.max(0, (d("tx_flits") + d("tx_replay_flits")) /
      (state.dt || 1));
  });
  return { rate, most: Math.max(1, ...rate) };
}

function paint() {
  const f = state.fabric, l = state.links, p = state.picture;
  const { rate, most } = rates();
  const ill = new Set();
  state.rate = rate;
  l.state.forEach((s, i) => {
    if (!["ok", "away"].includes(kindOf(s))) {
      ill.add(f.links[i].a);
      ill.add(f.links[i].b);
    }
  });
  if (f.at.groups && !state.group) {
    state.between.forEach((g) => {
      const own = g.of.filter((i) => kindOf(l.state[i]) !== "away");
      const worst = own.map((i) => l.state[i]).find((s) => s !== "UP") ??
        (own.length ? "UP" : l.state[g.of[0]]);
      const all = own.every((i) => kindOf(l.state[i]) !== "ok");
      const sum = g.of.reduce((v, i) => v + rate[i], 0) / g.of.length;
      p.setLink(g.id, all ? worst : "UP", sum / most, `${g.label}: ${
        g.of.length} links`);
    });
    f.at.groups.forEach((g) => p.setNode(g.name, g.members.some((d) =>
      ill.has(d))));
    return;
  }
  l.name.forEach((name, i) => p.setLink(i, l.state[i], rate[i] / most,
    `link ${name}, ${l.state[i]}, ${short(rate[i])} flits a second`));
  f.kind.forEach((kind, d) => p.setNode(d, ill.has(d) &&
    f.links.every((k) => (k.a !== d && k.b !== d) ||
      kindOf(l.state[k.id]) !== "ok")));
  if (state.before)
    l.looped_flits.forEach((v, i) => {
      const end = f.links[i >> 1];
      if (v > state.before.links.looped_flits[i])
        p.flash(i & 1 ? end.b : end.a);
    });
}

// ---- selection and orders

function select(kind, id) {
  if (kind === "group") {
    state.group = id;
    state.selected = null;
    redraw();
    paint();
  } else {
    state.selected = kind ? { kind, id } : null;
  }
  state.picture.select(kind === "group" ? null : kind, id);
  showSelection();
}

const ORDERS = {
  link: [["cut", "c", (n) => `link ${n} down`],
    ["heal", "h", (n) => `link ${n} up`],
    ["drain", "d", (n) => `link ${n} drain`],
    ["enable", "e", (n) => `link ${n} enable`]],
  device: [["crash", "c", (n) => `device ${n} crash`],
    ["restart", "h", (n) => `device ${n} restart`],
    ["remove", "d", (n) => `device ${n} remove`],
    ["add", "a", (n) => `device ${n} add`]],
};

function row(table, name, value) {
  const tr = document.createElement("tr");
  for (const [tag, text] of [["th", name], ["td", value]]) {
    const cell = document.createElement(tag);
    cell.textContent = text;
    tr.append(cell);
  }
  table.append(tr);
}

function linkTable(i) {
  const l = state.links, f = state.fabric, t = document.createElement("table");
  const ends = [f.name[l.a[i]], f.name[l.b[i]]];
  row(t, "state", l.state[i]);
  row(t, "flits a second", short(state.rate?.[i] ?? 0));
  for (const c of ["tx_flits", "tx_replay_flits", "rx_corrected", "rx_bad",
    "deaths", "looped_flits"])
    row(t, c, ends.map((n, e) => `${n} ${l[c][2 * i + e]}`).join(", "));
  return t;
}

function deviceTable(d) {
  const f = state.fabric, t = document.createElement("table");
  row(t, "kind", f.kind[d]);
  for (const k of f.links.filter((v) => v.a === d || v.b === d))
    row(t, k.label, `${state.links.state[k.id]}, ${
      short(state.rate?.[k.id] ?? 0)} flits/s`);
  return t;
}

/** Rebuilt only when the selection changes, so that buttons keep the focus. */
function showSelection() {
  const box = $("selection"), s = state.selected;
  box.replaceChildren();
  if (!s || (state.fabric.at.groups && !state.group)) {
    box.textContent = mayOrder()
      ? "Select a link or a device to see it, and to break it."
      : "Select a link or a device to see it. Orders are not allowed: start " +
        "reflit and reflit-view with --allow-orders.";
    return;
  }
  const name = s.kind === "link" ? state.links.name[s.id]
    : state.fabric.name[s.id];
  const h = document.createElement("h2");
  h.textContent = `${s.kind} ${name}`;
  const buttons = document.createElement("p");
  for (const [label, key, line] of ORDERS[s.kind]) {
    const b = document.createElement("button");
    b.textContent = label;
    b.title = `${line(name)} (${key})`;
    b.dataset.order = label;
    b.disabled = !mayOrder();
    b.addEventListener("click", () => order(line(name)));
    buttons.append(b, " ");
  }
  const facts = document.createElement("div");
  facts.id = "facts";
  box.append(h, buttons, facts);
  showFacts();
}

function showFacts() {
  const s = state.selected, box = $("facts");
  if (s && box)
    box.replaceChildren(s.kind === "link" ? linkTable(s.id)
      : deviceTable(s.id));
}

// ---- numbers over time

/** Quantile of the samples between two histograms, in ns; null: none. */
function quantile(before, now, q) {
  const old = new Map(before.upper_ns.map((u, i) => [u, before.count_n[i]]));
  const rows = now.upper_ns.map((u, i) => [u, now.count_n[i] -
    (old.get(u) || 0)]);
  const all = rows.reduce((v, r) => v + r[1], 0);
  let left = q * all;
  for (const [u, n] of rows) {
    left -= n;
    if (n > 0 && left <= 0)
      return u;
  }
  return null;
}

function note(info, traffic, hist) {
  const t = info.now_ns / 1e9, b = state.before;
  if (b && t > b.t) {
    const us = (q) => {
      const v = quantile(state.hist, hist, q);
      return v === null ? null : v / 1e3;
    };
    state.points.push({ t, rate: [(traffic.delivered_packets - b.delivered) /
      (t - b.t)], latency: [us(0.5), us(0.99)] });
    state.points.splice(0, state.points.length - KEEP_POINTS);
  }
  state.hist = hist;
  const pick = (k) => state.points.map((p) => ({ t: p.t, v: p[k] }));
  chart($("chart-rate"), pick("rate"), state.marks);
  chart($("chart-latency"), pick("latency"), state.marks);
  const links = state.links.state;
  $("summary").textContent = `${t.toFixed(1)} s, sent ${
    short(traffic.sent_packets)}, delivered ${
    short(traffic.delivered_packets)}, under way ${
    traffic.under_way_packets}, reported ${traffic.reported_packets}, refused ${
    short(traffic.refused_packets)}; links ${
    links.filter((s) => s === "UP").length} of ${
    links.filter((s) => kindOf(s) !== "away").length} up`;
  return { t, delivered: traffic.delivered_packets, links: state.links };
}

function addEvents(e) {
  e.text.forEach((text, i) => {
    const li = document.createElement("li");
    li.textContent = text.trim();
    if (/ dead|gave up|unreachable/.test(text)) {
      li.className = "bad";
      if (/ dead/.test(text))
        state.marks.push(e.t_ns[i] / 1e9);
    }
    $("events").prepend(li);
  });
  state.marks.splice(0, state.marks.length - KEEP_EVENTS);
  while ($("events").childElementCount > KEEP_EVENTS)
    $("events").lastElementChild.remove();
  state.next = e.next;
}

function cells(table, tag, values) {
  const tr = document.createElement("tr");
  for (const v of values) {
    const c = document.createElement(tag);
    if (typeof v === "number")
      c.className = "n";
    c.textContent = v;
    tr.append(c);
  }
  table.append(tr);
}

/* On the picture, for as long as it is news: where looped packets went. */
function showWays(f, now_ns) {
  const ways = new Set(f.left_by.filter((_, i) =>
    now_ns - f.at_ns[i] < NEWS_NS));
  for (const e of document.querySelectorAll("#fabric .link"))
    e.classList.toggle("way", ways.has(e.dataset.link));
}

function showFailovers(f, r) {
  const table = $("failovers"), us = (v) => v === 0 ? "-" : +(v / 1e3)
    .toFixed(1);
  table.replaceChildren();
  cells(table, "th", ["at, s", "link", "at", "found by", "detected, us",
    "rerouted, us", "left by", "drained, us", "looped flits",
    "acknowledged"]);
  for (let i = f.link.length - 1; i >= 0; i--)
    cells(table, "td", [+(f.at_ns[i] / 1e9).toFixed(3), f.link[i],
      f.device[i], f.detector[i], us(f.detect_ns[i]),
      us(f.first_rerouted_ns[i]), f.left_by[i], us(f.drained_ns[i]),
      f.looped_flits[i], f.looped_acked_flits[i]]);
  if (!r || !r.cause || r.cause.length === 0)
    return;
  cells(table, "th", ["at, s", "recovery", "mode", "outcome", "computed, us",
    "proven, us", "installed, us", "paused, us", "held flows"]);
  for (let i = r.cause.length - 1; i >= 0; i--)
    cells(table, "td", [+(r.at_ns[i] / 1e9).toFixed(3), r.cause[i], r.mode[i],
      r.outcome[i], us(r.compute_ns[i]), us(r.prove_ns[i]),
      us(r.install_ns[i]), us(r.paused_ns[i]), r.held_flows[i]]);
}

// ---- the loop

let polling = false;
async function poll() {
  if (polling || state.source === null)
    return;
  polling = true;
  try {
    const [info, links, traffic, hist, events, failovers, recoveries] =
      await Promise.all([ask("/reflit/fabric"), list("/reflit/links"),
        ask("/reflit/traffic"), list("/reflit/histogram"),
        ask(`/reflit/events,${state.next}`), ask("/reflit/failovers"),
        ask("/reflit/recoveries")]);
    for (const c of ["upper_ns", "count_n"])
      hist[c] = hist[c] || [];
    state.links = links;
    state.dt = state.before ? info.now_ns / 1e9 - state.before.t : 0;
    paint();
    addEvents(events);
    state.before = note(info, traffic, hist);
    showFailovers(failovers, recoveries);
    showWays(failovers, info.now_ns);
    showStory($("story"), $("story-words"), story(failovers, recoveries));
    showFacts();
  } catch (e) {
    $("summary").textContent = `no answer: ${e.message}`;
    state.source = null;
  } finally {
    polling = false;
  }
}

async function sources() {
  state.sources = await get("/api/sources");
  const el = $("source");
  const want = state.sources.map((s) => `${s.fabric.config} (${
    s.fabric.pid})`);
  if (want.join() !== [...el.options].map((o) => o.text).join()) {
    el.replaceChildren(...state.sources.map((s, i) =>
      new Option(want[i], s.source)));
  }
  if (state.sources.length === 0)
    $("summary").textContent = "no running reflit answers";
  else if (state.source === null || !source())
    await open(state.sources[0].source);
}

async function loop() {
  try {
    if (state.source === null)
      await sources();
    await poll();
  } catch (e) {
    $("summary").textContent = `no answer: ${e.message}`;
  }
  setTimeout(loop, document.hidden ? 4 * POLL_MS : POLL_MS);
}

function theme(dark) {
  document.documentElement.classList.toggle("dark", dark);
  localStorage.setItem("dark", dark ? "1" : "0");
}

function onKey(e) {
  if (e.target.tagName === "SELECT" || e.ctrlKey || e.altKey || e.metaKey)
    return;
  if (e.key === "Escape") {
    if (!state.selected && state.group)
      leaveGroup();
    else
      select(null, null);
  } else if (e.key === "?") {
    $("help").showModal();
  } else if (e.key === "t") {
    theme(!document.documentElement.classList.contains("dark"));
  } else if (state.selected && mayOrder()) {
    const o = ORDERS[state.selected.kind].find((v) => v[1] === e.key);
    if (o)
      document.querySelector(`[data-order=${o[0]}]`).click();
  }
}

function leaveGroup() {
  state.group = null;
  state.selected = null;
  redraw();
  paint();
  showSelection();
}

$("source").addEventListener("change", (e) => open(+e.target.value));
$("back").addEventListener("click", leaveGroup);
$("theme").addEventListener("click", () =>
  theme(!document.documentElement.classList.contains("dark")));
$("help-button").addEventListener("click", () => $("help").showModal());
$("help-close").addEventListener("click", () => $("help").close());
document.addEventListener("keydown", onKey);
theme(localStorage.getItem("dark") === "1" ||
  (localStorage.getItem("dark") === null &&
    matchMedia("(prefers-color-scheme: dark)").matches));
loop();
