// Own entries on their way: stored, sent again until there is an answer, in order in each room.
import { RelayError } from "./errors.js";
/** @import { Ack, Line } from "./types.js" */

/** @typedef {{ack: Ack} | {error: RelayError}} Outcome */

/**
 * Sends the lines of a room one after the other: a line waits for the outcome of the one before it,
 * so no refusal reorders them. Rooms do not wait for each other.
 */
export class Outbox {
  /**
   * @type {Map<string, Map<string, Line>>} by room, then by id, in order; those that are being sent
   */
  #rooms = new Map();
  /** @type {(() => void)[]} */
  #idle = [];
  #deliver;
  #settled;

  /**
   * @param {(line: Line) => Promise<Ack>} deliver repeats until there is an answer; rejects with
   *   `closed` at the end
   * @param {(line: Line, outcome: Outcome) => void} settled
   */
  constructor(deliver, settled) {
    this.#deliver = deliver;
    this.#settled = settled;
  }

  /** @param {string} room */
  lines(room) {
    return [...(this.#rooms.get(room)?.values() ?? [])];
  }

  /** Nothing waits any more. */
  settled() {
    return new Promise((/** @type {(_: void) => void} */ resolve) => {
      this.#idle.push(resolve);
      this.#look();
    });
  }

  #look() {
    if (this.#rooms.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** @param {Line} line */
  add(line) {
    const waiting = this.#rooms.get(line.room);
    const lines = waiting ?? new Map();
    if (lines.has(line.id)) return;
    this.#rooms.set(line.room, lines.set(line.id, line));
    if (!waiting) this.#drain(line.room, lines);
  }

  /**
   * The line has an outcome: its ack, its refusal, or the entry itself has arrived.
   * @param {string} room @param {string} id @param {Outcome} outcome
   */
  settle(room, id, outcome) {
    const line = this.#rooms.get(room)?.get(id);
    if (!line) return false;
    this.#rooms.get(room)?.delete(id);
    this.#settled(line, outcome);
    return true;
  }

  /** @param {string} room @param {Map<string, Line>} lines */
  async #drain(room, lines) {
    for (const [id, line] of lines) {
      // also the lines that are added meanwhile
      /** @type {Outcome} */
      let outcome;
      try {
        outcome = { ack: await this.#deliver(line) };
      } catch (error) {
        // It stays in the store.
        if (!(error instanceof RelayError) || error.code === "closed") return;
        outcome = { error };
      }
      this.settle(room, id, outcome);
    }
    this.#rooms.delete(room);
    this.#look();
  }
}
