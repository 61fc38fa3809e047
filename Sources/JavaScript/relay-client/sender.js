// Makes lines of what is sent, and keeps the promises that wait for them.
import { RelayError, toldBy } from "./errors.js";
import { defined } from "./membership.js";

/** @import { LineBackup } from "./line-backup.js" */
/** @import { Ack, Line, Link, Pending, Progress, Sending, Settled } from "./types.js" */

// Node 18 has no global `crypto`.
const crypto = globalThis.crypto ?? (await import("node:crypto")).webcrypto;

/** An id that nobody can guess: 128 random bits. Also on pages without `crypto.randomUUID`. */
export function newId() {
  const bits = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bits, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Sender {
  /**
   * By id.
   * @type {Map<string, {resolve(ack: Ack): void, reject(error: any): void,
   *   onProgress?: (progress: Progress) => void}>}
   */
  #waiting = new Map();
  #link;
  #backup;
  /** @type {any} the relay's limits, once they are known */
  limits;

  /** @param {Link} link @param {LineBackup} [backup] of the store */
  constructor(link, backup) {
    this.#link = link;
    this.#backup = backup;
  }

  /**
   * @param {string} room
   * @param {(limits?: any) => Record<string, any>} fields throws if it would be refused
   * @param {import("./types.js").FileOptions} [options]
   * @param {string} [replaced] a refused line in whose place it is sent
   * @returns {Sending}
   */
  send(room, fields, { signal, onProgress } = {}, replaced) {
    /** @type {Line} */
    const line = { type: "send", room, id: newId(), at: Date.now(), kind: "text" };
    try {
      signal?.throwIfAborted();
      Object.assign(line, fields(this.limits));
    } catch (error) {
      const refused = /** @type {any} */ ({ ...this.pendingOf(line), state: "refused", error });
      return Object.assign(Promise.reject(error), { local: refused });
    }
    /** @type {Promise<Ack>} */
    const acknowledged = new Promise((resolve, reject) => {
      const abort = () => {
        this.withdraw(room, line.id);
        this.#waiting.delete(line.id);
        reject(signal?.reason);
      };
      const settle = (/** @type {(value: any) => void} */ end) => (/** @type {any} */ value) => {
        signal?.removeEventListener("abort", abort);
        end(value);
      };
      signal?.addEventListener("abort", abort);
      this.#waiting.set(line.id, { resolve: settle(resolve), reject: settle(reject), onProgress });
    });
    toldBy("room.pending", acknowledged);
    this.#backup?.put(line, replaced); // before it is shown
    this.#link.send(line, replaced);
    return Object.assign(acknowledged, { local: this.pendingOf(line) });
  }

  /** How many lines have no outcome yet. */
  get count() {
    return this.#waiting.size;
  }

  /**
   * Gives a line up, unless it was sent: then the store has it already.
   * @param {string} room @param {string} id
   */
  withdraw(room, id) {
    this.#backup?.remove(id);
    this.#link.withdraw(room, id);
  }

  /** @param {Line} line @returns {Pending} */
  pendingOf({ type: _, reply_to: replyTo, refused, ...line }) {
    if (!refused) return { ...line, replyTo, state: "queued" };
    return { ...line, replyTo, state: "refused", error: RelayError.from(refused) };
  }

  /**
   * What a pending entry says, to say it again.
   * @param {Pending} pending
   * @returns {Record<string, any>}
   */
  fieldsOf({ kind, text, data, name, upload, begun, file, replyTo, forward, target, emoji, on }) {
    const said = { kind, text, data, name, upload, begun, file: upload ? undefined : file };
    return defined({ ...said, reply_to: replyTo, forward, target, emoji, on });
  }

  /** @param {Progress} progress of a file */
  tell(progress) {
    this.#waiting.get(progress.id)?.onProgress?.(progress);
  }

  /** @param {Settled} outcome of a line */
  settle({ id, ack, error }) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    this.#backup?.remove(id); // a store that has failed has not done it
    if (ack) waiting?.resolve({ seq: ack.seq, at: ack.at });
    else waiting?.reject(error);
  }

  /** @param {RelayError} error */
  end(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#backup = undefined;
  }
}
