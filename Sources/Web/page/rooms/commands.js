// The commands that change a room, or what a user is in it, as in wschat.

import { isUserName, plain } from "../format.js";
import { rank } from "../rights.js";

/** @import { Place } from "../commands.js" */
/** @import { Room } from "../relay-client/room.js" */
/** @import { Role } from "../relay-client/types.js" */

const hourMs = 3_600_000;
/** @type {Record<string, number>} */
const unitsMs = { s: 1000, "": 60_000, m: 60_000, min: 60_000, h: hourMs, d: 24 * hourMs };

/** The role that a command gives. @type {Record<string, Role>} */
const given = {
  invite: "member",
  kick: "none",
  ban: "banned",
  unban: "none",
  mute: "muted",
  unmute: "member",
  op: "moderator",
  deop: "member",
};

/** Those for moderators, and for owners. */
const moderation = ["title", "invite", "kick", "ban", "unban"];
const ownership = ["op", "deop", "role"];

/** Whether a command is offered to users with this role. @param {string} name @param {Role | undefined} role */
export const isAllowed = (name, role) =>
  ownership.includes(name)
    ? role === "owner"
    : !moderation.includes(name) || rank(role) >= rank("moderator");

/**
 * Carries a command out. What is wrong with it is said, and what the relay refuses.
 * @param {string} name @param {string} argument @param {Place} place
 */
export async function change(name, argument, place) {
  const { row, conversation, done, say } = place;
  if (name !== "create" && row.peer !== undefined)
    return say("Only rooms have members, topics and titles.");
  const request = read(name, argument, place);
  if (typeof request === "string") return say(request);
  done();
  try {
    await request();
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    // A name that the relay has chosen tells people nothing.
    const { name: room } = conversation.room;
    const why = room.length > 30 ? message.replaceAll(room, row.title) : message;
    say(`/${name} was refused: ${plain(why)}`);
  }
}

/**
 * @param {string} name @param {string} argument @param {Place} place
 * @returns {string | (() => Promise<unknown>)} what is wrong, or what asks the relay
 */
function read(name, argument, { messenger: { relay, enter }, conversation: { room } }) {
  if (name === "topic") return () => room.change({ topic: argument === "-delete" ? "" : argument });
  if (name === "title" || name === "create") {
    if (!argument) return `A title is missing: write /${name} Tea.`;
    if (name === "title") return () => room.change({ title: argument });
    if (!enter) return "This page shows one conversation only.";
    return async () => {
      const made = await relay.createRoom({ title: argument, access: "private" });
      enter(made.name);
    };
  }
  const [written, rest] = firstWord(argument);
  const user = written.replace(/^@/, "").toLowerCase();
  if (!isUserName(user))
    return written
      ? `${plain(written)} is no user's name: write /${name} bo.`
      : `A user's name is missing: write /${name} bo.`;
  const wrong = problem(name, user, room);
  if (wrong) return wrong;
  if (name === "role") {
    const role = /** @type {Role} */ (rest.toLowerCase());
    if (!["owner", "moderator", "member"].includes(role))
      return "Write /role bo owner, /role bo moderator or /role bo member.";
    return () => room.setRole(user, role);
  }
  const [time, others] = name === "ban" || name === "mute" ? firstWord(rest) : ["", rest];
  const [, digits, unit] = /^([0-9]{1,5})(s|m|min|h|d|)$/i.exec(time) ?? [];
  const ms = Number(digits ?? 0) * unitsMs[unit?.toLowerCase() ?? ""];
  const until = ms > 0 ? Date.now() + ms : name === "mute" ? Date.now() + hourMs : undefined;
  const reason = (ms > 0 ? others : rest) || undefined;
  return () => room.setRole(user, given[name], { until, reason });
}

/** @param {string} text @returns {[string, string]} the first word, and the others */
function firstWord(text) {
  const [, word, rest] = /** @type {RegExpExecArray} */ (/^(\S*)\s*([\s\S]*)$/u.exec(text));
  return [word, rest];
}

/**
 * Why a command makes no sense, where the members are known: a role is given whatever the user was
 * before, so an invitation would make a member of a moderator.
 * @param {string} name @param {string} user @param {Room} room
 */
function problem(name, user, { members, settings }) {
  if (members.size === 0) return undefined;
  const isMember = members.has(user);
  const role = members.get(user) ?? "member";
  const noun = `${user} is ${role === "muted" ? "" : role === "owner" ? "an " : "a "}${role}.`;
  if (name === "invite") return isMember ? noun : undefined;
  if (name === "unban") return isMember ? `${user} is not banned.` : undefined;
  if (!isMember)
    return name !== "ban" && settings?.access === "private"
      ? `${user} is no member: /invite ${user} lets them in.`
      : undefined;
  if (name === "unmute" && role !== "muted") return `${user} is not muted.`;
  if (name === "op" && rank(role) >= rank("moderator")) return noun;
  if (name === "deop" && role !== "moderator") return `${user} is no moderator.`;
  return undefined;
}
