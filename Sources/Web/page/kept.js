// What the page keeps of a user, on the device or in a tab: `relay.KIND:USER`, or
// `relay.KIND:USER:DETAIL`. The name of a user has no colon, so no key is that of two users.

/** @typedef {import("./relay-client/guarded-storage.js").GuardedStorage} GuardedStorage */

export class Kept {
  #user;
  #storage;
  #isEnded = false;

  /** @param {string} user @param {GuardedStorage} storage */
  constructor(user, storage) {
    this.#user = user;
    this.#storage = storage;
  }

  /** @param {string} kind @param {string} [detail] */
  key(kind, detail) {
    return `relay.${kind}:${this.#user}${detail === undefined ? "" : `:${detail}`}`;
  }

  /** @param {string} kind @param {string} [detail] */
  get(kind, detail) {
    return this.#storage.get(this.key(kind, detail));
  }

  /**
   * What `set` has kept of a value; undefined if there is nothing, or something else.
   * @param {string} kind
   * @param {string} [detail]
   * @returns {unknown}
   */
  value(kind, detail) {
    try {
      return JSON.parse(this.get(kind, detail) ?? "");
    } catch {
      return undefined;
    }
  }

  /**
   * @param {string} kind
   * @param {unknown} value a text as it is, anything else as JSON
   * @param {string} [detail]
   */
  set(kind, value, detail) {
    if (!this.#isEnded)
      this.#storage.set(
        this.key(kind, detail),
        typeof value === "string" ? value : JSON.stringify(value),
      );
  }

  /** @param {string} kind @param {string} [detail] */
  remove(kind, detail) {
    this.#storage.remove(this.key(kind, detail));
  }

  /** The user signs out: nothing is kept from now on. */
  end() {
    this.#isEnded = true;
  }

  /** Removes all that is kept of the user, and of nobody else. */
  forget() {
    this.end();
    for (const key of this.#storage.keys()) {
      if (/^relay\.[a-z]+:([^:]*)/.exec(key)?.[1] === this.#user) this.#storage.remove(key);
    }
  }
}
