// Who is in the rooms in which members see each other's marks.

/** @import { Entry, Wire } from "./types.js" */

/** How long after a change a room is asked for its members. */
const pauseMs = 500;
/** How long marks wait for others. */
const markPauseMs = 200;

/**
 * The members of small rooms, as `joined` tells them. Nothing tells all of a membership later: it
 * begins with a subscription or an entry, and may end with a subscription. So the room is joined again.
 */
export class Members {
  /** @type {Map<string, Set<string>>} users by room */
  #rooms = new Map();
  /** @type {Map<string, ReturnType<typeof setTimeout>>} */
  #timers = new Map();
  /** @type {Map<string, number>} marks to send */
  #marks = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #markTimer;
  #join;
  #post;

  /** @param {(room: string) => void} join again @param {(message: Wire) => void} post */
  constructor(join, post) {
    this.#join = join;
    this.#post = post;
  }

  /**
   * Tells the relay, soon, that all entries up to `seq` have arrived, where members see each other's
   * marks.
   * @param {string} room
   * @param {number} seq
   */
  mark(room, seq) {
    if (!this.#rooms.has(room)) return;
    this.#marks.set(room, seq);
    this.#markTimer ??= setTimeout(() => {
      this.#markTimer = undefined;
      for (const [room, seq] of this.#marks) this.#post({ type: "received", room, seq });
      this.#marks.clear();
    }, markPauseMs);
  }

  /** @param {Wire} joined */
  take({ room, members }) {
    const users = members?.map((/** @type {{user: string}} */ { user }) => user);
    if (users) this.#rooms.set(room, new Set(users));
    else this.#rooms.delete(room);
  }

  /** @param {Entry} entry it may be the first of a member, or change one, whose marks are not known */
  arrived({ room, from, kind }) {
    const users = this.#rooms.get(room);
    const isNew = from !== undefined && !users?.has(from); // a hidden entry tells of no one
    if (users && (kind === "member" || isNew)) this.renew(room);
  }

  /** The members may be others. @param {string} room */
  renew(room) {
    if (this.#timers.has(room)) return;
    const renew = () => {
      this.#timers.delete(room);
      this.#join(room);
    };
    // All who look at the room are told at the same moment.
    this.#timers.set(room, setTimeout(renew, pauseMs * (1 + Math.random())));
  }

  end() {
    clearTimeout(this.#markTimer);
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }
}
