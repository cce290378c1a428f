// SPDX-License-Identifier: BSD-3-Clause
// The fabric as SVG: made once for each picture, then only changed.

import { svg } from "/charts.js";

const PAD = 60;

/** The meaning of a state for people: idle, ok, wait, cut, or away: planned,
 * another process's, or of a process that is silent. */
export function kindOf(state) {
  if (state === "UP")
    return "ok";
  if (["disabled", "removed", "remote", "silent"].includes(state))
    return "away";
  return ["cut", "LOOPBACK", "DAMPED", "OFF", "DEAD"].includes(state) ? "cut"
    : "wait";
}

/* Whether the straight way from a to b runs across another switch. */
function isAcross(nodes, a, b) {
  const dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy || 1;
  return nodes.some((v) => {
    const t = ((v.x - a.x) * dx + (v.y - a.y) * dy) / square;
    return !v.endpoint && v !== a && v !== b && t > 0 && t < 1 &&
      Math.hypot(a.x + t * dx - v.x, a.y + t * dy - v.y) < 15;
  });
}

function curve(a, b, { k, n }, round) {
  const dx = b.x - a.x, dy = b.y - a.y, len = Math.hypot(dx, dy) || 1;
  // parallel links bend apart; those that would run across a switch bend more
  const bend = (k - (n - 1) / 2) * 26 + (round ? len * 0.12 : 0);
  const mx = (a.x + b.x) / 2 - dy / len * bend;
  const my = (a.y + b.y) / 2 + dx / len * bend;
  return { d: `M${a.x} ${a.y}Q${mx} ${my} ${b.x} ${b.y}`,
    mid: { x: (a.x + b.x) / 4 + mx / 2, y: (a.y + b.y) / 4 + my / 2 } };
}

export class Picture {
  /**
   * nodes: [{ id, label, x, y, endpoint, group }]; links: [{ id, label, a, b,
   * k, n }], a and b being node ids. on: { select(kind, id) }
   */
  constructor(el, nodes, links, on) {
    this.el = el;
    this.at = new Map(nodes.map((v) => [v.id, v]));
    this.links = new Map();
    this.nodes = new Map();
    el.replaceChildren();
    const xs = nodes.map((v) => v.x), ys = nodes.map((v) => v.y);
    const x0 = Math.min(...xs) - PAD, y0 = Math.min(...ys) - PAD;
    /** all of it, as a viewBox has it */
    this.box = [x0, y0, Math.max(...xs) + PAD - x0, Math.max(...ys) + PAD - y0];
    this.thin = Math.min(1, Math.sqrt(60 / links.length));
    this.wires = svg("g", {}, el);
    this.flashes = svg("g", {}, el);
    const tops = svg("g", {}, el);
    links.forEach((l) => this.addLink(l, on));
    nodes.forEach((v) => this.addNode(v, tops, on));
  }

  pick(g, kind, id, on) {
    g.addEventListener("click", () => on.select(kind, id));
    g.addEventListener("keydown", (e) => {
      if (e.key === "Enter" || e.key === " ") {
        on.select(kind, id);
        e.preventDefault();
      }
    });
  }

  addLink(l, on) {
    const a = this.at.get(l.a), b = this.at.get(l.b);
    const c = curve(a, b, l, isAcross([...this.at.values()], a, b));
    const g = svg("g", { class: "link idle", tabindex: 0, role: "button",
      "data-link": l.label, "aria-label": "link " + l.label }, this.wires);
    svg("title", {}, g).textContent = l.label;
    svg("path", { class: "reach", d: c.d }, g);
    const wire = svg("path", { class: "wire", d: c.d, "stroke-width": 1.5 },
      g);
    const mark = svg("text", { x: c.mid.x, y: c.mid.y }, g);
    this.pick(g, "link", l.id, on);
    this.links.set(l.id, { g, wire, mark, l, look: ["idle"] });
  }

  addNode(v, tops, on) {
    const g = svg("g", { tabindex: 0, role: "button", "data-device": v.label,
      class: "node" + (v.endpoint ? " endpoint" : ""),
      "aria-label": (v.endpoint ? "endpoint " : v.group ? "group "
        : "switch ") + v.label }, tops);
    svg("title", {}, g).textContent = v.label;
    if (v.endpoint)
      svg("circle", { cx: v.x, cy: v.y, r: 11 }, g);
    else {
      const w = v.group ? 20 + 8.5 * v.label.length : 38;
      svg("rect", { x: v.x - w / 2, y: v.y - 15, width: w, height: 30,
        rx: 5 }, g);
    }
    svg("text", { x: v.x, y: v.y, "font-size": v.group ? 12 : v.endpoint
      ? Math.min(8, 36 / v.label.length) : Math.min(12, 58 / v.label.length) },
    g).textContent = v.label;
    this.pick(g, v.group ? "group" : "device", v.id, on);
    this.nodes.set(v.id, g);
  }

  /** share: of the busiest link, 0 to 1. text: for screen readers. */
  setLink(id, state, share, text) {
    const e = this.links.get(id);
    if (!e)
      return;
    const kind = kindOf(state);
    const look = kind !== "ok" ? kind : share === 0 ? "idle"
      : `ok load${Math.min(4, Math.ceil(4 * share))}`;
    e.g.classList.remove(...e.look);
    e.look = look.split(" ");
    e.g.classList.add(...e.look);
    e.g.setAttribute("data-state", state);
    e.g.setAttribute("aria-label", text);
    e.wire.setAttribute("stroke-width",
      (1.5 + 7.5 * this.thin * Math.sqrt(share)).toFixed(1));
    e.mark.textContent = kind === "cut" ? "\u2715" : "";
  }

  /** away: planned, silent, or another process's */
  setNode(id, bad, away = false) {
    this.nodes.get(id)?.classList.toggle("bad", bad);
    this.nodes.get(id)?.classList.toggle("away", away);
  }

  select(kind, id) {
    for (const g of this.el.querySelectorAll(".selected"))
      g.classList.remove("selected");
    if (kind === "link")
      this.links.get(id)?.g.classList.add("selected");
    else if (kind)
      this.nodes.get(id)?.classList.add("selected");
    // where one device is looked at, the links of others fade
    this.el.classList.toggle("one", kind === "device");
    for (const { g, l } of this.links.values())
      g.classList.toggle("of", l.a === id || l.b === id);
  }

  /** A ring at the device whose packets loop back. */
  flash(node) {
    const v = this.at.get(node);
    if (!v)
      return;
    const ring = svg("circle", { class: "loop", cx: v.x, cy: v.y, r: 3 },
      this.flashes);
    ring.addEventListener("animationend", () => ring.remove());
  }
}
