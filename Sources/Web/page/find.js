// Finds messages by their words. Loaded when it is needed.

import { folded } from "./format.js";

/** The largest page of the relay. */
const pageSize = 500;

/**
 * Whether a message has all the words, in its text or in the name of its sender.
 * @param {string} query
 * @param {(user: string) => string | undefined} name
 * @returns {((message: any) => boolean) | undefined} nothing without words
 */
export function matcher(query, name) {
  const words = folded(query).split(/\s+/).filter(Boolean);
  if (words.length === 0) return undefined;
  return (message) => {
    if (message.deleted) return false;
    const text = folded(`${name(message.from) ?? message.from} ${message.text ?? ""}`);
    return words.every((word) => text.includes(word));
  };
}

/**
 * The nearest match before a message, or after it; by default before the end.
 * @param {import("./conversation.js").Conversation} conversation
 * @param {(message: any) => boolean} isMatch
 * @param {{seq?: number, isNewer: boolean, signal: AbortSignal}} options
 */
export async function find(conversation, isMatch, { seq, isNewer, signal }) {
  const { items } = conversation;
  const at = seq === undefined ? (isNewer ? -1 : items.length) : conversation.index(seq);
  if (isNewer) return items.slice(at + 1).find(isMatch);
  let match = items.slice(0, at).findLast(isMatch);
  let isOlder = conversation.older;
  for (let before = items[0]?.seq; !match && isOlder && before !== undefined;) {
    const page = await conversation.room.history.before(before, { limit: pageSize, signal });
    match = page.messages.findLast(isMatch);
    isOlder = page.older && page.messages.length > 0;
    before = page.messages[0]?.seq;
  }
  return match;
}
