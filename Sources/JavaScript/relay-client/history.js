// Pages of a room's past: from the relay, or without a connection from the store.
import { Timeline } from "./timeline.js";
/** @import { Link, Page, PageOptions, Wire } from "./types.js" */

export class History {
  #link;
  #room;
  #timeline;

  /** @param {Link} link @param {string} room @param {Timeline} timeline */
  constructor(link, room, timeline) {
    this.#link = link;
    this.#room = room;
    this.#timeline = timeline;
  }

  /** The messages before an entry. @param {number} seq @param {PageOptions} [options] */
  before(seq, options) {
    return this.#page({ before: seq }, options);
  }

  /** The messages after an entry. @param {number} seq @param {PageOptions} [options] */
  after(seq, options) {
    return this.#page({ after: seq }, options);
  }

  /** @param {PageOptions} [options] */
  newest(options) {
    return this.#page({}, options);
  }

  /** The messages around an entry. @param {number} seq @param {PageOptions} [options] */
  around(seq, { limit = 50, signal } = {}) {
    return this.after(Math.max(0, seq - Math.ceil(limit / 2)), { limit, signal });
  }

  /**
   * The first entry at or after a time, or the newest.
   * @param {Date} date
   * @param {AbortSignal} [signal]
   */
  async seqAt(date, signal) {
    const { seqAt } = await import("./iteration.js"); // most programs do not need it
    return seqAt((after) => this.#request({ after, limit: 1 }, signal), date);
  }

  /**
   * @param {{before?: number, after?: number}} range
   * @param {PageOptions} [options]
   * @returns {Promise<Page>}
   */
  async #page({ before, after }, { limit = 50, signal } = {}) {
    const stored =
      this.#link.health.state === "online" ? undefined : await this.#stored(before, after, limit);
    if (stored?.messages.length) return stored;
    const { answer, messages } = await this.#timeline.read(
      this.#request({ before, after, limit, fold: true }, signal),
    );
    const { first, head, more } = answer;
    const isForward = after !== undefined;
    return {
      messages,
      first,
      head,
      older: isForward ? after >= first : more,
      newer: isForward ? more : before !== undefined && before <= head,
    };
  }

  /** @param {Record<string, any>} range @param {AbortSignal} [signal] @returns {Promise<Wire>} */
  #request(range, signal) {
    return this.#link.request({ type: "history", room: this.#room, ...range }, signal);
  }

  /**
   * A page of what is stored, unless that begins later.
   * @param {number | undefined} before @param {number | undefined} after @param {number} limit
   * @returns {Promise<Page | undefined>}
   */
  async #stored(before = Infinity, after, limit) {
    const entries = await this.#link.entries(this.#room, { limit: 2000 });
    if (after !== undefined && !(entries[0]?.seq <= after + 1)) return undefined;
    const folded = new Timeline(this.#link, Infinity);
    folded.add(entries);
    const all = folded.latest.filter(({ seq }) => seq > (after ?? 0) && seq < before);
    const messages = after === undefined ? all.slice(-limit) : all.slice(0, limit);
    const [first, last] = [messages[0]?.seq, messages.at(-1)?.seq];
    return {
      messages: this.#timeline.take(messages),
      first: entries[0]?.seq,
      head: entries[entries.length - 1]?.seq,
      older: first !== folded.latest[0]?.seq,
      newer: last !== folded.latest.at(-1)?.seq,
    };
  }
}
