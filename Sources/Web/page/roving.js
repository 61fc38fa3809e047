// The keyboard within the messages: one row has the focus, or is where Tab goes to.

import { focused, keys } from "./dom.js";
import { rowOf } from "./row.js";

/** @import { RowElement } from "./row.js" */

/** About as high as a message is, in pixels: for how many of them a page of the view has. */
const rowHeight = 60;

export class Roving {
  /** The row that Tab goes to: by default the newest. @type {RowElement | undefined} */
  #current;
  #rows;
  #position;

  /** @param {import("./rows.js").Rows} rows @param {import("./position.js").Position} position */
  constructor(rows, position) {
    this.#rows = rows;
    this.#position = position;
  }

  get hasFocus() {
    return this.#rows.element.contains(focused());
  }
  /** The message that has the focus. */
  get message() {
    return this.hasFocus ? rowOf(focused())?.message : undefined;
  }

  /** @param {RowElement} row */
  select(row) {
    this.#current = row;
    this.update();
  }

  /** After a change of the rows: one of them is where Tab goes to. */
  update() {
    if (!this.#current?.isConnected) this.#current = undefined;
    const current = this.#current ?? this.#rows.last;
    for (const row of this.#rows.all) {
      const index = row === current ? 0 : -1;
      if (row.tabIndex !== index) row.tabIndex = index;
    }
  }

  /** Moves the focus to the current row, or the newest; returns whether there is one. */
  enter() {
    const row = this.#current ?? this.#rows.last;
    if (!row) return false;
    row.focus({ preventScroll: this.#position.isInView(row) });
    return true;
  }

  /**
   * @param {object} reactions
   * @param {(event: KeyboardEvent, row: RowElement) => boolean} reactions.key a key that moves nothing, on
   *   a row; whether it was one for that
   * @param {() => void} reactions.leave the focus leaves the rows at their end
   * @param {() => number} reactions.page how high the view is
   */
  listen({ key, leave, page }) {
    const list = this.#rows.element;
    list.addEventListener(
      "keydown",
      keys((event) => {
        const row = rowOf(event.target);
        if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
        if (event.target !== row) {
          if (event.key === "Escape") {
            event.stopPropagation();
            row.focus();
          }
          return;
        }
        const stepped = this.#step(row, event.key, page());
        if (stepped === "after") leave();
        if (stepped !== "none" || key(event, row)) event.preventDefault();
      }),
    );
    list.addEventListener("focusin", (event) => {
      const row = rowOf(event.target);
      if (!row) return;
      this.select(row);
      this.#rows.showTools(row);
    });
    list.addEventListener("pointerover", (event) => {
      if (event.pointerType !== "touch" && !this.#rows.hasToolsFocus)
        this.#rows.showTools(rowOf(event.target));
    });
    list.addEventListener("pointerleave", () => {
      if (!this.hasFocus) this.#rows.hideTools();
    });
  }

  /**
   * Moves the focus to another row.
   * @param {RowElement} row
   * @param {string} key
   * @param {number} viewHeight
   * @returns {"none" | "moved" | "after"} whether the key is one for that, and leads beyond the
   *   last row
   */
  #step(row, key, viewHeight) {
    const page = Math.max(1, Math.floor(viewHeight / rowHeight) - 1);
    const distance = /** @type {Record<string, number>} */ ({
      ArrowUp: -1,
      ArrowDown: 1,
      PageUp: -page,
      PageDown: page,
    })[key];
    if (!distance) return "none";
    let next = row;
    for (let left = Math.abs(distance); left > 0; left--) {
      const sibling = /** @type {RowElement | null} */ (
        distance < 0 ? next.previousElementSibling : next.nextElementSibling
      );
      if (!sibling) break;
      next = sibling;
    }
    if (next === row) return distance > 0 ? "after" : "moved";
    next.focus({ preventScroll: true });
    this.#position.reveal(next);
    return "moved";
  }
}
