// The rows that are in the document, one for each message of a part of the conversation.

import { el } from "./dom.js";
import { fill, gist, grouping, tools } from "./row.js";

/** @param {any} message */
const keyOf = (message) => message.seq ?? message.id;

export class Rows {
  /** The list of the rows. */
  element = el("div", {
    class: "rows",
    role: "feed",
    "aria-label": "Messages",
    id: "timeline-rows",
  });
  /** By `seq`, or by the id of an entry without one. @type {Map<number | string, any>} */
  #rows = new Map();
  /** Long messages that are shown as a whole. @type {Set<number | string>} */
  #expanded = new Set();
  /** @type {any} */
  #context;
  /** @type {any} */
  #tools;

  get count() {
    return this.#rows.size;
  }
  get first() {
    return this.element.firstElementChild;
  }
  get last() {
    return this.element.lastElementChild;
  }

  /** The message of the last row that has a `seq`. @returns {any} */
  get lastStored() {
    let row = this.element.lastElementChild;
    while (row && row.message.seq === undefined) row = row.previousElementSibling;
    return row?.message;
  }

  /** @param {number | string | undefined} key */
  get(key) {
    return this.#rows.get(/** @type {any} */ (key));
  }

  /** Begins a conversation. @param {any} context what rows need: see `Timeline.open` */
  open(context) {
    this.#context = context;
    this.#tools = tools(context);
  }

  clear() {
    this.#rows.clear();
    this.#expanded.clear();
    this.element.replaceChildren();
  }

  /**
   * Shows these messages and no others.
   * @param {any[]} wanted
   * @param {any} before the message before them, which is not shown
   * @param {any} after the one after them
   * @param {number} firstUnread
   */
  show(wanted, before, after, firstUnread) {
    const keys = new Set(wanted.map(keyOf));
    // An entry that has got its seq keeps its row.
    for (const message of wanted) {
      const row =
        message.seq !== undefined &&
        message.from === this.#context.user &&
        this.#rows.get(message.id);
      if (!row) continue;
      this.#rows.delete(message.id);
      if (this.#rows.has(message.seq)) row.remove();
      else this.#rows.set(message.seq, row);
    }
    for (const [key, row] of this.#rows) {
      if (keys.has(key)) continue;
      this.#rows.delete(key);
      row.remove();
    }
    let place = this.element.firstElementChild;
    for (const [index, message] of wanted.entries()) {
      const key = keyOf(message);
      let row = this.#rows.get(key);
      if (!row) {
        row = el("div", { role: "article", tabIndex: -1 });
        this.#rows.set(key, row);
      }
      this.#draw(
        row,
        message,
        wanted[index - 1] ?? before,
        wanted[index + 1] ?? after,
        firstUnread,
      );
      if (row === place) place = place.nextElementSibling;
      else this.element.insertBefore(row, place);
    }
  }

  /** @param {number | string} key */
  expand(key) {
    this.#expanded.add(key);
    this.refresh();
  }

  /** Draws all rows again at the next occasion, because names or pictures have changed. */
  refresh() {
    for (const row of this.#rows.values()) row.shown = undefined;
  }

  /**
   * Fills a row if anything that it shows has changed.
   * @param {any} row
   * @param {any} message
   * @param {any} before
   * @param {any} after
   * @param {number} firstUnread
   */
  #draw(row, message, before, after, firstUnread) {
    const context = this.#context;
    const around = {
      ...grouping(message, before, after),
      isFirstUnread: message.seq === firstUnread,
      isExpanded: this.#expanded.has(keyOf(message)),
      mark: message.from === context.user && !message.deleted ? context.mark(message) : "",
    };
    const quoted = message.replyTo === undefined ? undefined : context.message(message.replyTo);
    const { opensDay, opensGroup, closesGroup, isFirstUnread, mark } = around;
    const signature = `${opensDay}${opensGroup}${closesGroup}${isFirstUnread}${mark}${quoted ? gist(quoted).length : ""}`;
    if (row.message === message && row.shown === signature) return;
    // An entry that was pending makes a new object at every change, with the same content.
    row.message = message;
    row.shown = signature;
    if (message.seq !== undefined) {
      row.setAttribute("aria-posinset", message.seq);
      row.setAttribute("aria-setsize", -1);
    }
    fill(row, message, context, around);
  }

  // MARK: Buttons beside a message: one set for all rows

  get hasToolsFocus() {
    return this.#tools?.matches(":focus-within") ?? false;
  }

  /** @param {any} row */
  showTools(row) {
    const message = row?.message;
    if (!message || message.seq === undefined || message.deleted) this.hideTools();
    else if (this.#tools.parentElement?.closest(".row") !== row)
      row.querySelector(".bubble").append(this.#tools);
  }

  hideTools() {
    this.#tools?.remove();
  }
}
