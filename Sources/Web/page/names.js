// What a person means by a name in an address: as wschat takes `--to` and `--room`.

import { directRoom, folded, isRoomName, isUserName, line } from "./format.js";

/**
 * @typedef {{room?: string, user?: string, problem?: string}} Named a room, with the other user of
 *   a direct one; or what is wrong with the name
 */

const userSyntax = "1 to 64 of a–z, 0–9, dot, hyphen and underscore, and neither . nor ..";
const roomSyntax = "1 to 140 of a–z, 0–9, dot, hyphen, underscore and colon, and neither . nor ..";

/**
 * What a person means by a text: a user, as `ada`, `Ada` or `@ada`; or what is wrong with it.
 * @param {string} text
 * @returns {{user?: string, problem?: string}}
 */
export function userNamed(text) {
  const user = text.trim().replace(/^@/, "").toLowerCase();
  if (isUserName(user)) return { user };
  if (user.startsWith("#"))
    return { problem: `“${line(text)}” is a room: an address names it by room=, not to=.` };
  return {
    problem:
      `“${line(text)}” is not a user name, which is ${userSyntax}.` +
      " Ctrl+K finds people by the names that are shown.",
  };
}

/** The user name that is most like a text; it may be none. @param {string} text */
export const similarName = (text) =>
  folded(text)
    .replace(/[^a-z0-9._]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64);

/** The room with another user. @param {string} user @param {string} other @returns {Named} */
const roomWith = (user, other) =>
  user === other
    ? { problem: `There is no conversation with oneself: @${user} is you. Name another user.` }
    : { room: directRoom(user, other), user: other };

/**
 * The room with the user that a text names.
 * @param {string} text
 * @param {string} user
 * @returns {Named}
 */
export function directRoomNamed(text, user) {
  const other = userNamed(text);
  return other.user === undefined ? other : roomWith(user, other.user);
}

/**
 * The room that a text names, as `general`, `#General` or `@ada`.
 * @param {string} text
 * @param {string} user
 * @returns {Named}
 */
export function roomNamed(text, user) {
  if (text.trim().startsWith("@")) return directRoomNamed(text, user);
  const room = text.trim().replace(/^#/, "").toLowerCase();
  if (isRoomName(room)) return { room };
  const [kind, ...users] = room.split(":");
  if (kind === "dm" && users.length === 2 && users.every(isUserName)) {
    if (users.includes(user)) return roomWith(user, users.find((one) => one !== user) ?? user);
    return { problem: `“${line(text)}” is a conversation of other people.` };
  }
  if (kind === "sys")
    return { problem: `“${line(text)}” is a room of the relay, which nobody can open.` };
  return { problem: `“${line(text)}” is not the name of a room, which has ${roomSyntax}.` };
}
