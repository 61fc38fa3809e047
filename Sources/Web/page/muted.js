// The conversations that do not notify: kept on this device.

/** More are not muted: the oldest one is forgotten. */
const mutedLimit = 1000;

export class Muted extends EventTarget {
  #kept;
  /** @type {Set<string>} */
  #rooms;

  /** @param {import("./kept.js").Kept} kept */
  constructor(kept) {
    super();
    this.#kept = kept;
    this.#rooms = this.#read();
    addEventListener("storage", ({ key }) => {
      // in another tab
      if (key !== kept.key("muted")) return;
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
    this.#kept.set("muted", rooms);
    this.dispatchEvent(new Event("change"));
  }

  #read() {
    const rooms = this.#kept.value("muted");
    return new Set(Array.isArray(rooms) ? rooms.slice(-mutedLimit).map(String) : []);
  }
}
