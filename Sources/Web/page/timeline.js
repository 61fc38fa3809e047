// The messages of a conversation: at most 200 rows in the document, and what one reads never moves.
//
// The position is settled before every paint: after each change of rows, each scroll, and each
// change of size, which a ResizeObserver reports between layout and paint.

import { el, unset } from "./dom.js";
import { day } from "./format.js";
import { NewestButton } from "./newest.js";
import { Position } from "./position.js";
import { load, report } from "./problems.js";
import { isContent } from "./relay-client/fold.js";
import { Roving } from "./roving.js";
import { Rows } from "./rows.js";

const rowsLimit = 200;
const step = 30;
/** Rows are added when the view comes this close to their end, in pixels. */
const reserve = 1200;
/** Rows that are not in view yet are added for this long, and then in the next frame. */
const addingMs = 6;
/** This close to the end of the newest message counts as being there. */
const slack = 8;

/** @import { Conversation } from "./conversation.js" */
/** @import { Message } from "./relay-client/types.js" */
/** @import { Context, RowElement, Shown } from "./row.js" */

/**
 * Setting a text that is there already would cause a layout.
 * @param {HTMLElement} element
 * @param {string} text
 */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export class Timeline extends HTMLElement {
  /** @type {Conversation | undefined} */
  #conversation;
  /** @type {Context} */
  #context = unset();
  /** The items in the document: from this index, to before that one. */
  #from = 0;
  #to = 0;
  /** @type {Shown[]} own messages that are not in the log */
  #pending = [];
  /** Whether the view stays at the newest message. */
  #isAtEnd = true;
  #firstUnread = Infinity;
  #isMarked = false;
  /** Whether the view is where the conversation is to be opened. */
  #isPlaced = false;
  /** Whether a person has gone somewhere: then the first unread message is not gone to. */
  #isSought = false;
  /** Where rows were added since the last scroll. @type {"up" | "down" | undefined} */
  #lastAdded;
  #frame = 0;
  #ending = new AbortController();
  #resizes = new ResizeObserver(() => this.#settle());
  #rows = new Rows();
  #above = el("div", { class: "edge" });
  #below = el("div", { class: "edge below" });
  #scroller = el(
    "div",
    { class: "scroller" },
    el("div", { class: "column" }, this.#above, this.#rows.element, this.#below),
  );
  #position = new Position(this.#scroller, this.#rows);
  #roving = new Roving(this.#rows, this.#position);
  #empty = el("div", { class: "empty", hidden: true });
  #newest = new NewestButton(() => this.toNewest());
  /** @type {import("./scrollbar.js").Scrollbar | undefined} */
  #bar;

  connectedCallback() {
    if (this.firstChild) return;
    this.append(this.#scroller, this.#empty, this.#newest.element);
    this.#resizes.observe(this.#scroller);
    this.#resizes.observe(this.#rows.element);
    this.#scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.#roving.listen({
      key: (event, row) => this.#key(event, row),
      leave: () => this.dispatchEvent(new Event("leave")),
      page: () => this.#scroller.clientHeight,
    });
    load(() => import("./scrollbar.js"), this).then(({ Scrollbar }) => {
      this.#bar = new Scrollbar(
        (share, seq) => (share >= 1 ? this.toNewest() : this.show(seq)),
        (seq) => {
          const item = this.#conversation?.get(seq);
          return item ? day(item.at) : `Message ${seq.toLocaleString()}`;
        },
      );
      this.#scroller.after(this.#bar.element);
      if (this.#conversation) this.#showState();
    });
  }

  disconnectedCallback() {
    cancelAnimationFrame(this.#frame);
  }

  /**
   * Shows a conversation from its newest message, or from the first unread one.
   * @param {Conversation} conversation
   * @param {Context} context
   */
  open(conversation, context) {
    this.close();
    this.#conversation = conversation;
    this.#context = context;
    this.#rows.open(context);
    this.#ending = new AbortController();
    const options = { signal: this.#ending.signal };
    conversation.on("change", (isOther) => (isOther ? this.#restart() : this.#changed()), options);
    conversation.on("arrive", (messages) => this.#arrived(messages), options);
    conversation.on("pending", () => this.#pendingChanged(), options);
    conversation.on("marks", () => this.#later(), options);
    conversation.on(
      "state",
      () => {
        this.#noteUnread();
        this.#later();
      },
      options,
    );
    conversation.on("loading", () => this.#later(), options);
    conversation.isFollowed = () => this.isAtEnd;
    this.#firstUnread = Infinity;
    this.#isMarked = this.#isPlaced = this.#isSought = false;
    this.#noteUnread();
    this.#restart();
  }

  close() {
    this.#ending.abort();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#pending = [];
    this.#rows.clear();
    this.#position.anchor = undefined;
    this.#conversation = undefined;
  }

  /** The newest message that is in view, and `undefined` if there is none. */
  get seen() {
    if (!this.#conversation || !this.#isPlaced || this.#scroller.clientHeight === 0)
      return undefined;
    if (this.isAtEnd) return this.#conversation.head || undefined;
    return this.#position.lastInView?.message.seq;
  }

  /** For what happens only while one is shown. */
  get #opened() {
    return /** @type {Conversation} */ (this.#conversation);
  }

  get isAtEnd() {
    return this.#isAtEnd && !this.#conversation?.newer;
  }
  get rowCount() {
    return this.#rows.count;
  }
  /** The message that has the focus. */
  get current() {
    return this.#roving.message;
  }
  /** The first message that was unread when the conversation was opened. */
  get firstUnread() {
    return this.#firstUnread === Infinity ? undefined : this.#firstUnread;
  }
  /** @param {number} seq */
  row(seq) {
    return this.#rows.get(seq);
  }

  /** @param {import("./relay-client/types.js").Progress} progress of a file that is sent */
  progress(progress) {
    this.#rows.progress(progress);
  }

  /** Shows all of a long message. @param {number | string} key */
  expand(key) {
    this.#rows.expand(key);
    this.#update();
  }

  toNewest() {
    this.#isSought = true;
    this.#newest.missed = 0;
    this.#isAtEnd = true;
    if (this.#conversation?.toNewest()) return;
    this.#showEnd();
    this.#update();
  }

  /** Shows a message, or the first one at or after a time. @param {number | Date} place */
  show(place) {
    this.#isSought = true;
    return this.#jump(place);
  }

  /** @param {number | Date} place */
  async #jump(place) {
    const conversation = this.#conversation;
    if (!conversation) return;
    this.#isAtEnd = false;
    const seq = await conversation
      .jump(place)
      .catch((error) => report(error, this, "The message could not be shown"));
    if (conversation !== this.#conversation || seq === undefined) return;
    this.#center(conversation.index(seq));
    const row = this.#rows.get(seq);
    if (!row) return;
    this.#position.move(
      this.#position.of(row) - Math.max(40, (this.#scroller.clientHeight - row.offsetHeight) / 3),
    );
    this.#roving.select(row);
    this.#update();
    row.classList.add("flash");
    row.addEventListener("animationend", () => row.classList.remove("flash"), { once: true });
    return row;
  }

  /** Moves the focus to a message: the current one, or the newest. */
  enter() {
    if (!this.#roving.enter()) this.focus();
  }

  /** Draws all rows again, because names or pictures have changed. */
  refresh() {
    this.#rows.refresh();
    this.#later();
  }

  // MARK: What happens to the conversation

  #restart() {
    const conversation = this.#opened;
    this.#pending = this.#readPending();
    const anchor = this.#isAtEnd ? undefined : this.#position.anchor?.row.message.seq;
    if (anchor !== undefined && conversation.get(anchor)) {
      this.#center(conversation.index(anchor));
    } else {
      this.#isAtEnd = !conversation.newer;
      this.#showEnd();
      if (!this.#isMarked || !this.#showUnread()) this.#update();
    }
  }

  #changed() {
    this.#locate();
    this.#later();
  }

  /** Pages may have been added before the rows, or forgotten: finds them again. */
  #locate() {
    const conversation = this.#opened;
    const first = this.#rows.first?.message.seq;
    const last = this.#rows.lastSeq;
    if (first === undefined || last === undefined) {
      this.#showEnd();
    } else {
      this.#from = conversation.index(first);
      this.#to = Math.min(conversation.items.length, conversation.index(last) + 1);
    }
  }

  /** @param {Shown[]} messages */
  #arrived(messages) {
    this.#pending = this.#readPending();
    this.#locate();
    const isNews = (/** @type {Shown} */ message) =>
      message.from !== this.#context.user && isContent(message);
    const others = messages.filter(isNews).length;
    if (!this.isAtEnd) this.#newest.missed += others;
    this.#later();
  }

  #pendingChanged() {
    const before = new Set(this.#pending.map((entry) => entry.id));
    this.#pending = this.#readPending();
    // What one writes is shown.
    if (this.#pending.some((entry) => !before.has(entry.id))) {
      this.#isAtEnd = true;
      this.#newest.missed = 0;
      const conversation = this.#opened;
      if (conversation.newer) conversation.toNewest();
      else this.#update();
      return;
    }
    this.#later(); // a hundred may be acknowledged together
  }

  #readPending() {
    const from = this.#context.user;
    return this.#opened.room.pending.flatMap(({ kind, file: _, ...entry }) =>
      kind === "text" || kind === "data" || kind === "file" ? [{ ...entry, kind, from }] : [],
    );
  }

  /** Notes what was unread when the conversation was opened, and goes there. */
  async #noteUnread() {
    const conversation = this.#opened;
    const { readBefore } = conversation;
    if (this.#isMarked || readBefore === undefined) return;
    this.#isMarked = true;
    const isUnread = (/** @type {Message} */ item) =>
      item.seq > readBefore && item.from !== this.#context.user && isContent(item);
    const isBefore = conversation.older && conversation.items[0]?.seq > readBefore + 1;
    if (isBefore && !this.#isSought && conversation.items.some(isUnread))
      await this.#jump(readBefore + 1);
    if (conversation !== this.#conversation) return;
    this.#isPlaced = true;
    this.#firstUnread = conversation.items.find(isUnread)?.seq ?? Infinity;
    if (this.#firstUnread === Infinity || !this.#showUnread()) this.#update();
  }

  /** Goes to the first unread message if it is loaded. */
  #showUnread() {
    if (this.#isSought) return false;
    const conversation = this.#opened;
    const index = conversation.index(this.#firstUnread);
    if (
      conversation.items[index]?.seq !== this.#firstUnread ||
      conversation.items.length - index < 3
    )
      return false;
    this.#center(index);
    const row = this.#rows.get(this.#firstUnread);
    if (!row) return false;
    this.#isAtEnd = false;
    this.#position.move(this.#position.of(row) - this.#scroller.clientHeight / 3);
    this.#settle();
    this.#extend();
    this.#showState();
    return true;
  }

  // MARK: The rows

  #showEnd() {
    const { items } = this.#opened;
    this.#to = items.length;
    this.#from = Math.max(0, this.#to - step);
  }

  /** Puts rows around an item into the document. @param {number} index */
  #center(index) {
    const { items } = this.#opened;
    this.#from = Math.max(0, index - step);
    this.#to = Math.min(items.length, index + step);
    this.#lastAdded = undefined;
    this.#sync();
    this.#position.anchor = undefined;
  }

  /** Updates the document before the next paint, once for all that happens until then. */
  #later() {
    this.#frame ||= requestAnimationFrame(() => this.#update());
  }

  #update() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const conversation = this.#conversation;
    if (!conversation) return;
    const { items } = conversation;
    const began = performance.now();
    if (this.isAtEnd) {
      this.#to = items.length;
      if (this.#to - this.#from > rowsLimit || this.#from > this.#to)
        this.#from = Math.max(0, this.#to - step * 2);
    }
    this.#to = Math.min(this.#to, items.length);
    this.#sync();
    this.#settle();
    this.#extend(began);
    this.#showState();
  }

  /** Makes the document show the chosen items. */
  #sync() {
    const { items, newer } = this.#opened;
    const pending = this.#to === items.length && !newer ? this.#pending : [];
    const { hasFocus } = this.#roving;
    this.#rows.show(
      [...items.slice(this.#from, this.#to), ...pending],
      items[this.#from - 1],
      items[this.#to],
      this.#firstUnread,
    );
    this.#roving.update();
    // The message that had the focus has gone: the nearest one takes it.
    if (hasFocus && !this.#roving.hasFocus) this.enter();
  }

  /**
   * Adds rows where the view comes close to their end, and removes them at the other.
   * @param {number} [began] with this work
   */
  #extend(began = performance.now()) {
    const conversation = this.#conversation;
    const height = this.#scroller.clientHeight;
    if (!conversation || height === 0) return;
    const { items } = conversation;
    for (;;) {
      const { top, end } = this.#position;
      const isUp = top < reserve && this.#from > 0;
      const isDown = !isUp && !this.isAtEnd && end - top < reserve && this.#to < items.length;
      if (!isUp && !isDown) break;
      const from = isUp ? Math.max(0, this.#from - step) : this.#from;
      const to = isDown ? Math.min(items.length, this.#to + step) : this.#to;
      const isFull = to - from > rowsLimit;
      // Rows that are higher than the reserve: those that were removed are not added again at once.
      if (isFull && this.#lastAdded === (isUp ? "down" : "up")) break;
      if ((isUp ? top : end - top) > height / 2 && performance.now() - began > addingMs)
        return this.#later();
      this.#from = isFull && isDown ? to - rowsLimit : from;
      this.#to = isFull && isUp ? from + rowsLimit : to;
      this.#lastAdded = isUp ? "up" : "down";
      this.#sync();
      this.#settle();
    }
    const { top, end } = this.#position;
    if (top < reserve && this.#from === 0 && conversation.older) conversation.loadOlder();
    if (end - top < reserve && this.#to === items.length && conversation.newer)
      conversation.loadNewer();
  }

  // MARK: The position

  /** Scrolls so that what is at the top of the view stays, or the newest message at the bottom. */
  #settle() {
    if (!this.#conversation) return;
    const position = this.#position;
    if (this.isAtEnd && (position.isKept || position.top >= position.end - slack))
      position.settleAtEnd();
    else position.settle();
  }

  #scrolled() {
    if (!this.#conversation) return;
    const position = this.#position;
    if (position.hasMoved) {
      this.#lastAdded = undefined;
      // A person has scrolled, or the content has become shorter.
      const isKept = this.isAtEnd && position.isKept;
      if (isKept) position.settleAtEnd();
      else if (this.#isAtEnd) position.keep();
      else position.settleScroll();
      this.#isAtEnd =
        isKept ||
        (position.top >= position.end - slack && this.#to === this.#conversation.items.length);
    }
    if (this.isAtEnd) this.#newest.missed = 0;
    this.#extend();
    this.#showState();
  }

  // MARK: What is around the rows

  #showState() {
    const conversation = this.#opened;
    const isEmpty = conversation.items.length === 0 && this.#pending.length === 0;
    this.#empty.hidden = !isEmpty;
    if (isEmpty) setText(this.#empty, this.#context.empty());
    setText(
      this.#above,
      isEmpty
        ? ""
        : conversation.older
          ? "Loading older messages…"
          : "Beginning of the conversation",
    );
    this.#above.classList.toggle("quiet", conversation.older && !conversation.isReading("older"));
    this.#newest.show(!this.isAtEnd && !isEmpty);
    this.#rows.element.setAttribute("aria-busy", String(conversation.isLoading));
    const { first, head, older, newer } = conversation;
    this.#bar?.show({
      first,
      head,
      seq: this.isAtEnd ? head : (this.#position.anchor?.row.message.seq ?? head),
      fits: this.#from === 0 && !older && !newer && this.#position.end <= 1,
    });
    this.dispatchEvent(new Event("view"));
  }

  // MARK: The keyboard

  /**
   * @param {KeyboardEvent} event
   * @param {RowElement} row
   * @returns {boolean} whether the key is one for this
   */
  #key(event, row) {
    if (event.key === "End") {
      this.toNewest();
      this.#rows.last?.focus();
    } else if (event.key === "Home") {
      this.show(this.#opened.first).then((first) => first?.focus({ preventScroll: true }));
    } else return this.#context.key(event, row.message);
    return true;
  }
}
customElements.define("relay-timeline", Timeline);
