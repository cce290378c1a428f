// SPDX-License-Identifier: BSD-3-Clause
// Requests data, keeps the answers, and draws. Everything shown comes from
// telemetry; this page does not know how a fabric should behave.

import { chart, short } from "/charts.js";
import { Picture, kindOf } from "/draw.js";
import { SEVERITIES, addEvents, event, showEvents } from "/events.js";
import { entries, hear, lookFor, merge, silence, startOf } from "/feed.js";
import { layout } from "/layout.js";
import { showStory, story } from "/story.js";
import { Zoom } from "/zoom.js";

const POLL_MS = 500;
const LOOK_MS = 2000;
const KEEP_POINTS = 1200;
const KEEP_MARKS = 200;
const NEWS_NS = 10e9;

const $ = (id) => document.getElementById(id);
const zoom = new Zoom($("fabric"));
const processes = new Map();
/* What was shown since the page was opened, by the key of its entry. */
const shown = new Map();
/* entry: what is shown; its members, fabric, links and history are in it */
const state = { entry: null, group: null, selected: null };

let toastTimer;
function toast(text) {
  $("toast").textContent = text;
  $("toast").classList.add("on");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => $("toast").classList.remove("on"), 5000);
}

/** Those who know most of the links of what is selected, first. */
function owners() {
  const { kind, id } = state.selected, { fabric, members } = state.entry;
  const of = fabric.links.filter((l) => kind === "link" ? l.id === id
    : l.a === id || l.b === id);
  const own = (p) => p.silent ? 0 : of.filter((l) =>
    p.said.links.state[l.id] !== "remote").length;
  return members.length === 1 ? members
    : members.filter((p) => own(p) > 0).sort((a, b) => own(b) - own(a));
}

async function order(line) {
  let said = `${line}: no process answers`;
  for (const p of owners()) {
    const r = await fetch(`/api/order?s=${p.source}`, { method: "POST",
      headers: { "X-Reflit-Order": "1" }, body: line });
    const v = await r.json();
    const done = r.ok && v.result === 0;
    said = done ? line : `${line}: ${v.error}`;
    if (done)
      break;
  }
  toast(said);
  await poll();
}

// ---- state

const mayOrder = () => state.entry.members.some((p) => p.orders &&
  p.info.orders === 1 && !p.silent);

function fabricOf(info, dev, links) {
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
  return Object.assign(f, { at: layout(f) });
}

/** Shows an entry; what was seen of it before goes on. */
async function open(entry) {
  const e = shown.get(entry.key) ?? { points: [], marks: [], events: [],
    next: {}, before: null, hist: null, last: null, words: "",
    start: startOf(entry.members[0]) };
  Object.assign(e, entry);
  if (!e.fabric) {
    const heard = await Promise.all(e.members.map((p) => hear(p, 0)));
    const all = merge(e, heard.map(() => null));
    const p = e.members.find((m) => m.devices);
    if (!all || !p) {
      news("it does not answer");
      return;
    }
    Object.assign(e, { links: all.links, all,
      fabric: fabricOf(p.info, p.devices, all.links) });
  }
  // the time that it was not shown is a gap
  if (e.before)
    e.points.push({ t: e.before.t, rate: [null], latency: [null, null] });
  e.before = null;
  shown.set(e.key, e);
  Object.assign(state, { entry: e, group: null, selected: null });
  $("source").value = e.key;
  $("place").replaceChildren(new Option("anywhere", ""),
    new Option("at what is selected", "-"),
    ...e.fabric.name.map((n) => new Option(n, n)));
  redraw();
  paint();
  display(e);
  tell(e);
  showSelection();
  filterEvents();
}

// ---- pictures

/** The picture of now: all, the groups, or the inside of one. */
function redraw() {
  const f = state.entry.fabric, { at } = f, on = { select };
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
  zoom.home(state.picture.box);
  $("drawn").textContent = state.group
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
  zoom.home(state.picture.box);
  $("drawn").textContent =
    "drawn by groups: select one to see its inside";
}

/** Flits a second of each link, both directions; the busiest. */
function rates() {
  const { links: now, before, dt } = state.entry;
  const rate = now.name.map((_, i) => {
    if (!before)
      return 0;
    const d = (c) => now[c][2 * i] + now[c][2 * i + 1] -
      before.links[c][2 * i] - before.links[c][2 * i + 1];
    return Math.max(0, (d("tx_flits") + d("tx_replay_flits")) /
      (dt || 1));
  });
  return { rate, most: Math.max(1, ...rate) };
}

function paint() {
  const { fabric: f, links: l, before } = state.entry, p = state.picture;
  const { rate, most } = rates();
  const ill = new Set();
  state.rate = rate;
  $("busiest").textContent = `${short(most)} flits a second`;
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
  f.kind.forEach((kind, d) => {
    const kinds = f.links.filter((k) => k.a === d || k.b === d).map((k) =>
      kindOf(l.state[k.id]));
    p.setNode(d, ill.has(d) && !kinds.includes("ok"),
      kinds.every((k) => k === "away"));
  });
  if (before)
    l.looped_flits.forEach((v, i) => {
      const end = f.links[i >> 1];
      if (v > before.links.looped_flits[i])
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
  if ($("place").value === "-")
    filterEvents();
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
  const { links: l, fabric: f } = state.entry;
  const t = document.createElement("table");
  const ends = [f.name[l.a[i]], f.name[l.b[i]]];
  row(t, "state", l.state[i]);
  row(t, "flits a second", short(state.rate?.[i] ?? 0));
  for (const c of ["tx_flits", "tx_replay_flits", "rx_corrected", "rx_bad",
    "deaths", "looped_flits"])
    row(t, c, ends.map((n, e) => `${n} ${l[c][2 * i + e]}`).join(", "));
  return t;
}

function deviceTable(d) {
  const { links, fabric: f } = state.entry;
  const t = document.createElement("table");
  row(t, "kind", f.kind[d]);
  for (const k of f.links.filter((v) => v.a === d || v.b === d))
    row(t, k.label, `${links.state[k.id]}, ${
      short(state.rate?.[k.id] ?? 0)} flits/s`);
  return t;
}

function nameSelected() {
  const s = state.selected, e = state.entry;
  return !s || (e.fabric.at.groups && !state.group) ? ""
    : s.kind === "link" ? e.links.name[s.id] : e.fabric.name[s.id];
}

/** Rebuilt only when the selection changes, so that buttons keep the focus. */
function showSelection() {
  const box = $("selection"), s = state.selected, name = nameSelected();
  box.replaceChildren();
  if (name === "") {
    box.textContent = mayOrder()
      ? "Select a link or a device to see it, and to break it."
      : state.entry.silent ? "Select a link or a device to see it."
      : "Select a link or a device to see it. Orders are not allowed: start " +
        "reflit and reflit-view with --allow-orders.";
    return;
  }
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
  const rows = now.upper_ns.map((u, i) => [u, Math.max(0, now.count_n[i] -
    (old.get(u) || 0))]);
  const all = rows.reduce((v, r) => v + r[1], 0);
  let left = q * all;
  for (const [u, n] of rows) {
    left -= n;
    if (n > 0 && left <= 0)
      return u;
  }
  return null;
}

function note(e, all) {
  const t = all.now_ns / 1e9, b = e.before, { traffic } = all;
  if (b && t > b.t) {
    const us = (q) => {
      const v = quantile(e.hist, all.hist, q);
      return v === null ? null : v / 1e3;
    };
    e.points.push({ t, rate: [(traffic.delivered_packets - b.delivered) /
      (t - b.t)], latency: [us(0.5), us(0.99)] });
    e.points.splice(0, e.points.length - KEEP_POINTS);
  }
  const links = all.links.state;
  e.hist = all.hist;
  e.words = `${t.toFixed(1)} s, sent ${
    short(traffic.sent_packets)}, delivered ${
    short(traffic.delivered_packets)}, under way ${
    traffic.under_way_packets}, reported ${traffic.reported_packets}, refused ${
    short(traffic.refused_packets)}; links ${
    links.filter((s) => s === "UP").length} of ${
    links.filter((s) => kindOf(s) !== "away").length} up`;
  e.before = { t, delivered: traffic.delivered_packets, links: all.links };
}

/** All that does not change between two answers but with the page's width. */
function display(e) {
  const { failovers, recoveries, now_ns } = e.all;
  const pick = (k) => e.points.map((p) => ({ t: p.t, v: p[k] }));
  chart($("chart-rate"), pick("rate"), e.marks);
  chart($("chart-latency"), pick("latency"), e.marks);
  showStory($("story"), $("story-words"), story(failovers, recoveries));
  showFailovers(failovers, recoveries);
  showWays(failovers, now_ns);
  showFacts();
}

function keepEvents(e, all) {
  const more = (all.text ?? []).map((text, i) => event(text, all.t_ns[i],
    all.process[i]));
  if (more.length === 0)
    return;
  addEvents(e.events, more);
  e.marks.push(...more.filter((v) => / dead,/.test(v.said)).map((v) =>
    v.t_ns / 1e9));
  e.marks.splice(0, e.marks.length - KEEP_MARKS);
  if (e === state.entry)
    filterEvents();
}

function filterEvents() {
  const at = $("place").value;
  showEvents($("events"), state.entry.events, +$("severity").value,
    at === "-" ? nameSelected() : at);
}

/** Rows under a head; numbers, and what stands for none, to the right. */
function rows(table, head, all) {
  const right = head.map((h) => /, u?s$|flits|flows|acknowledged/.test(h));
  for (const [tag, values] of [["th", head], ...all.map((v) => ["td", v])]) {
    const tr = document.createElement("tr");
    tr.append(...values.map((v, i) => {
      const c = document.createElement(tag);
      c.textContent = v;
      c.classList.toggle("n", right[i]);
      return c;
    }));
    table.append(tr);
  }
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
  const newest = (c) => [...(c?.at_ns ?? []).keys()].reverse();
  table.replaceChildren();
  rows(table, ["at, s", "link", "at", "found by", "detected, us",
    "rerouted, us", "left by", "drained, us", "looped flits",
    "acknowledged"], newest(f).map((i) => [+(f.at_ns[i] / 1e9).toFixed(3),
    f.link[i], f.device[i], f.detector[i], us(f.detect_ns[i]),
    us(f.first_rerouted_ns[i]), f.left_by[i], us(f.drained_ns[i]),
    f.looped_flits[i], f.looped_acked_flits[i]]));
  if (newest(r).length > 0)
    rows(table, ["at, s", "recovery", "mode", "outcome", "computed, us",
      "proven, us", "installed, us", "paused, us", "held flows"],
    newest(r).map((i) => [+(r.at_ns[i] / 1e9).toFixed(3), r.cause[i],
      r.mode[i], r.outcome[i], us(r.compute_ns[i]), us(r.prove_ns[i]),
      us(r.install_ns[i]), us(r.paused_ns[i]), r.held_flows[i]]));
}

// ---- the loop

/** What is told aloud: only what happens, nothing that goes on. */
function news(text) {
  if ($("news").textContent !== text)
    $("news").textContent = text;
}

/** The head: what an entry says, or since when it says nothing. */
function tell(e) {
  const mute = silence(e.members), all = e.members.every((p) => p.silent);
  $("summary").textContent = !mute ? e.words
    : all ? `${mute}, last word: ${e.words}` : `${mute}; ${e.words}`;
  news(mute);
  document.body.classList.toggle("silent", all);
  if (e.silent !== all) {
    e.silent = all;
    showSelection();
  }
}

function show(e, all) {
  e.dt = e.before ? all.now_ns / 1e9 - e.before.t : 0;
  e.links = all.links;
  e.all = all;
  paint();
  note(e, all);
  display(e);
}

let polling = false;
async function poll() {
  const e = state.entry;
  if (polling || !e)
    return;
  polling = true;
  try {
    const { members, start } = e;
    const heard = await Promise.all(members.map((p) =>
      hear(p, e.next[p.life] ?? 0)));
    const all = merge({ members, start }, heard);
    members.forEach((p, i) => {
      if (heard[i])
        e.next[p.life] = heard[i].next;
    });
    if (all)
      keepEvents(e, all.events);
    if (e !== state.entry)
      return;
    if (heard.some((v) => v))
      show(e, all);
    tell(e);
  } finally {
    polling = false;
  }
}

/** Who is there; opens another entry only where the one shown has ended. */
async function look() {
  await lookFor(processes);
  const all = entries(processes), el = $("source");
  if (all.map((v) => v.key + v.label).join() !==
      [...el.options].map((o) => o.value + o.text).join())
    el.replaceChildren(...all.map((v) => new Option(v.label, v.key)));
  state.entries = all;
  const path = state.entry?.members[0].path;
  const now = all.find((v) => v.key === state.entry?.key);
  if (now)
    Object.assign(state.entry, now);
  else if (all.length > 0)
    await open(all.find((v) => v.members.length === 1 &&
      v.members[0].path === path) ?? all[0]);
  else
    $("summary").textContent = "no running reflit answers";
  if (state.entry)
    el.value = state.entry.key;
}

/** Does it again and again, at rest in between. */
async function loop(what, ms) {
  try {
    await what();
  } catch (e) {
    console.error(e);
    if (!state.entry)
      $("summary").textContent = `no answer: ${e.message}`;
  }
  setTimeout(loop, document.hidden ? 4 * ms : ms, what, ms);
}

function theme(dark) {
  document.documentElement.classList.toggle("dark", dark);
  localStorage.setItem("dark", dark ? "1" : "0");
}

function onKey(e) {
  if (!state.entry || e.target.tagName === "SELECT" || e.ctrlKey || e.altKey ||
      e.metaKey)
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
  } else if (zoom.key(e.key)) {
    e.preventDefault();
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

$("source").addEventListener("change", (e) =>
  open(state.entries.find((v) => v.key === e.target.value)));
$("severity").append(...SEVERITIES.map((v, i) =>
  new Option(i === 0 ? v : `${v} or worse`, i)));
for (const id of ["severity", "place"])
  $(id).addEventListener("change", filterEvents);
for (const b of document.querySelectorAll("#zoom button"))
  b.addEventListener("click", () => zoom.key(b.dataset.key));
/* of a page that is silent, too, and where a scroll bar comes */
new ResizeObserver(() => state.entry && display(state.entry))
  .observe($("chart-rate"));
$("back").addEventListener("click", leaveGroup);
$("theme").addEventListener("click", () =>
  theme(!document.documentElement.classList.contains("dark")));
$("help-button").addEventListener("click", () => $("help").showModal());
$("help-close").addEventListener("click", () => $("help").close());
document.addEventListener("keydown", onKey);
theme(localStorage.getItem("dark") === "1" ||
  (localStorage.getItem("dark") === null &&
    matchMedia("(prefers-color-scheme: dark)").matches));
loop(look, LOOK_MS);
loop(poll, POLL_MS);
