// What the messenger asks and tells in dialogs. Loaded when it is needed.

import { commands } from "./commands.js";
import { el } from "./dom.js";
import { isRoomName, plain } from "./format.js";
import { ask, choose, show } from "./popups.js";
import { report } from "./problems.js";

/** @import { Conversations, Row } from "./conversations.js" */
/** @import { People } from "./people.js" */
/** @import { Relay } from "./relay-client/relay.js" */

/** @param {Row} row */
const choice = (row) =>
  el("span", {}, el("b", { dir: "auto" }, plain(row.title)), el("small", {}, about(row)));

/** @param {Row} row */
const about = ({ isNew, room, user }) =>
  user === undefined
    ? isNew
      ? `Open the room #${room}`
      : "room"
    : isNew
      ? `Write to @${user}`
      : `@${user}`;

/**
 * @typedef {{list: {conversations: Conversations}, people: People, relay: Relay,
 *   open: (row: Row, options: {isOpened: boolean}) => void}} Messenger
 */

/**
 * Chooses a conversation by some letters.
 * @param {HTMLElement} place
 * @param {string} label
 * @param {string} placeholder
 * @param {Messenger} messenger
 */
const chooseConversation = (place, label, placeholder, { list, people }) =>
  choose(place, {
    label,
    placeholder,
    choices: (query) => list.conversations.find(query),
    view: choice,
    search: async (query, signal) => {
      await people.search(query, signal);
    },
  });

/** @param {HTMLElement} place @param {Messenger} messenger */
export async function goTo(place, messenger) {
  const row = await chooseConversation(
    place,
    "Go to a conversation",
    "Go to a person or room",
    messenger,
  );
  if (row) messenger.open(row, { isOpened: true });
}

/**
 * @param {HTMLElement} place @param {Messenger} messenger
 * @param {import("./types.js").Origin} origin
 */
export async function forward(place, messenger, { room, seq, file, text }) {
  const row = await chooseConversation(
    place,
    "Forward to",
    "Forward to a person or room",
    messenger,
  );
  if (!row) return;
  messenger.open(row, { isOpened: true });
  const target = messenger.relay.room(row.room);
  const sending = file ? target.sendFile(file, { text }) : target.send({ forward: { room, seq } });
  // What is refused later is a row, which says why.
  sending.catch((error) => {
    if (error === sending.local.error) report(error, undefined, "The message was not forwarded");
  });
}

/** @param {HTMLElement} place @param {(room: string) => void} open */
export function askForRoom(place, open) {
  const note = el("p", { class: "problem", role: "alert" });
  const input = el("input", {
    type: "text",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: false,
    "aria-label": "Name of the room",
    placeholder: "team-lunch",
  });
  const box = show(
    place,
    "Open or create a room",
    form(
      input,
      "Open",
      () => {
        const room = input.value.trim().toLowerCase().replace(/^#/, "").replace(/\s+/g, "-");
        if (!isRoomName(room)) {
          note.textContent =
            "A room has 1 to 140 of these characters: a–z, 0–9, dot, hyphen, underscore and colon.";
          return;
        }
        box.close();
        open(room);
      },
      note,
    ),
  );
  input.focus();
}

/**
 * @param {HTMLElement} place
 * @param {(token: string) => boolean} renew whether the token is one of this user
 */
export function askForToken(place, renew) {
  const note = el("p", { class: "problem", role: "alert" });
  const input = el("input", { type: "password", autocomplete: "off", "aria-label": "Token" });
  const box = show(
    place,
    "Your session has expired",
    el("p", {}, "Enter a new token. What you wrote meanwhile is kept."),
    form(
      input,
      "Continue",
      () => {
        const token = input.value.trim();
        if (!token) return;
        if (renew(token)) box.close();
        else note.textContent = "This is not a token of yours. To use it, sign out first.";
      },
      note,
    ),
  );
  return box;
}

/**
 * Anybody can make an address with a token, and would read what is written then.
 * @param {HTMLElement} place
 * @param {string} user
 * @param {string} other
 */
export const askToSwitch = (place, user, other) =>
  ask(place, {
    title: "Sign in as another user?",
    confirm: "Sign in",
    text: `You are ${user} here. The address that was opened signs you in as ${plain(other) || "another user"}.`,
  });

/**
 * @param {HTMLElement} input
 * @param {string} label
 * @param {() => void} submit
 * @param {...Node} more
 */
const form = (input, label, submit, ...more) =>
  el(
    "form",
    {
      on: {
        submit: (event) => {
          event.preventDefault();
          submit();
        },
      },
    },
    input,
    ...more,
    el("div", { class: "buttons" }, el("button", { type: "submit", class: "primary" }, label)),
  );

const keys = [
  ["Enter", "Send"],
  ["Shift+Enter", "New line"],
  ["↑ in an empty composer", "Edit your last message"],
  ["Ctrl+K", "Go to a conversation"],
  ["Ctrl+F", "Search in this conversation"],
  ["Ctrl+Shift+F", "Search all conversations"],
  ["Alt+↑ ↓", "Previous, next conversation"],
  ["Alt+Shift+↑ ↓", "Previous, next unread conversation"],
  ["F6", "Next region: conversations, messages, composer"],
  ["↑ ↓ in messages", "Select a message"],
  ["Enter on a message", "All actions"],
  ["R, E, F, +, V", "Reply, edit, forward, react, view a picture"],
  ["Ctrl+End", "Go to the newest message"],
  ["Escape", "Back to the composer"],
];

/** @param {HTMLElement} place */
export function showKeys(place) {
  const rows = [
    ...keys,
    ...commands.map(({ usage, text }) => [usage, `${text[0].toUpperCase()}${text.slice(1)}`]),
    ["//", "Send a text that begins with a slash"],
  ];
  show(
    place,
    "Keys and commands",
    el(
      "dl",
      { class: "keys" },
      ...rows.flatMap(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)]),
    ),
  );
}
