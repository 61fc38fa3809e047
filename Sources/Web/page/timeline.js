// The messages of a conversation: at most 200 rows in the document, and what one reads never moves.
//
// The browser's own scroll anchoring is off, since it knows nothing of rows that come and go. Before
// every paint, `#settle` compares where the row at the top of the view is in the content with where it
// was, and scrolls by the difference: after each change of rows, each scroll, and each change of
// size, which a ResizeObserver reports between layout and paint.

import { el, focused } from "./dom.js";
import { day } from "./format.js";
import { fill, gist, grouping, tools } from "./row.js";

const rowsLimit = 200;
const step = 30;
/** Rows are added when the view comes this close to their end, in pixels. */
const reserve = 1200;
/** This close to the end of the newest message counts as being there. */
const slack = 8;

/** How many of the first indices are within: those after them are not. @param {number} count @param {(index: number) => boolean} isWithin */
function partition(count, isWithin) {
  let low = 0;
  for (let high = count; low < high;) {
    const middle = (low + high) >> 1;
    if (isWithin(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Timeline extends HTMLElement {
  /** @type {import("./conversation.js").Conversation | undefined} */
  #conversation;
  /** @type {any} */
  #context;
  /** The rows in the document, by `seq`, or by the id of an entry without one. @type {Map<number | string, any>} */
  #rows = new Map();
  /** The items in the document: from this index, to before that one. */
  #from = 0;
  #to = 0;
  /** @type {any[]} own messages without a `seq` */
  #pending = [];
  /** @type {{row: any, top: number} | undefined} */
  #anchor;
  /** Whether the view stays at the newest message. */
  #isAtEnd = true;
  /** The position that was last set or seen, and by how much it is off because positions are rounded. */
  #top = 0;
  #debt = 0;
  #missed = 0;
  #firstUnread = Infinity;
  /** The row that Tab goes to. @type {number | string | undefined} */
  #current;
  #frame = 0;
  #ending = new AbortController();
  #resizes = new ResizeObserver(() => this.#settle());

  connectedCallback() {
    if (this.#list) return;
    this.#list = el("div", { class: "rows", role: "feed", "aria-label": "Messages" });
    this.#above = el("div", { class: "edge" });
    this.#below = el("div", { class: "edge below" });
    this.#scroller = el("div", { class: "scroller" }, el("div", { class: "column" }, this.#above, this.#list, this.#below));
    this.#empty = el("div", { class: "empty", hidden: true });
    this.#newest = el("button", {
      type: "button", class: "newest", hidden: true, "aria-label": "Go to the newest message",
      on: { click: () => this.toNewest() },
    });
    this.#bar = el("div", {
      class: "bar", role: "scrollbar", "aria-orientation": "vertical", "aria-label": "Position in the conversation",
      "aria-valuemin": 0, "aria-valuenow": 0, "aria-valuemax": 0, "aria-controls": "timeline-rows",
    }, el("div", { class: "thumb" }), el("div", { class: "hint", "aria-hidden": "true" }));
    this.#list.id = "timeline-rows";
    this.append(this.#scroller, this.#bar, this.#empty, this.#newest);
    this.#resizes.observe(this.#scroller);
    this.#resizes.observe(this.#list);
    this.#scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.#list.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#key(event));
    this.#list.addEventListener("focusin", (/** @type {FocusEvent} */ event) => this.#focused(event));
    this.#list.addEventListener("pointerover", (/** @type {PointerEvent} */ event) => {
      if (event.pointerType !== "touch" && !this.#tools?.contains(focused())) this.#showTools(/** @type {any} */ (event.target).closest(".row"));
    });
    this.#list.addEventListener("pointerleave", () => { if (!this.#list.contains(focused())) this.#tools?.remove(); });
    this.#bar.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => this.#drag(event));
  }
  /** @type {any} */ #list;
  /** @type {any} */ #above;
  /** @type {any} */ #below;
  /** @type {any} */ #scroller;
  /** @type {any} */ #empty;
  /** @type {any} */ #newest;
  /** @type {any} */ #bar;

  /** @type {any} */ #tools;

  /** @param {any} row */
  #showTools(row) {
    const message = row?.message;
    if (!message || message.seq === undefined || message.deleted) this.#tools.remove();
    else if (this.#tools.parentElement?.closest(".row") !== row) row.querySelector(".bubble").append(this.#tools);
  }

  disconnectedCallback() {
    cancelAnimationFrame(this.#frame);
  }

  /**
   * Shows a conversation from its newest message, or from the first unread one.
   * @param {import("./conversation.js").Conversation} conversation
   * @param {any} context what rows need: `user`, `name`, `pictures`, `message`, `mark`, `act`, `isDirect`
   */
  open(conversation, context) {
    this.close();
    this.#conversation = conversation;
    this.#context = context;
    this.#tools = tools(context);
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    const on = (/** @type {string} */ type, /** @type {(detail: any) => void} */ listener) =>
      conversation.addEventListener(type, (event) => listener(/** @type {CustomEvent} */ (event).detail), { signal });
    on("change", (detail) => (detail?.reset ? this.#restart() : this.#changed()));
    on("arrive", ({ messages }) => this.#arrived(messages));
    on("pending", () => this.#pendingChanged());
    on("marks", () => this.#later());
    on("state", () => { this.#noteUnread(); this.#later(); });
    on("loading", () => this.#later());
    this.#firstUnread = Infinity;
    this.#isMarked = this.#isPlaced = false;
    this.#noteUnread();
    this.#restart();
  }
  #isMarked = false;
  /** Whether the view is where the conversation is to be opened. */
  #isPlaced = false;

  close() {
    this.#ending.abort();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#rows.clear();
    this.#pending = [];
    this.#list?.replaceChildren();
    this.#anchor = undefined;
    this.#conversation = undefined;
  }

  /** The newest message that is in view, and `undefined` if there is none. */
  get seen() {
    if (!this.#conversation || !this.#isPlaced) return undefined;
    if (this.#isAtEnd && !this.#conversation.newer) return this.#conversation.head || undefined;
    const { bottom } = this.#scroller.getBoundingClientRect();
    const rows = this.#list.children;
    const count = partition(rows.length, (index) => rows[index].getBoundingClientRect().bottom <= bottom + 1);
    return rows[count - 1]?.message.seq;
  }

  get isAtEnd() { return this.#isAtEnd && !this.#conversation?.newer; }
  get rowCount() { return this.#rows.size; }

  toNewest() {
    this.#missed = 0;
    this.#isAtEnd = true;
    if (this.#conversation?.newer) return this.#conversation.toNewest();
    this.#showEnd();
    this.#update();
  }

  /** Shows a message, or the first one at or after a time. @param {number | Date} place */
  async show(place) {
    const conversation = this.#conversation;
    if (!conversation) return;
    this.#isAtEnd = false;
    const seq = await conversation.jump(place).catch(() => undefined);
    if (conversation !== this.#conversation || seq === undefined) return;
    const index = conversation.index(seq);
    this.#center(index);
    const row = this.#rows.get(seq);
    if (!row) return;
    const view = this.#scroller.clientHeight;
    this.#move(this.#place(row) - Math.max(40, (view - row.offsetHeight) / 3));
    this.#current = seq;
    this.#update();
    row.classList.add("flash");
    row.addEventListener("animationend", () => row.classList.remove("flash"), { once: true });
    return row;
  }

  /** Moves the focus to a message: the current one, or the newest. */
  enter() {
    const row = this.#rows.get(/** @type {any} */ (this.#current)) ?? this.#list.lastElementChild;
    (row ?? this).focus({ preventScroll: row !== undefined && this.#isInView(row) });
  }

  /** The message that has the focus. */
  get current() { return this.#list.contains(focused()) ? /** @type {any} */ (focused()?.closest(".row"))?.message : undefined; }

  /** @param {number} seq */
  row(seq) { return this.#rows.get(seq); }

  /** Draws all rows again, because names or pictures have changed. */
  refresh() {
    for (const row of this.#rows.values()) row.shown = undefined;
    this.#later();
  }

  // MARK: What happens to the conversation

  #restart() {
    const conversation = /** @type {any} */ (this.#conversation);
    this.#pending = this.#readPending();
    const anchor = this.#isAtEnd ? undefined : this.#anchor?.row.message.seq;
    if (anchor !== undefined && conversation.get(anchor)) {
      this.#center(conversation.index(anchor));
    } else {
      this.#isAtEnd = !conversation.newer;
      this.#showEnd();
      if (!this.#isMarked || !this.#showUnread()) this.#update();
    }
  }

  #changed() {
    const { items } = /** @type {any} */ (this.#conversation);
    // Pages may have been added before the rows: find them again by the first one.
    const first = this.#list.firstElementChild?.message;
    const last = [...this.#list.children].reverse().find((/** @type {any} */ row) => row.message.seq !== undefined)?.message;
    if (first?.seq === undefined || !last) {
      this.#showEnd();
    } else {
      this.#from = /** @type {any} */ (this.#conversation).index(first.seq);
      this.#to = Math.min(items.length, /** @type {any} */ (this.#conversation).index(last.seq) + 1);
    }
    this.#update();
  }

  /** @param {any[]} messages */
  #arrived(messages) {
    this.#pending = this.#readPending();
    const others = messages.filter((message) => message.from !== this.#context.user).length;
    if (!this.isAtEnd) this.#missed += others;
    this.#later();
  }

  #pendingChanged() {
    const before = new Set(this.#pending.map((entry) => entry.id));
    this.#pending = this.#readPending();
    // What one writes is shown.
    if (this.#pending.some((entry) => !before.has(entry.id))) {
      this.#isAtEnd = true;
      this.#missed = 0;
      if (/** @type {any} */ (this.#conversation).newer) return /** @type {any} */ (this.#conversation).toNewest();
    }
    this.#update();
  }

  #readPending() {
    const { room } = /** @type {any} */ (this.#conversation);
    return (room.pending ?? []).filter((/** @type {any} */ entry) => entry.kind === "text" || entry.kind === "data")
      .map((/** @type {any} */ entry) => ({ ...entry, from: this.#context.user }));
  }

  /** Notes what was unread when the conversation was opened, and goes there. */
  async #noteUnread() {
    const conversation = /** @type {any} */ (this.#conversation);
    const { readBefore } = conversation;
    if (this.#isMarked || readBefore === undefined) return;
    this.#isMarked = true;
    const isUnread = (/** @type {any} */ item) => item.seq > readBefore && item.from !== this.#context.user;
    const isBefore = conversation.older && conversation.items[0]?.seq > readBefore + 1;
    if (isBefore && conversation.items.some(isUnread)) await this.show(readBefore + 1);
    if (conversation !== this.#conversation) return;
    this.#isPlaced = true;
    this.#firstUnread = conversation.items.find(isUnread)?.seq ?? Infinity;
    if (this.#firstUnread === Infinity || !this.#showUnread()) this.#update();
  }

  /** Goes to the first unread message if it is loaded. */
  #showUnread() {
    const conversation = /** @type {any} */ (this.#conversation);
    const index = conversation.index(this.#firstUnread);
    if (conversation.items[index]?.seq !== this.#firstUnread || conversation.items.length - index < 3) return false;
    this.#center(index);
    const row = this.#rows.get(this.#firstUnread);
    if (!row) return false;
    this.#isAtEnd = false;
    this.#move(this.#place(row) - this.#scroller.clientHeight / 3);
    this.#settle();
    this.#extend();
    this.#showState();
    return true;
  }

  // MARK: The rows

  #showEnd() {
    const { items } = /** @type {any} */ (this.#conversation);
    this.#to = items.length;
    this.#from = Math.max(0, this.#to - step * 2);
  }

  /** Puts rows around an item into the document. @param {number} index */
  #center(index) {
    const { items } = /** @type {any} */ (this.#conversation);
    this.#from = Math.max(0, index - step);
    this.#to = Math.min(items.length, index + step);
    this.#sync();
    this.#anchor = undefined;
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
    if (this.#isAtEnd && !conversation.newer) {
      this.#to = items.length;
      if (this.#to - this.#from > rowsLimit || this.#from > this.#to) this.#from = Math.max(0, this.#to - step * 2);
    }
    this.#to = Math.min(this.#to, items.length);
    this.#sync();
    this.#settle();
    this.#extend();
    this.#showState();
  }

  /** Makes the document show the chosen items. */
  #sync() {
    const { items, newer } = /** @type {any} */ (this.#conversation);
    const pending = this.#to === items.length && !newer ? this.#pending : [];
    const wanted = [...items.slice(this.#from, this.#to), ...pending];
    const keys = new Set(wanted.map((message) => message.seq ?? message.id));
    const hadFocus = this.#list.contains(focused());
    // An entry that has got its seq keeps its row.
    for (const message of wanted) {
      const row = message.seq !== undefined && message.from === this.#context.user && this.#rows.get(message.id);
      if (!row) continue;
      this.#rows.delete(message.id);
      if (this.#rows.has(message.seq)) { row.remove(); continue; }
      this.#rows.set(message.seq, row);
      if (this.#current === message.id) this.#current = message.seq;
    }
    for (const [key, row] of this.#rows) {
      if (keys.has(key)) continue;
      this.#rows.delete(key);
      row.remove();
      if (this.#anchor?.row === row) this.#anchor = undefined;
    }
    let place = this.#list.firstElementChild;
    for (const [index, message] of wanted.entries()) {
      const key = message.seq ?? message.id;
      let row = this.#rows.get(key);
      if (!row) {
        row = el("div", { role: "article", tabIndex: -1 });
        this.#rows.set(key, row);
      }
      this.#draw(row, message, wanted[index - 1] ?? items[this.#from - 1], wanted[index + 1] ?? items[this.#to]);
      if (row === place) place = place.nextElementSibling;
      else this.#list.insertBefore(row, place);
    }
    if (!this.#rows.has(/** @type {any} */ (this.#current))) this.#current = undefined;
    this.#setTabStop();
    // The message that had the focus has gone: the nearest one takes it.
    if (hadFocus && !this.#list.contains(focused())) this.enter();
  }

  /** Fills a row if anything that it shows has changed. @param {any} row @param {any} message @param {any} before @param {any} after */
  #draw(row, message, before, after) {
    const context = this.#context;
    const around = {
      ...grouping(message, before, after),
      isFirstUnread: message.seq === this.#firstUnread,
      mark: message.from === context.user ? context.mark(message) : "",
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

  /** Adds rows where the view comes close to their end, and removes them at the other. */
  #extend() {
    const conversation = this.#conversation;
    if (!conversation || this.#scroller.clientHeight === 0) return;
    const { items } = conversation;
    for (let round = 0; round < 8; round++) {
      const above = this.#scroller.scrollTop;
      const below = this.#scroller.scrollHeight - this.#scroller.clientHeight - above;
      const from = this.#from;
      const to = this.#to;
      if (above < reserve && this.#from > 0) this.#from = Math.max(0, this.#from - step);
      else if (below < reserve && this.#to < items.length) this.#to = Math.min(items.length, this.#to + step);
      else break;
      if (this.#to - this.#from > rowsLimit) {
        if (this.#from < from) this.#to = this.#from + rowsLimit;
        else this.#from = this.#to - rowsLimit;
      }
      if (this.#from === from && this.#to === to) break;
      this.#sync();
      this.#settle();
    }
    if (this.#scroller.scrollTop < reserve && this.#from === 0 && conversation.older) conversation.loadOlder();
    const below = this.#scroller.scrollHeight - this.#scroller.clientHeight - this.#scroller.scrollTop;
    if (below < reserve && this.#to === items.length && conversation.newer) conversation.loadNewer();
  }

  // MARK: The position

  /** Where a row is in the content. @param {any} row */
  #place(row) {
    const body = row.querySelector(".content") ?? row;
    return body.getBoundingClientRect().top - this.#scroller.getBoundingClientRect().top + this.#scroller.scrollTop;
  }

  /** @param {number} position */
  #move(position) {
    this.#scroller.scrollTop = position;
    this.#top = this.#scroller.scrollTop;
    this.#debt = position - this.#top;
    if (Math.abs(this.#debt) > 1) this.#debt = 0; // at an end of the content
  }

  /** Scrolls so that what is at the top of the view stays, or the newest message at the bottom. */
  #settle() {
    if (!this.#conversation) return;
    const scroller = this.#scroller;
    const top = scroller.scrollTop;
    const end = scroller.scrollHeight - scroller.clientHeight;
    if (this.#isAtEnd && !this.#conversation.newer && (top >= this.#top - 1 || top >= end - slack)) {
      if (top !== end) this.#move(end);
    } else if (this.#anchor?.row.isConnected) {
      const shift = this.#place(this.#anchor.row) - this.#anchor.top;
      if (Math.abs(shift) > 0.01) this.#move(top + this.#debt + shift);
    }
    this.#keep();
  }

  /** Notes the position, and the row that is not to move. */
  #keep() {
    const scroller = this.#scroller;
    if (Math.abs(scroller.scrollTop - this.#top) > 1) this.#debt = 0;
    this.#top = scroller.scrollTop;
    const { top } = scroller.getBoundingClientRect();
    const rows = this.#list.children;
    const above = partition(rows.length, (index) =>
      (rows[index].querySelector(".content") ?? rows[index]).getBoundingClientRect().top < top);
    const row = rows[above] ?? rows[above - 1];
    this.#anchor = row && { row, top: this.#place(row) };
  }

  #scrolled() {
    if (!this.#conversation) return;
    const scroller = this.#scroller;
    const end = scroller.scrollHeight - scroller.clientHeight;
    if (Math.abs(scroller.scrollTop - this.#top) > 0.5) {
      // A person has scrolled, or the content has become shorter.
      this.#settleScroll(end);
      this.#isAtEnd = scroller.scrollTop >= end - slack && this.#to === this.#conversation.items.length;
    }
    if (this.isAtEnd) this.#missed = 0;
    this.#extend();
    this.#showState();
    this.dispatchEvent(new Event("view"));
  }

  /** A scroll and a change of the content may come together: only the change is undone. @param {number} end */
  #settleScroll(end) {
    if (this.#anchor?.row.isConnected && !this.#isAtEnd) {
      const shift = this.#place(this.#anchor.row) - this.#anchor.top;
      if (Math.abs(shift) > 0.01) this.#move(Math.min(end, this.#scroller.scrollTop + shift));
    }
    this.#keep();
  }

  // MARK: What is around the rows

  #showState() {
    const conversation = /** @type {any} */ (this.#conversation);
    const isEmpty = conversation.items.length === 0 && this.#pending.length === 0;
    this.#empty.hidden = !isEmpty;
    if (isEmpty) this.#empty.textContent = this.#context.empty?.() ?? "";
    this.#above.textContent = isEmpty ? "" : conversation.older ? "Loading older messages…" : "Beginning of the conversation";
    this.#above.classList.toggle("quiet", conversation.older && !conversation.isReading("older"));
    this.#newest.hidden = this.isAtEnd || isEmpty;
    const count = this.#missed > 99 ? "99+" : String(this.#missed);
    if (this.#newest.dataset.count !== count) {
      this.#newest.dataset.count = count;
      this.#newest.setAttribute("aria-label",
        this.#missed > 0 ? `Go to the newest message, ${count} new` : "Go to the newest message");
    }
    this.#list.setAttribute("aria-busy", String(conversation.isLoading));
    this.#showBar();
    this.dispatchEvent(new Event("view"));
  }

  /** The position in the whole conversation: `seq` has no gaps, so it is arithmetic. */
  #showBar() {
    const { first, head } = /** @type {any} */ (this.#conversation);
    const total = head - first + 1;
    const fits = this.#from === 0 && !this.#conversation?.older && !this.#conversation?.newer &&
      this.#scroller.scrollHeight <= this.#scroller.clientHeight + 1;
    this.#bar.hidden = fits || total < 2;
    if (this.#bar.hidden || this.#isDragging) return;
    const seq = this.isAtEnd ? head : this.#anchor?.row.message.seq ?? head;
    const share = Math.min(1, Math.max(0, (seq - first) / Math.max(1, total - 1)));
    const length = Math.max(0.06, Math.min(0.9, this.#rows.size === 0 ? 1 : 12 / total));
    this.#bar.style.setProperty("--length", `${length * 100}%`);
    this.#bar.style.setProperty("--start", `${share * (1 - length) * 100}%`);
    this.#bar.setAttribute("aria-valuemin", first);
    this.#bar.setAttribute("aria-valuemax", head);
    this.#bar.setAttribute("aria-valuenow", seq);
  }
  #isDragging = false;

  /** @param {PointerEvent} down */
  #drag(down) {
    down.preventDefault();
    this.#bar.setPointerCapture(down.pointerId);
    this.#isDragging = true;
    const ending = new AbortController();
    const hint = this.#bar.querySelector(".hint");
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const move = (/** @type {PointerEvent} */ event) => {
      const { first, head } = /** @type {any} */ (this.#conversation);
      const { top, height } = this.#bar.getBoundingClientRect();
      const length = parseFloat(this.#bar.style.getPropertyValue("--length")) / 100 || 0.06;
      const share = Math.min(1, Math.max(0, ((event.clientY - top) / height - length / 2) / (1 - length)));
      const seq = Math.round(first + share * (head - first));
      this.#bar.style.setProperty("--start", `${share * (1 - length) * 100}%`);
      const item = this.#conversation?.get(seq);
      hint.textContent = item ? day(item.at) : `Message ${seq.toLocaleString()}`;
      clearTimeout(timer);
      timer = setTimeout(() => (share >= 1 ? this.toNewest() : this.show(seq)), 40);
    };
    move(down);
    const end = () => { this.#isDragging = false; hint.textContent = ""; ending.abort(); };
    this.#bar.addEventListener("pointermove", move, { signal: ending.signal });
    this.#bar.addEventListener("pointerup", end, { signal: ending.signal });
    this.#bar.addEventListener("pointercancel", end, { signal: ending.signal });
  }

  // MARK: The keyboard

  #setTabStop() {
    const current = this.#rows.get(/** @type {any} */ (this.#current)) ?? this.#list.lastElementChild;
    for (const row of this.#list.children) {
      const index = row === current ? 0 : -1;
      if (row.tabIndex !== index) row.tabIndex = index;
    }
  }

  /** @param {FocusEvent} event */
  #focused(event) {
    const row = /** @type {any} */ (event.target).closest(".row");
    if (!row) return;
    this.#current = row.message.seq ?? row.message.id;
    this.#setTabStop();
    this.#showTools(row);
  }

  /** @param {any} row */
  #isInView(row) {
    const { top, bottom } = this.#scroller.getBoundingClientRect();
    const own = row.getBoundingClientRect();
    return own.bottom > top && own.top < bottom;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const row = /** @type {any} */ (event.target).closest(".row");
    if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target !== row) {
      if (event.key === "Escape") { event.stopPropagation(); row.focus(); }
      return;
    }
    const page = Math.max(1, Math.floor(this.#scroller.clientHeight / 60) - 1);
    const moves = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page };
    if (event.key in moves) {
      event.preventDefault();
      this.#step(row, moves[/** @type {keyof typeof moves} */ (event.key)]);
    } else if (event.key === "End") {
      event.preventDefault();
      this.toNewest();
      this.#list.lastElementChild?.focus();
    } else if (event.key === "Home") {
      event.preventDefault();
      this.show(/** @type {any} */ (this.#conversation).first).then((first) => first?.focus({ preventScroll: true }));
    } else if (this.#context.key?.(event, row.message)) {
      event.preventDefault();
    }
  }

  /** @param {any} row @param {number} distance */
  #step(row, distance) {
    let next = row;
    for (let left = Math.abs(distance); left > 0; left--) {
      const sibling = distance < 0 ? next.previousElementSibling : next.nextElementSibling;
      if (!sibling) break;
      next = sibling;
    }
    if (next === row) {
      if (distance > 0) this.dispatchEvent(new Event("leave"));
      return;
    }
    next.focus({ preventScroll: true });
    const view = this.#scroller.getBoundingClientRect();
    const own = next.getBoundingClientRect();
    if (own.top < view.top + 12) this.#scroller.scrollTop += own.top - view.top - 12;
    else if (own.bottom > view.bottom - 12) this.#scroller.scrollTop += Math.min(own.bottom - view.bottom + 12, own.top - view.top - 12);
  }
}
customElements.define("relay-timeline", Timeline);
