// Opens what takes the keyboard and is loaded when it is needed. Until that is here, a dialog stands
// for it, from the key on that opens it: what one writes meanwhile reaches it, and no other field.

import { el, focused, keys } from "./dom.js";
import { loaded, markTold } from "./problems.js";

/** @import { Properties } from "./dom.js" */

/**
 * What was loaded, which opens at once: also where a module is here, `import()` lets keys pass first.
 * @type {WeakMap<object, unknown>}
 */
const here = new WeakMap();
/** Where the style of dialogs and menus is there. @type {WeakSet<Node>} */
const inStyle = new WeakSet();

/**
 * Opens something of a part of the page. The promise never resolves where the part is missing, which
 * is said, or not wanted any more.
 * @template Part, Result
 * @param {Node} near
 * @param {() => Promise<Part>} part the same function each time
 * @param {(part: Part) => Result | Promise<Result>} open gives the focus to what it opens before it
 *   returns
 * @param {string} [label] of the field that has the focus then
 * @returns {Promise<Result>}
 */
export async function opened(near, part, open, label) {
  const known = /** @type {Part | undefined} */ (here.get(part));
  if (known !== undefined && inStyle.has(root(near))) return open(known);
  const { box, end } = standIn(near, label);
  return new Promise((resolve) => {
    Promise.all([loaded(part, box), styled(near)]).then(([module]) => {
      here.set(part, module);
      if (!box.open) return;
      const give = end();
      resolve((async () => open(module))());
      give();
    }, markTold);
  });
}

/**
 * A dialog in place of what is not here yet. Without a field, all keys but Escape do nothing.
 * @param {Node} near
 * @param {string} [label]
 */
function standIn(near, label) {
  const back = focused();
  const input = el("input", {
    type: "search",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: false,
    placeholder: label,
    "aria-label": label,
  });
  // Nothing after Enter is for the field.
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") box.close();
    else if (event.key === "Enter") input.readOnly = true;
    else return;
    event.preventDefault();
  };
  const box = dialog(
    near,
    { class: "switcher loading", "aria-label": label ?? "Loading", on: { keydown: keys(key) } },
    label === undefined ? "" : input,
    el("p", { role: "status" }, "Loading…"),
  );
  /** Gives the focus back, and returns what gives the text to the field that has the focus then. */
  const end = () => {
    box.close();
    box.remove();
    back?.focus({ preventScroll: true });
    return () => {
      const field = /** @type {HTMLInputElement | null} */ (focused());
      if (field === back || !field?.matches("input")) return;
      if (input.value) {
        field.value = input.value;
        field.dispatchEvent(new Event("input", { bubbles: true }));
      }
      if (!input.readOnly) return;
      const enter = { key: "Enter", bubbles: true, cancelable: true };
      if (field.dispatchEvent(new KeyboardEvent("keydown", enter))) field.form?.requestSubmit();
    };
  };
  return { box, end };
}

/**
 * Where dialogs are put: the page's body, or the root of an embedded conversation.
 * @param {Node} near
 */
export function root(near) {
  const found = near.getRootNode();
  return found instanceof ShadowRoot ? found : document.body;
}

/** Resolves when the style of dialogs and menus is there. @param {Node} near */
export async function styled(near) {
  const place = root(near);
  const links = place === document.body ? document.head : place;
  const first = /** @type {HTMLLinkElement | null} */ (links.querySelector("link[rel=stylesheet]"));
  if (await stylesheet(new URL("popups.css", first?.href).href, near)) inStyle.add(place);
}

/** How long one waits for a style sheet. */
const sheetMs = 10_000;

/** @type {WeakMap<Node, Map<string, Promise<boolean>>>} by root and address */
const sheets = new WeakMap();

/**
 * Loads a style sheet for an element, once. Without it what it is for works, and looks plain.
 * @param {string} href @param {Node} near
 * @returns {Promise<boolean>} whether it is there
 */
export function stylesheet(href, near) {
  const place = root(near);
  const known = sheets.get(place) ?? new Map();
  sheets.set(place, known);
  if (!known.has(href))
    known.set(
      href,
      new Promise((resolve) => {
        setTimeout(resolve, sheetMs, false);
        const link = el("link", {
          rel: "stylesheet",
          href,
          on: {
            load: () => resolve(true),
            error: () => {
              link.remove();
              known.delete(href);
              resolve(false);
            },
          },
        });
        (place === document.body ? document.head : place).append(link);
      }),
    );
  return known.get(href);
}

/**
 * A dialog that closes by Escape or a click beside it.
 * @param {Node} near
 * @param {Properties} properties
 * @param {...(Node | string)} children
 */
export function dialog(near, properties, ...children) {
  const back = focused();
  const element = el("dialog", properties, ...children);
  element.addEventListener("click", (event) => {
    if (event.target === element) element.close();
  });
  element.addEventListener("close", () => {
    element.remove();
    if (back?.isConnected && (focused() === document.body || !focused())) back.focus();
    setCaret(focused());
  });
  root(near).append(element);
  element.showModal();
  return element;
}

/**
 * On a busy machine Chromium may give a field the focus back without the caret: then it takes no
 * letters.
 * @param {HTMLElement | null} field
 */
function setCaret(field) {
  if (!(field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement)) return;
  const { selectionStart, selectionEnd } = field;
  if (selectionStart !== null) field.setSelectionRange(selectionStart, selectionEnd);
}
