// Pictures of people, or their initials.

import { el } from "./dom.js";
import { plain } from "./format.js";
import { load } from "./problems.js";

/** The first letters of the first and the last word. @param {string} name */
export function initials(name) {
  const words = plain(name)
    .split(/[\s._:-]+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length === 0) return "?";
  const letter = (/** @type {string} */ word) => [...word.replace(/^[^\p{L}\p{N}]+/u, "")][0] ?? "";
  const last = words.length > 1 ? letter(words[words.length - 1]) : "";
  return (letter(words[0]) + last).toUpperCase();
}

/** One of twelve colors, by the name. @param {string} user */
function hue(user) {
  let hash = 0;
  for (const character of user) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash % 12;
}

/** Pictures of people, loaded once there is one. */
export class Pictures {
  /** @type {Promise<import("./pictures.js").Loader> | undefined} */
  #loader;
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
  async show(user, element) {
    this.#loader ??= load(() => import("./pictures.js")).then(
      ({ Loader }) => new Loader(this.#fetch),
    );
    (await this.#loader).show(user, element);
  }
}

/**
 * @param {string} user
 * @param {string} name
 * @param {Pictures} [pictures] if there may be a picture
 * @param {{room?: boolean}} [options]
 */
export function avatar(user, name, pictures, { room = false } = {}) {
  const element = el(
    "span",
    { class: `avatar hue${hue(user)}${room ? " room" : ""}`, "aria-hidden": "true" },
    room ? "#" : initials(name),
  );
  pictures?.show(user, element);
  return element;
}
