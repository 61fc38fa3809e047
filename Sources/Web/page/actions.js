// What one can do with a message or a conversation, as menus and questions. Loaded when it is
// needed.

import { askToBlock, unblock } from "./blocking.js";
import { el, keys } from "./dom.js";
import { download } from "./file-row.js";
import { plain } from "./format.js";
import { opened } from "./opening.js";
import { ask, chooseEmoji, menu } from "./popups.js";
import { report } from "./problems.js";
import { isMember, isModerator, mayActOn } from "./rights.js";
import { rooms } from "./rooms/part.js";
import { gist } from "./row.js";

/** @import { Message, Role } from "./relay-client/types.js" */
/** @import { Room } from "./relay-client/room.js" */
/** @import { Act, Action, Messenger } from "./types.js" */

/** No message is older. */
const firstYear = 1990;

/**
 * A room, where its dialogs are put, what one may do in it, what shows one of its messages, and those
 * that are loaded.
 * @typedef {{near: HTMLElement, messenger: Messenger, room: Room, title: string, peer?: string,
 *   role: () => Role | undefined, show: Show, messages: () => Message[]}} Place
 */

/** @typedef {(place: number | Date) => Promise<HTMLElement | undefined>} Show */

/**
 * What is pointed to.
 * @typedef {Place & {message?: Message, anchor: HTMLElement, canWrite: boolean, act: Act}} Asked
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

/** @param {Place} place @param {string} user */
const nameOf = ({ messenger: { people } }, user) => plain(people.name(user) ?? user);

/** @param {Asked} asked @param {Message} message */
function messageMenu(asked, message) {
  const { act, anchor, canWrite, messenger, near, peer } = asked;
  const { seq, from } = message;
  const isOwn = from === messenger.user;
  const { file } = message;
  const isText = message.kind === "text" || file !== undefined;
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
      ...(file?.thumbnail ? [{ label: "View", act: () => act("view", seq) }] : []),
      ...(file ? [{ label: "Download", act: () => download(file, near) }] : []),
      ...(message.text
        ? [{ label: "Copy text", act: () => copy(message.text ?? "", anchor) }]
        : []),
      ...(isText && messenger.forward
        ? [{ label: "Forward…", act: () => act("forward", seq) }]
        : []),
      ...(write && !isOwn && peer === undefined
        ? [{ label: `Write to ${nameOf(asked, from)}`, act: () => write(from) }]
        : []),
      ...(canWrite && isOwn && isText ? [{ label: "Edit", act: () => act("edit", seq) }] : []),
      ...(isOwn
        ? []
        : [
            {
              label: "Report…",
              act: () => opened(near, rooms, (part) => part.reportMessage(asked, message)),
            },
            blockEntry(asked, from),
          ]),
      ...(canWrite && mayDelete(asked, message)
        ? [{ label: "Delete…", isDangerous: true, act: () => act("delete", seq) }]
        : []),
    ],
    { label: "Message" },
  );
}

/** @param {Place} place @param {string} user */
function blockEntry(place, user) {
  const { near, messenger } = place;
  const { relay } = messenger;
  const name = nameOf(place, user);
  return relay.blocks.has(user)
    ? { label: `Unblock ${name}`, act: () => unblock(near, relay, user, name) }
    : { label: `Block ${name}…`, act: () => askToBlock(near, relay, user, name) };
}

/** @param {Place} place @param {Message} message */
const mayDelete = ({ messenger, role, room }, { from }) =>
  from === messenger.user || mayActOn(role(), room.members.get(from));

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
export const askToDelete = (place, message) =>
  mayDelete(place, message) &&
  ask(place.near, {
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
 * @param {{first: number, leave: () => void, focus: () => void, place: Place, isMuted?: boolean,
 *   mute: () => void}} view
 */
export function conversationMenu(button, view) {
  const { first, leave, focus, isMuted, mute, place } = view;
  const { near, messenger, room, peer, role, show } = place;
  const row = messenger.relay.rooms.list.find((one) => one.room === room.name);
  menu(
    button,
    [
      { label: "Go to a date…", act: () => chooseDate(button, show, focus) },
      { label: "Go to the first message", act: () => show(first) },
      ...(isMuted === undefined ? [] : [{ label: "Muted", isOn: isMuted, act: mute }]),
      ...(row?.request ? [{ label: "Accept the request", act: () => accept(room, near) }] : []),
      ...(peer !== undefined && peer !== messenger.user ? [blockEntry(place, peer)] : []),
      ...(hasMembers(place)
        ? [
            {
              label: "Members…",
              act: () => opened(near, rooms, (part) => part.showMembers(place)),
            },
          ]
        : []),
      ...(hasMembers(place) && isModerator(role())
        ? [
            {
              label: "Settings…",
              act: () => opened(near, rooms, (part) => part.changeSettings(place)),
            },
          ]
        : []),
      ...(peer === undefined ? [{ label: "Leave this room…", isDangerous: true, act: leave }] : []),
    ],
    { label: "This conversation" },
  );
}

/** Whether there are roles, or one may give some. @param {Place} place */
const hasMembers = ({ room, role }) => room.settings !== undefined || isModerator(role());

/** @param {Room} room @param {HTMLElement} near */
async function accept(room, near) {
  try {
    await room.accept();
  } catch (error) {
    report(error, near, "The request was not accepted");
  }
}

/** @param {Asked} asked */
function showMembers(asked) {
  const { near, room } = asked;
  if (hasMembers(asked)) return opened(near, rooms, (part) => part.showMembers(asked));
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

/** @param {HTMLElement} button @param {Show} show @param {() => void} focus */
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
