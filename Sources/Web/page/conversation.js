// What is loaded of one room: a part of its log without gaps, in rising `seq`.

import { Emitter } from "./relay-client/emitter.js";
import { foldPending, isHidden } from "./relay-client/fold.js";

/** @import { Room } from "./relay-client/room.js" */
/** @import { Departure, Message, Page, Pending } from "./relay-client/types.js" */

const pageSize = 100;
/** More than this, and a page, is forgotten at the end that is farther away. */
const loadedLimit = 2000;

/**
 * A message, or the last one of a run of hidden ones, which are one item.
 * @typedef {Message & {run?: {first: number, count: number}}} Item
 */

/** @param {Item} item */
const firstOf = ({ seq, run }) => run?.first ?? seq;

/** Adds a message to the items before it. @param {Item[]} items @param {Item} next */
function add(items, next) {
  const last = items.at(-1);
  if (!last || !isHidden(last) || !isHidden(next)) return items.push(next);
  const count = (last.run?.count ?? 1) + (next.run?.count ?? 1);
  return items.splice(-1, 1, { ...next, run: { first: firstOf(last), count } });
}

/** @param {Item[]} messages */
function itemsOf(messages) {
  /** @type {Item[]} */
  const items = [];
  for (const message of messages) add(items, message);
  return items;
}

/**
 * `change` tells whether it shows another place; `problem`, why a page could not be loaded.
 * @extends {Emitter<{change: boolean, arrive: Message[], marks: void, typing: void, pending: void,
 *   state: void, loading: void, problem: unknown,
 *   membership: void, departure: Departure}>}
 */
export class Conversation extends Emitter {
  /** @type {Item[]} */
  items = [];
  /** Whether there is more before the first item, and after the last. */
  older = true;
  newer = false;
  /** Whether nothing is known of the room yet. */
  isLoading = true;
  /** What had been read when the conversation was opened. @type {number | undefined} */
  readBefore;
  /** Whether the newest message is in view: then older ones are forgotten first. */
  isFollowed = () => true;
  #ending = new AbortController();
  /** @type {Set<"marks" | "typing">} */
  #toTell = new Set();
  /** @type {{older?: Promise<void>, newer?: Promise<void>}} */
  #loading = {};
  #generation = 0;

  /** @param {Room} room @param {string} user */
  constructor(room, user) {
    super();
    this.user = user;
    this.room = room;
    const options = { signal: this.#ending.signal };
    room.on("messages", (messages) => this.#arrive(messages), options);
    room.on("changes", (messages) => this.#change(messages), options);
    room.on("reset", () => this.#begin(), options);
    room.on("pending", () => this.emit("pending", undefined), options);
    room.on("marks", () => this.#tellOnce("marks"), options);
    room.on("typing", () => this.#tellOnce("typing"), options);
    room.on("state", () => this.#noteState(), options);
    room.on("membership", () => this.emit("membership", undefined), options);
    room.on("departure", (departure) => this.emit("departure", departure), options);
    this.#begin();
  }

  close() {
    this.#ending.abort();
  }

  /** Aborted when the conversation is closed. */
  get ended() {
    return this.#ending.signal;
  }

  /** Resolves when the room is open, or refused. @param {AbortSignal} signal */
  async opened(signal) {
    while (!signal.aborted && this.room.state === "opening") {
      let end = () => {};
      await new Promise((/** @type {(_: unknown) => void} */ resolve) => {
        end = this.on("state", resolve);
        signal.addEventListener("abort", resolve, { once: true });
      });
      end();
    }
  }

  /** @param {number} seq */
  index(seq) {
    let low = 0;
    for (let high = this.items.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (this.items[middle].seq < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The message, if it is loaded. @param {number} seq */
  get(seq) {
    const item = this.items[this.index(seq)];
    return item?.seq === seq ? item : this.room.get(seq);
  }

  /**
   * A message that is loaded, or an own one that is stored and about to arrive.
   * @param {number} seq
   * @returns {Message | undefined}
   */
  message(seq) {
    const loaded = this.get(seq);
    const stored = loaded ? undefined : this.room.pending.find((one) => one.seq === seq);
    return stored ? this.arriving(stored) : loaded;
  }

  /**
   * An own message that is not here yet, with the own changes of it.
   * @param {Pending} sent
   */
  arriving(sent) {
    const { user: from } = this;
    const { file: _, ...said } = sent;
    const message = /** @type {Message} */ ({ ...said, from, reactions: new Map() });
    const changes = this.room.pending.filter(
      ({ target, state }) => target !== undefined && target === sent.seq && state !== "refused",
    );
    return foldPending(message, changes, from);
  }

  get first() {
    return this.room.first || 1;
  }
  get head() {
    return Math.max(this.room.head, this.items.at(-1)?.seq ?? 0);
  }

  /** Loads the page before the first item. */
  loadOlder() {
    if (!this.older || this.items.length === 0) return Promise.resolve();
    this.#loading.older ??= this.#load("older", async (signal) => {
      const seq = firstOf(this.items[0]);
      const page = await this.room.history.before(seq, { limit: pageSize, signal });
      return () => {
        const before = this.items.length > 0 ? firstOf(this.items[0]) : Infinity;
        const messages = page.messages.filter(({ seq }) => seq < before);
        this.items = itemsOf([...messages, ...this.items]);
        this.older = page.older && messages.length > 0;
        if (this.items.length > loadedLimit) {
          this.items.length = loadedLimit;
          this.newer = true;
        }
      };
    });
    return this.#loading.older;
  }

  /** Loads the page after the last item. */
  loadNewer() {
    const last = this.items.at(-1);
    if (!this.newer || !last) return Promise.resolve();
    this.#loading.newer ??= this.#load("newer", async (signal) => {
      const page = await this.room.history.after(last.seq, { limit: pageSize, signal });
      return () => {
        this.#append(page.messages);
        this.newer = page.newer;
        if (!page.newer) this.#append(this.room.latest);
        if (this.items.length > loadedLimit) {
          this.items.splice(0, this.items.length - loadedLimit);
          this.older = true;
        }
      };
    });
    return this.#loading.newer;
  }

  /**
   * Loads the page around a message or a time, unless the message is there.
   * @param {number | Date} place
   */
  async jump(place) {
    const last = this.items.at(-1);
    if (typeof place === "number" && last) {
      const { seq } = this.items[Math.min(this.index(place), this.items.length - 1)];
      const isWithin = place >= firstOf(this.items[0]) && (place <= last.seq || !this.newer);
      if (isWithin) return seq;
    }
    const generation = ++this.#generation;
    const page = await this.room.jump(place, { limit: pageSize, signal: this.#ending.signal });
    if (generation !== this.#generation) return undefined;
    this.#loading = {};
    this.items = itemsOf(page.messages);
    this.older = page.older;
    this.newer = page.newer;
    this.emit("change", true);
    const wanted =
      typeof place === "number"
        ? place
        : page.messages.find(({ at }) => at >= place.getTime())?.seq;
    return this.items[Math.min(this.index(wanted ?? Infinity), this.items.length - 1)]?.seq;
  }

  /**
   * Goes back to the newest messages, also from a place that is still being loaded. Whether others
   * are loaded now.
   */
  toNewest() {
    const { newer } = this;
    this.#generation++;
    this.#loading = {};
    if (newer) this.#begin();
    return newer;
  }

  // MARK: What happens

  #begin() {
    this.#generation++;
    this.#loading = {};
    this.items = itemsOf(this.room.latest);
    this.newer = false;
    this.older =
      this.items.length > 0
        ? firstOf(this.items[0]) > this.first
        : this.room.state !== "live" || this.room.head >= this.first;
    this.#noteState();
    this.emit("change", true);
    // The store had nothing, but the log has: deletions and edits may fill the newest page.
    if (this.items.length === 0 && this.older && this.room.state === "live") this.#fetchNewest();
  }

  async #fetchNewest() {
    const generation = this.#generation;
    const page = await this.room.history
      .newest({ limit: pageSize, signal: this.#ending.signal })
      .catch((error) => this.emit("problem", error));
    if (!page || generation !== this.#generation || this.items.length > 0) return;
    this.items = itemsOf(page.messages);
    this.older = page.older;
    this.emit("change", true);
  }

  #noteState() {
    const { room } = this;
    if (this.readBefore === undefined && room.state === "live") this.readBefore = room.mine.read;
    const wasLoading = this.isLoading;
    this.isLoading = room.state === "opening" && this.items.length === 0;
    if (this.items.length > 0 && firstOf(this.items[0]) <= this.first) this.older = false;
    if (this.items.length === 0 && room.state === "live" && !room.head) this.older = false;
    if (wasLoading !== this.isLoading) this.emit("change", false);
    this.emit("state", undefined);
  }

  /** @param {Message[]} messages */
  #arrive(messages) {
    this.isLoading = false;
    if (!this.newer) this.#append(messages);
    if (this.items.length > loadedLimit + pageSize && !this.newer) {
      if (this.isFollowed()) {
        this.items.splice(0, this.items.length - loadedLimit);
        this.older = true;
      } else this.newer = true; // what follows is loaded when it is wanted
    }
    this.emit("arrive", messages);
  }

  /** @param {Message[]} messages */
  #append(messages) {
    const last = this.items.at(-1)?.seq ?? 0;
    for (const message of messages) if (message.seq > last) add(this.items, message);
  }

  /** @param {Message[]} messages */
  #change(messages) {
    for (const message of messages) {
      const index = this.index(message.seq);
      if (this.items[index]?.seq === message.seq) this.items[index] = message;
    }
    this.emit("change", false);
  }

  /** @param {"older" | "newer"} end @param {(signal: AbortSignal) => Promise<() => void>} read */
  async #load(end, read) {
    const generation = this.#generation;
    this.emit("loading", undefined);
    try {
      const apply = await read(this.#ending.signal);
      if (generation === this.#generation) apply();
    } catch (error) {
      this.emit("problem", error); // scrolling on tries again
    }
    if (generation === this.#generation) delete this.#loading[end];
    if (!this.#ending.signal.aborted) this.emit("change", false);
  }

  /** @param {"older" | "newer"} end */
  isReading(end) {
    return this.#loading[end] !== undefined;
  }

  /** Once for all that happens together. @param {"marks" | "typing"} type */
  #tellOnce(type) {
    if (this.#toTell.size === 0) {
      queueMicrotask(() => {
        const types = this.#toTell;
        this.#toTell = new Set();
        for (const one of types) if (!this.#ending.signal.aborted) this.emit(one, undefined);
      });
    }
    this.#toTell.add(type);
  }
}
