// Finds messages by their words: in one conversation, and in all of them. Loaded when it is needed.

import { folded } from "./format.js";
import { isContent } from "./relay-client/fold.js";

/** @import { Conversation } from "./conversation.js" */
/** @import { RelayError } from "./relay-client/errors.js" */
/** @import { Relay } from "./relay-client/relay.js" */
/** @import { Message } from "./relay-client/types.js" */
/** @import { Row } from "./conversations.js" */

/** The largest page of the relay. */
const pageSize = 500;
/** The relay counts requests, and what a person writes meanwhile is not to wait. */
const pauseMs = 60;
/** What is not stored would be waited for until there is a connection. */
const storedMs = 1000;
/** What one search reads and finds before it asks whether to go on. */
export const pagesLimit = 60;
export const matchesLimit = 100;
/** More words, or longer ones, are not looked for. */
const queryLimit = 200;
/** How often the words are marked in a message. */
const marksLimit = 200;

/** @param {string} query */
const wordsOf = (query) => folded(query.slice(0, queryLimit)).split(/\s+/).filter(Boolean);

/**
 * Whether a message has all the words, in its text or in the name of its sender.
 * @param {string} query
 * @param {(user: string) => string | undefined} name
 * @returns {((message: Message) => boolean) | undefined} nothing without words
 */
export function matcher(query, name) {
  const words = wordsOf(query);
  if (words.length === 0) return undefined;
  return (message) => {
    if (message.deleted || !isContent(message)) return false;
    const text = folded(
      `${name(message.from) ?? message.from} ${message.file?.name ?? ""} ${message.text ?? ""}`,
    );
    return words.every((word) => text.includes(word));
  };
}

/**
 * The nearest match before a message, or after it; by default before the end.
 * @param {Conversation} conversation
 * @param {(message: Message) => boolean} isMatch
 * @param {{seq?: number, isNewer: boolean, signal: AbortSignal}} options
 */
export async function find(conversation, isMatch, { seq, isNewer, signal }) {
  const { items } = conversation;
  const at = seq === undefined ? (isNewer ? -1 : items.length) : conversation.index(seq);
  if (isNewer) return items.slice(at + 1).find((item) => item.seq !== seq && isMatch(item));
  let match = items.slice(0, at).findLast(isMatch);
  let isOlder = conversation.older;
  for (let before = items[0]?.seq; !match && isOlder && before !== undefined; ) {
    const page = await conversation.room.history.before(before, { limit: pageSize, signal });
    match = page.messages.findLast(isMatch);
    isOlder = page.older && page.messages.length > 0;
    before = page.messages[0]?.seq;
  }
  return match;
}

/**
 * Marks the words in a row, and in no other one.
 * @param {Element | undefined} row
 * @param {string} [query]
 */
export function mark(row, query = "") {
  const { highlights } = CSS;
  if (!highlights) return; // the row flashes
  const ranges = [];
  const texts =
    row && document.createTreeWalker(row.querySelector(".text") ?? row, NodeFilter.SHOW_TEXT);
  for (let node = texts?.nextNode(); node; node = texts?.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    if (text.length !== node.nodeValue?.length) continue;
    for (const word of wordsOf(query)) {
      for (
        let at = text.indexOf(word);
        at >= 0 && ranges.length < marksLimit;
        at = text.indexOf(word, at + word.length)
      ) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  if (ranges.length > 0) highlights.set("found", new Highlight(...ranges));
  else highlights.delete("found");
}

/** @typedef {{row: Row, message: Message}} Found */

/** Searches all conversations, the newest messages of each first. */
export class SearchAll {
  /**
   * Where each conversation goes on: before this message, or at its end.
   * @type {{row: Row, before?: number}[]}
   */
  #places;
  #relay;
  #isMatch;
  #isOpen;

  /**
   * @param {Relay} relay
   * @param {Row[]} rows
   * @param {(message: Message) => boolean} isMatch
   * @param {(room: string) => boolean} isOpen whether a room is to stay open
   */
  constructor(relay, rows, isMatch, isOpen) {
    this.#relay = relay;
    this.#isOpen = isOpen;
    this.#places = rows.map((row) => ({ row }));
    this.#isMatch = isMatch;
  }

  get isComplete() {
    return this.#places.length === 0;
  }
  /** How many conversations are not searched to their beginning. */
  get left() {
    return this.#places.length;
  }

  /**
   * Goes on for some pages.
   * @param {(matches: Found[]) => void} found
   * @param {AbortSignal} signal
   */
  async run(found, signal) {
    let count = 0;
    for (let pages = 0; pages < pagesLimit && count < matchesLimit && !this.isComplete; pages++) {
      const place = this.#places[0];
      const { messages, older } = await this.#page(place, signal);
      this.#places.shift();
      if (older && messages.length > 0)
        this.#places.push({ row: place.row, before: messages[0].seq });
      const matches = messages
        .filter(this.#isMatch)
        .map((/** @type {Message} */ message) => ({ row: place.row, message }));
      count += matches.length;
      if (matches.length > 0) found(matches);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      signal.throwIfAborted();
    }
  }

  /** @param {{row: Row, before?: number}} place @param {AbortSignal} signal */
  async #page({ row, before }, signal) {
    if (this.#relay.health.state !== "online") return this.#stored(row, before, signal);
    try {
      const answer = await this.#relay.request(
        { type: "history", room: row.room, before, limit: pageSize, fold: true },
        { signal },
      );
      return { messages: answer.entries, older: answer.more };
    } catch (error) {
      // A room that one may no longer read has nothing to be found.
      if (signal.aborted || /** @type {RelayError} */ (error).retryable !== false) throw error;
      return { messages: [], older: false };
    }
  }

  /**
   * What is stored on this device.
   * @param {Row} row
   * @param {number | undefined} before
   * @param {AbortSignal} signal
   */
  async #stored(row, before, signal) {
    const room = this.#relay.room(row.room);
    try {
      const options = {
        limit: pageSize,
        signal: AbortSignal.any([signal, AbortSignal.timeout(storedMs)]),
      };
      return await (before === undefined
        ? room.history.newest(options)
        : room.history.before(before, options));
    } catch {
      signal.throwIfAborted();
      return { messages: [], older: false };
    } finally {
      if (!this.#isOpen(row.room)) room.close();
    }
  }
}
