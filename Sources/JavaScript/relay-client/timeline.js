// The messages of a room that a view holds, in their current state: as the log has them, with own
// changes on top that are still on their way.
import { fold, foldPending, isShown, messageOf } from "./fold.js";

/** @import { Entry, Link, Message, Pending, Wire } from "./types.js" */

const knownLimit = 10_000;

export class Timeline {
  /** @type {Message[]} the newest messages, without gaps; another array after each change */
  latest = [];
  /** All messages after this entry are in `latest`. */
  floor = 0;
  /**
   * `latest`, and pages that were read, as the log has them; the oldest come first.
   * @type {Map<number, Message>}
   */
  #known = new Map();
  /**
   * Own changes that the log does not have yet, by the message that they name, and what they make
   * of it.
   * @type {Map<number, {changes: Pending[], of?: Message, shown?: Message}>}
   */
  #own = new Map();
  #user = "";
  /** @type {Set<Entry[]>} changes that arrive while a page is read */
  #records = new Set();
  #link;
  #limit;

  /** @param {Link} link @param {number} [limit] of `latest` */
  constructor(link, limit = 500) {
    this.#link = link;
    this.#limit = limit;
  }

  /** @param {number} seq */
  get(seq) {
    const message = this.#known.get(seq);
    const own = message && this.#own.get(seq);
    if (!own) return message;
    if (own.of !== message) {
      own.of = message;
      own.shown = foldPending(message, own.changes, this.#user);
    }
    return own.shown;
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
   * Takes the entries that follow, and own changes that the log does not have after them.
   * @param {Entry[]} entries
   * @param {Pending[]} [pending] the same as before by default
   * @param {string} [user] who has made them
   * @returns {{added: Message[], changed: Message[]}} in their state after all of these entries
   */
  add(entries, pending, user = this.#user) {
    this.#user = user;
    /** @type {Set<number>} */
    const added = new Set();
    /** What may change, as it was. @type {Map<number, Message | undefined>} */
    const former = new Map();
    const note = (/** @type {number} */ seq) => {
      if (!former.has(seq)) former.set(seq, this.get(seq));
    };
    if (pending) this.#pend(pending, note);
    for (const entry of entries) {
      if (isShown(entry)) {
        this.#know(messageOf(entry, this.#link));
        added.add(entry.seq);
      } else {
        note(entry.target);
        this.#change(entry);
      }
    }
    const current = (/** @type {number} */ seq) => /** @type {Message} */ (this.get(seq));
    const isChanged = (/** @type {number} */ seq) =>
      !added.has(seq) && current(seq) !== former.get(seq);
    const changed = [...former.keys()].filter(isChanged).map(current);
    if (added.size + changed.length > 0)
      this.latest = this.latest.map(({ seq }) => current(seq)).concat([...added].map(current));
    if (this.latest.length > this.#limit) {
      this.latest = this.latest.slice(-this.#limit);
      this.floor = this.latest[0].seq - 1;
    }
    return { added: [...added].map(current), changed };
  }

  /**
   * Own changes that the log does not have yet are others.
   * @param {Pending[]} pending
   * @param {(seq: number) => void} note called before a message changes
   */
  #pend(pending, note) {
    /** @type {Map<number, {changes: Pending[]}>} */
    const own = new Map();
    for (const change of pending) {
      const target = /** @type {number} */ (change.target);
      const changes = own.get(target)?.changes;
      if (changes) changes.push(change);
      else own.set(target, { changes: [change] });
    }
    for (const target of new Set([...this.#own.keys(), ...own.keys()])) {
      const [before, after] = [this.#own.get(target), own.get(target)];
      const isSame =
        before?.changes.length === after?.changes.length &&
        before?.changes.every((change, n) => change === after?.changes[n]);
      if (isSame) continue; // it keeps its object
      note(target);
      if (after) this.#own.set(target, after);
      else this.#own.delete(target);
    }
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
        if (!this.latest.some(({ seq }) => seq === entry.seq))
          this.#know(messageOf(entry, this.#link));
      }
      for (const entry of record) if (entry.seq > answer.head) this.#change(entry);
      return {
        answer,
        messages: answer.entries.map((/** @type {Entry} */ { seq }) => this.get(seq)),
      };
    } finally {
      this.#records.delete(record);
    }
  }

  /**
   * Takes a page of what is stored.
   * @param {Message[]} messages
   */
  take(messages) {
    for (const message of messages) if (!this.#known.has(message.seq)) this.#know(message);
    return messages.map(({ seq }) => /** @type {Message} */ (this.get(seq)));
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
    if (message) this.#known.set(entry.target, fold(message, entry));
  }
}
