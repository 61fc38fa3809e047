// Folding: edits, deletions and reactions are applied to the message that they name.
import { memberOf, settingsOf } from "./membership.js";

/** @import { Entry, Link, Message, Pending } from "./types.js" */

/** Whether an entry, or a message, is one to read: it counts as unread. @param {{kind: string}} entry */
export const isContent = ({ kind }) => kind === "text" || kind === "data" || kind === "file";

/** Whether it tells that the room or its members have changed. @param {{kind: string}} entry */
export const isNotice = ({ kind }) => kind === "settings" || kind === "member";

/** Whether it stands for one of a user that this one has blocked. @param {{kind: string}} entry */
export const isHidden = ({ kind }) => kind === "hidden";

/** Whether an entry is a message of its own. @param {Entry} entry */
export const isShown = (entry) => isContent(entry) || isNotice(entry) || isHidden(entry);

/**
 * The message that an entry is, folded or not.
 * @param {Entry} entry
 * @param {Link} link knows the addresses of files
 * @returns {Message}
 */
export function messageOf(entry, link) {
  const { room, seq, id, from, at, kind, text, data, forward, deleted } = entry;
  return {
    room,
    seq,
    id,
    from,
    at,
    kind: /** @type {Message["kind"]} */ (kind),
    text,
    data,
    file: entry.file && fileOf(entry, link),
    settings: kind === "settings" ? settingsOf(entry) : undefined,
    member: kind === "member" ? memberOf(entry) : undefined,
    forward,
    deleted,
    deletedBy: entry.deleted_by,
    replyTo: entry.reply_to,
    editedAt: entry.edited_at,
    reactions: new Map(Object.entries(entry.reactions ?? {})),
    reactionsMore: entry.reactions_more && new Map(Object.entries(entry.reactions_more)),
  };
}

/**
 * The message after a later entry that names it, which is the same object if nothing changes.
 * @param {Message} message
 * @param {Entry} entry
 * @returns {Message}
 */
export function fold(message, entry) {
  if (message.deleted) return message;
  if (entry.kind === "edit") return { ...message, text: entry.text, editedAt: entry.at };
  if (entry.kind === "react") return react(message, entry);
  if (entry.kind !== "delete") return message;
  const content = message.kind === "data" ? { data: null } : { text: "" };
  return {
    ...message,
    ...content,
    file: undefined,
    deleted: true,
    deletedBy: entry.from === message.from ? undefined : entry.from,
    reactions: new Map(),
    replyTo: undefined,
    forward: undefined,
    editedAt: undefined,
    reactionsMore: undefined,
  };
}

/**
 * The message as it will be after own entries that the log does not have yet: the same object if
 * they change nothing.
 * @param {Message} message
 * @param {Pending[]} pending
 * @param {string} user
 * @returns {Message}
 */
export function foldPending(message, pending, user) {
  let folded = message;
  for (const change of pending)
    folded = fold(folded, /** @type {Entry} */ ({ ...change, from: user }));
  return folded === message ? message : { ...folded, pending };
}

/**
 * The file of an entry that has one.
 * @param {Entry} entry @param {Link} link
 * @returns {import("./types.js").SharedFile}
 */
const fileOf = (
  {
    file: id,
    name,
    size,
    media_type: mediaType,
    width,
    height,
    duration_ms: durationMs,
    thumbnail,
  },
  link,
) => ({
  id,
  name,
  size,
  mediaType,
  width,
  height,
  durationMs,
  thumbnail,
  url: (savedAs) => link.fileUrl(id, savedAs),
  thumbnailUrl: () => link.fileUrl(`${id}/thumbnail`),
});

/** @param {Message} message @param {Entry} entry */
function react(message, { emoji, from, on }) {
  const users = message.reactions.get(emoji) ?? [];
  if (users.includes(from) === on) return message;
  const reactions = new Map(message.reactions);
  const others = users.filter((user) => user !== from);
  if (on) reactions.set(emoji, [...users, from]);
  else if (others.length > 0) reactions.set(emoji, others);
  else reactions.delete(emoji);
  return { ...message, reactions };
}
