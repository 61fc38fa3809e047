// The directory of people, and their presence.
import { Emitter } from "./emitter.js";
import { RelayError } from "./errors.js";

/** @import { PeoplePages } from "./people-pages.js" */
/** @import { Event, Link, PeoplePage, Presence, PresenceName } from "./types.js" */

/** @extends {Emitter<{problem: RelayError | undefined}>} */
export class Directory extends Emitter {
  /** Why the list is not up to date. @type {RelayError | undefined} */
  problem;
  /** Once they are used. @type {Promise<PeoplePages> | undefined} */
  #pages;
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
  async page(options) {
    return (await this.#load()).page(options);
  }

  /** All people, page by page. @param {{query?: string, signal?: AbortSignal}} [options] */
  async *all(options) {
    yield* (await this.#load()).all(options);
  }

  /** After a new connection: it tells presence only of people that it was asked for. */
  renew() {
    this.#pages?.then((pages) => pages.renew());
  }

  /** @param {Event} error that of a directory that is limited or fails */
  receive(error) {
    this.become(RelayError.from(error));
  }

  #load() {
    this.#pages ??= import("./people-pages.js").then(
      ({ PeoplePages }) => new PeoplePages(this.#link, this.#presence, this),
    );
    return this.#pages;
  }

  /** For `PeoplePages`. @param {RelayError | undefined} problem */
  become(problem) {
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
