// What a page shows before its store has it, in localStorage: that takes a line within the turn of
// `send()`, so a page that is reloaded or crashes right then loses nothing.
/** @import { Line } from "./types.js" */

/** How many lines of one page are kept at a time: a store soon has them, and keeps any number. */
export const backupLines = 1000;
/** As many characters: a browser gives all pages of an origin 5 million. */
export const backupCharacters = 1_000_000;

const prefix = "relay-client/line/";

/** None in a worker, or where the person allows none. */
function storageOfPage() {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

export class LineBackup {
  #name;
  #storage = storageOfPage();
  /** @type {Map<string, number>} the characters of each line, by id, the oldest first */
  #sizes = new Map();
  #characters = 0;
  #order = 0;

  /** @param {string} name of the store */
  constructor(name) {
    this.#name = name;
  }

  /**
   * Keeps a line, within the limits.
   * @param {Line} line
   * @param {string} [replaced] the id of a refused one that goes when this one is stored
   * @returns {boolean} whether it is kept
   */
  put(line, replaced) {
    // Also after what this page has left before a reload.
    this.#order = Math.max(this.#order + 1, 1000 * Date.now());
    const text = JSON.stringify({ order: this.#order, line, replaced });
    if (!this.#storage || !this.#hasRoom(text.length)) return false;
    try {
      this.#storage.setItem(this.#key(line.id), text);
    } catch {
      return false; // others have filled it
    }
    this.#sizes.set(line.id, text.length);
    this.#characters += text.length;
    return true;
  }

  /** @param {string} id of a line that is stored, or has gone */
  remove(id) {
    this.#storage?.removeItem(this.#key(id));
    this.#characters -= this.#sizes.get(id) ?? 0;
    this.#sizes.delete(id);
  }

  /** What is kept, by this page and by others, in its order. */
  all() {
    /** @type {{order: number, line: Line, replaced?: string}[]} */
    const kept = [];
    for (const key of Object.keys(this.#storage ?? {})) {
      const id = key.slice(prefix.length).split("/")[0];
      if (key !== this.#key(id)) continue;
      try {
        const one = JSON.parse(this.#storage?.getItem(key) ?? "");
        if (one.line.id === id && typeof one.line.room === "string") kept.push(one);
      } catch {
        // not what this module has written
      }
    }
    return kept.sort((a, b) => a.order - b.order);
  }

  /** @param {string} id */
  #key(id) {
    return `${prefix}${id}/${this.#name}`;
  }

  /**
   * Whether so many characters more may be kept. The tab that leads removes what it has stored: of
   * that this page only takes notice when it needs the room.
   * @param {number} characters
   */
  #hasRoom(characters) {
    const fits = () =>
      this.#sizes.size < backupLines && this.#characters + characters <= backupCharacters;
    for (const id of this.#sizes.keys()) {
      if (fits() || this.#storage?.getItem(this.#key(id)) !== null) break;
      this.remove(id);
    }
    return fits();
  }
}
