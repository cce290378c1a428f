// SPDX-License-Identifier: BSD-3-Clause
// What processes say. Each is asked by itself; what several of one fabric say
// is put together.

export async function get(url) {
  const r = await fetch(url);
  const v = await r.json();
  if (!r.ok)
    throw new Error(v.error);
  return v;
}

const from = (how, p) => (cmd) => get(`/api/${how}?s=${p.source}&c=${
  encodeURIComponent(cmd)}`);

/* A process is known by its socket and by its start: one that begins anew at
 * the same socket is another one. */
const lifeOf = (path, info) => `${path} ${info.pid} ${info.start_utc}`;

/* A process is { life, path, source, orders, info, devices, said, last, silent,
 * gone }; said: its last answers, last: when they came. */
export async function lookFor(known) {
  const found = await get("/api/sources"), here = new Map();
  for (const s of found) {
    const life = lifeOf(s.path, s.fabric);
    const p = known.get(life) ?? { life, said: null, last: null };
    known.set(life, Object.assign(p, { path: s.path, source: s.source,
      orders: s.orders, info: s.fabric }));
    here.set(s.path, life);
    p.devices ??= await from("list", p)("/reflit/devices").catch(() => null);
  }
  for (const p of known.values()) {
    p.gone = here.get(p.path) !== p.life;
    if (p.gone && here.has(p.path))
      known.delete(p.life);
  }
}

const fileOf = (p) => p.info.config.split("/").pop();
const nameOf = (p) => p.info.process || String(p.info.pid);

/** What can be shown: each process, and before them each fabric of several. */
export function entries(known) {
  const fabrics = new Map(), out = [];
  for (const p of known.values()) {
    if (!p.info.process || !p.devices)
      continue;
    const key = JSON.stringify([p.info.topology, p.info.dims, p.info.links,
      p.devices.name]);
    fabrics.set(key, [...(fabrics.get(key) ?? []), p]);
  }
  for (const [key, members] of fabrics)
    if (members.length > 1 &&
        new Set(members.map(nameOf)).size === members.length)
      out.push({ key, members, label: `all of ${fileOf(members[0])}: ${
        members.map(nameOf).join(", ")}` });
  for (const p of known.values())
    out.push({ key: p.life, members: [p], label: `${fileOf(p)}${
      p.info.process ? ` ${p.info.process}` : ""} (${p.info.pid})` });
  return out;
}

/** Asks a process; its events are asked from number next on. null: silent. */
export async function hear(p, next) {
  const ask = from("ask", p), list = from("list", p);
  try {
    if (p.gone)
      throw new Error("its socket is gone");
    const [info, links, traffic, hist, events, failovers, recoveries] =
      await Promise.all([ask("/reflit/fabric"), list("/reflit/links"),
        ask("/reflit/traffic"), list("/reflit/histogram"),
        ask(`/reflit/events,${next}`), ask("/reflit/failovers"),
        ask("/reflit/recoveries")]);
    if (lifeOf(p.path, info) !== p.life)
      throw new Error("another process answers");
    p.silent = false;
    p.last = Date.now();
    p.said = { info, links, traffic, hist, failovers, recoveries };
    return events;
  } catch {
    p.silent = true;
    return null;
  }
}

/** Since when which members are silent; "": all answer. */
export function silence(members) {
  const mute = members.filter((p) => p.silent), all = members.length === 1;
  return mute.map((p) => `${all ? "" : `${nameOf(p)} `}silent since ${
    p.last ? new Date(p.last).toISOString().slice(11, 19) + " UTC"
      : "the page was opened"}`).join(", ");
}

/** Microseconds since 1970, as the text of a time has them. */
export const startOf = (p) => Date.parse(p.info.start_utc) * 1e3 +
  +String(p.info.start_utc).slice(23, 26) || 0;

const ENDS = ["tx_flits", "tx_frames", "tx_replay_flits", "rx_corrected",
  "rx_bad", "deaths", "looped_flits"];

/* A link is what the processes of its ends say; no other knows it. */
function mergeLinks(members) {
  const all = members.map((p) => p.said.links);
  if (all.length === 1)
    return all[0];
  const out = { ...all[0] };
  out.state = all[0].state.map((_, i) => {
    const own = members.filter((p) => p.said.links.state[i] !== "remote");
    const now = own.filter((p) => !p.silent).map((p) =>
      p.said.links.state[i]);
    return now.find((s) => s !== "UP") ?? now[0] ??
      (own.length > 0 ? "silent" : "remote");
  });
  for (const c of ENDS)
    out[c] = all[0][c].map((_, i) => Math.max(...all.map((l) => l[c][i])));
  return out;
}

function mergeHist(all) {
  const by = new Map();
  for (const h of all)
    (h.upper_ns ?? []).forEach((u, i) => by.set(u, (by.get(u) ?? 0) +
      h.count_n[i]));
  const upper_ns = [...by.keys()].sort((a, b) => a - b);
  return { upper_ns, count_n: upper_ns.map((u) => by.get(u)) };
}

/* Rows of several tables as one, by the column of their times. */
function mergeRows(tables, time) {
  const names = new Set(tables.flatMap(({ columns }) =>
    Object.keys(columns ?? {}).filter((k) => Array.isArray(columns[k]))));
  const rows = tables.flatMap((t) => (t.columns?.[time] ?? []).map((v, i) =>
    ({ t, i, at: v + t.shift }))).sort((a, b) => a.at - b.at);
  const out = { process: rows.map(({ t }) => t.process) };
  for (const k of names)
    out[k] = rows.map(({ t, i, at }) => k === time ? at : t.columns[k][i]);
  return out;
}

/**
 * What the members of an entry say, as one; null: none has said a thing. heard:
 * the events of each, as hear() returned them. Times count from e.start.
 */
export function merge(e, heard) {
  const members = e.members.filter((p) => p.said);
  if (members.length === 0)
    return null;
  const shift = (p) => (startOf(p) - e.start) * 1e3;
  const table = (p, columns) => ({ columns, shift: shift(p),
    process: e.members.length > 1 ? nameOf(p) : "" });
  const traffic = {};
  for (const p of members)
    for (const [k, v] of Object.entries(p.said.traffic))
      traffic[k] = (traffic[k] ?? 0) + v;
  const live = members.filter((p) => !p.silent);
  return { traffic, links: mergeLinks(members),
    now_ns: Math.max(...(live.length > 0 ? live : members).map((p) =>
      p.said.info.now_ns + shift(p))),
    hist: mergeHist(members.map((p) => p.said.hist)),
    failovers: mergeRows(members.map((p) => table(p, p.said.failovers)),
      "at_ns"),
    recoveries: mergeRows(members.map((p) => table(p, p.said.recoveries)),
      "at_ns"),
    events: mergeRows(e.members.map((p, i) => table(p, heard[i])), "t_ns") };
}
