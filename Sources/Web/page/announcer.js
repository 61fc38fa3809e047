// Says to a screen reader what has happened, without moving the focus.

import { el } from "./dom.js";

/** What arrives within this time is said at once. */
const gatherMs = 400;
const saidAtOnce = 3;
/** Nobody can stop a reader in the middle of a text. */
const lengthLimit = 300;

export class Announcer {
  element = el("div", { class: "hidden-text", role: "status", "aria-live": "polite" });
  /** @type {string[]} */
  #waiting = [];
  #count = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @template T
   * @param {T[]} items
   * @param {(item: T) => string} text
   */
  say(items, text = String) {
    this.#count += items.length;
    for (const item of items.slice(0, saidAtOnce - this.#waiting.length))
      this.#waiting.push(shortened(text(item)));
    if (this.#count === 0 || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#speak(), gatherMs);
  }

  #speak() {
    const spoken = this.#count > saidAtOnce ? [`${this.#count} new messages`] : this.#waiting;
    this.#waiting = [];
    this.#count = 0;
    this.#timer = undefined;
    this.element.replaceChildren(...spoken.map((line) => el("p", {}, line)));
  }
}

/** @param {string} text */
const shortened = (text) => (text.length > lengthLimit ? `${text.slice(0, lengthLimit)}…` : text);
