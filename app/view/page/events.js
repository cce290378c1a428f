// SPDX-License-Identifier: BSD-3-Clause
// The list of events: what is kept, filtered by severity and by place.

const KEEP = 1000, SHOW = 200;
export const SEVERITIES = ["any severity", "minor", "major", "critical"];
const WORDS = [
  [3, /^alarm raised: .*: (miscabled|unreachable|(device|process)-absent)/],
  [1, /^alarm raised: .*: link-degraded/],
  [2, /^alarm raised/],
  [0, /^alarm over/],
  [3, / unreachable/],
  [2, / dead,|gave up|^dropped |does not train|here is| is gone|not answer/],
  [1, /: holds,| degraded| retrains|no process has/],
];

/** Its number in SEVERITIES, of a text without its time. */
export function severity(text) {
  return (WORDS.find(([, re]) => re.test(text)) ?? [0])[0];
}

/* Names of devices hold no "-" and no "#"; a link is "a-b" or "a-b#n". */
const names = (text, sign) => text.split(sign).map((v) =>
  v.replace(/\.$/, ""));

/** Whether it tells of a device or a link. */
export function isAt(text, name) {
  return names(text, /[^\w.#-]+/).includes(name) ||
    names(text, /[^\w.]+/).includes(name);
}

/** An event of telemetry as it is kept. */
export function event(text, t_ns, process) {
  const said = text.trim().replace(/^[\d.]+ ms /, "");
  return { t_ns, said, severity: severity(said), process };
}

export function addEvents(all, more) {
  all.push(...more);
  all.splice(0, all.length - KEEP);
}

/** The newest that pass, newest first. place: a name, or "" for all. */
export function showEvents(el, all, least, place) {
  const pass = all.filter((e) => e.severity >= least &&
    (place === "" || isAt(e.said, place))).slice(-SHOW).reverse();
  el.replaceChildren(...pass.map((e) => {
    const li = document.createElement("li");
    li.textContent = `${(e.t_ns / 1e6).toFixed(3)} ms ${e.process ?
      `[${e.process}] ` : ""}${e.said}`;
    li.className = SEVERITIES[e.severity];
    return li;
  }));
}
