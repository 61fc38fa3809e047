// What is wrong for as long as it lasts: it stands above the page, and nothing that is said later takes its place.

import { el } from "./dom.js";

export class Conditions {
  element = el("div", { class: "conditions", role: "status" });
  /** @type {Map<string, HTMLElement>} */
  #lines = new Map();

  /** @param {string} name of the condition @param {string} [text] nothing once it is over */
  set(name, text) {
    const line = this.#lines.get(name);
    if (line?.textContent === text) return;
    line?.remove();
    this.#lines.delete(name);
    if (!text) return;
    const added = el("p", { class: "notice" }, text);
    this.#lines.set(name, added);
    this.element.append(added);
  }
}
