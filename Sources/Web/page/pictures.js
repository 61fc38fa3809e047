// Loads pictures of people: from the relay only, and each once. Loaded when there is one.

import { el } from "./dom.js";

const parallel = 4;
const kept = 300;

/** Loads pictures, a few at a time. */
export class Loader {
  /** @type {Map<string, string | null>} object addresses by user; `null` without a picture */
  #known = new Map();
  /** @type {Map<string, Set<WeakRef<HTMLElement>>>} elements that wait */
  #waiting = new Map();
  /** @type {Set<string>} */
  #loading = new Set();
  #active = 0;
  /** @type {(user: string) => Promise<{ok: boolean, content: Blob}>} */
  #fetch;

  /** @param {(user: string) => Promise<{ok: boolean, content: Blob}>} fetch */
  constructor(fetch) {
    this.#fetch = fetch;
  }

  /**
   * Shows the picture in the element, now or when it has come.
   * @param {string} user
   * @param {HTMLElement} element
   */
  show(user, element) {
    const known = this.#known.get(user);
    if (known) put(element, known);
    if (known !== undefined) return;
    const waiting = this.#waiting.get(user) ?? new Set();
    waiting.add(new WeakRef(element));
    this.#waiting.set(user, waiting);
    this.#next();
  }

  async #next() {
    if (this.#active >= parallel) return;
    let user;
    for (user of this.#waiting.keys()) if (!this.#loading.has(user)) break;
    if (user === undefined || this.#loading.has(user)) return;
    this.#active++;
    this.#loading.add(user);
    const address = await this.#load(user);
    this.#known.set(user, address);
    for (const reference of this.#waiting.get(user) ?? []) {
      const element = reference.deref();
      if (element && address) put(element, address);
    }
    this.#waiting.delete(user);
    this.#loading.delete(user);
    this.#active--;
    if (this.#known.size > kept) {
      const [oldest, old] = /** @type {[string, string | null]} */ (
        this.#known.entries().next().value
      );
      this.#known.delete(oldest);
      if (old) URL.revokeObjectURL(old);
    }
    this.#next();
  }

  /**
   * The address of a picture; `null` where there is none, or it does not come: initials will do.
   * @param {string} user
   */
  async #load(user) {
    try {
      const { ok, content } = await this.#fetch(user);
      return ok ? URL.createObjectURL(content) : null;
    } catch {
      return null;
    }
  }
}

/** @param {HTMLElement} element @param {string} address */
function put(element, address) {
  const image = el("img", { src: address, alt: "", decoding: "async" });
  image.addEventListener("load", () => element.replaceChildren(image));
}
