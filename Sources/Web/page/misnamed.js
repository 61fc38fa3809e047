// Why a text is no name of a user or a room. Loaded when it is none.

import { folded, isUserName, line } from "./format.js";
import { userNamed } from "./names.js";

const userSyntax = "1 to 64 of a–z, 0–9, dot, hyphen and underscore, and neither . nor ..";
const roomSyntax = "1 to 140 of a–z, 0–9, dot, hyphen, underscore and colon, and neither . nor ..";

/** The user name that is most like a text; it may be none. @param {string} text */
export const similarName = (text) =>
  folded(text)
    .replace(/[^a-z0-9._]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64);

/** @param {string} text @param {string} [user] the one who writes it */
export function userProblem(text, user) {
  const named = userNamed(text);
  if (named !== undefined && named === user) return oneself(user);
  if (text.trim().replace(/^@/, "").startsWith("#"))
    return `“${line(text)}” is a room: an address names it by room=, not to=.`;
  return (
    `“${line(text)}” is not a user name, which is ${userSyntax}.` +
    " Ctrl+K finds people by the names that are shown."
  );
}

/** @param {string} user */
const oneself = (user) =>
  `There is no conversation with oneself: @${user} is you. Name another user.`;

/** @param {string} text @param {string} user the one who writes it */
export function roomProblem(text, user) {
  if (text.trim().startsWith("@")) return userProblem(text, user);
  const [kind, ...users] = text.trim().replace(/^#/, "").toLowerCase().split(":");
  if (kind === "dm" && users.length === 2 && users.every(isUserName))
    return users.includes(user)
      ? oneself(user)
      : `“${line(text)}” is a conversation of other people.`;
  if (kind === "sys") return `“${line(text)}” is a room of the relay, which nobody can open.`;
  return `“${line(text)}” is not the name of a room, which has ${roomSyntax}.`;
}
