// What a role allows in a room, as the relay decides it: what one may not do is not offered.

/** @import { Role } from "./relay-client/types.js" */

const ranks = { owner: 3, moderator: 2, member: 1, muted: 1, none: 0, banned: 0 };

/** Who has the higher one may act on the others. @param {Role | undefined} role */
export const rank = (role) => (role === undefined ? 0 : ranks[role]);

/** @param {Role | undefined} role */
export const isMember = (role) => rank(role) >= ranks.member;

/** @param {Role | undefined} role */
export const isModerator = (role) => rank(role) >= ranks.moderator;

/**
 * Whether one may act on another user, and delete what that user wrote.
 * @param {Role | undefined} own @param {Role | undefined} role of that user
 */
export const mayActOn = (own, role) =>
  own === "owner" || (isModerator(own) && rank(role) < rank(own));

/**
 * The roles that one may give to another user, besides the one that the user has.
 * @param {Role | undefined} own @param {Role | undefined} role of that user
 * @returns {Role[]}
 */
export function rolesToGive(own, role) {
  if (!mayActOn(own, role)) return [];
  const all = /** @type {Role[]} */ (
    own === "owner" ? ["owner", "moderator", "member"] : ["member"]
  );
  // Who is muted becomes a member again by another entry of the menu.
  return all.filter((one) => one !== role && !(one === "member" && role === "muted"));
}
