// The position in the whole conversation. `seq` has no gaps, so it is arithmetic. Loaded once a conversation is
// shown.

import { el } from "./dom.js";

/** How soon a place that is dragged to is shown. */
const pauseMs = 40;

export class Scrollbar {
  #isDragging = false;
  #first = 1;
  #head = 0;
  #length = 0.06;
  #go;
  #name;

  /**
   * @param {(share: number, seq: number) => void} go
   * @param {(seq: number) => string} name what is said of a place while dragging
   */
  constructor(go, name) {
    this.#go = go;
    this.#name = name;
    this.hint = el("div", { class: "hint", "aria-hidden": "true" });
    this.element = el(
      "div",
      {
        class: "bar",
        role: "scrollbar",
        "aria-orientation": "vertical",
        "aria-label": "Position in the conversation",
        "aria-valuemin": 0,
        "aria-valuenow": 0,
        "aria-valuemax": 0,
        "aria-controls": "timeline-rows",
        on: { pointerdown: (/** @type {PointerEvent} */ event) => this.#drag(event) },
      },
      el("div", { class: "thumb" }),
      this.hint,
    );
  }

  /** @param {{first: number, head: number, seq: number, fits: boolean}} place */
  show({ first, head, seq, fits }) {
    const { element } = this;
    const total = head - first + 1;
    this.#first = first;
    this.#head = head;
    element.hidden = fits || total < 2;
    if (element.hidden || this.#isDragging) return;
    this.#length = Math.max(0.06, Math.min(0.9, 12 / total));
    element.style.setProperty("--length", `${this.#length * 100}%`);
    this.#move(Math.min(1, Math.max(0, (seq - first) / Math.max(1, total - 1))));
    element.setAttribute("aria-valuemin", String(first));
    element.setAttribute("aria-valuemax", String(head));
    element.setAttribute("aria-valuenow", String(seq));
  }

  /** @param {number} share */
  #move(share) {
    this.element.style.setProperty("--start", `${share * (1 - this.#length) * 100}%`);
  }

  /** @param {PointerEvent} down */
  #drag(down) {
    const { element, hint } = this;
    down.preventDefault();
    element.setPointerCapture(down.pointerId);
    this.#isDragging = true;
    const ending = new AbortController();
    const { signal } = ending;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const move = (/** @type {PointerEvent} */ event) => {
      const { top, height } = element.getBoundingClientRect();
      const share = Math.min(
        1,
        Math.max(0, ((event.clientY - top) / height - this.#length / 2) / (1 - this.#length)),
      );
      const seq = Math.round(this.#first + share * (this.#head - this.#first));
      this.#move(share);
      hint.textContent = this.#name(seq);
      clearTimeout(timer);
      timer = setTimeout(() => this.#go(share, seq), pauseMs);
    };
    const end = () => {
      this.#isDragging = false;
      hint.textContent = "";
      ending.abort();
    };
    move(down);
    element.addEventListener("pointermove", move, { signal });
    element.addEventListener("pointerup", end, { signal });
    element.addEventListener("pointercancel", end, { signal });
  }
}
