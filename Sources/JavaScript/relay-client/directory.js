// The directory of people, and their presence.
import { Emitter } from "./emitter.js";
import { RelayError } from "./errors.js";

/** @import { Event, Link, PeoplePage, Presence, PresenceName, Wire } from "./types.js" */

const repeatedPages = 10;

/** @extends {Emitter<{problem: RelayError | undefined}>} */
export class Directory extends Emitter {
  /** Why the list is not up to date. @type {RelayError | undefined} */
  problem;
  /** @type {Map<string, Wire>} the last requests: a new connection repeats them to get presence */
  #asked = new Map();
  #link;
  #presence;

  /** @param {Link} link @param {PresenceMap} presence */
  constructor(link, presence) {
    super();
    this.#link = link;
    this.#presence = presence;
  }

  /**
   * @param {{query?: string, cursor?: string, limit?: number, signal?: AbortSignal}} [options]
   * @returns {Promise<PeoplePage>}
   */
  async page({ query, cursor, limit = 50, signal } = {}) {
    const request = { type: "people", query, cursor, limit };
    const key = JSON.stringify(request);
    this.#asked.delete(key);
    this.#asked.set(key, request);
    if (this.#asked.size > repeatedPages) this.#asked.delete([...this.#asked.keys()][0]);
    return this.#take(await this.#link.request(request, signal));
  }

  /** All people, page by page. @param {{query?: string, signal?: AbortSignal}} [options] */
  async *all({ query, signal } = {}) {
    const { peopleOf } = await import("./iteration.js"); // most programs show a page
    yield* peopleOf((cursor) => this.page({ query, cursor, limit: 200, signal }));
  }

  /** After a new connection: it tells presence only of people that it was asked for. */
  renew() {
    for (const request of this.#asked.values()) {
      this.#link.request(request).then(
        (answer) => this.#take(answer),
        (error) => {
          if (this.#link.health.state !== "ended") this.#become(error); // then `ended` tells it
        },
      );
    }
  }

  /** @param {Event} error that of a directory that is limited or fails */
  receive(error) {
    this.#become(RelayError.from(error));
  }

  /** @param {Wire} answer @returns {PeoplePage} */
  #take({ people, next, source, as_of: asOf }) {
    if (this.problem) this.#become(undefined); // if it goes on, the error follows
    const persons = people.map((/** @type {Wire} */ { last_seen: lastSeen, ...person }) => ({
      ...person,
      lastSeen,
    }));
    people.forEach(this.#presence.put, this.#presence);
    return { people: persons, next, source, asOf };
  }

  /** @param {RelayError | undefined} problem */
  #become(problem) {
    this.problem = problem;
    this.emit("problem", problem);
  }
}

/** What is known of who is online. */
export class PresenceMap {
  /** @type {Map<string, Presence>} */
  #known = new Map();
  /** @type {PresenceName | undefined} */
  #own;
  #link;
  #changed;

  /** @param {Link} link @param {(presence: Presence) => void} changed */
  constructor(link, changed) {
    this.#link = link;
    this.#changed = changed;
  }

  /** @param {string} user @returns {Presence | undefined} */
  of(user) {
    return this.#known.get(user);
  }

  /** Tells the others. @param {"online" | "away"} presence */
  set(presence) {
    this.#own = presence;
    this.#link.post({ type: "presence", presence });
  }

  /** After a new connection, which begins online, and tells the presence of others again. */
  renew() {
    this.#known.clear();
    if (this.#own === "away") this.set("away");
  }

  /** @param {Record<string, any>} told of a user, as the relay does */
  put({ user, presence, last_seen: lastSeen }) {
    const old = this.#known.get(user);
    if (old?.presence === presence && old?.lastSeen === lastSeen) return;
    const known = { user, presence, lastSeen };
    this.#known.set(user, known);
    this.#changed(known);
  }
}
