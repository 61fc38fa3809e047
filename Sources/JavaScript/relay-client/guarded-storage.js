// What a page keeps by name, on the device or in a tab. A person may forbid it, then even its name
// throws; and it may be full. What cannot be kept is held in memory, for as long as the page is open.

import { allowed } from "./allowed.js";

export class GuardedStorage {
  #name;
  /** @type {Map<string, string>} */
  #held = new Map();

  /** @param {"localStorage" | "sessionStorage"} name */
  constructor(name) {
    this.#name = name;
  }

  /** @param {string} key @returns {string | undefined} */
  get(key) {
    return this.#held.get(key) ?? this.#attempt((storage) => storage.getItem(key)) ?? undefined;
  }

  /** @param {string} key @param {string} value @returns {boolean} whether it outlives the page */
  set(key, value) {
    const isKept = this.#attempt((storage) => {
      storage.setItem(key, value);
      return true;
    });
    if (isKept) this.#held.delete(key);
    else this.#held.set(key, value);
    return isKept ?? false;
  }

  /** @param {string} key */
  remove(key) {
    this.#held.delete(key);
    this.#attempt((storage) => storage.removeItem(key));
  }

  /** @returns {string[]} */
  keys() {
    const kept = this.#attempt((storage) => Object.keys(storage)) ?? [];
    return [...new Set([...kept, ...this.#held.keys()])];
  }

  /**
   * @template T
   * @param {(storage: Storage) => T} act
   * @returns {T | undefined} undefined where there is no storage, or it refuses
   */
  #attempt(act) {
    return allowed(() => {
      const storage = /** @type {any} */ (globalThis)[this.#name];
      return storage && act(storage);
    });
  }
}

/** Kept until it is removed. */
// biome-ignore lint/plugin: the one wrapper
export const deviceStorage = new GuardedStorage("localStorage");
/** Kept until the tab is closed. */
// biome-ignore lint/plugin: the one wrapper
export const tabStorage = new GuardedStorage("sessionStorage");
