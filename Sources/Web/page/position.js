// Keeps what one reads where it is.
//
// The browser's own scroll anchoring is off, since it knows nothing of rows that come and go.
// Before every paint, `settle` compares where the row at the top of the view is in the content with
// where it was, and scrolls by the difference.

/** @import { RowElement } from "./row.js" */
/** @import { Rows } from "./rows.js" */

/**
 * How many of the first indices are within: those after them are not.
 * @param {number} count
 * @param {(index: number) => boolean} isWithin
 */
function partition(count, isWithin) {
  let low = 0;
  for (let high = count; low < high; ) {
    const middle = (low + high) >> 1;
    if (isWithin(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Position {
  /**
   * The row at the top of the view, and where it is in the content.
   * @type {{row: RowElement, top: number} | undefined}
   */
  anchor;
  #scroller;
  #rows;
  /**
   * The position that was last set or seen, and by how much it is off because positions are
   * rounded.
   */
  #top = 0;
  #debt = 0;
  /** How high the view was then. */
  #height = 0;

  /** @param {HTMLElement} scroller @param {Rows} rows */
  constructor(scroller, rows) {
    this.#scroller = scroller;
    this.#rows = rows;
  }

  /** The last position. */
  get end() {
    return this.#scroller.scrollHeight - this.#scroller.clientHeight;
  }
  get top() {
    return this.#scroller.scrollTop;
  }
  /** Whether it is no longer what was last set or seen. */
  get hasMoved() {
    return Math.abs(this.#scroller.scrollTop - this.#top) > 0.5;
  }
  /**
   * Whether nobody has moved it towards the beginning: at the end, a view that grows is moved by as
   * much.
   */
  get isKept() {
    const growth = Math.max(0, this.#scroller.clientHeight - this.#height);
    return this.#scroller.scrollTop >= this.#top - growth - 1;
  }

  /** Where a row is in the content. @param {RowElement} row */
  of(row) {
    const body = row.querySelector(".content") ?? row;
    return (
      body.getBoundingClientRect().top -
      this.#scroller.getBoundingClientRect().top +
      this.#scroller.scrollTop
    );
  }

  /** @param {number} position */
  move(position) {
    this.#scroller.scrollTop = position;
    this.#top = this.#scroller.scrollTop;
    this.#debt = position - this.#top;
    if (Math.abs(this.#debt) > 1) this.#debt = 0; // at an end of the content
  }

  /** Scrolls so that the row at the top of the view stays. */
  settle() {
    if (this.anchor?.row.isConnected) {
      const shift = this.of(this.anchor.row) - this.anchor.top;
      if (Math.abs(shift) > 0.01) this.move(this.#scroller.scrollTop + this.#debt + shift);
    }
    this.keep();
  }

  /** Scrolls to the end. */
  settleAtEnd() {
    const { end } = this;
    if (this.#scroller.scrollTop !== end) this.move(end);
    this.keep();
  }

  /**
   * After a scroll, which may come together with a change of the content: only the change is
   * undone.
   */
  settleScroll() {
    if (this.anchor?.row.isConnected) {
      const shift = this.of(this.anchor.row) - this.anchor.top;
      if (Math.abs(shift) > 0.01) this.move(Math.min(this.end, this.#scroller.scrollTop + shift));
    }
    this.keep();
  }

  /** Notes the position, and the row that is not to move. */
  keep() {
    const scroller = this.#scroller;
    if (Math.abs(scroller.scrollTop - this.#top) > 1) this.#debt = 0;
    this.#top = scroller.scrollTop;
    this.#height = scroller.clientHeight;
    const { top } = scroller.getBoundingClientRect();
    const rows = this.#rows.all;
    const above = partition(
      rows.length,
      (index) =>
        (rows[index].querySelector(".content") ?? rows[index]).getBoundingClientRect().top < top,
    );
    const row = rows[above] ?? rows[above - 1];
    this.anchor = row && { row, top: this.of(row) };
  }

  /** The last row that is in view as a whole. @returns {RowElement | undefined} */
  get lastInView() {
    const { bottom } = this.#scroller.getBoundingClientRect();
    const rows = this.#rows.all;
    return rows[
      partition(rows.length, (index) => rows[index].getBoundingClientRect().bottom <= bottom + 1) -
        1
    ];
  }

  /** @param {Element} row */
  isInView(row) {
    const { top, bottom } = this.#scroller.getBoundingClientRect();
    const own = row.getBoundingClientRect();
    return own.bottom > top && own.top < bottom;
  }

  /** Scrolls as little as possible for a row to be in view. @param {Element} row */
  reveal(row) {
    const view = this.#scroller.getBoundingClientRect();
    const own = row.getBoundingClientRect();
    if (own.top < view.top + 12) this.#scroller.scrollTop += own.top - view.top - 12;
    else if (own.bottom > view.bottom - 12)
      this.#scroller.scrollTop += Math.min(own.bottom - view.bottom + 12, own.top - view.top - 12);
  }
}
