// The way back to the end of a conversation.

import { el } from "./dom.js";

/** A button that leads to the newest message, and tells how many have come meanwhile. */
export class NewestButton {
  /** How many messages of others were not in view. */
  missed = 0;

  /** @param {() => void} go */
  constructor(go) {
    this.element = el("button", {
      type: "button",
      class: "newest",
      hidden: true,
      on: { click: go },
    });
  }

  /** @param {boolean} isShown */
  show(isShown) {
    const { element, missed } = this;
    element.hidden = !isShown;
    const count = missed > 99 ? "99+" : String(missed);
    if (element.dataset.count === count) return;
    element.dataset.count = count;
    element.setAttribute(
      "aria-label",
      missed > 0 ? `Go to the newest message, ${count} new` : "Go to the newest message",
    );
  }
}
