// A store in a file, for Node and Deno: a journal of changes. Serves one process at a time.
import { open, readFile, rename } from "node:fs/promises";
import { MemoryStore } from "./memory-store.js";
/** @import { Change, Cursor, Store, Stored } from "./types.js" */

/** @implements {Store} */
export class FileStore {
  #path;
  #keep;
  #state;
  /** @type {import("node:fs/promises").FileHandle | undefined} */
  #file;
  #size = 0;
  #compactAt = 0;

  /**
   * @param {string} path
   * @param {{keep?: number}} [options] `keep`: how many of the newest entries of a room are kept
   */
  constructor(path, { keep = 1000 } = {}) {
    this.#path = path;
    this.#keep = keep;
    this.#state = new MemoryStore({ keep });
  }

  /** @returns {Promise<Stored>} */
  async open() {
    const text = await readFile(this.#path, "utf8").catch((error) => {
      if (error.code !== "ENOENT") throw error;
      return "";
    });
    // The last line was cut off if the machine or the program failed while it was written.
    for (const line of text.split("\n").slice(0, -1)) this.#state.apply(JSON.parse(line));
    await this.#compact();
    return this.#state.open();
  }

  /** @param {Change} change */
  async commit(change) {
    if (this.#size > this.#compactAt) await this.#compact();
    await this.#append(change, change.outbox !== undefined);
    this.#state.apply(change);
  }

  /** @param {string} room @param {{before?: number, limit: number}} range */
  entries(room, range) {
    return this.#state.entries(room, range);
  }

  async close() {
    await this.#file?.close();
    this.#file = undefined;
  }

  /** @param {Change} change @param {boolean} isSynced */
  async #append(change, isSynced) {
    if (!this.#file) throw new Error(`${this.#path} is not open.`);
    const line = `${JSON.stringify(change)}\n`;
    await this.#file.appendFile(line);
    if (isSynced) await this.#file.datasync();
    this.#size += line.length;
  }

  /** Replaces the journal by one that says what its changes have made. */
  async #compact() {
    await this.#file?.close();
    const fresh = `${this.#path}.new`;
    this.#file = await open(fresh, "w");
    this.#size = 0;
    const { user, cursors, outbox } = await this.#state.open();
    for (const cursor of cursors) {
      const entries = await this.#state.entries(cursor.room, { limit: this.#keep });
      await this.#append({ entries, cursors: [cursor] }, false);
    }
    await this.#append({ user, outbox }, true);
    await rename(fresh, this.#path);
    this.#compactAt = Math.max(2 ** 20, 4 * this.#size);
  }
}
