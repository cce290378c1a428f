// SPDX-License-Identifier: BSD-3-Clause
// The part of the picture that is seen: the viewBox of its svg.

const MOST = 20, STEP = 1.25, DRAG_PX = 4;

export class Zoom {
  constructor(el) {
    this.el = el;
    el.addEventListener("wheel", (e) => {
      if (this.by(e.deltaY < 0 ? STEP : 1 / STEP, this.at(e)))
        e.preventDefault();
    }, { passive: false });
    el.addEventListener("pointerdown", (e) => {
      this.drag = e.button === 0 ? { x: e.clientX, y: e.clientY } : null;
    });
    el.addEventListener("pointermove", (e) => this.move(e));
    for (const end of ["pointerup", "pointercancel"])
      el.addEventListener(end, () => { this.drag = null; });
  }

  /** box: [x, y, width, height] of all */
  home(box = this.all) {
    this.all = box;
    this.show([...box]);
  }

  show(box) {
    const all = this.all;
    // what is seen stays within all
    for (const i of [0, 1])
      box[i] = Math.min(Math.max(box[i], all[i]),
        all[i] + all[i + 2] - box[i + 2]);
    this.box = box;
    this.el.setAttribute("viewBox", box.map((v) => v.toFixed(1)).join(" "));
    this.el.classList.toggle("near", box[2] < all[2]);
  }

  /** The place of an event, in units of the picture. */
  at(e) {
    return new DOMPoint(e.clientX, e.clientY).matrixTransform(
      this.el.getScreenCTM().inverse());
  }

  /** Closer by a factor; the place p stays. @return whether it changed */
  by(factor, p = null) {
    const [x, y, w, h] = this.box;
    const to = Math.min(this.all[2], Math.max(this.all[2] / MOST, w / factor));
    const c = p ?? { x: x + w / 2, y: y + h / 2 }, k = to / w;
    this.show([c.x - (c.x - x) * k, c.y - (c.y - y) * k, to, h * k]);
    return k !== 1;
  }

  /** Moves by shares of what is seen. */
  pan(x, y) {
    const b = this.box;
    this.show([b[0] + x * b[2], b[1] + y * b[3], b[2], b[3]]);
  }

  move(e) {
    const d = this.drag;
    if (!d || (!d.on && Math.hypot(e.clientX - d.x, e.clientY - d.y) < DRAG_PX))
      return;
    // from here on it is no click
    if (!d.on)
      this.el.setPointerCapture(e.pointerId);
    const scale = this.el.getScreenCTM().a, b = this.box;
    this.show([b[0] - (e.clientX - d.x) / scale,
      b[1] - (e.clientY - d.y) / scale, b[2], b[3]]);
    Object.assign(d, { on: true, x: e.clientX, y: e.clientY });
  }

  /** A key of the page. @return whether it is one of these */
  key(key) {
    const pans = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0],
      ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
    if (key === "+" || key === "=")
      this.by(STEP);
    else if (key === "-")
      this.by(1 / STEP);
    else if (key === "0")
      this.home();
    else if (pans[key] && this.box[2] < this.all[2])
      this.pan(...pans[key]);
    else
      return false;
    return true;
  }
}
