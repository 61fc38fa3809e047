// What one can do with a message or a conversation, as menus and questions. Loaded when it is
// needed.

import { el, keys } from "./dom.js";
import { plain } from "./format.js";
import { opened } from "./opening.js";
import { ask, chooseEmoji, menu } from "./popups.js";
import { report } from "./problems.js";
import { isMember, isModerator, mayActOn } from "./rights.js";
import { rooms } from "./rooms/part.js";
import { gist } from "./row.js";

/** @import { Message, Role } from "./relay-client/types.js" */
/** @import { Room } from "./relay-client/room.js" */
/** @import { Act, Messenger } from "./room-view.js" */

export { mayActOn };

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
 * @property {boolean} canWrite
 * @property {Role | undefined} role
 * @property {(user: string) => Role | undefined} roleOf
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
  const { person, canWrite } = view;
  menu(
    anchor,
    [
      ...(canWrite
        ? [
            { label: "Reply", act: () => view.act("reply", message.seq) },
            { label: "React", act: () => chooseReaction(view, message, anchor) },
          ]
        : []),
      ...(isText ? [{ label: "Copy text", act: () => copy(message.text ?? "", anchor) }] : []),
      ...(isText && view.canForward
        ? [{ label: "Forward…", act: () => view.act("forward", message.seq) }]
        : []),
      ...(person && !isOwn
        ? [{ label: `Write to ${view.name(message.from)}`, act: () => person(message.from) }]
        : []),
      ...(canWrite && isOwn && isText
        ? [{ label: "Edit", act: () => view.act("edit", message.seq) }]
        : []),
      ...(canWrite && (isOwn || mayActOn(view.role, view.roleOf(message.from)))
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
 *   focus: () => void, place: Place,
 *   isMuted?: boolean, mute: () => void}} view
 */
export function conversationMenu(button, view) {
  const { isRoom, show, first, leave, focus, isMuted, mute, place } = view;
  const { near, room } = place;
  menu(
    button,
    [
      { label: "Go to a date…", act: () => chooseDate(button, show, focus) },
      { label: "Go to the first message", act: () => show(first) },
      ...(isMuted === undefined ? [] : [{ label: "Muted", isOn: isMuted, act: mute }]),
      ...(room.settings
        ? [
            {
              label: "Members…",
              act: () => opened(near, rooms, (part) => part.showMembers(place)),
            },
          ]
        : []),
      ...(room.settings && isModerator(room.role)
        ? [
            {
              label: "Settings…",
              act: () => opened(near, rooms, (part) => part.changeSettings(place)),
            },
          ]
        : []),
      ...(isRoom ? [{ label: "Leave this room…", isDangerous: true, act: leave }] : []),
    ],
    { label: "This conversation" },
  );
}

/**
 * A room, and where its dialogs are put.
 * @typedef {{near: HTMLElement, messenger: Messenger, room: Room, title: string}} Place
 */

/** @param {Place} place @param {View} view @param {HTMLElement} anchor */
export function showMembers(place, view, anchor) {
  const { near, room } = place;
  if (room.settings) return opened(near, rooms, (part) => part.showMembers(place));
  peopleMenu(view, [...room.members.keys()].sort(), anchor, "Members");
}

/** @param {Place} place */
export function askToLeave(place) {
  const { near, room, title } = place;
  if (room.state === "live" && isMember(room.role))
    return opened(near, rooms, (part) => part.leave(place));
  return ask(near, {
    title: `Leave ${plain(title)}?`,
    confirm: "Leave",
    text:
      "You are told of no more messages in it. What was written stays, and you can open the room" +
      " again by its name.",
  });
}

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
