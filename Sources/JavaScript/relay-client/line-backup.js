// What a page shows before its store has it, in localStorage: that takes a line within the turn of
// `send()`, so a page that is reloaded or crashes right then loses nothing.
import { deviceStorage } from "./guarded-storage.js";

/** @import { Line } from "./types.js" */

/** How many lines of one page are kept at a time: a store soon has them, and keeps any number. */
export const backupLines = 1000;
/** As many characters: a browser gives all pages of an origin 5 million. */
export const backupCharacters = 1_000_000;

const prefix = "relay-client/line/";

export class LineBackup {
  #name;
  /** @type {Map<string, number>} the characters of each line, by id, the oldest first */
  #sizes = new Map();
  #characters = 0;
  #order = 0;

  /** @param {string} name of the store */
  constructor(name) {
    this.#name = name;
  }

  /**
   * Keeps a line, within the limits, unless it has a file: that is for the store alone.
   * @param {Line} line
   * @param {string} [replaced] the id of a refused one that goes when this one is stored
   * @returns {boolean} whether it is kept
   */
  put(line, replaced) {
    if (line.upload) return false;
    // Also after what this page has left before a reload.
    this.#order = Math.max(this.#order + 1, 1000 * Date.now());
    const text = JSON.stringify({ order: this.#order, line, replaced });
    if (!this.#hasRoom(text.length)) return false;
    if (!deviceStorage.set(this.#key(line.id), text)) {
      // It is full, or there is none: a worker, or the person allows none.
      deviceStorage.remove(this.#key(line.id));
      return false;
    }
    this.#sizes.set(line.id, text.length);
    this.#characters += text.length;
    return true;
  }

  /** @param {string} id of a line that is stored, or has gone */
  remove(id) {
    deviceStorage.remove(this.#key(id));
    this.#characters -= this.#sizes.get(id) ?? 0;
    this.#sizes.delete(id);
  }

  /** What is kept, by this page and by others, in its order. */
  all() {
    /** @type {{order: number, line: Line, replaced?: string}[]} */
    const kept = [];
    for (const id of this.#ids()) {
      const one = parsed(deviceStorage.get(this.#key(id)));
      if (one?.line?.id === id && typeof one.line.room === "string") kept.push(one);
    }
    return kept.sort((a, b) => a.order - b.order);
  }

  /** Removes all of this store, by this page and by others. */
  clear() {
    for (const id of this.#ids()) this.remove(id);
  }

  #ids() {
    const ids = deviceStorage.keys().map((key) => [key, key.slice(prefix.length).split("/")[0]]);
    return ids.filter(([key, id]) => key === this.#key(id)).map(([, id]) => id);
  }

  /** @param {string} id */
  #key(id) {
    return `${prefix}${id}/${this.#name}`;
  }

  /**
   * Whether this number of characters more may be kept. The tab that leads removes what it has stored: of
   * that this page only takes notice when it needs the room.
   * @param {number} characters
   */
  #hasRoom(characters) {
    const fits = () =>
      this.#sizes.size < backupLines && this.#characters + characters <= backupCharacters;
    for (const id of this.#sizes.keys()) {
      if (fits() || deviceStorage.get(this.#key(id)) !== undefined) break;
      this.remove(id);
    }
    return fits();
  }
}

/** @param {string | undefined} text @returns {any} undefined if this module has not written it */
function parsed(text) {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
