// The style of the screens and dialogs of accounts: only those load it.

import { stylesheet } from "../opening.js";

/** Resolves when the style is there. */
export const styled = () =>
  stylesheet(new URL("accounts.css", import.meta.url).href, document.body);
