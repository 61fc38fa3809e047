// Says to a screen reader what has happened, without moving the focus.

import { el } from "./dom.js";

/** What arrives within this time is said at once. */
const gatherMs = 400;
const saidAtOnce = 3;

export class Announcer {
  element = el("div", { class: "hidden-text", role: "status", "aria-live": "polite" });
  /** @type {string[]} */
  #waiting = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {string} text */
  say(text) {
    this.#waiting.push(text);
    this.#timer ||= setTimeout(() => {
      const texts = this.#waiting;
      this.#waiting = [];
      this.#timer = undefined;
      const spoken = texts.length > saidAtOnce ? [`${texts.length} new messages`] : texts;
      this.element.replaceChildren(...spoken.map((line) => el("p", {}, line)));
    }, gatherMs);
  }
}
