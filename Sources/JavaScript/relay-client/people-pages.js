// The pages of the directory of people. Loaded when they are needed.

/** @import { Directory, PresenceMap } from "./directory.js" */
/** @import { Link, PeoplePage, Wire } from "./types.js" */

const repeatedPages = 10;

export class PeoplePages {
  /** @type {Map<string, Wire>} the last requests: a new connection repeats them to get presence */
  #asked = new Map();
  #link;
  #presence;
  #directory;

  /** @param {Link} link @param {PresenceMap} presence @param {Directory} directory */
  constructor(link, presence, directory) {
    this.#link = link;
    this.#presence = presence;
    this.#directory = directory;
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

  /** @param {{query?: string, signal?: AbortSignal}} [options] */
  async *all({ query, signal } = {}) {
    let cursor;
    do {
      /** @type {PeoplePage} */
      const page = await this.page({ query, cursor, limit: 200, signal });
      yield* page.people;
      cursor = page.next;
    } while (cursor !== undefined);
  }

  renew() {
    for (const request of this.#asked.values()) {
      this.#link.request(request).then(
        (answer) => this.#take(answer),
        (error) => {
          if (this.#link.health.state !== "ended") this.#directory.become(error); // then `ended` tells it
        },
      );
    }
  }

  /** @param {Wire} answer @returns {PeoplePage} */
  #take({ people, next, source, as_of: asOf }) {
    if (this.#directory.problem) this.#directory.become(undefined); // if it goes on, the error follows
    const persons = people.map((/** @type {Wire} */ { last_seen: lastSeen, ...person }) => ({
      ...person,
      lastSeen,
    }));
    people.forEach(this.#presence.put, this.#presence);
    return { people: persons, next, source, asOf };
  }
}
