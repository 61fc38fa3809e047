// Leaving a room in which one has a role: the last owner says who follows.

import { el } from "../dom.js";
import { plain } from "../format.js";
import { ask, choose, tell } from "../popups.js";
import { report } from "../problems.js";

/** @import { RelayError } from "../relay-client/errors.js" */
/** @import { Room } from "../relay-client/room.js" */
/** @import { Place } from "../actions.js" */

/** @param {Place} place @returns {Promise<boolean>} whether one has left */
export async function leave(place) {
  const { near, room, title } = place;
  const { user } = place.messenger;
  const question = {
    title: `Leave ${plain(title)}?`,
    confirm: "Leave",
    text:
      room.settings?.access === "private"
        ? "You read and write nothing in it any more, until a member lets you in again."
        : "You are told of no more messages in it. What was written stays.",
  };
  try {
    if (isLastOwner(room, user)) return await handOver(place);
    if (!(await ask(near, question))) return false;
    await room.remove(user);
    return true;
  } catch (error) {
    const { field } = /** @type {RelayError} */ (error);
    if (field === "role") return handOver(place);
    report(error, near, "You have not left the room");
    return false;
  }
}

/** @param {Room} room @param {string} user */
function isLastOwner({ members, role }, user) {
  if (role !== "owner" || members.size === 0) return false;
  return ![...members].some(([one, role]) => role === "owner" && one !== user);
}

/** @param {Place} place */
async function handOver({ near, messenger: { user, people }, room, title }) {
  const named = [...room.members.keys()]
    .filter((one) => one !== user)
    .map((one) => ({ user: one, name: plain(people.name(one) ?? one) }));
  if (named.length === 0) {
    tell(
      near,
      `You are the only member of ${plain(title)}`,
      "A room has an owner. Invite the person who follows you, then leave.",
    );
    return false;
  }
  const follower = await choose(near, {
    label: "Who owns the room when you have left?",
    placeholder: "Who owns the room when you have left?",
    choices: (query) =>
      named.filter((one) => `${one.name} ${one.user}`.toLowerCase().includes(query.toLowerCase())),
    view: ({ user, name }) =>
      el("span", {}, el("b", { dir: "auto" }, name), el("small", {}, `@${user}`)),
  });
  if (!follower) return false;
  const question = {
    title: `Leave ${plain(title)}?`,
    confirm: "Leave",
    text: `${follower.name} owns the room then.`,
  };
  if (!(await ask(near, question))) return false;
  try {
    await room.setRole(follower.user, "owner");
    await room.remove(user);
    return true;
  } catch (error) {
    report(error, near, "You have not left the room");
    return false;
  }
}
