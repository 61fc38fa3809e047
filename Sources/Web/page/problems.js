// What went wrong, said where a person sees it, and each thing once. Nothing fails without a word:
// what no other part of the page tells comes here by the events `unhandledrejection` and `error`.

import { el, iconButton } from "./dom.js";
import { plain } from "./format.js";
import { bounded, within } from "./relay-client/deadline.js";
import { root } from "./root.js";

/** @import { RelayError } from "./relay-client/errors.js" */

/** A module comes over the network. */
const moduleMs = 10_000;

/** What was said already, or by other means. @type {WeakSet<object>} */
const told = new WeakSet();

/** Whether something ended because that was wanted. @param {unknown} error */
function isWanted(error) {
  const { name, code } = /** @type {Partial<RelayError>} */ (error ?? {});
  return name === "AbortError" || code === "closed" || code === "discarded";
}

/**
 * Says a sentence: for a while, or with something to do until it is done or closed.
 * @param {string} text
 * @param {Element} [near] an element of the conversation that it is about
 * @param {{label: string, act: () => void, close?: () => void, until?: AbortSignal}} [action] it
 *   goes with the signal
 */
export function say(text, near, action) {
  const modal = near?.closest("dialog[open]"); // nothing else of the page is read then
  const place =
    modal ?? near?.closest("relay-conversation") ?? document.getElementById("app") ?? document.body;
  const shown = [
    ...place.querySelectorAll(".toast"),
    ...(modal ? [] : document.querySelectorAll(".toast")),
  ];
  if (shown.some((one) => one.firstChild?.textContent === text)) return;
  const toast = el(
    "div",
    { class: action ? "toast lasting" : "toast", role: "alert" },
    el("span", {}, text),
  );
  if (action) {
    const end = (/** @type {(() => void) | undefined} */ act) => {
      toast.remove();
      act?.();
    };
    toast.append(
      el(
        "button",
        { type: "button", class: "link", on: { click: () => end(action.act) } },
        action.label,
      ),
      iconButton("close", "Close", () => end(action.close)),
    );
    action.until?.addEventListener("abort", () => toast.remove());
  }
  place.append(toast);
  toast.addEventListener("animationend", () => toast.remove());
}

/**
 * Says why something failed, unless that was said, or is wanted.
 * @param {unknown} error
 * @param {Element} [near]
 * @param {string} [what]
 */
export function report(error, near, what = "Something went wrong") {
  if (isWanted(error)) return;
  if (typeof error === "object" && error !== null) {
    if (told.has(error)) return;
    told.add(error);
  }
  say(`${what}: ${messageOf(error)}`, near);
}

/** What an error says to a person: anything may be thrown. @param {unknown} error */
export const messageOf = (error) => plain(error instanceof Error ? error.message : String(error));

/** Something else says the error, or has said it. @param {unknown} error */
export function markTold(error) {
  if (typeof error === "object" && error !== null) told.add(error);
}

/** Says all that nothing else does. */
export function reportUnhandled() {
  addEventListener("unhandledrejection", ({ reason }) => report(reason));
  addEventListener("error", ({ error }) => {
    if (error) report(error);
  });
}

/**
 * Loads a part of the page. Where that fails, says so, and rejects: the relay may have another
 * version of the page by now. A dialog that waits for it ends when one has read that.
 * @template T
 * @param {() => Promise<T>} part
 * @param {Element} [near]
 * @returns {Promise<T>}
 */
export async function loaded(part, near) {
  try {
    return await within(part(), "The relay", moduleMs);
  } catch (error) {
    markTold(error);
    const text = (await isOutdated())
      ? "A new version of this page is here: reload it."
      : `A part of this page could not be loaded. Try it again, or reload the page. (${messageOf(error)})`;
    const close = () => near instanceof HTMLDialogElement && near.close();
    say(text, near, { label: "Reload", act: () => location.reload(), close });
    throw error;
  }
}

/**
 * The same for what ends where a part is missing: then it never resolves.
 * @template T
 * @param {() => Promise<T>} part
 * @param {Element} [near]
 * @returns {Promise<T>}
 */
export const load = (part, near) =>
  new Promise((resolve) => {
    loaded(part, near).then(resolve, markTold);
  });

/** Whether the relay has another version of the page. */
async function isOutdated() {
  const version = document.getElementById("app")?.dataset.version;
  try {
    const text = await bounded(
      async (signal) => (await fetch(root, { cache: "no-store", signal })).text(),
      "The relay",
    );
    const current = /data-version="([^"]*)"/.exec(text)?.[1];
    return current !== undefined && version !== undefined && current !== version;
  } catch {
    return false; // not known: there is no connection
  }
}
