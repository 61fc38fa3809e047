// The style of the dialogs of rooms: only those load it.

import { stylesheet } from "../opening.js";

/**
 * Resolves when the style is there.
 * @param {Node} [near] what it is for: an embedded conversation has a root of its own
 */
export const styled = (near = document.body) =>
  stylesheet(new URL("rooms.css", import.meta.url).href, near);
