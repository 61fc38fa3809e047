// What the messenger asks and tells in dialogs. Loaded when it is needed.

import { el } from "./dom.js";
import { plain } from "./format.js";
import { choose, show } from "./popups.js";

/** @param {any} row */
const choice = (row) =>
  el("span", {}, el("b", { dir: "auto" }, plain(row.title)), el("small", {}, row.user === undefined ? "room" : `@${row.user}`));

/**
 * Chooses a conversation by some letters.
 * @param {HTMLElement} place
 * @param {{label: string, placeholder: string}} texts
 * @param {{all: any[]}} list
 * @param {import("./people.js").People} people
 */
export const chooseConversation = (place, texts, list, people) => choose(place, {
  ...texts, choices: () => list.all, view: choice,
  search: async (query, signal) => { await people.search(query, signal); },
});

/** @param {HTMLElement} place @param {(room: string) => void} open */
export function askForRoom(place, open) {
  const note = el("p", { class: "problem", role: "alert" });
  const input = el("input", { type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: false, "aria-label": "Name of the room", placeholder: "team-lunch" });
  const box = show(place, "Open or create a room", form(input, "Open", () => {
    const room = input.value.trim().toLowerCase().replace(/^#/, "").replace(/\s+/g, "-");
    if (!/^[a-z0-9._:-]{1,140}$/.test(room) || /^(\.|\.\.|dm:.*|sys:.*)$/.test(room)) {
      note.textContent = "A room has 1 to 140 of these characters: a–z, 0–9, dot, hyphen, underscore and colon.";
      return;
    }
    box.close();
    open(room);
  }, note));
  input.focus();
}

/** @param {HTMLElement} place @param {(token: string) => void} renew */
export function askForToken(place, renew) {
  const input = el("input", { type: "password", autocomplete: "off", "aria-label": "Token" });
  const box = show(place, "Your session has expired", el("p", {}, "Enter a new token. What you wrote meanwhile is kept."),
    form(input, "Continue", () => {
      if (!input.value.trim()) return;
      box.close();
      renew(input.value.trim());
    }));
  return box;
}

/** @param {HTMLElement} input @param {string} label @param {() => void} submit @param {...Node} more */
const form = (input, label, submit, ...more) => el("form", {
  on: { submit: (/** @type {Event} */ event) => { event.preventDefault(); submit(); } },
}, input, ...more, el("div", { class: "buttons" }, el("button", { type: "submit", class: "primary" }, label)));

const keys = [
  ["Enter", "Send"], ["Shift+Enter", "New line"], ["↑ in an empty composer", "Edit your last message"],
  ["Ctrl+K", "Go to a conversation"], ["Ctrl+F", "Search in this conversation"],
  ["Alt+↑ ↓", "Previous, next conversation"], ["Alt+Shift+↑ ↓", "Previous, next unread conversation"],
  ["F6", "Next region: conversations, messages, composer"], ["↑ ↓ in messages", "Select a message"],
  ["Enter on a message", "All actions"], ["R, E, F, +", "Reply, edit, forward, react"],
  ["Ctrl+End", "Go to the newest message"], ["Escape", "Back to the composer"],
];

/** @param {HTMLElement} place */
export function showKeys(place) {
  show(place, "Keys", el("dl", { class: "keys" }, ...keys.flatMap(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)])));
}
