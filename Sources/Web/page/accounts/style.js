// The style of the screens and dialogs of accounts: only those load it.

import { el } from "../dom.js";

/** Resolves when the style is there. It is loaded once. */
export function styled() {
  const href = new URL("accounts.css", import.meta.url).href;
  return new Promise((resolve) => {
    if (document.querySelector(`link[href="${href}"]`)) return resolve(undefined);
    const link = el("link", { rel: "stylesheet", href });
    link.addEventListener("load", resolve);
    link.addEventListener("error", resolve); // it works without, and looks plain
    document.head.append(link);
  });
}
