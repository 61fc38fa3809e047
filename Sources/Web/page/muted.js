// The conversations that do not notify: kept on this device.

/** More are not muted: the oldest one is forgotten. */
const mutedLimit = 1000;

export class Muted extends EventTarget {
  #key;
  /** @type {Set<string>} */
  #rooms;

  /** @param {string} user */
  constructor(user) {
    super();
    this.#key = `relay.muted:${user}`;
    this.#rooms = this.#read();
    addEventListener("storage", ({ key }) => { // in another tab
      if (key !== this.#key) return;
      this.#rooms = this.#read();
      this.dispatchEvent(new Event("change"));
    });
  }

  /** @param {string} room */
  has(room) { return this.#rooms.has(room); }

  /** @param {string} room */
  toggle(room) {
    if (!this.#rooms.delete(room)) this.#rooms.add(room);
    const rooms = [...this.#rooms].slice(-mutedLimit);
    try {
      localStorage.setItem(this.#key, JSON.stringify(rooms));
    } catch { /* not kept */ }
    this.dispatchEvent(new Event("change"));
  }

  #read() {
    try {
      return new Set(JSON.parse(localStorage.getItem(this.#key) ?? "[]").slice(-mutedLimit).map(String));
    } catch {
      return new Set();
    }
  }
}
