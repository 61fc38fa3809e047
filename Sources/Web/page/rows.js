// The rows that are in the document, one for each message of a part of the conversation.

import { el, unset } from "./dom.js";
import { showProgress } from "./file-row.js";
import { isContent } from "./relay-client/fold.js";
import { fill, gist, grouping, rowOf, tools } from "./row.js";

/** @import { Context, RowElement, Shown } from "./row.js" */

/** @param {Shown} message */
const keyOf = (message) => message.seq ?? message.id;

export class Rows {
  /** The list of the rows. */
  element = el("div", {
    class: "rows",
    role: "feed",
    "aria-label": "Messages",
    id: "timeline-rows",
  });
  /** By `seq`, or by the id of an entry without one. @type {Map<number | string, RowElement>} */
  #rows = new Map();
  /** Long messages that are shown as a whole. @type {Set<number | string>} */
  #expanded = new Set();
  /** @type {Context} */
  #context = unset();
  /** @type {HTMLElement | undefined} */
  #tools;

  get count() {
    return this.#rows.size;
  }
  get all() {
    return /** @type {HTMLCollectionOf<RowElement>} */ (this.element.children);
  }
  get first() {
    return /** @type {RowElement | undefined} */ (this.all[0]);
  }
  get last() {
    return /** @type {RowElement | undefined} */ (this.all[this.all.length - 1]);
  }

  /** The `seq` of the last row that has one. */
  get lastSeq() {
    return [...this.all].findLast(({ message }) => message.seq !== undefined)?.message.seq;
  }

  /** @param {number | string} key */
  get(key) {
    return this.#rows.get(key);
  }

  /** Begins a conversation. @param {Context} context */
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
   * @param {Shown[]} wanted
   * @param {Shown | undefined} before the message before them, which is not shown
   * @param {Shown | undefined} after the one after them
   * @param {number} firstUnread
   */
  show(wanted, before, after, firstUnread) {
    const keys = new Set(wanted.map(keyOf));
    // An entry that has got its seq keeps its row.
    for (const message of wanted) {
      if (message.seq === undefined || message.from !== this.#context.user) continue;
      const row = this.#rows.get(message.id);
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
        row = Object.assign(el("div", { role: "article", tabIndex: -1 }), { message });
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

  /** @param {import("./relay-client/types.js").Progress} progress */
  progress(progress) {
    const row = this.#rows.get(progress.id);
    if (row) showProgress(row, progress);
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
   * @param {RowElement} row
   * @param {Shown} message
   * @param {Shown | undefined} before
   * @param {Shown | undefined} after
   * @param {number} firstUnread
   */
  #draw(row, message, before, after, firstUnread) {
    const context = this.#context;
    /** @type {import("./row.js").Surroundings} */
    const around = {
      ...grouping(message, before, after),
      isFirstUnread: message.seq === firstUnread,
      isExpanded: this.#expanded.has(keyOf(message)),
      mark:
        message.from === context.user && !message.deleted && isContent(message)
          ? context.mark(message)
          : "",
    };
    const quoted = message.replyTo === undefined ? undefined : context.message(message.replyTo);
    const { opensDay, opensGroup, closesGroup, isFirstUnread, mark } = around;
    const signature = [
      opensDay,
      opensGroup,
      closesGroup,
      isFirstUnread,
      mark,
      gist(quoted).length,
    ].join();
    if (row.message === message && row.shown === signature) return;
    // An entry that was pending makes a new object at every change, with the same content.
    row.message = message;
    row.shown = signature;
    if (message.seq !== undefined) {
      row.setAttribute("aria-posinset", String(message.seq));
      row.setAttribute("aria-setsize", "-1");
    }
    fill(row, message, context, around);
  }

  // MARK: Buttons beside a message: one set for all rows

  get hasToolsFocus() {
    return this.#tools?.matches(":focus-within") ?? false;
  }

  /** @param {RowElement | null | undefined} row */
  showTools(row) {
    const message = row?.message;
    const bubble = row?.querySelector(".bubble");
    if (!this.#tools || message?.seq === undefined || message.deleted || !bubble) this.hideTools();
    else if (rowOf(this.#tools) !== row) bubble.append(this.#tools);
  }

  hideTools() {
    this.#tools?.remove();
  }
}
