// What the sections are made of.

import { el } from "../dom.js";
import { plain } from "../format.js";
import { opened } from "../opening.js";
import { messageOf } from "../problems.js";

const popups = () => import("../popups.js");

/**
 * A table that scrolls sideways on a narrow screen.
 * @param {string} label
 * @param {string[]} headings
 * @param {(Node | string)[][]} rows
 */
export const table = (label, headings, rows) =>
  el(
    "div",
    { class: "scroll", role: "region", tabIndex: 0, "aria-label": label },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...headings.map((text) => el("th", { scope: "col" }, text)))),
      el(
        "tbody",
        {},
        ...rows.map((cells) =>
          el(
            "tr",
            {},
            ...cells.map((cell) =>
              el(
                "td",
                {},
                typeof cell === "string" ? el("span", { dir: "auto" }, plain(cell)) : cell,
              ),
            ),
          ),
        ),
      ),
    ),
  );

/**
 * @param {string} label
 * @param {string} about what the button acts on, for those who do not see the row
 * @param {() => void} act
 */
export const button = (label, about, act) =>
  el(
    "button",
    {
      type: "button",
      class: "plain small",
      "aria-label": `${label}: ${plain(about)}`,
      on: { click: act },
    },
    label,
  );

/**
 * A field and buttons that act on what is written there.
 * @param {string} label
 * @param {Record<string, (value: string) => void>} acts by their names
 */
export function field(label, acts) {
  const input = el("input", {
    type: "text",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: false,
    "aria-label": label,
    placeholder: label,
  });
  const value = () => input.value.trim();
  return el(
    "form",
    { class: "named", on: { submit: (event) => event.preventDefault() } },
    input,
    ...Object.entries(acts).map(([name, act]) =>
      el(
        "button",
        { type: "button", class: "plain", on: { click: () => value() && act(value()) } },
        name,
      ),
    ),
  );
}

/** @param {Element | null} element */
const nameOf = (element) => element?.getAttribute("aria-label") ?? element?.textContent;

/**
 * A list that is read when it is shown, after each change, and when one wants.
 * @param {HTMLElement} place
 * @param {AbortSignal} signal
 * @param {() => Promise<(Node | string)[]>} read
 */
export function listing(place, signal, read) {
  const note = el("p", { class: "problem", role: "alert" });
  const refresh = el(
    "button",
    { type: "button", class: "plain", on: { click: () => update() } },
    "Refresh",
  );
  const content = el("div", { class: "listed" });
  place.append(el("div", { class: "actions" }, refresh), note, content);

  /** What has begun: what was before says nothing more once another change is tried. */
  let begun = 0;
  async function update() {
    begun += 1;
    const number = begun;
    try {
      const found = await read();
      if (signal.aborted) return;
      if (number === begun) note.textContent = "";
      const focused = content.contains(document.activeElement) && nameOf(document.activeElement);
      content.replaceChildren(...found);
      // Who works with the keyboard goes on in the same place.
      if (focused)
        [...content.querySelectorAll("button, [tabindex]")]
          .find((one) => nameOf(one) === focused)
          ?.focus();
    } catch (error) {
      note.textContent = messageOf(error);
    }
  }

  return {
    update,
    /**
     * Changes something, after a question if it cannot be undone.
     * @param {() => Promise<unknown>} change
     * @param {{title: string, text: string, confirm: string}} [question]
     */
    async act(change, question) {
      if (question && !(await opened(place, popups, ({ ask }) => ask(place, question)))) return;
      begun += 1;
      try {
        await change();
      } catch (error) {
        note.textContent = messageOf(error);
        return;
      }
      await update();
      // The button may be gone, and the focus with it.
      if (document.activeElement === document.body) refresh.focus();
    },
  };
}
