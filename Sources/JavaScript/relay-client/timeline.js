// The messages of a room that a view holds, in their current state.
import { fold, isShown, messageOf } from "./fold.js";

/** @import { Entry, Message, Wire } from "./types.js" */

const knownLimit = 10_000;

export class Timeline {
  /** @type {Message[]} the newest messages, without gaps; another array after each change */
  latest = [];
  /** All messages after this entry are in `latest`. */
  floor = 0;
  /** @type {Map<number, Message>} `latest`, and pages that were read; the oldest come first */
  #known = new Map();
  /** @type {Set<Entry[]>} changes that arrive while a page is read */
  #records = new Set();
  #limit;

  /** @param {number} [limit] of `latest` */
  constructor(limit = 500) {
    this.#limit = limit;
  }

  /** @param {number} seq */
  get(seq) {
    return this.#known.get(seq);
  }

  /** The messages after an entry, or undefined if not all of them are here. @param {number} seq */
  after(seq) {
    return seq < this.floor ? undefined : this.latest.filter((message) => message.seq > seq);
  }

  /** @param {Entry[]} entries @param {number} floor */
  reset(entries, floor) {
    this.#known.clear();
    this.latest = [];
    this.floor = floor;
    for (const record of this.#records) record.length = 0;
    this.add(entries);
  }

  /**
   * Takes the entries that follow.
   * @param {Entry[]} entries
   * @returns {{added: Message[], changed: Message[]}} in their state after all of these entries
   */
  add(entries) {
    /** @type {Set<number>} */
    const added = new Set();
    /** @type {Set<number>} */
    const changed = new Set();
    for (const entry of entries) {
      if (isShown(entry)) {
        this.#know(messageOf(entry));
        added.add(entry.seq);
      } else if (this.#change(entry) && !added.has(entry.target)) {
        changed.add(entry.target);
      }
    }
    const current = (/** @type {number} */ seq) => /** @type {Message} */ (this.#known.get(seq));
    this.latest = this.latest.map(({ seq }) => current(seq)).concat([...added].map(current));
    if (this.latest.length > this.#limit) {
      this.latest = this.latest.slice(-this.#limit);
      this.floor = this.latest[0].seq - 1;
    }
    return { added: [...added].map(current), changed: [...changed].map(current) };
  }

  /**
   * Takes a folded page, and what has changed it since the relay wrote it.
   * @param {Promise<Wire>} reading
   * @returns {Promise<{answer: Wire, messages: Message[]}>}
   */
  async read(reading) {
    /** @type {Entry[]} */
    const record = [];
    this.#records.add(record);
    try {
      const answer = await reading;
      for (const entry of answer.entries) {
        if (!this.latest.some(({ seq }) => seq === entry.seq)) this.#know(messageOf(entry));
      }
      for (const entry of record) if (entry.seq > answer.head) this.#change(entry);
      return {
        answer,
        messages: answer.entries.map((/** @type {Entry} */ { seq }) => this.#known.get(seq)),
      };
    } finally {
      this.#records.delete(record);
    }
  }

  /** @param {Message} message */
  #know(message) {
    this.#known.delete(message.seq);
    this.#known.set(message.seq, message);
    if (this.#known.size <= knownLimit) return;
    for (const seq of this.#known.keys()) {
      if (seq > this.floor) continue;
      this.#known.delete(seq);
      break;
    }
  }

  /** @param {Entry} entry */
  #change(entry) {
    for (const record of this.#records) record.push(entry);
    const message = this.#known.get(entry.target);
    if (!message) return false;
    const folded = fold(message, entry);
    this.#known.set(entry.target, folded);
    return folded !== message;
  }
}
