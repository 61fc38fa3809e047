// Own entries on their way: stored, sent again until there is an answer, in order in each room.
import { bytes } from "./check.js";
import { RelayError, tooLarge } from "./errors.js";

/** @import { Ack, Line, Wire } from "./types.js" */

/** How many lines wait for an answer at a time, of all rooms. */
const windowLines = 100;
/** As many bytes: a ping that follows them is to be answered in time over a slow network too. */
const windowBytes = 65_536;
/**
 * No line is sent while an earlier one of its room has been without an answer for so long. That one
 * may have been refused, and the relay refuses those after it for one second only: a program that
 * slept meanwhile would have the later line stored first.
 */
const pipeliningMs = 500;

/** Whether its file is not uploaded yet: lines after it wait as well. @param {Line} line */
export const isWaiting = ({ upload, file }) => upload && !file;

/** @typedef {{ack: Ack} | {error: RelayError}} Outcome */
/**
 * @typedef {object} Item
 * @property {Line} line
 * @property {Wire} message as it is sent
 * @property {string} text the same as JSON
 * @property {number} size of the text, in bytes
 * @property {number} [sentAt] on this connection, while there is no answer
 * @property {boolean} [wasSent] so that the relay may have it
 */
/**
 * @typedef {object} Room
 * @property {Map<string, Item>} lines by id, in order
 * @property {ReturnType<typeof setTimeout>} [hold] the relay refuses all lines until then
 */

/**
 * Sends the lines of a room in order, several at a time, and the rooms taking turns. After a
 * refusal for a while the relay refuses what follows in that room too; all of it is then sent
 * again, in order. A line that is sent twice is stored once, by its `id`.
 */
export class Outbox {
  /** @type {Map<string, Room>} those with lines */
  #rooms = new Map();
  #inFlight = { lines: 0, bytes: 0 };
  /** @type {(() => void)[]} */
  #idle = [];
  #connection;
  #settled;

  /**
   * @param {import("./connection.js").Connection} connection
   * @param {(line: Line, outcome: Outcome) => void} settled
   */
  constructor(connection, settled) {
    this.#connection = connection;
    this.#settled = settled;
  }

  /** @param {string} room */
  lines(room) {
    return [...(this.#rooms.get(room)?.lines.values() ?? [])].map(({ line }) => line);
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

  /** Takes a line, or takes notice that its file is uploaded. @param {Line} line */
  add(line) {
    const { at: _, upload: __, begun: ___, ...send } = line;
    const room = this.#rooms.get(line.room) ?? { lines: new Map() };
    const known = room.lines.get(line.id);
    if (known && !isWaiting(known.line)) return;
    const message = { ...send, ref: line.id };
    const text = JSON.stringify(message);
    room.lines.set(line.id, { line, message, text, size: bytes(text) });
    this.#rooms.set(line.room, room);
    this.#pump();
  }

  /**
   * The line has an outcome: its ack, its refusal, or the entry itself has arrived.
   * @param {string} name @param {string} id @param {Outcome} outcome
   */
  settle(name, id, outcome) {
    const room = this.#rooms.get(name);
    const item = room?.lines.get(id);
    if (!room || !item) return;
    this.#landed(item);
    room.lines.delete(id);
    if (room.lines.size === 0) {
      clearTimeout(room.hold);
      this.#rooms.delete(name);
    }
    this.#settled(item.line, outcome);
    this.#pump();
    this.#look();
  }

  /**
   * Gives a line up, unless it may have reached the relay.
   * @param {string} room @param {string} id @param {RelayError} error
   * @returns {boolean} whether it was there
   */
  withdraw(room, id, error) {
    const item = this.#rooms.get(room)?.lines.get(id);
    if (item && !item.wasSent) this.settle(room, id, { error });
    return item !== undefined;
  }

  // MARK: The connection

  /** A new connection: it has not got any line yet. */
  restart() {
    for (const room of this.#rooms.values()) {
      for (const item of room.lines.values()) this.#landed(item);
      clearTimeout(room.hold);
      room.hold = undefined;
    }
    this.#pump();
  }

  /** Nothing is sent any more. */
  end() {
    for (const room of this.#rooms.values()) clearTimeout(room.hold);
  }

  /**
   * An ack or an error that answers a line, or has answered it before.
   * @param {Wire} message
   */
  answer(message) {
    const { type, ref, seq, at, retry_after_ms: pause } = message;
    for (const [room, { lines }] of this.#rooms) {
      if (!lines.has(ref)) continue;
      if (type === "ack") this.settle(room, ref, { ack: { seq, at } });
      else if (pause === undefined) this.settle(room, ref, { error: RelayError.from(message) });
      else this.#postpone(room, ref, pause);
      return;
    }
  }

  /** For how long the oldest line has had no answer. */
  unansweredMs() {
    let oldest = Date.now();
    for (const { lines } of this.#rooms.values())
      for (const { sentAt = oldest } of lines.values()) oldest = Math.min(oldest, sentAt);
    return Date.now() - oldest;
  }

  /** The lines that are on their way, and what refuses them. */
  sent() {
    const items = [...this.#rooms.values()].flatMap(({ lines }) => [...lines.values()]);
    return items
      .filter(({ sentAt }) => sentAt !== undefined)
      .map(({ line, size }) => ({
        size,
        refuse: (/** @type {RelayError} */ error) => this.settle(line.room, line.id, { error }),
      }));
  }

  /**
   * The relay refuses a line for a while, and those after it.
   * @param {string} name @param {string} id @param {number} ms
   */
  #postpone(name, id, ms) {
    const room = this.#rooms.get(name);
    // One of those after it: they wait already.
    if (room?.lines.get(id)?.sentAt === undefined) return;
    let isAfter = false;
    for (const [other, item] of room.lines) {
      isAfter ||= other === id;
      if (isAfter) this.#landed(item);
    }
    clearTimeout(room.hold);
    room.hold = setTimeout(() => {
      room.hold = undefined;
      this.#pump();
    }, ms);
    this.#pump();
  }

  /** An item is not on its way any more. @param {Item} item */
  #landed(item) {
    if (item.sentAt === undefined) return;
    item.sentAt = undefined;
    this.#inFlight.lines -= 1;
    this.#inFlight.bytes -= item.size;
  }

  /** Sends what may be sent, the rooms taking turns: one that has sent goes to the end. */
  #pump() {
    for (const [name, room] of this.#rooms) {
      if (!this.#sendNext(room) || !this.#rooms.delete(name)) continue;
      this.#rooms.set(name, room);
    }
  }

  /** @param {Room} room @returns {boolean} whether there may be another one to send */
  #sendNext({ lines, hold }) {
    const { isOnline, frameBytes } = this.#connection;
    if (hold !== undefined || !isOnline) return false;
    const now = Date.now(); // goes on while the machine sleeps
    for (const item of lines.values()) {
      if (item.sentAt !== undefined) {
        if (now - item.sentAt > pipeliningMs) return false;
        continue;
      }
      const { line, message, text, size } = item;
      if (isWaiting(line)) return false;
      if (frameBytes > 0 && size > frameBytes) {
        this.settle(line.room, line.id, { error: tooLarge() });
        return true;
      }
      if (this.#inFlight.lines >= windowLines) return false;
      if (this.#inFlight.lines > 0 && this.#inFlight.bytes + size > windowBytes) return false;
      item.sentAt = now;
      item.wasSent = true;
      this.#inFlight.lines += 1;
      this.#inFlight.bytes += size;
      this.#connection.post(message, text);
      return true;
    }
    return false;
  }
}
