// The style of the dialogs of rooms: only those load it.

import { el } from "../dom.js";
import { root } from "../opening.js";

/**
 * Resolves when the style is there. It is loaded once.
 * @param {Node} [near] what it is for: an embedded conversation has a root of its own
 */
export function styled(near = document.body) {
  const href = new URL("rooms.css", import.meta.url).href;
  const place = root(near) === document.body ? document.head : root(near);
  return new Promise((resolve) => {
    if (place.querySelector(`link[href="${href}"]`)) return resolve(undefined);
    const link = el("link", { rel: "stylesheet", href });
    link.addEventListener("load", resolve);
    link.addEventListener("error", resolve); // it works without, and looks plain
    place.append(link);
  });
}
