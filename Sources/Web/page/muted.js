// The conversations that do not notify, or the requests that one ignores: kept on this device.

/** More are not muted: the oldest one is forgotten. */
const mutedLimit = 1000;

export class Muted extends EventTarget {
  #kept;
  #kind;
  /** @type {Set<string>} */
  #rooms;

  /** @param {import("./kept.js").Kept} kept @param {"muted" | "ignored"} kind */
  constructor(kept, kind) {
    super();
    this.#kept = kept;
    this.#kind = kind;
    this.#rooms = this.#read();
    addEventListener("storage", ({ key }) => {
      // in another tab
      if (key !== kept.key(kind)) return;
      this.#rooms = this.#read();
      this.dispatchEvent(new Event("change"));
    });
  }

  /** @param {string} room */
  has(room) {
    return this.#rooms.has(room);
  }

  /** @param {string} room */
  toggle(room) {
    if (!this.#rooms.delete(room)) this.#rooms.add(room);
    const rooms = [...this.#rooms].slice(-mutedLimit);
    this.#kept.set(this.#kind, rooms);
    this.dispatchEvent(new Event("change"));
  }

  #read() {
    const rooms = this.#kept.value(this.#kind);
    return new Set(Array.isArray(rooms) ? rooms.slice(-mutedLimit).map(String) : []);
  }
}
