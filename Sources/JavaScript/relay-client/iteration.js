// Messages as async iterables, and a message by its time: what many programs do not need.
import { abortable } from "./emitter.js";

/** @import { Room } from "./room.js" */
/** @import { Message, Wire } from "./types.js" */

const pageLimit = 100;

/**
 * @param {Room} room
 * @param {object} held what the room holds
 * @param {() => number | undefined} held.start where it began
 * @param {(seq: number) => Message[] | undefined} held.after undefined if not all of them are here
 * @param {AbortSignal} held.ended
 * @param {number} [seq]
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<Message, void, void>}
 */
export async function* messagesSince(room, held, seq, signal) {
  let position = seq;
  let isReset = false;
  // What arrives between a look and the wait after it is noticed too.
  let isNews = false;
  let wake = () => {};
  const sleep = (/** @type {(_: void) => void} */ resolve) => {
    wake = resolve;
  };
  const note = () => {
    isNews = true;
    wake();
  };
  const listening = new AbortController();
  room.on(
    "reset",
    ({ reason, after }) => {
      isReset = true;
      if (reason === "reset") position = after;
      else if (reason === "diverged" && position !== undefined)
        position = Math.min(position, after);
      note();
    },
    listening,
  );
  room.on("messages", note, listening);
  held.ended.addEventListener("abort", note, listening);
  try {
    while (!held.ended.aborted) {
      position ??= held.start();
      signal?.throwIfAborted();
      isNews = false;
      const messages = position === undefined ? [] : await following(room, held, position, signal);
      isReset = false;
      for (const message of messages) {
        if (isReset) break; // they may be void
        position = message.seq;
        yield room.get(position) ?? message;
      }
      if (messages.length > 0 || isNews) continue;
      await abortable(new Promise(sleep), signal);
    }
    if (room.error) throw room.error;
  } finally {
    listening.abort();
  }
}

/**
 * @param {Room} room
 * @param {{after: (seq: number) => Message[] | undefined}} held
 * @param {number} seq
 * @param {AbortSignal} [signal]
 */
async function following(room, held, seq, signal) {
  const messages = held.after(seq);
  if (messages) return messages.slice(0, pageLimit);
  const page = await room.history.after(seq, { limit: pageLimit, signal });
  return page.messages;
}

/**
 * The first entry at or after a time, or the newest.
 * @param {(after: number) => Promise<Wire>} read the entry after another one
 * @param {Date} date
 */
export async function seqAt(read, date) {
  let { first: low, head: high } = await read(0);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [entry] = (await read(middle - 1)).entries;
    if (entry && entry.at < date.getTime()) low = middle + 1;
    else high = middle;
  }
  return low;
}
