// What one can do with a message or a conversation, as menus and questions. Loaded when it is
// needed.

import { el, keys } from "./dom.js";
import { opened } from "./opening.js";
import { ask, chooseEmoji, menu } from "./popups.js";
import { report } from "./problems.js";
import { gist } from "./row.js";

/** @import { Message } from "./relay-client/types.js" */
/** @import { Act } from "./room-view.js" */

/** No message is older. */
const firstYear = 1990;

/**
 * @typedef {object} View the conversation
 * @property {string} user
 * @property {boolean} canForward
 * @property {(user: string) => string} name
 * @property {((user: string) => void) | undefined} person opens the conversation with a person,
 *   where that is another one
 * @property {Act} act
 */

const emoji = () => import("./emoji.js");

/** @param {View} view @param {Message} message @param {HTMLElement} anchor */
export async function chooseReaction(view, message, anchor) {
  const isOn = (/** @type {string} */ emoji) =>
    message.reactions.get(emoji)?.includes(view.user) ?? false;
  const act = (/** @type {string} */ emoji) => view.act("react", message.seq, emoji, !isOn(emoji));
  await opened(
    anchor,
    emoji,
    ({ findEmoji }) => chooseEmoji(anchor, { label: "React", find: findEmoji, isOn, act }),
    "Name of an emoji",
  );
}

/** @param {View} view @param {Message} message @param {HTMLElement} anchor */
export function messageMenu(view, message, anchor) {
  const isOwn = message.from === view.user;
  const isText = message.kind === "text";
  const { person } = view;
  menu(
    anchor,
    [
      { label: "Reply", act: () => view.act("reply", message.seq) },
      { label: "React", act: () => chooseReaction(view, message, anchor) },
      ...(isText ? [{ label: "Copy text", act: () => copy(message.text ?? "", anchor) }] : []),
      ...(isText && view.canForward
        ? [{ label: "Forward…", act: () => view.act("forward", message.seq) }]
        : []),
      ...(person && !isOwn
        ? [{ label: `Write to ${view.name(message.from)}`, act: () => person(message.from) }]
        : []),
      ...(isOwn && isText ? [{ label: "Edit", act: () => view.act("edit", message.seq) }] : []),
      ...(isOwn
        ? [{ label: "Delete…", isDangerous: true, act: () => view.act("delete", message.seq) }]
        : []),
    ],
    { label: "Message" },
  );
}

/**
 * Over plain HTTP browsers have no clipboard for pages.
 * @param {string} text
 * @param {HTMLElement} near
 */
async function copy(text, near) {
  try {
    await navigator.clipboard.writeText(text);
  } catch (error) {
    report(error, near, "The text was not copied");
  }
}

/** @param {Node} near @param {Message} message */
export const askToDelete = (near, message) =>
  ask(near, {
    title: "Delete this message?",
    text: gist(message).slice(0, 300) || "The message is deleted for everyone.",
    confirm: "Delete for everyone",
  });

/**
 * What there is to know of people: their names, which may be the same, and a way to write to them.
 * @param {View} view @param {string[]} users @param {HTMLElement} anchor @param {string} label
 */
export function peopleMenu({ user: me, name, person }, users, anchor, label) {
  const title = (/** @type {string} */ user) =>
    `${name(user)}${name(user) === user ? "" : ` @${user}`}${user === me ? " (you)" : ""}`;
  menu(
    anchor,
    users.map((user) => ({
      label: person && user !== me ? `${title(user)} – write` : title(user),
      act: () => {
        if (user !== me) person?.(user);
      },
    })),
    { label },
  );
}

/**
 * @param {HTMLElement} button
 * @param {{isRoom: boolean, show: (place: number | Date) => void, first: number, leave: () => void,
 *   focus: () => void,
 *   isMuted?: boolean, mute: () => void}} view
 */
export function conversationMenu(button, { isRoom, show, first, leave, focus, isMuted, mute }) {
  menu(
    button,
    [
      { label: "Go to a date…", act: () => chooseDate(button, show, focus) },
      { label: "Go to the first message", act: () => show(first) },
      ...(isMuted === undefined ? [] : [{ label: "Muted", isOn: isMuted, act: mute }]),
      ...(isRoom ? [{ label: "Leave this room…", isDangerous: true, act: leave }] : []),
    ],
    { label: "This conversation" },
  );
}

/** @param {Node} near @param {string} title */
export const askToLeave = (near, title) =>
  ask(near, {
    title: `Leave ${title}?`,
    confirm: "Leave",
    text:
      "You are told of no more messages in it. What was written stays, and you can open the room" +
      " again by its name.",
  });

/** @param {HTMLElement} button @param {(place: Date) => void} show @param {() => void} focus */
function chooseDate(button, show, focus) {
  const today = new Date();
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  const input = el("input", {
    type: "date",
    class: "date-input",
    "aria-label": "Date",
    max: `${today.getFullYear()}-${two(today.getMonth() + 1)}-${two(today.getDate())}`,
    on: {
      change: () => {
        const [year, month, date] = input.value.split("-").map(Number);
        if (!(year >= firstYear)) return; // a year that is being written begins with zeros
        show(new Date(year, month - 1, date));
      },
      blur: () => input.remove(),
      keydown: keys((event) => {
        if (event.key === "Escape" || event.key === "Enter") {
          event.preventDefault();
          focus();
        }
      }),
    },
  });
  button.after(input);
  input.focus();
  try {
    input.showPicker();
  } catch {
    input.select();
  } // the field itself takes the date
}
