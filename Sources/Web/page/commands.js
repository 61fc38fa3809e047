// The commands that are written in the composer, and what they do here. Loaded when a text begins
// with a slash.

import { dateExamples, dateOf } from "./date-text.js";
import { directRoom, isRoomName, isUserName, plain } from "./format.js";
import { opened } from "./opening.js";
import { load } from "./problems.js";
import { isContent } from "./relay-client/fold.js";
import { change, isAllowed } from "./rooms/commands.js";
import { rooms } from "./rooms/part.js";
import { mentions } from "./text.js";

/** @import { Conversation } from "./conversation.js" */
/** @import { Message, Role } from "./relay-client/types.js" */
/** @import { Messenger, Open } from "./types.js" */
/** @import { Timeline } from "./timeline.js" */

/**
 * Names, arguments and texts as in wschat: a test compares both. A fourth text says why a command
 * is not one of the page.
 */
export const table = [
  ["join j", "ROOM", "open a room, or a new one"],
  ["msg m query dm", "USER [TEXT]", "write to a person"],
  ["me", "TEXT", "say what you do"],
  [
    "send attach upload",
    "FILE... [-- CAPTION]",
    "send files; Tab completes paths",
    "The button beside the text, a drop and a paste send files.",
  ],
  ["open", "", "open the newest file of the conversation", "A click on a file opens it."],
  [
    "save",
    "[PATH]",
    "save the newest file of the conversation",
    "A click on the name of a file saves it.",
  ],
  ["link", "", "copy the link to the newest file", "The browser's menu of a file copies its link."],
  ["leave part close forget", "", "leave the conversation, and forget it"],
  ["create", "TITLE", "make a private room, and open it"],
  ["topic", "[TEXT]", "show the topic of the room, or set it"],
  ["title", "TEXT", "name the room"],
  ["members names", "", "show the members of the room"],
  ["invite add", "USER", "let a user into the room"],
  ["kick remove", "USER [REASON]", "remove a member from the room"],
  ["ban", "USER [TIME] [REASON]", "remove a user, who cannot join again"],
  ["unban", "USER", "end the ban of a user"],
  ["op", "USER", "make a member a moderator"],
  ["deop", "USER", "make a moderator a member"],
  ["role", "USER owner|moderator|member", "choose what a member may do"],
  ["block", "[USER]", "block a person, who is not told"],
  ["unblock", "[USER]", "no longer block a person"],
  ["accept", "", "accept the request of a person"],
  ["report", "[SEQ] REASON", "report a message, or the last one of another"],
  ["search find s", "[TEXT]", "search this conversation"],
  ["searchall everywhere grep", "[TEXT]", "search all conversations"],
  ["goto date jump", "DATE", "go to a date, such as yesterday or 14:02"],
  ["firstunread", "", "go to the first unread message"],
  ["mention", "", "go to the previous message that mentions you"],
  ["nextmention", "", "go to the next message that mentions you"],
  [
    "notify",
    "all|mentions|none",
    "choose which messages notify, and count as unread",
    "The page has no levels: write /mute or /unmute.",
  ],
  ["mute", "[USER [TIME] [REASON]]", "mute the conversation, or a member"],
  ["unmute", "[USER]", "unmute the conversation, or a member"],
  [
    "unread",
    "",
    "mark the conversation as unread",
    "The page cannot mark a conversation as unread.",
  ],
  [
    "pin",
    "",
    "keep the conversation at the top of the list",
    "The page cannot pin a conversation.",
  ],
  ["unpin", "", "no longer keep it at the top", "The page cannot pin a conversation."],
  ["reconnect", "", "reconnect now"],
  [
    "login",
    "",
    "sign in again, when this device was signed out",
    "The page asks for it when it is needed.",
  ],
  [
    "set",
    "KEY VALUE",
    "change a setting until wschat ends",
    "The settings of the page are in its menu.",
  ],
  ["help h ?", "", "show the keys and commands"],
  ["quit q exit", "", "quit", "Close this tab to quit, or choose “Sign out” in the menu."],
];

/**
 * @typedef {object} Command
 * @property {string[]} names
 * @property {string} usage
 * @property {string} argument
 * @property {string} text
 * @property {string | undefined} absence
 */

/** @type {Command[]} */
const all = table.map(([names, argument, text, absence]) => {
  const [name] = names.split(" ");
  return {
    names: names.split(" "),
    usage: argument ? `/${name} ${argument}` : `/${name}`,
    argument,
    text,
    absence,
  };
});

/** The commands of the page. */
export const commands = all.filter(({ absence }) => absence === undefined);

/**
 * The commands whose name or alias begins with these letters; by name. None once one of them is
 * written out, or where one's role does not allow it.
 * @param {string} start @param {Role} [role] what one is in the room
 */
export function matching(start, role) {
  if (all.some(({ names }) => names.includes(start))) return [];
  const offered = commands.filter(({ names }) => isAllowed(names[0], role));
  const isByName = (/** @type {Command} */ { names }) => names[0].startsWith(start);
  return [
    ...offered.filter(isByName),
    ...offered.filter((one) => !isByName(one) && one.names.some((name) => name.startsWith(start))),
  ];
}

/**
 * What commands work on.
 * @typedef {object} Place
 * @property {Messenger} messenger
 * @property {Open} row
 * @property {Conversation} conversation
 * @property {Timeline} timeline
 * @property {import("./actions.js").Place} place what dialogs need
 * @property {number} [target] the message that the text replies to
 * @property {() => void} done the command is understood: its text leaves the composer
 * @property {(text: string) => void} say
 * @property {(text: string) => void} send
 * @property {(query: string) => void} search
 * @property {() => void} leave
 */

/**
 * Performs a command. What is wrong with it is said, and it stays where it was written.
 * @param {string} written with its slash
 * @param {Place} place
 */
export function perform(written, place) {
  const [, name, argument] = /** @type {RegExpExecArray} */ (
    /^\/(\S*)\s*([\s\S]*?)\s*$/u.exec(written)
  );
  const command = all.find(({ names }) => names.includes(name.toLowerCase()));
  if (!command)
    return place.say(
      `/${plain(name)} is no command: /help shows them. Write //${plain(name)} to send it as text.`,
    );
  if (command.absence) return place.say(`${command.absence} Begin with // to send this as text.`);
  if (!command.argument && argument) {
    return place.say(
      `${command.usage} takes no argument. Write it alone, or begin with // to send this as text.`,
    );
  }
  const [first] = command.names;
  const isOfRoom = !(first in actions) || (argument && /^(topic|(un)?mute)$/.test(first));
  return isOfRoom ? change(first, argument, place) : actions[first](place, argument);
}

const elsewhere = "This page shows one conversation only.";

/** @type {Record<string, (place: Place, argument: string) => unknown>} */
const actions = {
  join({ messenger, done, say }, argument) {
    if (!messenger.enter || !messenger.write) return say(elsewhere);
    const user = argument.startsWith("@") ? person(argument, messenger.user) : undefined;
    const room = argument.replace(/^#/, "").toLowerCase();
    if (!user && !isRoomName(room))
      return say(
        `${argument ? `${plain(argument)} is no room's name` : "A room's name is missing"}: write /join general.`,
      );
    done();
    if (user) messenger.write(user);
    else messenger.enter(room);
  },
  msg({ messenger, done, say, send }, argument) {
    if (!messenger.write) return say(elsewhere);
    const [, name, text] = /** @type {RegExpExecArray} */ (/^(\S*)\s*([\s\S]*)$/u.exec(argument));
    const user = person(name, messenger.user);
    if (!user)
      return say(
        name
          ? `${plain(name)} is no user's name.`
          : "A user's name is missing: write /msg ada hello.",
      );
    const { people, relay } = messenger;
    done();
    messenger.write(user);
    if (text) send(text);
    const direct = directRoom(messenger.user, user);
    const hasTraces = relay.rooms.list.some(({ room }) => room === direct);
    if (people.isComplete && !people.known.has(user) && !hasTraces) {
      say(
        `No user called ${user} is known to the relay; what you write is stored until a user of that name connects.`,
      );
    }
  },
  me({ messenger, done, say, send }, argument) {
    if (!argument) return say("Write what you do: /me waves.");
    done();
    send(`* ${messenger.people.name(messenger.user) ?? messenger.user} ${argument}`);
  },
  leave({ row, done, say, leave }) {
    if (row.peer !== undefined) return say("Only rooms can be left here.");
    done();
    leave();
  },
  topic({ row, conversation, done, say }) {
    done();
    const { topic } = conversation.room.settings ?? {};
    const name = `${plain(row.title)} (${row.peer === undefined ? `#${row.room}` : `@${row.peer}`})`;
    say(topic ? `${name}: ${plain(topic)}` : name);
  },
  members({ place, row, timeline, done, say }) {
    if (row.peer !== undefined) return say("Only rooms have members, topics and titles.");
    done();
    return opened(timeline, rooms, ({ showMembers }) => showMembers(place));
  },
  block: (place, argument) => block(place, argument, true),
  unblock: (place, argument) => block(place, argument, false),
  accept(place) {
    const { messenger, row, conversation, say } = place;
    const { room } = conversation;
    if (row.peer === undefined) return say("Only direct conversations are requests.");
    if (!messenger.relay.rooms.list.find((one) => one.room === room.name)?.request)
      return say("This conversation is no request.");
    const effect = `${plain(row.title)}'s request is accepted.`;
    return ask(place, () => room.accept(), effect, "Accepting the request");
  },
  report(place, argument) {
    const { messenger, row, conversation, target, say } = place;
    const [, number, reason] = /** @type {RegExpExecArray} */ (
      /^(?:(\d+)(?:\s+|$))?([\s\S]*)$/u.exec(argument)
    );
    if (!reason) return say("A reason is missing: write /report spam.");
    const isOfOther = (/** @type {Message} */ { kind, from, deleted }) =>
      isContent({ kind }) && from !== messenger.user && !deleted;
    const seq = number ? Number(number) : (target ?? conversation.items.findLast(isOfOther)?.seq);
    if (seq === undefined) return say("There is no message of another person here.");
    const readers =
      row.peer === undefined ? "the moderators of this room" : "the operators of the relay";
    const effect = `The message was reported to ${readers}.`;
    return ask(place, () => conversation.room.report(seq, reason), effect, "The report");
  },
  search({ done, search }, argument) {
    done();
    search(argument);
  },
  searchall({ messenger, done, say }, argument) {
    if (!messenger.searchAll) return say(elsewhere);
    done();
    messenger.searchAll(argument);
  },
  goto({ timeline, done, say }, argument) {
    const date = dateOf(argument, new Date());
    if (!date)
      return say(
        `${argument ? `${plain(argument)} is no date` : "A date is missing"}: write ${dateExamples}.`,
      );
    done();
    timeline.show(date);
  },
  firstunread({ timeline, done, say }) {
    done();
    if (timeline.firstUnread === undefined) return say("Nothing is unread in this conversation.");
    timeline.show(timeline.firstUnread);
  },
  mention: (place) => toMention(place, false),
  nextmention: (place) => toMention(place, true),
  mute: (place) => mute(place, true),
  unmute: (place) => mute(place, false),
  reconnect({ messenger, done }) {
    done();
    messenger.relay.retry();
  },
  help({ messenger, done, say }) {
    done();
    if (messenger.help) messenger.help();
    else say(commands.map(({ usage }) => usage).join(", "));
  },
};

/** @param {Place} place @param {string} argument @param {boolean} on */
function block(place, argument, on) {
  const { messenger, row, say } = place;
  const user = argument ? person(argument, messenger.user) : row.peer;
  const name = on ? "block" : "unblock";
  if (!user)
    return say(
      argument
        ? `${plain(argument)} is no other user's name: write /${name} bo.`
        : `A user's name is missing: write /${name} bo.`,
    );
  const shown = plain(messenger.people.name(user) ?? user);
  const effect = `${shown} is ${on ? "" : "no longer "}blocked.`;
  const attempt = `${on ? "Blocking" : "Unblocking"} ${shown}`;
  return ask(place, () => messenger.relay.block(user, on), effect, attempt);
}

/**
 * Asks the relay, and says what has become of it.
 * @param {Place} place @param {() => Promise<unknown>} request @param {string} effect
 * @param {string} attempt what may be refused
 */
async function ask({ done, say }, request, effect, attempt) {
  done();
  try {
    await request();
    say(effect);
  } catch (error) {
    say(`${attempt} was refused: ${plain(/** @type {Error} */ (error).message)}`);
  }
}

/** The user that a name means, unless it is oneself. @param {string} name @param {string} me */
function person(name, me) {
  const user = name.replace(/^@/, "").toLowerCase();
  return isUserName(user) && user !== me ? user : undefined;
}

/** @param {Place} place @param {boolean} isMuted */
function mute({ messenger: { muted }, row, done, say }, isMuted) {
  if (!muted) return say(elsewhere);
  done();
  if (muted.has(row.room) !== isMuted) muted.toggle(row.room);
  say(`${plain(row.title)} is ${isMuted ? "" : "not "}muted.`);
}

/** @param {Place} place @param {boolean} isNewer */
async function toMention({ messenger, conversation, timeline, done, say }, isNewer) {
  done();
  const { find } = await load(() => import("./find.js"));
  const isMention = (/** @type {Message} */ message) =>
    !message.deleted && mentions(message.text ?? "", messenger.user);
  const seq = timeline.current?.seq ?? (isNewer ? conversation.items.at(-1)?.seq : undefined);
  const match = await find(conversation, isMention, { seq, isNewer, signal: conversation.ended });
  if (!match) return say(`No ${isNewer ? "newer" : "older"} message mentions you.`);
  await timeline.show(match.seq);
}
