// A store in memory: it ends with the program. Other stores do the same, durably.
/** @import { Change, Cursor, Entry, Line, Store, Stored } from "./types.js" */

/** @implements {Store} */
export class MemoryStore {
  /** @type {string | undefined} */
  #user;
  /** @type {Map<string, Cursor>} */
  #cursors = new Map();
  /** @type {Map<string, Entry[]>} */
  #entries = new Map();
  /** @type {Map<string, Line>} */
  #outbox = new Map();
  #keep;

  /**
   * @param {{keep?: number}} [options] `keep`: how many of the newest entries of a room are kept
   */
  constructor({ keep = 1000 } = {}) {
    this.#keep = keep;
  }

  /** @returns {Promise<Stored>} */
  async open() {
    return {
      user: this.#user,
      cursors: [...this.#cursors.values()],
      outbox: [...this.#outbox.values()],
    };
  }

  /** @param {Change} change */
  async commit(change) {
    this.apply(change);
  }

  /** @param {Change} change */
  apply({ user, drop = [], forget = [], entries = [], cursors = [], outbox = [], settled = [] }) {
    this.#user = user ?? this.#user;
    for (const { room, after } of drop) {
      this.#entries.set(
        room,
        this.#of(room).filter(({ seq }) => seq <= after),
      );
    }
    for (const room of forget) {
      this.#entries.delete(room);
      this.#cursors.delete(room);
    }
    for (const entry of entries) {
      const kept = this.#of(entry.room);
      kept.push(entry);
      if (kept.length > 2 * this.#keep) kept.splice(0, kept.length - this.#keep);
      this.#entries.set(entry.room, kept);
    }
    for (const cursor of cursors) this.#cursors.set(cursor.room, cursor);
    for (const line of outbox) this.#outbox.set(line.id, line);
    for (const id of settled) this.#outbox.delete(id);
  }

  /** @param {string} room @param {{before?: number, limit: number}} range */
  async entries(room, { before = Infinity, limit }) {
    return this.#of(room)
      .filter(({ seq }) => seq < before)
      .slice(-limit);
  }

  async close() {}

  /** @param {string} room */
  #of(room) {
    return this.#entries.get(room) ?? [];
  }
}
