// What a person means by a name in an address: as wschat takes `--to` and `--room`. Why a text is none, misnamed.js
// tells.

import { directRoom, isRoomName, isUserName } from "./format.js";

/** @typedef {{room: string, user?: string}} Named a room, with the other user of a direct one */

/**
 * What a person means by a text: a user, as `ada`, `Ada` or `@ada`.
 * @param {string} text
 * @returns {string | undefined}
 */
export function userNamed(text) {
  const user = text.trim().replace(/^@/, "").toLowerCase();
  return isUserName(user) ? user : undefined;
}

/**
 * The room with the user that a text names.
 * @param {string} text
 * @param {string} user
 * @returns {Named | undefined}
 */
export function directRoomNamed(text, user) {
  const other = userNamed(text);
  return other === undefined || other === user
    ? undefined
    : { room: directRoom(user, other), user: other };
}

/**
 * The room that a text names, as `general`, `#General` or `@ada`.
 * @param {string} text
 * @param {string} user
 * @returns {Named | undefined}
 */
export function roomNamed(text, user) {
  if (text.trim().startsWith("@")) return directRoomNamed(text, user);
  const room = text.trim().replace(/^#/, "").toLowerCase();
  if (isRoomName(room)) return { room };
  const [kind, ...users] = room.split(":");
  return kind === "dm" && users.length === 2 && users.includes(user)
    ? directRoomNamed(users.find((one) => one !== user) ?? user, user)
    : undefined;
}
