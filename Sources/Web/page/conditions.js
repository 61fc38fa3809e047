// What is wrong for as long as it lasts: it stands above the page, and nothing that is said later
// takes its place.

import { el } from "./dom.js";

export class Conditions {
  element = el("div", { class: "conditions", role: "status" });

  /** @param {string} name of the condition @param {string} [text] nothing once it is over */
  set(name, text) {
    this.element.querySelector(`[data-name=${name}]`)?.remove();
    if (text) this.element.append(el("p", { class: "notice", "data-name": name }, text));
  }
}
