// What a message says that tells of a change of its room, or of a member: one quiet sentence.

import { moment, plain } from "./format.js";

/** @import { Departure, MemberChange, RoomSettings } from "./relay-client/types.js" */
/** @import { Shown } from "./row.js" */

/** @typedef {{user: string, name: (user: string) => string | undefined}} Names the user, and names */

/** @param {string} user @param {Names} names */
const called = (user, { user: me, name }) => (user === me ? "you" : plain(name(user) ?? user));

/** @param {string} text */
const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** @param {string | undefined} reason */
const because = (reason) => (reason ? `: ${plain(reason)}` : "");

/** @param {Shown} message @param {Names} names */
export function noticeText({ seq, kind, from, member, settings, run }, names) {
  if (kind === "hidden")
    return run
      ? `${run.count} messages of a blocked person are hidden`
      : "A message of a blocked person is hidden";
  if (kind !== "member" && kind !== "settings")
    return `You have blocked ${called(from, names)}: show this message`;
  if (member) return capital(memberText(from, member, names));
  const changes = settingsTexts(settings ?? {}, seq === 1);
  const last = changes.pop() ?? "changed the room";
  const all = changes.length > 0 ? `${changes.join(", ")} and ${last}` : last;
  return capital(`${called(from, names)} ${all}`);
}

/** @param {string} from @param {MemberChange} change @param {Names} names */
function memberText(from, { user, role, until, reason }, names) {
  const [by, who] = [called(from, names), called(user, names)];
  if (from === user && role === "none") return `${who} left${because(reason)}`;
  if (from === user && role === "member") return `${who} joined`;
  const end = until === undefined ? "" : ` until ${moment(until)}`;
  const was = user === names.user ? "were" : "was";
  if (role === "none") return `${who} ${was} removed by ${by}${because(reason)}`;
  if (role === "banned") return `${who} ${was} banned by ${by}${end}${because(reason)}`;
  if (role === "muted") return `${who} ${was} muted by ${by}${end}${because(reason)}`;
  return `${by} made ${who} ${role === "owner" ? "an owner" : `a ${role}`}${because(reason)}`;
}

/** @param {RoomSettings} settings @param {boolean} isFirst */
function settingsTexts({ title, topic, access, history, post, slowSeconds }, isFirst) {
  const name = title === undefined ? "" : `“${plain(title)}”`;
  const kind = access === "private" ? "private room" : "room";
  const texts = [];
  if (isFirst) texts.push(`created the ${kind}${name && ` ${name}`}`);
  else {
    if (name) texts.push(`named the room ${name}`);
    if (access !== undefined) texts.push(`made the room ${access}`);
  }
  if (topic !== undefined)
    texts.push(topic ? `set the topic “${plain(topic)}”` : "removed the topic");
  if (history === "joined") texts.push("hid earlier messages from new members");
  if (history === "all") texts.push("showed earlier messages to new members");
  if (post === "moderators") texts.push("let only moderators write");
  if (post === "everyone") texts.push("let everyone write");
  if (slowSeconds !== undefined)
    texts.push(
      slowSeconds > 0
        ? `set a pause of ${slowSeconds} s between messages`
        : "removed the pause between messages",
    );
  return texts;
}

/** Why one is no member any more. @param {Departure} departure @param {Names} names */
export function departureText({ by, role, reason }, names) {
  const who = called(by, names);
  if (role === undefined)
    return `${capital(who)} made this room private, and you are not a member of it.`;
  if (by === names.user) return "You have left this room.";
  const what = role === "banned" ? "banned" : "removed";
  return `You were ${what} by ${who}${because(reason)}${reason ? "" : "."}`;
}
