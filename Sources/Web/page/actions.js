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

/** @import { Message } from "./relay-client/types.js" */
/** @import { Room } from "./relay-client/room.js" */
/** @import { Act, Action, Messenger } from "./room-view.js" */

/** No message is older. */
const firstYear = 1990;

/**
 * A room, and where its dialogs are put.
 * @typedef {{near: HTMLElement, messenger: Messenger, room: Room, title: string}} Place
 */

/**
 * What is pointed to.
 * @typedef {Place & {peer?: string, message?: Message, anchor: HTMLElement, canWrite: boolean,
 *   act: Act}} Asked
 */

const emoji = () => import("./emoji.js");

/**
 * Offers what one can do with a message, or with what else is pointed to.
 * @param {Action} action @param {Asked} asked
 */
export function offer(action, asked) {
  const { message, peer } = asked;
  if (action === "person") return peopleMenu(asked, [message?.from ?? peer ?? ""], "Person");
  if (action === "members") return showMembers(asked);
  if (!message) return undefined;
  if (action === "reactions") return chooseReaction(asked, message);
  return messageMenu(asked, message);
}

/** @param {Asked} asked @param {Message} message */
async function chooseReaction({ act, anchor, messenger }, message) {
  const isOn = (/** @type {string} */ emoji) =>
    message.reactions.get(emoji)?.includes(messenger.user) ?? false;
  const react = (/** @type {string} */ emoji) => act("react", message.seq, emoji, !isOn(emoji));
  await opened(
    anchor,
    emoji,
    ({ findEmoji }) => chooseEmoji(anchor, { label: "React", find: findEmoji, isOn, act: react }),
    "Name of an emoji",
  );
}

/** @param {Asked} asked @param {string} user */
const nameOf = ({ messenger: { people } }, user) => plain(people.name(user) ?? user);

/** @param {Asked} asked @param {Message} message */
function messageMenu(asked, message) {
  const { act, anchor, canWrite, messenger, peer, room } = asked;
  const { seq, from } = message;
  const isOwn = from === messenger.user;
  const isText = message.kind === "text";
  const { write } = messenger;
  menu(
    anchor,
    [
      ...(canWrite
        ? [
            { label: "Reply", act: () => act("reply", seq) },
            { label: "React", act: () => chooseReaction(asked, message) },
          ]
        : []),
      ...(isText ? [{ label: "Copy text", act: () => copy(message.text ?? "", anchor) }] : []),
      ...(isText && messenger.forward
        ? [{ label: "Forward…", act: () => act("forward", seq) }]
        : []),
      ...(write && !isOwn && peer === undefined
        ? [{ label: `Write to ${nameOf(asked, from)}`, act: () => write(from) }]
        : []),
      ...(canWrite && isOwn && isText ? [{ label: "Edit", act: () => act("edit", seq) }] : []),
      ...(canWrite && mayDelete(messenger, room, message)
        ? [{ label: "Delete…", isDangerous: true, act: () => act("delete", seq) }]
        : []),
    ],
    { label: "Message" },
  );
}

/** @param {Messenger} messenger @param {Room} room @param {Message} message */
const mayDelete = ({ user }, { members, role }, { from }) =>
  from === user || mayActOn(role, members.get(from));

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

/** @param {Place} place @param {Message} message */
export const askToDelete = ({ near, messenger, room }, message) =>
  mayDelete(messenger, room, message) &&
  ask(near, {
    title: "Delete this message?",
    text: gist(message).slice(0, 300) || "The message is deleted for everyone.",
    confirm: "Delete for everyone",
  });

/**
 * What there is to know of people: their names, which may be the same, and a way to write to them.
 * @param {Asked} asked @param {string[]} users @param {string} label
 */
function peopleMenu(asked, users, label) {
  const { anchor, messenger, peer } = asked;
  const { user: me } = messenger;
  const write = peer === undefined ? messenger.write : undefined;
  const title = (/** @type {string} */ user) => {
    const name = nameOf(asked, user);
    return `${name}${name === user ? "" : ` @${user}`}${user === me ? " (you)" : ""}`;
  };
  menu(
    anchor,
    users.map((user) => ({
      label: write && user !== me ? `${title(user)} – write` : title(user),
      act: () => {
        if (user !== me) write?.(user);
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

/** @param {Asked} asked */
function showMembers(asked) {
  const { near, room } = asked;
  if (room.settings) return opened(near, rooms, (part) => part.showMembers(asked));
  return peopleMenu(asked, [...room.members.keys()].sort(), "Members");
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
